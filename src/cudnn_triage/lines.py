"""The unit of evidence: one cleaned line of a log that knows where every character came from."""

from __future__ import annotations

from bisect import bisect_right

from .light import record

Run = tuple[int, int, int]
"""(index in the cleaned text, 0-based column in the raw line, byte offset in the raw log): where an unbroken copy starts."""


BRIEF = 6
"""Lines of a log so short that each was pasted for what it says: it is taken for one of this field without a word of it."""


@record(frozen=True, slots=True)
class Line:
    """One cleaned line.

    ``runs`` describes the map back to the raw log: cleaned characters from one run's index up to the next one's were
    copied unchanged, one after the other, from the raw place that the run names. Wrapped lines that were joined have
    runs in several raw lines, told by ``breaks``.
    """

    text: str
    number: int  # 1-based number of the raw line on which it starts
    start: int  # byte offset of its first raw byte
    end: int  # byte offset just past its last raw byte
    runs: tuple[Run, ...] = ()
    breaks: tuple[int, ...] = ()  # cleaned indexes at which the next raw line begins (wrapped lines)
    rank: str = ""  # rank, service or worker that a prefix names: one stream among several in the log
    level: str = ""  # "I", "W", "E" or "F" where a logger's prefix says so
    encoding: str = "utf-8"  # of the raw log: how many raw bytes a copied character takes
    program: str = ""  # that wrote the line, where a syslog's or journal's prefix names it
    carrier: str = (
        ""  # what ran the program and put its prefix before the line: buildkit, ci, compose or pod (prefixes.py)
    )

    def place(self, index: int) -> tuple[int, int]:
        """The raw place of cleaned character ``index``: (1-based line number, 1-based column)."""
        line = self.number + bisect_right(self.breaks, index)
        if not self.runs:
            return line, index + 1
        at, column, _ = self.runs[self._run(index)]
        return line, column + (index - at) + 1

    def byte(self, index: int) -> int:
        """Byte offset in the raw log of cleaned character ``index`` (exact where it is a copy, else the nearest byte)."""
        if index >= len(self.text):
            return self.end
        if not self.runs:
            return min(self.start + len(self.text[:index].encode(self.encoding, "replace")), self.end)
        at, _, byte = self.runs[self._run(index)]
        return min(byte + len(self.text[at:index].encode(self.encoding, "replace")), self.end)

    def _run(self, index: int) -> int:
        return max(bisect_right(self.runs, (index, 1 << 62, 1 << 62)) - 1, 0)
