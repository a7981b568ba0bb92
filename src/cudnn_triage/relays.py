"""A program's output that another program passed on line by line, each with a prefix that nobody foresaw: a logger's, a tool's, a
line number. Where a traceback stands in it the prefix can be told, as one knows how the head of a traceback begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

from .drafts import Draft
from .light import pattern
from .loggers import MONTHS, WEEKDAYS, logger

_HEAD = "Traceback (most recent call last)"
_FRAME = pattern(r'\s{1,4}File "')  # what stands below the head
_LOOKED_AT = 20  # tracebacks, until one tells
_BAD = ("E", "F")
_LONGEST = 160  # characters of a prefix
_SHARE = 0.9  # of the lines that must carry it
_VARIES = pattern(rf"(?P<digits>\d+)|(?P<blank>[ ]+)|\b(?P<day>{WEEKDAYS}|{MONTHS})\b")
_NUMBER = pattern(  # not that of a line of source code, of which a compiler speaks
    r"(?:(?=\d*[A-Za-z./])[\w./-]{1,80}?[:-])?[ ]{0,8}(\d{1,7})"
    r"(?!:(?:\d{1,4}:)?[ ](?:fatal[ ])?(?:error|warning|note):)(?:[:\t-]|[ ]?[|\u2502][ ]?|[.:]?[ ])"
)
_FEWEST = 8  # numbered lines: fewer may be a list
# behind the message, where it is one of several fields in quotation marks: logrus, CSV
_BEHIND = pattern(r'"(?:[ ][\w.]{1,40}=(?:"[^"]{0,200}"|[^\s"]{1,200})){0,8}\s*$')


class Relay:
    """The prefix that every line of one log carries, if it can be told."""

    def __init__(self, texts: Sequence[str]) -> None:
        full = [text for text in texts if text and not text.isspace()]
        shapes = (_shape(*lines) for lines in _heads(full))
        self._prefix = next((shape for shape in shapes if shape and _carried(shape, full)), None)
        if self._prefix is None and _numbered(full):
            self._prefix = _NUMBER
        self.found = self._prefix is not None
        # nothing but a traceback: a logger may have been told of it, rather than passed on what a program printed
        self._told = self.found and _HEAD in full[0]

    def remove(self, draft: Draft) -> None:
        """Take the prefix off. That a line is only information, or a warning, tells nothing of a program that was passed on."""
        match = self._prefix.match(draft.text) if self._prefix is not None else None
        if match is None:
            return
        level = logger(draft.text)[1] or draft.level
        draft.drop(match.end())
        draft.level = level if self._told or level in _BAD else ""
        if match.group().endswith('"'):
            if (end := _BEHIND.search(draft.text)) is not None:
                draft.trim(end.start())
            draft.edit([(quotes.start(), quotes.start() + 1, "") for quotes in re.finditer('""', draft.text)])


def _heads(texts: Sequence[str]) -> Iterable[tuple[str, str]]:
    """The lines with heads of tracebacks that something stands before, each with the line below."""
    pairs = ((text, below) for text, below in pairwise(texts) if _HEAD in text and not text.startswith(_HEAD))
    return islice(pairs, _LOOKED_AT)


def _shape(head: str, below: str) -> re.Pattern[str] | None:
    """What stands before the head of a traceback, with other numbers, if it stands before the line below as well."""
    before = head[: head.find(_HEAD)]
    if before.isspace() or len(before) > _LONGEST:
        return None
    shape, position = "", 0
    for match in _VARIES.finditer(before):
        kind = match.lastgroup
        varies = r"\d+" if kind == "digits" else "[ ]+" if kind == "blank" else "[A-Z][a-z]{2}"
        if kind == "blank" and match.end() == len(before):
            varies = f"(?:{' ' * len(match.group())}|$)"  # what more there is belongs to the line
        shape += _literal(before[position : match.start()]) + varies
        position = match.end()
    found = re.compile(shape + _literal(before[position:]))
    there = found.match(below)
    return found if there is not None and _FRAME.match(below, there.end()) is not None else None


def _literal(text: str) -> str:
    """What varies in nothing but the sign by which grep tells matches from the lines around them."""
    return "".join("[:-]" if char in ":-" else re.escape(char) for char in text)


def _carried(prefix: re.Pattern[str], texts: Sequence[str]) -> bool:
    return sum(prefix.match(text) is not None for text in texts) >= _SHARE * len(texts)


def _numbered(texts: Sequence[str]) -> bool:
    """Whether the lines carry numbers that never go back: the output of ``grep -n`` or ``cat -n``."""
    if len(texts) < _FEWEST or _NUMBER.match(texts[0]) is None:
        return False
    numbers = [int(match[1]) for text in texts if (match := _NUMBER.match(text)) is not None]
    return len(numbers) == len(texts) and all(before < after for before, after in pairwise(numbers))
