"""The grammar of logs: which lines are frames, quoted source, exceptions and records, and where the program failed.

Line shapes are regular expressions and block structure is a hand-written state machine, rather than a pyparsing grammar: a log is
no sentence of a language (blocks are cut off, interleaved and indented by whatever printed them, and most lines belong to none),
importing pyparsing alone would cost 60 ms on the hot path, and its back-tracking would cost the linear time that untrusted input
demands. So each reader looks at one position and returns the position after the block it has read and marked there, or the same
position if no block of its kind begins; nothing is read twice but for short, bounded looks ahead; and all patterns are anchored
and cannot back-track out of proportion. Each rank's lines are read as a stream of their own, so that processes printing through
one another do not break one another's tracebacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..lines import Line
from ..structure import Role, Structure
from . import attempts, endings, failures, listings, natives, outcome, plain, pytests, sources, tracebacks
from .page import Page, Stream
from .shapes import CHAINS, TRACEBACK

__all__ = ["SIGNS", "parse"]

SIGNS = (TRACEBACK, *(start for start, _ in CHAINS), *failures.HINTS)
"""Texts without which no line is read as a failure."""

_Reader = Callable[[Stream, int, str], int]

_BY_FIRST: dict[str, tuple[_Reader, ...]] = {  # by the first character of a line, white space aside
    "=": (pytests.section, natives.stack),
    "_": (pytests.section,),
    "-": (pytests.section, sources.listing),
    "#": (sources.folded,),
    ":": (sources.folded,),
    "R": (sources.folded,),
    "C": (tracebacks.entry, natives.java, natives.stack),
    "D": (tracebacks.separator,),
    "E": (pytests.errors, tracebacks.debugger, natives.java),
    "F": (tracebacks.entry,),
    "I": (tracebacks.entry, sources.typed),
    "S": (natives.julia,),
    "T": (tracebacks.separator,),
    "g": (natives.stack,),
    "s": (natives.lua, natives.stack),
    "t": (natives.terminate, natives.rust),
    ">": (tracebacks.entry, sources.typed),
    "+": (sources.shell_trace,),
    "*": (natives.stack,),
    '"': (tracebacks.copied,),
    "^": (sources.compiler,),
    "~": (sources.compiler,),
    "|": (sources.compiler,),
    "\u2771": (sources.listing,),
    "\u2502": (sources.boxed,),
    "\u2503": (sources.boxed,),
    **dict.fromkeys("0123456789", (sources.boxed, sources.compiler)),
}
_PLACES: tuple[_Reader, ...] = (sources.warning, pytests.place)  # lines that name a Python file
_ANY: tuple[_Reader, ...] = (natives.entry, tracebacks.orphan)


def parse(lines: Sequence[Line]) -> Structure:
    """Tell what the lines of a log are to one another. Never raises; linear in the input."""
    page = Page(lines)
    listings.mark(page)
    orders: dict[str, list[int]] = {}
    for index, rank in enumerate(page.ranks):
        orders.setdefault(rank, []).append(index)
    for rank, order in orders.items():
        _read(Stream(page, rank, order))
    failed = outcome.failures(page)
    concluded = endings.well(page)
    begun = attempts.starts(page, failed, concluded=concluded)
    return Structure(
        roles=tuple(role or Role.TEXT for role in page.roles),
        raised=outcome.raised(page),
        failures=attempts.outlived(failed, begun) if concluded else failed,
        ranks=tuple(rank for rank in orders if rank),
        concluded=concluded,
        attempts=begun,
    )


def _read(stream: Stream) -> None:
    texts, size = stream.texts, stream.size
    pos = 0
    while pos < size:
        text = texts[pos]
        bare = text.strip()
        if not bare:
            stream.mark(pos, Role.BLANK)
            pos += 1
        elif stream.role(pos) is not None:  # a reader has looked ahead
            pos += 1
        else:
            after = _block(stream, pos, text, bare)
            if after == pos:
                plain.read(stream, pos, bare)
                after += 1
            pos = after
    full = [pos for pos in range(size) if stream.role(pos) is not Role.BLANK]
    if len(full) == 1 and stream.role(full[0]) is Role.SOURCE:  # a lone line quotes nothing: a whole log on one line
        plain.read(stream, full[0], texts[full[0]].strip())


def _block(stream: Stream, pos: int, text: str, bare: str) -> int:
    """Read the block that begins at ``pos``; return the position after it, ``pos`` if none does."""
    if TRACEBACK in text:
        return tracebacks.header(stream, pos)
    if stream.fold:
        return sources.folded(stream, pos, bare)
    if stream.suite == "listing":
        after = pytests.section(stream, pos, bare) if bare[0] in "=_-" else pos
        if after == pos:
            after = pytests.listing(stream, pos, bare)
        if after > pos:
            return after
    for read in _BY_FIRST.get(bare[0], ()):
        after = read(stream, pos, bare)
        if after > pos:
            return after
    if tracebacks.PAUSED in text:
        after = tracebacks.debugger(stream, pos, bare)
        if after > pos:
            return after
    if ".py" in text:
        for read in _PLACES:
            after = read(stream, pos, bare)
            if after > pos:
                return after
    for read in _ANY:
        after = read(stream, pos, bare)
        if after > pos:
            return after
    return pos
