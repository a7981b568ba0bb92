"""How far the message of an exception goes: the lines below its first one that still belong to it.

Nothing in a log says where a message ends. It goes on over the lines that follow without a gap, until one has the shape of
something else (a record, a frame, a ruler, a prompt); over a gap only where the lines behind it are known to be appendices.
"""

from __future__ import annotations

from ..light import pattern
from ..structure import Role
from .failures import starts_failure
from .page import Stream, indent
from .records import python_warning, record
from .shapes import (
    TRACEBACK,
    carets,
    chain,
    exception,
    frame,
    native_frame,
    progress,
    prompt,
    raised_from,
    ruler,
    strong,
)

LONGEST = 150  # lines that a message may have
PROSE = 60  # of them at the margin

_APPENDICES = (  # what frameworks print below a gap in the message itself
    "[[",
    "[Op:",
    "(0) ",
    "(1) ",
    "Detected at node",
    "Function call stack:",
    "Original stack trace for",
    "Caused by op",
    "Errors may have originated",
    "Input Source operations",
    "-- Process ",
    "Original Traceback (most recent",
    "Hint: If you want to see",
    "Call arguments received by",
)
_PLACED = pattern(r"\[\d\d:\d\d:\d\d\] (?:[A-Za-z]:)?[^\s:]+\.(?:h|hpp|cc|cpp|cuh?):\d+: ")
"""How the library behind MXNet, XGBoost and DGL begins the message of an exception that it hands to Python."""
_LISTS_FRAMES = (
    "Detected at node",
    "Caused by op",
    "Original stack trace for",
    "Stack trace for op definition",
    "Defined at",
)


def foreign(stream: Stream, pos: int, bare: str, own: str = "") -> bool:
    """Whether the line has the shape of something that no exception message of level ``own`` goes on with."""
    first = bare[0]
    text = stream.texts[pos]
    if first == "[":
        return not bare.startswith(("[[", "[Op:", "[Previous"))
    if first in "=-_*\u256d\u2570\u2500" and (ruler(bare) or bare.startswith(("===", "---", "___", "***"))):
        return True
    if first == '"' and bare.startswith('"""'):
        return True
    if (first in "DT" and chain(bare)) or native_frame(bare) or raised_from(bare):
        return True
    level = stream.level(pos)
    if (level and level != own) or record(bare) or python_warning(bare):
        return True
    if TRACEBACK in text or frame(bare) is not None:
        return True
    return (
        progress(text)
        or prompt(bare)
        or starts_failure(bare)
        or (first in "wI" and bare.startswith(("wandb:", "In [")))
    )


def extent(stream: Stream, pos: int, margin: int, *, started: bool) -> int:
    """Mark the lines of a message from ``pos`` on (its first line stands above) and return where it ends (exclusive).

    ``started`` tells whether the first line has any text of the message; if not, the next line must be its beginning.
    """
    texts, size = stream.texts, stream.size
    own = stream.level(pos - 1)
    type_ = texts[pos - 1].strip().partition(":")[0]
    prose = 0
    stop = min(size, pos + LONGEST)
    listing = False  # inside a block that lists frames as part of the message
    after_frame = False
    colon = _announces(texts[pos - 1].rstrip())
    while pos < stop:
        text = texts[pos]
        bare = text.strip()
        if not bare:
            ahead = stream.next_full(pos)
            if ahead < 0:
                return pos
            follower = texts[ahead].strip()
            if listing:
                resumes = (follower.startswith('File "') and frame(follower)) or not foreign(
                    stream, ahead, follower, own
                )
            elif colon or not started:
                resumes = indent(texts[ahead]) >= margin and not foreign(stream, ahead, follower, own)
            else:
                resumes = False
            if not resumes and not follower.startswith(_APPENDICES):
                return pos
            for blank in range(pos, ahead):
                stream.mark(blank, Role.BLANK)
            pos = ahead
            continue
        depth = indent(text)
        if depth < margin or stream.role(pos) is not None:
            return pos
        if listing:
            if bare.startswith('File "') and frame(bare):
                stream.mark(pos, Role.FRAME)
                after_frame = True
                pos += 1
                continue
            if after_frame and (depth >= margin + 4 or carets(bare)):
                stream.mark(pos, Role.SOURCE)
                pos += 1
                continue
            after_frame = False
        # the announced message of a C++ library begins with its place
        placed = bare[0] == "[" and ((colon and bare[1:2] == "/") or _PLACED.match(bare) is not None)
        if (foreign(stream, pos, bare, own) and not placed) or (depth >= margin + 4 and _quoted(stream, pos, type_)):
            return pos
        if pos + 1 < size and TRACEBACK in texts[pos + 1] and not bare.startswith("-- Process"):
            return pos  # what announces the next traceback
        if depth == margin and started and ((bare[0] in "{<" and not colon) or bare[-1] in "({["):
            return pos  # an object that the program prints
        if depth == margin and bare[0].isalpha():
            shaped = exception(bare)
            if shaped and strong(shaped[0]) and not colon and "see above for traceback" not in bare and not listing:
                return pos
            prose += 1
            if prose > PROSE:
                return pos
        if bare.startswith(_LISTS_FRAMES):
            listing = True
        elif listing and "[Op:" in bare:
            listing = False
        stream.mark(pos, Role.EXCEPTION)
        started = True
        colon = _announces(bare)
        pos += 1
    return pos


def _announces(text: str) -> bool:
    """Whether a line says that the message itself stands below, be it over a gap: it ends in a colon, or it is Keras's."""
    return text.endswith(":") or "Exception encountered when calling" in text


def _quoted(stream: Stream, pos: int, type_: str) -> bool:
    """Whether an indented line is the source of another process's traceback, which goes on below or ends in the same type."""
    if pos + 1 >= stream.size:
        return False
    below = stream.texts[pos + 1].strip()
    if not below:
        return False
    if (below[0] in "^~" and carets(below)) or below.startswith('File "'):
        return True
    return below.startswith(type_ + ":")
