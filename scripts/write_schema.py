"""Writes docs/report.schema.json, the JSON Schema of the report, from the report's types."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from cudnn_triage import report, vocabulary

TARGET = Path(__file__).resolve().parents[1] / "docs" / "report.schema.json"


def schema() -> str:
    """The schema as the text of the file."""
    vars(report).update({name: kind for name, kind in vars(vocabulary).items() if not name.startswith("_")})
    found = msgspec.json.schema(report.Report)
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cudnn-triage report, version 1",
        **found,
    }
    _close(found)
    return json.dumps(found, indent=2) + "\n"


def _close(node: object) -> None:
    """The report writes every field, so every field is required and no other is allowed."""
    if isinstance(node, dict):
        if "properties" in node:
            node["required"] = list(node["properties"])
            node["additionalProperties"] = False
        for value in node.values():
            _close(value)
    elif isinstance(node, list):
        for value in node:
            _close(value)


if __name__ == "__main__":
    TARGET.write_text(schema(), encoding="utf-8")
