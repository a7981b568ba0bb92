"""A line while it is being cleaned: its text, and where in the log's text each stretch of it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Edit = tuple[int, int, str]
"""Replace text[start:end] by a string (mostly nothing)."""


class Draft:
    """Text under edit. ``runs`` are (index in ``text``, index in the log's text); None: an unchanged copy."""

    __slots__ = ("carrier", "end", "follows", "level", "program", "rank", "row", "runs", "start", "text", "wide")

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        row: int,
        runs: list[tuple[int, int]] | None = None,
        follows: bool = False,
    ) -> None:
        self.text = text
        self.start = start  # the stretch of the log's text that this line stands for
        self.end = end
        self.row = row  # 0-based line of the log's text
        self.runs = runs
        self.follows = follows  # stands behind another line in the same row
        self.rank = ""
        self.level = ""
        self.program = ""  # that a syslog names
        self.carrier = ""  # that a prefix tells
        self.wide = 0  # characters of prefixes already taken off

    @property
    def width(self) -> int:
        """How many columns the line filled, prefixes included."""
        return self.wide + len(self.text)

    def source(self, index: int) -> int:
        """Index in the log's text of character ``index``."""
        if self.runs is None:
            return self.start + index
        at, source = self.runs[max(bisect_right(self.runs, (index, 1 << 62)) - 1, 0)]
        return source + index - at

    def drop(self, count: int) -> None:
        """Remove the first ``count`` characters."""
        if count:
            source = self.source(count)
            if self.runs is None or self.runs[-1][0] <= count:
                self.runs = [(0, source)]
            else:
                later = bisect_right(self.runs, (count, 1 << 62))
                self.runs = [(0, source), *((at - count, place) for at, place in self.runs[later:])]
            self.text = self.text[count:]

    def trim(self, length: int) -> None:
        """Keep only the first ``length`` characters."""
        if length < len(self.text):
            if self.runs is None:
                self.runs = [(0, self.start)]
            self.text = self.text[:length]
            while len(self.runs) > 1 and self.runs[-1][0] >= length:
                self.runs.pop()

    def edit(self, edits: Iterable[Edit]) -> None:
        """Apply edits, which are in order and do not overlap."""
        text, runs = self.text, self.runs or [(0, self.start)]
        out: list[str] = []
        fresh: list[tuple[int, int]] = []
        length = position = run = 0
        for start, end, new in (*edits, (len(text), len(text), "")):
            if start > position:
                while run + 1 < len(runs) and runs[run + 1][0] <= position:
                    run += 1
                fresh.append((length, runs[run][1] + position - runs[run][0]))
                while run + 1 < len(runs) and runs[run + 1][0] < start:
                    run += 1
                    fresh.append((length + runs[run][0] - position, runs[run][1]))
                out.append(text[position:start])
                length += start - position
            if new:
                while run + 1 < len(runs) and runs[run + 1][0] <= start:
                    run += 1
                fresh.append((length, runs[run][1] + start - runs[run][0]))
                out.append(new)
                length += len(new)
            position = end
        self.text = "".join(out)
        self.runs = fresh or [(0, self.start)]

    def split(self, spans: Sequence[tuple[int, int]]) -> list[Draft]:
        """The stretches ``spans`` (in order, not overlapping) as drafts of their own."""
        parts: list[Draft] = []
        runs = self.runs
        run = 0
        for start, end in spans:
            if runs is None:
                part = Draft(self.text[start:end], self.start + start, self.start + end, self.row)
            else:
                while run + 1 < len(runs) and runs[run + 1][0] <= start:
                    run += 1
                first = runs[run][1] + start - runs[run][0]
                own = [(0, first)]
                while run + 1 < len(runs) and runs[run + 1][0] < end:
                    run += 1
                    own.append((runs[run][0] - start, runs[run][1]))
                last = own[-1][1] + (end - start) - own[-1][0]
                part = Draft(self.text[start:end], first, max(last, first), self.row, own)
            part.rank, part.level = self.rank, "" if parts else self.level
            part.program, part.carrier = self.program, self.carrier
            part.follows = self.follows or bool(parts)
            parts.append(part)
        return parts


def at_line_ends(draft: Draft) -> list[Draft]:
    """The lines of a draft into which line ends were put, without empty ones."""
    spans: list[tuple[int, int]] = []
    position = 0
    for piece in draft.text.split("\n"):
        if piece:
            spans.append((position, position + len(piece)))
        position += len(piece) + 1
    if not spans:
        draft.trim(0)
        return [draft]
    parts = draft.split(spans)
    for part in parts[1:]:
        part.follows = False  # a line like any other
    return parts


def joined(drafts: Sequence[Draft], width: int) -> Draft:
    """One line of several: a line put together again that was wrapped at words at ``width`` (0: within words)."""
    runs: list[tuple[int, int]] = []
    texts: list[str] = []
    length = 0
    for draft in drafts:
        if width and texts:
            word = draft.text.find(" ")
            if len(texts[-1]) - texts[-1].rfind(" ") + (word if word >= 0 else len(draft.text)) <= width:
                runs.append((length, draft.start - 1))
                texts.append(" ")
                length += 1
        runs.extend((at + length, source) for at, source in (draft.runs or [(0, draft.start)]))
        texts.append(draft.text)
        length += len(draft.text)
    first = drafts[0]
    whole = Draft("".join(texts), first.start, drafts[-1].end, first.row, runs, first.follows)
    whole.rank, whole.level = first.rank, first.level
    whole.program, whole.carrier = first.program, first.carrier
    return whole
