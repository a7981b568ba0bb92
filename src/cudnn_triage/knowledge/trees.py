"""What a compiled condition asks about; kept apart from its parser, which a run does not import."""

from __future__ import annotations

from typing import Any


def fact_names(tree: list[Any]) -> list[str]:
    """The names of the facts that a condition asks for, in order of appearance."""
    if tree[0] in ("fact", "known", "several"):
        return [tree[1]]
    return [name for part in tree[1:] if isinstance(part, list) and part for name in fact_names(part)]
