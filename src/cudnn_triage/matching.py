"""Exact matching: one scan over the squeezed log finds anchors; around each, the rule's RE2 pattern decides and captures.

Squeezed means without white space and in lower case, so that a message is found however it was wrapped. RE2 matches in
linear time; every hit looks at a window whose size the template bounds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from .knowledge.base import Knowledge
from .light import field, linear_pattern, record
from .lines import BRIEF, Line
from .structure import Role, Structure
from .values import BEYOND, OF_THE_FIELD, Value, code_number, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

_SQUEEZE = bytes(b + 32 if 65 <= b <= 90 else b for b in range(256))
_PLAIN = str.maketrans("\u2018\u2019\u201c\u201d\u00a0\u202f", "''\"\"  ")
_SPACES = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f"
_SPACE = _SPACES.encode()
_BLANK = str.maketrans(_SPACES, " " * len(_SPACES))
_BLANKS = bytes.maketrans(_SPACE, b" " * len(_SPACE))
_MARGIN = 120  # characters of white space and wrapping that a message may contain beyond its own length
_LONGEST_LINE = 4000  # a window reaches to the ends of its line unless the line is longer than this
_LONGEST_ANY = 400  # what an ``any`` hole may hold (docs/rules.md)
_MOST = 1000  # matches of one template that are looked at; further ones add nothing to a diagnosis
_REPEATED = 3000  # characters of a window that may come again
_OF_FIELD = OF_THE_FIELD.encode()
_EASY = 1 << 17  # characters of a text that may be searched as a whole for each template,
_EASY_WIDE = 1 << 14  # and of one with letters beyond ASCII, all of which each search has to encode
_PATIENCE = 100  # hits that are tried in vain before a longer one is searched as a whole for the template
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
    marks: Sequence[bytes]  # words and names of the field, squeezed (Knowledge.field_marks)
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
    def whole_lines(self) -> bool:
        """Whether the text is short, and every window is made of whole lines: there is a match in it only if the text has it."""
        easy = _EASY if self.text.isascii() else _EASY_WIDE
        return len(self.text) <= easy and self._short_lines

    @cached_property
    def searchable(self) -> bool:
        """Whether the text may be searched as a whole for a template that has been tried often enough in vain."""
        return self.text.isascii() and self._short_lines

    @cached_property
    def _short_lines(self) -> bool:
        return max(map(len, self._plain), default=0) < _LONGEST_LINE

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
    def _bytes(self) -> bytes:
        return self.text.encode("utf-8", "replace")

    @cached_property
    def squeezed(self) -> bytes:
        """The text as it is scanned."""
        return self._bytes.translate(_SQUEEZE, _SPACE)

    def holds(self, literal: bytes) -> bool:
        """Whether a literal stands somewhere in the squeezed text."""
        known = self._held.get(literal)
        if known is None:
            known = self._held[literal] = self.of_the_field if literal == _OF_FIELD else literal in self.squeezed
        return known

    @cached_property
    def of_the_field(self) -> bool:
        """Whether the log uses words or names of this field, or is so brief that it was pasted for what it says."""
        return len(self.lines) <= BRIEF or any(mark in self.squeezed for mark in self.marks)

    def means(self, wants: list[list[bytes]]) -> bool:
        """Whether a template that may count only in logs of this field, as what it wants tells, counts in this one."""
        return [_OF_FIELD] not in wants or self.of_the_field

    @cached_property
    def _held(self) -> dict[bytes, bool]:
        return {BEYOND.encode(): not self.text.isascii()}

    @cached_property
    def _words(self) -> list[int]:
        """Where the pieces between single blanks begin in the squeezed text: so many blanks stand before a piece as pieces do."""
        return [*accumulate(map(len, self._bytes.translate(_BLANKS).split(b" ")), initial=0)]

    @cached_property
    def _pieces(self) -> list[str]:
        return self.text.translate(_BLANK).split(" ")

    @cached_property
    def _letters(self) -> list[int]:
        """The same, in letters."""
        return [*accumulate(map(len, self._pieces), initial=0)]

    @cached_property
    def _of_bytes(self) -> dict[int, list[int]]:
        """Of pieces with letters beyond ASCII, for each byte the letter it belongs to."""
        return {}

    def from_squeezed(self, offset: int) -> int:
        """The place in ``text`` of a place in ``squeezed``."""
        number = bisect_right(self._words, offset) - 1
        if len(self._bytes) == len(self.text):
            return offset + number
        letters = self._of_bytes.get(number)
        if letters is None:
            piece = self._pieces[number]
            letters = [at for at, char in enumerate(piece) for _ in char.encode("utf-8", "replace")]
            self._of_bytes[number] = letters
        return self._letters[number] + number + letters[offset - self._words[number]]

    def to_squeezed(self, place: int) -> int:
        """The place in ``squeezed`` of a place in ``text``, or one shortly before it."""
        words = self._words
        wide = len(self._bytes) > len(self.text)
        starts = self._letters if wide else words
        number = bisect_right(range(len(starts)), place, key=lambda at: starts[at] + at) - 1
        return words[number] if wide else words[number] + place - starts[number] - number

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


class Form:
    """A template as it is looked for. Threads may share it."""

    def __init__(self, number: int, rule: dict[str, Any], template: dict[str, Any]) -> None:
        self.number, self.rule, self.template = number, rule, template
        self.before = template["before"] + _MARGIN
        self.after = template["after"] + _MARGIN
        self.reach: int = template["reach"]
        self.groups = range(1, len(template["holes"]) + 1)
        self.only_sets = not speaks(rule)
        """Whether a match says nothing of a cause, so that another one with the same values adds nothing."""
        self.constant = self.only_sets and not any(name for name, _, _ in template["holes"])
        """Whether all matches say the same."""

    def pattern(self, text: str | bytes) -> Any:
        """The pattern that decides, for such a text."""
        return self._narrow if isinstance(text, bytes) else self._wide

    @cached_property
    def _wide(self) -> Any:
        return linear_pattern(self.template["re"])

    @cached_property
    def _narrow(self) -> Any:
        return linear_pattern(self.template["re"], narrow=True)


class Hunt:
    """One template on its way through one log."""

    __slots__ = ("again", "ahead", "begin", "floor", "form", "left", "next", "said", "until", "vain")

    def __init__(self, form: Form, most: int) -> None:
        self.form = form
        self.left = most  # how many matches are still looked for
        self.floor = 0  # end of the last match
        self.begin = 0  # hits before this place are of no use
        # from where the next match has to be looked for before the next hit is tried; -1: not at all
        self.again = -1
        self.until = 0  # up to where
        self.ahead = False  # whether the next match is looked for before the next hit is tried
        self.vain = 0  # hits that were tried in vain
        self.next: Any = None  # that match
        # what the holes of matches held, where nothing else counts
        self.said: set[tuple[str | bytes, ...]] = set()

    def look_ahead(self, text: str | bytes) -> None:
        """Find the next match that may add something; if there is none, none is left to look for."""
        at, self.again = self.again, -1
        pattern = self.form.pattern(text)
        while self.left and (found := pattern.search(text, at, self.until)) is not None:
            if not self.said or found.groups() not in self.said:
                self.next, self.begin = found, max(self.begin, found.start())
                return
            self.left -= 1
            at = max(found.end(), at + 1)
        self.left = 0


class Matcher:
    """Finds the messages of a knowledge base in logs. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._wants: dict[int, list[tuple[int, list[list[bytes]]]]] = {}
        self._forms: dict[int, Form] = {}

    def _of(self, anchor: int, stream: Stream) -> list[Form]:
        """The templates that are found by a literal and whose other literals stand somewhere in the log too."""
        wants = self._wants.get(anchor)
        if wants is None:
            numbers, wanted = self.knowledge.anchors.templates(anchor), self.knowledge.rules.wants
            wants = self._wants[anchor] = [(number, wanted(number)) for number in numbers]
        holds = stream.holds
        return [self._form(number) for number, lists in wants if all(any(map(holds, some)) for some in lists)]

    def _form(self, number: int) -> Form:
        form = self._forms.get(number)
        if form is None:
            form = self._forms[number] = Form(number, *self.knowledge.rules.template(number))
        return form

    def find(self, stream: Stream, structure: Structure) -> list[Occurrence]:
        """All exact matches, in log order."""
        found: list[tuple[tuple[int, int, int], Occurrence]] = []
        anchors = self.knowledge.anchors
        for anchor, literal in anchors.find(stream.squeezed):
            hit, hunts = -1, self._hunts(anchor, literal, stream)
            while hunts := self._going_on(hunts, stream):
                first = stream.to_squeezed(min(hunt.begin for hunt in hunts))
                hit = stream.squeezed.find(literal, max(first, hit + 1))
                if hit < 0:
                    break
                place = hit + len(literal), hit, anchor
                found += [(place, o) for o in self._at(stream.from_squeezed(hit), hunts, stream, structure)]
        found.sort(key=lambda item: (item[1].first, item[1].start, item[1].rule, item[0]))
        return [occurrence for _, occurrence in found]

    def _hunts(self, anchor: int, literal: bytes, stream: Stream) -> list[Hunt]:
        """The templates of a literal that may match, each as it is looked for in this log."""
        forms = self._of(anchor, stream)
        if not forms:
            return []
        hunts = [Hunt(form, 1 if form.constant and stream.in_order else _MOST) for form in forms]
        if stream.whole_lines:
            first = stream.from_squeezed(stream.squeezed.find(literal))
            last = stream.from_squeezed(stream.squeezed.rfind(literal))
            for hunt in hunts:
                hunt.ahead = True
                if hunt.form.reach < 0:  # else most hits are told by where they stand, without a pattern
                    hunt.again = stream.window(first, hunt.form.before, 0)[0]
                hunt.until = stream.window(last, 0, hunt.form.after)[1]
        return hunts

    def _going_on(self, hunts: list[Hunt], stream: Stream) -> list[Hunt]:
        """Those that may still match, each of which knows from where on."""
        for hunt in hunts:
            if hunt.again >= 0:
                hunt.look_ahead(stream.searched)
        return [hunt for hunt in hunts if hunt.left]

    def _at(self, offset: int, hunts: list[Hunt], stream: Stream, structure: Structure) -> Iterator[Occurrence]:
        """What these templates match around their literal at ``offset``."""
        visible = -1
        for hunt in hunts:
            if offset < hunt.begin:
                continue
            if hunt.form.reach >= 0:
                visible = _visible_before(stream.text, offset) if visible < 0 else visible
                if visible > hunt.form.reach:
                    continue
            if occurrence := self._try(hunt, offset, stream, structure):
                hunt.left -= 1
                yield occurrence

    def _try(self, hunt: Hunt, offset: int, stream: Stream, structure: Structure) -> Occurrence | None:
        """The match around a hit, if there is one. ``hunt`` notes what is known then of later hits."""
        form = hunt.form
        rule, template = form.rule, form.template
        start, end = stream.window(offset, form.before, form.after)
        floor = max(hunt.floor, start)
        found, shift = hunt.next, 0
        if hunt.ahead:
            hunt.again = floor
        if found is None or not floor <= found.start() <= offset < found.end() <= end:
            found, shift = self._in_window(form, offset, stream, floor, start, end), start
        if found is None:
            hunt.vain += 1
            if hunt.vain == _PATIENCE and form.reach < 0 and stream.searchable:
                hunt.ahead, hunt.again, hunt.until = True, floor, len(stream.text)
            return None
        first_char, past = found.start() + shift, found.end() + shift
        message = stream.text[first_char:past]
        spans = [found.span(group) for group in form.groups]
        values = [stream.text[shift + left : shift + right] if left >= 0 else "" for left, right in spans]
        if not _plausible(message, values, template):
            return None
        before = stream.text[max(first_char - 1, start) : first_char]
        if template["tight"] and (before.isalnum() or before in ("_", ".")):
            return None
        first, begin = stream.place(past - len(message.lstrip()))
        last, finish = stream.place(first_char + max(len(message.rstrip()), 0))
        quoted = structure.roles[first] is Role.SOURCE
        if (rule["inside"] == "program" and quoted) or (rule["inside"] == "source" and not quoted):
            return None
        if excluded(rule, stream.lines[min(first, last) : last + 1]):
            return None
        read_as = self._read(form, values, [shift + left for left, _ in spans], stream)
        if read_as is None:
            return None
        hunt.floor = hunt.begin = past
        if hunt.ahead:
            hunt.again = past
        if form.only_sets and stream.in_order:  # the same again would only yield the same facts again
            if hunt.ahead:
                hunt.said.add(found.groups())
            elif end - start <= _REPEATED and len(stream.vain) < _MOST:
                window = stream.searched[start:end]
                if not form.pattern(window).search(window, past - start):
                    stream.vain.add((form.number, window))
        name, captures = read_as
        return Occurrence(name, first, last, begin, finish, captures)

    def _read(
        self, form: Form, values: list[str], places: list[int], stream: Stream
    ) -> tuple[str, tuple[Capture, ...]] | None:
        """The rule that a match is of, which a code in it may tell, and what its holes took; None where a value is none."""
        captures: list[Capture] = []
        name = form.rule["id"]
        for (hole, kind, argument), text, place in zip(form.template["holes"], values, places, strict=True):
            if kind in ("code", "text"):
                code = self._code(kind, argument, text)
                if code is None:
                    return None
                name = code if form.rule["code"] else name
                value: Value | None = code
            else:
                value = read(kind, text) if hole else text
            if value is None:
                return None
            if hole:
                captures.append(Capture(hole, self.knowledge.placed(value), *stream.place(place)))
        return name, tuple(captures)

    def _in_window(self, form: Form, offset: int, stream: Stream, floor: int, start: int, end: int) -> Any:
        """The match around ``offset`` in a window of the text, none that begins before ``floor``."""
        window = stream.searched[start:end]
        if (form.number, window) in stream.vain:
            return None
        at, pattern = floor - start, form.pattern(window)
        while (found := pattern.search(window, at)) is not None:
            if start + found.end() > offset:
                return found if start + found.start() <= offset else None
            at = max(found.end(), at + 1)
        if floor == start and len(window) <= _REPEATED and len(stream.vain) < _MOST:
            stream.vain.add((form.number, window))
        return None

    def _code(self, kind: str, library: str, text: str) -> str | None:
        if kind == "text":
            return self.knowledge.code_of_text(library, text)
        number = code_number(text)
        return None if number is None else self.knowledge.code(library, str(number))


def speaks(rule: dict[str, Any]) -> bool:
    """Whether a match says something of a cause; else it only yields facts."""
    return bool(rule["points_to"] or rule["symptom_of"] or rule["code"])


def excluded(rule: dict[str, Any], lines: Sequence[Line]) -> bool:
    """Whether the lines of a match hold a text with which the rule is not meant (``unless``)."""
    if not rule["unless"]:
        return False
    around = " ".join(f"{line.program} {line.text}" for line in lines).casefold()
    return any(text in around for text in rule["unless"])


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
