"""The figures: strict@1, fair@1, gold@3, false alarms, calibration, confusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..knowledge.base import Knowledge
from ..report import Report
from .labelled import Labelled

BINS = 10
ALARM = 0.5  # confidence from which a wrong diagnosis on a harmless log counts as a false alarm


@dataclass(frozen=True)
class Answer:
    """What the tool said of one labelled log."""

    case: Labelled
    ranked: tuple[str, ...]
    confidence: float | None  # of the first diagnosis; None where it gave none
    behind: tuple[float, ...] = ()  # confidence of the diagnoses that follow the first in ``ranked``

    @property
    def first(self) -> str:
        """The cause put first, or 'nothing'."""
        return self.ranked[0] if self.ranked else "nothing"

    @property
    def strict(self) -> bool:
        """Whether the first cause is a gold one; where nothing is wrong, whether nothing was diagnosed."""
        return self.first in self.case.gold if self.case.gold else self.confidence is None

    @property
    def fair(self) -> bool:
        """Whether the first cause is a gold or acceptable one."""
        return self.strict or self.first in self.case.acceptable

    @property
    def gold3(self) -> bool:
        """Whether a gold cause is among the first three."""
        return any(cause in self.case.gold for cause in self.ranked[:3]) if self.case.gold else self.strict


def answer(case: Labelled, report: Report, off_field: str) -> Answer:
    """Read a report as an answer: its diagnoses, then the harmless causes; 'no GPU cause' where nothing else is said."""
    diagnosed = [d.cause for d in report.diagnoses]
    harmless = list(dict.fromkeys(item.cause for item in report.benign))
    ranked = [*diagnosed, off_field, *harmless] if report.verdict == "unrelated" else [*diagnosed, *harmless]
    confidence = report.diagnoses[0].confidence if report.diagnoses else None
    return Answer(case, tuple(dict.fromkeys(ranked)), confidence, tuple(d.confidence for d in report.diagnoses[1:]))


def off_field_cause(knowledge: Knowledge) -> str:
    """The id of the cause that stands for 'this is not about the GPU'."""
    return min(knowledge.off_field)


@dataclass(frozen=True)
class Figures:
    """The measures over a set of answers."""

    count: int
    strict1: float
    fair1: float
    gold3: float
    ece: float
    harmless: int
    alarms: tuple[Answer, ...]
    reliability: tuple[tuple[float, float, int], ...]  # mean confidence, share right, number; by bin of confidence
    behind: tuple[tuple[float, float, int], ...]  # the same of the diagnoses behind the first; right: a gold cause


def figures(answers: Sequence[Answer], knowledge: Knowledge) -> Figures:
    """Compute all measures. 'Right' for calibration is fair: the first diagnosis is a gold or acceptable cause.

    Of the diagnoses behind it only a gold cause is right.
    """
    count = len(answers) or 1
    healthy = [a for a in answers if all(harmless(cause, knowledge) for cause in a.case.gold)]
    alarms = tuple(a for a in healthy if not a.fair and a.confidence is not None and a.confidence >= ALARM)
    given = [(a.confidence, a.fair) for a in answers if a.confidence is not None]
    lesser = [
        (said, cause in a.case.gold) for a in answers for said, cause in zip(a.behind, a.ranked[1:], strict=False)
    ]
    return Figures(
        len(answers),
        sum(a.strict for a in answers) / count,
        sum(a.fair for a in answers) / count,
        sum(a.gold3 for a in answers) / count,
        calibration_error(given),
        len(healthy),
        alarms,
        tuple(reliability(given)),
        tuple(reliability(lesser)),
    )


def harmless(cause: str, knowledge: Knowledge) -> bool:
    """Whether a label's cause means that nothing of this field is wrong."""
    rule = knowledge.causes.get(cause)
    return rule is not None and rule["family"] == "benign"


def reliability(given: Iterable[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Mean confidence, share right and number of answers, for each tenth of confidence that has any."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in given:
        bins.setdefault(min(int(confidence * BINS), BINS - 1), []).append((confidence, right))
    return [(sum(c for c, _ in b) / len(b), sum(r for _, r in b) / len(b), len(b)) for _, b in sorted(bins.items())]


def calibration_error(given: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over ten equal bins: mean distance between confidence and share right."""
    return sum(abs(c - r) * n for c, r, n in reliability(given)) / max(len(given), 1)


def confusion(answers: Iterable[Answer]) -> list[tuple[str, str, int]]:
    """(gold, said, how often) of the unfair answers, most frequent first."""
    return [
        (gold, said, n)
        for (gold, said), n in Counter(
            (a.case.gold[0] if a.case.gold else "nothing", a.first) for a in answers if not a.fair
        ).most_common()
    ]
