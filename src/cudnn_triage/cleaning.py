"""From a log as it was pasted to clean lines, each of which knows its raw place."""

from __future__ import annotations

from bisect import bisect_right

from cudnn_triage import unwrap
from cudnn_triage.drafts import Draft
from cudnn_triage.escapes import Terminal, apart
from cudnn_triage.lines import Line, Run
from cudnn_triage.markup import Margins, Page
from cudnn_triage.prefixes import Prefixes, logger
from cudnn_triage.reading import Log


def clean(log: Log) -> list[Line]:
    """The lines of a log without terminal control, prefixes and markup, wrapped lines joined, in log order."""
    drafts = _visible(log.text)
    prefixes = Prefixes([draft.text for draft in drafts if not draft.follows])
    if _strip_carriers(drafts, prefixes):
        drafts = unwrap.rejoin(drafts)
    margins = Margins([draft.text for draft in drafts])
    out: list[Draft] = []
    for draft in drafts:
        if not draft.text:
            out.append(draft)
            continue
        _strip_logger(draft)
        margins.remove(draft)
        parts = unwrap.spread(draft)
        if len(parts) > 1:
            _strip_carriers(parts, prefixes)
            for part in parts:
                _strip_logger(part)
        out.extend(parts)
    return _finish(log, out)


def _visible(text: str) -> list[Draft]:
    """Raw lines without control characters and markup."""
    terminal, page = Terminal(text), Page(text)
    drafts: list[Draft] = []
    start = 0
    for row, raw in enumerate(text.split("\n")):
        end = start + len(raw)
        drafts.append(Draft(raw.rstrip("\r") if raw.endswith("\r") else raw, start, end, row))
        start = end + 1
    if drafts and text.endswith("\n"):
        drafts.pop()
    if terminal.coloured:  # a page counts the invisible characters, a terminal does not
        drafts = unwrap.rejoin(drafts)
    shown: list[Draft] = []
    for draft in drafts:
        if not draft.text:
            shown.append(draft)
            continue
        for line in terminal.lines(draft):
            shown.extend(page.lines(line))
    shown = unwrap.rejoin(shown)
    if not terminal.bars:
        return shown
    return [line for draft in shown for line in (apart(draft) if "%" in draft.text else (draft,))]


def _strip_carriers(drafts: list[Draft], prefixes: Prefixes) -> bool:
    """Take CI, container, scheduler and rank prefixes off; whether there were any."""
    before: Draft | None = None
    found = False
    blank: list[int] = []
    for index, draft in enumerate(drafts):
        if draft.text:
            length, rank, level = prefixes.carriers(draft.text)
            if length:
                found = True
                draft.drop(length)
                draft.rank = rank or draft.rank
                draft.level = level or draft.level
        if draft.follows and before is not None and before.row == draft.row:
            draft.rank = draft.rank or before.rank
            if not before.text:  # only a prefix stood before a carriage return
                blank.append(index - 1)
        before = draft
    for index in reversed(blank):
        del drafts[index]
    return found


def _strip_logger(draft: Draft) -> None:
    length, level = logger(draft.text)
    draft.drop(length)
    draft.level = level or draft.level


def _finish(log: Log, drafts: list[Draft]) -> list[Line]:
    places = _Pieces(log) if log.pieces else _Verbatim(log)
    lines: list[Line] = []
    for draft in drafts:
        if draft.runs is None and (span := places.whole(draft.row, draft.start, draft.end)) is not None:
            start, end = span
            lines.append(Line(draft.text, draft.row + 1, start, end, (), (), draft.rank, draft.level, log.encoding))
            continue
        number, column, start = places.locate(draft.start)
        runs: list[Run] = []
        breaks: list[int] = []
        line = number
        if draft.runs is not None or column or log.pieces:
            for at, source, length in _stretches(draft):
                for offset, row, where, byte in places.stretches(source, length):
                    breaks.extend([at + offset] * (row - line))
                    line = max(row, line)
                    runs.append((at + offset, where, byte))
        lines.append(
            Line(
                draft.text,
                number + 1,
                start,
                max(places.locate(draft.end)[2], start),
                tuple(runs),
                tuple(breaks),
                draft.rank,
                draft.level,
                log.encoding,
            )
        )
    return lines


def _stretches(draft: Draft) -> list[tuple[int, int, int]]:
    """(index, index in the log's text, length) of each stretch of a draft that is one copy."""
    runs = draft.runs or [(0, draft.start)]
    ends = [at for at, _ in runs[1:]] + [len(draft.text)]
    return [(at, source, max(end - at, 0)) for (at, source), end in zip(runs, ends, strict=True)]


class _Verbatim:
    """Raw places in a log whose text is its bytes, decoded."""

    def __init__(self, log: Log) -> None:
        self._text = log.text
        self._encoding = log.encoding
        self._errors = "surrogateescape" if log.encoding == "utf-8" else "replace"
        self._starts: list[int] = []
        self._bytes: list[int] = []
        source, byte = 0, log.bom
        newline = self._newline = len(self._encode("\n"))
        plain = log.encoding == "utf-8"
        single = plain and log.text.isascii()
        legacy = not plain and not log.encoding.startswith("utf-")
        raws = log.raw.split(b"\n") if legacy else []
        for index, line in enumerate(log.text.split("\n")):
            self._starts.append(source)
            self._bytes.append(byte)
            source += len(line) + 1
            if single or (plain and line.isascii()):
                byte += len(line) + 1
            elif legacy:
                byte += len(raws[index]) + 1
            else:
                byte += len(self._encode(line)) + newline
        self._last = (0, 0, log.bom)  # line, index in the text, byte
        self._limit = len(log.raw)

    def _encode(self, text: str) -> bytes:
        return text.encode(self._encoding, self._errors)

    def locate(self, source: int) -> tuple[int, int, int]:
        """(0-based raw line, 0-based column, byte) of a character of the text."""
        line, known, byte = self._last
        if not (known <= source and (line + 1 == len(self._starts) or source < self._starts[line + 1])):
            line = bisect_right(self._starts, source) - 1
            known, byte = self._starts[line], self._bytes[line]
        stretch = self._text[known:source]
        byte += len(stretch) if self._encoding == "utf-8" and stretch.isascii() else len(self._encode(stretch))
        self._last = (line, source, byte)
        return line, source - self._starts[line], min(byte, self._limit)

    def whole(self, row: int, start: int, end: int) -> tuple[int, int] | None:
        """First and last byte of a line that is a whole raw line."""
        last = row + 1 == len(self._starts)
        if start != self._starts[row] or end != (len(self._text) if last else self._starts[row + 1] - 1):
            return None
        return self._bytes[row], self._limit if last else self._bytes[row + 1] - self._newline

    def stretches(self, source: int, length: int) -> list[tuple[int, int, int, int]]:
        """(offset, raw line, column, byte) of each raw stretch of a copy: one, as no copy goes beyond its line."""
        return [(0, *self.locate(source))]


class _Pieces:
    """Raw places in a log whose text was taken out of JSON."""

    def __init__(self, log: Log) -> None:
        self._pieces = log.pieces
        self._text = log.text
        self._starts = [piece[0] for piece in log.pieces]
        self._encoding = log.encoding
        self._limit = len(log.raw)
        self._last = (0, 0, 0)  # piece, index in the text, byte

    def _locate(self, index: int, source: int) -> tuple[int, int, int]:
        at, line, column, byte = self._pieces[index]
        piece, known, known_byte = self._last
        if piece == index and known <= source and known >= at:
            byte = known_byte
        else:
            known = at
        byte += len(self._text[known:source].encode(self._encoding, "replace"))
        self._last = (index, source, byte)
        return line, column + source - at, min(byte, self._limit)

    def whole(self, row: int, start: int, end: int) -> tuple[int, int] | None:
        """Never: there is always a JSON string around the text."""
        return None

    def locate(self, source: int) -> tuple[int, int, int]:
        """(0-based raw line, 0-based column, byte) of a character of the text."""
        return self._locate(max(bisect_right(self._starts, source) - 1, 0), source)

    def stretches(self, source: int, length: int) -> list[tuple[int, int, int, int]]:
        """(offset, raw line, column, byte) of each raw stretch of ``length`` characters of the text."""
        index = max(bisect_right(self._starts, source) - 1, 0)
        out = [(0, *self._locate(index, source))]
        for later in range(index + 1, len(self._starts)):
            if self._starts[later] >= source + length:
                break
            out.append((self._starts[later] - source, *self._locate(later, self._starts[later])))
        return out
