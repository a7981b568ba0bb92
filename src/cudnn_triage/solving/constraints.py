"""Whether a build works in a situation: one check per constraint, each true, false or unknown, with the reason in words.

What is not known of the situation is tried in every value that the tables hold and that fits the rest: a check is true
if it holds for all of them, false if for none, else unknown. So nothing is guessed and nothing is asked in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ..values import Version
from .builds import Build, Code, released_for
from .ground import SYSTEMS, Ground, at_least, pythons
from .limits import keeps
from .situation import Situation, Wishes
from .words import PARTS


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one constraint. ``unknown`` names the parts of the situation that would decide it; an empty one of an
    unknown verdict means that the tables do not say."""

    holds: bool | None
    reason: str
    unknown: tuple[str, ...] = ()


def checks(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Iterator[Check]:
    """All constraints on a build; what is cheapest to understand comes first."""
    if not consistent(situation, ground):
        yield Check(False, "this driver and this GPU do not go together")
        return
    yield from _kept(build, situation, wishes, ground)
    yield _platform(build, situation, ground)
    yield _python(build, situation, wishes, ground)
    yield _glibc(build, situation, ground)
    yield _architecture(build.code, situation, ground)
    yield _cudnn(build.code, situation, ground)
    yield _driver(build.code, situation, ground)


def verdict(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> tuple[bool | None, list[Check]]:
    """False with the first check that fails; else all checks, and None where one of them is unknown."""
    done: list[Check] = []
    for check in checks(build, situation, wishes, ground):
        if check.holds is False:
            return False, [check]
        done.append(check)
    return (None if any(check.holds is None for check in done) else True), done


def open_parts(done: Iterable[Check]) -> list[str]:
    """The parts of the situation that would decide the checks that are unknown, in the order in which to ask for them."""
    named = {name for check in done if check.holds is None for name in check.unknown}
    return [name for name in PARTS if name in named]


def over(values: Iterable[bool | None]) -> bool | None:
    """True if all are true, False if all are false, else None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def systems(situation: Situation) -> tuple[str, ...]:
    """The systems that this machine may run."""
    return (situation.system,) if situation.system else SYSTEMS


def platforms(situation: Situation, ground: Ground) -> tuple[str, ...]:
    """The platforms, as wheels name them, that this machine may be. An unknown processor is taken for the usual one."""
    processor = situation.processor or ground.assumed["platform.arch"]
    return tuple(f"{system}-{processor}" for system in systems(situation))


def numbering(situation: Situation) -> tuple[str, ...]:
    """Whose driver numbers count: under WSL the driver is that of Windows."""
    if situation.windows_driver:
        return ("windows",)
    return tuple(system for system in systems(situation) if system in SYSTEMS) or SYSTEMS


@lru_cache(maxsize=1024)
def worlds(situation: Situation, ground: Ground) -> dict[tuple[Version, str], tuple[Version, ...]]:
    """The drivers that are possible for each (GPU, numbering) that is: no driver without its GPU, no GPU without its driver."""
    found: dict[tuple[Version, str], tuple[Version, ...]] = {}
    for system in numbering(situation):
        for capability in situation.gpus or ground.capabilities:
            if situation.driver is None:
                drivers = ground.drivers(capability, system)
                if situation.driver_cuda is not None:
                    drivers = tuple(d for d in drivers if ground.in_branch(d, situation.driver_cuda))
            else:
                drivers = (situation.driver,) if ground.serves(situation.driver, capability, system) else ()
            if drivers:
                found[capability, system] = drivers
    return found


def consistent(situation: Situation, ground: Ground) -> bool:
    """Whether this driver and these GPUs can be in one machine."""
    possible = {capability for capability, _ in worlds(situation, ground)}
    return bool(possible) and all(capability in possible for capability in situation.gpus)


def companions(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> tuple[tuple[str, Version], ...]:
    """The packages that are installed beside a build: those with wheels for every Python that it may be."""
    where = platforms(situation, ground)
    mine = build.pythons(where)
    if ground.managers[wishes.manager].get("environment") == "yes":
        possible = tuple(python for python in (situation.python, *mine[-1:]) if python in mine)[:1]
    elif situation.python is not None:
        possible = (situation.python,)
    else:
        possible = tuple(python for python in _possible_pythons(build, situation, ground) if python in mine)
    return build.goes_with(where, possible)


def _kept(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Iterator[Check]:
    if not wishes.keep:
        return
    versions = {build.package: build.release, **dict(companions(build, situation, wishes, ground))}
    parts = {"cuda": build.code.cuda, "cudnn": build.code.cudnn}
    for name, limit in wishes.keep:
        has = versions.get(name) or parts.get(name)
        if name == build.package and build.tag:
            has = Version(f"{build.release}+{build.tag}", build.release.parts)
        if has is None and name in parts:
            yield Check(None, f"which {name} it brings is not in the tables")
        elif has is None:
            yield Check(False, f"no {name} goes with it here")
        else:
            kept = keeps(has, limit)
            yield Check(kept, f"{name} {has}" if kept else f"{name} is to stay {limit.removeprefix('==')}")


def _platform(build: Build, situation: Situation, ground: Ground) -> Check:
    names = {name for name, _ in build.wheels}
    if situation.jetson:
        return Check(False, "Jetson needs NVIDIA's own wheels for its JetPack, which are not in the tables")
    fits = {system: any(name.startswith(f"{system}-") for name in names) for system in systems(situation)}
    holds = over(fits.values())
    if situation.processor and situation.system:
        holds = f"{situation.system}-{situation.processor}" in names
    told = _wheels(build, situation, ground, here=bool(situation.system and not holds))
    return Check(holds, told, () if situation.system else ("system",))


def _wheels(build: Build, situation: Situation, ground: Ground, *, here: bool) -> str:
    """For which platforms there are wheels, and which one is ``here``."""
    listed = ", ".join(sorted({name for name, _ in build.wheels})) or "none"
    return f"GPU wheels for {listed}" + (f"; here {platforms(situation, ground)[0]}" if here else "")


def _python(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Check:
    mine = build.pythons(platforms(situation, ground))
    if not mine:
        return Check(False, _wheels(build, situation, ground, here=True))
    here = f"; here {situation.python}" if situation.python else ""
    told = f"wheels for Python {span_text(mine)}{here}"
    if ground.managers[wishes.manager].get("environment") == "yes":
        return Check(True, told)
    if situation.python is not None:
        return Check(situation.python in mine, told)
    possible = _possible_pythons(build, situation, ground)
    holds = over(python in mine for python in possible)
    return Check(holds, told, () if holds is not None else ("python",))


def _possible_pythons(build: Build, situation: Situation, ground: Ground) -> tuple[Version, ...]:
    """The Pythons that the machine may have: those with a wheel of what is installed there."""
    everything = pythons(build.framework, ground.knowledge)
    has = situation.has(build.package)
    if has is None or situation.conda:
        return everything
    with_wheels = released_for(build.package, has, ground.knowledge)
    return tuple(p for p in everything if p in with_wheels) or everything


def _glibc(build: Build, situation: Situation, ground: Ground) -> Check:
    if build.glibc is None or situation.system in ("windows", "macos"):
        return Check(True, "")
    if situation.glibc is None:
        return Check(at_least(ground.assumed_glibc, build.glibc), "")  # the answer says what is assumed
    holds = at_least(situation.glibc, build.glibc)
    return Check(holds, "" if holds else f"needs glibc {build.glibc} or newer; here {situation.glibc}")


@lru_cache(maxsize=1024)
def _architecture(code: Code, situation: Situation, ground: Ground) -> Check:
    results: dict[Version, list[bool | None]] = {}
    kinds: dict[Version, str] = {}
    for (capability, system), drivers in worlds(situation, ground).items():
        kind = kinds[capability] = runs(code, capability, ground)
        if kind == "ptx" and code.cuda:
            fits = over(ground.translates(driver, code.cuda, system) for driver in (drivers[0], drivers[-1]))
        else:
            fits = None if kind == "unknown" else kind == "native"
        results.setdefault(capability, []).append(fits)
    each = {capability: over(found) for capability, found in results.items()}
    holds = over(each.values())
    if situation.gpus and not all(each.values()):  # every one of them must work
        holds = False if False in each.values() else None
    unknown: list[str] = []
    if holds is None and not situation.gpus and "unknown" not in kinds.values():
        unknown.append("gpu")
    if holds is None and situation.driver is None and any(kinds[cc] == "ptx" and each[cc] is None for cc in each):
        unknown.append("driver")
    return Check(holds, _held(code, each, kinds, situation, ground), tuple(unknown))


def runs(code: Code, capability: Version, ground: Ground) -> str:
    """How a build runs on a GPU: 'native' code, 'ptx' that the driver compiles, 'no', or 'unknown'.

    Machine code runs on its own compute capability and on higher minor ones of the same major; that with a suffix (sm_90a)
    only on its own. PTX is compiled for every newer GPU.
    """
    major, least = capability.parts[0], capability.parts[1]
    if not code.archs:
        known = ground.range_of(code.cuda) if code.cuda else None
        if known is None:
            return "unknown"
        if not known[0].parts <= capability.parts <= known[1].parts:
            return "no"
        return "native" if code.compiles else "unknown"
    for kind, high, low, suffix in code.archs:
        if kind == "sm" and high == major and (low == least if suffix else low <= least):
            return "native"
    if any(
        kind == "compute" and not suffix and (high, low) <= (major, least) for kind, high, low, suffix in code.archs
    ):
        return "ptx"
    return "no"


def _held(
    code: Code,
    each: dict[Version, bool | None],
    kinds: dict[Version, str],
    situation: Situation,
    ground: Ground,
) -> str:
    """What a build holds for the GPUs in question."""
    named = " ".join(f"{kind}_{high}{low}{suffix}" for kind, high, low, suffix in code.archs)
    holds = f" (built for {named})" if named else f": CUDA {code.cuda} serves others"
    without = [cc for cc in each if kinds[cc] == "no"]
    if without and (situation.gpus or len(without) == len(each)):
        wanted = without if situation.gpus else []
        return f"no code for compute capability {_row(wanted)}{holds}" if wanted else f"no code for these GPUs{holds}"
    if "unknown" in kinds.values():
        return "which GPUs it has code for is not in the tables"
    translated = [cc for cc in situation.gpus if kinds[cc] == "ptx"]
    if translated and code.cuda:
        systems_of = numbering(situation)
        bounds = [ground.translating_drivers(code.cuda, system) for system in systems_of]
        least = " or ".join(
            f"{found[-1]} ({_SPELT[system]})" for system, found in zip(systems_of, bounds, strict=True) if found
        )
        verb = "compiles" if all(each[cc] for cc in translated) else "would compile"
        return f"only PTX for compute capability {_row(translated)}, which a driver of {least} or newer {verb}{holds}"
    wanted = list(situation.gpus)
    if not named:
        return f"CUDA {code.cuda} serves compute capability {_row(wanted)}" if wanted else f"CUDA {code.cuda} serves it"
    return f"code for compute capability {_row(wanted)}{holds}" if wanted else f"code for the GPU{holds}"


def _row(capabilities: Iterable[Version]) -> str:
    return ", ".join(map(str, capabilities))


@lru_cache(maxsize=1024)
def _cudnn(code: Code, situation: Situation, ground: Ground) -> Check:
    if code.without_cudnn:
        return Check(True, "")
    oldest = ground.oldest_for_cudnn(code.cudnn, code.cuda)
    if oldest is None:
        return Check(None, f"which GPUs cuDNN {code.cudnn} serves is not in the tables")
    possible = {capability for capability, _ in worlds(situation, ground)}
    holds = over(capability.parts >= oldest.parts for capability in possible)
    if situation.gpus and not holds:
        holds = False
    if code.cudnn is None or len(code.cudnn.parts) < 2:  # the limit is the highest of all that it may be
        told = f"its cuDNN is not known, and newer ones serve only compute capability {oldest} and higher"
        return Check(True, "") if holds else Check(None, told, () if situation.gpus else ("gpu",))
    unknown = () if situation.gpus or holds is not None else ("gpu",)
    return Check(holds, f"its cuDNN {code.cudnn} serves compute capability {oldest} and higher", unknown)


@lru_cache(maxsize=1024)
def _driver(code: Code, situation: Situation, ground: Ground) -> Check:
    if code.cuda is None:
        return Check(None, "its CUDA is not in the tables")
    least = {system: ground.oldest_driver(code.cuda, system) for system in numbering(situation)}
    results: list[bool | None] = []
    for (_, system), drivers in worlds(situation, ground).items():
        bound = least[system]
        results += [None] if bound is None else [at_least(drivers[0], bound), at_least(drivers[-1], bound)]
    known = {system: bound for system, bound in least.items() if bound}
    if not known:
        return Check(None, f"the oldest driver for CUDA {code.cuda} is not in the tables")
    needing, known = _with_gpus(f"CUDA {code.cuda}", known, situation, ground)
    same = len(known) > 1 and len({bound.text for bound in known.values()}) == 1
    bounds = " and ".join(f"{bound} ({_SPELT[system]})" for system, bound in known.items())
    bounds = next(iter(known.values())).text if same else bounds
    holds = over(results)
    here = f"; here {situation.driver}" if situation.driver else ""
    unknown = () if holds is not None else ("system",) if situation.driver else ("driver",)
    return Check(holds, f"{needing} needs a driver of {bounds} or newer{here}", unknown)


def _with_gpus(
    needing: str, least: dict[str, Version], situation: Situation, ground: Ground
) -> tuple[str, dict[str, Version]]:
    """What needs a driver, and the oldest that will do: where a GPU came after the CUDA release, its own first driver."""
    late: set[Version] = set()
    for system, bound in least.items():
        for capability in situation.gpus:
            first = ground.first_driver(capability, system)
            if first and not at_least(bound, first):
                late.add(capability)
                least = {**least, system: max(least[system], first, key=lambda v: v.parts)}
    if not late:
        return needing, least
    return f"{needing} on compute capability {_row(sorted(late, key=lambda cc: cc.parts))}", least


_SPELT = {"linux": "Linux", "windows": "Windows"}


def span_text(found: Iterable[Version]) -> str:
    """'3.9 to 3.12' of a row of Pythons; gaps are listed."""
    runs_found: list[list[int]] = []
    for python in sorted(found, key=lambda p: p.parts):
        if runs_found and python.parts[1] == runs_found[-1][-1] + 1:
            runs_found[-1].append(python.parts[1])
        else:
            runs_found.append([python.parts[1]])
    return ", ".join(f"3.{r[0]}" if len(r) == 1 else f"3.{r[0]} to 3.{r[-1]}" for r in runs_found)


def values(axis: str, situation: Situation, ground: Ground, framework: str) -> Iterator[Situation]:
    """The situations in which one part that is not known would be: in each of its possible values, in order."""
    if axis == "driver":
        drivers = {driver for found in worlds(situation, ground).values() for driver in found}
        yield from (replace(situation, driver=driver) for driver in sorted(drivers, key=lambda v: v.parts))
    elif axis == "gpu":
        possible = {capability for capability, _ in worlds(situation, ground)}
        yield from (replace(situation, gpus=(cc,)) for cc in sorted(possible, key=lambda v: v.parts))
    elif axis == "python":
        yield from (replace(situation, python=python) for python in pythons(framework, ground.knowledge))
    else:
        yield from (replace(situation, system=system) for system in SYSTEMS)
