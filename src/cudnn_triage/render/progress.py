"""What is going on while probes run: one live line on a terminal, a line for each probe elsewhere. On standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import IO, TYPE_CHECKING

from .plain import visible

if TYPE_CHECKING:
    from rich.status import Status


class Progress:
    """Tells which probes run and how each ended. A context manager, so that a live line never stays behind."""

    def __init__(self, stream: IO[str] | None, title_of: Callable[[str], str]) -> None:
        self._stream = stream
        self._title_of = title_of
        self._running: list[str] = []
        self._status: Status | None = None

    def __enter__(self) -> Progress:
        if self._stream is not None and self._stream.isatty():
            from rich.console import Console

            self._status = Console(file=self._stream, markup=False, highlight=False).status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def say(self, text: str) -> None:
        """A line that stays."""
        if self._status is not None:
            self._status.console.print(visible(text), soft_wrap=True)
        elif self._stream is not None:
            with contextlib.suppress(OSError):  # whoever read it may be gone; the report matters
                print(visible(text), file=self._stream, flush=True)

    def started(self, probe: str, why: str) -> None:
        """A probe begins; ``why`` is what it is to tell."""
        self._running.append(probe)
        if self._status is None:
            self.say(f"looking at {self._title_of(probe)} ({probe})" + (f": {why}" if why else ""))
        else:
            self._show()

    def ended(self, probe: str, status: str, reason: str, seconds: float) -> None:
        """A probe has ended."""
        self._running.remove(probe)
        self.say(f"  {probe}: {status}, {seconds:.1f} s" + (f" ({reason})" if reason else ""))
        self._show()

    def _show(self) -> None:
        if self._status is not None:
            titles = ", ".join(self._title_of(probe) for probe in self._running)
            self._status.update(visible(f"looking at {titles}") if titles else "")
