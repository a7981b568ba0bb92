"""Exact matching: one scan over the squeezed log finds anchors; around each, the rule's RE2 pattern decides and captures.

Squeezed means without white space and in lower case, so that a message is found however it was wrapped. RE2 matches in
linear time; every hit looks at a window whose size the template bounds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from .knowledge.base import Knowledge
from .light import field, linear_pattern, pattern, record
from .lines import Line
from .structure import Role, Structure
from .values import Value, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

_SQUEEZE = bytes(b + 32 if 65 <= b <= 90 else b for b in range(256))
_PLAIN = str.maketrans("\u2018\u2019\u201c\u201d\u00a0\u202f", "''\"\"  ")
_SPACES = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f"
_SPACE = _SPACES.encode()
_WORD = pattern(rf"[^{_SPACES}]+")
_MARGIN = 120  # characters of white space and wrapping that a message may contain beyond its own length
_LONGEST_LINE = 4000  # a window reaches to the ends of its line unless the line is longer than this
_LONGEST_ANY = 400  # what an ``any`` hole may hold (docs/rules.md)
_MOST = 1000  # matches of one template that are looked at; further ones add nothing to a diagnosis
_REPEATED = 3000  # characters of a window that may come again
_WRAP = 40  # a message may break once in so many characters without its template saying so


@record(frozen=True, slots=True)
class Capture:
    """A value that a hole of a template took from the log."""

    name: str
    value: Value
    line: int  # index of the cleaned line
    at: int  # index in its text


@record(frozen=True, slots=True)
class Occurrence:
    """A rule's message found in the log."""

    rule: str
    first: int  # index of the cleaned line on which it begins
    last: int
    start: int  # index in the first line's text
    end: int  # index past its end in the last line's text
    captures: tuple[Capture, ...] = ()
    match: Literal["exact", "fuzzy"] = "exact"
    score: float = 100.0
    general: bool = False  # it says only what kind of thing went wrong (general.py)


@record
class Stream:
    """The cleaned lines in the order in which they are matched: each rank's lines together, so that messages stay whole."""

    lines: Sequence[Line]
    order: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        ranks = dict.fromkeys(line.rank for line in self.lines)
        position = {rank: i for i, rank in enumerate(ranks)}
        self.order = sorted(range(len(self.lines)), key=lambda i: position[self.lines[i].rank])

    @cached_property
    def vain(self) -> set[tuple[int, str | bytes]]:
        """(template, window) in which that template was looked for in vain: lines come again and again."""
        return set()

    @cached_property
    def in_order(self) -> bool:
        """Whether the lines are matched in the order of the log: those of several ranks are not."""
        return all(before < after for before, after in pairwise(self.order))

    @cached_property
    def _plain(self) -> list[str]:
        """The lines in matching order, typographic quotes and spaces made plain (one character for one)."""
        texts = (self.lines[i].text for i in self.order)
        return [text if text.isascii() else text.translate(_PLAIN) for text in texts]

    @cached_property
    def text(self) -> str:
        """All lines, one after the other."""
        return "\n".join(self._plain)

    @cached_property
    def searched(self) -> str | bytes:
        """The text as RE2 takes it soonest: where a byte is a character, bytes."""
        return self.text.encode() if self.text.isascii() else self.text

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(text) + 1 for text in self._plain), initial=0))

    @cached_property
    def squeezed(self) -> bytes:
        """The text as it is scanned."""
        return self.text.encode("utf-8", "replace").translate(_SQUEEZE, _SPACE)

    @cached_property
    def _squeezed_starts(self) -> list[int]:
        sizes = (len(text.encode("utf-8", "replace").translate(None, _SPACE)) for text in self._plain)
        return list(accumulate(sizes, initial=0))

    def from_squeezed(self, offset: int) -> int:
        """The place in ``text`` of a place in ``squeezed``."""
        # lines without text share their start with the next one; the hit is in the last of them, which has text
        row = bisect_right(self._squeezed_starts, offset) - 1
        return self._starts[row] + self._place(row, offset - self._squeezed_starts[row])

    def _place(self, row: int, offset: int) -> int:
        """The index in a line of a byte of the squeezed line."""
        words = self._words.get(row)
        if words is None:
            words = self._words[row] = _words(self._plain[row])
        squeezed, starts = words
        word = bisect_right(squeezed, offset) - 1
        return starts[word] + offset - squeezed[word]

    @cached_property
    def _words(self) -> dict[int, tuple[list[int], list[int]]]:
        return {}

    def place(self, offset: int) -> tuple[int, int]:
        """(index of the cleaned line, index in its text) of a place in ``text``."""
        row = min(bisect_right(self._starts, offset), len(self.order)) - 1
        line = self.order[row]
        return line, min(offset - self._starts[row], len(self.lines[line].text))

    def window(self, offset: int, before: int, after: int) -> tuple[int, int]:
        """A slice of ``text`` around ``offset``, widened to whole lines where they are not too long."""
        start, end = max(offset - before, 0), min(offset + after, len(self.text))
        line_start = self.text.rfind("\n", max(start - _LONGEST_LINE, 0), start) + 1
        if line_start or start < _LONGEST_LINE:
            start = line_start
        line_end = self.text.find("\n", end, end + _LONGEST_LINE)
        if line_end >= 0 or len(self.text) - end < _LONGEST_LINE:
            end = line_end if line_end >= 0 else len(self.text)
        return start, end


def _words(text: str) -> tuple[list[int], list[int]]:
    """Of each run of bytes that is copied when a line is squeezed: where it begins in the squeezed line, and in the line.

    Such a run is a word of ASCII characters, or one byte of another character.
    """
    squeezed: list[int] = []
    starts: list[int] = []
    size = 0
    for word in _WORD.finditer(text):
        if word[0].isascii():
            squeezed.append(size)
            starts.append(word.start())
            size += len(word[0])
            continue
        for at, char in enumerate(word[0], word.start()):
            width = len(char.encode("utf-8", "replace"))
            squeezed.extend(range(size, size + width))
            starts.extend([at] * width)
            size += width
    return squeezed, starts


class Matcher:
    """Finds the messages of a knowledge base in logs. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._patterns: dict[int, Any] = {}

    def _pattern(self, number: int) -> Any:
        pattern = self._patterns.get(number)
        if pattern is None:
            pattern = self._patterns[number] = linear_pattern(self.knowledge.rules.template(number)[1]["re"])
        return pattern

    def find(self, stream: Stream, structure: Structure) -> list[Occurrence]:
        """All exact matches, in log order."""
        done: dict[int, int] = {}  # template -> end of its last match
        counts: dict[int, int] = {}
        found: list[Occurrence] = []
        anchors = self.knowledge.anchors
        possible: dict[int, list[tuple[int, int, int]]] = {}
        for hit, anchor in anchors.find(stream.squeezed):
            numbers = possible.get(anchor)
            if numbers is None:
                numbers = possible[anchor] = self._possible(anchors.templates(anchor), stream)
            if not numbers:
                continue
            offset = stream.from_squeezed(hit)
            visible = -1
            for number, reach, most in numbers:
                if offset < done.get(number, 0):
                    continue
                if reach >= 0:
                    visible = _visible_before(stream.text, offset) if visible < 0 else visible
                    if visible > reach:
                        continue
                occurrence, end = self._try(number, offset, stream, structure, done.get(number, 0))
                if occurrence:
                    found.append(occurrence)
                    done[number] = end
                    counts[number] = counts.get(number, 0) + 1
                    if counts[number] >= most:
                        possible[anchor] = [entry for entry in possible[anchor] if entry[0] != number]
        return sorted(found, key=lambda o: (o.first, o.start, o.rule))

    def _possible(self, numbers: Iterable[int], stream: Stream) -> list[tuple[int, int, int]]:
        """Of these templates (by number) those whose literal parts all stand somewhere in the log, with their reach and how
        many matches are looked for."""
        templates = ((number, *self.knowledge.rules.template(number)) for number in numbers)
        return [
            (number, template["reach"], 1 if stream.in_order and _says_the_same(rule, template) else _MOST)
            for number, rule, template in templates
            if all(text.encode() in stream.squeezed for text in template["parts"] or template["needs"])
        ]

    def _try(
        self, number: int, offset: int, stream: Stream, structure: Structure, floor: int
    ) -> tuple[Occurrence | None, int]:
        rule, template = self.knowledge.rules.template(number)
        start, end = stream.window(offset, template["before"] + _MARGIN, template["after"] + _MARGIN)
        window = stream.searched[start:end]
        if (number, window) in stream.vain:
            return None, 0
        pattern = self._pattern(number)
        at = max(floor - start, 0)
        while True:
            found = pattern.search(window, at)
            if not found:
                if not at and len(window) <= _REPEATED and len(stream.vain) < _MOST:
                    stream.vain.add((number, window))
                return None, 0
            first_char, past = found.span()
            if start + past > offset:
                break
            at = max(past, at + 1)
        if start + first_char > offset:
            return None, 0
        message = stream.text[start + first_char : start + past]
        spans = [found.span(group) for group in range(1, len(template["holes"]) + 1)]
        values = [stream.text[start + left : start + right] if left >= 0 else "" for left, right in spans]
        if not _plausible(message, values, template):
            return None, 0
        before = stream.text[max(start + first_char - 1, start) : start + first_char]
        if template["tight"] and (before.isalnum() or before in ("_", ".")):
            return None, 0
        first, begin = stream.place(start + past - len(message.lstrip()))
        last, finish = stream.place(start + first_char + max(len(message.rstrip()), 0))
        quoted = structure.roles[first] is Role.SOURCE
        if (rule["inside"] == "program" and quoted) or (rule["inside"] == "source" and not quoted):
            return None, 0
        if rule["unless"]:
            around = " ".join(stream.lines[i].text for i in range(min(first, last), last + 1)).casefold()
            if any(text in around for text in rule["unless"]):
                return None, 0
        captures: list[Capture] = []
        name = rule["id"]
        for (hole, kind, argument), text, (left, _) in zip(template["holes"], values, spans, strict=True):
            if kind in ("code", "text"):
                code = self._code(kind, argument, text)
                if code is None:
                    return None, 0
                name = code if rule["code"] else name
                value: Value | None = code
            else:
                value = read(kind, text) if hole else text
            if value is None:
                return None, 0
            if hole:
                captures.append(Capture(hole, self.knowledge.placed(value), *stream.place(start + left)))
        short = len(window) <= _REPEATED and len(stream.vain) < _MOST
        if short and stream.in_order and not speaks(rule) and not pattern.search(window, past):
            stream.vain.add((number, window))  # the same line again would only yield the same facts again
        return Occurrence(name, first, last, begin, finish, tuple(captures)), start + past

    def _code(self, kind: str, library: str, text: str) -> str | None:
        if kind == "text":
            return self.knowledge.code_of_text(library, text)
        try:
            return self.knowledge.code(library, str(int(text, 0) if text.startswith("0x") else int(text)))
        except ValueError:
            return None


def _says_the_same(rule: dict[str, Any], template: dict[str, Any]) -> bool:
    """Whether a match only sets constant facts, so that a second one adds nothing."""
    return not speaks(rule) and not any(name for name, _, _ in template["holes"])


def speaks(rule: dict[str, Any]) -> bool:
    """Whether a match says something of a cause; else it only yields facts."""
    return bool(rule["points_to"] or rule["symptom_of"] or rule["code"])


def _visible_before(text: str, offset: int) -> int:
    """How many visible characters stand between the beginning of the line, quote signs aside, and ``offset``."""
    line = text.rfind("\n", max(offset - _LONGEST_LINE, 0), offset) + 1 or max(offset - _LONGEST_LINE, 0)
    return len("".join(text[line:offset].lstrip(" \t>|").split()))


def _plausible(message: str, values: list[str], template: dict[str, Any]) -> bool:
    """Whether a match is one message: not torn over too many lines, its open holes not too long."""
    text = message.strip()
    if text.count("\n") > template["breaks"] + 1 + len(text) // _WRAP:
        return False
    return all(
        len(value) <= _LONGEST_ANY
        for value, (_, kind, _) in zip(values, template["holes"], strict=True)
        if kind == "any"
    )
