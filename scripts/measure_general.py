"""How well unknown wordings are understood: each labelled log is triaged without the signatures that point to its cause.

What is then still found, by status codes, by other messages of the log and by the general signatures (rules/signatures/general),
estimates the answers on messages that the knowledge base has never seen. Usage: python scripts/measure_general.py [DIR...] [--details]
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.labelled import Labelled, read_folder
from cudnn_triage.evaluation.measure import answers, examine
from cudnn_triage.knowledge.base import Knowledge, compile_folders

ROOT = Path(__file__).resolve().parents[1]
_LONGEST = 100_000  # bytes of a log; the long ones would take most of the time


def without(data: dict, rules: frozenset[str]) -> Knowledge:
    """The knowledge base without these rules."""
    return Knowledge({**data, "rules": [rule for rule in data["rules"] if rule["id"] not in rules]})


def main() -> None:
    """Print how many answers stay fair, by cause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "corpus"])
    parser.add_argument("--details", action="store_true", help="list the logs that are no longer understood")
    options = parser.parse_args()
    data = compile_folders([ROOT / "rules"])
    whole = Triager(Knowledge(data))
    by_rules: dict[frozenset[str], list[Labelled]] = {}
    for item in (item for folder in options.folders for item in read_folder(folder)):
        if not item.gold or item.gold[0] in whole.knowledge.off_field or len(item.log) > _LONGEST:
            continue
        ((log, case),) = examine(whole, [item])
        if not answers(whole, [item], [(log, case)])[0].fair:
            continue
        wanted = {*item.gold, *item.acceptable}
        knowing = frozenset(
            o.rule
            for o in case.occurrences
            if not whole.knowledge.by_id[o.rule]["code"]
            and any(p["supports"] and p["cause"] in wanted for p in whole.knowledge.by_id[o.rule]["points_to"])
        )
        if knowing:
            by_rules.setdefault(knowing, []).append(item)
    total: Counter[str] = Counter()
    fair: Counter[str] = Counter()
    lost: list[str] = []
    for rules, items in by_rules.items():
        triager = Triager(without(data, rules))
        for item, found in zip(items, answers(triager, items, examine(triager, items)), strict=True):
            total[item.gold[0]] += 1
            fair[item.gold[0]] += found.fair
            if not found.fair:
                lost.append(f"  {item.id}: {item.gold[0]}; said {', '.join(found.ranked[:2]) or 'nothing'}")
    print(f"{sum(fair.values())} of {sum(total.values())} logs ({sum(fair.values()) / sum(total.values()):.0%})")
    for cause, count in total.most_common():
        print(f"  {fair[cause]:3} of {count:3}  {cause}")
    if options.details:
        print("\n".join(lost))


if __name__ == "__main__":
    main()
