"""Readings of a machine beside a log: whether they are of the machine that the log is from, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable

from .conditions import Seen, holds
from .facts import Fact, Facts, Readings
from .knowledge.base import Knowledge
from .knowledge.trees import fact_names
from .light import record
from .tables import derive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record(frozen=True)
class Ground:
    """A condition on readings that holds: why it matters, and the readings that make it hold."""

    condition: str
    why: str
    facts: tuple[Fact, ...]


@record(frozen=True)
class Machine:
    """What was read on a machine."""

    readings: Facts  # with what the tables make of them
    scope: Readings  # in which conditions on readings are asked
    elsewhere: tuple[Ground, ...] = ()  # why these are not readings of the machine that the log is from
    assumed: bool = False  # the user says that they are, whatever speaks against it

    @property
    def plain(self) -> Facts:
        """The readings that leave no choice: one value each. These may enter the commands of fixes."""
        by_name: dict[str, list[Fact]] = {}
        for fact in self.readings if self.counts else ():
            by_name.setdefault(fact.name, []).append(fact)
        return Facts(found[0] for found in by_name.values() if len(found) == 1)

    @property
    def has_log(self) -> bool:
        """Whether these stand beside a log."""
        return self.scope.has_log

    @property
    def counts(self) -> bool:
        """Whether the readings may decide anything."""
        return self.assumed or not self.elsewhere


NOWHERE = Machine(Facts(), Readings(Facts(), Facts()))
"""No machine was looked at."""


def machine(readings: Iterable[Fact], log: Facts | None, seen: Seen, knowledge: Knowledge, assume: bool) -> Machine:
    """The readings beside what the log says; ``log`` is None where there is no log."""
    local = Facts(readings)
    derive(local, knowledge)
    scope = Readings(local, log)
    elsewhere = grounds(knowledge.elsewhere, scope, seen) if log is not None else ()
    return Machine(local, scope, elsewhere, assume)


def grounds(conditions: Iterable[dict[str, Any]], scope: Readings, seen: Seen) -> tuple[Ground, ...]:
    """Those of ``conditions`` that hold. One that rests on no reading at all settles nothing."""
    found = []
    for item in conditions if scope.has_readings else ():
        if holds(item["when"], scope, seen):
            asked = tuple(dict.fromkeys(fact for name in fact_names(item["when"]) for fact in scope.find(name)))
            if any(scope.is_reading(name) for name in fact_names(item["when"])):
                found.append(Ground(item["text"], item["why"], asked))
    return tuple(found)
