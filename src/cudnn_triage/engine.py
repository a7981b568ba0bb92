"""The engine: a pure function from a log, a knowledge base and given facts to a report. No I/O, no clock, no probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from .cleaning import clean
from .evidence import Case, matched, silence_catch_alls, weigh
from .facts import Fact, Facts
from .fuzzy import FuzzyMatcher
from .general import GeneralReader
from .grammar import parse
from .hunches import Hunches, guess
from .knowledge.base import Knowledge, load
from .light import replaced
from .lines import Line
from .log_facts import carriers, collect_facts, structure_facts, with_notices
from .matching import Matcher, Occurrence, Stream
from .ranking import Hypothesis, rank
from .reading import Log, noted, read, read_text
from .redact import redacted
from .report import Look, Report
from .reporting import Writer
from .selection import selected
from .settling import faults, settle
from .structure import Structure
from .tables import derive
from .values import Soname, Version
from .values import read as read_value
from .whereabouts import NOWHERE, machine
from .wording import unexplained_lines

NO_LOOK = Look()  # no machine was looked at


class Triager:
    """Triages logs with one knowledge base. Build once, use from any thread."""

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        if not isinstance(knowledge, Knowledge | None):
            raise TypeError(
                f"expected a Knowledge, got {type(knowledge).__name__}; of a folder of rules of your own: "
                "cudnn_triage.knowledge.base.load((folder,))"
            )
        self.knowledge = knowledge or load()
        self._matcher = Matcher(self.knowledge)
        self._fuzzy = FuzzyMatcher(self.knowledge)
        self._general = GeneralReader(self.knowledge)
        self._writer = Writer(self.knowledge)

    def examine(self, lines: Sequence[Line], facts: Iterable[Fact] = ()) -> Case:
        """Everything the log says, before ranking."""
        knowledge = self.knowledge
        structure = parse(lines)
        stream = Stream(lines, knowledge.field_marks)
        found = self._matcher.find(stream, structure)
        found = sorted([*found, *self._fuzzy.find(stream, structure, found)], key=lambda o: (o.first, o.start, o.rule))
        occurrences = silence_catch_alls(found, knowledge)
        structure = with_notices(structure, occurrences, knowledge)
        given = tuple(facts)
        case = self._case(occurrences, stream, structure, given)
        if case.of_the_field and (general := self._general.read(case)):
            occurrences = sorted([*occurrences, *general], key=lambda o: (o.first, o.start, o.rule))
            case = self._case(occurrences, stream, structure, given)
        named = [o for o in case.occurrences if not o.general]
        case = replaced(case, unknown=tuple(unexplained_lines(named, lines, structure, knowledge)))
        return replaced(case, hunches=self._hunches.of(case)) if self._hunches else case

    @cached_property
    def _hunches(self) -> Hunches | None:
        """The model of words of the knowledge base, opened when a log first asks for it; None where there is none."""
        head = self.knowledge.hunches
        return Hunches(head, self.knowledge.hunch_rows, self.knowledge) if head else None

    def _case(
        self, occurrences: list[Occurrence], stream: Stream, structure: Structure, given: tuple[Fact, ...]
    ) -> Case:
        knowledge, lines = self.knowledge, stream.lines
        known = collect_facts(occurrences, lines, knowledge, given, structure)
        for fact in structure_facts(occurrences, lines, structure, knowledge):
            known.add(fact)
        known.add(Fact("log.of_field", "yes" if stream.of_the_field else "no", "structure"))
        derive(known, knowledge)
        evidence, echoes = weigh(occurrences, lines, structure, known, knowledge)
        carried = Facts([*known, *found]) if (found := carriers(occurrences, lines)) else None
        if carried is not None:
            derive(carried, knowledge)
        return Case(lines, structure, tuple(occurrences), known, NOWHERE, evidence, echoes, carried=carried)

    def beside(self, case: Case, readings: Iterable[Fact], assume_local: bool = False) -> Case:
        """The case with readings of a machine beside the log."""
        met = matched(case.occurrences, self.knowledge)
        there = machine(readings, case.facts, met.__contains__, self.knowledge, assume_local)
        return replaced(case, machine=there)

    def triage(
        self,
        log: Log,
        facts: Iterable[Fact] = (),
        readings: Iterable[Fact] = (),
        look: Look = NO_LOOK,
        *,
        assume_local: bool = False,
    ) -> Report:
        """The report on one log. ``facts`` are taken as if the log said them; ``readings`` of a machine settle hypotheses."""
        if not isinstance(log, Log):
            raise TypeError(
                f"expected a Log, got {type(log).__name__}; of a text: cudnn_triage.triage(text, knowledge=triager.knowledge)"
            )
        log = selected(log, self.knowledge)
        case = self.beside(self.examine(clean(log), facts), readings, assume_local)
        return self.report(log, case, look)

    def hypotheses(self, case: Case, weights: Mapping[str, float] | None = None) -> tuple[list[Hypothesis], float]:
        """The hypotheses of a case, best first, and the probability by the log that none of them holds.

        ``weights`` replaces the knowledge base's fitted numbers.
        """
        numbers = self.knowledge.weights if weights is None else weights
        leaning = [e for e in case.hunches if e.cause in self.knowledge.in_field]
        found, none = rank(case.evidence, self.knowledge.competing, numbers, leaning)
        found, none = guess(found, none, case, self.knowledge)
        return settle(found, none, case.machine, case.met.__contains__, self.knowledge, numbers), none

    def report(self, log: Log, case: Case, look: Look = NO_LOOK, weights: Mapping[str, float] | None = None) -> Report:
        """Rank the hypotheses of a case and write the report."""
        hypotheses, none = self.hypotheses(case, weights)
        return self._writer.report(log, case, hypotheses, none, look)

    def check_up(self, readings: Iterable[Fact], look: Look = NO_LOOK) -> Report:
        """What is wrong with a machine by its readings alone, with no log."""
        log = read_text("", look.name)
        found = machine(readings, None, lambda name: None, self.knowledge, False)
        case = Case((), Structure(()), (), Facts(), found, (), {})
        return self._writer.report(log, case, faults(found, self.knowledge), 0.0, look)

    def captures(self, text: str) -> list[Fact]:
        """The facts that the messages in ``text`` carry."""
        lines = clean(read_text(text, ""))
        occurrences = self._matcher.find(Stream(lines, self.knowledge.field_marks), parse(lines))
        return list(collect_facts(occurrences, lines, self.knowledge))


@lru_cache(maxsize=4)
def shared(knowledge: Knowledge | None = None) -> Triager:
    """A Triager for this knowledge base (None: the shipped one), made once."""
    return Triager(knowledge)


def triage(
    text: str | bytes,
    *,
    name: str = "<text>",
    knowledge: Knowledge | None = None,
    facts: Iterable[Fact] = (),
    readings: Iterable[Fact] = (),
    assume_local: bool = False,
    redact: bool = True,
) -> Report:
    """Triage a log given as text or as raw bytes (which may be compressed, an archive, in any encoding).

    Runs nothing and sends nothing; the first call loads the knowledge base. ``facts`` are known beforehand and taken as if
    the log said them. ``readings`` of the machine that the log is from confirm or refute hypotheses; where the log contradicts
    them they do not count, unless ``assume_local`` says so.
    Values of facts that are given as text are read as the type that the fact is declared with.
    Secrets are masked unless ``redact`` is false. Safe to call from many threads; the same input gives the same report.
    Raises nothing for text; bytes of a broken archive, of an image or of other data that is no text raise reading.ReadError,
    what is no log TypeError, facts that are none or of another origin TypeError or ValueError.
    """
    if isinstance(text, str):
        log = read_text(text, name)
    elif isinstance(text, (bytes, bytearray, memoryview)):
        log = joined(read(bytes(text), name), name)
    else:
        raise TypeError(
            f"expected a log as str or bytes, got {type(text).__name__}; of a file: triage(open(name, 'rb').read())"
        )
    triager = shared(knowledge)
    said = checked(facts, "facts", ("log", "table", "structure"), triager.knowledge)
    found = checked(readings, "readings", ("local",), triager.knowledge)
    report = triager.triage(log, said, found, assume_local=assume_local)
    return redacted(report) if redact else report


def checked(facts: Iterable[Fact], called: str, origins: Sequence[str], knowledge: Knowledge) -> list[Fact]:
    """Facts that somebody gives as the argument ``called``, their values read where they are text.

    Raises TypeError or ValueError that says which is wrong, and what would be right.
    """
    out: list[Fact] = []
    for at, fact in enumerate(facts):
        here = f"{called}[{at}]"
        if not isinstance(fact, Fact):
            raise TypeError(f"{here}: expected a cudnn_triage.Fact, got {type(fact).__name__}")
        if fact.origin not in origins:
            wanted = " or ".join(repr(origin) for origin in origins)
            raise ValueError(f"{here}: {fact.name} has origin {fact.origin!r}; {called}= takes origin {wanted}")
        declared = knowledge.facts.get(fact.name)
        if declared is None and not fact.name.startswith("package."):
            raise ValueError(f"{here}: no fact is called {fact.name!r}{_nearest(fact.name, knowledge)}")
        kind = declared["type"] if declared else "version"
        value = read_value(kind, fact.value) if isinstance(fact.value, str) else fact.value
        if not isinstance(value, (str, int, float, Version, Soname, tuple)):
            raise ValueError(f"{here}: {fact.name} is a {kind}, which {fact.value!r} is not")
        out.append(Fact(fact.name, knowledge.placed(value), fact.origin, fact.line))
    return out


def _nearest(name: str, knowledge: Knowledge) -> str:
    from .near import nearest

    return nearest(name, knowledge.facts)


def joined(logs: Sequence[Log], name: str) -> Log:
    """The members of an archive as one log, in order; lines and bytes are those of the joined text."""
    if len(logs) == 1:
        return logs[0]
    text = "\n".join(log.text for log in logs)
    return noted(read_text(text, name), [*dict.fromkeys(log.note for log in logs if log.note)])
