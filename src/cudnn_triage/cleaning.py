"""From a log as it was pasted to clean lines, each of which knows its raw place."""

from __future__ import annotations

from . import unwrap
from .drafts import Draft
from .escapes import Terminal, apart
from .lines import Line, Run
from .loggers import logger
from .markup import Margins, Page
from .places import places_of
from .prefixes import Prefixes
from .reading import Log
from .spread import spread


def clean(log: Log) -> list[Line]:
    """The lines of a log without terminal control, prefixes and markup, wrapped lines joined, in log order."""
    drafts = _visible(log.text)
    prefixes = Prefixes([draft.text for draft in drafts if not draft.follows])
    if _strip_carriers(drafts, prefixes):
        drafts = unwrap.rejoin(drafts)
    drafts = unwrap.complete(drafts)
    margins = Margins([draft.text for draft in drafts])
    out: list[Draft] = []
    for draft in drafts:
        if not draft.text:
            out.append(draft)
            continue
        _strip_logger(draft)
        margins.remove(draft)
        parts = spread(draft)
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
                draft.wide = length
                draft.rank = rank or draft.rank
                draft.level = level or draft.level
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
        if (
            not only.isdigit() and "=" not in only
        ):  # the one service there is: a line that lost its prefix is its as well
            for draft in drafts:
                draft.rank = only
    return found


def _strip_logger(draft: Draft) -> None:
    length, level = logger(draft.text)
    draft.drop(length)
    draft.level = level or draft.level


def _finish(log: Log, drafts: list[Draft]) -> list[Line]:
    places = places_of(log)
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
