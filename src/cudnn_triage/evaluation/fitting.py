"""Fitting the few numbers behind the strength words, and judging confidence with numbers fitted on other logs only."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evidence import STRENGTHS, Evidence
from ..ranking import DEFAULTS, rank
from .labelled import Labelled

FOLDS = 5
_STANDINGS = ("failing", "plain", "notice")  # those of evidence whose factors are fitted
_SEED = 20261120  # of the folds and the sample, so that each run gives the same figures
_PULL = 0.05  # how strongly numbers stay near the written defaults; keeps those that few logs speak of where they were
_SET = frozenset(
    {"earlier", "fuzzy", "general", "hunch", "lean", "trace", "lead", "confirmed", "refuted", "doubt"}
)  # numbers that stay as ranking.py gives them
# temperature below which a step between strength words would be a certainty: odds of 100 to 1 and more
_SHARPEST = 0.3
_BLIND = 20  # blind diagnoses below which they say nothing about confidence
# blind diagnoses that are enough: the newest tell best how often today's rules are right. Of a hundred the share is known to no
# better than 0.02, and one day's sample (of 2026-12-01: odd programs and injected faults, 0.937 of 269) sways all confidence
_NEWEST = 1000
_ACCEPTABLE = 0.5  # how much of a right answer an acceptable cause is
# logs that ten numbers are searched with: found with 2,000, 3,000 or all of 10,030, their loss on all was 0.187, 0.186, 0.186
_ENOUGH = 3000


@dataclass(frozen=True)
class Drawn:
    """A labelled log with the evidence drawn from it, which does not depend on the fitted numbers."""

    case: Labelled
    evidence: tuple[Evidence, ...]


def losses(
    drawn: Sequence[Drawn], weights: Mapping[str, float], competing: frozenset[str], harmless: frozenset[str]
) -> list[float]:
    """Of each log the negative log-probability of the right answer: its gold causes, its acceptable ones in part."""
    found = []
    for item in drawn:
        hypotheses, none = rank(item.evidence, competing, weights)
        by_cause = {h.cause: h.probability for h in hypotheses if h.cause in competing}
        right = sum(by_cause.get(c, 0.0) for c in item.case.gold)
        right += _ACCEPTABLE * sum(by_cause.get(c, 0.0) for c in item.case.acceptable)
        if not item.case.gold or any(c in harmless for c in item.case.gold + item.case.acceptable):
            right += none
        found.append(-math.log(max(right, 1e-4)))
    return found


def loss(each: Sequence[float], weights: Mapping[str, float]) -> float:
    """What fitting makes as small as it can: the mean of the logs' ``losses``, plus a light pull towards the written defaults
    so that numbers without data stay put."""
    pull = sum((math.log(max(weights[k], 1e-3)) - math.log(max(DEFAULTS[k], 1e-3))) ** 2 for k in DEFAULTS)
    return sum(each) / max(len(each), 1) + _PULL * pull


def _told_by(name: str, drawn: Sequence[Drawn]) -> list[int]:
    """The logs whose probabilities a number has a part in: of a strength or a standing, those with such evidence."""
    if name in STRENGTHS:
        return [i for i, item in enumerate(drawn) if any(e.strength == name for e in item.evidence)]
    if name in _STANDINGS:
        return [i for i, item in enumerate(drawn) if any(e.occurrence and e.standing == name for e in item.evidence)]
    return list(range(len(drawn)))


def fit(drawn: Sequence[Drawn], competing: frozenset[str], harmless: frozenset[str]) -> dict[str, float]:
    """The numbers that make the labels likeliest: coordinate search in log space from the defaults; deterministic.

    Of very many logs a fixed sample is searched with; the temperature is told by all.
    """
    weights = dict(DEFAULTS)
    sample = random.Random(_SEED).sample(drawn, min(_ENOUGH, len(drawn)))
    each = losses(sample, weights, competing, harmless)
    best = loss(each, weights)
    fitted = {name: _told_by(name, sample) for name in DEFAULTS if name not in _SET}
    step = 0.4
    while step > 0.04:
        improved = False
        for name, told in fitted.items():
            for factor in (math.exp(step), math.exp(-step)):
                trial = {**weights, name: weights[name] * factor}
                if not _sane(trial):
                    continue
                changed = each.copy()
                for i, value in zip(told, losses([sample[i] for i in told], trial, competing, harmless), strict=True):
                    changed[i] = value
                if (total := loss(changed, trial)) < best - 1e-5:
                    best, weights, each, improved = total, trial, changed, True
        if not improved:
            step /= 2
    weights["temperature"] = temperature(drawn, weights, competing, harmless)
    return {name: round(value, 3) for name, value in weights.items()}


def temperature(
    drawn: Sequence[Drawn], weights: Mapping[str, float], competing: frozenset[str], harmless: frozenset[str]
) -> float:
    """The temperature at which mean confidence equals the share of the newest first, blind answers that were right.

    Rules are repaired after a log's blind answer, so today's answers on it are better than on a log nobody has seen; and
    answers given long ago were those of worse rules. Without at least twenty blind diagnoses the fitted temperature stays.
    """
    seen = [(d, blind) for d in drawn if (blind := d.case.blind) and blind.said[0] in competing - harmless]
    if len(seen) < _BLIND:
        return weights["temperature"]
    since = sorted(blind.date for _, blind in seen)[-min(_NEWEST, len(seen))]
    seen = [(d, blind) for d, blind in seen if blind.date >= since]
    target = sum(blind.said[0] in d.case.gold + d.case.acceptable for d, blind in seen) / len(seen)

    def confidence(value: float) -> float:
        chances = [rank(d.evidence, competing, {**weights, "temperature": value})[0] for d, _ in seen]
        best = [max((h.probability for h in found if h.cause in competing), default=0.0) for found in chances]
        given = [chance for chance in best if chance > 0]
        return sum(given) / max(len(given), 1)

    low, high = _SHARPEST, 10.0
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if confidence(middle) > target else (low, middle)
    return math.sqrt(low * high)


def _sane(weights: Mapping[str, float]) -> bool:
    values = [weights[name] for name in reversed(STRENGTHS)]
    return (
        values == sorted(values)
        and weights["again"] <= 1
        and weights["notice"] <= weights["plain"] <= 1.5
        and weights["failing"] <= 1.5
    )


def folds(cases: Sequence[Labelled], count: int = FOLDS) -> list[list[int]]:
    """Indexes of ``count`` folds: shuffled once with a fixed seed, then dealt."""
    order = list(range(len(cases)))
    random.Random(_SEED).shuffle(order)
    return [sorted(order[i::count]) for i in range(count)]
