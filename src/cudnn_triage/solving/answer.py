"""What the solver answers: frozen, typed, and equal to its JSON output."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["solved", "open", "none"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A set of versions that belong together."""

    framework: str
    title: str  # 'PyTorch 2.7.1 with CUDA 12.8'
    release: str
    cuda: str  # CUDA release of the build; '' where the tables do not say
    cudnn: str  # cuDNN that it was compiled with or brings; '' where the tables do not say
    packages: tuple[tuple[str, str], ...]  # ('torch', '2.7.1+cu128'), ('torchvision', '0.22.1') ...

    @property
    def words(self) -> str:
        """'PyTorch 2.7.1 with CUDA 12.8, torchvision 0.22.1, torchaudio 2.7.1'."""
        return ", ".join([self.title, *(f"{name} {release}" for name, release in self.packages[1:])])


@dataclass(frozen=True, slots=True)
class Rejection:
    """A build that does not fit, and the first reason why."""

    build: str
    reason: str


@dataclass(frozen=True, slots=True)
class Question:
    """A fact that would decide, and the command that reads it."""

    fact: str
    ask: str


@dataclass(frozen=True, slots=True)
class Option:
    """What works under a condition that is not known to hold, or that would have to be changed."""

    when: str
    choice: Choice
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """``solved``: the commands give a set that works. ``open``: a fact decides that nobody read. ``none``: nothing works."""

    status: Status
    framework: str
    summary: str
    assumed: tuple[str, ...]  # what was taken for granted
    choice: Choice | None = None
    commands: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why the choice works, one per constraint
    questions: tuple[Question, ...] = ()
    options: tuple[
        Option, ...
    ] = ()  # by the values of what is not known; where nothing works, by what would have to change
    rejected: tuple[Rejection, ...] = ()  # nearest first

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        plain = asdict(self)
        for picked in (plain["choice"], *(option["choice"] for option in plain["options"])):
            if picked:
                picked["packages"] = dict(picked["packages"])
        return plain
