"""Stack traces of other languages: C++ (c10, glog, gdb, UCX, Open MPI), Linux kernel, Lua, Julia, Java, JavaScript, Rust, Go."""

from __future__ import annotations

from ..light import pattern
from ..structure import Role
from . import messages
from .page import Found, Stream, indent
from .shapes import exception, native_frame, raised_from

_STACKS = ("stack backtrace:", "*** Check failure stack trace", "==== backtrace", "Call Trace:", "goroutine ")
_JAVA = pattern(r'(?:Exception in thread "[^"]*" |Caused by: )((?:[\w$]+\.)+[\w$]+)(?:: (.*))?$')
_LUA_HEAD = pattern(r"(?:\S+(?:luajit|lua|th): )?(?:\S+\.lua:\d+: )?(.*)$")


def terminate(stream: Stream, pos: int, bare: str) -> int:
    """Read ``terminate called after throwing an instance of 'X'`` and the ``what():`` below."""
    if not bare.startswith("terminate called"):
        return pos
    stream.mark(pos, Role.EXCEPTION)
    _, _, type_ = bare.partition("instance of ")
    type_ = type_.strip().strip("'\u2018\u2019\u00ab\u00bb\"")
    at = stream.next_full(pos + 1, 3)
    text = bare
    after = pos + 1
    for nearby in range(pos + 1, min(pos + 6, stream.size)):  # other ranks may print in between
        if stream.texts[nearby].lstrip().startswith("what():"):
            at = nearby
            break
    if at >= 0:
        what = stream.texts[at].strip()
        if what.startswith("what():"):
            stream.mark(at, Role.EXCEPTION)
            text = what[7:].strip()
            after = messages.extent(stream, at + 1, 0, started=bool(text))
    stream.fail("abort", type_[:200], (pos, after - 1), pos if text == bare else at, text)
    return after


def java(stream: Stream, pos: int, bare: str) -> int:
    """Read the head of a Java stack trace."""
    found = _JAVA.match(bare)
    if found is None:
        return pos
    stream.mark(pos, Role.EXCEPTION)
    outer = stream.last
    raised = Found(found[1], found[2] or "", pos, pos, pos)
    stream.add(raised)
    if bare.startswith("Caused") and outer is not None:
        raised.relation, raised.final = "cause", False
        outer.inner, outer.last, stream.last = raised, pos, outer
    return pos + 1


def lua(stream: Stream, pos: int, bare: str) -> int:
    """Read a Lua stack trace from ``stack traceback:`` on, and the message above it."""
    if not bare.startswith("stack traceback:"):
        return pos
    first = last = -1
    above = stream.previous_full(pos, 2)
    at = above
    while at >= 0 and above - at < 15 and stream.role(at) in (Role.TEXT, Role.BLANK, Role.RECORD, None):
        line = stream.texts[at].strip()
        if ".lua:" in line or "luajit:" in line:
            first, last = at, above
            break
        at -= 1
    if first < 0 and above >= 0 and stream.role(above) in (Role.TEXT, None):
        first = last = above
    if first >= 0:
        for at in range(first, last + 1):
            if stream.texts[at].strip():
                stream.mark(at, Role.EXCEPTION)
        head = _LUA_HEAD.match(stream.texts[first].strip())
        message = "\n".join(filter(None, (stream.texts[at].strip() for at in range(first, last + 1))))
        named = exception(head[1]) if head else None
        stream.add(Found(named[0] if named else "", message, first, last, first))
    stream.mark(pos, Role.FRAME)
    pos += 1
    while pos < stream.size and stream.texts[pos].strip() and indent(stream.texts[pos]):
        stream.mark(pos, Role.FRAME)
        pos += 1
    return pos


def rust(stream: Stream, pos: int, bare: str) -> int:
    """Read ``thread 'main' panicked at src/main.rs:2:5:`` and the message below."""
    if not bare.startswith("thread '") or "' panicked at " not in bare:
        return pos
    stream.mark(pos, Role.EXCEPTION)
    last = pos
    if bare.endswith(":") and pos + 1 < stream.size and stream.texts[pos + 1].strip():
        last = pos + 1
        stream.mark(last, Role.EXCEPTION)
    stream.fail("abort", "panic", (pos, last), last, stream.texts[last].strip())
    return last + 1


def julia(stream: Stream, pos: int, bare: str) -> int:
    """Read a Julia stack trace from ``Stacktrace:`` on, and the ``ERROR:`` above it."""
    if not bare.startswith("Stacktrace:"):
        return pos
    at = stream.previous_full(pos, 2)
    above = at
    while at >= 0 and above - at < 10 and stream.role(at) in (Role.TEXT, Role.RECORD):
        text = stream.texts[at].strip()
        if text.startswith("ERROR: "):
            for line in range(at, above + 1):
                stream.mark(line, Role.EXCEPTION)
            type_, _, message = text[7:].partition(": ")
            stream.add(Found(type_ if message else "", message or type_, at, above, at))
            break
        at -= 1
    return _stack(stream, pos)


def stack(stream: Stream, pos: int, bare: str) -> int:
    """Read a stack trace that has a header and no message of its own."""
    return _stack(stream, pos) if bare.startswith(_STACKS) else pos


def entry(stream: Stream, pos: int, bare: str) -> int:
    """Mark an entry of a stack trace wherever it stands."""
    if not (native_frame(bare) or raised_from(bare)):
        return pos
    stream.mark(pos, Role.FRAME)
    return pos + 1


def _stack(stream: Stream, pos: int) -> int:
    """Mark the header at ``pos`` and the indented or numbered entries below it."""
    stream.mark(pos, Role.FRAME)
    pos += 1
    while pos < stream.size:
        text = stream.texts[pos]
        bare = text.strip()
        if not bare or not (native_frame(bare) or (indent(text) and (bare[0] in "@[" or bare.startswith("at ")))):
            break
        stream.mark(pos, Role.FRAME)
        pos += 1
    return pos
