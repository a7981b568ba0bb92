"""What the compatibility tables say about drivers, architectures and cuDNN, in the form that the constraints ask for."""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from typing import Any

from ..knowledge.base import Knowledge
from ..values import Version, version
from .builds import builds
from .limits import limits

SYSTEMS = ("linux", "windows")
"""The systems with NVIDIA's CUDA today."""


class Ground:
    """The tables, read once. Rows that a table lacks are unknown, not false."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        rows = {name: {row["key"]: row for row in knowledge.table[name]["rows"]} for name in TABLES}
        self._drivers = rows["cuda-driver"]
        self._ranges = rows["cuda-build-archs"]
        self._cudnn = rows["cudnn-support"]
        self._served = rows["driver-archs"]
        self.assumed = {key: row["value"] for key, row in rows["assumed"].items()}
        self.assumed_glibc = read(self.assumed["glibc.version"])
        self.managers = rows["managers"]
        self.capabilities = tuple(read(key) for key in self._served)
        self.ended = {key: row["told"] for key, row in rows["systems"].items()}
        """Systems for which there is no CUDA any more, with what is to be said of them."""
        branches = knowledge.table["driver-cuda"]["rows"]
        self._branches = {row["cuda"]: limits(row["key"]) for row in branches}
        self.steps = {system: self._thresholds(system) for system in SYSTEMS}

    def oldest_driver(self, cuda: Version, system: str) -> Version | None:
        """The oldest driver that runs programs of a CUDA release (minor-version compatibility within a major)."""
        return version(self._drivers.get(minor(cuda), {}).get(_column("driver", system), ""))

    def translates(self, driver: Version, cuda: Version, system: str) -> bool | None:
        """Whether a driver compiles the PTX of a CUDA release: it must not be older than the one that came with it. Of a CUDA
        of which only the major is known, between the oldest and the newest minor release, nobody can tell."""
        bounds = self.translating_drivers(cuda, system)
        if not bounds or at_least(driver, bounds[-1]):
            return True if bounds else None
        return None if at_least(driver, bounds[0]) else False

    def translating_drivers(self, cuda: Version, system: str) -> list[Version]:
        """The drivers that came with a CUDA release, or with each of a major, oldest first."""
        prefix = cuda.parts[:2]
        column = _column("toolkit_driver", system)
        mine = (row.get(column, "") for key, row in self._drivers.items() if read(key).parts[: len(prefix)] == prefix)
        return sorted((found for text in mine if (found := version(text))), key=lambda v: v.parts)

    def first_driver(self, capability: Version, system: str) -> Version | None:
        """The first driver branch that knows a GPU."""
        return version(self._served.get(str(capability), {}).get(_column("oldest", system), ""))

    def last_driver(self, capability: Version) -> Version | None:
        """The last driver branch that serves a GPU; None where there is no last one yet."""
        return version(self._served.get(str(capability), {}).get("newest", ""))

    def serves(self, driver: Version, capability: Version, system: str) -> bool:
        """Whether a driver and a GPU can be in one machine; true where the tables do not say."""
        first, last = self.first_driver(capability, system), self.last_driver(capability)
        return (first is None or at_least(driver, first)) and (last is None or driver.parts[0] <= last.parts[0])

    def range_of(self, cuda: Version) -> tuple[Version, Version] | None:
        """The oldest and newest compute capability that a CUDA release has code for."""
        row = self._ranges.get(minor(cuda))
        return (read(row["oldest"]), read(row["newest"])) if row else None

    def oldest_for_cudnn(self, cudnn: Version | None, cuda: Version | None) -> Version | None:
        """The oldest compute capability that a cuDNN release serves. Of an unknown release, the highest of all such limits."""
        if cudnn is not None and len(cudnn.parts) >= 2:
            row = self._cudnn.get(minor(cudnn))
            return read(_oldest(row, cuda)) if row else None
        major = [row for key, row in self._cudnn.items() if cudnn is None or read(key).parts[0] == cudnn.parts[0]]
        return max((read(_oldest(row, cuda)) for row in major), key=lambda cc: cc.parts, default=None)

    @cached_property
    def newest_driver(self) -> Version:
        """The newest driver that any table knows."""
        return max((steps[-1] for steps in self.steps.values()), key=lambda v: v.parts)

    @cached_property
    def oldest_known_driver(self) -> Version:
        """The oldest driver that any table knows."""
        return min((steps[0] for steps in self.steps.values()), key=lambda v: v.parts)

    @cache  # noqa: B019 - there are few grounds, and they live as long as the program
    def drivers(self, capability: Version, system: str) -> tuple[Version, ...]:
        """The drivers that a GPU can have, by some that stand for all others: one at each step where a table changes."""
        return tuple(driver for driver in self.steps[system] if self.serves(driver, capability, system))

    def in_branch(self, driver: Version, cuda: Version) -> bool:
        """Whether a driver can be of a branch whose newest CUDA is ``cuda``; true where the tables do not know that branch."""
        bounds = self._branches.get(minor(cuda))
        return bounds is None or all(
            at_least(driver, bound) if operator == ">=" else not at_least(driver, bound) for operator, bound in bounds
        )

    def _thresholds(self, system: str) -> tuple[Version, ...]:
        columns = [_column(name, system) for name in ("driver", "toolkit_driver")]
        found = {row.get(column, "") for row in self._drivers.values() for column in columns}
        found |= {row.get(_column("oldest", system), "") for row in self._served.values()}
        steps = {value for text in found if (value := version(text))}
        beyond = {
            Version(str(v.parts[0] + 1), (v.parts[0] + 1,)) for cc in self.capabilities if (v := self.last_driver(cc))
        }
        starts = {bound for bounds in self._branches.values() for operator, bound in bounds if operator == ">="}
        return tuple(sorted(steps | beyond | starts, key=lambda v: v.parts))


TABLES = (
    "cuda-driver",
    "driver-cuda",
    "cuda-build-archs",
    "cudnn-support",
    "driver-archs",
    "forward",
    "assumed",
    "managers",
    "systems",
    "wheels",
)
"""The tables that every recipe needs."""


@lru_cache(maxsize=4)
def ground(knowledge: Knowledge) -> Ground:
    """The tables of a knowledge base, read once."""
    return Ground(knowledge)


@lru_cache(maxsize=32)
def pythons(framework: str, knowledge: Knowledge) -> tuple[Version, ...]:
    """Every Python that some build of a framework has wheels for, oldest first."""
    found = {python for build in builds(framework, knowledge) for _, mine in build.wheels for python in mine}
    return tuple(sorted(found, key=lambda p: p.parts))


def at_least(value: Version, bound: Version) -> bool:
    """Whether ``value`` is not older than ``bound``; what it does not say counts as zero."""
    size = max(len(value.parts), len(bound.parts))
    return value.parts + (0,) * (size - len(value.parts)) >= bound.parts + (0,) * (size - len(bound.parts))


def minor(value: Version) -> str:
    """'12.1' of 12.1.105; a bare major stands for its first minor release, the least that is certain."""
    return ".".join(map(str, (*value.parts, 0)[:2]))


def read(text: str) -> Version:
    """A version that a table is known to hold."""
    found = version(text)
    assert found is not None, text
    return found


def _column(name: str, system: str) -> str:
    return f"{name}_windows" if system == "windows" else name


def _oldest(row: dict[str, Any], cuda: Version | None) -> str:
    """The limit of a cuDNN release, which may be another for an older CUDA."""
    special = row.get(f"oldest_cuda{cuda.parts[0]}", "") if cuda else ""
    return str(special or row["oldest"])
