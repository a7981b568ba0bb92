"""Limits on versions as rules and wishes write them ('>=2.0,<2.3', '2.1', '==2.1'), and whether a version keeps them."""

from __future__ import annotations

import re
from functools import lru_cache

from ..values import Version, version

_LIMIT = re.compile(r"\s*(==|!=|>=|<=|<|>|~=)?\s*(v?\d[\w.+!*-]*)\s*$")


class LimitError(ValueError):
    """Not a limit on versions; the message says what was expected."""


@lru_cache(maxsize=256)
def limits(text: str) -> tuple[tuple[str, Version], ...]:
    """The parts of '>=2.0,<2.3'. A bare version, and '==2.1', stand for every release that begins so. Raises LimitError."""
    found: list[tuple[str, Version]] = []
    for part in text.split(","):
        if not part.strip():
            continue
        matched = _LIMIT.match(part)
        read = version(matched[2].removesuffix(".*")) if matched else None
        if matched is None or read is None:
            raise LimitError(f"{part.strip()!r}: expected a version or a limit such as 2.1, >=2.0 or >=2.0,<2.3")
        found.append((matched[1] or "==", read))
    return tuple(found)


def keeps(release: Version, text: str) -> bool:
    """Whether ``release`` keeps all limits of ``text``; no limits are kept by all."""
    return all(_keeps(release, operator, bound) for operator, bound in limits(text))


def _keeps(release: Version, operator: str, bound: Version) -> bool:
    if operator in ("==", "!="):
        same = release.parts[: len(bound.parts)] == bound.parts and (not bound.local or bound.local == release.local)
        return same is (operator == "==")
    size = max(len(release.parts), len(bound.parts))
    left, right = _padded(release, size), _padded(bound, size)
    if operator == "~=":
        return (
            left >= right
            and release.parts[: max(len(bound.parts) - 1, 1)] == bound.parts[: max(len(bound.parts) - 1, 1)]
        )
    return {">=": left >= right, "<=": left <= right, "<": left < right, ">": left > right}[operator]


def _padded(value: Version, size: int) -> tuple[int, ...]:
    return value.parts + (0,) * (size - len(value.parts))
