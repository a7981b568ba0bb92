"""The facts of a log: what its messages carry, and how its program failed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .light import pattern, replaced
from .lines import Line
from .matching import Occurrence
from .prefixes import CI
from .structure import Failure, Structure
from .values import read
from .wording import has_field_word

ONE_ATTEMPT = Structure(())
WEIGHTY = ("certain", "strong", "likely")
"""Strengths with which a message says what a failure is about, and is enough to call another message its echo."""

_SITE = pattern(r"((?:/|[A-Za-z]:[\\/])[^<>*]*?[\\/](?:site|dist)-packages)[\\/]")
"""The folder of packages in the path of a traceback's frame; not of one that somebody has masked."""
_INSTALLED = pattern(r".*(?:site-packages|dist-packages|python\d[\d.]*)[/\\]")
"""Where files lie that a program imports, or by which a launcher starts it."""
_STARTED = "<module>"  # the function of a traceback's frame in a script's own lines
_DEATH_RATTLE = 12  # lines before 'Aborted' or 'Segmentation fault' in which its reason is looked for
_LONG = 60  # lines of an attempt that got well beyond where others failed
_RAISING = 3  # lines before an exception that may be the frame which raised it


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
        carried += [(attempt, fact) for fact in implied(occurrence, lines, knowledge)]
    last: dict[str, int] = {}
    for attempt, fact in carried if structure.attempts else ():
        last[fact.name] = max(last.get(fact.name, 0), attempt)
    facts = Facts(given)
    for attempt, fact in carried:
        if attempt == last.get(fact.name, attempt):
            facts.add(fact)
    return facts


def implied(occurrence: Occurrence, lines: Sequence[Line], knowledge: Knowledge) -> list[Fact]:
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


def with_notices(structure: Structure, occurrences: Sequence[Occurrence], knowledge: Knowledge) -> Structure:
    """``structure`` in which a failure that stands within a message which the program survives counts as caught: the traceback
    that tells why a part is left out."""
    survived = [(o.first, o.last) for o in occurrences if knowledge.by_id[o.rule]["survived"] and o.last > o.first]
    if not survived:
        return structure
    failures = tuple(
        replaced(f, caught=True) if any(first < f.first and f.at <= last for first, last in survived) else f
        for f in structure.failures
    )
    return replaced(structure, failures=failures)


def serious_failures(structure: Structure) -> list[Failure]:
    """The uncaught failures; those that only follow from others, or do not say what they are, where there is nothing else.

    Exit codes follow from what ended the program, and so does the crash of a process that an exception has ended. A traceback
    without its message says less than an exception with one.
    """
    uncaught = structure.uncaught
    telling = [f for f in uncaught if f.kind != "exit-code"]
    raised = next((f.first for f in telling if f.kind == "exception" and not f.cut), None)
    if raised is not None:
        telling = [f for f in telling if not f.cut and (f.first < raised or not _wordless(f))]
    return _of_the_last_run(uncaught, telling, structure) or telling or uncaught


def _of_the_last_run(uncaught: list[Failure], telling: list[Failure], structure: Structure) -> list[Failure]:
    """The failures of the last attempt, where it ran for long and does not say more than that it was ended; else none."""
    last = structure.attempt(uncaught[-1].first) if uncaught else 0
    begun = structure.attempts[last - 1] if last else 0
    if not last or uncaught[-1].first - begun < _LONG or (telling and telling[-1].first >= begun):
        return []
    return [f for f in uncaught if f.first >= begun]


def _wordless(failure: Failure) -> bool:
    """Whether a process died without a word about the reason."""
    said = failure.text.startswith("terminate called") or failure.type.startswith("SIG")
    return failure.kind in ("abort", "signal") and said


def carriers(occurrences: Sequence[Occurrence], lines: Sequence[Line]) -> list[Fact]:
    """What ran the program, by the prefixes before its messages; a CI service puts its own before few lines, and ran them all."""
    service = (line for line in lines if line.carrier == CI)
    found = [*(lines[o.first] for o in occurrences if lines[o.first].carrier), *islice(service, 1)]
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
    facts += [
        Fact("program.script", script, "structure", lines[frame.index].number)
        for raised in structure.raised
        for frame in raised.frames[:1]
        if frame.function == _STARTED and not _INSTALLED.match(frame.file) and (script := read("script", frame.file))
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
