"""Many logs, one after the other or in several processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, overload

from .engine import triage
from .knowledge.base import Knowledge
from .reading import ReadError
from .report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future

_AHEAD = 4  # logs for each process that are taken before they are asked for
_shared: list[Knowledge] = []  # of a worker process: its knowledge base


@overload
def triage_all(
    logs: Iterable[str | bytes],
    *,
    knowledge: Knowledge | None = None,
    processes: int = 1,
    redact: bool = True,
    unreadable: Literal["raise"] = "raise",
) -> Iterator[Report]: ...
@overload
def triage_all(
    logs: Iterable[str | bytes],
    *,
    knowledge: Knowledge | None = None,
    processes: int = 1,
    redact: bool = True,
    unreadable: Literal["yield"],
) -> Iterator[Report | ReadError]: ...
def triage_all(
    logs: Iterable[str | bytes],
    *,
    knowledge: Knowledge | None = None,
    processes: int = 1,
    redact: bool = True,
    unreadable: Literal["raise", "yield"] = "raise",
) -> Iterator[Report] | Iterator[Report | ReadError]:
    """The report on each log, in order. ``logs`` is read as reports are taken, a few ahead where there are several ``processes``.

    With more than one process the program's own main module must be importable (``if __name__ == "__main__"``).
    Raises what ``triage`` raises, when the report on the log in question is taken; with ``unreadable="yield"`` the
    ReadError of an image, a broken archive or the like takes the place of its report, and the other logs follow.
    """
    if isinstance(logs, (str, bytes)):
        raise TypeError("expected several logs, got one; triage(log) takes one, triage_all([log]) a list")
    if not isinstance(processes, int) or processes < 1:
        raise ValueError(f"processes={processes!r}: expected a number, 1 or more")
    if unreadable not in ("raise", "yield"):
        raise ValueError(f"unreadable={unreadable!r}: expected 'raise' or 'yield'")
    for answer in _answers(logs, knowledge, processes, redact):
        try:
            yield answer()
        except ReadError as error:
            if unreadable == "raise":
                raise
            yield error


def _answers(
    logs: Iterable[str | bytes], knowledge: Knowledge | None, processes: int, redact: bool
) -> Iterator[Callable[[], Report]]:
    """For each log a call that gives its report, or raises."""
    if processes == 1:
        for log in logs:
            yield partial(triage, log, knowledge=knowledge, redact=redact)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    packed = None if knowledge is None else bytes(knowledge.packed)
    waiting: deque[Future[Report]] = deque()
    with ProcessPoolExecutor(processes, get_context("spawn"), _start, (packed,)) as pool:
        try:
            for log in logs:
                waiting.append(pool.submit(_work, log, redact))
                if len(waiting) >= _AHEAD * processes:
                    yield waiting.popleft().result
            while waiting:
                yield waiting.popleft().result
        finally:
            pool.shutdown(cancel_futures=True)


def _start(packed: bytes | None) -> None:
    _shared[:] = [] if packed is None else [Knowledge(packed)]


def _work(log: str | bytes, redact: bool) -> Report:
    return triage(log, knowledge=_shared[0] if _shared else None, redact=redact)
