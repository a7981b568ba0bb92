"""What probes found on a machine, entry by entry: GPUs, libraries, packages; for the end of the doctor's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .plain import cut

_SHOWN = 6  # entries of one kind, unless all are wanted
_WIDTH = 200  # characters of one entry
_SIZES = ("memory", "size", "total", "used", "free", "limit")


def inventory(records: Iterable[tuple[str, Any]], *, verbose: bool) -> Iterator[str]:
    """One line an entry, kind by kind in the order met; without ``verbose`` the first few of each kind."""
    kinds: dict[str, list[Any]] = {}
    for kind, content in records:
        kinds.setdefault(kind, []).append(content)
    for kind, entries in kinds.items():
        shown = entries if verbose else entries[:_SHOWN]
        for entry in shown:
            yield cut(f"  {kind}: {_entry(entry)}", 10 * _WIDTH if verbose else _WIDTH)
        if rest := len(entries) - len(shown):
            yield f"  {kind}: and {rest} more (--verbose shows all)"


def _entry(value: Any, name: str = "") -> str:
    if isinstance(value, dict):
        parts = ((key, _entry(item, str(key))) for key, item in value.items())
        return ", ".join(f"{key} {text}" for key, text in parts if text)
    if isinstance(value, list):
        return "; ".join(_entry(item, name) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 1 << 20 and any(word in name for word in _SIZES):
        return f"{value / (1 << 20):.0f} MiB"
    return "" if value is None else str(value)
