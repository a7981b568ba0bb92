"""The solver: which set of versions works on a machine, nearest to what is installed. Pure: tables, facts, wishes, answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ..knowledge.base import Knowledge
from .answer import Answer, Choice, Option, Question, Rejection
from .builds import Build, builds
from .commands import choice, commands, verify, way_exists
from .constraints import Check, consistent, numbering, open_parts, span_text, values, verdict
from .ground import Ground, at_least, ground
from .nearness import nearest_first
from .relaxing import relaxed
from .situation import Situation, Wishes
from .words import PARTS, listed

__all__ = ["Answer", "Choice", "Situation", "Wishes", "solve"]

_OPTIONS = 4
_FACTS = {"gpu": "gpu.cc", "driver": "driver.version", "python": "python.version", "system": "platform.os"}

Undecided = list[tuple[Build, list[Check]]]


@lru_cache(maxsize=512)
def solve(
    framework: str, situation: Situation, wishes: Wishes, knowledge: Knowledge, *, thorough: bool = True
) -> Answer:
    """The set of versions of ``framework`` (a key of ``knowledge.recipes``) that works in ``situation``, nearest to what is
    installed, or newest where nothing is known to be installed. The same input gives the same answer.

    ``thorough`` also works out what would work under other conditions; without it ``options`` is empty.
    """
    return _Question(framework, situation, wishes, knowledge, thorough).answer()


class _Question:
    """One question, and what is worked out on the way to its answer."""

    def __init__(
        self, framework: str, situation: Situation, wishes: Wishes, knowledge: Knowledge, thorough: bool
    ) -> None:
        self.framework = framework
        self.title = knowledge.recipes[framework]["title"]
        self.situation = situation
        self.wishes = wishes
        self.knowledge = knowledge
        self.thorough = thorough
        self.ground: Ground = ground(knowledge)
        usable = [b for b in builds(framework, knowledge) if way_exists(b, situation, wishes, knowledge)]
        self.order = nearest_first(usable, situation, wishes, self.ground)

    def answer(self) -> Answer:
        """Solved where a build works for certain; open where one may; else none, with what would have to change."""
        rejected: list[Rejection] = []
        undecided: Undecided = []
        conflict = "" if consistent(self.situation, self.ground) else self._conflict()
        situation = replace(self.situation, driver=None, driver_cuda=None) if conflict else self.situation
        for build in self.order:
            holds, done = verdict(build, situation, self.wishes, self.ground)
            if holds is not False and conflict:
                continue
            if holds:
                return self._solved(build, done, rejected, undecided)
            if holds is None:
                undecided.append((build, done))
            else:
                rejected.append(Rejection(build.name, done[0].reason))
        if undecided:
            return self._open(undecided, rejected)
        missing = "" if conflict else self._platform()
        summary = missing or conflict or f"No {self.title} that the tables know works here"
        return self._none(summary, () if missing else self._assumed(), () if missing else tuple(rejected))

    def _none(self, summary: str, assumed: tuple[str, ...], rejected: tuple[Rejection, ...]) -> Answer:
        found = relaxed(self.order, self.framework, self.situation, self.wishes, self.ground) if self.thorough else []
        named = {name for _, parts in found for name in parts}
        return Answer(
            "none",
            self.framework,
            summary,
            assumed,
            questions=self._questions([name for name in PARTS if name in named]),
            options=tuple(option for option, _ in found),
            rejected=rejected,
        )

    def _solved(self, build: Build, done: list[Check], rejected: list[Rejection], nearer: Undecided) -> Answer:
        unknown = _unknown(nearer)
        picked = choice(build, self.situation, self.wishes, self.ground)
        better = self._by_value(unknown[0], build) if len(unknown) == 1 else ()
        return Answer(
            "solved",
            self.framework,
            picked.title,
            self._assumed(),
            choice=picked,
            commands=commands(build, self.situation, self.wishes, self.ground),
            verify=verify(build, self.wishes, self.ground),
            reasons=tuple(check.reason for check in done if check.reason),
            questions=self._questions(unknown),
            options=tuple(better),
            rejected=tuple(rejected),
        )

    def _open(self, undecided: Undecided, rejected: list[Rejection]) -> Answer:
        unknown = _unknown(_least_open(undecided))
        silent = [check.reason for check in undecided[0][1] if check.holds is None and not check.unknown]
        if unknown:
            summary = f"Which {self.title} works depends on {listed([PARTS[name] for name in unknown])}"
        else:
            summary = f"No {self.title} is known to work here: the tables do not say enough"
        return Answer(
            "open",
            self.framework,
            summary,
            self._assumed(),
            reasons=tuple(f"{undecided[0][0].name}: {reason}" for reason in silent),
            questions=self._questions(unknown),
            options=tuple(self._by_value(unknown[0])) if len(unknown) == 1 else (),
            rejected=tuple(rejected),
        )

    def _platform(self) -> str:
        """That there are no GPU builds for this system and processor at all; empty where there are."""
        names = {name for build in builds(self.framework, self.knowledge) for name, _ in build.wheels}
        system, processor = self.situation.system, self.situation.processor
        mine = [name for name in names if not system or name.startswith(f"{system}-")]
        if system in self.ground.ended and not mine:
            return f"No {self.title} of today uses an NVIDIA GPU on {system}: {self.ground.ended[system]}"
        if any(not processor or name.endswith(f"-{processor}") for name in mine):
            return ""
        here = "-".join(filter(None, (system, processor)))
        wsl = " (WSL2 counts as Linux: --os wsl)" if system == "windows" else ""
        return f"There is no {self.title} build with GPU support for {here}; there are for {listed(sorted(names))}{wsl}"

    def _conflict(self) -> str:
        """Why driver and GPU cannot be in one machine."""
        driver = self.situation.driver
        for capability in self.situation.gpus:
            last = self.ground.last_driver(capability)
            for system in numbering(self.situation):
                first = self.ground.first_driver(capability, system)
                if driver and first and driver.parts[0] < first.parts[0]:
                    return (
                        f"Driver {driver} does not know GPUs of compute capability {capability}: {first} was the first"
                    )
                if driver and last and driver.parts[0] > last.parts[0]:
                    return (
                        f"Driver {driver} no longer serves compute capability {capability}: branch {last} was the last"
                    )
        return f"No driver serves all of compute capability {listed([str(cc) for cc in self.situation.gpus])}"

    def _assumed(self) -> tuple[str, ...]:
        """What was taken for granted because nobody said otherwise, and would show itself at once if it were wrong."""
        known = {"platform.arch": bool(self.situation.processor), "glibc.version": bool(self.situation.glibc)}
        known["glibc.version"] |= self.situation.system in ("windows", "macos")
        taken = [row["told"] for row in self.knowledge.table["assumed"]["rows"] if not known[row["key"]]]
        driver, newest = self.situation.driver, self.ground.newest_driver
        if driver and not at_least(newest, driver.first(1)):
            taken.append(f"driver {driver}, newer than all in the tables (up to {newest}), runs what those run")
        return tuple(taken)

    def _questions(self, unknown: list[str]) -> tuple[Question, ...]:
        facts = [self.knowledge.facts[_FACTS[name]] for name in unknown]
        return tuple(Question(fact["title"], fact["ask"]) for fact in facts)

    def _by_value(self, axis: str, known: Build | None = None) -> Iterator[Option]:
        """What works for each value of the one part of the situation that is not known; equal neighbours together."""
        if not self.thorough:
            return
        found: list[tuple[list[Situation], Build]] = []
        for situation in values(axis, self.situation, self.ground, self.framework):
            build = next((b for b in self.order if verdict(b, situation, self.wishes, self.ground)[0]), None)
            if build is not None and found and found[-1][1] is build:
                found[-1][0].append(situation)
            elif build is not None:
                found.append(([situation], build))
        better = [(situations, build) for situations, build in reversed(found) if build is not known]
        for situations, build in better[:_OPTIONS]:
            ready = commands(build, situations[-1], self.wishes, self.ground)
            picked = choice(build, situations[-1], self.wishes, self.ground)
            yield Option(_when(axis, situations), picked, ready)


def _least_open(undecided: Undecided) -> Undecided:
    """The builds for which the fewest facts are missing: what would settle one of them is enough to ask."""
    missing = {build: len(_unknown([(build, done)])) for build, done in undecided}
    least = min((count for count in missing.values() if count), default=0)
    return [(build, done) for build, done in undecided if missing[build] == least]


def _unknown(undecided: Undecided) -> list[str]:
    """The parts of the situation that would decide between builds, in the order in which to ask for them."""
    return open_parts(check for _, done in undecided for check in done)


def _when(axis: str, situations: list[Situation]) -> str:
    first, last = situations[0], situations[-1]
    if axis == "python":
        return f"with Python {span_text([s.python for s in situations if s.python])}"
    if axis == "system":
        return f"on {listed([s.system for s in situations])}"
    if axis == "driver":
        return f"with a driver of {first.driver} or newer"
    low, high = str(first.gpus[0]), str(last.gpus[0])
    return f"for compute capability {low}" + (f" to {high}" if high != low else "")
