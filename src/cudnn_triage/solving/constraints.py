"""Whether a build works in a situation: one check per constraint, each true, false or unknown, with the reason in words.

What is not known of the situation is tried in every value that the tables hold and that fits the rest: a check is true
if it holds for all of them, false if for none, else unknown. So nothing is guessed and nothing is asked in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ..values import Version
from .builds import Build, released_for
from .ground import SYSTEMS, Ground, at_least, pythons
from .limits import keeps
from .situation import Situation, Wishes


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one constraint. ``unknown`` names the parts of the situation that would decide it; an empty one of an
    unknown verdict means that the tables do not say."""

    holds: bool | None
    reason: str
    unknown: tuple[str, ...] = ()


def checks(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Iterator[Check]:
    """All constraints on a build; what is cheapest to understand comes first."""
    yield from _kept(build, situation, wishes)
    yield _platform(build, situation)
    yield _python(build, situation, wishes, ground)
    yield _glibc(build, situation, ground)
    yield _architecture(build, situation, ground)
    yield _cudnn(build, situation, ground)
    yield _driver(build, situation, ground)


def verdict(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> tuple[bool | None, list[Check]]:
    """False with the first check that fails; else all checks, and None where one of them is unknown."""
    done: list[Check] = []
    for check in checks(build, situation, wishes, ground):
        if check.holds is False:
            return False, [check]
        done.append(check)
    return (None if any(check.holds is None for check in done) else True), done


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
    return ("windows",) if situation.windows_driver else systems(situation)


def worlds(situation: Situation, ground: Ground) -> Iterator[tuple[Version, Version, str]]:
    """Every (GPU, driver, numbering) that is possible: no driver without its GPU, no GPU without its driver."""
    for system in numbering(situation):
        for capability in situation.gpus or ground.capabilities:
            for driver in (situation.driver,) if situation.driver else ground.drivers(system):
                if ground.serves(driver, capability, system):
                    yield capability, driver, system


def _kept(build: Build, situation: Situation, wishes: Wishes) -> Iterator[Check]:
    versions = {build.package: build.release, **dict(build.companions)}
    parts = {"cuda": build.cuda, "cudnn": build.cudnn}
    for name, limit in wishes.keep:
        has = versions.get(name) or parts.get(name)
        if name == build.package and build.tag:
            has = Version(f"{build.release}+{build.tag}", build.release.parts)
        if has is None and name in parts:
            yield Check(None, f"which {name} it brings is not in the tables")
        elif has is None:
            yield Check(False, f"there is no {name} that goes with it")
        else:
            yield Check(keeps(has, limit), f"{name} {has}" + ("" if keeps(has, limit) else f", and {limit} is to stay"))


def _platform(build: Build, situation: Situation) -> Check:
    names = {name for name, _ in build.wheels}
    if situation.jetson:
        return Check(False, "Jetson needs NVIDIA's own wheels for its JetPack, which are not in the tables")
    fits = {system: any(name.startswith(f"{system}-") for name in names) for system in systems(situation)}
    holds = over(fits.values())
    if situation.processor and situation.system:
        holds = f"{situation.system}-{situation.processor}" in names
    listed = ", ".join(sorted(names)) or "none"
    return Check(holds, f"GPU wheels for {listed}", () if situation.system else ("system",))


def _python(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Check:
    mine = build.pythons(platforms(situation, ground))
    if not mine:
        return Check(False, "no wheels for this processor")
    told = f"wheels for Python {span_text(mine)}"
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
        return Check(at_least(ground.assumed_glibc, build.glibc), f"needs glibc {build.glibc} or newer")
    holds = at_least(situation.glibc, build.glibc)
    return Check(holds, "" if holds else f"needs glibc {build.glibc} or newer; here {situation.glibc}")


def _architecture(build: Build, situation: Situation, ground: Ground) -> Check:
    results: dict[Version, set[bool | None]] = {}
    needed: set[Version] = set()
    for capability, driver, system in worlds(situation, ground):
        kind = runs(build, capability, ground)
        if kind == "ptx" and build.cuda:
            least = ground.translating_driver(build.cuda, system)
            fits = None if least is None else at_least(driver, least)
            if least is not None:
                needed.add(least)
        else:
            fits = None if kind == "unknown" else kind == "native"
        results.setdefault(capability, set()).add(fits)
    each = {capability: over(found) for capability, found in results.items()}
    if not each:
        return Check(False, "this driver and this GPU do not go together")
    held = None if None in each.values() else all(each.values())
    if situation.gpus:
        holds: bool | None = False if False in each.values() else held
    else:
        holds = over(each.values())
    return Check(holds, _code(build, each, situation, needed), _undecided(holds, build, each, situation))


def _undecided(
    holds: bool | None, build: Build, each: dict[Version, bool | None], situation: Situation
) -> tuple[str, ...]:
    if holds is not None or (not build.archs and build.cuda is None):
        return ()
    names = [] if situation.gpus else ["gpu"]
    if not situation.driver and build.archs and any(found is None for found in each.values()):
        names.append("driver")
    return tuple(names)


def runs(build: Build, capability: Version, ground: Ground) -> str:
    """How a build runs on a GPU: 'native' code, 'ptx' that the driver compiles, 'no', or 'unknown'.

    Machine code runs on its own compute capability and on higher minor ones of the same major; that with a suffix (sm_90a)
    only on its own. PTX is compiled for every newer GPU.
    """
    major, least = capability.parts[0], capability.parts[1]
    if not build.archs:
        known = ground.range_of(build.cuda) if build.cuda else None
        if known is None:
            return "unknown"
        if not known[0].parts <= capability.parts <= known[1].parts:
            return "no"
        return "native" if build.compiles else "unknown"
    for kind, high, low, suffix in build.archs:
        if kind == "sm" and high == major and (low == least if suffix else low <= least):
            return "native"
    if any(kind == "compute" and not suffix and (high, low) <= (major, least) for kind, high, low, suffix in build.archs):
        return "ptx"
    return "no"


def _code(build: Build, each: dict[Version, bool | None], situation: Situation, needed: set[Version]) -> str:
    wanted = ", ".join(str(cc) for cc in situation.gpus) or "these GPUs"
    named = " ".join(f"{kind}_{high}{low}{suffix}" for kind, high, low, suffix in build.archs)
    if not all(each.values()) and needed:
        least = max(needed, key=lambda v: v.parts)
        return f"has only PTX for compute capability {wanted}, which a driver of {least} or newer compiles"
    if False in each.values():
        missing = ", ".join(f"{cc}" for cc, found in each.items() if found is False and (cc in situation.gpus))
        held = f" (built for {named})" if named else ""
        return f"no code for compute capability {missing or wanted}{held}"
    if not named:
        return f"CUDA {build.cuda} serves compute capability {wanted}" if build.cuda else "its architectures are not known"
    return f"code for compute capability {wanted} (built for {named})"


def _cudnn(build: Build, situation: Situation, ground: Ground) -> Check:
    if build.without_cudnn or (build.cudnn is None and not situation.gpus):
        return Check(True, "")
    oldest = ground.oldest_for_cudnn(build.cudnn, build.cuda)
    if oldest is None:
        return Check(None, f"which GPUs cuDNN {build.cudnn} serves is not in the tables")
    possible = {capability for capability, _, _ in worlds(situation, ground)}
    holds = over(capability.parts >= oldest.parts for capability in possible)
    if situation.gpus and any(capability.parts < oldest.parts for capability in possible):
        holds = None if build.cudnn is None or len(build.cudnn.parts) < 2 else False
    if build.cudnn is None or len(build.cudnn.parts) < 2:
        told = f"its cuDNN is not known, and newer ones serve only compute capability {oldest} and higher"
        return Check(None, told) if holds is not True else Check(True, "")
    names = () if situation.gpus or holds is not None else ("gpu",)
    return Check(holds, f"its cuDNN {build.cudnn} serves compute capability {oldest} and higher", names)


def _driver(build: Build, situation: Situation, ground: Ground) -> Check:
    if build.cuda is None:
        return Check(None, "its CUDA is not in the tables")
    least = {system: ground.oldest_driver(build.cuda, system) for system in numbering(situation)}
    if None in least.values():
        return Check(None, f"the oldest driver for CUDA {build.cuda} is not in the tables")
    results = [at_least(driver, bound) for _, driver, system in worlds(situation, ground) if (bound := least[system])]
    holds = over(results) if results else False
    bounds = " and ".join(f"{bound} ({_SPELT[system]})" for system, bound in least.items())
    here = f"; here {situation.driver}" if situation.driver else ""
    unknown = () if holds is not None else tuple(_open(situation))
    return Check(holds, f"CUDA {build.cuda} needs a driver of {bounds} or newer{here}", unknown)


_SPELT = {"linux": "Linux", "windows": "Windows"}


def _open(situation: Situation) -> Iterator[str]:
    if situation.driver is None:
        yield "driver"
    elif not situation.system:
        yield "system"


def span_text(found: Iterable[Version]) -> str:
    """'3.9 to 3.12' of a row of Pythons; gaps are listed."""
    runs_found: list[list[int]] = []
    for python in sorted(found, key=lambda p: p.parts):
        if runs_found and python.parts[1] == runs_found[-1][-1] + 1:
            runs_found[-1].append(python.parts[1])
        else:
            runs_found.append([python.parts[1]])
    return ", ".join(f"3.{r[0]}" if len(r) == 1 else f"3.{r[0]} to 3.{r[-1]}" for r in runs_found)


AXES: dict[str, Callable[[Situation, Ground, str], Iterator[Situation]]] = {
    "driver": lambda s, g, f: (
        replace(s, driver=driver)
        for driver in sorted({d for _, d, _ in worlds(s, g)}, key=lambda v: v.parts)
    ),
    "gpu": lambda s, g, f: (
        replace(s, gpus=(cc,)) for cc in sorted({c for c, _, _ in worlds(s, g)}, key=lambda v: v.parts)
    ),
    "python": lambda s, g, f: (replace(s, python=python) for python in pythons(f, g.knowledge)),
    "system": lambda s, g, f: (replace(s, system=system) for system in SYSTEMS),
}
"""For each part of a situation that may be unknown: the situations in which it is known."""
