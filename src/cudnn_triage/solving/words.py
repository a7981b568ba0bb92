"""The words of answers: lists, and the parts of a situation by what people call them."""

from __future__ import annotations

from collections.abc import Sequence

PARTS = {
    "gpu": "the GPU",
    "driver": "the driver version",
    "python": "the Python version",
    "system": "the operating system",
}
"""The parts of a situation that may decide, in the order in which they are asked for."""


def listed(words: Sequence[str]) -> str:
    """'a, b and c'."""
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)
