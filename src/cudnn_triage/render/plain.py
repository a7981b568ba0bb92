"""What all renderings share: safe text, the answer in one line, words for safety and probability."""

from __future__ import annotations

import unicodedata

from ..report import Diagnosis, Report

SAFETY = {
    "inspect": "only looks",
    "reversible": "changes something that can be undone",
    "destructive": "removes or overwrites something",
}
_WORTH_TELLING = 0.01
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}
_BLANK = "\t\n\r\u2028\u2029"
_HEADLINE = 300


def visible(text: str) -> str:
    """``text`` on one line, character for character, without control, format or unassigned ones: nothing that styles or
    reorders a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c in _BLANK else "�" if unicodedata.category(c) in _INVISIBLE else c for c in text)


def visible_lines(text: str) -> str:
    """The same of each line of ``text``."""
    return "\n".join(visible(line) for line in text.split("\n"))


def cut(text: str, most: int) -> str:
    """``text`` made visible, and cut to ``most`` characters."""
    return visible(text) if len(text) <= most else visible(text[: most - 1]) + "…"


def headline(report: Report) -> str:
    """The answer, in one line."""
    return cut(report.summary, _HEADLINE)


def percent(diagnosis: Diagnosis) -> str:
    """The confidence as people read it."""
    return f"{diagnosis.confidence:.0%}"


def rivals(report: Report) -> tuple[Diagnosis, ...]:
    """The diagnoses after the first that a person should hear of: those of one per cent or more."""
    return tuple(d for d in report.diagnoses[1:] if d.confidence >= _WORTH_TELLING)
