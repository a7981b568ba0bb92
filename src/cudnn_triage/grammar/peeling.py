"""What other programs draw around a traceback, taken off before it is read: ``| `` of exception groups, boxes, shared prefixes."""

from __future__ import annotations

from ..light import pattern
from .page import Stream

FRAMING = " \t\u2502\u2503"  # white space and the sides of rich's boxes

_GROUP_LINE = pattern(r"\s*(?:\| ?|\+(?=-))")
_GROUP_RULER = pattern(r"[-+]*-{4,}[ \d.]*-*\s*$")
_GROUP_HEAD = pattern(r"\s*\+ ")


def open_group(stream: Stream, pos: int) -> None:
    """Peel the ``| `` off the lines of an exception group."""
    at = pos
    while at < stream.size:
        text = stream.texts[at]
        found = _GROUP_LINE.match(text) if at > pos else _GROUP_HEAD.match(text)
        if found is None:
            break
        rest = text[found.end() :]
        if at > pos and _GROUP_RULER.match(rest):
            rest = ""
        stream.texts[at] = rest
        at += 1
    stream.group_until = at
    stream.group = None


def box(stream: Stream, pos: int) -> None:
    """Peel the frame off the lines of a box that rich draws around a traceback."""
    at = pos + 1
    while at < stream.size and stream.texts[at].lstrip()[:1] in ("\u2502", "\u2503"):
        stream.texts[at] = stream.texts[at].strip().removeprefix("\u2502").removeprefix("\u2503").rstrip(FRAMING)
        at += 1


def shared_prefix(stream: Stream, pos: int, before: str) -> bool:
    """Peel what stands before the header at ``pos`` off the lines below, if they share it; whether they do."""
    start = before.rstrip()
    if not start:
        return False
    at = pos + 1
    while at < stream.size and stream.texts[at].startswith(start):
        stream.texts[at] = stream.texts[at][len(before) :] if stream.texts[at].startswith(before) else ""
        at += 1
    return at > pos + 1
