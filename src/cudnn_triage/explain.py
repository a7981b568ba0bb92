"""``cudnn-triage explain``: what a cause, a message, a status or a number means, from the knowledge base."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .catalogue import architecture_page, gpu_named, gpu_names, library_names, library_page, product_names, product_page
from .cleaning import clean
from .engine import Triager
from .grammar import parse
from .knowledge.base import Knowledge
from .matching import Matcher, Stream
from .near import near
from .pages import (
    Edges,
    Names,
    Page,
    Part,
    Prose,
    References,
    Remedy,
    Verbatim,
    Warnings,
    cause_page,
    has_page,
    rule_page,
)
from .reading import read_text
from .values import code_number

_NUMBER = r"-?(?:0x[0-9a-f]{1,16}|[0-9]{1,20})"
_ENDS_IN_NUMBER = re.compile(rf"(?:(?P<words>.*[^\w.-])|(?P<name>[a-z]\w*?))??\(?(?P<number>{_NUMBER})[)\]:.]*", re.I)
_NO_NAME = re.compile(r"\([^)]*\)|\b(?:error|err|code|status|number|no|returned|with|is|was)\b|[^\w\s-]|-(?!\w)", re.I)
_LONGEST = 100_000  # characters of a pasted text that are looked at


class Unknown(Exception):
    """Nothing of that name; ``close`` lists what is spelt nearly like it."""

    def __init__(self, asked: str, close: list[str]) -> None:
        super().__init__(asked)
        self.close = close


def explain(asked: str, knowledge: Knowledge, width: int = 0) -> str:
    """What is known of a cause id, a signature id, a status name, a number, a shared library, a GPU architecture or a pasted
    message, for a terminal of ``width`` columns (0: not wrapped). Raises Unknown."""
    found = find(asked, knowledge)
    if found:
        texts = ((heading, as_text(page, width)) for heading, page in found)
        return "\n\n".join(f"{heading}\n\n{text}" if heading else text for heading, text in texts)
    names = (*knowledge.causes, *knowledge.by_id, *product_names(knowledge), *knowledge.libraries)
    names += (*library_names(knowledge), *gpu_names(knowledge))
    raise Unknown(asked, near(asked, names, 5))


def find(asked: str, knowledge: Knowledge) -> list[tuple[str, Page]]:
    """The pages meant by what somebody typed or pasted, each with the number it answers (empty: it was named).

    A name is tried first (of a rule, a library, a product, an architecture), then
    a number with or without its library ('700', 'CUDA error 700', 'Xid (PCI:0000:3b:00): 79',
    'CUDNN_STATUS_8'), then names of codes within the text, then the messages that the text holds, then the cause that it is
    likeliest about, then the GPU that it names.
    """
    asked = asked.strip()[:_LONGEST]
    named = list(_named(asked, knowledge))
    if not named:
        named = [page for look in (library_page, product_page, architecture_page) if (page := look(asked, knowledge))]
    if named:
        return [("", page) for page in named]
    numbered = list(_numbered(asked, knowledge))
    if numbered:
        return numbered
    words = dict.fromkeys(re.findall(r"\w{4,}", asked))
    inside = [
        page for word in words for page in _named(word, knowledge) if knowledge.by_id.get(page.id, {}).get("code")
    ]
    found = inside or list(_matched(asked, knowledge))
    if not found and " " in asked and (cause := _likeliest(asked, knowledge)):
        found = [cause_page(cause, knowledge)]
    if not found and (gpu := gpu_named(asked, knowledge)) and (page := architecture_page(gpu, knowledge)):
        found = [page]
    return [("", page) for page in found]


def _named(asked: str, knowledge: Knowledge) -> Iterator[Page]:
    folded = asked.casefold()
    if folded in knowledge.causes:
        yield cause_page(folded, knowledge)
    for rule in _by_name(knowledge).get(folded, ()):
        yield rule_page(rule, knowledge)


@lru_cache(maxsize=4)
def _by_name(knowledge: Knowledge) -> dict[str, list[dict[str, Any]]]:
    """The rules that have a page, by what they are called in small letters."""
    names: dict[str, list[dict[str, Any]]] = {}
    for rule in filter(has_page, knowledge.rules):
        for name in {rule["id"].casefold(), *(name.casefold() for name in rule.get("also", ()))}:
            names.setdefault(name, []).append(rule)
    return names


@lru_cache(maxsize=4)
def _by_number(knowledge: Knowledge) -> dict[int, list[tuple[dict[str, Any], tuple[str, ...]]]]:
    """The codes by number, each with the releases in which it has that number if another is its number now."""
    numbers: dict[int, list[tuple[dict[str, Any], tuple[str, ...]]]] = {}
    for rule in knowledge.rules:
        if rule.get("library") not in knowledge.libraries:
            continue
        now = code_number(rule["number"]) if rule["number"] else None
        releases: dict[int, list[str]] = {}
        for release, number in rule["numbers"].items():
            if (value := code_number(number)) is not None:
                releases.setdefault(value, []).append(release)
        if now is not None:
            releases[now] = []
        for value, older in releases.items():
            numbers.setdefault(value, []).append((rule, tuple(older)))
    return numbers


def _numbered(asked: str, knowledge: Knowledge) -> Iterator[tuple[str, Page]]:
    """The codes that have the number with which the text ends; of the library that it names, if it names one."""
    form = _ENDS_IN_NUMBER.fullmatch(asked.strip("[]"))
    if form is None or (wanted := code_number(form["number"])) is None:
        return
    libraries = _libraries(form["words"] or form["name"] or "", knowledge)
    for rule, releases in _by_number(knowledge).get(wanted, ()):
        if rule["library"] in libraries:
            release = f" ({', '.join(releases)})" if releases else ""
            yield f"{rule['library']} {form['number'].lower()}{release}", rule_page(rule, knowledge)


def _libraries(words: str, knowledge: Knowledge) -> set[str]:
    """The libraries that these words name; all of them for no words but 'error', 'code' and the like."""
    name = " ".join(_NO_NAME.sub(" ", words).split()).casefold().strip("_")
    if not name:
        return set(knowledge.libraries)
    return {
        library
        for library, told in knowledge.libraries.items()
        if name in {library, told["prefix"].strip(" _").casefold(), *(called.casefold() for called in told["called"])}
    }


def _matched(asked: str, knowledge: Knowledge) -> Iterator[Page]:
    """The messages and codes in a pasted text, in the order in which they stand there."""
    lines = clean(read_text(asked, "<text>"))
    found = Matcher(knowledge).find(Stream(lines, knowledge.field_marks), parse(lines))
    for name in dict.fromkeys(o.rule for o in sorted(found, key=lambda o: (o.first, o.start))):
        rule: dict[str, Any] = knowledge.by_id[name]
        if has_page(rule) and (rule["points_to"] or rule["code"]):
            yield rule_page(rule, knowledge)


def _likeliest(asked: str, knowledge: Knowledge) -> str:
    """The cause that a text in nobody's known words speaks of; empty where it speaks of none."""
    log = read_text(asked, "<text>")
    triager = Triager(knowledge)
    diagnoses = triager.report(log, triager.examine(clean(log))).diagnoses
    return diagnoses[0].cause if diagnoses else ""


def as_text(page: Page, width: int = 0) -> str:
    """A page as plain text for a terminal of ``width`` columns; 0 wraps nothing. Messages, commands and addresses stay whole."""
    lines: list[str] = [page.title, *([page.note] if page.note else [])]
    for part in page.parts:
        lines += _lines(part)
    return "\n".join(row for line in lines for row in _rows(line, width))


class _Whole(str):
    """A line that is not wrapped."""

    __slots__ = ()


def _rows(line: str, width: int) -> list[str]:
    if isinstance(line, _Whole) or not 0 < width < len(line):
        return [line]
    margin = " " * (len(line) - len(line.lstrip()) + 2 * line.lstrip().startswith("- "))
    return textwrap.wrap(line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)


def _lines(part: Part) -> Iterator[str]:
    if not (isinstance(part, Prose) and part.beside):
        yield ""
    match part:
        case Prose(title, text):
            yield f"{title}: {text}" if title else text
        case Remedy():
            applies = f" ({part.applies})" if part.applies else ""
            yield f"Fix {part.number}: {part.title}{applies} [{part.safety}]"
            yield from (_Whole(f"  {'  ' if command.startswith('#') else '$ '}{command}") for command in part.commands)
            yield f"  {part.why}"
            yield from (_Whole(f"  check: {check}") for check in part.checks)
        case Verbatim(title, lines):
            yield f"{title}:"
            yield from (_Whole(f"  {line}") for line in lines)
        case Warnings(title, entries):
            yield f"{title}:"
            yield from (f"  - {dead.tried}: {dead.why}" for dead in entries)
        case Edges(title, edges):
            yield f"{title}:"
            for edge in edges:
                name = f"{edge.id}: " if edge.id else ""
                yield f"  {'' if edge.supports else 'against '}{edge.strength:8}  {name}{edge.title}"
                if edge.condition:
                    yield f"            when {edge.condition}"
                if edge.why:
                    yield f"            {edge.why}"
        case Names(title, ids):
            yield f"{title}: {', '.join(ids)}"
        case References(_, references):
            yield from (_Whole(f"{r.title}: {r.url} (read {r.read})") for r in references)
