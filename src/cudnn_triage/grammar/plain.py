"""Lines that belong to no block: records of loggers, plain output, reports of a failure in one line."""

from __future__ import annotations

from ..structure import Role
from . import failures, records
from .page import Stream, indent

_LONGEST = 30  # lines of CMake's message


def read(stream: Stream, pos: int, bare: str) -> None:
    """Give a line that belongs to no block its role, and see whether it reports a failure."""
    level = stream.level(pos)
    is_record = records.record(bare)
    stream.mark(pos, Role.RECORD if level or is_record else Role.TEXT)
    if is_record and bare.startswith("distributed."):
        stream.remote, stream.remote_until = "dask", pos + 8
    if level == "F" or (is_record and records.fatal(bare)):
        stream.fail("fatal-log", "", (pos, pos), pos, bare)
        return
    told = failures.read(bare)
    if told is not None and not (told[0] == "fatal-log" and is_record):
        last = _end(stream, pos, bare)
        below = (stream.texts[at].strip() for at in range(pos + 1, last + 1))
        stream.fail(told[0], told[1], (pos, last), pos, " ".join((bare, *filter(None, below))))


def _end(stream: Stream, pos: int, bare: str) -> int:
    """The last line of a failure: CMake prints what it has to say below the place, indented."""
    last = pos
    if bare.startswith("CMake Error") and bare.endswith(":"):
        margin = indent(stream.texts[pos])
        for at in range(pos + 1, min(pos + _LONGEST, stream.size)):
            text = stream.texts[at]
            if text.strip():
                if indent(text) <= margin:
                    break
                last = at
    return last
