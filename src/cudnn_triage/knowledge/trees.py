"""What a compiled condition asks about; kept apart from its parser, which a run does not import."""

from __future__ import annotations

from ..facts import OF_THE_LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def fact_names(tree: list[Any]) -> list[str]:
    """The names of the facts that a condition asks for, in order of appearance."""
    if tree[0] in ("fact", "known", "several"):
        return [tree[1]]
    return [name for part in tree[1:] if isinstance(part, list) and part for name in fact_names(part)]


def asks_the_log(tree: list[Any]) -> bool:
    """Whether a condition on readings compares with a log."""
    if tree[0] == "seen":
        return True
    if tree[0] in ("and", "or", "not"):
        return any(asks_the_log(part) for part in tree[1:])
    return any(name.startswith(OF_THE_LOG) for name in fact_names(tree))
