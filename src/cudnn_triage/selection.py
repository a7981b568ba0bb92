"""Which stretches of a log are read: its beginning, its end, and what lies around the literals that a scan of the raw bytes finds.

A log of up to ``WHOLE`` bytes is beginning and end. Of a longer one every block is scanned by one Hyperscan database (see
knowledge/literals.py), and of each literal the first few places and the last one are kept. So the time is that of the scan, the
memory is bounded, and what is read does not depend on how the bytes arrived: blocks are cut by what the log holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from .knowledge.base import Knowledge
from .knowledge.literals import LONGEST
from .light import record
from .reading import Cut, Log, cut_log, noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD = 128 << 10
TAIL = 128 << 10
WHOLE = HEAD + TAIL
"""Bytes up to which a log is read whole."""

BLOCK = 64 << 10
BEFORE = 6 << 10  # bytes before a literal that are read with it: the traceback above an error
AFTER = 4 << 10
FIRST = 4  # places of each literal that are kept, besides the last one
MOST = 1 << 20  # bytes that are read between beginning and end
MOST_KEPT = 48 << 20  # bytes that are held while it is not known which of them will be read
_GAP = b"\n" * 6  # in the place of what is left out: no block of a log's grammar goes on over so many empty lines
_CARRY = 256  # bytes of a line that are scanned again with its next block


@record(slots=True)
class Block:
    """A stretch of the log, cut behind a line end where there is one."""

    start: int  # its first byte
    row: int  # 0-based line in which it begins
    line: int  # the byte at which that line begins
    data: bytes
    hits: dict[int, int]  # literal -> where its first place in the block ends
    number: int


@record(frozen=True, slots=True)
class Stretch:
    """Bytes that may be read, and where they stand."""

    start: int
    row: int
    column: int  # bytes of its first line that stand before it
    data: bytes

    @property
    def end(self) -> int:
        """The byte past the last one."""
        return self.start + len(self.data)


class Selector:
    """Takes a log in chunks of any size and gives the Log to read. One for each log."""

    def __init__(self, knowledge: Knowledge, name: str, coded: str = "") -> None:
        self.size = 0
        self._knowledge = knowledge
        self._name = name
        self._coded = coded
        self._rest = b""
        self._rows = self._line = self._cut = 0  # of what was cut into blocks: lines, begin of the last line, bytes
        self._count = 0
        self._head: list[Block] = []
        self._recent: deque[Block] = (
            deque()
        )  # the last ones, at least TAIL bytes; all as long as the log may be read whole
        self._scan: Scan | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        data = self._rest + data if self._rest else data
        at, size = 0, len(data)
        while size - at >= BLOCK:
            cut = data.rfind(b"\n", at + BLOCK // 2, at + BLOCK) + 1 or at + BLOCK
            self._take(data[at:cut])
            at = cut
        self._rest = data[at:]

    def so_far(self) -> Log:
        """The log to read if it ended here. More may follow."""
        from copy import copy

        now = copy(self)
        now._head, now._recent = self._head.copy(), self._recent.copy()
        now._scan = self._scan.copy() if self._scan else None
        return now.finish()

    def finish(self) -> Log:
        """The log to read, now that all bytes were given."""
        self._take(self._rest)
        blocks = [*self._recent]
        if self._scan is None:
            return cut_log(self._name, b"".join(block.data for block in blocks), coded=self._coded)
        nothing = Block(self._cut, self._rows, self._line, b"", {}, self._count)
        for before, block, after in zip(blocks, blocks[1:], [*blocks[2:], nothing], strict=False):
            self._scan.settle(before, block, after)
        head, tail = _beginning(self._head), _end(blocks)
        kept = _apart([head, *_affordable(self._scan.stretches(), head.end, tail.start), tail])
        raw, cuts = _joined(kept)
        rows = self._rows + (self._line < self.size)
        return cut_log(self._name, raw, cuts, self.size, rows, self._repeats(self._scan), self._coded)

    def _repeats(self, scan: Scan) -> dict[str, int]:
        """How often the scan met the literals of each rule."""
        counts: dict[str, int] = {}
        for literal, count in scan.counts.items():
            for template in self._knowledge.literals.templates(literal):
                name = self._knowledge.rules.template(template)[0]["id"]
                counts[name] = max(counts.get(name, 0), count)
        return counts

    def _take(self, data: bytes) -> None:
        block = Block(self._cut, self._rows, self._line, data, {}, self._count)
        self._count += 1
        self._cut += len(data)
        newline = data.rfind(b"\n")
        if newline >= 0:
            self._rows += data.count(b"\n")
            self._line = block.start + newline + 1
        if block.start < HEAD:
            self._head.append(block)
        self._recent.append(block)
        if self._cut <= WHOLE:
            return
        if self._scan is None:
            self._scan = Scan(self._knowledge)
            for earlier in [*self._recent][:-1]:
                self._scan.scan(earlier)
        self._scan.scan(block)
        while len(self._recent) > 3 and self._cut - self._recent[2].start > TAIL:
            before, settled, after = (self._recent[at] for at in range(3))
            self._scan.settle(before, settled, after)
            self._recent.popleft()


class Scan:
    """Where the literals of a knowledge base stand in the blocks of one log."""

    def __init__(self, knowledge: Knowledge) -> None:
        import hyperscan

        self._database = knowledge.literals.database
        self._scratch = hyperscan.Scratch(self._database)
        self._tail = b""
        self._first: dict[int, list[Stretch]] = {}
        self._last: dict[int, Stretch] = {}
        self._latest: dict[int, int] = {}  # literal -> number of the last block that holds it
        self._kept = 0
        self.counts: dict[int, int] = {}
        """How often each literal was found; of those that stand everywhere, in how many blocks."""

    def copy(self) -> Scan:
        """The same, to go on from here twice."""
        from copy import copy

        other = copy(self)
        other._first = {literal: first.copy() for literal, first in self._first.items()}
        other._last, other._latest, other.counts = self._last.copy(), self._latest.copy(), self.counts.copy()
        return other

    def scan(self, block: Block) -> None:
        """Find the literals of the next block."""
        hits, counts, tail = block.hits, self.counts, self._tail
        ahead = len(tail)

        def found(literal: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            if end > ahead:  # else it was found with the block before
                counts[literal] = counts.get(literal, 0) + 1
                if literal not in hits:
                    hits[literal] = end - ahead

        text = tail + block.data if tail else block.data
        self._database.scan(text, match_event_handler=found, scratch=self._scratch)
        self._latest.update(dict.fromkeys(hits, block.number))
        self._tail = b"" if text.endswith(b"\n") else text[-_CARRY:]

    def settle(self, before: Block, block: Block, after: Block) -> None:
        """Keep what may have to be read of a block that goes out of sight: first places, and last ones as it looks now."""
        allowed = FIRST if self._kept < MOST_KEPT else 1 if self._kept < 2 * MOST_KEPT else 0
        wanted = [
            (end, literal)
            for literal, end in block.hits.items()
            if self._latest[literal] == block.number or len(self._first.get(literal, ())) < allowed
        ]
        for group in _near(sorted(wanted)):
            stretch = _around((before, block, after), group[0][0], group[-1][0])
            self._kept += len(stretch.data)
            for _, literal in group:
                first = self._first.setdefault(literal, [])
                if len(first) < allowed:
                    first.append(stretch)
                else:
                    self._last[literal] = stretch

    def stretches(self) -> list[Stretch]:
        """All that may be read, what is read first at the beginning: a first place of every literal, the rare ones before."""
        ranked = [
            ((2 * place, self.counts[literal]), stretch)
            for literal, first in self._first.items()
            for place, stretch in enumerate(first)
        ]
        ranked += [((1, self.counts[literal]), stretch) for literal, stretch in self._last.items()]
        ranked.sort(key=lambda item: (item[0], item[1].start))
        return [stretch for _, stretch in ranked]


def selected(log: Log, knowledge: Knowledge) -> Log:
    """The log to read of one that was given whole."""
    if log.document or log.cuts or len(log.raw) <= WHOLE:
        return log
    selector = Selector(knowledge, log.name)
    selector.feed(log.raw)
    return noted(selector.finish(), [log.note] if log.note else [])


def _near(hits: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Groups of hits (where they end, literal) that are read together."""
    groups: list[list[tuple[int, int]]] = []
    for hit in hits:
        if groups and hit[0] - groups[-1][-1][0] <= AFTER and hit[0] - groups[-1][0][0] <= BEFORE:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _around(blocks: tuple[Block, Block, Block], first: int, last: int) -> Stretch:
    """What is read with the hits of the middle block that end at ``first`` to ``last``: whole lines where they are not too long."""
    before = blocks[0]
    text = b"".join(part.data for part in blocks)
    ahead = len(before.data)
    begin, end = max(ahead + first - LONGEST, 0), ahead + last
    start, stop = max(begin - BEFORE, 0), min(end + AFTER, len(text))
    newline = text.find(b"\n", start, begin)
    start = newline + 1 if newline >= 0 and start else start
    newline = text.rfind(b"\n", end, stop)
    stop = newline + 1 if newline >= 0 else stop
    while start < begin and text[start] & 0xC0 == 0x80:  # not within a character of UTF-8
        start += 1
    while end < stop < len(text) and text[stop] & 0xC0 == 0x80:
        stop -= 1
    newline = text.rfind(b"\n", 0, start)
    line = before.start + newline + 1 if newline >= 0 else before.line
    return Stretch(
        before.start + start, before.row + text.count(b"\n", 0, start), before.start + start - line, text[start:stop]
    )


def _beginning(blocks: list[Block]) -> Stretch:
    data = b"".join(block.data for block in blocks)
    return Stretch(0, 0, 0, data[: data.rfind(b"\n", HEAD // 2, HEAD) + 1 or HEAD])


def _end(blocks: list[Block]) -> Stretch:
    data = b"".join(block.data for block in blocks)
    first = Stretch(blocks[0].start, blocks[0].row, blocks[0].start - blocks[0].line, data)
    at = max(len(data) - TAIL, 0)
    return _behind(first, data.find(b"\n", at, at + TAIL // 2) + 1 or at)


def _behind(stretch: Stretch, count: int) -> Stretch:
    """A stretch without its first ``count`` bytes."""
    gone = stretch.data[:count]
    newline = gone.rfind(b"\n")
    column = count - newline - 1 if newline >= 0 else stretch.column + count
    return Stretch(stretch.start + count, stretch.row + gone.count(b"\n"), column, stretch.data[count:])


def _affordable(stretches: Iterable[Stretch], low: int, high: int) -> list[Stretch]:
    """Those between ``low`` and ``high`` that are read."""
    out: dict[int, Stretch] = {}
    room = MOST
    for stretch in stretches:
        if stretch.end > low and stretch.start < high and len(stretch.data) <= room:
            if stretch.start not in out:
                room -= len(stretch.data)
            if stretch.start not in out or len(out[stretch.start].data) < len(stretch.data):
                out[stretch.start] = stretch
    return [*out.values()]


def _apart(stretches: list[Stretch]) -> list[Stretch]:
    """In order, and no byte twice."""
    out: list[Stretch] = []
    for stretch in sorted(stretches, key=lambda one: (one.start, one.end)):
        if out and stretch.start < out[-1].end:
            stretch = _behind(stretch, out[-1].end - stretch.start)
        if stretch.data:
            out.append(stretch)
    return out


def _joined(stretches: list[Stretch]) -> tuple[bytes, tuple[Cut, ...]]:
    """One text of all, and where what was left out stood."""
    out: list[bytes] = []
    cuts: list[Cut] = []
    rows = size = end = 0
    for stretch in stretches:
        if stretch.start > end:
            gap = _GAP if out and out[-1].endswith(b"\n") else b"\n" + _GAP
            out.append(gap)
            rows, size = rows + len(gap), size + len(gap)
            cuts.append(Cut(rows, stretch.row, size, stretch.start, stretch.column))
        out.append(stretch.data)
        rows, size, end = rows + stretch.data.count(b"\n"), size + len(stretch.data), stretch.end
    return b"".join(out), tuple(cuts)
