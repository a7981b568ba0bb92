#!/usr/bin/env python3
"""What a person is told to do in each environment: the fixes of every cause, in the words of where the log is from.

    python scripts/measure_fixes.py [CAUSE...]     the matrix of causes and environments
    python scripts/measure_fixes.py --details      and the commands that cannot run there, and the cells without a fix
    python scripts/measure_fixes.py --first        and the first fix of each cell

scripts/environments.yaml names the environments by the facts that a log from there yields, what cannot run there, and which causes
cannot occur there. In each cell stand the labelled logs of the cause, with what they say of their place taken out and these facts put
in (where some are from there or name no place: only these). The cell tells of the log that fares worst:

    3*   three fixes with commands hold there, and the first of all is written for this environment
    3    three, and the first of all holds anywhere
    3.   three, but the first of all has no commands or may not apply
    0    none: to be written
    -    the cause cannot occur there

'!' after it: of some log, a command is shown that cannot run there.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cudnn_triage.conditions import holds
from cudnn_triage.engine import Triager, checked
from cudnn_triage.evaluation.labelled import read_folder
from cudnn_triage.evaluation.measure import examine
from cudnn_triage.evidence import Case
from cudnn_triage.facts import Fact, Facts
from cudnn_triage.fixes import ready
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.knowledge.yamlfile import load
from cudnn_triage.report import FixItem

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 100_000
"""Bytes of a log; the long ones would take most of the time."""
_INSIDE = re.compile(r"""(?<=\bsh -c )(["']).*?\1""")  # what a container's own shell runs
_REMARK = re.compile(r"(?:^| +)# .*")
_COMMAND = re.compile(
    r"[a-z][\w./-]*(?: -|$| [\w./]+ -|.*[|>\"'=])"
)  # what verifies a fix may be an observation in words


@dataclass(frozen=True)
class Refusal:
    """Commands that cannot run in some environments, by a pattern of their words, unless the fix says otherwise."""

    words: re.Pattern[str]
    unless: re.Pattern[str] | None
    why: str
    whole: bool  # the remark is looked at as well

    def stops(self, command: str, item: FixItem) -> bool:
        """Whether the command cannot run."""
        words = command if self.whole else _INSIDE.sub("", _REMARK.sub("", command))
        about = f"{item.title}\n{item.applies}\n{command}"
        return bool(self.words.search(words)) and not (self.unless and self.unless.search(about))


@dataclass(frozen=True)
class Environment:
    """A place that logs come from."""

    id: str
    facts: tuple[Fact, ...]
    elsewhere: frozenset[str]  # facts that place a log elsewhere
    impossible: frozenset[str]
    refusals: tuple[Refusal, ...]

    def names(self, facts: Facts) -> bool:
        """Whether a log is from there as far as it tells."""
        own = {fact.name: {str(fact.value)} for fact in self.facts}
        said = {name: {str(value) for value in facts.values(name)} for name in {*own, *self.elsewhere}}
        return all(not values or values == own.get(name) for name, values in said.items())

    def moved(self, facts: Facts) -> tuple[Facts, Facts]:
        """The facts of a log as if it were from there, and without what tells of the place."""
        placed = self.elsewhere | {fact.name for fact in self.facts}
        rest = [fact for fact in facts if fact.name not in placed]
        return Facts([*rest, *self.facts]), Facts(rest)

    def refused(self, item: FixItem) -> Iterator[tuple[str, str]]:
        """The commands of a fix that cannot run here, and why."""
        for command in (*item.commands, *filter(_COMMAND.match, item.verify)):
            yield from ((command, refusal.why) for refusal in self.refusals if refusal.stops(command, item))


@dataclass(frozen=True)
class Told:
    """What one log is told: how many fixes with commands hold, and the mark of the first of all."""

    count: int
    first: str
    log: str
    title: str

    def __str__(self) -> str:
        return f"{self.count}{self.first if self.count else ''}"


@dataclass
class Cell:
    """A cause in an environment where it can occur."""

    worst: Told
    refused: dict[tuple[str, str, str], str] = field(default_factory=dict)  # title, command, why -> a log

    def __str__(self) -> str:
        return f"{self.worst}{'!' if self.refused else ''}"


def environments(path: Path, knowledge: Knowledge) -> list[Environment]:
    """The environments of a file."""
    data = load(path).data
    out = []
    for row in data["environments"]:
        facts = checked([Fact(name, value) for name, value in row["facts"].items()], row["id"], ("log",), knowledge)
        refusals = tuple(
            Refusal(re.compile(r["words"]), re.compile(r["unless"]) if "unless" in r else None, r["why"], "whole" in r)
            for r in data["refusals"]
            if row["id"] in r["in"]
        )
        impossible = frozenset(cause for cause, places in data["impossible"].items() if row["id"] in places)
        out.append(Environment(row["id"], tuple(facts), frozenset(data["elsewhere"]), impossible, refusals))
    return out


def examined(triager: Triager, folder: Path, causes: Sequence[str]) -> dict[str, dict[str, Case]]:
    """What the labelled logs say, by their first cause."""
    logs = [log for log in read_folder(folder) if log.gold and log.gold[0] in causes and len(log.log) <= LONGEST]
    found: dict[str, dict[str, Case]] = defaultdict(dict)
    for item, (_, case) in zip(logs, examine(triager, logs), strict=True):
        found[item.gold[0]][item.id] = case
    return found


def told(
    rules: list[dict[str, Any]], log: str, case: Case, place: Environment, known: Knowledge
) -> tuple[Told, tuple[FixItem, ...]]:
    """What a log is told as if it were from an environment."""

    def certain(facts: Facts) -> set[FixItem]:
        sure = [rule for rule in rules if rule["when"] is None or holds(rule["when"], facts, seen) is True]
        return {item for rule in sure for item in ready([rule], facts, seen, known)}

    facts, rest = place.moved(case.facts)
    seen = case.met.__contains__
    items, here = ready(rules, facts, seen, known), certain(facts)
    count = sum(bool(item.commands) and item in here for item in items)
    first = "."
    if items and items[0].commands and items[0] in here:
        first = "" if items[0] in certain(rest) else "*"
    return Told(count, first, log, items[0].title if items else "nothing"), items


def cell(rules: list[dict[str, Any]], cases: dict[str, Case], place: Environment, knowledge: Knowledge) -> Cell:
    """A cause, by its fixes and logs, in an environment."""
    from_there = {log: case for log, case in cases.items() if place.names(case.facts)}
    said = [told(rules, log, case, place, knowledge) for log, case in (from_there or cases).items()]
    out = Cell(min((one for one, _ in said), key=lambda one: (one.count, (".", "", "*").index(one.first))))
    for one, items in said:
        for item in items:
            for command, why in place.refused(item):
                out.refused.setdefault((item.title, command, why), one.log)
    return out


Matrix = dict[str, dict[str, Cell | None]]


def matrix(triager: Triager, folder: Path, causes: Sequence[str], places: Sequence[Environment]) -> Matrix:
    """All cells; None where a cause cannot occur."""
    found, out = examined(triager, folder, causes), Matrix()
    for cause in causes:
        rules, cases = triager.knowledge.causes[cause]["fixes"], found.get(cause) or {"no log": triager.examine(())}
        out[cause] = {p.id: None if cause in p.impossible else cell(rules, cases, p, triager.knowledge) for p in places}
    return out


def table(rows: Matrix) -> Iterator[str]:
    """The matrix as text."""
    wide = max(map(len, rows), default=0)
    yield " " * wide + "".join(place.rjust(10) for place in next(iter(rows.values())))
    for cause, row in rows.items():
        yield cause.ljust(wide) + "".join(str(found or "-").rjust(10) for found in row.values())


def details(rows: Matrix) -> Iterator[str]:
    """The commands that cannot run, and the cells without a fix."""
    shown: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for cause, place, found in cells(rows):
        for (title, command, why), log in found.refused.items():
            shown[cause, title, command, why].append(f"{place} ({log})")
    for (cause, title, command, why), where in shown.items():
        yield f"{cause}: {title}\n    {command}\n    {why}: {', '.join(where)}"
    for cause, place, found in cells(rows):
        if not found.worst.count:
            yield f"{cause} in {place} ({found.worst.log}): no fix with a command holds; {found.worst.title}"


def cells(rows: Matrix) -> Iterator[tuple[str, str, Cell]]:
    """The cells that can occur."""
    for cause, row in rows.items():
        yield from ((cause, place, found) for place, found in row.items() if found)


def counts(found: Iterable[Cell]) -> str:
    """The matrix in one sentence."""
    found = list(found)
    first = Counter(one.worst.first for one in found)
    return (
        f"{len(found)} cells that can occur: {sum(not one.worst.count for one in found)} without a fix that has commands; first fix "
        f"written for the environment in {first['*']}, for any in {first['']}, without commands or uncertain in {first['.']}; "
        f"commands that cannot run in {sum(bool(one.refused) for one in found)}"
    )


def main() -> None:
    """Print the matrix and its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "causes", nargs="*", metavar="CAUSE", help="only these (default: all that are told as diagnoses)"
    )
    parser.add_argument("--details", action="store_true", help="list commands that cannot run, and cells without a fix")
    parser.add_argument("--first", action="store_true", help="list the first fix of each cell")
    options = parser.parse_args()
    triager = Triager()
    knowledge = triager.knowledge
    places = environments(Path(__file__).with_name("environments.yaml"), knowledge)
    rows = matrix(triager, ROOT / "corpus", options.causes or sorted(knowledge.in_field), places)
    print(*table(rows), sep="\n", end="\n\n")
    if options.details:
        print(*details(rows), sep="\n", end="\n\n")
    if options.first:
        print(*(f"{c} in {p} ({f.worst.log}): {f} {f.worst.title}" for c, p, f in cells(rows)), sep="\n", end="\n\n")
    print(counts(found for _, _, found in cells(rows)))


if __name__ == "__main__":
    main()
