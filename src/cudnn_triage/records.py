"""Logs wrapped in JSON: one object per line (Docker, journald, Kubernetes, cloud), documents, or a Jupyter notebook; and logs
that a program printed as strings with quotation marks, as JSON and Python write them."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .light import pattern
from .refusing import ReadError

# where records keep their message, best first
_MESSAGE = (
    ("log",), ("MESSAGE",), ("textPayload",), ("jsonPayload", "message"), ("jsonPayload", "msg"), ("message",), ("msg",),
    ("@message",), ("text",), ("event",), ("line",), ("body",),
)  # fmt: skip
_STRONG = frozenset({("MESSAGE",), ("textPayload",), ("jsonPayload", "message"), ("jsonPayload", "msg")})
_DEEP = frozenset({"message", "msg", "log", "@message"})  # the same, inside an object of another kind
_LISTS = ("events", "entries", "logs", "hits", "items", "records", "logEvents", "results")
# words of keys under which a record tells what went wrong, and those that only label it
_TELLING = frozenset({
    "error", "errors", "err", "exception", "exceptions", "exc", "failure", "reason", "stack", "stacktrace", "backtrace",
    "traceback", "trace", "detail", "details", "body", "cause", "causes", "caused", "stderr",
})  # fmt: skip
_LABELS = frozenset({
    "id", "uid", "type", "name", "class", "kind", "level", "severity", "time", "timestamp", "file", "filename", "path",
    "function", "method", "module", "language", "url",
})  # fmt: skip
_RAISED = ("Error", "Exception", "Interrupt")
_KEY_WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MOST_COMPARED = 16
_DEEPEST = 40  # keys and indexes of a path; no record holds its message deeper, and paths are as long as they are deep
_SAMPLE = 200
_ESCAPE = pattern(
    r"\\(?:x[0-9a-fA-F]{2}(?:\\x[0-9a-fA-F]{2})*"
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)",
    re.DOTALL,
)
# how a string of JSON or Python begins, what its end is told from, and what stands between those of a list
_OPENING = pattern(r"""[bu]?(["'])""")
_INSIDE = {quote: pattern(rf"\\.|{quote}", re.DOTALL) for quote in ('"', "'")}
_BETWEEN = pattern(r"[\s,\[\]()]*")
_DECODER = json.JSONDecoder(strict=False)
_NUMBERS = pattern(r"\[[\s\d,]*\]")
_NEXT = pattern(r'["{}\[\],]')
_BLANK = pattern(r"\s*")
_QUOTES = ('"', "'", 'b"', "b'", '["', "['", '[b"', "[b'", "[\n", '("', "('")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

Path = tuple[str | int, ...]
Value = tuple[Path, int, int, str | None]
"""A JSON string: its path, its span in the text, quotes included, and itself; an array of numbers: the same and None."""

Part = tuple[int, int, bool, bool]
"""(start, end, is a JSON value, ends its line)."""


class Pieces:
    """Where the unbroken copies start that a text was put together from: compact, as there may be millions."""

    __slots__ = ("bytes", "columns", "rows", "starts")

    def __init__(self) -> None:
        self.starts = array("q")  # index in the text
        self.rows = array("q")  # 0-based raw line
        self.columns = array("q")  # 0-based raw column
        self.bytes = array("q")

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, row: int, column: int, byte: int) -> None:
        """Add the next copy."""
        self.starts.append(start)
        self.rows.append(row)
        self.columns.append(column)
        self.bytes.append(byte)


def extract(text: str, encoding: str, bom: int, name: str) -> tuple[str, Pieces] | None:
    """The log inside JSON with its raw places, or None where the text is no such JSON.

    Raises ReadError for a notebook that holds no outputs: what it would print is not in it.
    """
    head = text[:4096].lstrip()
    if head[:1] in ("{", "[") and (found := _document(text, name)) is not None:
        return _assemble(text, found, encoding, bom)
    if "{" in text and is_lines(text):
        return _assemble(text, _line_values(text), encoding, bom)
    if head.startswith(_QUOTES) and (strings := _strings(text)):
        return _assemble(text, strings, encoding, bom)
    return None


def _strings(text: str) -> list[Part]:
    """The strings of a text that consists of nothing else: a list of lines, or a log that is one string; else none."""
    found: list[Part] = []
    position = 0
    while (between := _BETWEEN.match(text, position)) is not None and between.end() < len(text):
        opening = _OPENING.match(text, between.end())
        if opening is None or (found and between.end() == position):
            return []
        inside = _INSIDE[opening[1]].finditer(text, opening.end())
        position = next((match.end() for match in inside if match.group() == opening[1]), 0)
        if not position:
            return []
        found.append((opening.start(1), position, True, True))
    return found if len(found) > 1 or (found and "\\n" in text) else []


def _values(text: str, start: int = 0, end: int | None = None) -> Iterator[Value]:
    """Every string value of a JSON text in order, but for those that lie too deep. The text is known to be JSON."""
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
            elif len(path) <= _DEEPEST:
                yield tuple(path), at, position, value
        elif sign in "{[":
            if sign == "[" and (numbers := _NUMBERS.match(text, at, limit)) is not None:
                position = numbers.end()
                if len(path) <= _DEEPEST:
                    yield tuple(path), at, position, None
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


def _chosen(values: Iterable[Value]) -> list[Value]:
    """What makes the text of a record, in order: its message and whatever else tells of an error; none if it has neither."""
    found = {value[0]: value for value in values}
    messages = [found.pop(path) for path in _MESSAGE if path in found][:1]
    messages += [
        found.pop(path) for path in list(found) if path[-3:-2] == ("values",) and path[-1] == 1
    ]  # Loki: time, line
    if not messages:
        messages = [found.pop(path) for path in list(found) if path and path[-1] in _DEEP and found[path][3]]
    beside = [value for path, value in found.items() if value[3] and _tells(path, value[3])]
    if len(beside) <= _MOST_COMPARED:  # a stack begins with the message of its error
        said = "\0".join(message[3] or "" for message in messages)
        texts = sorted({(value[3] or "").strip() for value in beside}, key=len)
        once = {
            text
            for at, text in enumerate(texts)
            if text not in said and all(text not in more for more in texts[at + 1 :])
        }
        beside = [value for value in beside if (value[3] or "").strip() in once]
    return sorted(messages + beside, key=lambda value: value[1])


def _tells(path: Path, value: str) -> bool:
    """Whether a value belongs to the log: it has several lines, or its keys say that it is about an error."""
    if "\n" in value.strip():
        return True
    words = [_key_words(key) for key in path if isinstance(key, str)]
    telling = {word for part in words for word in part if word in _TELLING}
    if not telling or len(value) < 2:
        return False
    if words[-1] and words[-1][-1] in _LABELS:
        return value.endswith(_RAISED)
    return telling != {"trace"} or " " in value  # the trace may be one of requests, which has a number


@lru_cache(maxsize=1024)
def _key_words(key: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _KEY_WORD.findall(key[:100]))


def is_lines(text: str) -> bool:
    """Whether the log is one JSON record per line (with other lines between them, perhaps)."""
    lines = records = strong = braces = 0
    position = 0
    while position < len(text) and lines < _SAMPLE:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].strip()
        position = end + 1
        if not line:
            continue
        lines += 1
        if line[0] == "{":
            braces += 1
            if chosen := _record(line):
                records += 1
                strong += any(path in _STRONG for path, *_ in chosen)
    return records > 0 and (strong > 0 or (records >= 0.3 * lines and records >= 0.5 * braces))


def _record(text: str) -> list[Value]:
    """The values that make the text of one record; none if it is no record."""
    if not (text.startswith("{") and text.endswith("}")):
        return []
    try:
        if not isinstance(json.loads(text, strict=False), dict):
            return []
    except (ValueError, RecursionError):
        return []
    return _chosen(_values(text))


def _line_values(text: str) -> Iterator[Part]:
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        chosen = _record(line.strip()) if "{" in line[:64] else []
        if not chosen:
            yield position, end, False, True
        else:
            indent = position + len(line) - len(line.lstrip())
            for path, first, last, _ in chosen:
                # Docker cuts long lines in several records, of which only the last has a line end
                yield indent + first, indent + last, True, path != ("log",) or '"stream"' not in line
        position = end + 1


def _document(text: str, name: str) -> list[Part] | None:
    """The log in a JSON document: a notebook's outputs, a list of records, or a record of several lines."""
    try:
        document = json.loads(text, strict=False)
    except ValueError:
        return _records(_values(text, start, end) for start, end in _sequence(text))
    except RecursionError:
        return None
    if isinstance(document, dict) and "cells" in document and ("nbformat" in document or "metadata" in document):
        if not (outputs := list(_notebook(text))):
            raise ReadError(
                f"{name}: this notebook holds no stored outputs; run it and save it with them, or paste the traceback"
            )
        return outputs
    if isinstance(document, list) and any(isinstance(item, dict) for item in document[:10]):
        return _records(_grouped(text, 1))
    if not isinstance(document, dict):
        return None
    if not any(path[0] in document for path in _MESSAGE):
        for key in _LISTS:
            if isinstance(document.get(key), list):
                return _records(_grouped(text, 2))
    return _records([_values(text)]) if "\n" in text.strip() else None


def _sequence(text: str) -> list[tuple[int, int]]:
    """The spans of JSON objects of several lines, one after the other; none where there is anything else."""
    spans: list[tuple[int, int]] = []
    position = 0
    while (match := _BLANK.match(text, position)) is not None and match.end() < len(text):
        start = match.end()
        try:
            document, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(document, dict) or (not spans and "\n" not in text[start:position]):
            return []
        spans.append((start, position))
    return spans


def _grouped(text: str, depth: int) -> Iterable[list[Value]]:
    """The values of a document by record; paths begin at the record, which lies ``depth`` deep."""
    found: dict[Path, list[Value]] = {}
    for path, start, end, value in _values(text):
        found.setdefault(path[:depth], []).append((path[depth:], start, end, value))
    return found.values()


def _records(records: Iterable[Iterable[Value]]) -> list[Part] | None:
    return sorted(
        (start, end, True, True) for values in records for _, start, end, _ in _chosen(values) if end - start > 2
    ) or None  # fmt: skip


def _notebook(text: str) -> Iterator[Part]:
    """The stored outputs of the cells."""
    for path, start, end, _ in _values(text):
        if len(path) < 5 or path[0] != "cells" or path[2] != "outputs":
            continue
        kind = path[4]
        if kind == "traceback":
            yield start, end, True, True
        elif kind == "text" or (kind == "data" and path[5:6] == ("text/plain",)):
            # items of such a list carry their own line ends
            whole = len(path) == (5 if kind == "text" else 6)
            yield start, end, True, whole or not text[max(end - 3, 0) : end].endswith('\\n"')


def _assemble(text: str, parts: Iterable[Part], encoding: str, bom: int) -> tuple[str, Pieces]:
    out: list[str] = []
    pieces = Pieces()
    length, ended = 0, True  # of what is put together so far: characters, and whether a line would begin behind them
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
        pieces.add(length, *place(start))
        emit(text[start:end])

    def emit(new: str) -> None:
        nonlocal length, ended
        if new:
            out.append(new)
            length += len(new)
            ended = new[-1] == "\n"

    for start, end, is_value, ends_line in parts:
        if not is_value:
            copy(start, end)
            emit("\n")
        elif text[start] == "[":
            numbers = bytes(int(number) & 255 for number in re.findall(r"\d{1,9}", text[start:end]))
            pieces.add(length, *place(start))
            emit(numbers.decode("utf-8", "replace").rstrip("\n") + "\n")
        else:
            position = start + 1
            straight = encoding == "utf-8" and text[start:end].isascii() and text.find("\n", start, end) < 0
            line, column, at = place(position) if straight else (0, 0, 0)
            column, at = column - position, at - position
            for match in _ESCAPE.finditer(text, position, end - 1):
                stop = match.start()
                if straight:
                    pieces.add(length, line, column + position, at + position)
                    emit(text[position:stop])
                else:
                    copy(position, stop)
                emit(_unescape(match.group()))
                position = match.end()
            copy(position, end - 1)
            if ends_line and not ended:
                emit("\n")
    return "".join(out), pieces


def _unescape(escape: str) -> str:
    kind = escape[1]
    if kind == "x" and len(escape) > 2:
        said = bytes.fromhex(escape.replace("\\x", ""))
        try:
            return said.decode()
        except UnicodeDecodeError:  # a letter of a string, such as a blank that does not break
            return said.decode("latin-1")
    if kind != "u":
        return _SHORT.get(kind, kind)
    if len(escape) == 12:
        pair = chr(int(escape[2:6], 16)) + chr(int(escape[8:12], 16))
        return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    code = int(escape[2:6], 16) if len(escape) == 6 else 0xFFFD
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
