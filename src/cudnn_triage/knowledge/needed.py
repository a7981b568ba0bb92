"""Which words a line must hold for a regular expression to match it, worked out when rules are compiled."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as sre
    import sre_parse as parser

_SHORTEST = 3  # letters of a word that is worth a look
Words = list[list[str]]
"""Lists of words, case-folded: of each list at least one word stands in whatever matches."""


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
        if len(run) >= _SHORTEST:
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
