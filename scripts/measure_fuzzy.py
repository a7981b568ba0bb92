"""Measures the rejection threshold of fuzzy matching: damaged messages found against near-misses and harmless logs matched.

    python scripts/measure_fuzzy.py [corpus]

For each threshold: the share of rule examples that are still recognised with two in a hundred letters wrong (counting only
damaged examples that no exact match finds), the near-misses of rules that are taken for their own rule, and the false
matches per thousand lines of the healthy and unrelated logs.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from cudnn_triage import fuzzy
from cudnn_triage.cleaning import clean
from cudnn_triage.grammar import parse
from cudnn_triage.knowledge import compiling, rulebook
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.lines import Line
from cudnn_triage.matching import Matcher, Stream
from cudnn_triage.reading import read

ROOT = Path(__file__).resolve().parents[1]
THRESHOLDS = (78.0, 82.0, 84.0, 86.0, 88.0, 90.0, 93.0)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def damaged(text: str, seed: int, share: float = 0.02) -> str:
    """``text`` with this share of its visible characters replaced."""
    chance = random.Random(seed)
    return "".join(chance.choice(LETTERS) if not c.isspace() and chance.random() < share else c for c in text)


def main() -> None:
    """Print the table."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "corpus"
    book = rulebook.read([ROOT / "rules"])
    knowledge = Knowledge(compiling.compile_rulebook(book))
    exact, likeness = Matcher(knowledge), fuzzy.FuzzyMatcher(knowledge)
    fuzzy._THRESHOLD = min(THRESHOLDS)

    def matches(lines: list[Line]) -> tuple[set[str], dict[str, float]]:
        structure, stream = parse(lines), Stream(lines, knowledge.field_marks)
        found = exact.find(stream, structure)
        return {o.rule for o in found}, {o.rule: o.score for o in likeness.find(stream, structure, found)}

    def of_text(text: str) -> tuple[set[str], dict[str, float]]:
        return matches([Line(row, number, 0, 0) for number, row in enumerate(text.splitlines(), 1)])

    recalled: list[float] = []
    mistaken: list[float] = []
    for signature in book.signatures.values():
        if not signature.points_to:
            continue
        for number, example in enumerate(signature.examples):
            hard, soft = of_text(damaged(example, number))
            if signature.id not in hard:
                recalled.append(soft.get(signature.id, 0.0))
        mistaken += (of_text(miss)[1].get(signature.id, 0.0) for miss in signature.near_misses)
    false: list[float] = []
    count = 0
    for group in ("healthy", "unrelated"):
        for path in sorted((corpus / group).glob("*.log")):
            lines = clean(read(path.read_bytes(), path.name)[0])
            count += len(lines)
            false += matches(lines)[1].values()
    print(
        f"{len(recalled)} damaged examples, {len(mistaken)} near-misses, {count} lines of harmless and unrelated logs"
    )
    print("threshold  damaged found  near-misses taken  matches per 1000 harmless lines")
    for threshold in THRESHOLDS:
        found = sum(score >= threshold for score in recalled) / len(recalled)
        taken = sum(score >= threshold for score in mistaken)
        rate = 1000 * sum(score >= threshold for score in false) / max(count, 1)
        print(f"{threshold:9.0f}  {found:13.3f}  {taken:17}  {rate:31.2f}")


if __name__ == "__main__":
    main()
