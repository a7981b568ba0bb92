"""Where nothing works: what would have to change so that something does, the least disturbance first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from ..values import Version
from .answer import Option
from .builds import Build, builds
from .commands import choice, commands, way_exists
from .constraints import platforms, span_text, verdict, worlds
from .ground import Ground
from .nearness import nearest_first
from .situation import Situation, Wishes
from .words import listed

_MOST = 3  # options
_DISTURBANCE = {"keep": 1, "manager": 2, "python": 3, "wsl": 4, "forward": 5, "driver": 7}  # an order, not measured


def relaxed(
    order: Sequence[Build], framework: str, situation: Situation, wishes: Wishes, ground: Ground
) -> Iterator[Option]:
    """Options that work once some of what is fixed is not; none contains the changes of another."""
    done: list[frozenset[str]] = []
    for freed in _freedoms(situation, wishes, ground):
        if any(less <= freed for less in done):
            continue
        option = _with(freed, order, framework, situation, wishes, ground)
        if option is not None:
            done.append(freed)
            yield option
            if len(done) == _MOST:
                return


def _freedoms(situation: Situation, wishes: Wishes, ground: Ground) -> list[frozenset[str]]:
    fixed = [f"keep {name}" for name, _ in wishes.keep]
    fixed += [f"manager {name}" for name in ground.managers if name != wishes.manager]
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


def _with(
    freed: frozenset[str],
    order: Sequence[Build],
    framework: str,
    situation: Situation,
    wishes: Wishes,
    ground: Ground,
) -> Option | None:
    keep = tuple(pair for pair in wishes.keep if f"keep {pair[0]}" not in freed)
    manager = next((name.split()[1] for name in freed if name.startswith("manager")), wishes.manager)
    freer = Wishes(keep, manager)
    if "driver" in freed:
        situation = replace(situation, driver_cuda=None)
    if "wsl" in freed:
        situation = replace(situation, system="linux", windows_driver=True, glibc=None)
    if manager != wishes.manager or "wsl" in freed:
        usable = [b for b in builds(framework, ground.knowledge) if way_exists(b, situation, freer, ground.knowledge)]
        order = nearest_first(usable, situation, wishes, ground)
    for build in order:
        tried = situation
        if "python" in freed:
            mine = build.pythons(platforms(situation, ground))
            tried = replace(tried, python=mine[-1] if mine else None)
        if "forward" in freed:
            option = _forward(freed, build, tried, freer, situation, wishes, ground)
            if option is not None:
                return option
            continue
        drivers: list[Version | None] = [*_other_drivers(tried, ground)] if "driver" in freed else [situation.driver]
        if not drivers or not _works(build, replace(tried, driver=drivers[-1]), freer, ground):
            continue
        driver = next(d for d in drivers if _works(build, replace(tried, driver=d), freer, ground))
        tried = replace(tried, driver=driver)
        return Option(
            "if " + listed(_changes(freed, build, driver, situation, wishes, ground)),
            choice(build, tried, freer, ground),
            commands(build, tried, freer, ground),
        )
    return None


def _forward(
    freed: frozenset[str],
    build: Build,
    tried: Situation,
    freer: Wishes,
    situation: Situation,
    wishes: Wishes,
    ground: Ground,
) -> Option | None:
    """The build with the forward-compatibility package of its CUDA, which holds that CUDA's own driver library."""
    cuda = build.code.cuda
    shipped = ground.translating_drivers(cuda, "linux") if cuda and len(cuda.parts) > 1 else []
    if (
        cuda is None
        or not shipped
        or not _works(build, replace(tried, driver=shipped[-1], driver_cuda=None), freer, ground)
    ):
        return None
    row = ground.knowledge.table["forward"]["rows"][0]
    said = {
        name: row[name].replace("{major}", str(cuda.parts[0])).replace("{minor}", str(cuda.parts[1]))
        for name in ("package", "install", "use")
    }
    changes = _changes(freed, build, None, situation, wishes, ground)
    changes.append(f"{said['package']} is installed and serves your driver branch ({row['page']})")
    ready = (*commands(build, tried, freer, ground), said["install"], said["use"])
    return Option("if " + listed(changes), choice(build, tried, freer, ground), ready)


def _works(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> bool:
    return verdict(build, situation, wishes, ground)[0] is True


def _other_drivers(situation: Situation, ground: Ground) -> list[Version]:
    """Drivers that these GPUs can have, oldest first; newer than the present one where there are any."""
    possible = worlds(replace(situation, driver=None), ground).values()
    common = set.intersection(*map(set, possible)) if possible else set()
    here = situation.driver
    newer = {driver for driver in common if here is None or driver.parts > here.parts}
    return sorted(newer or common, key=lambda v: v.parts)


def _changes(
    freed: frozenset[str],
    build: Build,
    driver: Version | None,
    situation: Situation,
    wishes: Wishes,
    ground: Ground,
) -> list[str]:
    told = [
        f"{name} need not stay {limit.removeprefix('==')}" for name, limit in wishes.keep if f"keep {name}" in freed
    ]
    told += [f"{name.split()[1]} installs it" for name in freed if name.startswith("manager")]
    if "python" in freed:
        told.append(f"Python is {span_text(build.pythons(platforms(situation, ground)))}")
    if "wsl" in freed:
        told.append(f"it runs in WSL2 with Python {span_text(build.pythons(platforms(situation, ground)))}")
    if "driver" in freed and driver is not None:
        older = situation.driver is not None and driver.parts < situation.driver.parts
        told.append(f"the driver is {'of an older branch, ' if older else ''}{driver} or newer")
    return told
