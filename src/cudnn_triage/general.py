"""Errors of this field that no message of the knowledge base matches, read in general terms (signatures with ``in: unexplained``).

Wordings change faster than any list of them. So where nothing else points to a cause, the lines that look like errors of this
field are read once more by patterns that say only what kind of thing went wrong: a library not found, no driver, no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from .evidence import WEIGHTY, Case, serious_failures, spoken_of, unexplained_lines
from .knowledge.base import Knowledge
from .light import linear_pattern
from .lines import Line
from .matching import Capture, Occurrence
from .values import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 2000  # characters of a line that are read
_MOST = 200  # lines that are read; an answer does not get better by more


class GeneralReader:
    """Reads what no rule explains. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    @cached_property
    def _patterns(self) -> list[tuple[dict[str, Any], dict[str, Any], Any]]:
        return [
            (rule, template, linear_pattern(template["re"]))
            for rule in self.knowledge.general
            for template in rule["templates"]
        ]

    def read(self, case: Case) -> list[Occurrence]:
        """What general patterns find in a case that nothing else explains; empty where something does."""
        knowledge = self.knowledge
        if any(e.supports and e.strength in WEIGHTY and e.cause in knowledge.in_field for e in case.evidence):
            return []
        failures = serious_failures(case.structure)
        if failures:
            failing = {i for f in failures for i in range(f.first, min(f.last + 1, f.first + _MOST))}
            left = sorted(failing - spoken_of(case.occurrences, knowledge))
        else:
            left = unexplained_lines(case.occurrences, case.lines, case.structure, knowledge)
        return [occurrence for i in left[:_MOST] for occurrence in self.line(i, case.lines)]

    def line(self, index: int, lines: Sequence[Line]) -> list[Occurrence]:
        """What the general patterns find on one line, each signature once."""
        text = lines[index].text[:_LONGEST]
        folded = text.casefold()
        found: dict[str, Occurrence] = {}
        for rule, template, pattern in self._patterns:
            if rule["id"] in found or any(word in folded for word in rule["unless"]):
                continue
            match = pattern.search(text)
            if match is None:
                continue
            captures = tuple(
                Capture(name, self.knowledge.placed(value), index, match.start(group))
                for group, (name, kind, _) in enumerate(template["holes"], 1)
                if name and match[group] and (value := read(kind, match[group])) is not None
            )
            span = match.start(), match.end()
            found[rule["id"]] = Occurrence(rule["id"], index, index, *span, captures, "fuzzy", 0.0, True)
        return list(found.values())
