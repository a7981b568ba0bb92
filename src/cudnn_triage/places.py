"""Where a character of a log's text stands in the raw bytes: line, column, byte."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate

from .light import replaced
from .lines import Line, Run
from .reading import Cut, Log
from .records import Pieces

Place = tuple[int, int, int]
"""0-based raw line, 0-based column, byte."""

Whole = tuple[int, tuple[Run, ...], int, int]
"""0-based raw line, runs, first byte, byte past the last one: an unchanged line."""


def places_of(log: Log) -> Verbatim | Copied:
    """The map from a log's text to its raw bytes. Asking in the order of the text is fast."""
    return Copied(log, log.pieces) if log.pieces else Verbatim(log)


def moved(lines: list[Line], cuts: tuple[Cut, ...]) -> list[Line]:
    """The lines of a log of which parts were left out, told by their places in all of it."""
    rows = [cut.row for cut in cuts]
    out: list[Line] = []
    for line in lines:
        at = bisect_right(rows, line.number - 1) - 1
        if at < 0:
            out.append(line)
            continue
        cut = cuts[at]
        shift = cut.byte - cut.at
        runs, column = line.runs, cut.column if line.number - 1 == cut.row else 0
        if runs or column:
            first = line.breaks[0] if line.breaks else len(line.text) + 1
            runs = tuple(
                (index, place + (column if index < first else 0), byte + shift)
                for index, place, byte in runs or ((0, 0, line.start),)
            )
        number = line.number + cut.line - cut.row
        out.append(replaced(line, number=number, start=line.start + shift, end=line.end + shift, runs=runs))
    return out


class Verbatim:
    """Raw places in a log whose text is its bytes, decoded."""

    def __init__(self, log: Log) -> None:
        self._text = log.text
        self._encoding = log.encoding
        self._errors = "surrogateescape" if log.encoding == "utf-8" else "replace"
        self._bom = log.bom
        self._limit = len(log.raw)
        newline = self._newline = len(self._encode("\n"))
        rows = log.text.split("\n")
        # of each line and of what would be the next: index in the text, byte after the byte-order mark
        self._starts = array("q", accumulate((len(row) + 1 for row in rows), initial=0))
        self._single = log.encoding == "utf-8" and log.text.isascii()
        if self._single:
            self._bytes = self._starts
        elif log.encoding == "utf-8":
            sizes = (len(row) + 1 if row.isascii() else len(self._encode(row)) + 1 for row in rows)
            self._bytes = array("q", accumulate(sizes, initial=0))
        elif log.encoding.startswith("utf-"):
            self._bytes = array("q", accumulate((len(self._encode(row)) + newline for row in rows), initial=0))
        else:
            self._bytes = array("q", accumulate((len(row) + 1 for row in log.raw.split(b"\n")), initial=0))
        self._last = (0, 0, 0)  # line, index in the text, byte after the byte-order mark
        self._row = len(rows) - 1

    def _encode(self, text: str) -> bytes:
        return text.encode(self._encoding, self._errors)

    def locate(self, source: int) -> Place:
        """The place of a character of the text."""
        starts = self._starts
        line, known, byte = self._last
        if not known <= source < starts[line + 1]:
            if not (line < self._row and starts[line + 1] <= source < starts[line + 2]):
                line = bisect_right(starts, source) - 2
            line += 1
            known, byte = starts[line], self._bytes[line]
        if self._single:
            byte += source - known
        elif source > known:
            stretch = self._text[known:source]
            byte += len(stretch) if self._encoding == "utf-8" and stretch.isascii() else len(self._encode(stretch))
        self._last = (line, source, byte)
        return line, source - starts[line], min(self._bom + byte, self._limit)

    def whole(self, row: int, start: int, end: int) -> Whole | None:
        """Where a line that is a whole raw line stands."""
        if start != self._starts[row] or end != self._starts[row + 1] - 1:
            return None
        if row == self._row:
            return row, (), self._bom + self._bytes[row], self._limit
        if self._single and not self._bom:
            return row, (), start, end
        return row, (), self._bom + self._bytes[row], self._bom + self._bytes[row + 1] - self._newline

    def stretches(self, source: int, length: int) -> list[tuple[int, int, int, int]]:
        """(offset, raw line, column, byte) of each raw stretch of a copy: one, as no copy goes beyond its line."""
        return [(0, *self.locate(source))]


class Copied:
    """Raw places in a log whose text was taken out of JSON."""

    def __init__(self, log: Log, pieces: Pieces) -> None:
        self._pieces = pieces
        self._starts = pieces.starts + array("q", (1 << 62,))
        self._text = log.text
        self._encoding = log.encoding
        self._single = log.encoding == "utf-8" and log.text.isascii()
        self._limit = len(log.raw)
        self._last = (0, self._starts[0], pieces.bytes[0])  # piece, index in the text, byte

    def _locate(self, index: int, source: int) -> Place:
        pieces = self._pieces
        at = self._starts[index]
        piece, known, byte = self._last
        if piece != index or not at <= known <= source:
            known, byte = at, pieces.bytes[index]
        if source > known:
            byte += len(self._text[known:source].encode(self._encoding, "replace"))
        self._last = (index, source, byte)
        return pieces.rows[index], pieces.columns[index] + source - at, min(byte, self._limit)

    def _index(self, source: int) -> int:
        """The piece that a character of the text lies in."""
        starts = self._starts
        index = self._last[0]
        if starts[index] <= source:
            if source < starts[index + 1]:
                return index
            if index + 1 < len(self._pieces) and source < starts[index + 2]:
                return index + 1
        return max(bisect_right(starts, source) - 1, 0)

    def whole(self, row: int, start: int, end: int) -> Whole | None:
        """Where a line stands that is one copy, if that is easily told."""
        index = self._index(start)
        if not self._single or end >= self._starts[index + 1]:
            return None
        self._last = (index, self._starts[index], self._pieces.bytes[index])
        within = start - self._starts[index]
        byte = self._last[2] + within
        run = (0, self._pieces.columns[index] + within, byte)
        return self._pieces.rows[index], (run,), byte, min(byte + end - start, self._limit)

    def locate(self, source: int) -> Place:
        """The place of a character of the text."""
        return self._locate(self._index(source), source)

    def stretches(self, source: int, length: int) -> list[tuple[int, int, int, int]]:
        """(offset, raw line, column, byte) of each raw stretch of ``length`` characters of the text."""
        starts = self._starts
        index = self._index(source)
        out = [(0, *self._locate(index, source))]
        end = source + length
        while starts[index + 1] < end:
            index += 1
            out.append((starts[index] - source, *self._locate(index, starts[index])))
        return out
