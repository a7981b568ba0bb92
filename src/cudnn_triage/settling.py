"""What readings of a machine make of hypotheses: confirmed, refuted, or neither, with a probability that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .conditions import Seen
from .evidence import Evidence
from .facts import Readings
from .knowledge.base import Knowledge
from .ranking import DEFAULTS, WORTH_ASKING, Hypothesis, Status
from .whereabouts import Ground, Machine, grounds

_ORDER = ("confirmed", "suspected", "refuted")


def judge(cause: str, scope: Readings, seen: Seen, knowledge: Knowledge) -> tuple[Status, tuple[Ground, ...]]:
    """The status of a cause by the readings alone, and their grounds. What confirms outweighs what refutes."""
    rule = knowledge.causes[cause]
    if found := grounds(rule["confirm"], scope, seen):
        return "confirmed", found
    if found := grounds(rule["refute"], scope, seen):
        return "refuted", found
    return "suspected", ()


def settle(
    hypotheses: Sequence[Hypothesis],
    none: float,
    machine: Machine,
    seen: Seen,
    knowledge: Knowledge,
    weights: Mapping[str, float],
) -> list[Hypothesis]:
    """The hypotheses after a look at the machine: confirmed ones first, refuted ones last, each group in the log's order.

    Only what the log speaks for can be confirmed. ``none`` is the probability by the log that none of them holds.
    """
    judged = [_judged(h, machine, seen, knowledge) for h in hypotheses]
    if all(h.status == "suspected" for h in judged):
        return judged
    chances = _chances([h for h in judged if h.cause in knowledge.competing], none, {**DEFAULTS, **weights})
    out = [h.with_probability(chances.get(h.cause, h.probability)) for h in judged]
    return sorted(out, key=lambda h: _ORDER.index(h.status))


def faults(machine: Machine, knowledge: Knowledge) -> list[Hypothesis]:
    """The causes that readings confirm with no log: those whose conditions stand alone; what has to be cured first, first."""
    sure = {**DEFAULTS, **knowledge.weights}["confirmed"]
    out = []
    for cause, rule in knowledge.causes.items():
        found = grounds((c for c in rule["confirm"] if c["alone"]), machine.scope, lambda name: None)
        if found:
            out.append(Hypothesis(cause, 0.0, sure, evidence(cause, found, supports=True), sure, "confirmed"))
    return sorted(out, key=lambda h: _urgency(knowledge.causes[h.cause], knowledge))


def _urgency(cause: dict[str, Any], knowledge: Knowledge) -> tuple[bool, int]:
    order = knowledge.cure_first
    return cause["severity"] != "fatal", order.index(cause["family"]) if cause["family"] in order else len(order)


def _judged(hypothesis: Hypothesis, machine: Machine, seen: Seen, knowledge: Knowledge) -> Hypothesis:
    if not machine.counts or hypothesis.prior < WORTH_ASKING or hypothesis.cause in knowledge.off_field:
        return hypothesis
    status, found = judge(hypothesis.cause, machine.scope, seen, knowledge)
    return hypothesis.settled(status, evidence(hypothesis.cause, found, supports=status == "confirmed"))


def evidence(cause: str, found: Iterable[Ground], *, supports: bool) -> tuple[Evidence, ...]:
    """Grounds as evidence for or against a cause."""
    return tuple(
        Evidence(cause, "certain", supports, "probe", g.condition, g.why, origin="local", facts=g.facts) for g in found
    )


def _chances(hypotheses: Sequence[Hypothesis], none: float, numbers: Mapping[str, float]) -> dict[str, float]:
    """Probabilities in the light of what is settled: confirmed causes share at least ``confirmed`` of it in the log's
    proportions, refuted ones keep ``refuted`` of their odds."""
    odds = {h.cause: h.prior * (numbers["refuted"] if h.status == "refuted" else 1.0) for h in hypotheses}
    sure = {h.cause for h in hypotheses if h.status == "confirmed"}
    total = none + sum(odds.values())
    ours = sum(odds[cause] for cause in sure)
    share = max(numbers["confirmed"], ours / total) if sure else 0.0
    rest = total - ours
    return {
        cause: share * value / ours if cause in sure else (1 - share) * value / rest
        for cause, value in odds.items()
        if value
    }
