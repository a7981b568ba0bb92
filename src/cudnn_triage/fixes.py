"""Fixes made ready to run: commands completed from the facts, quoted for the shell, or the fact named that is missing."""

from __future__ import annotations

import re

from .conditions import Seen, holds
from .facts import Facts
from .knowledge.base import Knowledge
from .light import pattern
from .report import FixItem
from .values import Soname, Value, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOLE = pattern(r"\{([A-Za-z][\w.\[\]-]*)\}")
_TYPED = (Version, Soname, int, float)
_SAFE = pattern(r"[\w.+:/=-]*", re.ASCII)


def ready(fixes: list[dict[str, Any]], facts: Facts, seen: Seen, knowledge: Knowledge) -> tuple[FixItem, ...]:
    """The fixes that apply: one whose condition is false is dropped, those whose condition is unknown come last."""
    found = [(True if fix["when"] is None else holds(fix["when"], facts, seen), fix) for fix in fixes]
    ordered = [fix for known in (True, None) for result, fix in found if result is known]
    return tuple(_fix(fix, facts, knowledge) for fix in ordered)


def _fix(fix: dict[str, Any], facts: Facts, knowledge: Knowledge) -> FixItem:
    missing: dict[str, None] = {}
    for name in fix["needs"]:
        if not facts.values(name):
            missing[_ask(name, knowledge)] = None
    commands = tuple(complete(command, facts, knowledge, missing) for command in fix["commands"])
    verify = tuple(complete(command, facts, knowledge, {}) for command in fix["verify"])
    return FixItem(fix["title"], fix["safety"], commands, fix["applies"], verify, fix["why"], tuple(missing))


def complete(command: str, facts: Facts, knowledge: Knowledge, missing: dict[str, None]) -> str:
    """``command`` with {fact} holes filled. Only typed values (versions, numbers, library names) enter a command, and
    quoted; a hole whose fact is unknown or has several values becomes {what it is} and is added to ``missing``."""

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name not in knowledge.facts and not _declared(name, knowledge):
            return found[0]
        value = facts.one(name)
        if value is None and facts.values(name):
            value = facts.values(name)[-1]
        if value is None or not isinstance(value, _TYPED):
            missing[_ask(name, knowledge)] = None
            return f"{{{_title(name, knowledge)}}}"
        return quoted(value)

    return _HOLE.sub(fill, command)


def quoted(value: Value) -> str:
    """A value as it may stand in a shell command, inside or outside quotes."""
    text = str(value)
    if _SAFE.fullmatch(text):
        return text
    import shlex

    return shlex.quote(text)


def _declared(name: str, knowledge: Knowledge) -> bool:
    stem = name.rpartition(".")[0]
    return name.startswith("package.") or stem in knowledge.facts or stem.rpartition(".")[0] in knowledge.facts


def _title(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name) or knowledge.facts.get(name.rpartition(".")[0])
    return fact["title"] if fact else name


def _ask(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name) or knowledge.facts.get(name.rpartition(".")[0])
    if fact is None:
        return name
    return f"{fact['title']}: {fact['ask']}" if fact["ask"] else str(fact["title"])
