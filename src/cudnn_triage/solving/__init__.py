"""The solver: which set of versions works on a machine, nearest to what is installed. Pure: tables, facts, wishes, answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..knowledge.base import Knowledge
from ..values import Version
from .answer import Answer, Choice, Option, Question, Rejection
from .builds import Build, builds
from .commands import choice, commands, verify, way_exists
from .constraints import AXES, Check, numbering, platforms, runs, span_text, verdict, worlds
from .ground import Ground, ground
from .situation import Situation, Wishes

__all__ = ["Answer", "Situation", "Wishes", "solve"]

_OPTIONS = 4
_FACTS = {"gpu": "gpu.cc", "driver": "driver.version", "python": "python.version", "system": "platform.os"}


@lru_cache(maxsize=512)
def solve(framework: str, situation: Situation, wishes: Wishes, knowledge: Knowledge) -> Answer:
    """The set of versions of ``framework`` (a key of ``knowledge.recipes``) that works in ``situation``, nearest to what is
    installed, or newest where nothing is known to be installed. The same input gives the same answer."""
    return _Solver(framework, situation, wishes, knowledge).answer()


class _Solver:
    """One question, and what is worked out on the way to its answer."""

    def __init__(self, framework: str, situation: Situation, wishes: Wishes, knowledge: Knowledge) -> None:
        self.framework = framework
        self.title = knowledge.recipes[framework]["title"]
        self.situation = situation
        self.wishes = wishes
        self.knowledge = knowledge
        self.ground: Ground = ground(knowledge)
        usable = [b for b in builds(framework, knowledge) if way_exists(b, situation, wishes, knowledge)]
        self.order = _nearest_first(usable, situation, self.ground)

    def answer(self) -> Answer:
        """Solved where a build works for certain; open where one may; else none, with what would have to change."""
        rejected: list[Rejection] = []
        undecided: list[tuple[Build, list[Check]]] = []
        for build in self.order:
            holds, done = verdict(build, self.situation, self.wishes, self.ground)
            if holds:
                return self._solved(build, done, rejected, undecided)
            if holds is None:
                undecided.append((build, done))
            else:
                rejected.append(Rejection(build.name, done[0].reason))
        if undecided:
            return self._open(undecided, rejected)
        return self._none(rejected)

    def _solved(
        self, build: Build, done: list[Check], rejected: list[Rejection], nearer: list[tuple[Build, list[Check]]]
    ) -> Answer:
        return Answer(
            status="solved",
            framework=self.framework,
            summary=choice(build).title,
            choice=choice(build),
            commands=commands(build, self.situation, self.wishes, self.ground),
            verify=verify(build, self.wishes, self.ground),
            reasons=tuple(check.reason for check in done if check.reason),
            assumed=self._assumed(),
            questions=self._questions(nearer),
            options=(),
            rejected=tuple(rejected),
        )

    def _open(self, undecided: list[tuple[Build, list[Check]]], rejected: list[Rejection]) -> Answer:
        questions = self._questions(undecided)
        unknown = _unknown(undecided)
        silent = [check.reason for check in undecided[0][1] if check.holds is None and not check.unknown]
        if questions:
            summary = f"Which {self.title} works depends on {_listed([_WORDS[name] for name in unknown])}"
        else:
            summary = f"No {self.title} is known to work here: the tables do not say enough"
        return Answer(
            status="open",
            framework=self.framework,
            summary=summary,
            choice=None,
            commands=(),
            verify=(),
            reasons=tuple(f"{undecided[0][0].name}: {reason}" for reason in silent),
            assumed=self._assumed(),
            questions=questions,
            options=tuple(self._by_value(unknown[0])) if len(unknown) == 1 else (),
            rejected=tuple(rejected),
        )

    def _none(self, rejected: list[Rejection]) -> Answer:
        conflict = not any(True for _ in worlds(self.situation, self.ground))
        if conflict:
            summary = self._conflict()
        else:
            summary = f"No {self.title} that the tables know works here"
        return Answer(
            status="none",
            framework=self.framework,
            summary=summary,
            choice=None,
            commands=(),
            verify=(),
            reasons=(),
            assumed=self._assumed(),
            questions=(),
            options=tuple(self._relaxed()),
            rejected=() if conflict else tuple(rejected),
        )

    def _conflict(self) -> str:
        """Why driver and GPU cannot be in one machine."""
        for capability in self.situation.gpus:
            for system in numbering(self.situation):
                first, last = self.ground.first_driver(capability, system), self.ground.last_driver(capability)
                driver = self.situation.driver
                if driver and first and driver.parts[0] < first.parts[0]:
                    return f"Driver {driver} does not know GPUs of compute capability {capability}: {first} was the first"
                if driver and last and driver.parts[0] > last.parts[0]:
                    return f"Driver {driver} no longer serves compute capability {capability}: branch {last} was the last"
        return f"No driver serves all of compute capability {_listed([str(cc) for cc in self.situation.gpus])}"

    def _assumed(self) -> tuple[str, ...]:
        """What was taken for granted because nobody said otherwise, and would show itself at once if it were wrong."""
        known = {"platform.arch": bool(self.situation.processor), "glibc.version": bool(self.situation.glibc)}
        rows = self.knowledge.table["assumed"]["rows"]
        linux = self.situation.system in ("", "linux")
        return tuple(
            row["told"] for row in rows if not known[row["key"]] and (linux or row["key"] != "glibc.version")
        )

    def _questions(self, undecided: list[tuple[Build, list[Check]]]) -> tuple[Question, ...]:
        facts = self.knowledge.facts
        return tuple(
            Question(facts[_FACTS[name]]["title"], facts[_FACTS[name]]["ask"]) for name in _unknown(undecided)
        )

    def _by_value(self, axis: str) -> Iterator[Option]:
        """What works for each value of the one part of the situation that is not known; equal neighbours together."""
        found: list[tuple[list[Situation], Build]] = []
        for situation in AXES[axis](self.situation, self.ground, self.framework):
            build = self._first(situation, self.wishes)
            if build is not None:
                if found and found[-1][1] is build:
                    found[-1][0].append(situation)
                else:
                    found.append(([situation], build))
        for situations, build in list(reversed(found))[:_OPTIONS]:
            ready = commands(build, situations[-1], self.wishes, self.ground)
            yield Option(_when(axis, situations), choice(build), ready)

    def _first(self, situation: Situation, wishes: Wishes) -> Build | None:
        return next((b for b in self.order if verdict(b, situation, wishes, self.ground)[0]), None)

    def _relaxed(self) -> Iterator[Option]:
        """What would work if something that is fixed were not: the least first, and nothing twice."""
        done: list[frozenset[str]] = []
        for freed in self._freedoms():
            if any(less <= freed for less in done):
                continue
            option = self._with(freed)
            if option is not None:
                done.append(freed)
                yield option

    def _freedoms(self) -> Iterator[frozenset[str]]:
        keeps = [f"keep {name}" for name, _ in self.wishes.keep]
        fixed = [name for name in ("python", "driver") if getattr(self.situation, name) is not None]
        for one in (*keeps, *fixed):
            yield frozenset([one])
        yield frozenset(keeps)
        yield frozenset(fixed)
        yield frozenset([*keeps, *fixed])

    def _with(self, freed: frozenset[str]) -> Option | None:
        wishes = replace(self.wishes, keep=tuple(k for k in self.wishes.keep if f"keep {k[0]}" not in freed))
        for build in self.order:
            situation = self.situation
            if "python" in freed:
                mine = build.pythons(platforms(situation, self.ground))
                situation = replace(situation, python=mine[-1] if mine else None)
            for driver in self._other_drivers() if "driver" in freed else (situation.driver,):
                tried = replace(situation, driver=driver)
                if verdict(build, tried, wishes, self.ground)[0]:
                    return Option(
                        self._change(freed, build, driver), choice(build), commands(build, tried, wishes, self.ground)
                    )
        return None

    def _other_drivers(self) -> list[Version]:
        """Newer drivers, the smallest step first; older ones after them."""
        here = self.situation.driver
        possible = sorted({d for _, d, _ in worlds(replace(self.situation, driver=None), self.ground)}, key=_parts)
        newer = [d for d in possible if here is None or d.parts > here.parts]
        return newer + [d for d in reversed(possible) if d not in newer]

    def _change(self, freed: frozenset[str], build: Build, driver: Version | None) -> str:
        told = [f"{name} need not stay {limit}" for name, limit in self.wishes.keep if f"keep {name}" in freed]
        if "python" in freed:
            told.append(f"Python is {span_text(build.pythons(platforms(self.situation, self.ground)))}")
        if "driver" in freed and driver is not None:
            here = self.situation.driver
            newer = here is None or driver.parts > here.parts
            told.append(f"the driver is {driver} or {'newer' if newer else 'older'}")
        return "if " + _listed(told)


_WORDS = {"gpu": "the GPU", "driver": "the driver version", "python": "the Python version", "system": "the operating system"}


def _parts(value: Version) -> tuple[int, ...]:
    return value.parts


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


def _unknown(undecided: list[tuple[Build, list[Check]]]) -> list[str]:
    """The parts of the situation that would decide between builds, in the order in which to ask for them."""
    named = {name for _, done in undecided for check in done if check.holds is None for name in check.unknown}
    return [name for name in _FACTS if name in named]


def _when(axis: str, situations: Sequence[Situation]) -> str:
    first, last = situations[0], situations[-1]
    if axis == "python":
        return f"with Python {span_text([s.python for s in situations if s.python])}"
    if axis == "system":
        return f"on {_listed([s.system for s in situations])}"
    if axis == "driver":
        return f"with a driver of {first.driver} or newer"
    low, high = str(first.gpus[0]), str(last.gpus[0])
    return f"for compute capability {low}" + (f" to {high}" if high != low else "")


def _nearest_first(usable: list[Build], situation: Situation, ground: Ground) -> list[Build]:
    """Builds in the order in which they are preferred: near to what is installed, else new; then machine code before PTX,
    the build that is installed or that the registry gives, the newest CUDA."""
    steps = {release: i for i, release in enumerate(sorted({b.release.parts[:2] for b in usable}))}
    packages = {b.package for b in usable}
    has = next((found for name, found in situation.installed if name in packages), None)
    at = steps.get(has.parts[:2]) if has else None
    if has is not None and at is None:
        at = sum(1 for release in steps if release < has.parts[:2])

    def cost(build: Build) -> tuple[object, ...]:
        kinds = [runs(build, capability, ground) for capability in situation.gpus]
        how = (
            build.package != next((name for name, _ in situation.installed if name in packages), build.package),
            any(kind != "native" for kind in kinds),
            has is None or build.tag != has.local,
            not build.default,
            _newest(build.cuda.parts if build.cuda else ()),
        )
        if has is None or at is None:
            return (_newest(build.release.parts), *how)
        return (
            abs(steps[build.release.parts[:2]] - at),
            build.release.parts != has.parts,
            build.release.parts < has.parts,
            _newest(build.release.parts),
            *how,
        )

    return sorted(usable, key=cost)


def _newest(parts: tuple[int, ...]) -> tuple[int, ...]:
    """A key by which the newest comes first."""
    return tuple(-part for part in (*parts, 0, 0, 0, 0)[:4])


def describe(found: Choice) -> str:
    """'PyTorch 2.7.1 with CUDA 12.8 (torchvision 0.22.1, torchaudio 2.7.1)'."""
    others = [f"{name} {release}" for name, release in found.packages[1:]]
    return found.title + (f" ({', '.join(others)})" if others else "")
