"""Strict YAML: every scalar a string, no duplicate keys, no anchors, and the line of every value for error messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Problem(Exception):
    """Something wrong with a rule file: where it is, what is wrong, what was expected."""

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        super().__init__(file, line, field, message)
        self.file = file
        self.line = line
        self.field = field
        self.message = message

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.field}: {self.message}" if self.field else f"{where}: {self.message}"


class Problems(Exception):
    """All that is wrong with the shape of one file."""

    def __init__(self, found: list[Problem]) -> None:
        super().__init__(*found)
        self.found = found


@dataclass
class Document:
    """A parsed file: plain dicts, lists and strings, and the line on which each path ('$.fixes[0].title') stands."""

    file: str
    data: Any
    lines: dict[str, int] = field(default_factory=dict)

    def line(self, path: str) -> int:
        """The line of the longest known prefix of ``path``."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, 1)

    def problem(self, path: str, message: str) -> Problem:
        """A Problem at ``path`` of this document."""
        return Problem(self.file, self.line(path), path.removeprefix("$").removeprefix("."), message)


def load(path: Path, shown: str = "") -> Document:
    """Read one rule file. Raises Problem (with file and line) where it is not plain YAML of maps, lists and strings."""
    shown = shown or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Problem(shown, 0, "", f"cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Problem(shown, line, "", "is not UTF-8 here; save the file as UTF-8") from None
    return loads(text, shown)


def loads(text: str, shown: str) -> Document:
    """Read rule text, as ``load``."""
    document = Document(shown, None)
    try:
        for event in yaml.parse(text, Loader=_Base):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise Problem(shown, _line(event), "", "anchors and aliases are not allowed; write the value out")
        node = yaml.compose(text, Loader=_Base)
        if node is None:
            raise Problem(shown, 1, "", "the file is empty")
        document.data = _plain(node, "$", document)
    except RecursionError:
        raise Problem(shown, 0, "", "lists and maps within one another, too deep to be read") from None
    except yaml.MarkedYAMLError as error:
        # of a quotation or bracket that is not closed, the line on which it began
        mark = error.context_mark if "end of stream" in str(error.problem) else error.problem_mark
        told = ", ".join(filter(None, (error.context, error.problem)))
        raise Problem(shown, mark.line + 1 if mark else 0, "", f"not valid YAML: {told}") from None
    except yaml.YAMLError as error:
        raise Problem(shown, 0, "", f"not valid YAML: {error}") from None
    return document


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _plain(node: yaml.Node, path: str, document: Document) -> Any:
    document.lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, f"{path}[{i}]", document) for i, item in enumerate(node.value)]
    out: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise Problem(document.file, key.start_mark.line + 1, path, "a key must be a plain word")
        if key.value in out:
            raise Problem(
                document.file,
                key.start_mark.line + 1,
                f"{path}.{key.value}".removeprefix("$."),
                "this key stands here twice",
            )
        out[key.value] = _plain(value, f"{path}.{key.value}", document)
        document.lines[f"{path}.{key.value}"] = key.start_mark.line + 1
    return out
