"""The text of ``cudnn-triage eval``: figures of our answers, the perturbed ones and the look-alikes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from ..engine import Triager
from ..hunches import words_of
from ..knowledge.base import Knowledge
from ..knowledge.yamlfile import Problem
from ..near import nearest
from .baseline import BaselineUnavailable, baselines
from .fitting import Drawn, fit
from .labelled import Labelled, read_folder
from .learning import as_rules, learn
from .measure import answers, cross_validated, examine, fold_numbers, harmless_causes
from .metrics import Answer, Figures, confusion, figures
from .perturb import PERTURBATIONS


def evaluate(
    folders: Sequence[Path],
    triager: Triager,
    out: IO[str],
    *,
    perturb: bool,
    baseline: bool,
    details: bool,
    record: dict[str, Any] | None = None,
) -> tuple[Figures, dict[str, Figures]]:
    """Print all figures for the labelled logs of these folders; returns the cross-validated ones, plain and by perturbation.

    ``record`` is filled with the same figures as plain data, for the plots.
    """
    knowledge = triager.knowledge
    labelled = _read(folders, knowledge)
    examined = examine(triager, labelled)
    by_fold = fold_numbers(triager, labelled, examined)
    held_out = cross_validated(triager, labelled, examined, by_fold)
    plain = figures(held_out, knowledge)
    shipped = figures(answers(triager, labelled, examined), knowledge)
    print(f"{len(labelled)} logs; numbers and hunches fitted on the other four of five folds", file=out)
    if not any(one.hunches for one in by_fold):
        print("without hunches: learning them needs scikit-learn and more logs", file=out)
    print(f"{'':22}strict@1  fair@1  gold@3     ECE  false alarms", file=out)
    first_answers = recorded(labelled, "blind", knowledge.in_field)
    experts = recorded(labelled, "expert", knowledge.in_field)
    rows: dict[str, Figures] = {}
    perturbed: dict[str, Figures] = {}
    if first_answers:
        rows["first answers (blind)"] = figures(first_answers, knowledge)
    if experts:
        rows["... where experts read"] = figures([a for a in first_answers if a.case.expert], knowledge)
        rows["... these experts"] = figures(experts, knowledge)
    rows["cross-validated"] = plain
    rows["with shipped numbers"] = shipped
    for name, found in rows.items():
        _row(name, found, out)
    if perturb:
        for name, change in PERTURBATIONS.items():
            changed = examine(triager, labelled, change)
            perturbed[name] = figures(cross_validated(triager, labelled, changed, by_fold), knowledge)
            _row(name, perturbed[name], out, plain)
    if baseline:
        try:
            for name, guesses in baselines(labelled).items():
                rows[name] = figures(guesses, knowledge)
                _row(name, rows[name], out)
        except BaselineUnavailable as error:
            print(error, file=out)
    print("\nreliability (confidence of the first diagnosis, cross-validated)\n  said  right  logs", file=out)
    _bins(plain.reliability, out)
    print("\nthe causes behind the first (confidence; right: a gold cause)\n  said  right  causes", file=out)
    _bins(plain.behind, out)
    if details:
        _details(held_out, plain, out)
    if record is not None:
        record.update(
            {
                "knowledge": knowledge.digest,
                "rows": {name: _data(found) for name, found in rows.items()},
                "perturbed": {name: _data(found) for name, found in perturbed.items()},
                "said": _said(held_out),
                "years": {"today": _years(held_out), "first": _years(first_answers)},
            }
        )
    return plain, perturbed


def _bins(found: Iterable[tuple[float, float, int]], out: IO[str]) -> None:
    for said, right, count in found:
        print(f"  {said:.2f}   {right:.2f}  {count:4}", file=out)


def _data(found: Figures) -> dict[str, Any]:
    return {
        "logs": found.count,
        "strict1": found.strict1,
        "fair1": found.fair1,
        "gold3": found.gold3,
        "ece": found.ece,
        "harmless": found.harmless,
        "alarms": len(found.alarms),
        "reliability": [{"said": said, "right": right, "logs": logs} for said, right, logs in found.reliability],
    }


def _said(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """How often which cause was said of logs with which gold cause: of several the one said, else the first."""
    pairs: Counter[tuple[str, str]] = Counter()
    fair: Counter[tuple[str, str]] = Counter()
    for a in answers:
        gold = (*a.case.gold, "nothing")[0]
        pair = (gold, a.first) if not a.strict else (a.first, a.first) if a.case.gold else ("nothing", "nothing")
        pairs[pair] += 1
        fair[pair] += a.fair
    return [
        {"gold": gold, "said": said, "logs": n, "fair": fair[gold, said]} for (gold, said), n in pairs.most_common()
    ]


def _years(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Accuracy by the year that the logs show; logs without a date are left out."""
    by_year: dict[int, list[Answer]] = {}
    for a in answers:
        if a.case.year:
            by_year.setdefault(a.case.year, []).append(a)
    return [
        {
            "year": year,
            "logs": len(found),
            "strict1": sum(a.strict for a in found) / len(found),
            "fair1": sum(a.fair for a in found) / len(found),
        }
        for year, found in sorted(by_year.items())
    ]


def recorded(labelled: Sequence[Labelled], by: Literal["blind", "expert"], diagnoses: frozenset[str]) -> list[Answer]:
    """The answers that labels keep: those that the tool gave before any rule was changed for a log, or those of experts.

    Until 2026-11-29 only the first cause was kept of the tool's, so that gold@3 of those is strict@1. ``diagnoses`` are the
    causes that count as a diagnosis, and not as 'harmless' or 'not about the GPU'.
    """
    return [
        Answer(
            item, () if kept.said == ("nothing",) else kept.said, kept.confidence if kept.said[0] in diagnoses else None
        )
        for item in labelled
        if (kept := getattr(item, by))
    ]


def _row(name: str, found: Figures, out: IO[str], base: Figures | None = None) -> None:
    drop = f"  ({found.fair1 - base.fair1:+.3f})" if base else ""
    alarms = f"{len(found.alarms)} of {found.harmless}"
    print(
        f"{name:22}{found.strict1:8.3f}{found.fair1:8.3f}{found.gold3:8.3f}{found.ece:8.3f}  {alarms}{drop}", file=out
    )


def _details(held_out: Sequence[Answer], plain: Figures, out: IO[str]) -> None:
    print("\nconfusion (gold -> said)", file=out)
    for gold, said, count in confusion(held_out):
        print(f"  {count:3}  {gold} -> {said}", file=out)
    print("\nnot fair, or gold not among three", file=out)
    for a in held_out:
        if not a.fair or not a.gold3:
            chance = "" if a.confidence is None else f" {a.confidence:.2f}"
            print(
                f"  {a.case.id}: gold {'/'.join(a.case.gold)}; said {', '.join(a.ranked[:3]) or 'nothing'}{chance}",
                file=out,
            )
    for a in plain.alarms:
        print(f"  false alarm: {a.case.id}: {a.first} {a.confidence:.2f}", file=out)


def _read(folders: Sequence[Path], knowledge: Knowledge) -> list[Labelled]:
    """The labelled logs of these folders. Raises Problem where a label names a cause that no rule knows."""
    labelled = []
    for folder in folders:
        for item in read_folder(folder):
            for cause in (*item.gold, *item.acceptable):
                if cause not in knowledge.causes:
                    message = f"no cause {cause!r} in rules/causes{nearest(cause, knowledge.causes)}"
                    raise Problem(str(folder / f"{item.id}.yaml"), 0, "", message)
            labelled.append(item)
    return labelled


def fitted(folders: Sequence[Path], triager: Triager) -> dict[str, float]:
    """The numbers fitted on all labelled logs of these folders, for rules/weights.yaml."""
    labelled = _read(folders, triager.knowledge)
    examined = examine(triager, labelled)
    drawn = [Drawn(item, case.evidence) for item, (_, case) in zip(labelled, examined, strict=True)]
    return fit(drawn, triager.knowledge.competing, harmless_causes(triager))


def learned(folders: Sequence[Path], triager: Triager, day: str) -> str:
    """The text of rules/hunches.yaml, learned from all labelled logs of these folders.

    Raises CannotLearn.
    """
    labelled = _read(folders, triager.knowledge)
    words = [words_of(case, triager.knowledge) for _, case in examine(triager, labelled)]
    return as_rules(learn(words, labelled, triager.knowledge), len(labelled), day)
