"""cudnn-triage: from a pasted GPU error to the confirmed root cause and the exact fix."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .batch import triage_all
    from .engine import Triager, triage
    from .facts import Fact
    from .reading import ReadError
    from .report import Report

__version__ = "0.1.0"
__all__ = ["Fact", "ReadError", "Report", "Triager", "__version__", "triage", "triage_all"]

_HOMES = {
    "Fact": "facts",
    "ReadError": "reading",
    "Report": "report",
    "Triager": "engine",
    "triage": "engine",
    "triage_all": "batch",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first asked for, so that ``--version`` and completion stay instant."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that completion offers, those that nobody has asked for yet among them."""
    return sorted({*globals(), *_HOMES})
