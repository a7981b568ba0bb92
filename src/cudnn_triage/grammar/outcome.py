"""From what the readers found to the structure's exceptions and failures: order, packages, which failures were survived."""

from __future__ import annotations

import re

from ..light import pattern
from ..structure import Failure, Frame, Raised, Role
from . import records
from .page import Found, Page

_ECHOES = frozenset(("ChildFailedError", "CalledProcessError", "ProcessExitedException", "SystemExit"))
_PACKAGE = pattern(
    r".*[/\\](?:site|dist)-packages[/\\](?:[^/\\:\s]+\.egg[/\\])?([^/\\:\s]+)|(\w+)(?:[/\\]\w+)*[/\\]\w+\.p(?:yx|xd|xi)$"
)
"""The package in the path of a file below it, or of a Cython source, whose path begins with it."""
_STDLIB = pattern(
    r".*[/\\](?:[Ll]ib(?:64)?[/\\])?python\d(?:\.\d+)?[/\\]|<frozen |<string>|<stdin>|<__array|<decorator"
)
_CAUGHT_BELOW = pattern(r".{0,200}?\b(?:[Rr]etrying|[Rr]etry \d|[Ff]alling back|[Ff]ell back)\b", re.DOTALL)
_CAUGHT_ABOVE = ("Exception ignored in", "Exception ignored on", "--- Logging error ---")
_MUCH = 5  # lines behind a warning that show that the program went on
_VERY_MUCH = 30  # and behind an exception's line without a traceback, which may have been printed for information


def raised(page: Page) -> tuple[Raised, ...]:
    """The exceptions in log order."""
    order = sorted(page.found, key=lambda found: (found.order[found.first], found.order[found.last]))
    return tuple(
        Raised(
            type=found.type,
            message=found.message,
            first=found.order[found.first],
            last=found.order[found.last],
            frames=tuple(found.frames),
            relation=found.relation,
            rank=found.rank,
            remote=found.remote,
            final=found.final,
        )
        for found in order
    )


def failures(page: Page) -> tuple[Failure, ...]:
    """The failures in log order: those that lines report, and each exception that ended a chain."""
    told = [*page.failures, *(_of_exception(page, found) for found in page.found if found.final)]
    told.sort(key=lambda failure: (failure.first, failure.last))
    return tuple(told)


def _of_exception(page: Page, found: Found) -> Failure:
    innermost = found
    while innermost.inner is not None:
        innermost = innermost.inner
    kind = "exit-code" if found.type.rpartition(".")[2] in _ECHOES else "exception"
    text = f"{innermost.type}: {innermost.message}" if innermost.type else innermost.message
    return Failure(
        kind=kind,
        type=innermost.type,
        text=text.strip(": \n"),
        first=found.order[found.first if found.chain < 0 else found.chain],
        last=found.order[found.last],
        at=found.order[innermost.first],
        rank=found.rank,
        package=package(innermost.frames),
        caught=_caught(page, found),
    )


def package(frames: list[Frame]) -> str:
    """The installed package whose code the innermost frame is, the standard library left aside; ``""`` for the user's own."""
    for frame in reversed(frames):
        found = _PACKAGE.match(frame.file)
        if found:
            return (found[1] or found[2]).removesuffix(".py")
        if not _STDLIB.match(frame.file):
            return ""
    return ""


def _caught(page: Page, found: Found) -> bool:
    """Whether the log shows that the program went on after an exception."""
    if found.caught:
        return True
    head = above = found.order[found.head]
    if found.bare and _goes_on(page, found, _VERY_MUCH):
        return True
    if not found.bare:
        above -= 1
        while above >= 0 and head - above < 4 and page.roles[above] is Role.BLANK:
            above -= 1
        text = page.texts[above].lstrip() if above >= 0 else ""
        if text.startswith(_CAUGHT_ABOVE):
            return True
        if text and page.roles[above] is Role.RECORD and _logs_tracebacks(page.levels[above], text):
            return _goes_on(page, found, _MUCH)
    seen = 0
    last = found.order[found.last]
    for below in range(last + 1, min(last + 8, len(page.texts))):
        if page.ranks[below] == found.rank and page.roles[below] in (Role.TEXT, Role.RECORD):
            seen += 1
            if _CAUGHT_BELOW.match(page.texts[below]):
                return True
        if seen == 3:
            break
    return False


def _logs_tracebacks(level: str, text: str) -> bool:
    """Whether a record is a warning of a kind of logger that prints tracebacks below its messages: Python's, not absl or glog."""
    return (level == "W" or "WARNING" in text[:120] or "Warning: " in text[:400]) and not records.absl(text)


def _goes_on(page: Page, found: Found, much: int) -> bool:
    """Whether the process that raised the exception printed anything but failures after it."""
    seen = 0
    for below in range(found.order[found.last] + 1, min(found.order[found.last] + 200, len(page.texts))):
        role = page.roles[below]
        if page.ranks[below] != found.rank or role is Role.BLANK:
            continue
        if role not in (Role.TEXT, Role.RECORD):
            return False
        seen += 1
        if seen == much:
            return True
    return False
