"""Facts worked out from compatibility tables: what a known version or GPU implies about others (origin: table)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import ge, gt, le, lt

from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .light import pattern
from .values import Value, Version, read, show

_BOUND = pattern(r"\s*(>=|<=|>|<)\s*(\d{1,9}(?:\.\d{1,9})*)\s*")
_SITE = pattern(r"(?:site|dist)-packages/+")
_NAME_ENDS = pattern(r"[.-]")
_COMPARED = {">=": ge, "<=": le, ">": gt, "<": lt}
_ASKED = 2  # a row's result may be the key of another table
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def derive(facts: Facts, knowledge: Knowledge) -> None:
    """Add to ``facts`` what the tables say about the facts there. A table never overrides what was seen."""
    for _ in range(_ASKED):
        more = False
        for table in knowledge.tables:
            for row in _rows(table, facts) if table["gives"] else ():
                for column, name in table["gives"].items():
                    text = row.get(column)
                    if not text or any(fact.origin != "table" for fact in facts.get(name)):
                        continue
                    kind = knowledge.facts.get(name, {}).get("type", "any")
                    given = read(kind, text)
                    if given is not None:
                        facts.add(Fact(name, given, "table"))
                        more = True
        if not more:
            break


def _rows(table: dict[str, Any], facts: Facts) -> list[dict[str, str]]:
    """The rows that speak of the values of the table's key, or of the first of its other keys of which any does."""
    for key in table["keys"]:
        values = facts.values(key) if facts.tells(key) else ()
        if found := [row for value in values if (row := find_row(table, value)) is not None]:
            return found
    return []


def sources(name: str, tables: Iterable[tuple[Sequence[str], Iterable[str]]]) -> set[str]:
    """The facts from which ``name`` can be known: itself, and the keys of the tables that give it. ``tables`` are pairs of
    the keys and what the table gives."""
    known = {name}
    for _ in range(_ASKED):
        known.update(key for keys, gives in tables if not known.isdisjoint(gives) for key in keys if key)
    return known


def find_row(table: dict[str, Any], value: Value) -> dict[str, str] | None:
    """The row of ``table`` that speaks of ``value``, or None."""
    rows: list[dict[str, str]] = table["rows"]
    match = table["match"]
    text = show(value).casefold()
    if match == "contains":
        found = [row for row in rows if row["key"].casefold() in text]
        return max(found, key=lambda row: len(row["key"]), default=None)
    if match == "module":
        by_key = {row["key"].casefold(): row for row in rows}
        return next((by_key[module] for module in reversed(_modules(text)) if module in by_key), None)
    if match == "range":
        return _in_range(rows, value)
    wanted = _key(value, match)
    exact = next((row for row in rows if row["key"].casefold() == text), None)
    return exact or next((row for row in rows if _row_key(row["key"], match) == wanted), None)


def _modules(path: str) -> list[str]:
    """The names of Python packages and modules in the path of an installed file, outermost first, without release and suffix;
    of any other file the last two names."""
    installed = _SITE.split(path.replace("\\", "/"))
    parts = installed[-1].split("/")
    return [_NAME_ENDS.split(part, maxsplit=1)[0] for part in (parts if len(installed) > 1 else parts[-2:])]


@lru_cache(maxsize=4096)
def _row_key(text: str, match: str) -> str:
    return _key(read("version", text) or text, match)


def _key(value: Value, match: str) -> str:
    if isinstance(value, Version) and match in ("minor", "major"):
        return str(value.first(2 if match == "minor" else 1))
    if isinstance(value, Version):
        return ".".join(map(str, value.parts)) + ("+" + value.local if value.local else "")
    return show(value).casefold()


def _in_range(rows: list[dict[str, str]], value: Value) -> dict[str, str] | None:
    if not isinstance(value, Version) or not value.parts:
        return None
    return next((row for row in rows if _contains(row["key"], value.parts)), None)


def _contains(specifier: str, release: tuple[int, ...]) -> bool:
    """Whether a release is one of those that a specifier names (PEP 440)."""
    bounds = _bounds(specifier)
    if bounds is not None:
        return all(holds(_significant(release), bound) for holds, bound in bounds)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier).contains(".".join(map(str, release)), prereleases=True)
    except InvalidSpecifier:
        return False


@lru_cache(maxsize=4096)
def _bounds(specifier: str) -> list[tuple[Callable[[Any, Any], Any], tuple[int, ...]]] | None:
    """The bounds of a specifier that has nothing else, as nearly all do: reading these takes no package, whose import takes
    longer than a start. None for others."""
    found = [_BOUND.fullmatch(part) for part in specifier.split(",")]
    if not all(found):
        return None
    return [(_COMPARED[match[1]], _significant(tuple(map(int, match[2].split("."))))) for match in found if match]


def _significant(release: tuple[int, ...]) -> tuple[int, ...]:
    """A release without zeros at its end: 12.0 is 12."""
    end = len(release)
    while end and not release[end - 1]:
        end -= 1
    return release[:end]
