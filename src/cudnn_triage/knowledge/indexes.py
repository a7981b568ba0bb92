"""Two indexes over the literal text of all templates, built when rules are compiled and read straight from the compiled file.

An automaton over thousands of literals takes longer to build than a log takes to read. So each literal is found by one run of
six bytes that few other literals have: the runs of a text are looked up in a table, and a run that is there is compared with
the literals that it may belong to. The other index gives, for each run of six letters, the templates that contain it: the votes
of fuzzy matching.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .store import Store

RUN = 6
"""Letters of a run."""

COMMON = 60
"""A run that stands in more templates than this tells nothing."""

LEAST = 16
"""Letters of prose, squeezed, below which likeness means nothing."""

Rows = Sequence[Iterable[int]]


def without_holes(template: str) -> str:
    """The text of a template, blanks for its holes."""
    return re.sub(r"\{[^}]*\}", " ", template)


def anchor_sections(anchors: Sequence[str]) -> dict[str, bytes]:
    """The index that finds the literals of templates; ``anchors`` names the literal of each template (empty: it is not looked for)."""
    templates: dict[bytes, list[int]] = {}
    for number, anchor in enumerate(anchors):
        if anchor:
            templates.setdefault(anchor.encode(), []).append(number)
    literals = list(templates)
    count = Counter(run for literal in literals for run in {*_runs(literal)})
    places: list[int] = []
    for literal in literals:
        rareness = [count[run] for run in _runs(literal)]
        places.append(rareness.index(min(rareness)) if rareness else -1)
    by_key: dict[bytes, list[int]] = {}
    for number, (literal, place) in enumerate(zip(literals, places, strict=True)):
        if place >= 0:
            by_key.setdefault(literal[place : place + RUN], []).append(number)
    return {
        "anchors": b"".join(literals),
        "anchors.at": sums(map(len, literals)),
        "anchors.key": array("i", places).tobytes(),
        "keys": b"".join(by_key),
        **listed("keys.anchors", list(by_key.values())),
        **listed("anchors.templates", list(templates.values())),
    }


class Anchors:
    """Finds the literals of templates in squeezed text."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._text = bytes(store.section("anchors"))
        self._at = store.ints("anchors.at")
        self._key = store.ints("anchors.key", "i")
        self._known: dict[bytes, list[tuple[int, bytes, int]]] = {}

    @cached_property
    def _keys(self) -> dict[bytes, int]:
        keys = bytes(self._store.section("keys"))
        return {keys[at : at + RUN]: number for number, at in enumerate(range(0, len(keys), RUN))}

    @cached_property
    def _by_key(self) -> Listed:
        return Listed(self._store, "keys.anchors")

    @cached_property
    def _templates(self) -> Listed:
        return Listed(self._store, "anchors.templates")

    @cached_property
    def _short(self) -> list[int]:
        return [number for number, place in enumerate(self._key) if place < 0]

    def literal(self, anchor: int) -> bytes:
        """The squeezed text of an anchor."""
        return self._text[self._at[anchor] : self._at[anchor + 1]]

    def templates(self, anchor: int) -> Sequence[int]:
        """The templates whose literal this is."""
        return self._templates[anchor]

    def _of(self, run: bytes) -> list[tuple[int, bytes, int]]:
        """(place of the run in it, literal, anchor) of each literal that is found by a run."""
        return [(self._key[anchor], self.literal(anchor), anchor) for anchor in self._by_key[self._keys[run]]]

    def find(self, text: bytes) -> list[tuple[int, int]]:
        """(start, anchor) of every literal in ``text``, by where it ends, the longer one first."""
        keys, known = self._keys, self._known
        hits: list[tuple[int, int, int]] = []
        for at in [at for at in range(len(text) - RUN + 1) if text[at : at + RUN] in keys]:
            run = text[at : at + RUN]
            literals = known.get(run)
            if literals is None:
                literals = known[run] = self._of(run)
            for place, literal, anchor in literals:
                start = at - place
                if start >= 0 and text.startswith(literal, start):
                    hits.append((start + len(literal), start, anchor))
        for anchor in self._short:
            literal = self.literal(anchor)
            start = text.find(literal)
            while start >= 0:
                hits.append((start + len(literal), start, anchor))
                start = text.find(literal, start + 1)
        hits.sort()
        return [(start, anchor) for _, start, anchor in hits]


def run_sections(parts: Mapping[int, Sequence[str]], templates: int) -> dict[str, bytes]:
    """The index that votes for templates; ``parts`` are the literal parts of each template that likeness may find."""
    found: dict[int, list[int]] = {}
    sizes = array("I", bytes(4 * templates))
    for number, texts in parts.items():
        sizes[number] = sum(max(len(text) - RUN + 1, 0) for text in texts)
        for run in {run for text in texts if text.isascii() for run in _runs(text.encode())}:
            found.setdefault(int.from_bytes(run, "big"), []).append(number)
    kept = sorted(run for run, numbers in found.items() if len(numbers) <= COMMON)
    return {
        "runs": array("Q", kept).tobytes(),
        "runs.sizes": sizes.tobytes(),
        **listed("runs.templates", [found[run] for run in kept]),
    }


class Runs:
    """Which templates share how many runs of six letters with a text."""

    def __init__(self, store: Store) -> None:
        self._runs = store.ints("runs", "Q")
        self._templates = Listed(store, "runs.templates")
        self.sizes = store.ints("runs.sizes")
        """How many runs each template has; 0 where likeness does not look for it."""
        self._known: dict[bytes, Sequence[int]] = {}

    def votes(self, text: str) -> tuple[int, Counter[int]]:
        """How many different runs the text has, and how many of them each template that has any contains."""
        votes: Counter[int] = Counter()
        runs = {*_runs(text.encode("utf-8", "replace"))} if text.isascii() else {*_wide_runs(text)}
        known = self._known
        if len(known) > 100_000:
            known = self._known = {}
        for run in runs:
            templates = known.get(run)
            if templates is None:
                templates = known[run] = self._of(run)
            for number in templates:
                votes[number] += 1
        return len(runs), votes

    def _of(self, run: bytes) -> Sequence[int]:
        if len(run) != RUN:  # letters beyond ASCII: in no template's run
            return ()
        value = int.from_bytes(run, "big")
        at = bisect_left(self._runs, value)
        return self._templates[at] if at < len(self._runs) and self._runs[at] == value else ()


class Listed:
    """Lists of numbers, by number."""

    def __init__(self, store: Store, name: str) -> None:
        self._at = store.ints(f"{name}.at")
        self._numbers = store.ints(name)

    def __getitem__(self, index: int) -> Sequence[int]:
        return self._numbers[self._at[index] : self._at[index + 1]]


def listed(name: str, rows: Rows) -> dict[str, bytes]:
    """The sections of lists of numbers, for Listed."""
    numbers = [array("I", row) for row in rows]
    return {name: b"".join(row.tobytes() for row in numbers), f"{name}.at": sums(map(len, numbers))}


def sums(sizes: Iterable[int]) -> bytes:
    """The running totals of sizes, from 0 on, as a section of numbers."""
    total = array("I", (0,))
    for size in sizes:
        total.append(total[-1] + size)
    return total.tobytes()


def _runs(text: bytes) -> Iterable[bytes]:
    return (text[at : at + RUN] for at in range(len(text) - RUN + 1))


def _wide_runs(text: str) -> Iterable[bytes]:
    return (text[at : at + RUN].encode("utf-8", "replace") for at in range(len(text) - RUN + 1))
