"""Logs that are still being written: passed through unchanged (--tee), or diagnosed while they grow (--follow)."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable

from .engine import Triager
from .reading import cannot_read
from .report import Report
from .selection import Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import BinaryIO

_PIECE = 1 << 16
_QUIET = 0.5  # seconds without news after which a diagnosis is settled
_BUSY = 2.0  # seconds between two looks at a log that does not pause
_SHARE = 4  # times as long as a look took, nothing is looked at again


class Tee:
    """A source of bytes that writes all it reads, at once and unchanged, to another stream."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target: BinaryIO | None = target

    def read(self, _size: int, /) -> bytes:
        """What is there, as soon as anything is. When nobody reads the target any more, the source is still read to its end."""
        data = available(self._source)
        if data and self._target is not None:
            try:
                self._target.write(data)
                self._target.flush()
            except BrokenPipeError:
                self._target = None
        return data


def available(source: BinaryIO) -> bytes:
    """The bytes that are there, at least one but at the end."""
    try:
        return os.read(source.fileno(), _PIECE)
    except (AttributeError, OSError, ValueError):  # no file behind it
        return source.read(_PIECE)


def outlive_interrupt() -> None:
    """Let the first Ctrl-C end only the program whose output is read, so that what it says of it is still diagnosed."""

    def first(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, first)


def follow(source: BinaryIO, name: str, triager: Triager, tell: Callable[[Report], None]) -> Report:
    """Read a growing log to its end; ``tell`` is given each diagnosis once it is settled, and again where it changes.

    Settled means: the log pauses, or two looks at it in succession named the same cause. The report on the whole log is told at
    its end, unless it was told already. Returns the last report. Raises ReadError where the source cannot be read.
    """
    pieces: queue.SimpleQueue[bytes | OSError] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(source, pieces), daemon=True).start()
    selector = Selector(triager.knowledge, name)
    told = before = ""
    last: Report | None = None
    news, due = False, 0.0
    while True:
        quiet = False
        try:
            piece = pieces.get(timeout=_QUIET if news else None)
            if isinstance(piece, OSError):
                raise cannot_read(name, piece) from piece
            if not piece:
                whole = triager.triage(selector.finish())
                if whole != last:
                    tell(whole)
                return whole
            selector.feed(piece)
            news = True
            if time.monotonic() < due:
                continue
        except queue.Empty:
            quiet = True
        begin = time.monotonic()
        report = triager.triage(selector.so_far())
        news = not quiet
        now = report.diagnoses[0].cause if report.diagnoses else ""
        if now and now != told and (quiet or now == before):
            tell(report)
            told, last = now, report
        before = now
        due = time.monotonic() + max(_BUSY, _SHARE * (time.monotonic() - begin))


def _pump(source: BinaryIO, pieces: queue.SimpleQueue[bytes | OSError]) -> None:
    """Put all that is read into ``pieces``, nothing at its end, or why it could not be read."""
    try:
        while piece := available(source):
            pieces.put(piece)
        pieces.put(b"")
    except OSError as error:
        pieces.put(error)
