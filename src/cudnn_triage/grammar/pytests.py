"""Reports of pytest: sections, listings of source with ``>`` and ``E``, ``file.py:12: RuntimeError``, captured output."""

from __future__ import annotations

from ..light import pattern
from ..structure import Frame, Role
from .page import Found, Stream, indent
from .shapes import exception, short_frame, strong

_SECTION = pattern(r"={3,} (.*?) ={3,}")
_TEST = pattern(r"_{3,} .* _{3,}\s*$|_{10,}\s*$")
_CAPTURED = pattern(r"-{3,} [Cc]aptured (?:stdout|stderr|log) ?\w* -{3,}\s*$")
_DASHES = pattern(r"(?:_ ){5,}_?\s*$")
_LISTED = ("FAILURES", "ERRORS")
_OF_THE_PASSED = "PASSES"  # pytest -rP, -rA


def section(stream: Stream, pos: int, bare: str) -> int:
    """Note where the sections of a report begin and end."""
    first = bare[0]
    if first == "=":
        found = _SECTION.match(bare[:400])
        if found is None:
            return pos
        stream.suite = "listing" if found[1].strip() in _LISTED else ""
        stream.places = []
        if found[1].strip() == _OF_THE_PASSED:
            _pass_over(stream, pos + 1)
    elif not stream.suite:
        return pos
    elif first == "_":
        if not _TEST.match(bare[:400]) and not _DASHES.match(bare[:400]):
            return pos
        stream.suite = "listing"
        if bare[:3] == "___":
            stream.places = []
    elif first == "-" and _CAPTURED.match(bare[:400]):
        stream.suite = "captured"
    else:
        return pos
    stream.mark(pos, Role.TEXT)
    return pos + 1


def _pass_over(stream: Stream, pos: int) -> None:
    """Mark what tests that passed have printed, up to the next section: they may have asked for any error."""
    while pos < stream.size and _SECTION.match(stream.texts[pos].strip()[:400]) is None:
        stream.mark(pos, Role.SOURCE if stream.texts[pos].strip() else Role.BLANK)
        pos += 1


def listing(stream: Stream, pos: int, bare: str) -> int:
    """Read one line of a report's listing."""
    text = stream.texts[pos]
    if stream.suite != "listing":
        return pos
    if bare[0] == ">" and text[0] == ">" and (len(text) == 1 or text[1] == " "):
        stream.mark(pos, Role.SOURCE)
        return pos + 1
    if stream.page.levels[stream.order[pos]] == "E":
        return _stripped(stream, pos)
    if text[0] not in " \t":
        return pos
    if indent(text) >= 4:
        stream.mark(pos, Role.SOURCE)
        return pos + 1
    return pos


def _stripped(stream: Stream, pos: int) -> int:
    """Read a run of ``E`` lines whose ``E`` cleaning has taken off and kept as their level."""
    at = pos
    while at < stream.size and stream.page.levels[stream.order[at]] == "E" and not short_frame(stream.texts[at]):
        at += 1
    at = max(at, pos + 1)
    _run(stream, pos, at, [stream.texts[line].strip() for line in range(pos, at)])
    return at


def margin_note(text: str) -> bool:
    """Whether the line is one of pytest's ``E   RuntimeError: ...``."""
    return text.startswith(("E  ", "E\t")) or text.rstrip() == "E"


def errors(stream: Stream, pos: int, bare: str) -> int:
    """Read a run of ``E`` lines."""
    at = pos
    parts: list[str] = []
    while at < stream.size and margin_note(stream.texts[at]):
        parts.append(stream.texts[at][1:].strip())
        at += 1
    if not any(parts):
        for line in range(pos, at):
            stream.mark(line, Role.TEXT)
        return at
    _run(stream, pos, at, parts)
    _unlisted(stream, pos)
    return at


def _run(stream: Stream, pos: int, at: int, parts: list[str]) -> None:
    """Record the exception whose lines ``parts`` stand from ``pos`` to before ``at``."""
    for line in range(pos, at):
        stream.mark(line, Role.EXCEPTION if stream.texts[line].strip() else Role.BLANK)
    shaped = exception(parts[0])
    if shaped and (strong(shaped[0]) or "." in shaped[0]):
        parts[0] = shaped[1]
        type_ = shaped[0]
    else:
        type_ = "AssertionError" if parts[0].startswith("assert") else ""
    _add(stream, pos, at - 1, type_, "\n".join(parts).strip())


def _unlisted(stream: Stream, pos: int) -> None:
    """Mark the listing above a run of ``E`` lines where the head of its section is lost."""
    at = pos - 1
    while at >= 0 and pos - at < 400:
        role = stream.role(at)
        text = stream.texts[at]
        if role is Role.BLANK:
            at -= 1
            continue
        if role is not Role.TEXT or not (text[0] == ">" or indent(text) >= 4):
            break
        stream.mark(at, Role.SOURCE)
        at -= 1


def _add(stream: Stream, first: int, last: int, type_: str, message: str) -> None:
    found = Found(type_, message, first, last, first, stream.places)
    stream.places = []
    ahead = stream.next_full(last + 1, 2)
    if ahead >= 0:
        place = short_frame(stream.texts[ahead].strip())
        if place:
            stream.mark(ahead, Role.FRAME)
            found.frames.append(Frame(place[0], place[1], place[2], stream.order[ahead]))
            if not found.type:
                found.type = place[3]
    stream.add(found)


def place(stream: Stream, pos: int, bare: str) -> int:
    """Read ``file.py:12: in f`` and the source below it."""
    found = short_frame(bare)
    if found is None or not (found[2] or stream.suite or (found[3] and strong(found[3]))):
        return pos
    stream.mark(pos, Role.FRAME)
    if not found[3] and len(stream.places) < 1000:
        stream.places.append(Frame(found[0], found[1], found[2], stream.order[pos]))
    pos += 1
    while pos < stream.size and found[2] and indent(stream.texts[pos]) >= 4 and stream.texts[pos].strip():
        stream.mark(pos, Role.SOURCE)
        pos += 1
    return pos
