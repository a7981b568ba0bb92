"""The engine: a pure function from a log, a knowledge base and given facts to a report. No I/O, no clock, no probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from .cleaning import clean
from .evidence import Case, collect_facts, silence_catch_alls, structure_facts, weigh
from .facts import Fact
from .fuzzy import FuzzyMatcher
from .grammar import parse
from .knowledge.base import Knowledge, load
from .lines import Line
from .matching import Matcher, Stream
from .ranking import rank
from .reading import Log, read, read_text
from .redact import redacted
from .report import ProbeItem, Report
from .reporting import Writer
from .selection import selected
from .tables import derive


class Triager:
    """Triages logs with one knowledge base. Build once, use from any thread."""

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or load()
        self._matcher = Matcher(self.knowledge)
        self._fuzzy = FuzzyMatcher(self.knowledge)
        self._writer = Writer(self.knowledge)

    def examine(self, lines: Sequence[Line], facts: Iterable[Fact] = ()) -> Case:
        """Everything the log says, before ranking."""
        knowledge = self.knowledge
        structure = parse(lines)
        stream = Stream(lines)
        found = self._matcher.find(stream, structure)
        found = sorted([*found, *self._fuzzy.find(stream, structure, found)], key=lambda o: (o.first, o.start, o.rule))
        occurrences = silence_catch_alls(found, knowledge)
        known = collect_facts(occurrences, lines, knowledge, tuple(facts))
        for fact in structure_facts(occurrences, lines, structure, knowledge):
            known.add(fact)
        derive(known, knowledge)
        evidence, echoes = weigh(occurrences, lines, structure, known, knowledge)
        return Case(lines, structure, tuple(occurrences), known, evidence, echoes)

    def triage(self, log: Log, facts: Iterable[Fact] = (), probes: tuple[ProbeItem, ...] = ()) -> Report:
        """The report on one log."""
        log = selected(log, self.knowledge)
        lines = clean(log)
        case = self.examine(lines, facts)
        return self.report(log, case, probes)

    def report(
        self, log: Log, case: Case, probes: tuple[ProbeItem, ...] = (), weights: Mapping[str, float] | None = None
    ) -> Report:
        """Rank the hypotheses of a case and write the report. ``weights`` replaces the knowledge base's fitted numbers."""
        hypotheses, none = rank(
            case.evidence, self.knowledge.competing, self.knowledge.weights if weights is None else weights
        )
        return self._writer.report(log, case, hypotheses, none, probes)


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
    redact: bool = True,
) -> Report:
    """Triage a log given as text or as raw bytes (which may be compressed, an archive, in any encoding).

    Runs nothing and sends nothing; the first call loads the knowledge base. ``facts`` are readings known beforehand.
    Secrets are masked unless ``redact`` is false. Safe to call from many threads; the same input gives the same report.
    Raises nothing for text; bytes of a broken archive or of an image raise reading.ReadError.
    """
    log = read_text(text, name) if isinstance(text, str) else joined(read(bytes(text), name), name)
    report = shared(knowledge).triage(log, facts)
    return redacted(report) if redact else report


def joined(logs: Sequence[Log], name: str) -> Log:
    """The members of an archive as one log, in order; lines and bytes are those of the joined text."""
    if len(logs) == 1:
        return logs[0]
    text = "\n".join(log.text for log in logs)
    return read_text(text, name)
