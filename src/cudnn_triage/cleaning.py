"""From a log as it was pasted to clean lines, each of which knows its raw place."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator

from . import unwrap
from .drafts import Draft
from .escapes import Terminal, apart
from .lines import Line, Run
from .loggers import logger
from .markup import BORDERS, Margins, Page, unborder
from .places import Copied, Verbatim, moved, places_of
from .prefixes import BUILDKIT, FailedStep, Prefixes
from .reading import Log
from .relays import Relay
from .spread import SHORTEST, spread
from .transport import Transport

_MOST_BLANK = 100


def clean(log: Log) -> list[Line]:
    """The lines of a log without terminal control, prefixes and markup, wrapped lines joined, in log order.

    Of very many blank lines in succession only the first ones are given.
    """
    collecting = gc.isenabled()
    gc.disable()  # no cycles arise here, and looking for them among millions of objects takes most of the time
    try:
        drafts = _visible(log.text)
        prefixes = Prefixes([draft.text for draft in drafts if not draft.follows])
        if _strip_carriers(drafts, prefixes):
            drafts = unwrap.rejoin(drafts)
        relay = Relay([draft.text for draft in drafts])
        if relay.found:
            for draft in drafts:
                relay.remove(draft)
            prefixes = Prefixes([draft.text for draft in drafts if not draft.follows])
            _strip_carriers(drafts, prefixes)
        drafts = unwrap.complete(drafts)
        lines = _finish(log, _messages(drafts, prefixes))
        return moved(lines, log.cuts) if log.cuts else lines
    finally:
        if collecting:
            gc.enable()


def _visible(text: str) -> list[Draft]:
    """Raw lines without control characters and markup."""
    drafts = _raw(text)
    transport = Transport(text)
    if transport.changed:
        drafts = [line for draft in drafts for line in transport.lines(draft)]
        text = "\n".join(draft.text for draft in drafts)
    if any(border in text for border in BORDERS):
        unborder(drafts)
    terminal, page = Terminal(text), Page(text)
    if terminal.coloured:  # a page counts the invisible characters, a terminal does not
        drafts = unwrap.rejoin(drafts)
    marked = terminal.coloured or page.marked
    shown: list[Draft] = []
    for draft in drafts:
        if not draft.text or (not marked and draft.text.isprintable()):
            shown.append(draft)
            continue
        for line in terminal.lines(draft):
            shown.extend(page.lines(line))
    del drafts
    shown = unwrap.rejoin(shown)
    if not terminal.bars:
        return shown
    return [line for draft in shown for line in (apart(draft) if "%" in draft.text else (draft,))]


def _raw(text: str) -> list[Draft]:
    rows = text.split("\n")
    if text.endswith("\n"):
        rows.pop()
    drafts: list[Draft] = []
    start = blank = 0
    for row, raw in enumerate(rows):
        end = start + len(raw)
        blank = 0 if raw and not raw.isspace() else blank + 1
        if blank <= _MOST_BLANK:
            drafts.append(Draft(raw.rstrip("\r") if raw.endswith("\r") else raw, start, end, row))
        start = end + 1
    return drafts


def _messages(drafts: list[Draft], prefixes: Prefixes) -> Iterator[Draft]:
    """What programs printed, without loggers' prefixes and margins, one line each. Empties ``drafts``: there may be millions."""
    margins = Margins([draft.text for draft in drafts])
    drafts.reverse()
    while drafts:
        draft = drafts.pop()
        if not draft.text:
            yield draft
            continue
        _strip_logger(draft)
        margins.remove(draft)
        parts = spread(draft) if len(draft.text) >= SHORTEST else [draft]
        if len(parts) > 1:
            _strip_carriers(parts, prefixes)
            for part in parts:
                _strip_logger(part)
        yield from parts


def _strip_carriers(drafts: list[Draft], prefixes: Prefixes) -> bool:
    """Take CI, container, scheduler and rank prefixes off; whether there were any."""
    before: Draft | None = None
    found = False
    blank: list[int] = []
    step = FailedStep()
    for index, draft in enumerate(drafts):
        if draft.text:
            length, rank, level, program, carrier = prefixes.carriers(draft.text)
            if seconds := step.seconds(draft.text, length):
                length, carrier = length + seconds, BUILDKIT
            if length:
                found = True
                draft.drop(length)
                draft.wide = length
                draft.rank = rank or draft.rank
                draft.level = level or draft.level
                draft.program = program or draft.program
                draft.carrier = carrier or draft.carrier
        if draft.follows and before is not None and before.row == draft.row:
            draft.rank = draft.rank or before.rank
            if not before.text:  # only a prefix stood before a carriage return
                blank.append(index - 1)
        before = draft
    if blank:
        gone = set(blank)
        drafts[:] = [draft for index, draft in enumerate(drafts) if index not in gone]
    streams = {draft.rank for draft in drafts}
    if len(streams) == 2 and "" in streams:
        (only,) = streams - {""}
        if not only.isdigit() and "=" not in only:
            for draft in drafts:  # of the one service there is; a line that lost its prefix is its as well
                draft.rank = only
    return found


def _strip_logger(draft: Draft) -> None:
    length, level = logger(draft.text)
    if length:
        draft.drop(length)
    if level:
        draft.level = level


def _finish(log: Log, drafts: Iterable[Draft]) -> list[Line]:
    places = places_of(log)
    copied = bool(log.pieces)
    lines: list[Line] = []
    for draft in drafts:
        number, start, end, runs, breaks = _raw_place(draft, places, copied)
        lines.append(
            Line(draft.text, number + 1, start, end, runs, breaks, draft.rank, draft.level, log.encoding, draft.program,
                 draft.carrier)
        )  # fmt: skip
    return lines


def _raw_place(
    draft: Draft, places: Verbatim | Copied, copied: bool
) -> tuple[int, int, int, tuple[Run, ...], tuple[int, ...]]:
    """Where a line stands in the raw log: 0-based line, first byte, byte past the last one, runs and breaks."""
    if draft.runs is None:  # a copy without changes
        if (span := places.whole(draft.row, draft.start, draft.end)) is not None:
            number, own, start, end = span
            return number, start, end, own, ()
        found = places.stretches(draft.start, len(draft.text))
        _, number, _, start = found[0]
    else:
        number, _, start = places.locate(draft.start)
        found = [
            (at + offset, row, column, byte)
            for at, source, length in _stretches(draft.runs, len(draft.text))
            for offset, row, column, byte in places.stretches(source, length)
        ]
    runs: list[Run] = []
    breaks: list[int] = []
    if draft.runs is not None or found[0][2] or copied:
        line = number
        for at, row, column, byte in found:
            if row > line:
                breaks.extend([at] * (row - line))
                line = row
            runs.append((at, column, byte))
    end = max(places.locate(draft.end)[2], start)
    return number, start, end, tuple(runs), tuple(breaks)


def _stretches(runs: list[tuple[int, int]], length: int) -> list[tuple[int, int, int]]:
    """(index, index in the log's text, length) of each stretch of a draft that is one copy."""
    if len(runs) == 1:
        at, source = runs[0]
        return [(at, source, max(length - at, 0))]
    ends = [at for at, _ in runs[1:]] + [length]
    return [(at, source, max(end - at, 0)) for (at, source), end in zip(runs, ends, strict=True)]
