"""From ranked hypotheses to the report: the verdict, the answer in one line, evidence in place, fixes ready to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from . import __version__
from .conditions import holds
from .evidence import FAILING, HUNCH, NOTICE, STRENGTHS, Case, Evidence
from .facts import Fact
from .fixes import called_for, ready
from .knowledge.base import Knowledge
from .light import record
from .log_facts import serious_failures
from .matching import Occurrence
from .ranking import WORTH_ASKING, Hypothesis, behind
from .reading import Log
from .report import (
    AlsoItem,
    BenignItem,
    DeadEnd,
    Diagnosis,
    Difference,
    EvidenceItem,
    FactItem,
    FailedLine,
    FixItem,
    InputInfo,
    LogLine,
    Look,
    MachineInfo,
    Reference,
    Report,
    ToolInfo,
)
from .settling import CREDIBLE
from .structure import Failure, Role
from .whereabouts import Machine
from .wording import complains, pasted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .vocabulary import Part, Verdict

_MOST = 5
_STRENGTHS = (*STRENGTHS, HUNCH)
_SURE = STRENGTHS[:2]
_CREDIBLE = 0.6  # a diagnosis is given when some cause of the field is at least this probable
_AT_THE_FAILURE = 0.3  # the same, where a message that speaks for it stands in the lines of a failure
# where the program only warned and ended well, one cause has to be this probable: else the log does not say what it did without
_WARNED_ONLY = 0.5  # set, not fitted: few logs are of this kind
_UNFAILED = 0.5  # of the probability that is left where the program only warned of a cause and ended well: the log does not tell
# whether anybody misses what it did without. Set, not fitted: people publish such logs only where they do
_AT_A_LOSS = 0.2  # the same, where an error of this field that no rule knows would else be left without any answer
# lines of a log that was cut out for what it says: of 35 logs of corpus/ without a failure that are read rightly in general
# terms the longest has 24; of 62 whole files without one (2026-11-30) three were read so, all wrongly
_EXCERPT = 40
_READINGS = 12  # facts that are shown with a condition
_LONGEST = 2000  # characters of a line that a report holds
_OF_THE_LOG = ("log", "structure")  # origins of facts
_BEFORE = 400  # characters of a longer line that are kept before the evidence
_SUMMARY = 300
_UNEXPLAINED = 100
_STEPS = 2
_ALSO = 2
_BROKEN_OFF = "the traceback breaks off here, before its error; the lines that follow say what it was"


@record(frozen=True)
class Writer:
    """Writes reports with one knowledge base."""

    knowledge: Knowledge

    def report(self, log: Log, case: Case, hypotheses: Sequence[Hypothesis], none: float, look: Look) -> Report:
        """The report on ``log``; ``none`` is the probability that no cause of the list is behind it."""
        rivals = [h for h in hypotheses if h.cause in self.knowledge.competing]
        # lines that look like an error of this field and that no rule knows, without those read in general terms
        read = {o.first for o in case.occurrences if o.general}
        unexplained = [i for i in case.unknown if i not in read]
        benign = self._benign(case, hypotheses, log.repeats or {})
        verdict = self._verdict(case, rivals, none, unexplained, benign)
        diagnoses = tuple(self._diagnosis(h, case) for h in self._shown(rivals, case)) if verdict == "diagnosed" else ()
        said = {item.line for diagnosis in diagnoses[:1] for item in diagnosis.evidence if item.kind == "signature"}
        benign = tuple(item for item in benign if item.line not in said)
        serious = serious_failures(case.structure)
        failed = self._failed(case, serious)
        main, broken_off = _main(failed, serious, case)
        left = tuple(LogLine(case.lines[i].number, _text(case, i)) for i in unexplained[:_UNEXPLAINED])
        summary = _summary(verdict, diagnoses, benign, main, broken_off, left)
        if verdict == "diagnosed" and case.structure.ended_well:
            summary = f"The program ended well, but: {summary}"
        if not case.machine.has_log and not diagnoses:
            summary = f"No fault was found on {look.name}."
        return Report(
            tool=ToolInfo("cudnn-triage", __version__, self.knowledge.digest),
            verdict=verdict,
            summary=_shortened(summary, _SUMMARY),
            diagnoses=diagnoses,
            benign=benign,
            unexplained=left,
            failed=failed,
            facts=tuple(FactItem(f.name, _shortened(f.text, _LONGEST), f.origin, f.line) for f in _facts(case)),
            probes=look.probes,
            input=InputInfo(
                log.name,
                len(log.raw) if log.size < 0 else log.size,
                _line_count(log),
                log.coded or log.encoding,
                log.note,
            ),
            machine=_machine(case.machine, look),
            next_steps=self._next_steps(case) if verdict == "unrelated" and failed else (),
            also=self._also(case, rivals) if verdict == "unrelated" and failed else (),
        )

    def _verdict(
        self,
        case: Case,
        rivals: Sequence[Hypothesis],
        none: float,
        unexplained: Sequence[int],
        benign: Sequence[BenignItem],
    ) -> Verdict:
        """What kind of answer the log gets."""
        likeliest = max(rivals, key=lambda h: h.score, default=None)
        off_field = self.knowledge.off_field
        unrelated = likeliest is not None and likeliest.cause in off_field and likeliest.prior > none
        confirmed = any(h.status == "confirmed" and h.prior >= CREDIBLE for h in rivals)
        failures = case.structure.uncaught
        if confirmed and not unrelated and (failures or unexplained or not case.machine.has_log):
            return "diagnosed"  # the log complains of something, be it vaguely, and the machine says of what
        if not any(line.text.strip() for line in case.lines):
            return "empty"
        if not unrelated:
            of_the_field = sum(h.prior for h in rivals if h.cause in self.knowledge.in_field)
            at_a_loss = of_the_field > _AT_A_LOSS and _puzzling(case.unknown, failures, benign)
            if at_a_loss or self._credible(rivals, of_the_field, case):
                return "diagnosed"
            if _puzzling(unexplained, failures, benign):
                return "unexplained"
        failed_otherwise = failures or any(h.cause in off_field for h in rivals)
        return "benign" if benign and not failed_otherwise else "unrelated"

    def _shown(self, rivals: Sequence[Hypothesis], case: Case) -> list[Hypothesis]:
        """The hypotheses worth a person's time: the likeliest few by the log, and whatever is confirmed."""
        ours = [h for h in rivals if h.cause in self.knowledge.in_field]
        by_score = sorted(ours, key=lambda h: -h.score)
        if case.hunches and all(h.status == "suspected" for h in ours):
            words = {e.cause: e.odds for e in case.hunches}
            return behind(by_score, words)[:_MOST]
        likeliest = [h for h in by_score if h.prior >= WORTH_ASKING][:_MOST]
        return [h for h in ours if h.status == "confirmed" or h in likeliest]

    def _credible(self, rivals: Sequence[Hypothesis], of_the_field: float, case: Case) -> bool:
        """Whether causes of the field, ``of_the_field`` probable together, are worth a diagnosis."""
        if _at_a_failure(rivals):
            return of_the_field > _AT_THE_FAILURE
        warned_only = all(self._survived(h, case) for h in rivals)
        likely = not warned_only or max((h.prior for h in rivals), default=0.0) > _WARNED_ONLY
        return likely and of_the_field > _CREDIBLE

    def _survived(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Whether a cause of failures is only warned of in a log that ends well, and no reading confirms it."""
        if not case.structure.ended_well or hypothesis.status != "suspected":
            return False
        if self.knowledge.families[hypothesis.cause] == "benign":
            return False
        said = [e for e in hypothesis.evidence if e.supports and e.occurrence]
        return all(e.standing == NOTICE or (e.occurrence and case.lines[e.occurrence.first].level) for e in said)

    def _doubted(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Whether it is open that anybody misses what the cause would explain: the log only warns of it and ended well, or is a
        whole file in which nothing failed, of which only general readings speak of the cause. Who pastes a line for what it says
        does not paste a file around it."""
        if self._survived(hypothesis, case):
            return True
        said = [e.occurrence for e in hypothesis.evidence if e.supports and e.occurrence]
        whole_file = len(case.lines) > _EXCERPT and not case.structure.uncaught
        return whole_file and hypothesis.status == "suspected" and bool(said) and all(o.general for o in said)

    def _next_steps(self, case: Case) -> tuple[FixItem, ...]:
        """What to do about a failure outside this field, where the log shows which kind it is."""
        facts, seen = case.surroundings.before(case.machine.plain), case.met.__contains__
        outside = [self.knowledge.causes[cause] for cause in sorted(self.knowledge.off_field)]
        steps = [step for cause in outside for step in called_for(cause["fixes"], facts, seen, self.knowledge)]
        return tuple(steps[:_STEPS])

    def _also(self, case: Case, rivals: Sequence[Hypothesis]) -> tuple[AlsoItem, ...]:
        """Causes of this field that messages surely speak of (a warning at the start that this build has no code for the GPU):
        what ended the program is another matter, but once that is mended they are the next."""
        causes = self.knowledge.causes
        said: list[tuple[int, str, str]] = []
        for hypothesis in rivals:
            cause = hypothesis.cause
            fault = cause in self.knowledge.in_field and causes[cause]["severity"] == "fatal"
            if fault and hypothesis.status != "refuted":
                sure = [e for e in hypothesis.evidence if e.strength in _SURE]
                at = [(e.occurrence.first, cause, e.id) for e in sure if e.occurrence and not e.occurrence.general]
                if at and all(e.supports for e in sure):
                    said.append(min(at))
        rows = sorted(said)[:_ALSO]
        return tuple(AlsoItem(c, causes[c]["title"], s, case.lines[i].number, _text(case, i)) for i, c, s in rows)

    def _failed(self, case: Case, failures: Sequence[Failure]) -> tuple[FailedLine, ...]:
        """Where the program failed, and other lines of which a rule says what outside the field went wrong; where neither is,
        in a log so short that it was pasted for what it says, the lines that read like errors."""
        known = self._known_otherwise(case)
        told = {f.at: (f, next(filter(None, map(known.get, range(f.first, f.last + 1))), "")) for f in failures}
        within = {i for f in failures for i in range(f.first, f.last + 1)}
        others = {i: why for i, why in known.items() if i not in within and (why or not failures)}
        if not told and not others and not case.structure.ended_well:
            others = {i: "" for i in pasted(case.structure) if complains(case.lines[i], self.knowledge)}
        rows = {i: FailedLine(case.lines[i].number, _text(case, i), why) for i, why in others.items()}
        for i, (failure, why) in told.items():
            text = _failure_text(failure.text) or _text(case, i)
            rows[i] = FailedLine(case.lines[i].number, text, why or (_BROKEN_OFF if failure.cut else ""))
        last = {(row.text, row.why): i for i, row in sorted(rows.items())}  # the same again and again is told once
        return tuple(rows[i] for i in sorted(last.values()))

    def _known_otherwise(self, case: Case) -> dict[int, str]:
        """The lines in which rules see a failure outside the field, with what it is; "" where the rule only knows that it is one."""
        known: dict[int, str] = {}
        for e in case.evidence:
            if e.cause in self.knowledge.off_field and e.supports and e.occurrence:
                vague = e.standing == NOTICE or self.knowledge.by_id[e.occurrence.rule]["catch_all"]
                known[e.occurrence.first] = known.get(e.occurrence.first) or ("" if vague else e.why)
        return known

    def _benign(
        self, case: Case, hypotheses: Sequence[Hypothesis], repeats: Mapping[str, int]
    ) -> tuple[BenignItem, ...]:
        items: list[BenignItem] = []
        for hypothesis in hypotheses:
            if hypothesis.cause in self.knowledge.competing:
                continue
            seen: dict[str, list[Evidence]] = {}
            for item in hypothesis.evidence:
                if item.supports and item.occurrence:
                    seen.setdefault(item.id, []).append(item)
            for name, found in seen.items():
                first = found[0].occurrence
                if first:
                    number, text = case.lines[first.first].number, _text(case, first.first)
                    lines = {item.occurrence.first for item in found if item.occurrence}
                    count = max(len(lines), repeats.get(name, 0))
                    items.append(BenignItem(hypothesis.cause, name, number, text, found[0].why, count))
        return tuple(items)

    def _diagnosis(self, hypothesis: Hypothesis, case: Case) -> Diagnosis:
        cause = self.knowledge.causes[hypothesis.cause]
        facts, seen = case.surroundings.before(case.machine.plain), case.met.__contains__
        return Diagnosis(
            cause=hypothesis.cause,
            title=cause["title"],
            family=cause["family"],
            severity=cause["severity"],
            confidence=round(hypothesis.probability * (_UNFAILED if self._doubted(hypothesis, case) else 1.0), 4),
            status=hypothesis.status,
            explanation=cause["explanation"],
            evidence=_evidence(hypothesis, case),
            fixes=ready(cause["fixes"], facts, seen, self.knowledge),
            dead_ends=tuple(
                DeadEnd(d["tried"], d["why"])
                for d in cause["dead_ends"]
                if d["when"] is None or holds(d["when"], facts, seen)
            ),
            references=tuple(
                Reference(r["title"], r["url"])
                for r in cause["references"]
                if r["when"] is None or holds(r["when"], facts, seen)
            ),
        )


def _at_a_failure(rivals: Sequence[Hypothesis]) -> bool:
    return any(item.supports and item.standing == FAILING for h in rivals for item in h.evidence)


def _puzzling(unexplained: Sequence[int], failures: Sequence[Failure], benign: Sequence[BenignItem]) -> bool:
    """Whether what no rule explains is the point of the log: it stands in a failure, or there is nothing else to say."""
    if failures:
        return any(f.first <= i <= f.last for f in failures for i in unexplained)
    return bool(unexplained) and not benign


def _evidence(hypothesis: Hypothesis, case: Case) -> tuple[EvidenceItem, ...]:
    """What speaks for and against a hypothesis, each message or condition once, the weightiest first."""
    kept: dict[tuple[str, bool], Evidence] = {}
    for item in sorted(hypothesis.evidence, key=_importance):
        kept.setdefault((item.id, item.supports), item)
    return tuple(
        _message(item, hypothesis.cause, case) if item.occurrence else _condition(item) for item in kept.values()
    )


def _importance(item: Evidence) -> tuple[bool, bool, bool, int, int]:
    where = item.occurrence.first if item.occurrence else 1 << 30
    return (not item.supports, item.kind != "probe", item.standing == NOTICE, _STRENGTHS.index(item.strength), where)


def _condition(item: Evidence) -> EvidenceItem:
    both = item.kind == "probe" and any(f.origin in _OF_THE_LOG for f in item.facts)
    said = list(dict.fromkeys(_reading(f, both) for f in item.facts))
    rest = [f"and {len(said) - _READINGS} more"] if len(said) > _READINGS else []
    facts = _shortened(", ".join(said[:_READINGS] + rest), _LONGEST)
    line = next((f.line for f in item.facts if f.line), 0)
    return EvidenceItem(item.kind, item.id, "exact", item.origin, line, 0, facts, item.supports, item.why)


def _reading(fact: Fact, both: bool) -> str:
    where = {"local": " here", "table": ""}.get(fact.origin, " in the log") if both else ""
    return f"{fact.name} = {fact.text}{where}"


def _facts(case: Case) -> Iterator[Fact]:
    """What the log says, then the readings of the machine."""
    yield from case.surroundings
    yield from (fact for fact in case.machine.readings if fact.origin == "local")


def _machine(machine: Machine, look: Look) -> MachineInfo:
    differences = tuple(
        Difference(ground.why, _shortened(", ".join(_reading(f, True) for f in ground.facts), _LONGEST))
        for ground in machine.elsewhere
    )
    readings: Part = "used"
    if not any(True for _ in machine.readings):
        return MachineInfo("none")
    if not machine.has_log:
        readings = "only"
    elif differences:
        readings = "assumed" if machine.assumed else "ignored"
    return MachineInfo(readings, look.name, look.interpreter, differences)


def _message(item: Evidence, cause: str, case: Case) -> EvidenceItem:
    found = item.occurrence
    assert found is not None
    shown, start = _said_at(found, case)
    line = case.lines[shown]
    number, column = line.place(start)
    end = found.end if shown == found.last else len(line.text)
    begin = start - _BEFORE if len(line.text) > _LONGEST and start > _BEFORE else 0
    begin += len(line.text[begin:]) - len(line.text[begin:].lstrip())
    text = line.text[begin : begin + _LONGEST].rstrip()
    offset = min(max(start - begin, 0), max(len(text) - 1, 0))
    length = max(1, min(end, begin + len(text)) - max(start, begin))
    echoes = {case.lines[_said_at(e, case)[0]].number for e, root in case.echoes.items() if root in (item.id, cause)}
    return EvidenceItem(
        "signature", item.id, found.match, "log", number, column, text, item.supports, item.why,
        tuple(sorted(echoes - {number})), offset, length,
    )  # fmt: skip


def _said_at(found: Occurrence, case: Case) -> tuple[int, int]:
    """The line, and the place in it, where a message begins; of one that begins in a traceback's frames, what was printed."""
    for index in range(found.first, found.last + 1):
        if case.structure.roles[index] not in (Role.SOURCE, Role.FRAME, Role.BLANK):
            text = case.lines[index].text
            return index, found.start if index == found.first else len(text) - len(text.lstrip())
    return found.first, found.start


def _summary(
    verdict: Verdict,
    diagnoses: tuple[Diagnosis, ...],
    benign: tuple[BenignItem, ...],
    failed: FailedLine | None,
    broken_off: bool,
    unexplained: tuple[LogLine, ...],
) -> str:
    if verdict == "empty":
        return "The log is empty."
    if verdict == "diagnosed":
        best = diagnoses[0]
        status = "" if best.status == "suspected" else f", {best.status}"
        return f"{best.title} ({best.cause}, {best.confidence:.0%}{status})"
    if verdict == "benign":
        return f"Nothing is wrong: harmless messages only ({', '.join(dict.fromkeys(b.cause for b in benign))})."
    if verdict == "unrelated" and failed and broken_off:
        return (
            f"No GPU cause found, but the traceback breaks off at line {failed.line}, before its error: {failed.text}"
        )
    if verdict == "unrelated" and failed:
        return f"No GPU cause found; line {failed.line}: {failed.why or failed.text}"
    if verdict == "unrelated":
        return "No GPU cause found, and no failure in the log."
    first = unexplained[0]
    return f"An error of this field that no rule explains, at line {first.line}: {first.text}"


def _main(failed: tuple[FailedLine, ...], failures: Sequence[Failure], case: Case) -> tuple[FailedLine | None, bool]:
    """The failure to name, and whether the log lacks its message: the last exception, since what stands before it was survived;
    else a line that a rule knows, else the last traceback that breaks off, else the first other failure."""
    cut = {case.lines[f.at].number: f.cut for f in failures if f.kind == "exception"}
    whole = [line for line in failed if cut.get(line.line) is False]
    known = [line for line in failed if line.why and not cut.get(line.line)]
    broken = [line for line in failed if line.line in cut]
    main = next(iter(whole[-1:] or known[:1] or broken[-1:] or failed[:1]), None)
    return main, main is not None and cut.get(main.line, False)


def _failure_text(text: str) -> str:
    """The first line of a failure; of a long one both ends, since the end often is the message."""
    line = text.strip().partition("\n")[0].strip()
    half = _SUMMARY // 2 - 40
    return line if len(line) <= 2 * half else f"{line[:half].rstrip()} … {line[-half:].lstrip()}"


def _text(case: Case, index: int) -> str:
    return _shortened(case.lines[index].text.strip(), _LONGEST)


def _shortened(text: str, most: int) -> str:
    """``text``, cut between words where it is too long, so that no half of a secret is left that nothing recognises."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut[: cut.rfind(" ")] if cut.rfind(" ") > most // 2 else cut) + "…"


def _line_count(log: Log) -> int:
    """Lines of the log as read; of one taken out of JSON, the lines of the file."""
    if log.rows >= 0:
        return log.rows
    if log.pieces:
        return len(log.raw.splitlines())
    return log.text.count("\n") + (not log.text.endswith("\n") and bool(log.text))
