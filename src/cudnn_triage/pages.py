"""What is told about one cause, message or code, as data: terminal text and web pages are two ways to lay it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .evidence import STRENGTHS
from .facts import Facts
from .fixes import complete, for_any_log
from .knowledge.base import Knowledge

_HOLE = re.compile(r"\{\{|\}\}|\{=([^{}]*)\}|\{([\w.\[\]-]*):([a-z]+)(?:\([^)]*\))?\}")


@dataclass(frozen=True)
class Prose:
    """A paragraph; ``title`` may be empty. ``beside``: it belongs to what stands before it."""

    title: str
    text: str
    beside: bool = False


@dataclass(frozen=True)
class Verbatim:
    """Messages as programs print them."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Remedy:
    """One fix."""

    number: int
    title: str
    applies: str
    safety: str
    commands: tuple[str, ...]
    why: str
    checks: tuple[str, ...]
    source: str
    read: str


@dataclass(frozen=True)
class DeadEnd:
    """What people try that does not help."""

    tried: str
    why: str
    source: str
    read: str


@dataclass(frozen=True)
class Warnings:
    """All dead ends of a cause."""

    title: str
    entries: tuple[DeadEnd, ...]


@dataclass(frozen=True)
class Edge:
    """A link from a message to a cause or back, with how strongly and under which condition; without ``id`` an argument
    from facts alone."""

    strength: str
    supports: bool
    id: str
    title: str
    condition: str = ""
    why: str = ""


@dataclass(frozen=True)
class Edges:
    """Links between messages and causes."""

    title: str
    entries: tuple[Edge, ...]


@dataclass(frozen=True)
class Names:
    """Ids of other pages, in a row."""

    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """A page elsewhere, and when it was read."""

    title: str
    url: str
    read: str


@dataclass(frozen=True)
class References:
    """Pages elsewhere."""

    title: str
    entries: tuple[Reference, ...]


Part = Prose | Verbatim | Remedy | Warnings | Edges | Names | References


@dataclass(frozen=True)
class Page:
    """Everything told about one thing. ``title`` says it in one line, ``note`` what kind of thing it is."""

    id: str
    title: str
    note: str
    parts: tuple[Part, ...]


def cause_page(name: str, knowledge: Knowledge) -> Page:
    """The page on a cause."""
    cause = knowledge.causes[name]
    note = f"family {cause['family']}, {cause['severity']}"
    return Page(name, f"{name}: {cause['title']}", note, tuple(_cause(name, cause, knowledge)))


def _cause(name: str, cause: dict[str, Any], knowledge: Knowledge) -> Iterator[Part]:
    yield Prose("", cause["explanation"])
    if cause["tells_apart"]:
        yield Prose("What tells it from others", cause["tells_apart"])
    # those for any log first, those that a certain message calls for last: nobody has said here what failed
    fixes = sorted(cause["fixes"], key=lambda fix: (not for_any_log(fix), fix["first"] is not None))
    for number, fix in enumerate(fixes, 1):
        commands, checks = (tuple(_completed(c, knowledge) for c in fix[name]) for name in ("commands", "verify"))
        yield Remedy(
            number,
            fix["title"],
            _completed(fix["applies"], knowledge),
            fix["safety"],
            commands,
            fix["why"],
            checks,
            fix["source"],
            fix["read"],
        )
    if cause["dead_ends"]:
        tried = tuple(DeadEnd(d["tried"], d["why"], d["source"], d["read"]) for d in cause["dead_ends"])
        yield Warnings("What does not help", tried)
    for title, conditions in (("Confirmed", cause["confirm"]), ("Ruled out", cause["refute"])):
        if conditions:
            told = tuple(f"- {item['why']} ({item['text']})" for item in conditions)
            yield Verbatim(f"{title} on a machine (cudnn-triage --probe) when", told)
    messages = tuple(sorted(_messages(name, knowledge), key=lambda edge: STRENGTHS.index(edge.strength)))
    if messages:
        yield Edges("Messages that point to it", messages)
    if cause["evidence"]:
        facts = (Edge(e["strength"], e["supports"], "", e["why"], e["text"]) for e in cause["evidence"])
        yield Edges("Facts that speak for or against it", tuple(facts))
    if cause["neighbours"]:
        yield Names("Neighbours", tuple(cause["neighbours"]))
    if cause["references"]:
        yield References("References", tuple(Reference(r["title"], r["url"], r["read"]) for r in cause["references"]))


def _completed(command: str, knowledge: Knowledge) -> str:
    """A command with its holes named in words, since there is no log to fill them from."""
    return complete(command, Facts(), knowledge, {})


def _messages(name: str, knowledge: Knowledge) -> Iterator[Edge]:
    """The messages that speak for a cause, each once with its strongest word."""
    for rule in knowledge.rules:
        pointers = [p for p in rule["points_to"] if p["cause"] == name and p["supports"]]
        if pointers:
            strongest = min(pointers, key=lambda p: (STRENGTHS.index(p["strength"]), -p.get("odds", 1.0)))
            title = rule["title"].removeprefix(f"{rule['id']}: ")
            yield Edge(strongest["strength"], True, rule["id"], title, why=_odds(strongest))


def _odds(pointer: dict[str, Any]) -> str:
    """That a message means a cause less often than its strength says; empty where it does not."""
    return f"meant {pointer['odds']:g} times as often as others of this strength" if "odds" in pointer else ""


def has_page(rule: dict[str, Any]) -> bool:
    """Whether a rule is a thing of its own, and not a library's list of wordings around its codes."""
    return "library" in rule or not rule["code"]


def rule_page(rule: dict[str, Any], knowledge: Knowledge) -> Page:
    """The page on a message or a code."""
    title = str(rule["title"]) if rule["code"] else f"{rule['id']}: {rule['title']}"
    note = knowledge.libraries[rule["library"]]["title"] if rule["code"] else ""
    return Page(rule["id"], title, note, tuple(_rule(rule, knowledge)))


def _shown(hole: re.Match[str]) -> str:
    """A part of a template that is no plain text, as a reader of the message sees it."""
    choice, name, kind = hole.groups()
    if choice is not None:
        return f"({choice})"
    return f"<{name or kind}>" if kind else hole[0][0]


def _rule(rule: dict[str, Any], knowledge: Knowledge) -> Iterator[Part]:
    if rule["code"]:
        others = [f"{number} in {release}" for release, number in rule["numbers"].items()]
        yield Prose("Number", "; ".join(filter(None, [rule["number"], *others])), beside=True)
        if rule["also"]:
            yield Verbatim("Also called", tuple(rule["also"]))
        if rule["kind"]:
            yield Prose("Kind", " or ".join(rule["kind"]), beside=True)
        if rule["action"]:
            yield Prose("What to do", rule["action"], beside=True)
    templates = [template for template in rule["templates"] if template["text"] != rule["id"]]
    printed = tuple(dict.fromkeys(_HOLE.sub(_shown, template["text"]) for template in templates if template["parts"]))
    patterns = tuple(template["text"] for template in templates if not template["parts"])
    if printed:
        yield Verbatim("Printed as", printed)
    if patterns:
        yield Verbatim("Found by pattern", patterns)
    if rule["releases"]:
        yield Prose("Releases", rule["releases"])
    if rule["points_to"]:
        order = sorted(rule["points_to"], key=lambda p: (not p["supports"], STRENGTHS.index(p["strength"])))
        yield Edges(
            "Points to",
            tuple(
                Edge(
                    p["strength"],
                    p["supports"],
                    p["cause"],
                    knowledge.causes[p["cause"]]["title"],
                    p["text"],
                    "; ".join(filter(None, (p["why"], _odds(p)))),
                )
                for p in order
            ),
        )
    if rule["symptom_of"]:
        yield Names("Only an echo when one of these is there", tuple(rule["symptom_of"]))
