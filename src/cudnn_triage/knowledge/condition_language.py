"""The language of fact conditions, parsed (once, when the knowledge base is built) to the lists that conditions.py evaluates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pyparsing as pp

from ..near import nearest
from ..values import size

Tree = list[Any]


_FORMS = (
    "write fact == word, fact is word, fact < 3, fact in [a, b], fact ~ text, known(fact), several(fact), seen(id), holds(name) "
    "or never, with and, or, not"
)


HOLDS = re.compile(r"\bholds\s*\(\s*([\w-]+)\s*\)")
"""Where a condition names another one, in its text."""
UNREADABLE: Tree = ["and"]
"""Stands for a condition that cannot be read: that is told where it stands, and is no mistake of those that name it."""


class ConditionError(ValueError):
    """The condition cannot be read; the message names the column."""


@cache
def _grammar() -> pp.ParserElement:
    fact = pp.Regex(r"[A-Za-z][\w-]*(?:\.[\w*-]+)+").set_parse_action(lambda t: ("fact", t[0]))
    amount = pp.Regex(r"\d+(?:\.\d+)?\s?[KMGT]i?B\b").set_parse_action(lambda t: ("literal", str(size(t[0]))))
    bare = pp.Regex(r"-?\d[\w.+]*|(?!(?:and|or|not|in|is)\b)[A-Za-z_][\w+-]*").set_parse_action(
        lambda t: ("literal", t[0])
    )
    quoted = pp.QuotedString("'").set_parse_action(lambda t: ("literal", t[0]))
    opening, closing = pp.Suppress("("), pp.Suppress(")")
    operand = pp.Forward()
    product = _folded((fact | amount | bare | quoted | opening + operand + closing), pp.one_of("* /"))
    operand <<= _folded(product, pp.one_of("+ -"))
    call = pp.Regex(r"(?P<form>known|seen|several|holds)\s*\(\s*(?P<name>[A-Za-z][\w.*-]*)\s*\)").set_parse_action(
        lambda t: (t["form"], t["name"])
    )
    literal = amount | bare | quoted
    options = pp.Suppress("[") + pp.Group(pp.DelimitedList(literal)) + pp.Suppress("]")
    told = (fact + pp.Suppress(pp.Keyword("is")) + (options | literal)).set_parse_action(_told)
    member = (pp.Keyword("in") + options).set_parse_action(lambda t: (t[0], tuple(o[1] for o in t[1])))
    relation = (pp.one_of("== != <= >= < > ~") + operand).set_parse_action(lambda t: (t[0], t[1]))
    compared = (operand + (relation | member)).set_parse_action(lambda t: (t[1][0], t[0], t[1][1]))
    never = pp.Keyword("never").set_parse_action(lambda: ("or",))  # of no parts none holds
    condition = pp.Forward()
    single = pp.Forward()
    denied = (pp.Suppress(pp.Keyword("not")) + single).set_parse_action(lambda t: ("not", t[0]))
    single <<= denied | call | never | told | compared | opening + condition + closing
    condition <<= _joined(_joined(single, "and"), "or")
    return condition


def _folded(part: pp.ParserElement, operators: pp.ParserElement) -> pp.ParserElement:
    """Parts with operators between them, worked out from the left."""
    folded: pp.ParserElement = part + (operators + part)[...]
    return folded.set_parse_action(_fold)


def _joined(part: pp.ParserElement, word: str) -> pp.ParserElement:
    """Parts with the word between them, as one list behind it; a part alone as it is."""
    return pp.DelimitedList(part, pp.Keyword(word)).set_parse_action(lambda t: (word, *t) if len(t) > 1 else t[0])


def _told(tokens: Any) -> tuple[Any, ...]:
    """'fact is word': it is known, and it is that; where nobody told it, this is false and not unknown."""
    fact, what = tokens
    one_of = isinstance(what, pp.ParseResults)
    return "and", ("known", fact[1]), ("in", fact, tuple(o[1] for o in what)) if one_of else ("==", fact, what)


def _fold(tokens: Any) -> tuple[Any, ...]:
    items = list(tokens)
    tree: tuple[Any, ...] = items[0]
    for operator, right in zip(items[1::2], items[2::2], strict=True):
        tree = (operator, tree, right)
    return tree


@cache
def parse(text: str) -> Tree:
    """Read a condition. Raises ConditionError that names the column."""
    text = " ".join(text.split())
    try:
        return _plain(_grammar().parse_string(text, parse_all=True)[0])  # type: ignore[no-any-return]
    except pp.ParseException as error:
        rest = text[error.column - 1 :][:40] or "its end"
        raise ConditionError(f"column {error.column}: no condition can be read from {rest!r} on; {_FORMS}") from None


def named(tree: Tree, conditions: Mapping[str, Tree]) -> Tree:
    """``tree`` with each ``holds(name)`` replaced by the condition of that name. Raises ConditionError where there is none."""
    if tree[0] == "holds":
        if tree[1] not in conditions:
            told = f"holds({tree[1]}): no such condition in rules/conditions.yaml{nearest(tree[1], conditions)}"
            raise ConditionError(told)
        return conditions[tree[1]]
    return [tree[0], *(named(part, conditions) for part in tree[1:])] if tree[0] in ("and", "or", "not") else tree


def gate(tree: Tree) -> Tree | None:
    """A short condition that holds, or is unknown, wherever ``tree`` does or is, so that where it is false ``tree`` need not be
    read: one of some ids seen, of some facts known, or of some facts one of some words. None where there is none."""
    parts = _gates(tree)
    return None if parts is None else ["or", *parts]


def _gates(tree: Tree) -> list[Tree] | None:
    """Conditions of which one holds, or is unknown, wherever ``tree`` does or is."""
    kind, *parts = tree
    if kind in ("seen", "known"):
        return [tree]
    if kind not in ("and", "or"):
        return None
    found = [inner for part in parts if (inner := _gates(part)) is not None]
    if kind == "or":
        return [one for some in found for one in some] if len(found) == len(parts) else None
    known = {part[1] for part in parts if part[0] == "known"}
    told = (part for part in parts if part[0] in ("==", "in") and part[1][0] == "fact" and part[1][1] in known)
    found += [[["and", ["known", part[1][1]], part]] for part in told if part[0] == "in" or part[2][0] == "literal"]
    return min(found, key=_openness, default=None)


def _openness(parts: list[Tree]) -> tuple[bool, int]:
    """How often one of some conditions will hold: a fact is known more often than a certain message is seen."""
    return any(part[0] == "known" for part in parts), len(parts)


def _plain(tree: Any) -> Any:
    if isinstance(tree, pp.ParseResults):  # infix_notation groups what a bracket or an operator held
        return _plain(tree[0])
    return [_plain(item) for item in tree] if isinstance(tree, tuple) else tree


def names(tree: Tree) -> tuple[set[str], set[str]]:
    """The fact names and the ids (of ``seen``) that a condition asks for."""
    if tree[0] in ("fact", "known", "several"):
        return {tree[1]}, set()
    if tree[0] == "seen":
        return set(), {tree[1]}
    facts: set[str] = set()
    ids: set[str] = set()
    for part in tree[1:]:
        if isinstance(part, list) and part and isinstance(part[0], str) and not (tree[0] == "in" and part is tree[2]):
            inner_facts, inner_ids = names(part)
            facts |= inner_facts
            ids |= inner_ids
    return facts, ids
