"""Where nothing works: what would have to change so that something does, the least disturbance first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..values import Version
from .answer import Option
from .builds import Build, builds
from .commands import choice, commands, way_exists
from .constraints import open_parts, platforms, span_text, verdict, worlds
from .ground import Ground
from .nearness import nearest_first
from .situation import Situation, Wishes
from .words import PARTS, listed

_MOST = 3  # options
_DISTURBANCE = {"keep": 1, "manager": 2, "python": 3, "wsl": 4, "forward": 5, "driver": 7}  # an order, not measured

Relaxed = list[tuple[Option, list[str]]]
"""Options, each with the unknown parts of the situation on which it depends."""


def relaxed(order: Sequence[Build], framework: str, situation: Situation, wishes: Wishes, ground: Ground) -> Relaxed:
    """Options that work once some of what is fixed is not; where there are none that work for certain, those that may work,
    which what is not known of the situation decides."""
    asked = _Asked(tuple(order), framework, situation, wishes, ground)
    return [*asked.options(sure=True)] or [*asked.options(sure=False)]


@dataclass(frozen=True)
class _Asked:
    """A question to which there is no answer as it was put."""

    order: tuple[Build, ...]
    framework: str
    situation: Situation
    wishes: Wishes
    ground: Ground

    def options(self, *, sure: bool) -> Iterator[tuple[Option, list[str]]]:
        """Options of which none contains the changes of another."""
        done: list[frozenset[str]] = []
        for freed in self._freedoms():
            if any(less <= freed for less in done):
                continue
            option = self._with(freed, sure)
            if option is not None:
                done.append(freed)
                yield option
                if len(done) == _MOST:
                    return

    def _freedoms(self) -> list[frozenset[str]]:
        """What may be freed together, the least disturbance first."""
        situation = self.situation
        fixed = [f"keep {name}" for name, _ in self.wishes.keep]
        fixed += [f"manager {name}" for name in self.ground.managers if name != self.wishes.manager]
        if situation.python is not None:
            fixed.append("python")
        if situation.system == "windows":
            fixed.append("wsl")
        if situation.driver is not None or situation.driver_cuda is not None:
            fixed.append("driver")
            if situation.datacenter and situation.system == "linux" and not situation.windows_driver:
                fixed.append("forward")
        sets = [frozenset(some) for size in range(1, 5) for some in combinations(fixed, size)]
        sets = [some for some in sets if not {"forward", "driver"} <= some]
        sets = [some for some in sets if sum(name.startswith("manager") for name in some) < 2]
        return sorted(sets, key=lambda some: (sum(_DISTURBANCE[name.split()[0]] for name in some), sorted(some)))

    def _with(self, freed: frozenset[str], sure: bool) -> tuple[Option, list[str]] | None:
        """The nearest build that works, or may work, once all of this is freed."""
        manager = next((name.split()[1] for name in freed if name.startswith("manager")), self.wishes.manager)
        freer = Wishes(tuple(pair for pair in self.wishes.keep if f"keep {pair[0]}" not in freed), manager)
        situation, order = self.situation, self.order
        if "driver" in freed:
            situation = replace(situation, driver_cuda=None)
        if "wsl" in freed:
            situation = replace(situation, system="linux", windows_driver=True, glibc=None)
        if manager != self.wishes.manager or "wsl" in freed:
            known = self.ground.knowledge
            usable = [b for b in builds(self.framework, known) if way_exists(b, situation, freer, known)]
            order = tuple(nearest_first(usable, situation, self.wishes, self.ground))
        told = replace(self, situation=situation)
        drivers = _other_drivers(situation, self.ground) if "driver" in freed else [self.situation.driver]
        for build in order:
            tried = situation
            if "python" in freed:
                mine = build.pythons(platforms(situation, self.ground))
                tried = replace(tried, python=mine[-1] if mine else None)
            if "forward" in freed:
                found = told._forward(freed, build, tried, freer, sure)
            else:
                found = told._changed(freed, build, tried, drivers, freer, sure)
            if found is not None:
                return found
        return None

    def _changed(
        self,
        freed: frozenset[str],
        build: Build,
        tried: Situation,
        drivers: Sequence[Version | None],
        freer: Wishes,
        sure: bool,
    ) -> tuple[Option, list[str]] | None:
        """The build, with the oldest of ``drivers``, in the order of their age, that will do."""
        if not drivers or self._open(build, replace(tried, driver=drivers[-1]), freer, sure) is None:
            return None
        for driver in drivers:
            with_driver = replace(tried, driver=driver)
            parts = self._open(build, with_driver, freer, sure)
            if parts is not None:
                return self._option(build, with_driver, freer, self._changes(freed, build, driver), parts)
        return None

    def _forward(
        self, freed: frozenset[str], build: Build, tried: Situation, freer: Wishes, sure: bool
    ) -> tuple[Option, list[str]] | None:
        """The build with the forward-compatibility package of its CUDA, which holds that CUDA's own driver library."""
        cuda = build.code.cuda
        shipped = self.ground.translating_drivers(cuda, "linux") if cuda and len(cuda.parts) > 1 else []
        if cuda is None or not shipped:
            return None
        parts = self._open(build, replace(tried, driver=shipped[-1], driver_cuda=None), freer, sure)
        if parts is None:
            return None
        row = self.ground.knowledge.table["forward"]["rows"][0]
        said = {
            name: row[name].replace("{major}", str(cuda.parts[0])).replace("{minor}", str(cuda.parts[1]))
            for name in ("package", "install", "use")
        }
        changes = self._changes(freed, build, None)
        changes.append(f"{said['package']} is installed and serves your driver branch ({row['page']})")
        return self._option(build, tried, freer, changes, parts, (said["install"], said["use"]))

    def _option(
        self,
        build: Build,
        tried: Situation,
        freer: Wishes,
        changes: list[str],
        parts: list[str],
        beside: tuple[str, ...] = (),
    ) -> tuple[Option, list[str]]:
        if parts:
            changes = [*changes, f"{listed([PARTS[name] for name in parts])} allow{'' if parts[1:] else 's'} it"]
        ready = (*commands(build, tried, freer, self.ground), *beside)
        return Option("if " + listed(changes), choice(build, tried, freer, self.ground), ready), parts

    def _open(self, build: Build, situation: Situation, wishes: Wishes, sure: bool) -> list[str] | None:
        """The unknown parts of the situation on which it depends whether a build works, none of one that works for certain;
        None for a build that does not work, or is not to be left open."""
        holds, done = verdict(build, situation, wishes, self.ground)
        if holds:
            return []
        undecided = [check for check in done if check.holds is None]
        if sure or holds is False or not all(check.unknown for check in undecided):
            return None
        return open_parts(undecided)

    def _changes(self, freed: frozenset[str], build: Build, driver: Version | None) -> list[str]:
        """What would have to change, in words."""
        told = [
            f"{name} need not stay {limit.removeprefix('==')}"
            for name, limit in self.wishes.keep
            if f"keep {name}" in freed
        ]
        told += [f"{name.split()[1]} installs it" for name in freed if name.startswith("manager")]
        pythons = span_text(build.pythons(platforms(self.situation, self.ground)))
        if "python" in freed:
            told.append(f"Python is {pythons}")
        if "wsl" in freed:
            told.append(f"it runs in WSL2 with Python {pythons}")
        if "driver" in freed and driver is not None:
            here = self.situation.driver
            older = here is not None and driver.parts < here.parts
            told.append(f"the driver is {'of an older branch, ' if older else ''}{driver} or newer")
        return told


def _other_drivers(situation: Situation, ground: Ground) -> list[Version]:
    """Drivers that these GPUs can have, oldest first; newer than the present one where there are any."""
    possible = worlds(replace(situation, driver=None), ground).values()
    common = set.intersection(*map(set, possible)) if possible else set()
    here = situation.driver
    newer = {driver for driver in common if here is None or driver.parts > here.parts}
    return sorted(newer or common, key=lambda v: v.parts)
