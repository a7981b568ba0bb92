"""What all renderings share: safe text, excerpts of log lines around their evidence, headings in words."""

from __future__ import annotations

import unicodedata

from ..report import Diagnosis, EvidenceItem, Report

SAFETY = {
    "inspect": "only looks",
    "reversible": "changes something that can be undone",
    "destructive": "removes or overwrites something",
}
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}


def visible(text: str) -> str:
    """``text`` on one line without control, format or unassigned characters: nothing that styles or reorders a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if unicodedata.category(c) not in _INVISIBLE else " " if c in "\t\n\r" else "�" for c in text)


def excerpt(item: EvidenceItem, width: int, ellipsis: str = "…") -> tuple[str, int, int]:
    """(text, start, length): the evidence's line cut to ``width`` around its evidence, and where that stands in it."""
    text = visible(item.text)
    start, length = min(item.offset, max(len(text) - 1, 0)), max(item.length, 1)
    if len(text) <= width:
        return text, start, min(length, len(text) - start)
    room = width - 2 * len(ellipsis)
    begin = max(0, min(start - room // 6, len(text) - room))
    cut = text[begin : begin + room]
    head = ellipsis if begin else ""
    tail = ellipsis if begin + room < len(text) else ""
    start = max(start - begin, 0) + len(head)
    return head + cut + tail, start, max(1, min(length, len(head) + len(cut) - start))


def headline(report: Report) -> str:
    """The answer, in one line."""
    return visible(report.summary)


def percent(diagnosis: Diagnosis) -> str:
    """The confidence as people read it."""
    return f"{diagnosis.confidence:.0%}"
