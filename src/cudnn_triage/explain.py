"""``cudnn-triage explain``: what a cause, a signature, a status or a number means, from the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from .evidence import STRENGTHS
from .knowledge.base import Knowledge


class Unknown(Exception):
    """Nothing of that name; ``close`` lists what is spelt nearly like it."""

    def __init__(self, asked: str, close: list[str]) -> None:
        super().__init__(asked)
        self.close = close


def explain(asked: str, knowledge: Knowledge) -> str:
    """The page on a cause id, signature id, status name or number, as Markdown-like text. Raises Unknown."""
    pages = list(_pages(asked.strip(), knowledge))
    if pages:
        return "\n\n".join(pages)
    names = {name.casefold(): name for name in (*knowledge.causes, *knowledge.by_id)}
    raise Unknown(asked, [names[close] for close in get_close_matches(asked.casefold(), names, 5, 0.6)])


def _pages(asked: str, knowledge: Knowledge) -> Iterator[str]:
    folded = asked.casefold()
    for name, cause in knowledge.causes.items():
        if name == folded:
            yield "\n".join(_cause(name, cause, knowledge))
    for rule in knowledge.rules:
        if rule["id"].casefold() == folded and not rule["id"].endswith(("-numbered", "-worded")):
            yield "\n".join(_rule(rule, knowledge))
    number = asked.lower().removeprefix("xid").strip().removeprefix("error").strip()
    if number.isdigit() or number.startswith("0x"):
        for library, name in knowledge.numbered(number):
            if "xid" in asked.lower() and library != "xid":
                continue
            yield "\n".join([f"{library} {number}", "", *_rule(knowledge.by_id[name], knowledge)])


def _cause(name: str, cause: dict[str, Any], knowledge: Knowledge) -> Iterator[str]:
    yield f"{name}: {cause['title']}"
    yield f"family {cause['family']}, {cause['severity']}"
    yield ""
    yield str(cause["explanation"])
    if cause["tells_apart"]:
        yield ""
        yield f"What tells it from others: {cause['tells_apart']}"
    for number, fix in enumerate(cause["fixes"], 1):
        yield ""
        applies = f" ({fix['applies']})" if fix["applies"] else ""
        yield f"Fix {number}: {fix['title']}{applies} [{fix['safety']}]"
        yield from (f"  $ {command}" for command in fix["commands"])
        yield f"  {fix['why']}"
        yield from (f"  check: {check}" for check in fix["verify"])
    if cause["dead_ends"]:
        yield ""
        yield "What does not help:"
        yield from (f"  - {dead['tried']}: {dead['why']}" for dead in cause["dead_ends"])
    for title, conditions in (("Confirmed", cause["confirm"]), ("Ruled out", cause["refute"])):
        if conditions:
            yield ""
            yield f"{title} on a machine (cudnn-triage --probe) when:"
            yield from (f"  - {item['why']} ({item['text']})" for item in conditions)
    messages = [
        rule for rule in knowledge.rules if any(p["cause"] == name and p["supports"] for p in rule["points_to"])
    ]
    if messages:
        yield ""
        yield "Messages that point to it:"
        for rule in messages:
            strength = next(p["strength"] for p in rule["points_to"] if p["cause"] == name and p["supports"])
            yield f"  {strength:8}  {rule['id']}: {rule['title']}"
    if cause["neighbours"]:
        yield ""
        yield "Neighbours: " + ", ".join(cause["neighbours"])
    if cause["references"]:
        yield ""
        yield from (f"{reference['title']}: {reference['url']}" for reference in cause["references"])


def _rule(rule: dict[str, Any], knowledge: Knowledge) -> Iterator[str]:
    yield f"{rule['id']}: {rule['title']}" if not rule["code"] else str(rule["title"])
    templates = [template["text"] for template in rule["templates"] if template["text"] != rule["id"]]
    if templates:
        yield ""
        yield "Printed as:"
        yield from (f"  {template}" for template in templates)
    if rule["releases"]:
        yield ""
        yield f"Releases: {rule['releases']}"
    if rule["points_to"]:
        yield ""
        yield "Points to:"
        for pointer in sorted(rule["points_to"], key=lambda p: (not p["supports"], STRENGTHS.index(p["strength"]))):
            title = knowledge.causes[pointer["cause"]]["title"]
            against = "" if pointer["supports"] else "against "
            yield f"  {against}{pointer['strength']:8}  {pointer['cause']}: {title}"
            if pointer["text"]:
                yield f"            when {pointer['text']}"
            if pointer["why"]:
                yield f"            {pointer['why']}"
    if rule["symptom_of"]:
        yield ""
        yield "Only an echo when one of these is there: " + ", ".join(rule["symptom_of"])
