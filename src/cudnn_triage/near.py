"""Names that are spelt nearly like what somebody typed, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 70  # of 100; below it a suggestion is a guess


def near(asked: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names most like ``asked``, best first; case and words before the name do not matter ('NVIDIA GeForce RTX 5909')."""
    from rapidfuzz import fuzz, process

    def alike(one: str, other: str, *, score_cutoff: float = 0) -> float:
        end = " ".join(one.split()[-len(other.split()) :])
        return max(fuzz.ratio(one, other), 0.95 * fuzz.ratio(end, other))

    folded = {name.casefold(): name for name in names}
    found = process.extract(asked.strip().casefold(), folded.keys(), scorer=alike, limit=most, score_cutoff=_ALIKE)
    return [folded[name] for name, _, _ in found]


def nearest(asked: str, names: Iterable[str], most: int = 3) -> str:
    """'; nearest: a, b' for the end of an error message; empty where no name is near."""
    found = near(asked, names, most)
    return f"; nearest: {', '.join(found)}" if found else ""
