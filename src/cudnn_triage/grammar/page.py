"""The working copy of a log while it is read: roles, exceptions and failures that the readers of grammar/ have found so far."""

from __future__ import annotations

from collections.abc import Sequence

from ..light import field, record
from ..lines import Line
from ..structure import Failure, Frame, Role


@record(slots=True)
class Found:
    """An exception as it is being read; ``first``, ``last`` and ``head`` are positions in its stream, mapped by ``order``."""

    type: str
    message: str
    first: int
    last: int
    head: int  # where its traceback begins (its own first line if it has none)
    frames: list[Frame] = field(default_factory=list)
    relation: str = ""
    rank: str = ""
    remote: str = ""
    final: bool = True
    bare: bool = False  # no traceback belongs to it
    caught: bool = False
    chain: int = -1  # where the first exception of its chain stands, if that is another
    order: list[int] = field(default_factory=list)
    inner: Found | None = None  # the exception that this one's message quotes with its traceback


class Page:
    """A log being read: the texts of its lines and what is known about each."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.texts = [line.text for line in lines]
        self.levels = [line.level for line in lines]
        self.ranks = [line.rank for line in lines]
        self.roles: list[Role | None] = [None] * len(lines)
        self.found: list[Found] = []
        self.failures: list[Failure] = []


class Stream:
    """The lines of one rank, in order: what one process printed, without those of others in between.

    ``texts`` is a view: readers may peel the prefix off a block (``| `` of exception groups, ``[rank0]: ``).
    """

    def __init__(self, page: Page, rank: str, order: list[int]) -> None:
        self.page = page
        self.rank = rank
        self.order = order
        self.texts = [page.texts[index] for index in order] if len(order) != len(page.texts) else list(page.texts)
        self.size = len(order)
        self.last: Found | None = None  # the latest exception of this stream
        self.link = ""  # how it led to the next one, once a separator line says so
        self.remote = ""  # where, as the lines above say, a traceback that begins before ``remote_until`` comes from
        self.remote_until = -1
        self.group_until = -1  # position at which the current exception group ends
        self.group: Found | None = None
        self.suite = ""  # pytest: "" | "listing" | "captured"
        self.warned = -1  # position up to which the message of a warning goes
        self.depth = 0  # how many quoted tracebacks deep the reader is
        self.places: list[Frame] = []  # frames of pytest's report since its last exception
        self.fold = ""  # "##[endgroup]" while inside a folded echo of commands

    def mark(self, pos: int, role: Role) -> None:
        """Give the line at ``pos`` a role."""
        self.page.roles[self.order[pos]] = role

    def level(self, pos: int) -> str:
        """The level that a logger gave the line at ``pos``."""
        return self.page.levels[self.order[pos]]

    def role(self, pos: int) -> Role | None:
        """The role that the line at ``pos`` has so far."""
        return self.page.roles[self.order[pos]]

    def next_full(self, pos: int, within: int = 4) -> int:
        """The first position from ``pos`` on, at most ``within`` blank lines away, whose line is not blank; -1 if none."""
        stop = min(self.size, pos + within + 1)
        while pos < stop:
            if self.texts[pos] and not self.texts[pos].isspace():
                return pos
            pos += 1
        return -1

    def previous_full(self, pos: int, within: int = 4) -> int:
        """The last position before ``pos`` whose line is not blank, at most ``within`` blank lines away; -1 if none."""
        stop = max(-1, pos - within - 2)
        pos -= 1
        while pos > stop:
            if self.texts[pos] and not self.texts[pos].isspace():
                return pos
            pos -= 1
        return -1

    def add(self, found: Found) -> None:
        """Record an exception and tie it to the one before where a separator line said so."""
        found.rank, found.order = self.rank, self.order
        if not found.remote and found.head < self.remote_until:
            found.remote, self.remote_until = self.remote, -1
        if self.link and self.last is not None:
            self.last.relation, self.last.final = self.link, False
            found.caught = found.caught or self.last.caught
            found.chain = self.last.first if self.last.chain < 0 else self.last.chain
        self.link = ""
        found.caught = found.caught or found.first <= self.warned
        if found.first < self.group_until:
            self._group(found)
        self.last = found
        self.page.found.append(found)

    def _group(self, found: Found) -> None:
        """Put an exception into the group that it stands in."""
        group = self.group
        if group is None:
            self.group = found
            return
        if found.final:
            found.relation, found.final = "cause", False
        group.inner = group.inner or found
        group.last = max(group.last, found.last)

    def fail(self, kind: str, type_: str, span: tuple[int, int], at: int, text: str, *, cut: bool = False) -> None:
        """Record a failure that stands on the lines of ``span`` (first, last) and is told on line ``at``."""
        first, last, told = (self.order[pos] for pos in (*span, at))
        self.page.failures.append(Failure(kind, type_, text, first, last, told, rank=self.rank, cut=cut))


def indent(text: str) -> int:
    """Columns of white space before the text (a tab counts as one)."""
    return len(text) - len(text.lstrip())
