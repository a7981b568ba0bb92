"""Text that tells nothing of what went wrong: commits, found source lines, descriptions of options, names of tests that passed."""

from __future__ import annotations

from ..light import pattern
from ..structure import Role
from .page import Page

_LEAST = 3  # lines that make a listing
_SHARE = 0.8  # of the lines of a log that must be of one shape
_COMMIT = pattern(r"(?=[0-9a-f]{0,11}\d)(?=[0-9a-f]{0,11}[a-f])[0-9a-f]{7,12} (?:\([^)]{1,200}\) )?\S")
_FOUND = pattern(  # grep -n, git grep: what is behind the number is code, with its own indent
    r"(?:[\w./-]{1,80}:)?(?:[\w.+-]{1,100}[/\\])*[\w.+-]{1,100}\.(?:cc?|cpp|cxx|cuh?|hh?|hpp|py|pyx|jl|rs|go|js|ts|java|md|rst)"
    r"(?::\d{1,6}:(?!\d)|-\d{1,6}-(?!\d))(?:\S|\s\s|\t|$)"
)
_OPTION = pattern(r"(\s{1,8})-{1,2}[A-Za-z?][\w-]*")
_RESULTS = (
    " ... ",
    ".py::",
    "--- ",
    "=== ",
    " ] ",
    "Passed",
)  # one of these stands in every line that the pattern takes
_PASSED = pattern(  # unittest, pytest, cargo, Go, googletest, ctest: its name may speak of any error
    r"""(?x)
    \s{0,8}(?:
        test\S{0,200}(?:[ ]\([\w.]{1,300}\))?[ ]\.\.\.[ ](?:ok|expected[ ]failure|skipped[ ].{1,300})$
      | test[ ]\S{1,300}[ ]\.\.\.[ ](?:ok|ignored\b.{0,200})$
      | \S{1,300}\.py::\S{1,400}[ ](?:PASSED|SKIPPED|XFAIL)\b.{0,200}$
      | (?:PASSED|XFAIL)[ ]\S{1,300}\.py::\S.{0,400}$
      | (?:---[ ]|===[ ])(?:PASS|SKIP|RUN)[: ]
      | \[[ ](?:RUN[ ]{5}|[ ]{6}OK|[ ]SKIPPED)[ ]\][ ]
      | \d{1,6}/\d{1,6}[ ]Test[ ]{1,5}\#\d{1,6}:[ ]\S{1,300}[ ].{0,200}\bPassed\b
    )
    """
)
_USAGE = ("usage:", "Usage:", "USAGE:")


def mark(page: Page) -> None:
    """Mark a log that is a listing as a whole, the descriptions of options below a program's usage, and tests that passed."""
    texts = page.texts
    full = [index for index, text in enumerate(texts) if text and not text.isspace()]
    for index in full:
        text = texts[index]
        if any(word in text for word in _RESULTS) and _PASSED.match(text):
            page.roles[index] = Role.SOURCE
    if len(full) < _LEAST:
        return
    if not _mark_whole(page, full):
        first = next((index for index in full if texts[index].lstrip().startswith(_USAGE)), -1)
        if first >= 0:
            _mark_options(page, [index for index in full if index > first])


def _mark_whole(page: Page, full: list[int]) -> bool:
    probes = full[:_LEAST]
    for shape in (_COMMIT, _FOUND):
        if not any(shape.match(page.texts[index]) for index in probes):
            continue
        found = [index for index in full if shape.match(page.texts[index])]
        if len(found) >= max(_LEAST, _SHARE * len(full)):
            for index in found:
                page.roles[index] = Role.SOURCE
            return True
    return False


def _mark_options(page: Page, below: list[int]) -> None:
    """Mark ``  --option VALUE   description`` and what is indented below it."""
    depth = 0  # of the option whose description goes on
    marked: list[int] = []
    for index in below:
        text = page.texts[index]
        option = _OPTION.match(text)
        indent = len(text) - len(text.lstrip())
        if option is not None:
            depth = len(option[1])
            marked.append(index)
        elif depth and indent > depth + 1:
            marked.append(index)
        else:
            depth = 0
    if sum(_OPTION.match(page.texts[index]) is not None for index in marked) >= _LEAST:
        for index in marked:
            page.roles[index] = Role.SOURCE
