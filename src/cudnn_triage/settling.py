"""What readings of a machine make of hypotheses: confirmed, refuted, or neither, with a probability that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .conditions import Seen
from .evidence import Evidence
from .facts import Readings
from .knowledge.base import Knowledge
from .light import replaced
from .ranking import DEFAULTS, Hypothesis
from .whereabouts import Ground, Machine, grounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .vocabulary import Status

CREDIBLE = 0.05  # probability from which a state that may well be harmless confirms a cause
ALLOWED_FOR = 0.005  # probability from which a fault that stands alone does
_ORDER = ("confirmed", "suspected", "refuted")


def judge(
    confirm: Iterable[dict[str, Any]], refute: Iterable[dict[str, Any]], scope: Readings, seen: Seen
) -> tuple[Status, tuple[Ground, ...]]:
    """The status of a cause by the readings alone, and their grounds. What confirms outweighs what refutes."""
    if found := grounds(confirm, scope, seen):
        return "confirmed", found
    if found := grounds(refute, scope, seen):
        return "refuted", found
    return "suspected", ()


def rivals(hypotheses: Iterable[Hypothesis], knowledge: Knowledge) -> list[Hypothesis]:
    """The hypotheses of the field that exclude one another, the likeliest by the log first."""
    found = (h for h in hypotheses if h.cause in knowledge.in_field)
    return sorted(found, key=lambda h: -h.score)


def conditions(
    hypothesis: Hypothesis, leader: Hypothesis, knowledge: Knowledge
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What may confirm and what may refute a hypothesis, the more improbable the less; ``leader`` is the likeliest by the log.

    A state that many healthy machines are in confirms only what the log makes credible. A fault that stands alone confirms
    what the log allows for: something not quite improbable, or something that the leader's own message may mean as well.
    What has been refuted makes the others more probable.
    """
    rule = knowledge.causes[hypothesis.cause]
    probability = max(hypothesis.prior, hypothesis.probability)
    allowed = probability >= ALLOWED_FOR or not _places(hypothesis).isdisjoint(_places(leader))
    confirm = [item for item in rule["confirm"] if probability >= CREDIBLE or (item["alone"] and allowed)]
    return confirm, rule["refute"]


def _places(hypothesis: Hypothesis) -> set[int]:
    """The lines whose messages speak for a hypothesis."""
    return {e.occurrence.first for e in hypothesis.evidence if e.supports and e.occurrence}


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
    ours = rivals(hypotheses, knowledge)
    if not machine.counts or not ours or not machine.scope.has_readings:
        return list(hypotheses)
    numbers = {**DEFAULTS, **weights}
    chances: dict[str, float] = {}
    for _ in range(2):  # what is refuted makes others credible
        judged: dict[str, Hypothesis] = {}
        for plain in ours:
            asked = conditions(replaced(plain, probability=chances.get(plain.cause, plain.prior)), ours[0], knowledge)
            status, found = judge(*asked, machine.scope, seen)
            grounded = evidence(plain.cause, found, supports=status == "confirmed")
            judged[plain.cause] = replaced(plain, status=status, evidence=(*grounded, *plain.evidence))
        after = [judged.get(h.cause, h) for h in hypotheses]
        chances = _chances([h for h in after if h.cause in knowledge.competing], none, numbers)
    if all(h.status == "suspected" for h in after):
        return list(hypotheses)
    after = [replaced(h, probability=chances.get(h.cause, h.probability)) for h in after]
    return sorted(after, key=lambda h: _ORDER.index(h.status))


def evidence(cause: str, found: Iterable[Ground], *, supports: bool) -> tuple[Evidence, ...]:
    """Grounds as evidence for or against a cause."""
    return tuple(
        Evidence(cause, "certain", supports, "probe", g.condition, g.why, origin="local", facts=g.facts) for g in found
    )


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


def _chances(hypotheses: Sequence[Hypothesis], none: float, numbers: Mapping[str, float]) -> dict[str, float]:
    """Probabilities in the light of what is settled: confirmed causes share at least ``confirmed`` of it in the log's
    proportions, refuted ones keep ``refuted`` of their odds."""
    odds = {h.cause: h.prior * (numbers["refuted"] if h.status == "refuted" else 1.0) for h in hypotheses}
    sure = {h.cause for h in hypotheses if h.status == "confirmed"}
    ours = sum(odds[cause] for cause in sure)
    rest = none + sum(value for cause, value in odds.items() if cause not in sure)
    share = max(numbers["confirmed"], ours / (ours + rest)) if sure else 0.0
    return {
        cause: share * value / ours if cause in sure else (1 - share) * value / rest
        for cause, value in odds.items()
        if value
    }
