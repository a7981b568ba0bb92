"""How much of a long input has been read, on a terminal's standard error."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_PATIENCE = 1.0  # seconds before anything is shown
_EVERY = 0.2


class Progress:
    """Called with the bytes read so far; shows them after a second, on a terminal only."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._begin = self._next = time.monotonic()
        self._next += _PATIENCE
        self._shown = False

    def __call__(self, count: int) -> None:
        """Note that ``count`` bytes have been read."""
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        self._next = now + _EVERY
        rate = count / (now - self._begin) / 1e6
        self._stream.write(f"\r{count / 1e6:,.0f} MB read, {rate:,.0f} MB/s ")
        self._stream.flush()
        self._shown = True

    def done(self) -> None:
        """Take the line away."""
        if self._stream is not None and self._shown:
            self._stream.write("\r" + " " * 40 + "\r")
            self._stream.flush()
            self._shown = False
