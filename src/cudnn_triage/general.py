"""Errors of this field that no message of the knowledge base matches, read in general terms (signatures with ``in: unexplained``).

Wordings change faster than any list of them. So where nothing else points to a cause, the lines that look like errors of this
field are read once more by patterns that say only what kind of thing went wrong: a library not found, no driver, no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from .evidence import Case
from .knowledge.base import Knowledge
from .light import linear_pattern, pattern
from .lines import Line
from .log_facts import WEIGHTY, serious_failures
from .matching import Capture, Occurrence
from .structure import Failure
from .values import read
from .wording import PRINTED, complains, has_field_word, pasted, spoken_of, unexplained_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 2000  # characters of a line that are read
_WORDLESS = ("abort", "signal", "exit-code")  # kinds of failure that do not say why: a line above them may
_CALLER = pattern(r"(?<!\S)\w{1,20}=[\w.-]{1,60}\.[a-z]{1,4}:\d+(?!\S)")  # source=gpu.go:612, of a record of pairs
_MOST = 200  # lines that are read; an answer does not get better by more


class General:
    """A general pattern, compiled when a line holds its words. Threads may share it."""

    def __init__(self, rule: dict[str, Any], template: dict[str, Any]) -> None:
        self.rule, self.template = rule, template
        self.words: list[list[str]] = template["words"]

    @cached_property
    def pattern(self) -> Any:
        """The pattern that decides."""
        return linear_pattern(self.template["re"])


class GeneralReader:
    """Reads what no rule explains. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    @cached_property
    def _templates(self) -> list[General]:
        return [General(rule, template) for rule in self.knowledge.general for template in rule["templates"]]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """For each word, the templates of which one needs it first; under the empty word those that need none."""
        found: dict[str, list[int]] = {}
        for number, general in enumerate(self._templates):
            for word in general.words[0] if general.words else [""]:
                found.setdefault(word, []).append(number)
        return found

    def _possible(self, folded: str) -> list[General]:
        """The templates whose words stand in a line, in the order of the rules."""
        numbers = {number for word, numbers in self._by_word.items() if word in folded for number in numbers}
        return [
            general
            for general in map(self._templates.__getitem__, sorted(numbers))
            if all(any(word in folded for word in words) for words in general.words[1:])
        ]

    def read(self, case: Case) -> list[Occurrence]:
        """What general patterns find in a case that nothing else explains; empty where something does.

        The lines of the failure come first. Where they do not say why, as those of a wrapper or of a crash, the other
        lines that look like errors of this field are read, and at last all that look like errors at all.
        """
        knowledge = self.knowledge
        if any(e.supports and e.strength in WEIGHTY and self._faulty(e.cause) for e in case.evidence):
            return []
        failures = serious_failures(case.structure)
        failing = {i for f in failures for i in range(f.first, min(f.last + 1, f.first + _MOST))}
        drew = {e.occurrence for e in case.evidence}
        telling = [o for o in case.occurrences if not self._vague(o) and (o in drew or not self._undecided(o, case))]
        covered = spoken_of(telling, knowledge)
        found = self._lines(sorted(failing - covered), case.lines)
        if found or not all(self._says_nothing(f) for f in failures):
            return found
        asked = unexplained_lines(telling, case.lines, case.structure, knowledge)
        if not asked and not failures:
            asked = [i for i in pasted(case.structure) if i not in covered]
        return self._lines(asked, case.lines) or self._wrong(case, covered)

    def _says_nothing(self, failure: Failure) -> bool:
        """Whether the reason of a failure has to stand elsewhere: a crash, a message cut off, a tool's word about another."""
        other = failure.kind == "fatal-log" and not has_field_word(failure.text, self.knowledge)
        return other or failure.kind in _WORDLESS or failure.cut

    def _faulty(self, cause: str) -> bool:
        """Whether a cause is a fault of this field: not only something that could run better."""
        return cause in self.knowledge.in_field and self.knowledge.families[cause] != "benign"

    def _wrong(self, case: Case, covered: set[int]) -> list[Occurrence]:
        """What is found in lines that read like errors, names of files and images aside: they tell where, not what."""
        asked = [
            i
            for i, line in enumerate(case.lines)
            if i not in covered and case.structure.roles[i] in PRINTED and complains(line, self.knowledge)
        ][:_MOST]
        return [o for i in asked for o in self.line(i, {i: _nameless(case.lines[i])})]

    def _vague(self, occurrence: Occurrence) -> bool:
        """Whether a match says no more than that something outside the field failed: 'No such file or directory'."""
        rule = self.knowledge.by_id[occurrence.rule]
        pointed = {p["cause"] for p in rule["points_to"]}
        return rule["catch_all"] and not rule["code"] and bool(pointed) and pointed.isdisjoint(self.knowledge.in_field)

    def _undecided(self, occurrence: Occurrence, case: Case) -> bool:
        """Whether a match speaks for no cause because none of the conditions under which it would is known to hold."""
        rule = self.knowledge.by_id[occurrence.rule]
        return bool(rule["points_to"]) and not rule["code"] and occurrence not in case.echoes

    def _lines(self, indexes: Sequence[int], lines: Sequence[Line]) -> list[Occurrence]:
        return [occurrence for i in indexes[:_MOST] for occurrence in self.line(i, lines)]

    def line(self, index: int, lines: Sequence[Line] | Mapping[int, Line]) -> list[Occurrence]:
        """What the general patterns find on one line, each signature once; catch-alls only where they are alone."""
        text = _CALLER.sub(lambda caller: "x" * len(caller[0]), lines[index].text[:_LONGEST])
        folded = text.casefold()
        around = f"{lines[index].program.casefold()} {folded}"
        found: dict[str, Occurrence] = {}
        for general in self._possible(folded):
            rule, template = general.rule, general.template
            if rule["id"] in found or any(word in around for word in rule["unless"]):
                continue
            match = general.pattern.search(text)
            if match is None:
                continue
            captures = tuple(
                Capture(name, self.knowledge.placed(value), index, match.start(group))
                for group, (name, kind, _) in enumerate(template["holes"], 1)
                if name and match[group] and (value := read(kind, match[group])) is not None
            )
            span = match.start(), match.end()
            found[rule["id"]] = Occurrence(rule["id"], index, index, *span, captures, "fuzzy", 0.0, True)
        specific = [o for name, o in found.items() if not self.knowledge.by_id[name]["catch_all"]]
        return specific or list(found.values())


def _nameless(line: Line) -> Line:
    """A line in which words that hold a slash are struck out, each letter in its place."""
    text = " ".join("x" * len(word) if "/" in word else word for word in line.text.split(" "))
    return Line(text, line.number, line.start, line.end, program=line.program)
