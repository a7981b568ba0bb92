"""Lines that a terminal, a page or a mail program has broken at a fixed width, and several lines pasted as one."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from cudnn_triage.drafts import Draft, joined

# what begins a line of its own, whatever stood before
_START = re.compile(
    r"""
    \s*$
  | \s{2,}\S|\t
  | \x1b
  | \[?\d{4}[-/]\d\d[-/]\d\d[ T:]
  | \[?\d\d:\d\d:\d\d
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
  | kernel:[ ]|name:[ ]|pciBusID|coreClock
    """,
    re.VERBOSE,
)
_DIGITS = re.compile(r"\d+")
_USUAL_WIDTHS = frozenset({72, 76, 78, 79, 80, 100, 120, 128, 132, 160})
_LEAST_WIDTH = 40
_GREATEST_WIDTH = 1000
_RULE = re.compile(r"[=_*#~-]{4}$|[|+]$|[ ]{2}$")
_SHORTEST = 16
_BEGINNING = 6
_USUAL_SHARE = 0.2
_LONGEST_WORD = 16
_LEAST_SOFT = 4  # lines that must look carried over before a wrap at words is believed
_VOCABULARY_LINES = 5000
_WORD = re.compile(r"[A-Za-z_]\w{0,60}")
_WORD_END = re.compile(r"[A-Za-z_]\w{0,60}$")
_WORD_START = re.compile(r"\w{1,60}")
_MOST_ROWS = 500  # that one line may fill


def rejoin(drafts: list[Draft]) -> list[Draft]:
    """Join lines that were wrapped at one width, where the log as a whole shows that they were."""
    lengths = Counter(len(draft.text) for draft in drafts)
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
    within = within and lengths[width] >= between  # words longer than a line are cut in any case
    groups: list[list[Draft]] = []
    before = ""
    for draft in drafts:
        text = draft.text
        if within:
            full = len(before) == width and not _RULE.search(before, width - 4)
        else:
            full = _filled(before, text, width)
        if full and not begins(text) and draft.rank == groups[-1][0].rank and len(groups[-1]) < _MOST_ROWS:
            groups[-1].append(draft)
        else:
            groups.append([draft])
        before = text
    return [group[0] if len(group) == 1 else joined(group, 0 if within else width) for group in groups]


class _Beginnings:
    """What begins a line of its own in this log: what always does, and what many of its lines begin with."""

    def __init__(self, drafts: list[Draft], width: int) -> None:
        counts: Counter[str] = Counter()
        sure: set[str] = set()  # at least once behind a line that has room left, so not the rest of a wrapped one
        before = ""
        for draft in drafts[:_VOCABULARY_LINES]:
            if draft.text:
                shape = _DIGITS.sub("0", draft.text[:_BEGINNING])
                counts[shape] += 1
                if shape not in sure and not _filled(before, draft.text, width):
                    sure.add(shape)
            before = draft.text
        least = max(3, _USUAL_SHARE * counts.total())
        self._usual = {shape for shape in sure if counts[shape] >= least}

    def __call__(self, text: str) -> bool:
        return _START.match(text) is not None or _DIGITS.sub("0", text[:_BEGINNING]) in self._usual


def _is_hard(drafts: list[Draft], width: int, begins: _Beginnings) -> bool:
    pairs = [
        (before.text, after.text)
        for before, after in pairwise(drafts)
        if len(before.text) == width and not _RULE.search(before.text, width - 4)
    ]
    carried = [pair for pair in pairs if not begins(pair[1])]
    starts = {_DIGITS.sub("0", before) for before, after in pairs if begins(after)}
    # the same message again and again has the same length each time: it counts once
    shapes = {_DIGITS.sub("0", before): (before, after) for before, after in carried}
    if not shapes or len(shapes) < 2 * len(starts):
        return False
    whole, cut = _words(drafts, carried)
    if cut > 2 * whole:
        return True
    continued = sum(_continues(before, after) for before, after in shapes.values())
    if whole > cut or len(shapes) < (2 if width in _USUAL_WIDTHS else 3) or continued * 2 < len(shapes):
        return False
    nearly = {_DIGITS.sub("0", draft.text) for draft in drafts if width - 4 <= len(draft.text) < width}
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


def _filled(before: str, after: str, width: int) -> bool:
    """Whether the next line's first word would not have fitted on this one."""
    if len(before) < _SHORTEST or not after or _RULE.search(before, len(before) - 4):
        return False
    word = after.find(" ", 0, width)
    return len(before) + 1 + (word if word >= 0 else min(len(after), width)) > width


def _carried(drafts: list[Draft], width: int, begins: _Beginnings) -> int:
    """How many lines end where the next word would not have fitted; 0 where that may be chance."""
    carried: set[str] = set()
    other: set[str] = set()
    for before, after in pairwise(drafts):
        if len(before.text) > width // 2 and after.text:
            carries = _filled(before.text, after.text, width) and not begins(after.text)
            (carried if carries else other).add(_DIGITS.sub("0", before.text))
    if len(carried) < _LEAST_SOFT or len(carried) * 4 < len(other):
        return 0
    return sum(len(text) < width for text in carried)


_ABSL = re.compile(r"(?<![\w\"'])\d{4}-\d\d-\d\d[ ]\d\d:\d\d:\d\d\.\d{6}:[ ][IWEF][ ]\w")
_ABSL_SIGNS = (": I ", ": W ", ": E ", ": F ")
_GLOG = re.compile(r"(?<![\w\"'\[(])[IWEF]\d{4}[ ]\d\d:\d\d:(?:\d\d|\d{10})\.\d{6}[ ]")
_RANK = re.compile(r"\[(?:rank|default)\d{1,5}\]:(?=[ \[])")
_TRACEBACK = re.compile(
    r"""(?<!["'`\w])(?:Traceback[ ]\(most[ ]recent[ ]call[ ]last\):|During[ ]handling[ ]of[ ]the[ ]above[ ]exception,"""
    r"""|The[ ]above[ ]exception[ ]was[ ]the[ ]direct[ ]cause)"""
)
_FRAME = re.compile(r"""[ ]{0,8}(?<![(,=>])File[ ]"[^"\r\n]{1,400}",[ ]line[ ]\d{1,7}(?:,[ ]in[ ][\w<>.]{1,200})?""")
_EXCEPTION = re.compile(
    r"(?<=[\s)\]^])(?<!raise )(?<!except )(?<!: )(?<!warn )(?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|StopIteration|Exit)"
    r"(?=:[ ]|[ ]*$)"
)
_WRITTEN_NEWLINE = re.compile(r"(?<!\\)\\n")


def spread(draft: Draft) -> list[Draft]:
    """The lines that were pasted or written as one, split where a new line unmistakably begins."""
    text = draft.text
    if len(text) < 60:
        return [draft]
    cuts: set[int] = set()
    skip: list[tuple[int, int]] = []
    traceback = "Traceback" in text or 'File "' in text
    if traceback and "\\n" in text and text.count("\\n") >= 2:
        for match in _WRITTEN_NEWLINE.finditer(text):
            skip.append(match.span())
    if traceback:
        _cut_traceback(text, cuts)
    if any(text.find(sign, 28) >= 0 for sign in _ABSL_SIGNS):
        cuts.update(match.start() for match in _ABSL.finditer(text))
    if len(text) > 200:
        cuts.update(match.start() for match in _GLOG.finditer(text))
    if "]:" in text:
        cuts.update(match.start() for match in _RANK.finditer(text))
    cuts.discard(0)
    if not cuts and not skip:
        return [draft]
    bounds = sorted([(cut, cut) for cut in cuts] + skip)
    spans: list[tuple[int, int]] = []
    position = 0
    for start, end in (*bounds, (len(text), len(text))):
        if start > position and not text[position:start].isspace():
            spans.append((position, start))
        position = max(position, end)
    return draft.split(spans) if len(spans) > 1 or skip else [draft]


def _cut_traceback(text: str, cuts: set[int]) -> None:
    frames = list(_FRAME.finditer(text))
    heads = list(_TRACEBACK.finditer(text))
    if len(frames) + len(heads) < 2 and not any(match.start() for match in heads):
        return
    cuts.update(match.start() for match in heads)
    limits = sorted([match.start() for match in frames] + [match.start() for match in heads] + [len(text)])
    if len(frames) < 2 and not heads:
        return
    at = 0
    for match in frames:
        cuts.add(match.start())
        if ", in " not in match.group():
            continue
        cuts.add(match.end())
        while limits[at] <= match.start():
            at += 1
        if (found := _EXCEPTION.search(text, match.end(), limits[at])) is not None:
            cuts.add(found.start())
