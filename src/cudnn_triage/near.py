"""Names that are spelt nearly like what somebody typed, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 70  # of 100; below it a suggestion is a guess
_SHORT = 90.0  # for a name of which some words were left out


def near(asked: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names most like ``asked``, best first. Case and words before the name do not matter ('NVIDIA GeForce RTX 5909'), nor
    words that were left out ('4090')."""
    from rapidfuzz import fuzz

    wanted = asked.strip().casefold()
    words = wanted.split()
    named = set(words)

    def likeness(name: str) -> float:
        folded = name.casefold()
        mine = folded.split()
        end = " ".join(words[-len(mine) :])
        short = _SHORT if words and named.issubset(mine) else 0.0
        whole = fuzz.ratio(wanted, folded, score_cutoff=_ALIKE)  # what is much longer is not compared
        return max(whole, 0.95 * fuzz.ratio(end, folded, score_cutoff=_ALIKE), short)

    found = [(-likeness(name), place, name) for place, name in enumerate(dict.fromkeys(names))]
    return [name for likeness, _, name in sorted(found)[:most] if -likeness >= _ALIKE]


def nearest(asked: str, names: Iterable[str], most: int = 3) -> str:
    """'; nearest: a, b' for the end of an error message; empty where no name is near."""
    found = near(asked, names, most)
    return f"; nearest: {', '.join(found)}" if found else ""
