"""Which of two builds is preferred: the one nearer to what is installed or to stay, else the newer one."""

from __future__ import annotations

from ..values import Version
from .builds import Build
from .constraints import runs
from .ground import Ground
from .limits import limits
from .situation import Situation, Wishes

Key = tuple[object, ...]


def nearest_first(usable: list[Build], situation: Situation, wishes: Wishes, ground: Ground) -> list[Build]:
    """Builds in the order of preference: fewest minor releases away from what is installed (the same one first, newer before
    older), or newest where nothing is; then machine code for the GPU before PTX, the installed CUDA, the registry's default
    build, the newest CUDA."""
    steps = {release: i for i, release in enumerate(sorted({b.release.parts[:2] for b in usable}))}
    package, has = _anchor(usable, situation, wishes)
    at = sum(1 for release in steps if release < has.parts[:2]) if has else 0

    def how(build: Build) -> Key:
        native = all(runs(build.code, capability, ground) == "native" for capability in situation.gpus)
        return (
            bool(package) and build.package != package,
            not native,
            has is None or build.tag != has.local,
            not build.default,
            _newest(build.code.cuda.parts if build.code.cuda else ()),
        )

    def cost(build: Build) -> Key:
        parts = build.release.parts
        if has is None:
            return (_newest(parts), *how(build))
        away = abs(steps[parts[:2]] - at)
        return (away, parts[: len(has.parts)] != has.parts, parts < has.parts, _newest(parts), *how(build))

    return sorted(usable, key=cost)


def _anchor(usable: list[Build], situation: Situation, wishes: Wishes) -> tuple[str, Version | None]:
    """The package and release to stay near to: what is installed, else what is to stay."""
    packages = {build.package for build in usable}
    for name, release in situation.installed:
        if name in packages:
            return name, release
    for name, limit in wishes.keep:
        if name in packages:
            return name, next((bound for operator, bound in limits(limit) if operator == "=="), None)
    return "", None


def _newest(parts: tuple[int, ...]) -> tuple[int, ...]:
    """A key by which the newest comes first."""
    return tuple(-part for part in (*parts, 0, 0, 0, 0)[:4])
