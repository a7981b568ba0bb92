"""Examines a machine: runs probes side by side where that is safe, those that touch the GPU one at a time."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..conditions import holds
from ..facts import Facts
from ..knowledge.base import Knowledge
from .bundle import program, text_of
from .interpreters import Interpreter
from .readings import Outcome, facts, outcome
from .runner import UNTOUCHED, Order, Running

Started = Callable[[str], None]
Ended = Callable[[Outcome], None]
_MOST_AT_ONCE = 4  # also on two cores: importing a framework is mostly reading files
_AWAKE = 0.5  # seconds after which waiting is looked up from: on Windows an interrupt is not seen before


class Examination:
    """One look at a machine, by one interpreter; remembers every outcome."""

    def __init__(self, knowledge: Knowledge, interpreter: Interpreter) -> None:
        self._knowledge = knowledge
        self._interpreter = interpreter
        self._found: dict[str, Outcome] = {}

    @property
    def outcomes(self) -> list[Outcome]:
        """What was run so far, in the order of rules/probes.yaml."""
        return [self._found[probe] for probe in self._knowledge.probes if probe in self._found]

    def run(self, probes: Sequence[str], started: Started, ended: Ended) -> None:
        """Run these probes, telling what starts and ends. However this is left, no probe stays behind."""
        waiting = sorted(probes, key=lambda name: int(self._knowledge.probes[name]["cost"]))
        active: dict[str, Running] = {}
        done: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        try:
            while waiting or active:
                for name in self._next(waiting, active):
                    waiting.remove(name)
                    active[name] = Running(self.order(name), text_of("supervisor.py"))
                    started(name)
                    threading.Thread(target=_run, args=(name, active[name], done), daemon=True).start()
                try:
                    name, data = done.get(timeout=_AWAKE)
                except queue.Empty:
                    continue
                del active[name]
                self._found[name] = outcome(data)
                ended(self._found[name])
        finally:
            for running in active.values():
                running.stop("interrupted")

    def _next(self, waiting: Iterable[str], active: Iterable[str]) -> list[str]:
        """Which of the waiting probes may start beside the active ones, the cheapest first."""
        out: list[str] = []
        alone = not self._without_gpu()
        busy = alone and any(self._knowledge.probes[name]["touches_gpu"] for name in active)
        for name in waiting:
            touches = alone and self._knowledge.probes[name]["touches_gpu"]
            if len(out) + len(list(active)) < _MOST_AT_ONCE and not (touches and busy):
                out.append(name)
                busy = busy or touches
        return out

    def _without_gpu(self) -> bool:
        """Whether it is known that there is no GPU for which probes could compete."""
        condition = self._knowledge.no_gpu
        known = Facts(facts(self.outcomes, self._knowledge))
        return condition is not None and holds(condition, known, lambda name: None) is True

    def order(self, probe: str) -> Order:
        """What is to be run for ``probe``: on the machine by the tool's own interpreter, else by the one examined."""
        entry = self._knowledge.probes[probe]
        own = entry["examines"] == "machine"
        return Order(
            probe,
            program(probe, self._knowledge),
            sys.executable if own else self._interpreter.path,
            {**self._interpreter.environ, **UNTOUCHED},
            list(self._interpreter.without),
            entry["seconds"],
            entry["memory"],
        )


def _run(name: str, running: Running, done: queue.Queue[tuple[str, dict[str, Any]]]) -> None:
    done.put((name, running.run()))
