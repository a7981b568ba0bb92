"""What is known of a machine and of the wishes of its user, read from facts; everything that is not known stays so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..facts import Facts
from ..knowledge.base import Knowledge
from ..tables import find_row
from ..values import Value, Version, compare, version

_SYSTEMS = {"linux": "linux", "windows": "windows", "win32": "windows", "macos": "macos", "darwin": "macos"}
_PROCESSORS = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True, slots=True)
class Situation:
    """A machine as far as it is known: empty and None mean unknown, never absent."""

    gpus: tuple[Version, ...] = ()  # compute capability of every GPU that must work
    driver: Version | None = None
    driver_cuda: Version | None = None  # newest CUDA that the driver supports, which tells its branch
    system: str = ""  # linux, windows, macos
    processor: str = ""  # x86_64, aarch64
    python: Version | None = None  # major.minor
    glibc: Version | None = None
    windows_driver: bool = False  # WSL: Linux, with a driver that is numbered as on Windows
    jetson: bool = False
    installed: tuple[tuple[str, Version], ...] = ()  # packages of the framework
    conda: bool = False
    datacenter: bool = False  # every GPU is of the kind that NVIDIA's forward-compatibility packages serve

    def has(self, package: str) -> Version | None:
        """The installed version of a package, where it is known."""
        return dict(self.installed).get(package)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What must stay, as limits by name (a package, cuda, cudnn), and how the commands are to be."""

    keep: tuple[tuple[str, str], ...] = ()
    manager: str = "pip"


def from_facts(facts: Facts, framework: str, knowledge: Knowledge) -> Situation:
    """The situation that facts describe, as far as it concerns one framework. Facts that contradict one another are unknown."""
    recipe = knowledge.recipes[framework]
    system = _SYSTEMS.get(_word(facts, "platform.os"), "")
    wsl = bool(facts.values("platform.wsl"))
    processor = _word(facts, "platform.arch")
    processor = _PROCESSORS.get(processor, processor)
    capabilities = [value for value in facts.values("gpu.cc") if isinstance(value, Version) and len(value.parts) == 2]
    installed: dict[str, Version] = {}
    for name in recipe["installed"]:
        release = _one(facts.values(name))
        if release is not None:
            installed.setdefault(recipe["variants"][0]["package"], release)
    for variant in recipe["variants"]:
        for package in (variant["package"], *(variant["companions"] or {"packages": ()})["packages"]):
            release = _one(facts.values(f"package.{package}"))
            if release is not None:
                installed.setdefault(package, release)
    return Situation(
        gpus=tuple(sorted(capabilities, key=lambda cc: cc.parts)),
        driver=_one(facts.values("driver.version")),
        driver_cuda=_one(facts.values("cuda.driver")),
        system="linux" if wsl else system,
        processor=processor,
        python=_python(facts),
        glibc=_one(facts.values("glibc.version")),
        windows_driver=wsl,
        jetson=bool(facts.values("platform.jetson")),
        installed=tuple(sorted(installed.items(), key=lambda item: item[0])),
        datacenter=_datacenter(facts.values("gpu.name"), knowledge),
        conda=_word(facts, "platform.packages") == "conda" or bool(facts.values("conda.environment")),
    )


def _datacenter(names: list[Value], knowledge: Knowledge) -> bool:
    table = knowledge.table.get("gpus")
    if table is None or not names:
        return False
    return all((find_row(table, name) or {}).get("kind") == "datacenter" for name in names)


def _word(facts: Facts, name: str) -> str:
    values = {str(value).casefold() for value in facts.values(name)}
    return values.pop() if len(values) == 1 else ""


def _one(values: Iterable[Value]) -> Version | None:
    """The version that all values agree on, the most exact of them; None where there is none or they differ."""
    found = [value for value in values if isinstance(value, Version) and value.parts]
    best = max(found, key=lambda value: (len(value.parts), len(value.local)), default=None)
    if best is None or any(compare(best, other) != 0 or other.local not in ("", best.local) for other in found):
        return None
    return best


def _python(facts: Facts) -> Version | None:
    told = _one(facts.values("python.version"))
    if told is not None and len(told.parts) >= 2:
        return told.first(2)
    major, minor = facts.one("python.major"), facts.one("python.minor")
    if told is None and isinstance(major, int) and isinstance(minor, int) and major == 3:
        return version(f"{major}.{minor}")
    return None
