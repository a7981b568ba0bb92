"""Fuzzy matching of the prose that exact matching left over: misspelt, truncated or slightly reworded messages.

A line's six-letter runs vote for templates; the best few are aligned part by part (rapidfuzz). Status names and numbers
never match by likeness: one that a template contains must stand in the line, or be damaged beyond being any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from .knowledge.base import Knowledge
from .knowledge.indexes import LEAST, without_holes
from .light import pattern
from .matching import Capture, Occurrence, Stream, excluded
from .structure import Role, Structure
from .values import read, squeeze

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORD_LIKENESS = 74.0  # 0..100: a five-letter word with one wrong letter passes, another word does not
_TIE = 3.0  # matches of one line whose likeness is this near the best one's are all kept
_SHARE = 0.3  # of a template's runs that must stand in the line for a closer look
_OWN_SHARE = 0.5  # of a line's runs that must stand in a template of several lines
_LOOKS = 10  # templates looked at more closely, per line
_THRESHOLD = 90.0  # mean likeness (0..100) below which a match is rejected: measured by scripts/measure_fuzzy.py
_LONGEST = 1500  # squeezed letters of a line that are compared
_SLACK = 12  # letters beside the aligned text that still belong to it
_CHOICE_REACH = 60  # letters beside it in which a choice may stand
_MESSAGE_LINES = 6  # lines, and
_MESSAGE = 700  # letters, that are read as one message
_MOST_LINES = 2000  # distinct lines that are compared
_POLARITY = frozenset(("no", "not", "without", "none", "cannot", "true", "false"))  # words that turn a message round
_PLAIN_WORD = pattern(r"[a-z]+")
_CHOICE = pattern(r"\{=([^}]*)\}")
# CUDNN_STATUS_..., cudaError...
_TOKEN = pattern(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|(?<![A-Za-z0-9])[a-z]+(?:[A-Z]+[a-z0-9]*){2,}")
_NUMBER = pattern(r"\d+")
_SPACED = ("size", "archs", "vtuple", "gpu", "cc")  # hole types whose values may hold white space
_NO_DIGITS = dict.fromkeys(range(ord("0"), ord("9") + 1))
_ROLES = (Role.TEXT, Role.RECORD, Role.EXCEPTION)


class FuzzyMatcher:
    """Finds damaged or reworded messages of a knowledge base. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    def find(self, stream: Stream, structure: Structure, exact: Sequence[Occurrence]) -> list[Occurrence]:
        """Fuzzy matches on the lines that no exact match covers, in log order."""
        covered = {i for o in exact if self._specific(o.rule) for i in range(o.first, o.last + 1)}
        said = {(o.rule, i) for o in exact for i in range(o.first, o.last + 1)}
        found: list[Occurrence] = []
        texts: set[str] = set()
        for position, index in enumerate(stream.order):
            line = stream.lines[index]
            if (
                index in covered
                or structure.roles[index] not in _ROLES
                or not self._worth(line.text, line.level, structure.roles[index])
            ):
                continue
            key = line.text.translate(_NO_DIGITS)
            if key in texts:
                continue
            if len(texts) >= _MOST_LINES:
                break
            texts.add(key)
            likely = self._in_lines(_following(position, stream, covered), stream)
            found += (o for o in likely if (o.rule, o.first) not in said)
        return found

    def _specific(self, name: str) -> bool:
        rule = self.knowledge.by_id[name]
        return bool(rule["points_to"] or rule["symptom_of"]) and not rule["catch_all"]

    def _worth(self, text: str, level: str, role: Role) -> bool:
        if level in ("W", "E", "F") or role is Role.EXCEPTION:
            return True
        lowered = text.lower()
        return any(w in lowered for w in self.knowledge.field_words) or any(
            w in lowered for w in self.knowledge.error_words
        )

    def _candidates(self, squeezed: str) -> list[int]:
        """The templates worth a closer look for a message that begins in this text: most of the template stands in it,
        or most of the text stands in the template."""
        count, votes = self.knowledge.runs.votes(squeezed)
        sizes = self.knowledge.runs.sizes
        good = [
            (shared / sizes[n], n)
            for n, shared in votes.items()
            if shared >= _SHARE * sizes[n] or (count >= LEAST and shared >= _OWN_SHARE * count)
        ]
        return [number for _, number in sorted(good, reverse=True)[:_LOOKS]]

    def _in_lines(self, indexes: list[int], stream: Stream) -> Iterator[Occurrence]:
        texts = [stream.lines[i].text[:_LONGEST] for i in indexes]
        yield from self._damaged_codes(indexes[0], texts[0])
        own = squeeze(texts[0])
        candidates = self._candidates(own)
        if not candidates:
            return
        whole = "".join(map(squeeze, texts))
        places = [
            (i, at) for i, text in zip(indexes, texts, strict=True) for at, c in enumerate(text) if not c.isspace()
        ]
        found: list[Occurrence] = []
        joined = " ".join(stream.lines[i].text for i in indexes)
        lowered, squeezed = joined.lower(), squeeze(joined)
        pairs = {first + second for first, second in pairwise(whole)}
        for number in candidates:
            rule, template = self.knowledge.rules.template(number)
            if _too_far(template["parts"], pairs) or not _may_agree(template, lowered, squeezed):
                continue
            if not stream.means(self.knowledge.rules.wants(number)):
                continue
            score, spans = _align(template["parts"], whole)
            if score < _THRESHOLD or not spans or spans[0][0] >= len(own):
                continue
            first, begin = places[min(spans[0][0], len(places) - 1)]
            last, finish = places[min(spans[-1][1], len(places)) - 1]
            near, far = (
                " ".join(_between(stream, indexes, first, begin - margin, last, finish + 1 + margin))
                for margin in (_SLACK, _CHOICE_REACH)
            )
            if not self._agree(template, near, far) or excluded(rule, stream.lines[first : last + 1]):
                continue
            captures = self._captures(template, spans, places, stream)
            found.append(Occurrence(rule["id"], first, last, begin, finish + 1, captures, "fuzzy", round(score, 1)))
        best = max((o.score for o in found), default=0.0)
        yield from {o.rule: o for o in found if o.score >= best - _TIE}.values()

    def _agree(self, template: dict[str, Any], text: str, around: str) -> bool:
        """Whether what likeness must not blur stands in the aligned text: status names (or something that is no other
        name and nearly it), numbers, yes and no, and the words that tell this message from others; and ``around`` it,
        one of the texts that a choice leaves open."""
        whole = squeeze(text)
        literal = without_holes(template["text"])
        choices = _CHOICE.findall(template["text"])
        wider = squeeze(around)
        if any(all(squeeze(option) not in wider for option in options.split("|")) for options in choices):
            return False
        if not set(_NUMBER.findall(literal)) <= set(_NUMBER.findall(text)):
            return False
        if not _POLARITY.intersection(_PLAIN_WORD.findall(literal.lower())) <= set(_PLAIN_WORD.findall(text.lower())):
            return False
        words = [word for word in template["telling"] if word not in whole]
        there = {token.lower() for token in _TOKEN.findall(text)}
        tokens = {token.lower() for token in _TOKEN.findall(literal)} - there
        if not words and not tokens:
            return True
        from rapidfuzz import fuzz
        from rapidfuzz.distance import Levenshtein

        if any(fuzz.partial_ratio(word, whole) < _WORD_LIKENESS for word in words):
            return False
        for token in tokens:
            allowed = max(1, len(token) // 12)
            if not any(
                t not in self.knowledge.code_names and Levenshtein.distance(t, token, score_cutoff=allowed) <= allowed
                for t in there
            ):
                return False
        return True

    def _damaged_codes(self, index: int, text: str) -> Iterator[Occurrence]:
        """A status name with a wrong letter is read as the one name that it can be."""
        for found in _TOKEN.finditer(text):
            token = found[0].lower()
            if len(token) < 12 or token in self.knowledge.code_names:
                continue
            allowed = max(1, len(token) // 12)
            if not self._may_be_damaged(token, allowed):
                continue
            from rapidfuzz import process
            from rapidfuzz.distance import Levenshtein

            near = process.extract(
                token, self.knowledge.code_names.keys(), scorer=Levenshtein.distance, score_cutoff=allowed + 2, limit=2
            )
            if near and near[0][1] <= allowed and (len(near) == 1 or near[1][1] >= near[0][1] + 2):
                name = self.knowledge.code_names[near[0][0]]
                yield Occurrence(
                    name, index, index, found.start(), found.end(), (), "fuzzy", 100.0 - 100.0 * near[0][1] / len(token)
                )

    def _may_be_damaged(self, token: str, edits: int) -> bool:
        """Whether a token shares with some status name what must stay whole: one of the ``edits`` + 1 parts of the name."""
        for size in range(len(token) - edits, len(token) + edits + 1):
            cuts = [size * part // (edits + 1) for part in range(edits + 2)]
            for name in self._codes_by_size.get(size, ()):
                if any(name[start:end] in token for start, end in pairwise(cuts)):
                    return True
        return False

    @cached_property
    def _codes_by_size(self) -> dict[int, list[str]]:
        names: dict[int, list[str]] = {}
        for name in self.knowledge.code_names:
            names.setdefault(len(name), []).append(name)
        return names

    def _captures(
        self, template: dict[str, Any], spans: list[tuple[int, int]], places: list[tuple[int, int]], stream: Stream
    ) -> tuple[Capture, ...]:
        """Values of holes that stand between two aligned parts."""
        pieces = _pieces(template)
        captures: list[Capture] = []
        part = -1
        for piece in pieces:
            if piece is None:
                part += 1
                continue
            name, kind = piece
            start = spans[part][1] if part >= 0 else 0
            end = spans[part + 1][0] if part + 1 < len(spans) else len(places)
            if not name or not start < end:
                continue
            line, at = places[start]
            stop = places[end - 1]
            text = stream.lines[line].text[at : stop[1] + 1 if stop[0] == line else None].strip()
            if kind not in _SPACED and text:
                text = text.split()[0].rstrip(".,;:)")
            value = read(kind, text) if kind not in ("code", "text", "any", "rest") else None
            if value is not None:
                captures.append(Capture(name, self.knowledge.placed(value), line, at))
        return tuple(captures)


def _may_agree(template: dict[str, Any], lowered: str, squeezed: str) -> bool:
    """Whether lines hold anywhere what an aligned text would have to: most candidates need not be aligned, nor rapidfuzz imported."""
    choices = _CHOICE.findall(template["text"])
    if not (template["telling"] or choices):
        return False
    literal = without_holes(template["text"]).lower()
    words = _POLARITY.intersection(_PLAIN_WORD.findall(literal))
    return (
        all(word in lowered for word in words)
        and all(number in lowered for number in _NUMBER.findall(literal))
        and all(any(squeeze(option) in squeezed for option in options.split("|")) for options in choices)
    )


def _following(position: int, stream: Stream, covered: set[int]) -> list[int]:
    """The line at ``position`` and those after it that may belong to the same message."""
    indexes = [stream.order[position]]
    size = len(stream.lines[indexes[0]].text)
    for index in stream.order[position + 1 : position + _MESSAGE_LINES]:
        size += len(stream.lines[index].text)
        if index in covered or size > _MESSAGE:
            break
        indexes.append(index)
    return indexes


def _between(stream: Stream, indexes: list[int], first: int, begin: int, last: int, end: int) -> Iterator[str]:
    """The text of these lines from a place in one to a place in another."""
    for index in indexes[indexes.index(first) : indexes.index(last) + 1]:
        text = stream.lines[index].text
        yield text[max(begin, 0) if index == first else 0 : end if index == last else None]


def _align(parts: list[str], text: str) -> tuple[float, list[tuple[int, int]]]:
    """Mean likeness of the parts to consecutive stretches of the text, weighted by length, and where they lie."""
    total, size, at = 0.0, 0, 0
    spans: list[tuple[int, int]] = []
    for part in parts:
        rest = text[at:]
        if len(rest) < max(len(part) // 2, 1):
            return 0.0, []
        likeness, start, end = _nearest(part, rest)
        total += likeness * len(part)
        size += len(part)
        spans.append((at + start, at + end))
        at += end
    return (total / size if size else 0.0), spans


def _nearest(part: str, rest: str) -> tuple[float, int, int]:
    """The stretch of ``rest`` that is most like a part: likeness, where it begins and ends."""
    start = rest.find(part)
    if start >= 0 and rest.find(part, start + 1) < 0:  # most parts stand there as they are
        return 100.0, start, start + len(part)
    from rapidfuzz import fuzz

    found = fuzz.partial_ratio_alignment(part, rest)
    if found is None:
        return 0.0, 0, 0
    return found.score if len(rest) >= len(part) else fuzz.ratio(part, rest), found.dest_start, found.dest_end


def _too_far(parts: list[str], pairs: set[str]) -> bool:
    """Whether the parts are certainly less like a text, whose pairs of letters these are, than a match has to be.

    Where two neighbours of a part stand nowhere in the text as neighbours, one of them is missing or a letter was put between
    them, and a missing letter parts no more than two pairs. Likeness is 100 less 50 for each such letter, over the length.
    """
    missing = sum(
        (len(run) + 1) // 2
        for part in parts
        for run in "".join("x" if first + second not in pairs else " " for first, second in pairwise(part)).split()
    )
    return 50 * missing > (100 - _THRESHOLD) * sum(map(len, parts))


def _pieces(template: dict[str, Any]) -> list[tuple[str, str] | None]:
    """The template as a sequence of literal parts (None) and recorded or unrecorded holes (name, type)."""
    out: list[tuple[str, str] | None] = []
    for piece in re.split(r"(\{(?!\{)[^{}]*\})", template["text"].replace("{{", "\0").replace("}}", "\0")):
        if piece.startswith("{") and not piece.startswith("{="):
            name, _, kind = piece[1:-1].partition(":")
            out.append((name, kind.partition("(")[0]))
        elif squeeze(piece) and not piece.startswith("{="):
            out.append(None)
    return out
