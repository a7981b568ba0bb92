"""Message templates: the message as its source code prints it, with typed holes, parsed and compiled to a matcher's data.

A template serves three uses. Its longest literal, without white space and in lower case, is its anchor in the fast scan.
The whole becomes one RE2 pattern that is run on the text around an anchor hit: white space and line ends are optional
wherever the message has letters, so that wrapped and re-flowed messages match. Its literal parts are what fuzzy matching
compares. Compiling happens when the knowledge base is built; nothing here is imported to read a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pyparsing as pp

from ..values import squeeze

_VERSION = r"v?[0-9]+(?:\.[0-9]+){0,5}(?:\.?(?:a|b|rc|post|dev)[0-9]+)?(?:\+[a-z0-9.]+)?"
_FILE = r"[\w+.-]+"

HOLES: dict[str, tuple[str, int]] = {
    "version": (_VERSION, 40),
    "vtuple": (r"\(?[0-9]+(?:\s*,\s*[0-9]+){1,3}\)?", 30),
    "cudnnint": (r"[0-9]{4,6}", 6),
    "cudaint": (r"[0-9]{4,5}", 5),
    "ncclint": (r"[0-9]{4,5}", 5),
    "int": (r"-?[0-9][0-9,]*", 20),
    "float": (r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?", 20),
    "hex": (r"(?:0x)?[0-9a-f]+", 20),
    "size": (r"[0-9][0-9.,]*\s*(?:[kmgt]?i?b|[kmgt]|bytes?)\b", 24),
    "bytes": (r"[0-9]+", 20),
    "cc": (r"(?:(?:sm|compute)_?)?(?:[0-9]{1,2}\.[0-9]|\([0-9]{1,2},\s*[0-9]\)|[0-9]{2,3}a?f?)", 14),
    "archs": (
        r"(?:(?:sm|compute)_|[0-9])[0-9a-z_.+]*(?:[\s,;'\"]+(?:(?:sm|compute)_?)?[0-9][0-9a-z.+]*|[\s,;'\"]+(?:sm|compute)_[0-9a-z+]+)*",
        400,
    ),
    "script": (r"(?:[a-z0-9_][\w.-]*/)*[a-z][\w.-]*\.py\b", 200),
    "image": (r"[a-z0-9][\w.-]*(?::[0-9]+)?(?:/[\w.-]+)*(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?", 300),
    "soname": (rf"(?:[^\s'\"(){{}}:]*[/\\])?{_FILE}(?:\.so(?:\.[0-9]+)*|\.dll|(?:\.[0-9]+)*\.dylib)\b", 300),
    "path": (r"[^\s'\"]+", 400),
    "word": (r"[\w.+-]+", 100),
    "gpu": (r"[A-Za-z][\w .()/-]*?", 80),
    "any": (r"[^\n]*?(?:\n[^\n]*?)??", 400),
    "rest": (r"[^\n]*", 2000),
    "code": (r"-?(?:0x[0-9a-f]+|[0-9]+)", 12),
    "call": (
        r"\w*(?:\s*\([^()\n]{0,160}\))?\)*\s*",
        240,
    ),  # after its beginning: the rest of a function's name, its arguments
    "text": (r"[^\n]+?(?:\n[^\n]*?)??", 120),  # one of a library's error strings (rules/codes), or begins with one
}
"""Hole type -> (RE2 pattern of one value, the longest that is looked at)."""


_WORDS = frozenset(
    ("version", "int", "float", "hex", "bytes", "cudnnint", "cudaint", "ncclint", "word", "code", "call")
)
"""Hole types whose values are words: a match that begins or ends with one does so at a word boundary."""


@dataclass(frozen=True)
class Literal:
    """Text that stands in the message as it is."""

    text: str


@dataclass(frozen=True)
class Hole:
    """A place where a typed value stands; recorded as fact ``name`` unless that is empty."""

    name: str
    type: str
    argument: str = ""


@dataclass(frozen=True)
class Choice:
    """A place where one of several literal texts stands."""

    texts: tuple[str, ...]


Part = Literal | Hole | Choice


class TemplateError(ValueError):
    """The template cannot be read or compiled; the message says why and where."""


@cache
def _grammar() -> pp.ParserElement:
    hole = pp.Regex(r"\{(?P<name>(?:[A-Za-z][\w.\[\]-]*)?):(?P<type>[a-z]+)(?:\((?P<argument>[\w|+-]+)\))?\}")
    hole.set_parse_action(lambda t: Hole(t["name"], t["type"], t["argument"] or ""))
    choice = pp.Regex(r"\{=(?P<texts>[^{}]*)\}").set_parse_action(lambda t: Choice(tuple(t["texts"].split("|"))))
    literal = pp.Regex(r"(?:[^{}]|\{\{|\}\})+")
    literal.set_parse_action(lambda t: Literal(t[0].replace("{{", "{").replace("}}", "}")))
    whole = pp.ZeroOrMore(literal | choice | hole) + pp.StringEnd()
    return whole.leave_whitespace().parse_with_tabs()


@cache  # compiling and each check of the linter ask for the same ones
def parse(template: str) -> tuple[Part, ...]:
    """Read a template. Raises TemplateError that names the column."""
    try:
        parts = tuple(_grammar().parse_string(template))
    except pp.ParseException as error:
        raise TemplateError(f"column {error.column}: expected text, {{name:type}}, {{:type}} or {{=one|two}}") from None
    for part in parts:
        if isinstance(part, Hole) and part.type not in HOLES:
            raise TemplateError(f"unknown hole type {part.type!r}; known: {', '.join(sorted(HOLES))}")
        if isinstance(part, Hole) and part.type in ("code", "text") and not part.argument:
            raise TemplateError(f"a {part.type} hole names its library: {{{part.name}:{part.type}(cudart)}}")
        if isinstance(part, Hole) and part.type == "call" and not part.argument:
            raise TemplateError(f"a call hole names how the function's name begins: {{{part.name}:call(cudaMalloc)}}")
    return parts


def _ticks(literal: Literal) -> Iterator[Part]:
    """A text whose backticks may be missing: a page that shows Markdown, from which people copy, eats them in pairs."""
    first, *rest = literal.text.split("`")
    if first:
        yield Literal(first)
    for text in rest:
        yield Choice(("`", ""))
        if text:
            yield Literal(text)


def _literal_pattern(text: str) -> str:
    out: list[str] = []
    gap = ""
    for index, char in enumerate(text):
        if char.isspace():
            gap = r"\s*"
            continue
        if out or (index and gap):
            out.append(r"\s*")
        out.append(re.escape(char))
        gap = ""
    return "".join(out)


def _in_word(char: str) -> bool:
    """Whether RE2's word boundary, which knows ASCII only, sees this character as part of a word."""
    return char.isascii() and (char.isalnum() or char == "_")


def _begins_in_word(part: Part) -> bool:
    if isinstance(part, Hole):
        return False  # the matcher looks at what stands before the value ('tight')
    texts = (part.text,) if isinstance(part, Literal) else tuple(filter(None, part.texts))
    return all(_in_word(text.lstrip()[:1]) for text in texts)


def _ends_in_word(part: Part) -> bool:
    if isinstance(part, Hole):
        return part.type in _WORDS
    texts = (part.text,) if isinstance(part, Literal) else tuple(filter(None, part.texts))
    return all(_in_word(text.rstrip()[-1:]) for text in texts)


def _fixed(part: Part) -> str:
    """The text with which a part begins wherever the message stands; empty where it varies."""
    if isinstance(part, Hole):
        return part.argument if part.type == "call" else ""
    return part.text if isinstance(part, Literal) else ""


def literals(parts: tuple[Part, ...]) -> list[str]:
    """The literal texts of a template, squeezed, in order."""
    return [found for part in parts if (found := squeeze(_fixed(part)))]


def _until(parts: tuple[Part, ...], anchor: str) -> int:
    """How many visible characters of a message may stand before its anchor."""
    count = 0
    for part in parts:
        if squeeze(_fixed(part)) == anchor:
            break
        count += len(part.text) if isinstance(part, Literal) else _longest(part)
    return count


def _reach(parts: tuple[Part, ...], anchor: str) -> tuple[int, int]:
    """How many characters of a message may stand before the anchor begins, and how many from there on."""
    lengths = [_longest(part) for part in parts]
    at = next(i for i, part in enumerate(parts) if squeeze(_fixed(part)) == anchor)
    return sum(lengths[:at]), sum(lengths[at:])


def _longest(part: Part) -> int:
    if isinstance(part, Literal):
        return len(part.text) if part.text.split() else 0
    return max(map(len, part.texts)) if isinstance(part, Choice) else HOLES[part.type][1]


def _pattern(parts: tuple[Part, ...]) -> str:
    """The pattern of a message, without what must stand around it. Raises TemplateError."""
    pieces: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, Choice):
            options = sorted(map(_literal_pattern, part.texts), key=len, reverse=True)
            pieces.append(r"(?:" + "|".join(options) + r")\s*")
        elif isinstance(part, Hole):
            if number and isinstance(parts[number - 1], Hole):
                raise TemplateError("two holes need text or white space between them")
            pieces.append(f"({_fixed(part)}{HOLES[part.type][0]})")
        elif not part.text.split():  # white space between two holes: it parts them
            pieces.append(r"\s+")
        else:
            lead = r"\s*" if pieces and not pieces[-1].endswith(r"\s*") else ""
            pieces.append(lead + _literal_pattern(part.text) + r"\s*")
    return "".join(pieces)


def _bounded(pattern: str, first: Part, last: Part, at: str) -> str:
    """The pattern with what must stand before and behind the message."""
    head = r"\b" if _begins_in_word(first) else ""
    tail = r"\b" if _ends_in_word(last) else ""
    if not isinstance(last, Hole):
        pattern = pattern.removesuffix(r"\s*")
    elif last.type == "gpu":
        tail = r"(?:$|[,;)])"
    elif last.type in ("any", "text"):
        tail = r"$"
    if at in ("line", "start"):
        head = r"^[\s>|]*"
    if at == "line":
        tail = r"\s*$"
    return f"(?im){head}{pattern}{tail}"


def compile_template(template: str, at: str) -> dict[str, object]:
    """Compile one template to plain data: pattern, anchor, reach before and after it, holes, literal parts.

    Raises TemplateError where no part of it can serve as an anchor.
    """
    parts = tuple(
        piece for part in parse(template) for piece in (_ticks(part) if isinstance(part, Literal) else (part,))
    )
    found = literals(parts)
    anchor = max(found, key=len, default="")
    if len(anchor) < 3:
        raise TemplateError("no literal text of three letters or more to find it by")
    before, after = _reach(parts, anchor)
    return {
        "re": _bounded(_pattern(parts), parts[0], parts[-1], at),
        "anchor": anchor,
        "literal": max(map(_fixed, parts), key=lambda text: len(squeeze(text))),
        "before": before,
        "after": after,
        "holes": [(part.name, part.type, part.argument) for part in parts if isinstance(part, Hole)],
        "parts": found,
        "wants": [[part] for part in found if part != anchor],
        "reach": _until(parts, anchor) if at in ("line", "start") else -1,
        "tight": isinstance(parts[0], Hole) and parts[0].type in _WORDS,
        "breaks": template.strip().count("\n"),
        "text": template,
    }
