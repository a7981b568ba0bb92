"""What a regular expression tells before it is run: its literal text, how long a match is, which words a line must hold.

Worked out when rules are compiled; nothing here is imported to read a log.
"""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as sre
    import sre_parse as parser

_FAR = 1000  # characters: more is no limit
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # characters in brackets, among them \]
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|:|[a-z]+(?=\))))?")
"""The beginning of a group: ``(``, ``(?:``, ``(?P<name>``, or the flags of ``(?i)``."""
_SHORTEST = 3  # letters of a word that is worth a look; of a letter beyond ASCII one is
Words = list[list[str]]
"""Lists of words, case-folded: of each list at least one word stands in whatever matches."""


def reach(before: str) -> int:
    """How many visible characters may stand between the beginning of a line, where a match must begin, and its literal; -1: any."""
    if not re.match(r"(?:\(\?i\))?\^", before):
        return -1
    most = width(re.sub(r"(?:\\s| )[*+]", "", before))
    return most if most < _FAR else -1


def width(pattern: str) -> int:
    """The length of the longest text that a pattern matches; very large where there is no limit or only RE2 can tell."""
    try:
        longest: int = parser.parse(pattern).getwidth()[1]
    except (re.error, OverflowError):
        return sys.maxsize
    return longest


def literal_runs(pattern: str) -> list[tuple[int, str]]:
    """The runs of literal characters that every match must contain, and where they begin.

    Those of classes, of what may be repeated or left out, and of groups with alternatives do not count.
    """
    runs: list[tuple[int, str]] = []
    groups: list[
        tuple[int, bool]
    ] = []  # of the groups around: how many runs stood before it, whether it has alternatives
    run, i, begin = "", 0, 0
    while i < len(pattern):
        char, at = pattern[i], i
        following = pattern[i + 1 : i + 2]
        literal = ""
        if char == "\\":
            literal = following if following in r"\.+*?()[]{}|^$/-'\"" and following else ""
            i += 2
        elif char == "[":
            closing = _CLASS.match(pattern, i)
            i = closing.end() if closing is not None else len(pattern)
        elif char == "(" and (opening := _GROUP.match(pattern, i)) is not None:
            i = opening.end()
        elif char in ".^$*+?{|()":
            i = (pattern.find("}", i) + 1 or len(pattern)) if char == "{" else i + 1
        else:
            literal, i = char, i + 1
        optional = pattern[i : i + 1] in ("?", "*", "{")
        if literal and not optional:
            begin = begin if run else at
            run += literal
            continue
        runs.append((begin, run))
        run = ""
        if char == "(":
            groups.append((len(runs), False))
        elif char == "|" and groups:
            groups[-1] = groups[-1][0], True
        elif char == "|":
            return []
        elif char == ")" and groups:
            before, alternatives = groups.pop()
            if optional or alternatives:
                del runs[before:]
    return [*runs, (begin, run)]


def needed_words(pattern: str) -> Words:
    """The words that every match of a pattern holds, the most telling list first; none where only RE2 can read the pattern."""
    try:
        words = _of(parser.parse(pattern))
    except (parser.error, OverflowError):
        return []
    return sorted(words, key=_telling, reverse=True)


def _of(sequence: Any) -> Words:
    words: Words = []
    run = ""
    for kind, value in [*sequence, (None, None)]:
        if kind is sre.LITERAL:
            run += chr(value)
            continue
        if len(run) >= _SHORTEST or not run.isascii():
            words.append([run.casefold()])
        run = ""
        if kind is sre.SUBPATTERN:
            words += _of(value[-1])
        elif kind is sre.MAX_REPEAT or kind is sre.MIN_REPEAT:
            least, _, repeated = value
            words += _of(repeated) if least else []
        elif kind is sre.BRANCH:
            words += _of_any(value[1])
    return words


def _of_any(alternatives: Any) -> Words:
    """What is needed whichever of several sequences matches."""
    best = [max(_of(alternative), key=_telling, default=[]) for alternative in alternatives]
    return [[word for words in best for word in words]] if all(best) else []


def _telling(words: list[str]) -> tuple[int, int]:
    """How much it tells that one of these words stands somewhere: the longer and the fewer, the more."""
    return min(map(len, words)), -len(words)
