"""The compiled knowledge base as the engine uses it: loaded from the package or a source tree, shared, read-only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..values import Soname, Value, squeeze
from .cache import compiled

Data = dict[str, Any]
COMPILED = "knowledge.json"


class KnowledgeError(Exception):
    """The knowledge base cannot be used; the message lists what is wrong with which file."""


class Knowledge:
    """A compiled knowledge base. Build one with ``load``; it never changes and may be shared between threads."""

    def __init__(self, data: Data) -> None:
        self.digest: str = data["digest"]
        self.rules: list[Data] = data["rules"]
        self.causes: dict[str, Data] = data["causes"]
        self.facts: dict[str, Data] = data["facts"]
        self.field_words: list[str] = data["field_words"]
        self.error_words: list[str] = data["error_words"]
        self.weights: dict[str, float] = data["weights"]
        self.tables: list[Data] = data["tables"]
        self.libraries: dict[str, Data] = data["libraries"]
        self.probes: dict[str, Data] = data["probes"]
        self.settings: Data = data["settings"]
        self.elsewhere: list[Data] = data["elsewhere"]
        self.no_gpu: list[Any] | None = data["no_gpu"]
        self.cure_first: list[str] = data["cure_first"]
        self.numbers: dict[str, dict[str, str]] = data["numbers"]
        self.texts: dict[str, dict[str, str]] = data["texts"]
        self.recipes: dict[str, Data] = data["recipes"]

    @cached_property
    def by_id(self) -> dict[str, Data]:
        """Rules (signatures and codes) by id."""
        return {rule["id"]: rule for rule in self.rules}

    @cached_property
    def table(self) -> dict[str, Data]:
        """Compatibility tables by name."""
        return {table["table"]: table for table in self.tables}

    @cached_property
    def competing(self) -> frozenset[str]:
        """The causes that exclude one another: all but the harmless ones."""
        return frozenset(name for name, cause in self.causes.items() if cause["severity"] != "benign")

    @cached_property
    def in_field(self) -> frozenset[str]:
        """The causes of this field that are worth a diagnosis: neither harmless nor 'not about the GPU'."""
        return self.competing - self.off_field

    @cached_property
    def off_field(self) -> frozenset[str]:
        """The causes that stand for 'this is not about the GPU': fatal, though of the harmless family."""
        return frozenset(
            name for name, cause in self.causes.items() if cause["family"] == "benign" and cause["severity"] == "fatal"
        )

    @cached_property
    def _products(self) -> list[tuple[str, str]]:
        rows = [row for table in self.tables if table["table"] == "libraries" for row in table["rows"]]
        return sorted(((row["key"].lower(), row["product"]) for row in rows), key=lambda pair: -len(pair[0]))

    def codes(self, library: str) -> dict[str, str]:
        """The names of the codes of ``library`` by number (decimal, as text)."""
        return self.numbers.get(library, {})

    def code(self, library: str, number: str) -> str | None:
        """The name of the code of ``library`` that has this number."""
        return self.codes(library).get(number)

    def code_of_text(self, library: str, text: str) -> str | None:
        """The name of the code of ``library`` with whose fixed error string ``text`` begins; the longest such string counts."""
        texts, squeezed = self.texts.get(library, {}), squeeze(text)
        return texts.get(max((t for t in texts if squeezed.startswith(t)), key=len, default=""))

    def placed(self, value: Value) -> Value:
        """``value``, with the product it belongs to where it is a library's name."""
        if not isinstance(value, Soname):
            return value
        stem = value.stem.lower()
        product = next((product for key, product in self._products if stem.startswith(key)), "")
        return Soname(value.text, value.stem, value.version, value.dir, product)


def source_rules() -> Path | None:
    """The rules/ folder of the source tree this package is run from, if it is."""
    folder = Path(__file__).resolve().parents[3] / "rules"
    return folder if (folder / "signatures").is_dir() else None


def compile_folders(folders: Sequence[Path]) -> Data:
    """Compile rule folders. Raises KnowledgeError that lists every problem with file, line and field."""
    from . import compiling, rulebook

    book = rulebook.read(folders)
    data = compiling.compile_rulebook(book)
    if book.problems:
        raise KnowledgeError(compiling.problems_text(book.problems))
    return data


@contextmanager
def shipped_rules() -> Iterator[Path]:
    """The folder of the shipped rules: of the source tree, or the copy that the package carries."""
    tree = source_rules()
    if tree is not None:
        yield tree
    else:
        with resources.as_file(resources.files("cudnn_triage").joinpath("rules")) as folder:
            yield folder


@lru_cache(maxsize=8)
def load(extra: tuple[Path, ...] = ()) -> Knowledge:
    """The shipped knowledge base, with the rules of ``extra`` folders added; same ids override.

    Raises KnowledgeError, with every problem's file, line and field, where a rule cannot be used.
    """
    if not extra and source_rules() is None:
        return Knowledge(json.loads(resources.files("cudnn_triage").joinpath(COMPILED).read_bytes()))
    with shipped_rules() as shipped:
        return Knowledge(compiled((shipped, *extra), compile_folders))
