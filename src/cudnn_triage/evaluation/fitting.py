"""Fitting the few numbers behind the strength words, and judging confidence with numbers fitted on other logs only."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evidence import Evidence
from ..ranking import DEFAULTS, rank
from .labelled import Labelled

FOLDS = 5
_ACCEPTABLE = 0.5  # how much of a right answer an acceptable cause is
_ORDERED = ("weak", "possible", "likely", "strong", "certain")


@dataclass(frozen=True)
class Drawn:
    """A labelled log with the evidence drawn from it, which does not depend on the fitted numbers."""

    case: Labelled
    evidence: tuple[Evidence, ...]


def loss(
    drawn: Sequence[Drawn], weights: Mapping[str, float], competing: frozenset[str], harmless: frozenset[str]
) -> float:
    """Mean negative log-probability of the right answer (its gold causes, its acceptable ones in part), plus a light
    pull towards the written defaults so that numbers without data stay put."""
    total = 0.0
    for item in drawn:
        hypotheses, none = rank(item.evidence, competing, weights)
        by_cause = {h.cause: h.probability for h in hypotheses if h.cause in competing}
        right = sum(by_cause.get(c, 0.0) for c in item.case.gold)
        right += _ACCEPTABLE * sum(by_cause.get(c, 0.0) for c in item.case.acceptable)
        if not item.case.gold or any(c in harmless for c in item.case.gold + item.case.acceptable):
            right += none
        total -= math.log(max(right, 1e-4))
    pull = sum((math.log(max(weights[k], 1e-3)) - math.log(max(DEFAULTS[k], 1e-3))) ** 2 for k in DEFAULTS)
    return total / max(len(drawn), 1) + 0.01 * pull


def fit(drawn: Sequence[Drawn], competing: frozenset[str], harmless: frozenset[str]) -> dict[str, float]:
    """The numbers that make the labels likeliest: coordinate search in log space from the defaults; deterministic."""
    weights = dict(DEFAULTS)
    best = loss(drawn, weights, competing, harmless)
    step = 0.4
    while step > 0.04:
        improved = False
        for name in DEFAULTS:
            for factor in (math.exp(step), math.exp(-step)):
                trial = {**weights, name: weights[name] * factor}
                if not _sane(trial):
                    continue
                value = loss(drawn, trial, competing, harmless)
                if value < best - 1e-5:
                    best, weights, improved = value, trial, True
        if not improved:
            step /= 2
    return {name: round(value, 3) for name, value in weights.items()}


def _sane(weights: Mapping[str, float]) -> bool:
    values = [weights[name] for name in _ORDERED]
    return (
        values == sorted(values)
        and weights["again"] <= 1
        and weights["notice"] <= weights["plain"] <= 1.5
        and weights["failing"] <= 1.5
    )


def folds(cases: Sequence[Labelled], count: int = FOLDS) -> list[list[int]]:
    """Indexes of ``count`` folds: shuffled once with a fixed seed, then dealt."""
    order = list(range(len(cases)))
    random.Random(20261120).shuffle(order)
    return [sorted(order[i::count]) for i in range(count)]
