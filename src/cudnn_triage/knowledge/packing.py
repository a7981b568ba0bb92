"""From the plain data that compiling gives to the bytes of a store. Nothing here is imported to read a log."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..grammar import SIGNS
from . import indexes, literals
from .store import MAGIC, name_sections, records, sums

Data = dict[str, Any]

_RARE = 12  # a word that stands in no more templates than this is what tells a message from others
_WORD = re.compile(r"[^\W\d_]{4,}")
_CORE = ("field_words", "field_marks", "error_words", "weights")
_WHOLE = (
    "libraries", "numbers", "texts", "probes", "settings", "elsewhere", "no_gpu", "cure_first", "recipes",
)  # fmt: skip
_LIGHT = ("family", "severity", "evidence")  # of a cause: what ranking asks of all of them
_HEAD = ("table", "keys", "match", "gives")


def pack(data: Data) -> bytes:
    """The compiled rules as one file for store.Store."""
    causes: dict[str, Data] = data["causes"]
    core = {
        **{name: data[name] for name in _CORE},
        "causes": {name: [cause[key] for key in _LIGHT] for name, cause in causes.items()},
        "tables": [{key: table[key] for key in _HEAD} for table in data["tables"]],
    }
    fixes = [fix for cause in causes.values() for fix in cause["fixes"]]
    sections = {
        "core": _json(core),
        **{name: _json(data[name]) for name in _WHOLE},
        **{
            f"cause {name}": _json({**cause, "fixes": gates})
            for (name, cause), gates in zip(causes.items(), _gates(causes), strict=True)
        },
        **records("fixes", [_json(_without(fix, "gate")) for fix in fixes]),
        **name_sections("fact names", data["facts"]),
        **records("facts", [_json(fact) for fact in data["facts"].values()]),
        **{f"table {table['table']}": _json(table["rows"]) for table in data["tables"]},
        **_rule_sections(data["rules"], data["field_words"]),
        **_hunch_sections(data["hunches"]),
        **_found_by(data["rules"], (*SIGNS, *data["field_words"], *data["error_words"])),
    }
    return _file(data["digest"], sections)


def _gates(causes: dict[str, Data]) -> Iterator[tuple[int, list[Any]]]:
    """For each cause the number of its first fix among all, and the gates of its fixes."""
    first = 0
    for cause in causes.values():
        yield first, [fix["gate"] for fix in cause["fixes"]]
        first += len(cause["fixes"])


def _rule_sections(rules: list[Data], field_words: list[str]) -> dict[str, bytes]:
    """The rules, their templates, and their ids by what they are asked for."""
    templates = [template for rule in rules for template in rule["templates"]]
    telling = _telling({number: templates[number]["text"] for number in _prose(rules)}, set(field_words))
    heads = [_json(_without(rule, "templates")) for rule in rules]
    texts = [_json({**_without(t, "wants"), "telling": telling.get(n, [])}) for n, t in enumerate(templates)]
    wants = ["\n".join("\0".join(some) for some in template["wants"]).encode() for template in templates]
    return {
        **name_sections("ids", [rule["id"] for rule in rules]),
        "codes": _lines(rule["id"] for rule in rules if rule["code"] and "_" in rule["id"]),
        **records("rules", heads),
        **records("templates", texts),
        **records("wants", wants),
        "rules.first": sums(len(rule["templates"]) for rule in rules),
        "general": _lines(rule["id"] for rule in rules if rule["inside"] == "unexplained"),
    }


def _hunch_sections(hunches: Data | None) -> dict[str, bytes]:
    """The model of words: its head, and a row for each word."""
    rows = {word: _json(row) for word, row in sorted(hunches["words"].items())} if hunches else {}
    return {
        "hunches": _json(hunches and _without(hunches, "words")),
        **name_sections("hunch words", rows),
        **records("hunch rows", list(rows.values())),
    }


def _found_by(rules: list[Data], signs: tuple[str, ...]) -> dict[str, bytes]:
    """The indexes by which templates are found: their literals in a log and in a scan of bytes, and their runs for likeness."""
    templates = [(rule, template) for rule in rules for template in rule["templates"]]
    anchors = [template["anchor"] if rule["inside"] != "unexplained" else "" for rule, template in templates]
    scanned = (
        template.get("literal", anchor) if anchor else ""
        for anchor, (_, template) in zip(anchors, templates, strict=True)
    )
    return {
        **indexes.anchor_sections(anchors),
        **literals.literal_sections(scanned, signs),
        **indexes.run_sections(_prose(rules), len(templates)),
    }


def _prose(rules: list[Data]) -> dict[int, list[str]]:
    """The literal parts of the templates that likeness may find, by their numbers among all."""
    templates = [(rule, template) for rule in rules for template in rule["templates"]]
    return {
        number: template["parts"]
        for number, (rule, template) in enumerate(templates)
        if not rule["code"]
        and rule["inside"] in ("program", "any")
        and (rule["points_to"] or rule["symptom_of"])
        and sum(map(len, template["parts"])) >= indexes.LEAST
    }


def _without(record: Data, name: str) -> Data:
    """A record but for one entry, which lies elsewhere in the file."""
    return {key: value for key, value in record.items() if key != name}


def _lines(words: Iterable[str]) -> bytes:
    return "\n".join(words).encode()


def _telling(texts: dict[int, str], field: set[str]) -> dict[int, list[str]]:
    """For each template, its words of this field and those that few other templates have."""
    words = {number: set(_WORD.findall(indexes.without_holes(text).lower())) for number, text in texts.items()}
    count = Counter(word for found in words.values() for word in found)
    return {n: sorted(word for word in found if count[word] <= _RARE or word in field) for n, found in words.items()}


def _file(digest: str, sections: dict[str, bytes]) -> bytes:
    places: dict[str, tuple[int, int]] = {}
    out: list[bytes] = []
    at = 0
    for name, content in sections.items():
        padding = -at % 8
        out += [bytes(padding), content]
        places[name] = (at + padding, len(content))
        at += padding + len(content)
    header = _json({"digest": digest, "size": at, "sections": places})
    header += b" " * (-(len(MAGIC) + 8 + len(header)) % 8)
    return b"".join([MAGIC, len(header).to_bytes(8, "little"), header, *out])


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
