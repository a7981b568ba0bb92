"""The index with which docs/assets/paste.js finds messages in pasted text: the engine's own patterns, as JavaScript takes them."""

from __future__ import annotations

import json
import re
from typing import Any

from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.ranking import DEFAULTS

BLANK = "\x01"
"""Stands for ``\\s*``, which templates hold between any two letters; the page puts it back."""


def javascript(pattern: str) -> tuple[str, str]:
    """(pattern, flags) of an RE2 pattern, its blanks shortened."""
    flags = ""
    if found := re.match(r"\(\?([ims]+)\)", pattern):
        flags, pattern = found[1], pattern[found.end() :]
        while again := re.match(r"\(\?([ims]+)\)", pattern):
            flags, pattern = flags + again[1], pattern[again.end() :]
    pattern = pattern.replace("(?P<", "(?<").replace(r"\s*", BLANK)
    return pattern, "".join(dict.fromkeys(flags))


def paste_index(knowledge: Knowledge, places: dict[str, str]) -> str:
    """The index as JSON: causes, rules with what they speak for, and a row for each template."""
    rules: list[dict[str, Any]] = []
    templates: list[list[Any]] = []
    for rule in knowledge.rules:
        lists_codes = rule["code"] and "library" not in rule
        if rule["inside"] == "source" or not (rule["points_to"] or rule["code"]):
            continue
        for template in rule["templates"]:
            pattern, flags = javascript(template["re"])
            coded = [
                [i + 1, hole[1], hole[2]] for i, hole in enumerate(template["holes"]) if hole[1] in ("code", "text")
            ]
            row = [len(rules), template["anchor"], pattern, flags, template["before"], template["after"]]
            words = template.get("words")  # of each list one stands in what a pattern without an anchor matches
            templates.append([*row, coded, words] if words else [*row, coded] if coded else row)
        points = [[p["cause"], p["strength"], p["supports"], bool(p["when"])] for p in rule["points_to"]]
        entry: dict[str, Any] = {
            "id": rule["id"],
            "title": rule["title"].removeprefix(f"{rule['id']}: "),
            "points": points,
        }
        if rule["id"] in places:
            entry["page"] = places[rule["id"]].removesuffix(".md") + "/"
        for name in ("symptom_of", "unless"):
            if rule[name]:
                entry[name] = rule[name]
        if rule["catch_all"]:
            entry["catch_all"] = True
        if rule["survived"]:
            entry["survived"] = True
        if lists_codes:
            entry["lists_codes"] = True
        rules.append(entry)
    libraries = {hole[2] for row in templates if len(row) > 6 for hole in row[6]}
    causes = {
        name: {"title": cause["title"], "page": f"causes/{name}/", "severity": cause["severity"]}
        for name, cause in knowledge.causes.items()
    }
    data = {
        "weights": {**DEFAULTS, **knowledge.weights},
        "causes": causes,
        "rules": rules,
        "templates": templates,
        "numbers": {library: knowledge.numbers[library] for library in sorted(libraries)},
        "texts": {library: knowledge.texts[library] for library in sorted(libraries)},
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
