"""Several lines that were pasted or written as one, split again where a new line unmistakably begins."""

from __future__ import annotations

import re

from .drafts import Draft
from .light import pattern

# what begins a line wherever it stands, for logs that were pasted or written as one line
_RECORD = pattern(
    r"""
    (?<!["'(=])20\d\d-\d\d-\d\d[ ]\d\d:\d\d:\d\d\.\d{6}:[ ][IWEF][ ](?=\w)                # absl
  | (?<!["'(=\w\[])[IWEF]\d{4}[ ]\d\d:\d\d:(?:\d\d|\d{10})\.\d{6}[ ]                        # glog
    """,
    re.VERBOSE,
)
_KERNEL = pattern(
    r"""
    \[[ ]{0,6}\d{1,8}\.\d{6}\][ ](?=NVRM|nvidia)
  | \[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ][A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ]\d\d:\d\d:\d\d[ ]20\d\d\][ ](?=NVRM|nvidia)
  | (?<!\w)[A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ]\d\d:\d\d:\d\d[ ][\w.-]{1,64}[ ]kernel:[ ](?=\[|NVRM|nvidia)
    """,
    re.VERBOSE,
)
_STAMP = pattern(r"""(?<![\w"'(=-])\[?20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{3,9}Z?\]?:?[ ]""")
_RANK = pattern(r"\[(?:rank|default)\d{1,5}\]:(?=[ \[])")
_HEAD = pattern(
    r"""(?<!["'`])(?:Traceback[ ]\(most[ ]recent[ ]call[ ]last\):|During[ ]handling[ ]of[ ]the[ ]above[ ]exception,"""
    r"""|The[ ]above[ ]exception[ ]was[ ]the[ ]direct[ ]cause)"""
)
_END = pattern(
    r"(?<=[\s.)])(?:terminate called after throwing an instance of "
    r"|(?:Aborted|Segmentation fault|Killed) \(core dumped\))"
)
_FRAME = pattern(
    r"""(?P<indent>[ ]{0,8})(?<![(,=>])File[ ]"[^"\r\n]{1,400}",[ ]line[ ]\d{1,7}(?P<function>,[ ]in[ ][\w<>.]{1,200})?"""
)
_EXCEPTION = pattern(
    r"(?<=[\s)\]^])(?<!raise )(?<!except )(?<!: )(?<!warn )"
    r"(?:[A-Za-z_]\w{0,60}\.){0,6}(?:[A-Z_]\w{0,60}(?:Error|Exception|Interrupt|StopIteration|Exit)|Exception)(?=:[ ]|[ ]*$)"
)
_WRITTEN_NEWLINE = pattern(r"(?<!\\)\\n")
_LONG = 200
SHORTEST = 60
"""Of the lines that can hold several."""


def spread(draft: Draft) -> list[Draft]:
    """The lines that were pasted or written as one, split where a new line unmistakably begins."""
    text = draft.text
    if len(text) < SHORTEST:
        return [draft]
    cuts: dict[int, int] = {}  # where a line begins: how far it is indented (-1: leave it as it is)
    skip: list[tuple[int, int]] = []
    head = text.find("Traceback (most recent")
    frames = text.count('File "')
    if head > 0 or frames > 1 or (head == 0 and frames):
        if text.count("\\n") >= 2:
            skip = [match.span() for match in _WRITTEN_NEWLINE.finditer(text)]
        _cut_traceback(text, cuts)
    if len(text) > _LONG or _records(text):
        cuts.update((match.start(), -1) for match in _RECORD.finditer(text))
    if len(text) > _LONG:
        stamps = [match.start() for match in _STAMP.finditer(text)]
        if len(stamps) > 1:
            cuts.update((start, -1) for start in stamps)
        cuts.update((match.start(), -1) for match in _KERNEL.finditer(text))
        cuts.update((match.start(), -1) for match in _END.finditer(text))
    if "]:" in text:
        cuts.update((match.start(), -1) for match in _RANK.finditer(text))
    cuts.pop(0, None)
    if not cuts and not skip:
        return [draft]
    bounds = sorted([(cut, cut) for cut in cuts] + skip)
    spans: list[tuple[int, int]] = []
    position = 0
    for start, end in (*bounds, (len(text), len(text))):
        if start > position and not text[position:start].isspace():
            spans.append((position, start))
        position = max(position, end)
    if len(spans) < 2:
        return [draft]
    parts = draft.split(spans)
    for part, (start, _) in zip(parts, spans, strict=True):
        if (indent := cuts.get(start, -1)) >= 0:
            part.edit([(0, len(part.text) - len(part.text.lstrip()), " " * indent)])
    return parts


def _records(text: str) -> bool:
    """Whether another absl record may stand behind the one that the line begins with, if any."""
    first = len("2020-08-08 19:17:16.746067: I")
    return text.find(": ", first) > 0 and (
        text.find(": I ", first) > 0
        or text.find(": W ", first) > 0
        or text.find(": E ", first) > 0
        or text.find(": F ", first) > 0
    )


def _cut_traceback(text: str, cuts: dict[int, int]) -> None:
    frames = list(_FRAME.finditer(text))
    heads = [match.start() for match in _HEAD.finditer(text)]
    cuts.update((start, -1) for start in heads)
    if len(frames) + len(heads) < 2:
        return
    limits = sorted([match.start() for match in frames] + heads + [len(text)])
    at = 0
    for match in frames:
        cuts[match.start()] = 2
        if match["function"] is None:
            continue
        cuts[match.end()] = 4
        while limits[at] <= match.start():
            at += 1
        if (found := _EXCEPTION.search(text, match.end(), limits[at])) is not None:
            cuts[found.start()] = -1
