"""What the lines of a log are to one another: tracebacks, log records, the program's failures (types only; grammar/ fills them)."""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum

from .light import record


class Role(Enum):
    """What a line is. Messages are looked for in TEXT, RECORD and EXCEPTION lines; SOURCE lines only quote them."""

    TEXT = "text"  # anything else that a program printed
    RECORD = "record"  # a logger's record; the line's ``level`` says how bad
    EXCEPTION = "exception"  # the type and message of an exception, all of its lines
    FRAME = "frame"  # 'File "x.py", line 3, in f' and its like, C++ frames, stack entries
    SOURCE = "source"  # source code shown by a traceback, pytest, rich, IPython, a compiler or 'set -x'
    BLANK = "blank"


@record(frozen=True, slots=True)
class Frame:
    """One entry of a traceback."""

    file: str
    line: int  # 0 where the log does not say
    function: str
    index: int  # which cleaned line it stands on


@record(frozen=True, slots=True)
class Raised:
    """One exception of a traceback."""

    type: str  # as printed, e.g. torch.cuda.OutOfMemoryError
    message: str
    first: int  # cleaned lines first..last hold type and message
    last: int
    frames: tuple[Frame, ...] = ()
    relation: str = ""  # "" | "cause" | "context": how it led to the next one of its chain
    rank: str = ""
    remote: str = ""  # "ray", "dask", "torchelastic", "multiprocessing" where another process raised it
    final: bool = True  # the last of its chain: what the program saw


@record(frozen=True, slots=True)
class Failure:
    """A place where the program, or one of its processes, visibly failed."""

    kind: str  # exception | fatal-log | abort | signal | killed | exit-code
    type: str  # exception type, signal name, or ""
    text: str  # what stands there
    first: int
    last: int
    at: int  # the line that says it: of a traceback the one with the exception's type
    rank: str = ""
    package: str = ""  # distribution-like name of the innermost frame outside the user's files: torch, tensorflow, ...
    caught: bool = False  # the log shows that the program went on (logged, "ignored", warned)
    cut: bool = False  # the log ends before the message


@record(frozen=True, slots=True)
class Structure:
    """The structure of one log: a role for each cleaned line, its exceptions and its failures in log order."""

    roles: tuple[Role, ...]
    raised: tuple[Raised, ...] = ()
    failures: tuple[Failure, ...] = ()
    ranks: tuple[str, ...] = ()
    concluded: bool = False  # the last lines say that the work is done
    attempts: tuple[int, ...] = ()  # the lines with which the second and each further attempt of the same thing begins

    @property
    def uncaught(self) -> list[Failure]:
        """The failures that the program did not survive."""
        return [failure for failure in self.failures if not failure.caught]

    @property
    def ended_well(self) -> bool:
        """Whether nothing failed, and the last lines say that the work is done."""
        return self.concluded and not self.uncaught

    def attempt(self, index: int) -> int:
        """Which attempt a line belongs to, counted from 0."""
        return bisect_right(self.attempts, index)
