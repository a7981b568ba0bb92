"""Logs wrapped in JSON: one object per line (Docker, journald, Kubernetes, cloud), one document, or a Jupyter notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

Piece = tuple[int, int, int, int]
"""(index in the text, 0-based raw line, 0-based raw column, byte): where an unbroken copy starts."""

# where records keep their message, best first, and what may stand beside it
_MESSAGE = (
    ("log",), ("MESSAGE",), ("textPayload",), ("jsonPayload", "message"), ("jsonPayload", "msg"), ("message",), ("msg",),
    ("@message",), ("text",), ("event",), ("line",), ("body",),
)  # fmt: skip
_BESIDE = (
    ("exc_info",), ("exception",), ("exc_text",), ("traceback",), ("stack_trace",), ("stacktrace",), ("stack",), ("error",),
    ("jsonPayload", "exc_info"), ("jsonPayload", "exception"), ("jsonPayload", "stack_trace"), ("jsonPayload", "traceback"),
)  # fmt: skip
_STRONG = frozenset({("MESSAGE",), ("textPayload",), ("jsonPayload", "message"), ("jsonPayload", "msg")})
_SAMPLE = 200
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_NUMBERS = re.compile(r"\[[\s\d,]*\]")
_NEXT = re.compile(r'["{}\[\],]')
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

Value = tuple[tuple[str | int, ...], int, int]
"""A JSON string or array of numbers: its path and its span in the text, quotes or brackets included."""


def extract(text: str, encoding: str, bom: int) -> tuple[str, tuple[Piece, ...]] | None:
    """The log inside JSON with its raw places, or None where the text is no such JSON."""
    head = text[:4096].lstrip()
    if head[:1] in ("{", "[") and (found := _document(text)) is not None:
        return _assemble(text, found, encoding, bom)
    if "{" in text and _is_lines(text):
        return _assemble(text, _line_values(text), encoding, bom)
    return None


Part = tuple[int, int, bool, bool]
"""(start, end, is a JSON value, ends its line)."""


def _values(text: str, start: int = 0, end: int | None = None) -> Iterator[Value]:
    """Every string value of a JSON text in order. The text is known to be JSON."""
    path: list[str | int] = []
    objects: list[bool] = []
    keyed = True  # in an object: the next string is a key
    position = start
    limit = len(text) if end is None else end
    while (match := _NEXT.search(text, position, limit)) is not None:
        sign, at = match.group(), match.start()
        position = at + 1
        if sign == '"':
            value, position = _DECODER.raw_decode(text, at)
            if objects and objects[-1] and keyed:
                path[-1] = value
                keyed = False
            else:
                yield tuple(path), at, position
        elif sign in "{[":
            if sign == "[" and _NUMBERS.match(text, at, limit):
                position = text.index("]", at) + 1
                yield tuple(path), at, position
                continue
            objects.append(sign == "{")
            path.append("" if sign == "{" else 0)
            keyed = True
        elif sign in "}]":
            if objects:
                objects.pop()
                path.pop()
            keyed = False
        elif objects:
            if objects[-1]:
                keyed = True
            else:
                last = path[-1]
                path[-1] = last + 1 if isinstance(last, int) else 0


def _is_lines(text: str) -> bool:
    """Whether the log is one JSON record per line (with other lines between them, perhaps)."""
    lines = records = strong = braces = 0
    position = 0
    while position < len(text) and lines < _SAMPLE:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].strip() if end - position < 1 << 20 else ""
        position = end + 1
        if not line:
            continue
        lines += 1
        if line[0] == "{":
            braces += 1
            if chosen := _chosen(line):
                records += 1
                strong += chosen[0][0] in _STRONG
    return records > 0 and (strong > 0 or (records >= 0.3 * lines and records >= 0.5 * braces))


def _chosen(text: str) -> list[Value]:
    """The values of a record that make its text: the message and what stands beside it; none if it is no record."""
    if not (text.startswith("{") and text.rstrip().endswith("}")):
        return []
    try:
        if not isinstance(json.loads(text, strict=False), dict):
            return []
    except (ValueError, RecursionError):
        return []
    values = {value[0]: value for value in _values(text)}
    for path in _MESSAGE:
        if path in values:
            beside = [] if path == ("text",) else [values[key] for key in _BESIDE if key in values]
            return [values[path], *(value for value in beside if text[value[1]] == '"' and value[2] - value[1] > 2)]
    return []


def _line_values(text: str) -> Iterator[Part]:
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        chosen = _chosen(line.strip()) if "{" in line[:64] else []
        if not chosen:
            yield position, end, False, True
        else:
            indent = position + len(line) - len(line.lstrip())
            for path, first, last in chosen:
                # Docker cuts long lines in several records, of which only the last has a line end
                yield indent + first, indent + last, True, path != ("log",) or '"stream"' not in line
        position = end + 1


def _document(text: str) -> list[Part] | None:
    """The log in a JSON document of several lines: a notebook's outputs, or a list of records."""
    try:
        document = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and "cells" in document and ("nbformat" in document or "metadata" in document):
        return list(_notebook(text))
    if isinstance(document, dict) and any(path[0] in document for path in _MESSAGE):
        return None if "\n" not in text.strip() else _records(text, 0)
    if isinstance(document, list) and any(isinstance(item, dict) for item in document[:10]):
        return _records(text, 1)
    if isinstance(document, dict):
        for key in ("events", "entries", "logs", "hits", "items"):
            if isinstance(document.get(key), list):
                return _records(text, 2)
    return None


def _records(text: str, depth: int) -> list[Part] | None:
    found: dict[tuple[str | int, ...], dict[tuple[str | int, ...], Value]] = {}
    for path, start, end in _values(text):
        found.setdefault(path[:depth], {})[path[depth:]] = (path, start, end)
    out: list[Part] = []
    for values in found.values():
        for path in _MESSAGE:
            if path in values:
                beside = [] if path == ("text",) else [values[key] for key in _BESIDE if key in values]
                out.extend((start, end, True, True) for _, start, end in (values[path], *beside) if end - start > 2)
                break
    return sorted(out) or None


def _notebook(text: str) -> Iterator[Part]:
    """The stored outputs of the cells."""
    for path, start, end in _values(text):
        if len(path) < 5 or path[0] != "cells" or path[2] != "outputs":
            continue
        kind = path[4]
        if kind == "traceback":
            yield start, end, True, True
        elif kind == "text" or (kind == "data" and path[5:6] == ("text/plain",)):
            # items of such a list carry their own line ends
            whole = len(path) == (5 if kind == "text" else 6)
            yield start, end, True, whole or not text[max(end - 3, 0) : end].endswith('\\n"')


def _assemble(text: str, parts: Iterator[Part] | list[Part], encoding: str, bom: int) -> tuple[str, tuple[Piece, ...]]:
    out: list[str] = []
    pieces: list[Piece] = []
    length = 0
    row, row_start, known, byte = 0, 0, 0, bom
    errors = "surrogateescape" if encoding == "utf-8" else "replace"

    def place(at: int) -> tuple[int, int, int]:
        nonlocal row, row_start, known, byte
        stretch = text[known:at]
        if newlines := stretch.count("\n"):
            row += newlines
            row_start = known + stretch.rindex("\n") + 1
        byte += len(stretch) if encoding == "utf-8" and stretch.isascii() else len(stretch.encode(encoding, errors))
        known = at
        return row, at - row_start, byte

    def copy(start: int, end: int) -> None:
        nonlocal length
        pieces.append((length, *place(start)))
        out.append(text[start:end])
        length += end - start

    def emit(new: str) -> None:
        nonlocal length
        out.append(new)
        length += len(new)

    for start, end, is_value, ends_line in parts:
        if not is_value:
            copy(start, end)
            emit("\n")
        elif text[start] == "[":
            numbers = bytes(int(number) & 255 for number in re.findall(r"\d{1,9}", text[start:end]))
            pieces.append((length, *place(start)))
            emit(numbers.decode("utf-8", "replace").rstrip("\n") + "\n")
        else:
            position = start + 1
            for match in _ESCAPE.finditer(text, position, end - 1):
                copy(position, match.start())
                emit(_unescape(match.group()))
                position = match.end()
            copy(position, end - 1)
            if ends_line and (not out or not out[-1].endswith("\n")) and not _ended(out):
                emit("\n")
    return "".join(out), tuple(pieces)


def _ended(out: list[str]) -> bool:
    for part in reversed(out):
        if part:
            return part.endswith("\n")
    return True


def _unescape(escape: str) -> str:
    kind = escape[1]
    if kind != "u":
        return _SHORT.get(kind, kind)
    if len(escape) == 12:
        pair = chr(int(escape[2:6], 16)) + chr(int(escape[8:12], 16))
        return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    code = int(escape[2:6], 16) if len(escape) == 6 else 0xFFFD
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
