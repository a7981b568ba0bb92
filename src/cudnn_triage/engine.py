"""The engine: a pure function from a log, a knowledge base and given facts to a report. No I/O, no clock, no probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from . import __version__
from .cleaning import clean
from .evidence import (
    NOTICE,
    Case,
    Evidence,
    collect_facts,
    silence_catch_alls,
    structure_facts,
    unexplained_lines,
    weigh,
)
from .facts import Fact
from .fixes import ready
from .fuzzy import FuzzyMatcher
from .grammar import parse
from .knowledge.base import Knowledge, load
from .lines import Line
from .matching import Matcher, Stream
from .ranking import Hypothesis, rank
from .reading import Log, read
from .report import (
    BenignItem,
    DeadEnd,
    Diagnosis,
    EvidenceItem,
    FactItem,
    FixItem,
    InputInfo,
    LogLine,
    ProbeItem,
    Reference,
    Report,
    ToolInfo,
    Verdict,
)
from .tables import derive

_SHOWN = 0.03  # hypotheses less probable than this are left out
_MOST = 5
_CREDIBLE = 0.6  # a diagnosis is given when some cause of the field is at least this probable


class Triager:
    """Triages logs with one knowledge base. Build once, use from any thread."""

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or load()
        self._matcher = Matcher(self.knowledge)
        self._fuzzy = FuzzyMatcher(self.knowledge)
        #: causes that exclude one another: all but the harmless ones
        self.competing = frozenset(c for c, rule in self.knowledge.causes.items() if rule["severity"] != "benign")

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
        lines = clean(log)
        case = self.examine(lines, facts)
        return self.report(log, case, probes)

    def report(
        self, log: Log, case: Case, probes: tuple[ProbeItem, ...] = (), weights: Mapping[str, float] | None = None
    ) -> Report:
        """Rank the hypotheses of a case and write the report. ``weights`` replaces the knowledge base's fitted numbers."""
        knowledge = self.knowledge
        hypotheses, none = rank(case.evidence, self.competing, knowledge.weights if weights is None else weights)
        rivals = [h for h in hypotheses if h.cause in self.competing]
        off_field = {
            c for c, rule in knowledge.causes.items() if rule["family"] == "benign" and rule["severity"] == "fatal"
        }
        of_the_field = sum(h.probability for h in rivals if h.cause not in off_field)
        unrelated = bool(rivals) and rivals[0].cause in off_field and rivals[0].probability > none
        diagnosed = not unrelated and of_the_field > _CREDIBLE
        unexplained = unexplained_lines(case.occurrences, case.lines, case.structure, knowledge)
        failures = [f for f in case.structure.failures if not f.caught]
        benign = self._benign(case, hypotheses)
        shown: list[Hypothesis] = []
        verdict: Verdict
        if not any(line.text.strip() for line in case.lines):
            verdict = "empty"
        elif diagnosed:
            verdict = "diagnosed"
            shown = [h for h in rivals if h.probability >= _SHOWN and h.cause not in off_field][:_MOST]
        elif unrelated or (failures and not unexplained):
            verdict = "unrelated"
        elif unexplained:
            verdict = "unexplained"
        else:
            verdict = "benign" if benign else "unrelated"
        diagnoses = tuple(self._diagnosis(h, case) for h in shown)
        failed = tuple(
            LogLine(case.lines[f.last].number, _one_line(f.text) or _line_text(case, f.last)) for f in failures
        )
        return Report(
            tool=ToolInfo("cudnn-triage", __version__, knowledge.digest),
            verdict=verdict,
            summary=_summary(verdict, diagnoses, benign, failed, unexplained, case),
            diagnoses=diagnoses,
            benign=benign,
            unexplained=tuple(LogLine(case.lines[i].number, _line_text(case, i)) for i in unexplained),
            failed=failed,
            facts=tuple(FactItem(f.name, f.text, f.origin, f.line) for f in case.facts),
            probes=probes,
            input=InputInfo(
                log.name,
                len(log.raw),
                log.raw.count(b"\n") + (not log.raw.endswith(b"\n") and bool(log.raw)),
                log.encoding,
            ),
        )

    def _benign(self, case: Case, hypotheses: list[Hypothesis]) -> tuple[BenignItem, ...]:
        items: list[BenignItem] = []
        for hypothesis in hypotheses:
            cause = self.knowledge.causes[hypothesis.cause]
            if cause["severity"] != "benign":
                continue
            seen: dict[str, list[Evidence]] = {}
            for item in hypothesis.evidence:
                if item.supports and item.occurrence:
                    seen.setdefault(item.id, []).append(item)
            for name, found in seen.items():
                first = found[0].occurrence
                if first:
                    line = case.lines[first.first]
                    text = _line_text(case, first.first)
                    items.append(BenignItem(hypothesis.cause, name, line.number, text, cause["title"], len(found)))
        return tuple(items)

    def _diagnosis(self, hypothesis: Hypothesis, case: Case) -> Diagnosis:
        cause = self.knowledge.causes[hypothesis.cause]
        rules = {o.rule for o in case.occurrences}
        pointed = {e.cause for e in case.evidence if e.supports}
        return Diagnosis(
            cause=hypothesis.cause,
            title=cause["title"],
            family=cause["family"],
            severity=cause["severity"],
            confidence=round(hypothesis.probability, 4),
            status="suspected",
            explanation=cause["explanation"],
            evidence=self._evidence_items(hypothesis, case),
            fixes=self._fixes(cause["fixes"], case, rules | pointed),
            dead_ends=tuple(DeadEnd(d["tried"], d["why"]) for d in cause["dead_ends"]),
            references=tuple(Reference(r["title"], r["url"]) for r in cause["references"]),
        )

    def _fixes(self, fixes: list[dict[str, object]], case: Case, seen: set[str]) -> tuple[FixItem, ...]:
        return ready(fixes, case.facts, seen.__contains__, self.knowledge)

    def _evidence_items(self, hypothesis: Hypothesis, case: Case) -> tuple[EvidenceItem, ...]:
        items: list[EvidenceItem] = []
        done: set[tuple[str, bool]] = set()
        for item in sorted(hypothesis.evidence, key=_importance):
            if (item.id, item.supports) in done:
                continue
            done.add((item.id, item.supports))
            if item.occurrence is None:
                names = ", ".join(sorted({f"{f.name} = {f.text}" for f in case.facts if f.name in item.id}))
                items.append(EvidenceItem("fact", item.id, "exact", item.origin, 0, 0, names, item.supports, item.why))
                continue
            line, column = case.lines[item.occurrence.first].place(item.occurrence.start)
            o = item.occurrence
            text = case.lines[o.first].text
            length = (o.end if o.first == o.last else len(text)) - o.start
            items.append(
                EvidenceItem(
                    "signature",
                    item.id,
                    o.match,
                    "log",
                    line,
                    column,
                    _line_text(case, o.first),
                    item.supports,
                    item.why,
                    tuple(
                        sorted(
                            {
                                case.lines[e.first].number
                                for e, root in case.echoes.items()
                                if root in (item.id, hypothesis.cause)
                            }
                        )
                    ),
                    o.start - (len(text) - len(text.lstrip())),
                    max(length, 1),
                )
            )
        return tuple(items)


_STRENGTH = ("certain", "strong", "likely", "possible", "weak")


def _importance(item: Evidence) -> tuple[bool, bool, int, int]:
    where = item.occurrence.first if item.occurrence else 1 << 30
    return (not item.supports, item.standing == NOTICE, _STRENGTH.index(item.strength), where)


def _one_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def _line_text(case: Case, index: int) -> str:
    return case.lines[index].text.strip()


def _summary(
    verdict: Verdict,
    diagnoses: tuple[Diagnosis, ...],
    benign: tuple[BenignItem, ...],
    failed: tuple[LogLine, ...],
    unexplained: Sequence[int],
    case: Case,
) -> str:
    if verdict == "empty":
        return "The log is empty."
    if verdict == "diagnosed":
        best = diagnoses[0]
        return f"{best.title} ({best.cause}, {best.confidence:.0%})"
    if verdict == "benign":
        return f"Nothing is wrong: harmless messages only ({', '.join(dict.fromkeys(b.cause for b in benign))})."
    if verdict == "unrelated" and failed:
        return f"No GPU cause found; the program failed at line {failed[-1].line}: {failed[-1].text}"
    if verdict == "unrelated":
        return "No GPU cause found, and no failure in the log."
    first = case.lines[unexplained[0]]
    return f"An error of this field that no rule explains, at line {first.number}: {first.text.strip()}"


@lru_cache(maxsize=4)
def shared(knowledge: Knowledge | None = None) -> Triager:
    """A Triager for this knowledge base (None: the shipped one), made once."""
    return Triager(knowledge)


def triage(
    text: str | bytes, *, name: str = "<text>", knowledge: Knowledge | None = None, facts: Iterable[Fact] = ()
) -> Report:
    """Triage a log given as text or raw bytes.

    Pure: no files, no environment, no probes. ``facts`` are readings known beforehand. Safe to call from many threads; the
    same input gives the same report. Raises nothing for any text; bytes of a broken archive raise reading.ReadError.
    """
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    logs = read(data, name)
    return shared(knowledge).triage(logs[0] if len(logs) == 1 else join(logs, name), facts)


def join(logs: Sequence[Log], name: str) -> Log:
    """Several members of one archive, read as one log, in order."""
    raw = b"\n".join(log.raw for log in logs)
    return Log(
        name=name, raw=raw, text="\n".join(log.text for log in logs), encoding=logs[0].encoding if logs else "utf-8"
    )
