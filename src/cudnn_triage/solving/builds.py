"""The builds that the tables know: one for each release, CUDA and package that a recipe can install."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..knowledge.base import Knowledge
from ..tables import find_row
from ..values import Version, version
from .limits import keeps

Wheels = tuple[tuple[str, tuple[Version, ...]], ...]
"""The Pythons that there are wheels for, by platform."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a build holds for GPUs; many builds hold the same."""

    cuda: Version | None
    cudnn: Version | None
    without_cudnn: bool
    archs: tuple[tuple[str, int, int, str], ...]  # ('sm', 8, 6, ''), ('sm', 9, 0, 'a'), ('compute', 9, 0, '')
    compiles: bool  # kernels are compiled when first used, so that CUDA's own range of GPUs counts


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """One installable build of a framework, with everything that decides where it runs. Each is made once."""

    framework: str
    title: str
    variant: int  # index of the recipe's variant
    package: str
    release: Version  # without the local part
    tag: str  # local part, 'cu121'; '' where the build has none
    code: Code
    wheels: Wheels
    glibc: Version | None
    companions: tuple[tuple[str, Version, Wheels], ...]
    default: bool  # what the public registry gives for the bare version

    @property
    def name(self) -> str:
        """As pip would write it: 'torch 2.1.2+cu121'."""
        return f"{self.package} {self.release}{'+' + self.tag if self.tag else ''}"

    def pythons(self, platforms: tuple[str, ...]) -> tuple[Version, ...]:
        """The Pythons with wheels for all of these platforms that have any, oldest first."""
        return common(self.wheels, platforms)

    def goes_with(self, platforms: tuple[str, ...], pythons: tuple[Version, ...]) -> tuple[tuple[str, Version], ...]:
        """The companions that have wheels for all of these Pythons too."""
        return tuple(
            (name, release)
            for name, release, wheels in self.companions
            if set(pythons) <= set(common(wheels, platforms))
        )


def common(wheels: Wheels, platforms: tuple[str, ...]) -> tuple[Version, ...]:
    """The Pythons with wheels on all of these platforms that have any, oldest first."""
    mine = [set(found) for platform, found in wheels if platform in platforms]
    return tuple(sorted(set.intersection(*mine), key=lambda p: p.parts)) if mine else ()


@lru_cache(maxsize=32)
def builds(framework: str, knowledge: Knowledge) -> tuple[Build, ...]:
    """Every build of a framework that the tables know, oldest release first."""
    recipe = knowledge.recipes[framework]
    found = [b for i in range(len(recipe["variants"])) for b in _of_variant(recipe, i, knowledge)]
    return tuple(sorted(found, key=lambda b: (b.release.parts, b.code.cuda.parts if b.code.cuda else ())))


def _of_variant(recipe: dict[str, Any], index: int, knowledge: Knowledge) -> Iterator[Build]:
    variant = recipe["variants"][index]
    table: dict[str, Any] = knowledge.table[variant["table"]] if variant["table"] else {"match": "exact", "rows": []}
    pairs = (
        {row["key"]: row for row in knowledge.table[variant["companions"]["table"]]["rows"]}
        if variant["companions"]
        else {}
    )
    all_wheels = _wheels(knowledge)
    by_build = {row["key"]: row for row in table["rows"] if "+" in row["key"]}  # else a row is of a release
    for key in by_build or [release for package, release in all_wheels if package == variant["package"]]:
        told = version(key)
        if told is None or not keeps(told, variant["releases"]):
            continue
        row = by_build.get(key) or find_row(table, told) or {}
        row = {**row, **variant["fixed"]}
        release = Version(key.partition("+")[0], told.parts)
        wheels = all_wheels.get((variant["package"], release.text))
        if not row or wheels is None:
            continue
        pair = pairs.get(release.text, {})
        names = variant["companions"]["packages"] if variant["companions"] else ()
        yield Build(
            framework=recipe["framework"],
            title=recipe["title"],
            variant=index,
            package=variant["package"],
            release=release,
            tag=told.local,
            code=Code(
                cuda=version(row.get("cuda", "")),
                cudnn=version(row.get("cudnn", "")),
                without_cudnn=row.get("uses_cudnn") == "no",
                archs=tuple(arch(word) for word in row.get("archs", "").split()),
                compiles=variant["compiles"] == "true",
            ),
            wheels=tuple((p, found) for p, found in wheels[0].items() if p in variant["systems"]),
            glibc=wheels[1],
            companions=tuple(
                (name, found, tuple(all_wheels[name, found.text][0].items()))
                for name in names
                if (found := version(pair.get(name, ""))) and (name, found.text) in all_wheels
            ),
            default=row.get("default") == "yes",
        )


def released_for(package: str, release: Version, knowledge: Knowledge) -> frozenset[Version]:
    """The Pythons for which a release of a package has a wheel on any platform; empty where the tables do not know it."""
    found = _wheels(knowledge).get((package, release.text.partition("+")[0]))
    return frozenset(python for mine in found[0].values() for python in mine) if found else frozenset()


@lru_cache(maxsize=8)
def _wheels(knowledge: Knowledge) -> dict[tuple[str, str], tuple[dict[str, tuple[Version, ...]], Version | None]]:
    """Pythons by platform, and the oldest glibc, for each (package, release)."""
    found = {}
    for row in knowledge.table["wheels"]["rows"]:
        package, _, release = row["key"].partition(" ")
        pythons = {name: span(text) for name, text in row.items() if "-" in name}
        found[package, release] = (pythons, version(row.get("glibc", "")))
    return found


def span(text: str) -> tuple[Version, ...]:
    """The Pythons of '3.8-3.11 3.13'."""
    out = []
    for part in text.split():
        first, _, last = part.partition("-")
        low = int(first.partition(".")[2])
        high = int(last.partition(".")[2]) if last else low
        out += [Version(f"3.{minor}", (3, minor)) for minor in range(low, high + 1)]
    return tuple(out)


def arch(word: str) -> tuple[str, int, int, str]:
    """('sm', 9, 0, 'a') of sm_90a."""
    kind, _, number = word.partition("_")
    digits = number.rstrip("af")
    return kind, int(digits[:-1]), int(digits[-1]), number[len(digits) :]
