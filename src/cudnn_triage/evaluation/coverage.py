"""What the rules miss and where they are of no use: lines that no rule explains, rules that never fire, rules that fire on
healthy logs. Over any folder of logs, labelled or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..cleaning import clean
from ..engine import Triager, joined
from ..evidence import STRENGTHS
from ..light import replaced
from ..reading import ReadError, read
from ..redact import masked
from ..render.plain import cut
from ..wording import unexplained_lines
from .labelled import Labelled, label
from .metrics import harmless

_WIDTH = 200  # characters of a line that are shown
_PLACES = 5  # logs named as examples

# What varies from one log to the next, in the order in which it is folded.
_FOLDS = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>)]+", "<url>"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
        (r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b", "<hex>"),
        (r"(?<![\w<])(?:[a-z]:[\\/]|~?/|\.{1,2}/)[^\s'\":,;()\[\]]+", "<path>"),
        (r"\b[\w.-]+@[\w.-]+", "<name>"),
        (r"'[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|<[^<>\n]{1,120}>(?!\w)", "<name>"),
        (r"\d+(?:[.:,-]\d+)*", "<n>"),
    )
)


@dataclass(frozen=True)
class Unexplained:
    """Lines that differ only in numbers, paths and names, and that no rule explains."""

    pattern: str
    text: str  # the first of them
    place: str  # where it stands: log and line
    lines: int
    logs: int
    undiagnosed: int  # logs among them for which no cause was found
    places: tuple[str, ...]


@dataclass(frozen=True)
class HealthyHit:
    """A rule that speaks for a cause on logs in which nothing is wrong."""

    rule: str
    strength: str
    alarms: int  # logs among them that got a wrong diagnosis
    logs: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """What a run over folders of logs tells about the rules."""

    logs: int
    healthy: int
    unread: tuple[str, ...]
    unexplained: tuple[Unexplained, ...]
    never: tuple[str, ...]  # messages that stood in no log
    never_codes: tuple[str, ...]
    on_healthy: tuple[HealthyHit, ...]


@dataclass
class _Group:
    pattern: str
    text: str
    lines: int = 0
    undiagnosed: int = 0
    places: dict[str, str] = field(default_factory=dict)  # log -> first place in it


def folded(text: str) -> str:
    """A line with everything that varies between logs replaced: addresses, paths, names in quotes, numbers, case, blanks."""
    for pattern, name in _FOLDS:
        text = pattern.sub(name, text)
    return " ".join(text.lower().split())


def logs_in(folders: Iterable[Path], unread: list[str]) -> Iterator[tuple[Labelled, bool]]:
    """(log, whether it has a label) of every log below these folders, by name: any file but labels, hidden files and *.md.
    What cannot be opened is added to ``unread``. A label that is wrong raises Problem."""
    for folder in folders:
        labels = {path: label(path, folder) for path in sorted(folder.rglob("*.yaml"))}
        beside = {path.with_suffix(".log") for path, found in labels.items() if found}
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".md" and p.name[0] != "."):
            known = labels.get(path)
            if known:
                yield known, True
            elif path not in labels and path not in beside:
                try:
                    name = path.relative_to(folder).as_posix()
                    yield Labelled(name, path.read_bytes(), (), (), path.parent.name), False
                except OSError as error:
                    unread.append(f"{path}: {error.strerror}")


def coverage(folders: Sequence[Path], triager: Triager) -> Coverage:
    """Run the rules over every log below these folders. Raises Problem where a label cannot be used."""
    knowledge = triager.knowledge
    groups: dict[str, _Group] = {}
    fired: set[str] = set()
    hits: dict[str, dict[str, bool]] = {}
    strengths: dict[str, str] = {}
    unread: list[str] = []
    count = healthy = 0
    for item, labelled in logs_in(folders, unread):
        try:
            log = joined(read(item.log, item.id), item.id)
        except ReadError as error:
            unread.append(str(error))
            continue
        case = triager.examine(clean(log))
        case = replaced(case, hunches=())  # what rules know is asked, not what words lean towards
        diagnoses = triager.report(log, case).diagnoses
        count += 1
        fired.update(o.rule for o in case.occurrences)
        if labelled and all(harmless(cause, knowledge) for cause in item.gold):
            healthy += 1
            right = item.gold + item.acceptable
            alarm = bool(diagnoses) and diagnoses[0].cause not in right and not harmless(diagnoses[0].cause, knowledge)
            for e in case.evidence:
                if e.kind == "signature" and e.supports and e.cause not in right and not harmless(e.cause, knowledge):
                    hits.setdefault(e.id, {})[item.id] = alarm
                    strengths[e.id] = min(strengths.get(e.id, e.strength), e.strength, key=STRENGTHS.index)
        for i in unexplained_lines(case.occurrences, case.lines, case.structure, knowledge, distinct=False):
            text = masked(case.lines[i].text.strip())
            group = groups.setdefault(folded(text), _Group(folded(text), text))
            group.lines += 1
            if item.id not in group.places:
                group.places[item.id] = f"{item.id}:{case.lines[i].number}"
                group.undiagnosed += not diagnoses
    things = [rule for rule in knowledge.rules if rule["id"] not in fired and (rule["code"] or rule["templates"])]
    return Coverage(
        count,
        healthy,
        tuple(unread),
        tuple(sorted(map(_unexplained, groups.values()), key=lambda g: (-g.logs, -g.lines, g.pattern))),
        tuple(sorted(rule["id"] for rule in things if not rule["code"])),
        tuple(sorted(rule["id"] for rule in things if "library" in rule)),
        tuple(
            sorted(
                (HealthyHit(r, strengths[r], sum(seen.values()), tuple(sorted(seen))) for r, seen in hits.items()),
                key=lambda hit: (-hit.alarms, -len(hit.logs), STRENGTHS.index(hit.strength), hit.rule),
            )
        ),
    )


def _unexplained(group: _Group) -> Unexplained:
    places = tuple(group.places.values())
    text = cut(group.text, _WIDTH)
    pattern = cut(group.pattern, _WIDTH)
    return Unexplained(pattern, text, places[0], group.lines, len(places), group.undiagnosed, places[:_PLACES])


def print_coverage(found: Coverage, out: IO[str], most: int) -> None:
    """The report as text: the ``most`` most frequent lines, all hits on healthy logs, how many rules never fired."""
    print(f"{found.logs} logs, {found.healthy} of them labelled as healthy or unrelated", file=out)
    for problem in found.unread:
        print(f"not read: {cut(problem, _WIDTH)}", file=out)
    print("\nlines of this field that no rule explains, most frequent first", file=out)
    print("   logs  undiagnosed  lines  example", file=out)
    for line in found.unexplained[:most]:
        print(f"  {line.logs:5}  {line.undiagnosed:11}  {line.lines:5}  {line.place}", file=out)
        print(f"         {line.text}", file=out)
    if len(found.unexplained) > most:
        print(f"  and {len(found.unexplained) - most} more (--top N, --json FILE)", file=out)
    if not found.unexplained:
        print("  none", file=out)
    print("\nrules that speak for a cause on healthy logs", file=out)
    for hit in found.on_healthy:
        alarm = f", {hit.alarms} wrongly diagnosed" if hit.alarms else ""
        named = ", ".join(hit.logs[:_PLACES]) + (" ..." if len(hit.logs) > _PLACES else "")
        print(f"  {hit.strength:8}  {hit.rule}: {len(hit.logs)} logs{alarm}: {named}", file=out)
    if not found.on_healthy:
        print("  none" if found.healthy else "  no labelled healthy logs here", file=out)
    print(f"\nrules that never fired: {len(found.never)} messages, {len(found.never_codes)} codes", file=out)
    for name in found.never[:most]:
        print(f"  {name}", file=out)
    if len(found.never) > most:
        print(f"  and {len(found.never) - most} more (--top N, --json FILE)", file=out)


def coverage_data(found: Coverage) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "logs": found.logs,
        "healthy": found.healthy,
        "unread": list(found.unread),
        "unexplained": [
            {
                "pattern": line.pattern,
                "text": line.text,
                "logs": line.logs,
                "undiagnosed": line.undiagnosed,
                "lines": line.lines,
                "places": list(line.places),
            }
            for line in found.unexplained
        ],
        "healthy_hits": [
            {"rule": hit.rule, "strength": hit.strength, "alarms": hit.alarms, "logs": list(hit.logs)}
            for hit in found.on_healthy
        ],
        "never_fired": list(found.never),
        "codes_never_fired": list(found.never_codes),
    }
