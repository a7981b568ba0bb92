"""The shipped rules several times over, each time in other words, to measure what more rules cost."""

from __future__ import annotations

from typing import Any

from cudnn_triage.knowledge.base import compile_folders, shipped_rules
from cudnn_triage.knowledge.packing import pack
from cudnn_triage.knowledge.templates import Choice, Hole, Part, TemplateError, compile_template, parse

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def multiplied(times: int) -> bytes:
    """A store of ``times`` as many rules: the shipped ones, and copies whose letters are shifted by 1, 2, ... in the alphabet."""
    with shipped_rules() as folder:
        data = compile_folders([folder])
    rules: list[dict[str, Any]] = list(data["rules"])
    for shift in range(1, times):
        table = str.maketrans(_LETTERS, _LETTERS[shift:] + _LETTERS[:shift])
        for rule in data["rules"]:
            templates = [made for t in rule["templates"] if (made := _shifted(t, table)) is not None]
            rules.append(
                {**rule, "id": f"{rule['id']}-{shift}", "templates": templates, "symptom_of": [], "code": False}
            )
    return pack({**data, "rules": rules})


def _shifted(template: dict[str, Any], table: dict[int, int]) -> dict[str, object] | None:
    if not template["parts"]:  # a regular expression
        return None
    try:
        return compile_template("".join(_text(part, table) for part in parse(template["text"])), "anywhere")
    except TemplateError:
        return None


def _text(part: Part, table: dict[int, int]) -> str:
    if isinstance(part, Hole):
        return f"{{{part.name}:{part.type}({part.argument})}}" if part.argument else f"{{{part.name}:{part.type}}}"
    if isinstance(part, Choice):
        return "{=" + "|".join(part.texts).translate(table) + "}"
    return part.text.translate(table).replace("{", "{{").replace("}", "}}")
