"""Two indexes over the literal text of all templates, built when rules are compiled and read straight from the compiled file.

An automaton over thousands of literals takes longer to build than a log takes to read. So each literal is found by one run of
four bytes that few other literals have: the runs of a text, read as numbers, are looked up in a set, and the literals that a run
which is there may belong to are looked for. The other index gives, for each run of six letters, the templates that contain it:
the votes of fuzzy matching.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import sub

from .store import Listed, Store, listed, sums

KEY = 4
"""Bytes of the run that a literal is found by."""

RUN = 6
"""Letters of a run that votes."""

_PIECE = 1 << 14  # bytes of a text that are looked through at once: keys of a longer one would be found for nothing

COMMON = 60
"""A run that stands in more templates than this tells nothing."""

LEAST = 16
"""Letters of prose, squeezed, below which likeness means nothing."""


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
    count = Counter(run for literal in literals for run in {*_runs(literal, KEY)})
    by_key: dict[bytes, list[int]] = {}
    for number, literal in enumerate(literals):
        key = min(_runs(literal, KEY), key=count.__getitem__, default=b"")
        by_key.setdefault(key, []).append(number)
    short = by_key.pop(b"", [])
    by_key = dict(sorted(by_key.items(), key=lambda item: int.from_bytes(item[0], "little")))
    return {
        "anchors": b"".join(literals),
        "anchors.at": sums(map(len, literals)),
        "anchors.short": array("I", short).tobytes(),
        "keys": b"".join(by_key),
        **listed("keys.anchors", list(by_key.values())),
        **listed("anchors.templates", list(templates.values())),
    }


class Anchors:
    """Finds which literals of templates stand in squeezed text."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._text = bytes(store.section("anchors"))
        self._at = store.ints("anchors.at")
        self._known: dict[int, list[tuple[int, bytes]]] = {}

    @cached_property
    def _every_key(self) -> frozenset[int]:
        """All keys; a key's four bytes are read as a number in this machine's order, as those of the text are."""
        return frozenset(self._store.section("keys").cast("I").tolist())

    @cached_property
    def _keys(self) -> Sequence[int]:
        """All keys in order, read least byte first."""
        return self._store.ints("keys")

    @cached_property
    def _by_key(self) -> Listed:
        return Listed(self._store, "keys.anchors")

    @cached_property
    def _templates(self) -> Listed:
        return Listed(self._store, "anchors.templates")

    @cached_property
    def _longest(self) -> int:
        longest: int = max(map(sub, self._at[1:], self._at))
        return longest

    @cached_property
    def _short(self) -> list[tuple[int, bytes]]:
        """The anchors that are too short for a key."""
        return [(anchor, self.literal(anchor)) for anchor in self._store.ints("anchors.short")]

    def literal(self, anchor: int) -> bytes:
        """The squeezed text of an anchor."""
        return self._text[self._at[anchor] : self._at[anchor + 1]]

    def templates(self, anchor: int) -> Sequence[int]:
        """The templates whose literal this is."""
        return self._templates[anchor]

    def _of(self, key: int) -> list[tuple[int, bytes]]:
        """The anchors that are found by a key."""
        found = self._known.get(key)
        if found is None:
            number = bisect_left(self._keys, int.from_bytes(key.to_bytes(KEY, sys.byteorder), "little"))
            found = [(anchor, self.literal(anchor)) for anchor in self._by_key[number]]
            self._known[key] = found
        return found

    def find(self, text: bytes) -> list[tuple[int, bytes]]:
        """The anchors whose literal stands in ``text``, with the literal."""
        if len(text) <= _PIECE:
            return self._in(text)
        found: dict[int, bytes] = {}
        for start in range(0, len(text), _PIECE):
            found.update(self._in(text[start : start + _PIECE + self._longest]))
        return list(found.items())

    def _in(self, text: bytes) -> list[tuple[int, bytes]]:
        view = memoryview(text)
        there: set[int] = set()
        for start in range(KEY):  # the runs that begin there and at every fourth byte from there on
            runs = view[start : start + (len(text) - start) // KEY * KEY].cast("I")
            there |= self._every_key.intersection(runs.tolist())
        possible = [found for key in there for found in self._of(key)]
        return [(anchor, literal) for anchor, literal in (*self._short, *possible) if literal in text]


def run_sections(parts: Mapping[int, Sequence[str]], templates: int) -> dict[str, bytes]:
    """The index that votes for templates; ``parts`` are the literal parts of each template that likeness may find."""
    found: dict[int, list[int]] = {}
    sizes = array("I", bytes(4 * templates))
    for number, texts in parts.items():
        sizes[number] = sum(max(len(text) - RUN + 1, 0) for text in texts)
        for run in {run for text in texts if text.isascii() for run in _runs(text.encode(), RUN)}:
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
        self._known: dict[bytes, tuple[int, ...]] = {}

    def votes(self, text: str) -> tuple[int, Counter[int]]:
        """How many different runs the text has, and how many of them each template that has any contains."""
        runs = {*_runs(text.encode("utf-8", "replace"), RUN)} if text.isascii() else {*_wide_runs(text)}
        known = self._known
        if len(known) > 100_000:
            known = self._known = {}
        for run in runs:
            if run not in known:
                known[run] = tuple(self._of(run))
        return len(runs), Counter(chain.from_iterable(map(known.__getitem__, runs)))

    def _of(self, run: bytes) -> Sequence[int]:
        if len(run) != RUN:  # letters beyond ASCII: in no template's run
            return ()
        value = int.from_bytes(run, "big")
        at = bisect_left(self._runs, value)
        return self._templates[at] if at < len(self._runs) and self._runs[at] == value else ()


def _runs(text: bytes, size: int) -> Iterable[bytes]:
    return (text[at : at + size] for at in range(len(text) - size + 1))


def _wide_runs(text: str) -> Iterable[bytes]:
    return (text[at : at + RUN].encode("utf-8", "replace") for at in range(len(text) - RUN + 1))
