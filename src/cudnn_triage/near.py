"""Names that are spelt nearly like what somebody typed, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 70  # of 100; below it a suggestion is a guess


def near(asked: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names most like ``asked``, best first; case and words before the name do not matter ('NVIDIA GeForce RTX 5909')."""
    from rapidfuzz import fuzz

    wanted = asked.strip().casefold()
    words = wanted.split()

    def likeness(name: str) -> float:
        folded = name.casefold()
        end = " ".join(words[-len(folded.split()) :])
        return max(fuzz.ratio(wanted, folded), 0.95 * fuzz.ratio(end, folded))

    found = [(-likeness(name), place, name) for place, name in enumerate(dict.fromkeys(names))]
    return [name for likeness, _, name in sorted(found)[:most] if -likeness >= _ALIKE]


def nearest(asked: str, names: Iterable[str], most: int = 3) -> str:
    """'; nearest: a, b' for the end of an error message; empty where no name is near."""
    found = near(asked, names, most)
    return f"; nearest: {', '.join(found)}" if found else ""
