"""How well unknown wordings are understood: each labelled log is triaged without the signatures that point to its cause.

What is then still found, by status codes, by other messages of the log and by the general signatures (rules/signatures/general),
estimates the answers on messages that the knowledge base has never seen. Of the answers that rest on general signatures alone it also
tells how sure they were and how often they were right. Usage: python scripts/measure_general.py [DIR...] [--details]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.labelled import read_folder
from cudnn_triage.evaluation.measure import answers, examine
from cudnn_triage.evaluation.metrics import calibration_error, reliability
from cudnn_triage.evidence import Case
from cudnn_triage.knowledge.base import Knowledge, compile_folders
from cudnn_triage.matching import Occurrence

ROOT = Path(__file__).resolve().parents[1]
_LONGEST = 100_000  # bytes of a log; the long ones would take most of the time


def without(find: Callable[..., list[Occurrence]], rules: set[str]) -> Callable[..., list[Occurrence]]:
    """A matcher's method that does not hear of some rules: as if they were not there, and nothing is compiled anew."""
    return lambda *what: [found for found in find(*what) if found.rule not in rules]


def knowing_rules(case: Case, causes: set[str], knowledge: Knowledge) -> set[str]:
    """The signatures of a case that point to one of these causes; status codes are not taken out."""
    rules = {o.rule: knowledge.by_id[o.rule] for o in case.occurrences}
    return {
        name
        for name, rule in rules.items()
        if not rule["code"] and any(p["supports"] and p["cause"] in causes for p in rule["points_to"])
    }


def only_general(case: Case, cause: str) -> bool:
    """Whether all that speaks for a cause was read by general signatures."""
    spoken = [item for item in case.evidence if item.cause == cause and item.supports]
    return bool(spoken) and all(item.occurrence is not None and item.occurrence.general for item in spoken)


def print_calibration(given: list[tuple[float, bool]]) -> None:
    """Print how sure answers were and how often they were right, all together and by tenths of confidence."""
    if not given:
        return
    sure, right = sum(c for c, _ in given) / len(given), sum(r for _, r in given) / len(given)
    print(f"{len(given)} answers rest on general signatures alone: mean confidence {sure:.2f}, right {right:.2f}")
    for confidence, share, count in reliability(given):
        print(f"  {count:4} at {confidence:.2f}: right {share:.2f}")
    print(f"  calibration error {calibration_error(given):.3f}")


def main() -> None:
    """Print how many answers stay fair, by cause, and how well those given in general terms know what they know."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "corpus"])
    parser.add_argument("--details", action="store_true", help="list the logs that are no longer understood")
    options = parser.parse_args()
    whole = Triager(Knowledge(compile_folders([ROOT / "rules"])))
    unheard: set[str] = set()
    deaf = Triager(whole.knowledge)
    for matcher, method in ((deaf._matcher, "find"), (deaf._fuzzy, "find"), (deaf._general, "read")):
        setattr(matcher, method, without(getattr(matcher, method), unheard))
    total: Counter[str] = Counter()
    fair: Counter[str] = Counter()
    lost: list[str] = []
    given: list[tuple[float, bool]] = []  # confidence, and whether it was right
    for item in (item for folder in options.folders for item in read_folder(folder)):
        if not item.gold or item.gold[0] in whole.knowledge.off_field or len(item.log) > _LONGEST:
            continue
        ((log, case),) = examine(whole, [item])
        knowing = knowing_rules(case, {*item.gold, *item.acceptable}, whole.knowledge)
        if not knowing or not answers(whole, [item], [(log, case)])[0].fair:
            continue
        unheard.clear()
        unheard.update(knowing)
        examined = examine(deaf, [item])
        (found,) = answers(deaf, [item], examined)
        if found.confidence is not None and only_general(examined[0][1], found.first):
            given.append((found.confidence, found.fair))
        total[item.gold[0]] += 1
        fair[item.gold[0]] += found.fair
        if not found.fair:
            lost.append(f"  {item.id}: {item.gold[0]}; said {', '.join(found.ranked[:2]) or 'nothing'}")
    print(f"{sum(fair.values())} of {sum(total.values())} logs ({sum(fair.values()) / sum(total.values()):.0%})")
    for cause, count in total.most_common():
        print(f"  {fair[cause]:3} of {count:3}  {cause}")
    print_calibration(given)
    if options.details:
        print("\n".join(lost))


if __name__ == "__main__":
    main()
