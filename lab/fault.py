"""What a fault of the laboratory is: what it breaks, which program fails for it, what the truth is, and how it is mended."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .world import World

RUNS = "runs"  # what a program is expected to do once the fault is mended
Change = Callable[[World], None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault. ``cause`` is the truth, known because the fault was made; None is a control in which nothing is broken.

    ``afterwards`` says what the mended program does: it runs, or it fails for the cause named here, because what it asks
    for (a driver, mostly) is not on a laboratory machine.
    """

    breaks: str
    cause: str | None
    environment: str
    program: tuple[str, ...]
    inject: Change
    acceptable: tuple[str, ...] = ()
    by_log: tuple[str, ...] = ()  # what the program's message alone may be taken for as well
    mend: Change | None = None
    mended: str = ""  # what the mending does, or why nothing can be done
    afterwards: str = RUNS
    settled: bool = True  # a reading of the machine can confirm the cause; False: only the log speaks
    in_program: bool = False  # mending changes the program and nothing of the machine, so that verify cannot see it
    silent: bool = False  # the program goes on (on the CPU, mostly) and ends with 0 although the fault is there
    endless: bool = False  # the program hangs; it is ended after ``seconds``
    needs: tuple[str, ...] = ()
    ci: bool = False  # cheap enough for CI
    seconds: float = 120.0
    stack: str = "pytorch"
    id: str = field(default="", init=False)


def load(name: str) -> Fault:
    """The fault of ``lab/faults/<name>.py``; its id is the file's name with hyphens."""
    module = importlib.import_module(f"lab.faults.{name.replace('-', '_')}")
    fault: Fault = module.FAULT
    object.__setattr__(fault, "id", name.replace("_", "-"))
    return fault


def names() -> Iterator[str]:
    """The ids of all faults, sorted."""
    package = importlib.import_module("lab.faults")
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        yield found.name.replace("_", "-")
