"""Tracebacks of Python: plain, chained, grouped, of IPython, Jupyter and rich, cut off at either end, quoted by other processes.

One reader serves them all: a traceback is a header, then entries (a frame and the source below it), then the exception's line
further left, then its message. The shapes of frames and source differ (see shapes.py), the order does not.
"""

from __future__ import annotations

from ..light import pattern
from ..structure import Frame, Role
from . import failures, messages, peeling, plain
from .page import Found, Stream, indent
from .records import python_warning, record
from .shapes import (
    TRACEBACK,
    arrow,
    carets,
    chain,
    exception,
    frame,
    listing_frame,
    numbered,
    plausible,
    progress,
    ruler,
    strong,
)

PATIENCE = 8  # lines of something else that may stand inside a traceback (other processes print, too)
LISTING_PATIENCE = 40
MIXED_PATIENCE = 64
SOURCE_DEPTH = 4  # columns by which Python indents the source below a frame
PREFIX = 24  # characters before a header that are a prefix; more are a message
SHOWN = 30  # lines of source below one frame
_MESSAGE = 100  # lines between an exception and the separator of its chain: more, and the exception was not printed
DEEPEST = 4  # tracebacks quoted in messages of tracebacks quoted in messages ...

_GROUP = pattern(r"\s*\+ Exception Group Traceback \(most recent")
_LISTING_HEAD = pattern(
    r"(?:([A-Za-z_][\w.]*)\s{2,}|[\s\u2500-\u257f]*)Traceback \(most recent call last\)[\s\u2500-\u257f]*$"
)
_COPIED = pattern(r'"name": "([A-Za-z_][\w.]*)",?$')
PAUSED = "(note: full exception trace is shown but execution is paused at: "  # debugpy, behind the exception's type
_GARBLED = pattern(r"[A-Z][A-Za-z]{2,40}?Error")
_ELISION = ("[Previous line repeated", "...", "[...", "(...)", "[\u2026", "\u2026")
_DUMPS = ("(most recent call first)", "Stack (most recent call last)", "defined at (most recent call last)")
_NESTED = ("Original Traceback (most recent", "-- Process ")


def header(stream: Stream, pos: int) -> int:
    """Read the traceback whose header stands at ``pos``; return the position after it."""
    text = stream.texts[pos]
    if _GROUP.match(text):
        peeling.open_group(stream, pos)
        text = stream.texts[pos]
    at = text.find(TRACEBACK)
    before = text[:at]
    bare = text.strip()
    listing = _LISTING_HEAD.match(bare)
    margin = 0 if listing is not None or before.strip() else len(before)
    if listing is not None:
        peeling.box(stream, pos)
    shared = listing is None and peeling.shared_prefix(stream, pos, before)
    named = exception(before.strip()) if before.strip().endswith(":") else None
    if named and not strong(named[0]):
        named = None
    if named:
        outer = _quoting(stream, pos, pos, named[0], [])
        stream.add(outer)
        return outer.last + 1
    says = not shared and len(before.strip()) > PREFIX and listing is None and not progress(before)
    stream.mark(pos, Role.TEXT if says else Role.FRAME)
    if listing is None:
        margin = max(margin, _column(stream, stream.next_full(pos + 1)))
    after, found = _entries(stream, pos, pos + 1, margin, listing=listing is not None)
    _finish(stream, pos, after, found, (listing[1] or "") if listing else "")
    return after


def _quoting(stream: Stream, head: int, pos: int, type_: str, frames: list[Frame]) -> Found:
    """Read an exception whose message is a traceback: ``ImportError: Traceback (most recent call last):``."""
    stream.mark(pos, Role.EXCEPTION)
    found = Found(type_, "", pos, pos, head, frames)
    if stream.depth == DEEPEST:
        return found
    stream.depth += 1
    after, inner = _entries(stream, pos, pos + 1, indent(stream.texts[pos]), listing=False)
    stream.depth -= 1
    found.last = after - 1
    if inner is not None:
        found.inner, found.last = inner, inner.last
        found.message = f"{inner.type}: {inner.message}"
    return found


def entry(stream: Stream, pos: int, bare: str) -> int:
    """Read what begins with a frame: a traceback that has lost its header, or the dump of a stack, which no exception ends."""
    if frame(bare) is None:
        return pos
    above = stream.previous_full(pos, 1)
    if above >= 0 and any(words in stream.texts[above] for words in _DUMPS):
        return _dump(stream, pos)
    return _headless(stream, pos)


def copied(stream: Stream, pos: int, bare: str) -> int:
    """Read the error that VS Code copies from a notebook: ``"name": "Type",``, ``"message": "text`` and ``"stack": "traceback``."""
    named = _COPIED.match(bare)
    said = stream.next_full(pos + 1)
    if named is None or said < 0 or not stream.texts[said].lstrip().startswith('"message": "'):
        return recorded(stream, pos, bare)
    at = said
    while at < min(stream.size, said + LISTING_PATIENCE) and not stream.texts[at].lstrip().startswith('"stack": "'):
        stream.mark(at, Role.EXCEPTION if stream.texts[at].strip() else Role.BLANK)
        at += 1
    message = "\n".join(stream.texts[line].strip() for line in range(said, at))[len('"message": "') :]
    stream.mark(pos, Role.EXCEPTION)
    stream.add(Found(named[1], message.rstrip('",\n'), pos, at - 1, pos))
    return at


def recorded(stream: Stream, pos: int, bare: str) -> int:
    """Read the exception in the JSON that torchelastic writes when a worker or the launcher itself fails."""
    if not bare.startswith('"message": "'):
        return pos
    shaped = exception(bare[12:].rstrip(",").removesuffix('"'))
    if shaped is None or not strong(shaped[0]):
        return pos
    stream.mark(pos, Role.EXCEPTION)
    stream.add(Found(*shaped, pos, pos, pos, remote="torchelastic", bare=True))
    return pos + 1


def separator(stream: Stream, pos: int, bare: str) -> int:
    """Read the line between two exceptions of a chain."""
    relation = chain(bare)
    if not relation:
        return pos
    if stream.last is not None and pos - stream.last.last <= _MESSAGE:
        stream.link = relation
    stream.mark(pos, Role.TEXT)
    return pos + 1


def debugger(stream: Stream, pos: int, bare: str) -> int:
    """Read what VS Code's debugger shows: ``Exception has occurred: Type`` in any language, the message, then the frames."""
    before, _, named = bare.partition(": ")
    if before != "Exception has occurred" and (PAUSED not in bare or len(before) > PREFIX):
        return pos
    stream.mark(pos, Role.EXCEPTION)
    at = pos + 1
    while at < stream.size and at < pos + 60:
        line = stream.texts[at].strip()
        if not line or frame(line) is not None:
            break
        stream.mark(at, Role.EXCEPTION)
        at += 1
    message = "\n".join(stream.texts[line].strip() for line in range(pos + 1, at))
    stream.add(Found(named.split(" ", 1)[0], message, pos, at - 1, pos))
    return _dump(stream, at)


def _dump(stream: Stream, pos: int) -> int:
    """Mark frames and source up to the first line that is neither."""
    while pos < stream.size:
        bare = stream.texts[pos].strip()
        if not bare:
            break
        if frame(bare) is not None:
            stream.mark(pos, Role.FRAME)
        elif indent(stream.texts[pos]) >= SOURCE_DEPTH:
            stream.mark(pos, Role.SOURCE)
        else:
            break
        pos += 1
    return pos


def _headless(stream: Stream, pos: int) -> int:
    """Read a traceback that has lost its header, from its first frame at ``pos`` on."""
    margin = _column(stream, pos)
    above = stream.previous_full(pos, 1)
    if above >= 0 and "ray::" in stream.texts[above]:
        stream.remote, stream.remote_until = "ray", pos + 1
    after, found = _entries(stream, pos, pos, margin, listing=False)
    if found is not None:
        stream.add(found)
    return after


def orphan(stream: Stream, pos: int, bare: str) -> int:
    """Read an exception's line that stands without a traceback."""
    if not (bare[0].isalpha() or bare[0] == "_") or (":" not in bare and " " in bare):
        return pos
    shaped = exception(bare)
    if shaped is not None and shaped[0].endswith("RemoteTraceback"):
        stream.mark(pos, Role.TEXT)
        stream.remote, stream.remote_until = "multiprocessing", pos + 5
        return pos + 1
    if shaped is None or not strong(shaped[0]):
        return pos
    told = failures.read(bare) if shaped[0] == "FatalError" else None
    if told is not None and told[0] != "exit-code":  # Paddle's name for a signal
        return pos
    found = _exception(stream, pos, pos, *shaped, [])
    found.bare = True
    stream.add(found)
    return _nested(stream, found)


def _column(stream: Stream, pos: int) -> int:
    """The column of a traceback whose first frame stands at ``pos``, 0 where none does: two before its frames, four before its
    source. A paste often lacks the indentation of its first line only, so the line below the frame is looked at as well.
    """
    if pos < 0 or frame(stream.texts[pos].strip()) is None:
        return 0
    margins = [0, indent(stream.texts[pos]) - 2]
    below = stream.texts[pos + 1] if pos + 1 < stream.size else ""
    if below.strip() and stream.texts[pos].lstrip().startswith('File "'):
        margins.append(indent(below) - (SOURCE_DEPTH if frame(below.strip()) is None else 2))
    return max(margins)


def _finish(stream: Stream, head: int, after: int, found: Found | None, type_: str) -> None:
    if found is not None:
        stream.add(found)
        return
    last = after - 1
    while last > head and stream.role(last) not in (Role.FRAME, Role.SOURCE):
        last -= 1
    if last > head or type_:  # cut off before the exception
        shown = last
        while shown > head and carets(stream.texts[shown].strip()):
            shown -= 1
        stream.fail("exception", type_, (head, last), shown, stream.texts[shown].strip(), cut=True)


def _entries(stream: Stream, head: int, pos: int, margin: int, *, listing: bool) -> tuple[int, Found | None]:
    """Read frames and source from ``pos`` on, then the exception; return the position after it and what it was."""
    texts, size = stream.texts, stream.size
    frames: list[Frame] = []
    start = pos
    strangers = mixed = 0
    patience = LISTING_PATIENCE if listing else PATIENCE
    end = pos
    while pos < size:
        text = texts[pos]
        bare = text.strip(peeling.FRAMING) if listing else text.strip()
        if not bare:
            stream.mark(pos, Role.BLANK)
            pos += 1
            if stream.next_full(pos) < 0 or (not listing and not mixed and not _goes_on(stream, pos)):
                break
            continue
        if bare[0] == ">" and frame(bare) is None and not listing:
            break
        entry = frame(bare)
        if entry is None and listing:
            entry = listing_frame(bare)
        if entry is not None:
            frames.append(Frame(entry[0], entry[1], entry[2], stream.order[pos]))
            stream.mark(pos, Role.FRAME)
            pos = _source(stream, pos, margin)
            end = pos
            continue
        depth = len(text) - len(text.lstrip())
        if listing and (numbered(bare) >= 0 or arrow(bare) >= 0 or depth >= SOURCE_DEPTH):
            stream.mark(pos, Role.SOURCE)
            pos += 1
            end = pos
            continue
        if bare.startswith(_ELISION) or (bare[0] == "[" and "repeated" in bare):
            stream.mark(pos, Role.TEXT)
            pos += 1
            continue
        if TRACEBACK in text:
            shaped = exception(bare)
            if shaped is not None and strong(shaped[0]):
                found = _quoting(stream, head, pos, shaped[0], frames)
                return found.last + 1, found
            if head == start or _LISTING_HEAD.match(bare):
                break
            stream.mark(pos, Role.FRAME)  # several processes print their tracebacks through one another
            mixed += 1
            pos += 1
            continue
        if chain(bare):
            break
        shaped = exception(bare) if depth <= margin + (1 if not listing else 3) else None
        if (
            shaped is not None
            and _acceptable(shaped[0], bool(frames), strangers)
            and not _is_record(stream, head, pos, bare)
        ):
            for at in range(start, pos) if strangers else ():
                if stream.role(at) is None:
                    plain.read(stream, at, texts[at].strip())
            found = _exception(stream, head, pos, shaped[0], shaped[1], frames)
            return _nested(stream, found), found
        if (
            not listing
            and not strangers
            and depth >= margin + SOURCE_DEPTH
            and not progress(text)
            and not _is_record(stream, head, pos, bare)
        ):
            stream.mark(pos, Role.SOURCE)
            pos += 1
            continue
        if mixed and depth <= margin and "Error" in bare and ":" in bare and "raise " not in bare:
            named = _GARBLED.search(bare)
            if named:
                return _garbled(stream, head, pos, named[0], frames)
        strangers += 1
        if strangers > min(patience + 4 * mixed, MIXED_PATIENCE) or (ruler(bare) and not listing):
            break
        pos += 1
    return max(end, head + 1) if strangers else max(pos, head + 1), None


def _garbled(stream: Stream, head: int, pos: int, type_: str, frames: list[Frame]) -> tuple[int, Found]:
    """The exception that several processes printed through one another, line by line and letter by letter."""
    found = Found(type_, "", pos, pos, head, frames)
    at = pos
    while at < stream.size and at < pos + 8 and stream.texts[at].strip():
        if at > pos and messages.foreign(stream, at, stream.texts[at].strip()):
            break
        stream.mark(at, Role.EXCEPTION)
        found.last = at
        at += 1
    found.message = "\n".join(stream.texts[line].strip() for line in range(pos, at))
    return at, found


def _acceptable(type_: str, frames: bool, strangers: int) -> bool:
    return strong(type_) if strangers or not frames else plausible(type_)


def _is_record(stream: Stream, head: int, pos: int, bare: str) -> bool:
    """Whether the line is a record; loggers that put a prefix before each line of a traceback give them all one level."""
    level = stream.level(pos)
    return (level != "" and level != stream.level(head)) or record(bare) or python_warning(bare)


def _goes_on(stream: Stream, pos: int) -> bool:
    """Whether a traceback goes on behind a gap."""
    pos = stream.next_full(pos)
    if pos < 0:
        return False
    text = stream.texts[pos]
    bare = text.strip()
    if frame(bare) is not None or bare.startswith(_ELISION):
        return True
    shaped = exception(bare)
    return shaped is not None and strong(shaped[0])


def _source(stream: Stream, pos: int, margin: int) -> int:
    """Mark the source below the frame at ``pos``; return the position after it."""
    texts = stream.texts
    depth = indent(texts[pos])
    if depth < margin:  # a paste that lost the indentation of its first line
        depth = margin + 2
    flat = depth <= margin
    pos += 1
    shown = 0
    while pos < stream.size:
        text = texts[pos]
        bare = text.strip()
        if not bare:
            break
        if frame(bare) is not None or TRACEBACK in text:
            break
        here = indent(text)
        if here <= depth:
            shaped = exception(bare)
            if not flat or (shown and not carets(bare)) or (shaped is not None and strong(shaped[0])) or chain(bare):
                break
        elif (bare[0] == "[" and "repeated" in bare) or shown >= SHOWN:
            break
        stream.mark(pos, Role.SOURCE)
        shown += 1
        pos += 1
        if flat and here <= depth and not (pos < stream.size and texts[pos].strip() and carets(texts[pos].strip())):
            break
    return pos


def _exception(stream: Stream, head: int, pos: int, type_: str, message: str, frames: list[Frame]) -> Found:
    """The exception whose first line stands at ``pos``, with all lines of its message marked."""
    stream.mark(pos, Role.EXCEPTION)
    quoted: Found | None = None
    logged = False
    if stream.level(pos) in ("I", "W") and stream.level(head) == stream.level(pos):
        logged = True
    if type_.endswith("ChildFailedError"):
        after, quoted = _table(stream, pos + 1)
    else:
        after = messages.extent(stream, pos + 1, indent(stream.texts[pos]), started=bool(message))
    below = (stream.texts[at].strip() for at in range(pos + 1, after))
    rest = "\n".join(line for line in below if not line or not ruler(line)).strip()
    whole = f"{message}\n{rest}".strip() if rest else message
    found = Found(type_, whole, pos, after - 1, head, frames, caught=logged)
    if quoted is not None:
        quoted.order = stream.order
        stream.page.found.append(quoted)
        found.inner = quoted
    return found


def _nested(stream: Stream, found: Found) -> int:
    """Read the traceback that an exception's message quotes, if it does; return the position after all of it."""
    pos = found.last + 1
    ahead = stream.next_full(pos, 2)
    if ahead < 0 or stream.depth == DEEPEST:
        return pos
    bare = stream.texts[ahead].strip()
    quotes = bare.startswith(_NESTED) or "\n-- Process " in found.message or found.message.startswith("-- Process ")
    ray = found.type.endswith("RayTaskError") or "RayTaskError(" in found.type or found.message.startswith("ray::")
    if quotes and TRACEBACK in bare:
        for blank in range(pos, ahead):
            stream.mark(blank, Role.BLANK)
        stream.mark(ahead, Role.FRAME)
        start, margin = ahead + 1, indent(stream.texts[ahead])
        kind = "multiprocessing"
    elif ray and (frame(bare) is not None or TRACEBACK in bare or bare.startswith("ray::")):
        start = ahead
        while start < stream.size and stream.texts[start].strip().startswith(("ray::", TRACEBACK)):
            stream.mark(start, Role.EXCEPTION)
            start += 1
        margin = max(indent(stream.texts[min(start, stream.size - 1)]) - 2, 0)
        kind = "ray"
    else:
        return pos
    stream.depth += 1
    after, inner = _entries(stream, ahead, start, margin, listing=False)
    stream.depth -= 1
    if inner is not None:
        inner.remote = kind
        inner.relation, inner.final, inner.rank, inner.order = "cause", False, stream.rank, stream.order
        found.inner, found.last = inner, inner.last
        stream.page.found.append(inner)
    return after


def _table(stream: Stream, pos: int) -> tuple[int, Found | None]:
    """Mark the table of failed ranks that torchelastic prints below ChildFailedError.

    Return the position after it and the first exception that it quotes with its traceback.
    """
    start = pos
    rulers = 0
    frames: list[Frame] = []
    quoted: Found | None = None
    while pos < stream.size and pos < start + 600:
        bare = stream.texts[pos].strip()
        if not bare:
            stream.mark(pos, Role.BLANK)
            pos += 1
            continue
        if rulers == 0 and not (bare[0] == "=" and ruler(bare)):
            break
        entry = frame(bare)
        if entry is not None:
            frames.append(Frame(*entry, stream.order[pos]))
            stream.mark(pos, Role.FRAME)
            pos = _source(stream, pos, 0)
            continue
        stream.mark(pos, Role.EXCEPTION)
        shaped = exception(bare) if frames else None
        if shaped is not None and plausible(shaped[0]):
            quoted = quoted or Found(*shaped, pos, pos, pos, frames, "cause", stream.rank, "torchelastic", final=False)
            frames = []
        pos += 1
        if bare[0] == "=" and ruler(bare):
            rulers += 1
            if rulers == 2:
                return pos, quoted
    while pos > start and not stream.texts[pos - 1].strip():
        pos -= 1
    return pos, quoted
