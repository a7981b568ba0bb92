"""From matches and facts to evidence: what speaks for and against which cause, echoes put under their root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .conditions import Seen, holds
from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .knowledge.trees import fact_names
from .light import pattern, record
from .lines import Line
from .matching import Occurrence, speaks
from .structure import Failure, Role, Structure
from .values import read, squeeze
from .whereabouts import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

_SITE = pattern(r"((?:/|[A-Za-z]:[\\/])[^<>*]*?[\\/](?:site|dist)-packages)[\\/]")
"""The folder of packages in the path of a traceback's frame; not of one that somebody has masked."""
ONE_ATTEMPT = Structure(())
_FILE = pattern(
    r"\w\.(?:cuh?|cpp|cc?|cxx|hpp|h|py|ipynb|run|log|txt|ii|o|obj|sh|json|ya?ml|deb|gz|zip|go|rs)\b"
)  # the name of a file
_NAME = pattern(r"\b[a-z]+\d*(?:_[a-z\d]+)+\b")  # of a setting, a variable or a function
_SOURCE = pattern(r"\.(?:cuh?|cpp|cc|cxx|hpp|h)\b")  # how the name of a C++ or CUDA source file ends
FAILING, PLAIN, NOTICE, EARLIER = "failing", "plain", "notice", "earlier"
_DEATH_RATTLE = 12  # lines before 'Aborted' or 'Segmentation fault' in which its reason is looked for
STRENGTHS = ("certain", "strong", "likely", "possible", "weak")
_LOOKED_AT = 50  # codes of one line that another one is compared with
_RAISING = 3  # lines before an exception that may be the frame which raised it
_LEADING = 0.5  # odds below which a cause is a lesser one among those that a message points to
HUNCH = "hunch"  # the strength of what only the words of the log say (hunches.py)
WEIGHTY = ("certain", "strong", "likely")  # evidence that is enough to call another message an echo of its cause


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
    def met(self) -> frozenset[str]:
        """The signatures that matched, and the causes that something speaks for."""
        return frozenset({o.rule for o in self.occurrences} | {e.cause for e in self.evidence if e.supports})


def collect_facts(
    occurrences: Sequence[Occurrence],
    lines: Sequence[Line],
    knowledge: Knowledge,
    given: Sequence[Fact] = (),
    structure: Structure = ONE_ATTEMPT,
) -> Facts:
    """The facts that the matched messages carry, after those given; of several attempts what the last one says of a thing."""
    carried: list[tuple[int, Fact]] = []
    for occurrence in occurrences:
        attempt = structure.attempt(occurrence.first)
        for capture in occurrence.captures:
            place = lines[capture.line].place(capture.at)[0]
            carried.append((attempt, Fact(capture.name, capture.value, "log", place)))
        carried += [(attempt, fact) for fact in _implied(occurrence, lines, knowledge)]
    last: dict[str, int] = {}
    for attempt, fact in carried if structure.attempts else ():
        last[fact.name] = max(last.get(fact.name, 0), attempt)
    facts = Facts(given)
    for attempt, fact in carried:
        if attempt == last.get(fact.name, attempt):
            facts.add(fact)
    return facts


def _implied(occurrence: Occurrence, lines: Sequence[Line], knowledge: Knowledge) -> list[Fact]:
    """The constant facts that a message sets, with the message's own captures filled in."""
    constants = knowledge.by_id[occurrence.rule]["sets"]
    if not constants:
        return []
    values = {f"{{{c.name}}}": str(c.value) for c in occurrence.captures}
    out: list[Fact] = []
    for name, text in constants.items():
        for hole, value in values.items():
            name, text = name.replace(hole, value.lower().replace("_", "-")), text.replace(hole, value)
        declared = knowledge.facts.get(name)
        kind = declared["type"] if declared else "version" if name.startswith("package.") else "word"
        value_read = read(kind, text)
        if value_read is not None and "{" not in name + text:
            out.append(Fact(name, knowledge.placed(value_read), "log", lines[occurrence.first].number))
    return out


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


def serious_failures(structure: Structure) -> list[Failure]:
    """The uncaught failures; those that only follow from others, or do not say what they are, where there is nothing else.

    Exit codes follow from what ended the program, and so does the crash of a process that an exception has ended. A traceback
    without its message says less than an exception with one.
    """
    uncaught = [f for f in structure.failures if not f.caught]
    telling = [f for f in uncaught if f.kind != "exit-code"]
    raised = next((f.first for f in telling if f.kind == "exception" and not f.cut), None)
    if raised is not None:
        telling = [f for f in telling if not f.cut and (f.first < raised or not _wordless(f))]
    return telling or uncaught


def _wordless(failure: Failure) -> bool:
    """Whether a process died without a word about the reason."""
    said = failure.text.startswith("terminate called") or failure.type.startswith("SIG")
    return failure.kind in ("abort", "signal") and said


def carriers(occurrences: Sequence[Occurrence], lines: Sequence[Line]) -> list[Fact]:
    """What ran the program, by the prefixes before its messages."""
    found = [lines[o.first] for o in occurrences if lines[o.first].carrier]
    return [Fact("log.carrier", line.carrier, "structure", line.number) for line in found]


def explainers(failure: Failure, occurrences: Sequence[Occurrence], knowledge: Knowledge) -> set[str]:
    """The rules whose message stands in the lines of a failure and speaks with weight for a cause of the field, or is the
    symptom of such a message or cause, wherever that stands."""
    first = failure.first - (_DEATH_RATTLE if failure.kind in ("abort", "signal") else _RAISING)
    there = {o.rule for o in occurrences if o.first <= failure.last and o.last >= first}
    speaking = {name for name in there if _meant(name, knowledge)}
    symptoms = {name for name in there - speaking if knowledge.by_id[name]["symptom_of"]}
    if symptoms:
        sure = {name: _meant(name, knowledge, sure=True) for name in {o.rule for o in occurrences}}
        roots = {root for name, causes in sure.items() if causes for root in (name, *causes)}
        speaking |= {name for name in symptoms if not roots.isdisjoint(knowledge.by_id[name]["symptom_of"])}
    return speaking


def _meant(name: str, knowledge: Knowledge, *, sure: bool = False) -> set[str]:
    """The causes of the field for which a rule speaks with weight: some facts given, or if ``sure`` whatever the facts are."""
    return {
        p["cause"]
        for p in knowledge.by_id[name]["points_to"]
        if p["supports"]
        and p["strength"] in WEIGHTY
        and _of_the_field(p["cause"], knowledge)
        and (p["when"] is None or not sure)
    }


def structure_facts(
    occurrences: Sequence[Occurrence], lines: Sequence[Line], structure: Structure, knowledge: Knowledge
) -> list[Fact]:
    """Facts about how the program failed: the kind and type of its last failure, and whether a message explains it."""
    facts = [Fact("log.ranks", len(structure.ranks), "structure")]
    facts += [
        Fact("log.program", lines[o.first].program, "structure", lines[o.first].number)
        for o in occurrences
        if lines[o.first].program
    ]
    facts += [
        Fact("python.site", found[1], "structure", lines[frame.index].number)
        for raised in structure.raised
        for frame in raised.frames
        if (found := _SITE.match(frame.file))
    ]
    if structure.ended_well:
        facts.append(Fact("log.ended", "well", "structure"))
    failures = serious_failures(structure)
    if not failures:
        return facts
    last = failures[-1]
    first = next(f for f in failures if structure.attempt(f.first) == structure.attempt(last.first))
    for prefix, failure in (("failure.", last), ("failure.first.", first)):
        facts.append(_yes_no(f"{prefix}explained", bool(explainers(failure, occurrences, knowledge)), lines, failure))
        if not failure.cut:
            facts.append(_yes_no(f"{prefix}vocabulary", has_field_word(failure.text, knowledge), lines, failure))
    for name, failure, value in (
        ("kind", last, last.kind),
        ("type", last, last.type),
        ("package", last, last.package),
        ("first.kind", first, first.kind),
        ("first.type", first, first.type),
    ):
        if value:
            facts.append(Fact(f"failure.{name}", value, "structure", lines[failure.first].number))
    return facts


def _of_the_field(cause: str, knowledge: Knowledge) -> bool:
    return knowledge.families.get(cause, "") not in ("benign", "")


def _yes_no(name: str, value: bool, lines: Sequence[Line], failure: Failure) -> Fact:
    return Fact(name, "yes" if value else "no", "structure", lines[failure.first].number)


def has_field_word(text: str, knowledge: Knowledge) -> bool:
    """Whether a text uses words of this field (rules/facts: field_words).

    Names of files do not count, but for the source file that a program's own assertion names behind its text.
    """
    lowered = text.lower()
    words = [word for word in lowered.split() if "/" not in word and "\\" not in word and not _FILE.search(word)]
    if "assert" in lowered or "check failed" in lowered:
        first = 0 if "assertion `" in lowered else 1  # what a compiler says of a source file begins with its name
        words += ["/".join(parts[-3:]) for word in lowered.split()[first:] if len(parts := _source(word)) > 1]
    said = " ".join(words)
    return any(word in said for word in knowledge.field_words)


def has_error_word(text: str, knowledge: Knowledge) -> bool:
    """Whether a text uses words that errors are told with (rules/facts: error_words).

    Names of settings and functions do not count (``"remove_invalid_values": false``), names of codes (CUDA_ERROR_UNKNOWN) do.
    """
    lowered, words = text.lower(), knowledge.error_words
    if not any(word in lowered for word in words):
        return False
    said = _NAME.sub(" ", text).lower()
    return any(word in said for word in words)


def _source(word: str) -> list[str]:
    """The parts of a path of a C++ or CUDA source file, none of anything else."""
    parts = word.replace("\\", "/").split("/")
    return parts if _SOURCE.search(parts[-1]) else []


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
        self._failing = {i for f in structure.failures if not f.caught for i in range(f.first, f.last + 1)}
        failures = serious_failures(structure) if structure.attempts else []
        decisive = structure.attempt(failures[-1].first) if failures else 0
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
    scope = Facts(own + _implied(occurrence, lines, knowledge), facts)
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


def spoken_of(occurrences: Sequence[Occurrence], knowledge: Knowledge) -> set[int]:
    """The lines on which a rule says what a message means."""
    speaking = (o for o in occurrences if speaks(knowledge.by_id[o.rule]))
    return {i for o in speaking for i in range(o.first, o.last + 1)}


PRINTED = (Role.TEXT, Role.RECORD, Role.EXCEPTION)
_SHORT = 6  # lines of a log of which each was pasted for what it says


def pasted(case: Case) -> list[int]:
    """All printed lines of a log so short that each of them was pasted for what it says, in whatever words; else none."""
    printed = [i for i, role in enumerate(case.structure.roles) if role in PRINTED]
    return printed if len(printed) <= _SHORT else []


def complains(line: Line, knowledge: Knowledge) -> bool:
    """Whether a line reads like an error, by its level or its words."""
    return line.level in ("E", "F") or has_error_word(line.text, knowledge)


def unexplained_lines(
    occurrences: Sequence[Occurrence],
    lines: Sequence[Line],
    structure: Structure,
    knowledge: Knowledge,
    *,
    distinct: bool = True,
) -> list[int]:
    """Lines that look like an error of this field and that no rule speaks of; of lines that differ only in numbers the
    first, if only ``distinct`` ones are asked for."""
    covered = spoken_of(occurrences, knowledge)
    out: list[int] = []
    texts: set[str] = set()
    for i, line in enumerate(lines):
        if i in covered or structure.roles[i] in (Role.SOURCE, Role.FRAME, Role.BLANK):
            continue
        if not has_error_word(line.text, knowledge) or not has_field_word(line.text, knowledge):
            continue
        key = squeeze("".join(char for char in line.text.lower() if not char.isdigit()))
        if key not in texts or not distinct:
            texts.add(key)
            out.append(i)
    return out
