"""Lines that a terminal, a page or a mail program has broken, put together again."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from .drafts import Draft, joined
from .light import pattern
from .loggers import MONTHS

# what begins a line of its own, whatever stood before
_START = pattern(
    r"""
    \s*$
  | \s{2,}\S|\t
  | \x1b
  | \[?\d{4}[-/]\d\d[-/]\d\d[ T:]
  | \[?\d\d:\d\d:\d\d
    """
    rf"  | (?:<\d{{1,3}}>)?(?:{MONTHS})[ ][ \d]\d[ ]\d\d:\d\d:\d\d[ ]"
    r"""
  | (?:<\d{1,3}>)?\[[ ]{0,6}[+]?\d{1,8}\.\d
  | \[?[IWEF](?:\d{3,4}[ ]\d\d:|[ ]\w+/|:)
  | \[(?:rank|default)?\d{1,5}\]:
  | \[[A-Z]{3,8}\]
  | (?:ERROR|WARNING|INFO|DEBUG|CRITICAL|FATAL|FAILED|SKIPPED|PASSED)\b
  | Traceback[ ]\(most
  | During[ ]handling[ ]of[ ]the[ ]above|The[ ]above[ ]exception
  | [>$\#%]{1,3}[ ]|[+|*=-]{2,}|\|[ ]
  | [\w.]{0,100}(?:Error|Exception|Warning|Interrupt)\b:?
  | frame[ ]\#\d+:
  | \#\d+[ ]
  | terminate[ ]called
  | kernel:[ ]
    """,
    re.VERBOSE,
)
_DIGITS = pattern(r"\d+")
_USUAL_WIDTHS = frozenset({72, 76, 78, 79, 80, 100, 120, 128, 132, 160})
_LEAST_WIDTH = 40
_GREATEST_WIDTH = 1000
_RULE = pattern(r"[=_*#~-]{4}$|[|+]$|[ ]{2}$")
_COLUMN = pattern(r" {2,}(?=\S)")
_SHORTEST = 16
_BEGINNING = 6
_USUAL_SHARE = 0.2
_LONGEST_WORD = 16
_LEAST_SOFT = 4  # lines that must look carried over before a wrap at words is believed
_VOCABULARY_LINES = 5000
_WORD = pattern(r"[A-Za-z_]\w{0,60}")
_WORD_END = pattern(r"[A-Za-z_]\w{0,60}$")
_WORD_START = pattern(r"\w{1,60}")
_UNFINISHED = pattern(
    r"""\s{1,12}File(?:[ ]?"[^"]{0,400}(?:"(?:,(?:[ ](?:l(?:i(?:n(?:e(?:[ ]\d{0,6})?)?)?)?)?)?)?)?)?$"""
    r"""|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: [IWEF]$"""
)
_LINE_NUMBER = len('", line 123456')
_MOST_PARTS = 6
_MOST_ROWS = 500  # that one line may fill


def complete(drafts: list[Draft]) -> list[Draft]:
    """Join what was broken in the middle of a traceback's 'File "x", line 3, in f' or of an absl prefix."""
    out: list[Draft] = []
    parts: list[Draft] = []  # of the line at the end of ``out``, while it is unfinished
    for draft in drafts:
        text = draft.text
        if parts and text and len(parts) < _MOST_PARTS and not _START.match(text):
            parts.append(draft)
            out[-1] = joined(parts, _GREATEST_WIDTH)
            text = out[-1].text
        else:
            parts = []
            out.append(draft)
        if not text or not ("File" in text or text[-1] in "IWEF"):
            parts = []
        elif len(text) < _GREATEST_WIDTH and _may_go_on(text) and _UNFINISHED.match(text):
            parts = parts or [draft]
        else:
            parts = []
    return out


def _may_go_on(text: str) -> bool:
    """Whether a line may end within 'File "x", line 3': most lines of a traceback have more than that behind the second quote."""
    return len(text) - text.rfind('"') <= _LINE_NUMBER or text.count('"') < 2


def rejoin(drafts: list[Draft]) -> list[Draft]:
    """Join lines that were wrapped at one width, where the log as a whole shows that they were."""
    lengths = Counter([draft.wide + len(draft.text) for draft in drafts])
    width = max(lengths, default=0)
    if not _LEAST_WIDTH <= width <= _GREATEST_WIDTH:
        return drafts
    near = sum(count for length, count in lengths.items() if length > width - _LONGEST_WORD)
    if lengths[width] < 2 and near < _LEAST_SOFT:
        return drafts
    begins = _Beginnings(drafts, width)
    within = lengths[width] > 1 and _is_hard(drafts, width, begins)
    between = _carried(drafts, width, begins) if near >= _LEAST_SOFT else 0
    if not within and not between:
        return drafts
    within = within and lengths[width] > 2 * between  # words longer than a line are cut in any case
    groups: list[list[Draft]] = []
    before = drafts[0]
    for draft in drafts:
        full = _full(before, width) if within else _filled(before, draft.text, width)
        goes_on = full and not begins(draft.text) and not _rows(before.text, draft.text) and draft.rank == before.rank
        goes_on = goes_on and not _apart(before, draft)
        if groups and goes_on and len(groups[-1]) < _MOST_ROWS:
            groups[-1].append(draft)
        else:
            groups.append([draft])
        before = draft
    return [group[0] if len(group) == 1 else joined(group, 0 if within else width) for group in groups]


class _Beginnings:
    """What begins a line of its own in this log: what always does, and what many of its lines begin with."""

    def __init__(self, drafts: list[Draft], width: int) -> None:
        counts: Counter[str] = Counter()
        sure: set[str] = set()  # at least once behind a line that has room left, so not the rest of a wrapped one
        before = drafts[0]
        for draft in drafts[:_VOCABULARY_LINES]:
            if draft.text:
                shape = _DIGITS.sub("0", draft.text[:_BEGINNING])
                counts[shape] += 1
                if shape not in sure and not _filled(before, draft.text, width):
                    sure.add(shape)
            before = draft
        least = max(3, _USUAL_SHARE * counts.total())
        self._usual = {shape for shape in sure if counts[shape] >= least}

    def __call__(self, text: str) -> bool:
        return _START.match(text) is not None or _DIGITS.sub("0", text[:_BEGINNING]) in self._usual


def _is_hard(drafts: list[Draft], width: int, begins: _Beginnings) -> bool:
    pairs = [
        (before.text, after.text)
        for before, after in pairwise(drafts)
        if _full(before, width) and not _apart(before, after)
    ]
    usual = width in _USUAL_WIDTHS or any(len(before) in _USUAL_WIDTHS for before, _ in pairs)
    carried = [pair for pair in pairs if not begins(pair[1]) and not _rows(*pair)]
    starts = {_DIGITS.sub("0", before) for before, after in pairs if begins(after) or _rows(before, after)}
    # the same message again and again has the same length each time: it counts once
    shapes = {_DIGITS.sub("0", before): (before, after) for before, after in carried}
    if not shapes or len(shapes) < 2 * len(starts):
        return False
    whole, cut = _words(drafts, carried)
    if cut > 2 * whole:
        return True
    continued = sum(_continues(before, after) for before, after in shapes.values())
    if whole > cut or len(shapes) < (2 if usual else 3) or continued * 2 < len(shapes):
        return False
    nearly = {_DIGITS.sub("0", draft.text) for draft in drafts if width - 4 <= draft.width < width}
    return len(shapes) > len(nearly)


def _words(drafts: list[Draft], pairs: list[tuple[str, str]]) -> tuple[int, int]:
    """At how many line ends whole words meet, and at how many a word is cut: judged by the words of the log."""
    ends = [(_WORD_END.search(before[-60:]), _WORD_START.match(after)) for before, after in pairs]
    meeting = [(left.group(), right.group()) for left, right in ends if left is not None and right is not None]
    if not meeting:
        return 0, 0
    edges = {before for before, _ in pairs} | {after for _, after in pairs}
    words: set[str] = set()
    for draft in drafts[:_VOCABULARY_LINES]:
        # of the lines in question only what is not at their edges
        words.update(_WORD.findall(draft.text)[1:-1] if draft.text in edges else _WORD.findall(draft.text))
    whole = sum(left in words and right in words and left + right not in words for left, right in meeting)
    cut = sum(left + right in words and not (left in words and right in words) for left, right in meeting)
    return whole, cut


def _continues(before: str, after: str) -> bool:
    first = after[:1]
    return not before[-1:].isspace() and (first.islower() or first.isdigit() or first in ".,;:)]}/\\_-'\"")


def _rows(before: str, after: str) -> bool:
    """Whether two lines are rows of one table: at least two columns begin at the same places."""
    ends = {found.end() for found in _COLUMN.finditer(before)}
    return len(ends) > 1 and len(ends.intersection(found.end() for found in _COLUMN.finditer(after))) > 1


def _apart(before: Draft, after: Draft) -> bool:
    """Whether two lines are records of a syslog: it writes each with a prefix of its own, so only what a program has wrapped
    itself, at a width that is usual without the prefix, may be one line."""
    return bool(after.program) and (after.program != before.program or len(before.text) not in _USUAL_WIDTHS)


def _full(draft: Draft, width: int) -> bool:
    return draft.width == width and not _RULE.search(draft.text, max(len(draft.text) - 4, 0))


def _filled(before: Draft, after: str, width: int) -> bool:
    """Whether the next line's first word would not have fitted on this one."""
    filled = before.wide + len(before.text)
    if filled < _SHORTEST or not after or filled + len(after) < width:
        return False
    word = after.find(" ", 0, width)
    if filled + 1 + (word if word >= 0 else min(len(after), width)) <= width:
        return False
    return not _RULE.search(before.text, max(len(before.text) - 4, 0))


def _carried(drafts: list[Draft], width: int, begins: _Beginnings) -> int:
    """How many lines end where the next word would not have fitted; 0 where that may be chance."""
    carried: dict[tuple[str, str], int] = {}
    other: set[tuple[str, str]] = set()
    for before, after in pairwise(drafts):
        if before.width > width // 2 and after.text and not _apart(before, after):
            if _filled(before, after.text, width) and not begins(after.text):
                carried[before.text, after.text] = before.width
            else:
                other.add((before.text, after.text))
    if len(carried) < _LEAST_SOFT or len(carried) * 4 < len(other):
        return 0
    return sum(length < width for length in carried.values())
