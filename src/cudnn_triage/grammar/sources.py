"""Quoted source code outside tracebacks: ``set -x``, prompts, compiler listings, folded CI commands, warnings, argument echoes."""

from __future__ import annotations

from ..light import pattern
from ..structure import Role
from .page import Stream, indent
from .records import python_warning, record
from .shapes import arrow, exception, numbered, strong

_TRACE = pattern(r"\++ (?=[\w./'\"$\[({:~-])")
_BARRED = pattern(r"(?:\d+ *\|(?: |$|>>>)|\|(?: *[\^~|]|$)|\+\+\+ \|)")
_IPYTHON = pattern(r"In ?\[\d+\]: ")
_DIAGNOSTIC = pattern(r"[^\n]{0,1000}(?::\d+:\d+|\(\d+(?:,\d+)?\)|:\d+) ?: (?:fatal )?(?:error|warning|note|remark)\b")
_POINTER = pattern(r"[\^~][\^~ ]*$")
_CODE = pattern(r"[\w.]*warn\w*\s*\(")


def shell_trace(stream: Stream, pos: int, bare: str) -> int:
    """Mark a line of ``set -x``: ``+ python train.py``."""
    if _TRACE.match(stream.texts[pos]) is None:
        return pos
    stream.mark(pos, Role.SOURCE)
    return pos + 1


def typed(stream: Stream, pos: int, bare: str) -> int:
    """Mark what was typed at a prompt of Python or IPython."""
    if not (bare.startswith(">>>") or _IPYTHON.match(bare)):
        return pos
    raised = exception(bare[3:])  # a prompt has a blank behind it; without one, somebody has pointed at a line
    path = bare[3:].lstrip().startswith("/")  # as no Python begins
    if path or (raised and raised[1] and strong(raised[0])):
        return pos
    stream.mark(pos, Role.SOURCE)
    return pos + 1


def folded(stream: Stream, pos: int, bare: str) -> int:
    """Mark the echo of a script that CI folds away: ``##[group]Run ...`` up to ``##[endgroup]``."""
    if stream.fold:
        stream.mark(pos, Role.SOURCE)
        if bare.startswith(("##[endgroup]", "::endgroup::")):
            stream.fold = ""
        return pos + 1
    if bare.startswith("Run ") and stream.texts[pos][0] == "R":
        return _run_step(stream, pos)
    if bare.startswith(("##[group]Run ", "::group::Run ")):
        for at in range(pos + 1, min(pos + 200, stream.size)):
            if stream.texts[at].lstrip().startswith(("##[endgroup]", "::endgroup::")):
                stream.fold = "group"
                stream.mark(pos, Role.SOURCE)
                return pos + 1
    return pos


def _run_step(stream: Stream, pos: int) -> int:
    """Mark the same echo where cleaning has taken the folds away: ``Run ...``, the script, ``shell: ...``, ``env:``."""
    at = pos + 1
    while at < stream.size and at < pos + 100 and not stream.texts[at].startswith("shell: "):
        if stream.texts[at].startswith("Run "):
            return pos
        at += 1
    if at >= stream.size or not stream.texts[at].startswith("shell: "):
        return pos
    at += 1
    if at < stream.size and stream.texts[at].startswith("env:"):
        at += 1
        while at < stream.size and stream.texts[at].startswith("  "):
            at += 1
    for line in range(pos, at):
        stream.mark(line, Role.SOURCE if stream.texts[line].strip() else Role.BLANK)
    return at


def warning(stream: Stream, pos: int, bare: str) -> int:
    """Read a warning of Python's and mark the source line that stands below it or below its message."""
    if not python_warning(bare):
        return pos
    stream.mark(pos, Role.RECORD)
    margin = indent(stream.texts[pos])
    for at in range(pos + 1, min(pos + 80, stream.size)):
        text = stream.texts[at]
        bare = text.strip()
        if not bare:
            continue
        if indent(text) == margin + 2 and (at == pos + 1 or _CODE.match(bare)):
            stream.mark(at, Role.SOURCE)
            stream.warned = at
            return pos + 1
        if record(bare) or python_warning(bare):
            break
    return pos + 1


def listing(stream: Stream, pos: int, bare: str) -> int:
    """Mark a listing whose pointed-at line stands at ``pos`` (IPython's ``---> 3 code``)."""
    number = arrow(bare)
    if number < 0:
        return pos
    stream.mark(pos, Role.SOURCE)
    at, expected = pos - 1, number - 1
    while at >= 0 and stream.role(at) is Role.TEXT and numbered(stream.texts[at].strip()) == expected:
        stream.mark(at, Role.SOURCE)
        at, expected = at - 1, expected - 1
    at, expected = pos + 1, number + 1
    while at < stream.size and numbered(stream.texts[at].strip()) == expected:
        stream.mark(at, Role.SOURCE)
        at, expected = at + 1, expected + 1
    return at


def boxed(stream: Stream, pos: int, bare: str) -> int:
    """Mark source that rich draws in a box whose header is lost: ``│   988 │   code   │``."""
    inner = bare.strip("\u2502\u2503 ")
    if "\u2502" in bare and inner and numbered(inner) >= 0:
        stream.mark(pos, Role.SOURCE)
        return pos + 1
    return pos


def compiler(stream: Stream, pos: int, bare: str) -> int:
    """Mark what compilers quote below a diagnostic: ``  119 | code`` and the line that points at it."""
    if _BARRED.match(bare):
        if indent(stream.texts[pos]) or (bare[0].isdigit() and _quoted(stream, pos)):
            stream.mark(pos, Role.SOURCE)
            return pos + 1
        return pos
    if bare[0] in "^~" and _POINTER.match(bare):
        stream.mark(pos, Role.SOURCE)
        above = pos - 1
        if (
            above > 0
            and stream.role(above) is Role.TEXT
            and indent(stream.texts[above])
            and diagnostic(stream.texts[above - 1].strip())
        ):
            stream.mark(above, Role.SOURCE)
        return pos + 1
    return pos


def _quoted(stream: Stream, pos: int) -> bool:
    """Whether a numbered line is a compiler's quotation, not a line of a log whose lines are numbered: something points to it."""
    around = (
        stream.texts[pos - 1].strip() if pos else "",
        stream.texts[pos + 1].strip() if pos + 1 < stream.size else "",
    )
    return diagnostic(around[0]) or any(line.startswith("|") for line in around)


def diagnostic(bare: str) -> bool:
    """Whether the line is a compiler's diagnostic."""
    return _DIAGNOSTIC.match(bare) is not None
