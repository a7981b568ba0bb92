"""Fuzzy matching of the prose that exact matching left over: misspelt, truncated or slightly reworded messages.

A line's six-letter runs vote for templates; the best few are aligned part by part (rapidfuzz). Status names and numbers
never match by likeness: one that a template contains must stand in the line, or be damaged beyond being any other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from .knowledge.base import Knowledge
from .matching import Capture, Occurrence, Stream
from .structure import Role, Structure
from .values import read, squeeze

_GRAM = 6
_LEAST = 24  # squeezed letters of prose below which likeness means nothing
_SHARE = 0.3  # of a template's runs that must stand in the line for a closer look
_LOOKS = 4  # templates looked at more closely, per line
_THRESHOLD = 86.0  # mean likeness (0..100) below which a match is rejected: measured by scripts/measure_fuzzy.py
_LONGEST = 1500  # squeezed letters of a line that are compared
_MOST_LINES = 2000  # distinct lines that are compared
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+")
_NUMBER = re.compile(r"\d+")
_SPACED = ("size", "archs", "vtuple", "gpu", "cc")  # hole types whose values may hold white space
_ROLES = (Role.TEXT, Role.RECORD, Role.EXCEPTION)


class FuzzyMatcher:
    """Finds damaged or reworded messages of a knowledge base. Safe to share between threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._templates: list[tuple[dict[str, Any], dict[str, Any]]] = [
            (rule, template)
            for rule in knowledge.rules
            if not rule["code"] and rule["inside"] != "source" and (rule["points_to"] or rule["symptom_of"])
            for template in rule["templates"]
            if sum(map(len, template["parts"])) >= _LEAST
        ]

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for number, (_, template) in enumerate(self._templates):
            for gram in {g for part in template["parts"] for g in _grams(part)}:
                index.setdefault(gram, []).append(number)
        return {gram: numbers for gram, numbers in index.items() if len(numbers) <= 60}

    @cached_property
    def _sizes(self) -> list[int]:
        return [sum(max(len(part) - _GRAM + 1, 0) for part in template["parts"]) for _, template in self._templates]

    @cached_property
    def _code_names(self) -> dict[str, str]:
        return {rule["id"].lower(): rule["id"] for rule in self.knowledge.rules if rule["code"] and "_" in rule["id"]}

    def find(self, stream: Stream, structure: Structure, exact: Sequence[Occurrence]) -> list[Occurrence]:
        """Fuzzy matches on the lines that no exact match covers, in log order."""
        covered = {i for o in exact for i in range(o.first, o.last + 1)}
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
            if line.text in texts:
                continue
            if len(texts) >= _MOST_LINES:
                break
            texts.add(line.text)
            following = stream.order[position + 1] if position + 1 < len(stream.order) else index
            joined = [index] if following in covered or following == index else [index, following]
            found += self._in_lines(joined, stream)
        return found

    def _worth(self, text: str, level: str, role: Role) -> bool:
        if level in ("W", "E", "F") or role is Role.EXCEPTION:
            return True
        lowered = text.lower()
        return any(w in lowered for w in self.knowledge.field_words) or any(
            w in lowered for w in self.knowledge.error_words
        )

    def _in_lines(self, indexes: list[int], stream: Stream) -> Iterator[Occurrence]:
        texts = [stream.lines[i].text for i in indexes]
        squeezed = [squeeze(text)[:_LONGEST] for text in texts]
        own = len(squeezed[0])
        whole = "".join(squeezed)
        if own < _GRAM * 2:
            return
        votes = Counter(number for gram in set(_grams(whole)) for number in self._index.get(gram, ()))
        good = [(count / self._sizes[n], n) for n, count in votes.items() if count >= _SHARE * self._sizes[n]]
        best: tuple[float, Occurrence] | None = None
        for _, number in sorted(good, reverse=True)[:_LOOKS]:
            rule, template = self._templates[number]
            if not self._tokens_agree(template["text"], " ".join(texts)):
                continue
            score, spans = _align(template["parts"], whole)
            if score < _THRESHOLD or not spans or spans[0][0] >= own:
                continue
            if best is None or score > best[0]:
                places = [
                    (i, at)
                    for i, text in zip(indexes, texts, strict=True)
                    for at, char in enumerate(text)
                    if not char.isspace()
                ]
                first, begin = places[min(spans[0][0], len(places) - 1)]
                last, finish = places[min(spans[-1][1], len(places)) - 1]
                captures = self._captures(template, spans, places, stream)
                best = (
                    score,
                    Occurrence(rule["id"], first, last, begin, finish + 1, captures, "fuzzy", round(score, 1)),
                )
        if best:
            yield best[1]
        yield from self._damaged_codes(indexes[0], texts[0])

    def _tokens_agree(self, template: str, text: str) -> bool:
        """Status names and numbers of the template stand in the text, or something that is no other name and nearly it."""
        from rapidfuzz.distance import Levenshtein

        literal = re.sub(r"\{[^}]*\}", " ", template)
        there = {token.lower() for token in _TOKEN.findall(text)}
        for token in {t.lower() for t in _TOKEN.findall(literal)} - there:
            allowed = max(1, len(token) // 12)
            if not any(
                t not in self._code_names and Levenshtein.distance(t, token, score_cutoff=allowed) <= allowed
                for t in there
            ):
                return False
        return set(_NUMBER.findall(literal)) <= set(_NUMBER.findall(text))

    def _damaged_codes(self, index: int, text: str) -> Iterator[Occurrence]:
        """A status name with a wrong letter is read as the one name that it can be."""
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        for found in _TOKEN.finditer(text):
            token = found[0].lower()
            if len(token) < 12 or token in self._code_names:
                continue
            allowed = max(1, len(token) // 12)
            near = process.extract(
                token, self._code_names.keys(), scorer=Levenshtein.distance, score_cutoff=allowed + 2, limit=2
            )
            if near and near[0][1] <= allowed and (len(near) == 1 or near[1][1] >= near[0][1] + 2):
                name = self._code_names[near[0][0]]
                yield Occurrence(
                    name, index, index, found.start(), found.end(), (), "fuzzy", 100.0 - 100.0 * near[0][1] / len(token)
                )

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


def _grams(text: str) -> list[str]:
    return [text[i : i + _GRAM] for i in range(len(text) - _GRAM + 1)]


def _align(parts: list[str], text: str) -> tuple[float, list[tuple[int, int]]]:
    """Mean likeness of the parts to consecutive stretches of the text, weighted by length, and where they lie."""
    from rapidfuzz import fuzz

    total, size, at = 0.0, 0, 0
    spans: list[tuple[int, int]] = []
    for part in parts:
        rest = text[at:]
        if len(rest) < max(len(part) // 2, 1):
            return 0.0, []
        found = fuzz.partial_ratio_alignment(part, rest)
        if found is None:
            return 0.0, []
        likeness = found.score if len(rest) >= len(part) else fuzz.ratio(part, rest)
        total += likeness * len(part)
        size += len(part)
        spans.append((at + found.dest_start, at + found.dest_end))
        at += found.dest_end
    return (total / size if size else 0.0), spans


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
