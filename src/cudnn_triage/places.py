"""Where a character of a log's text stands in the raw bytes: line, column, byte."""

from __future__ import annotations

from bisect import bisect_right

from .reading import Log

Place = tuple[int, int, int]
"""0-based raw line, 0-based column, byte."""


def places_of(log: Log) -> Verbatim | Pieces:
    """The map from a log's text to its raw bytes. Asking in the order of the text is fast."""
    return Pieces(log) if log.pieces else Verbatim(log)


class Verbatim:
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
        single = self._single = plain and log.text.isascii()
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

    def locate(self, source: int) -> Place:
        """The place of a character of the text."""
        if self._single:
            line = bisect_right(self._starts, source) - 1
            return line, source - self._starts[line], min(self._bytes[0] + source, self._limit)
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


class Pieces:
    """Raw places in a log whose text was taken out of JSON."""

    def __init__(self, log: Log) -> None:
        self._pieces = log.pieces
        self._text = log.text
        self._starts = [piece[0] for piece in log.pieces]
        self._encoding = log.encoding
        self._limit = len(log.raw)
        self._last = (0, 0, 0)  # piece, index in the text, byte

    def _locate(self, index: int, source: int) -> Place:
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

    def locate(self, source: int) -> Place:
        """The place of a character of the text."""
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
