"""Writes docs/report.schema.json, the JSON Schema of the report, from the report's types."""

from __future__ import annotations

import inspect
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
    _tidy(found)
    return json.dumps(found, indent=2) + "\n"


def _tidy(node: object) -> None:
    """The report writes every field, so every field is required and no other is allowed; docstrings lose their indentation, which
    msgspec leaves up to 0.22 and takes off from 0.23 on."""
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            node["description"] = inspect.cleandoc(node["description"])
        if "properties" in node:
            node["required"] = list(node["properties"])
            node["additionalProperties"] = False
        for value in node.values():
            _tidy(value)
    elif isinstance(node, list):
        for value in node:
            _tidy(value)


if __name__ == "__main__":
    TARGET.write_text(schema(), encoding="utf-8")
