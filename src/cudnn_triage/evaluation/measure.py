"""Running the tool over labelled logs: plain, perturbed, and with numbers fitted on the other folds only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..cleaning import clean
from ..engine import Triager, joined
from ..evidence import Case
from ..hunches import Hunches, words_of
from ..light import replaced
from ..reading import Log, read, read_text
from .fitting import Drawn, fit, folds
from .labelled import Labelled
from .learning import CannotLearn, learn
from .metrics import Answer, answer, off_field_cause

Change = Callable[[str], str]


def examine(triager: Triager, labelled: Sequence[Labelled], change: Change | None = None) -> list[tuple[Log, Case]]:
    """What each log says, before ranking; ``change`` is done to its text first."""
    out: list[tuple[Log, Case]] = []
    for item in labelled:
        log = joined(read(item.log, item.id), item.id)
        if change:
            log = read_text(change(log.text), item.id)
        out.append((log, triager.examine(clean(log))))
    return out


def harmless_causes(triager: Triager) -> frozenset[str]:
    """Causes whose right answer is 'no diagnosis': the harmless ones and 'not about the GPU'."""
    return frozenset(triager.knowledge.causes) - triager.knowledge.in_field


def answers(
    triager: Triager,
    labelled: Sequence[Labelled],
    examined: Sequence[tuple[Log, Case]],
    weights: Mapping[str, float] | None = None,
) -> list[Answer]:
    """The tool's answers, with its own numbers or these."""
    off = off_field_cause(triager.knowledge)
    return [
        answer(item, triager.report(log, case, weights=weights), off)
        for item, (log, case) in zip(labelled, examined, strict=True)
    ]


@dataclass(frozen=True)
class Fitted:
    """What was fitted without one fold: the numbers of ranking, and the model of words where one could be learned."""

    numbers: dict[str, float]
    hunches: Hunches | None


def fold_numbers(triager: Triager, labelled: Sequence[Labelled], examined: Sequence[tuple[Log, Case]]) -> list[Fitted]:
    """For each fold, what is fitted on all other folds; without scikit-learn nothing is learned of words."""
    knowledge, harmless = triager.knowledge, harmless_causes(triager)
    drawn = [Drawn(item, case.evidence) for item, (_, case) in zip(labelled, examined, strict=True)]
    words = [words_of(case, knowledge) for _, case in examined]
    out = []
    for fold in folds(labelled):
        held = set(fold)
        others = [i for i in range(len(labelled)) if i not in held]
        hunches = None
        with suppress(CannotLearn):
            model = learn([words[i] for i in others], [labelled[i] for i in others], knowledge)
            hunches = Hunches(model, model["words"], knowledge)
        out.append(Fitted(fit([drawn[i] for i in others], knowledge.competing, harmless), hunches))
    return out


def cross_validated(
    triager: Triager,
    labelled: Sequence[Labelled],
    examined: Sequence[tuple[Log, Case]],
    fitted: Sequence[Fitted],
) -> list[Answer]:
    """Answers in which every log is judged with what was fitted without its fold."""
    out: dict[int, Answer] = {}
    for fold, without in zip(folds(labelled), fitted, strict=True):
        held = [
            (log, replaced(case, hunches=without.hunches.of(case) if without.hunches else ()))
            for log, case in (examined[i] for i in fold)
        ]
        found = answers(triager, [labelled[i] for i in fold], held, without.numbers)
        out.update(zip(fold, found, strict=True))
    return [out[i] for i in range(len(labelled))]
