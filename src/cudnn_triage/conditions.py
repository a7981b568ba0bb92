"""Conditions on facts, evaluated in three values: True, False, or None where a fact that matters is unknown."""

from __future__ import annotations

from collections.abc import Callable

from .facts import Facts
from .values import Value, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Seen = Callable[[str], "bool | None"]
_ORDER: dict[str, Callable[[int], bool]] = {
    "==": lambda sign: sign == 0,
    "!=": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


def holds(tree: list[Any], facts: Facts, seen: Seen) -> bool | None:
    """Whether the condition ``tree`` (from knowledge/condition_language.py) holds; None is unknown.

    A comparison holds if any known value of each side satisfies it. ``seen`` tells whether a signature or cause was met,
    and is None of everything where there is no log.
    """
    kind = tree[0]
    if kind in ("and", "or"):
        decides = kind == "or"  # one part that is true decides an 'or', one that is false an 'and'
        all_known = True
        for part in tree[1:]:
            result = holds(part, facts, seen)
            if result is decides:
                return decides
            all_known = all_known and result is not None
        return not decides if all_known else None
    if kind == "not":
        result = holds(tree[1], facts, seen)
        return None if result is None else not result
    if kind == "seen":
        return seen(tree[1])
    if kind == "known":
        return True if facts.values(tree[1]) else False if facts.silence_is_no(tree[1]) else None
    if kind == "several":
        values = facts.of_all_scopes(tree[1])
        return any(compare(values[0], other) not in (0, None) for other in values[1:]) if values else None
    left = _values(tree[1], facts)
    if not left:
        return None
    if kind == "in":
        return any(compare(value, option) == 0 for value in _flat(left) for option in tree[2])
    right = _values(tree[2], facts)
    if not right:
        return None
    if kind == "~":
        return any(str(needle).casefold() in str(value).casefold() for value in _flat(left) for needle in right)
    accepts = _ORDER[kind]
    comparable = False
    others = _flat(right)
    for value in _flat(left):
        for other in others:
            sign = compare(value, other)
            if sign is not None:
                if accepts(sign):
                    return True
                comparable = True
    return False if comparable else None


def _flat(values: list[Value]) -> list[Value]:
    if len(values) == 1 and not isinstance(values[0], tuple):
        return values
    return [item for value in values for item in (value if isinstance(value, tuple) else (value,))]


def _values(tree: list[Any], facts: Facts) -> list[Value]:
    kind = tree[0]
    if kind == "fact":
        return facts.values(tree[1])
    if kind == "literal":
        return [tree[1]]
    out: list[Value] = []
    for left in _values(tree[1], facts):
        for right in _values(tree[2], facts):
            try:
                a, b = float(str(left)), float(str(right))
                out.append(a + b if kind == "+" else a - b if kind == "-" else a * b if kind == "*" else a / b)
            except (ValueError, ZeroDivisionError, OverflowError):
                continue
    return out
