#!/usr/bin/env python3
"""Draw the plots of docs/evaluation.md from the figures that ``cudnn-triage eval --json docs/plots/figures.json`` wrote.

    python scripts/draw_plots.py [FIGURES [FOLDER]]

Each plot is written twice, for light and for dark pages (NAME.svg, NAME-dark.svg); scripts/site_pages.py shows the right one.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cudnn_triage.knowledge.base import load

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "plots"
FIRST, TODAY = "first answers (blind)", "cross-validated"
ORANGE, BLUE = "#e08214", "#3a8fb7"  # told apart by people who see colours differently, on white and on dark grey
INK = {"": "#333333", "-dark": "#d0d0d0"}
MOST_PAIRS = 12

Data = dict[str, Any]


def reliability(data: Data, ink: str) -> Figure:
    """How often an answer is right, by the confidence it was given with."""
    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=ink, linewidth=0.8, linestyle="--", label="said = right")
    for name, colour, label, above in (
        (FIRST, ORANGE, "first answers", -13),
        (TODAY, BLUE, "today, cross-validated", 9),
    ):
        row = data["rows"].get(name)
        if row:
            bins = [b for b in row["reliability"] if b["logs"] > 0]
            sizes = [10 * (1 + math.log2(b["logs"])) for b in bins]
            said, right = [b["said"] for b in bins], [b["right"] for b in bins]
            axes.plot(said, right, color=colour, linewidth=1, label=f"{label} (ECE {row['ece']:.3f})")
            axes.scatter(said, right, s=sizes, color=colour, alpha=0.85, zorder=3, clip_on=False)
            for b in bins:
                axes.annotate(str(b["logs"]), (b["said"], b["right"]), (0, above), textcoords="offset points", ha="center",
                              fontsize=7, color=colour)  # fmt: skip
    axes.set(
        xlim=(0, 1.02),
        ylim=(0, 1.09),
        xlabel="confidence of the first diagnosis",
        ylabel="share that is right (fair@1)",
    )
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    return figure


def confusion(data: Data, ink: str) -> Figure:
    """Which family of causes is taken for which, and the pairs of causes that are taken for one another most often."""
    causes = load().causes
    families = [*sorted({c["family"] for c in causes.values()} - {"benign"}), "benign"]
    names = [*families[:-1], "not about the GPU"]

    def place(cause: str) -> int:
        return families.index(causes[cause]["family"] if cause in causes else "benign")

    counts = [[0] * len(families) for _ in families]
    pairs: Counter[tuple[str, str]] = Counter()
    fair: Counter[tuple[str, str]] = Counter()
    for row in data["said"]:
        counts[place(row["gold"])][place(row["said"])] += row["logs"]
        if row["gold"] != row["said"]:
            pairs[row["gold"], row["said"]] += row["logs"]
            fair[row["gold"], row["said"]] += row["fair"]
    figure = Figure(figsize=(10.4, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    shares = [[n / max(sum(row), 1) for n in row] for row in counts]
    left.imshow(shares, cmap=mpl.colors.LinearSegmentedColormap.from_list("", ["#00000000", BLUE]), vmin=0, vmax=1)
    for y, row in enumerate(counts):
        for x, n in enumerate(row):
            if n:
                left.text(
                    x, y, str(n), ha="center", va="center", fontsize=8, color=ink, weight="bold" if x == y else None
                )
    left.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=8)
    left.set_yticks(range(len(names)), names, fontsize=8)
    left.set(xlabel="said", ylabel="gold cause of the log")
    left.set_title("families of causes, logs", fontsize=9)
    top = pairs.most_common(MOST_PAIRS)[::-1]
    labels = [f"{gold}\n→ {said}" for (gold, said), _ in top]
    right.barh(labels, [n for _, n in top], color=ORANGE, label="not acceptable")
    right.barh(labels, [fair[pair] for pair, _ in top], color=BLUE, label="acceptable to an expert")
    right.tick_params(axis="y", labelsize=7)
    right.set(xlabel="logs")
    right.set_title("another cause put first than the gold one", fontsize=9)
    right.legend(frameon=False, fontsize=8, loc="lower right")
    right.xaxis.get_major_locator().set_params(integer=True)
    return figure


def perturbation(data: Data, ink: str) -> Figure:
    """Accuracy when logs are changed on their way to us."""
    plain = data["rows"][TODAY]["fair1"]
    rows = sorted(data["perturbed"].items(), key=lambda item: item[1]["fair1"])
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    axes = figure.subplots()
    names = [name for name, _ in rows]
    found = [row["fair1"] for _, row in rows]
    axes.hlines(names, found, plain, color=BLUE, linewidth=1)
    axes.scatter(found, names, s=40, color=BLUE, zorder=3)
    axes.axvline(plain, color=ORANGE, linewidth=1.2, label=f"as they are: {plain:.3f}")
    for name, value in zip(names, found, strict=True):
        axes.annotate(f"{value:.3f} ({value - plain:+.3f})", (value, name), (-8, 0), textcoords="offset points", va="center",
                      ha="right", fontsize=8)  # fmt: skip
    axes.set(xlim=(min([*found, 0.9]) - 0.03, 1.0), xlabel="fair@1, cross-validated")
    axes.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def years(data: Data, ink: str) -> Figure:
    """Accuracy by the year that a log shows."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
    for key, colour, label in (("first", ORANGE, "first answers"), ("today", BLUE, "today, cross-validated")):
        rows = data["years"][key]
        upper.plot(
            [r["year"] for r in rows], [r["fair1"] for r in rows], color=colour, marker="o", linewidth=1, label=label
        )
    upper.set(ylim=(-0.03, 1.05), ylabel="fair@1")
    upper.legend(frameon=False, fontsize=8, loc="lower right")
    rows = data["years"]["today"]
    bars = lower.bar([r["year"] for r in rows], [r["logs"] for r in rows], color=BLUE, width=0.6)
    lower.bar_label(bars, fontsize=7, color=ink)
    dated = f"{sum(r['logs'] for r in rows)} of {data['rows'][TODAY]['logs']} logs"
    lower.set(ylabel="logs", xlabel=f"year of the time stamps in logs from public threads ({dated})")
    lower.set_xticks([r["year"] for r in rows])
    lower.margins(y=0.25)
    return figure


PLOTS: dict[str, Callable[[Data, str], Figure]] = {
    "reliability": reliability,
    "confusion": confusion,
    "perturbation": perturbation,
    "years": years,
}


def dress(axes: Axes, ink: str) -> None:
    """Leave out what carries nothing, and draw the rest in this colour."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=ink, length=2)
    for spine in axes.spines.values():
        spine.set_color(ink)


def main() -> int:
    """Draw all plots."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "figures.json"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    data = json.loads(source.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for variant, ink in INK.items():
        style: dict[Any, Any] = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), ink)
        with mpl.rc_context({**style, "svg.fonttype": "none", "svg.hashsalt": "cudnn-triage", "font.size": 9}):
            for name, draw in PLOTS.items():
                figure = draw(data, ink)
                for axes in figure.axes:
                    dress(axes, ink)
                figure.savefig(folder / f"{name}{variant}.svg", transparent=True, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
