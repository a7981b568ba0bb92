"""From matches and facts to evidence: what speaks for and against which cause, echoes put under their root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .conditions import Seen, holds
from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .knowledge.trees import fact_names
from .light import record
from .lines import Line
from .log_facts import WEIGHTY, explainers, implied, serious_failures
from .matching import Occurrence
from .structure import Structure
from .whereabouts import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

FAILING, PLAIN, NOTICE, EARLIER = "failing", "plain", "notice", "earlier"
STRENGTHS = ("certain", "strong", "likely", "possible", "weak")
_LOOKED_AT = 50  # codes of one line that another one is compared with
_LEADING = 0.5  # odds below which a cause is a lesser one among those that a message points to
HUNCH = "hunch"  # the strength of what only the words of the log say (hunches.py)


@record(frozen=True, slots=True)
class Evidence:
    """One thing that speaks for or against a cause."""

    cause: str
    strength: str
    supports: bool
    kind: Literal["signature", "fact", "probe"]
    id: str  # the signature or code, or the condition
    why: str
    occurrence: Occurrence | None = None
    standing: str = (
        PLAIN  # failing: in a failure's lines; notice: the program went on; earlier: tried again; plain: neither
    )
    origin: Literal["log", "local"] = "log"
    facts: tuple[Fact, ...] = ()  # that a condition was asked of
    odds: float = 1.0  # how often this cause is meant beside another that the message points to with the same strength


@record(frozen=True)
class Case:
    """All that is known of one log: its lines, structure, matches, facts, and the evidence drawn from them."""

    lines: Sequence[Line]
    structure: Structure
    occurrences: tuple[Occurrence, ...]
    facts: Facts  # what the log says, and what tables make of it
    machine: Machine
    evidence: tuple[Evidence, ...]
    echoes: dict[Occurrence, str]  # a match that is the echo of a root -> the root's signature or cause
    unknown: tuple[int, ...] = ()  # lines that look like an error of this field and that no message of a rule explains
    hunches: tuple[Evidence, ...] = ()  # how probable the words of the log make each cause
    carried: Facts | None = None  # the facts with what a container engine's prefixes tell; None without such prefixes

    @property
    def surroundings(self) -> Facts:
        """The facts that fixes are asked of. The prefix that a container engine puts before a line tells where its commands
        have to run, and decides no cause: people put such prefixes before many a log."""
        return self.carried or self.facts

    @property
    def of_the_field(self) -> bool:
        """Whether the log uses words or names of this field, or is brief."""
        return "no" not in self.facts.values("log.of_field")

    @property
    def met(self) -> frozenset[str]:
        """The signatures that matched, and the causes that something speaks for."""
        return frozenset({o.rule for o in self.occurrences} | {e.cause for e in self.evidence if e.supports})


def silence_catch_alls(occurrences: list[Occurrence], knowledge: Knowledge) -> list[Occurrence]:
    """Drop catch-all matches (status codes, general wrappers) on lines where a specific message stands.

    A message found by likeness silences only what was found by likeness.
    """
    specific: dict[str, set[int]] = {"exact": set(), "fuzzy": set()}
    for occurrence in occurrences:
        rule = knowledge.by_id[occurrence.rule]
        if not rule["catch_all"] and rule["points_to"]:
            for match in ("exact", "fuzzy") if occurrence.match == "exact" else ("fuzzy",):
                specific[match].update(range(occurrence.first, occurrence.last + 1))
    codes: dict[int, list[Occurrence]] = {}
    for occurrence in occurrences:
        if knowledge.by_id[occurrence.rule]["code"]:
            codes.setdefault(occurrence.first, []).append(occurrence)
    return [
        o
        for o in occurrences
        if not knowledge.by_id[o.rule]["catch_all"]
        or (
            specific[o.match].isdisjoint(range(o.first, o.last + 1))
            and not any(_inside(o, other) for other in codes.get(o.first, ())[:_LOOKED_AT])
        )
    ]


def _inside(short: Occurrence, long: Occurrence) -> bool:
    """Whether one match is a part of a longer one that begins on its line: a short error string inside a longer one."""
    if short.last != short.first or long.last != long.first:
        return False
    inside = long.start <= short.start and short.end <= long.end
    return inside and short.end - short.start < long.end - long.start


def matched(occurrences: Sequence[Occurrence], knowledge: Knowledge) -> set[str]:
    """The signatures that matched, and the causes that they point to whatever the facts are."""
    met = {o.rule for o in occurrences}
    return met | {
        p["cause"] for name in met for p in knowledge.by_id[name]["points_to"] if p["supports"] and p["when"] is None
    }


class _Standings:
    """What the program made of the messages of one log."""

    def __init__(self, lines: Sequence[Line], structure: Structure) -> None:
        self._lines = lines
        self._failing = {i for f in structure.uncaught for i in range(f.first, f.last + 1)}
        failures = serious_failures(structure) if structure.attempts else []
        decisive = structure.attempt(failures[-1].first) if failures else len(structure.attempts)
        self._tried_again = structure.attempts[decisive - 1] if decisive else 0

    def of(self, occurrence: Occurrence, survived: bool) -> str:
        """The standing of a match whose message the program is known to survive, or not."""
        if occurrence.first < self._tried_again:
            return EARLIER
        if survived:
            return NOTICE
        if not self._failing.isdisjoint(range(occurrence.first, occurrence.last + 1)):
            return FAILING
        return NOTICE if self._lines[occurrence.first].level in ("I", "W") else PLAIN


def _by_attempt(occurrences: Sequence[Occurrence], structure: Structure) -> Iterable[Sequence[Occurrence]]:
    """The matches of each attempt: what happened in one explains nothing in another."""
    if not structure.attempts:
        return (occurrences,)
    found: dict[int, list[Occurrence]] = {}
    for occurrence in occurrences:
        found.setdefault(structure.attempt(occurrence.first), []).append(occurrence)
    return found.values()


def weigh(
    occurrences: Sequence[Occurrence], lines: Sequence[Line], structure: Structure, facts: Facts, knowledge: Knowledge
) -> tuple[tuple[Evidence, ...], dict[Occurrence, str]]:
    """The evidence in these matches and facts, and which matches are only echoes of others."""
    met = matched(occurrences, knowledge)
    standings = _Standings(lines, structure)
    failures = serious_failures(structure)
    explaining = explainers(failures[-1], occurrences, knowledge) if failures else set()
    drawn: dict[Occurrence, list[Evidence]] = {}
    for _ in range(2):  # a condition may ask for a cause that another condition points to
        seen = frozenset(met).__contains__
        drawn = {o: _from_occurrence(o, lines, standings, explaining, facts, knowledge, seen) for o in occurrences}
        pointed = {item.cause for items in drawn.values() for item in items if item.supports}
        if pointed <= met:
            break
        met |= pointed
    echoes: dict[Occurrence, str] = {}
    for attempt in _by_attempt(occurrences, structure):
        echoes.update(find_echoes(attempt, {o: drawn[o] for o in attempt}, knowledge))
    evidence = [item for o, items in drawn.items() if o not in echoes for item in items]
    for cause, item in knowledge.evidence_of(facts.names() | met):
        if holds(item["when"], facts, seen):
            asked = tuple(fact for name in fact_names(item["when"]) for fact in facts.find(name))
            local: Literal["log", "local"] = "local" if any(f.origin == "local" for f in asked) else "log"
            evidence.append(
                Evidence(
                    cause,
                    item["strength"],
                    item["supports"],
                    "fact",
                    item["text"],
                    item["why"],
                    origin=local,
                    facts=asked,
                )
            )
    return tuple(evidence), echoes


def _from_occurrence(
    occurrence: Occurrence,
    lines: Sequence[Line],
    standings: _Standings,
    explaining: set[str],
    facts: Facts,
    knowledge: Knowledge,
    seen: Seen,
) -> list[Evidence]:
    rule = knowledge.by_id[occurrence.rule]
    if not rule["points_to"]:
        return []
    own = [Fact(c.name, c.value, "log", lines[c.line].number) for c in occurrence.captures]
    if explaining == {
        occurrence.rule
    }:  # whether a failure is explained means: by another message than the one that asks
        own.append(Fact("failure.explained", "no", "structure"))
    if program := lines[occurrence.first].program:
        own.append(Fact("log.program", program, "structure"))
    scope = Facts(own + implied(occurrence, lines, knowledge), facts)
    standing = standings.of(occurrence, rule["survived"])
    return [
        Evidence(
            p["cause"],
            p["strength"],
            p["supports"],
            "signature",
            occurrence.rule,
            p["why"] or rule["title"],
            occurrence,
            standing,
            odds=p.get("odds", 1.0),
        )
        for p in rule["points_to"]
        if p["when"] is None or holds(p["when"], scope, seen)
    ]


def find_echoes(
    occurrences: Sequence[Occurrence], drawn: dict[Occurrence, list[Evidence]], knowledge: Knowledge
) -> dict[Occurrence, str]:
    """Which matches are the echo of another: a rule that names another rule or cause in ``symptom_of``, and it is there.

    A cause is there when a match that is no echo of a rule speaks for it with weight. Of rules that name one another, or one
    another's causes, also round about, the one that stands first in the log is a root: there is always something to explain.
    """
    symptom_of = {o.rule: knowledge.by_id[o.rule]["symptom_of"] for o in occurrences}
    if not any(symptom_of.values()):
        return {}
    first: dict[str, Occurrence] = {}
    for occurrence in occurrences:
        first.setdefault(occurrence.rule, occurrence)
    named = _closure({rule: {root for root in roots if root in first} for rule, roots in symptom_of.items()})
    echoes: dict[Occurrence, str] = {}
    for occurrence in occurrences:
        for root in symptom_of[occurrence.rule]:
            there = first.get(root)
            if there is not None and root != occurrence.rule and _comes_before(there, first[occurrence.rule], named):
                echoes[occurrence] = root
                break
    weighty = {o: _weighty(items) for o, items in drawn.items() if o not in echoes}
    speakers: dict[str, dict[str, Occurrence]] = {}  # cause -> rule -> its first match that speaks for the cause
    for occurrence in occurrences:
        for cause in weighty.get(occurrence, ()):
            speakers.setdefault(cause, {}).setdefault(occurrence.rule, occurrence)
    spoken = _closure(
        {rule: {other for cause in symptom_of[rule] for other in speakers.get(cause, ())} for rule in symptom_of}
    )
    for occurrence, own in weighty.items():
        for root in symptom_of[occurrence.rule]:
            others = [other for rule, other in speakers.get(root, {}).items() if rule != occurrence.rule]
            if root not in own and any(_comes_before(other, occurrence, spoken) for other in others):
                echoes[occurrence] = root
                break
    return echoes


def _comes_before(root: Occurrence, echo: Occurrence, roots: dict[str, set[str]]) -> bool:
    """Whether ``root`` is not in turn an echo of the rule of ``echo``, or is so and stands before it in the log."""
    return echo.rule not in roots[root.rule] or (root.first, root.start) < (echo.first, echo.start)


def _closure(steps: dict[str, set[str]]) -> dict[str, set[str]]:
    """All that can be reached by one step or more."""
    reached: dict[str, set[str]] = {}
    for name in steps:
        found: set[str] = set()
        ahead = [name]
        while ahead:
            new = steps[ahead.pop()] - found
            found |= new
            ahead += new
        reached[name] = found
    return reached


def _weighty(items: Sequence[Evidence]) -> set[str]:
    """The causes that some of these speak for with weight, not as the lesser of several."""
    return {item.cause for item in items if item.supports and item.strength in WEIGHTY and item.odds >= _LEADING}
