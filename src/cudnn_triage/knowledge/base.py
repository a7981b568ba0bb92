"""The compiled knowledge base as the engine uses it: loaded from the package or a source tree, shared, read-only."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..values import Soname, Value, squeeze

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
        self._numbers: dict[str, dict[str, str]] = data["numbers"]
        self._texts: dict[str, dict[str, str]] = data["texts"]

    @cached_property
    def by_id(self) -> dict[str, Data]:
        """Rules (signatures and codes) by id."""
        return {rule["id"]: rule for rule in self.rules}

    @cached_property
    def _products(self) -> list[tuple[str, str]]:
        rows = [row for table in self.tables if table["table"] == "libraries" for row in table["rows"]]
        return sorted(((row["key"].lower(), row["product"]) for row in rows), key=lambda pair: -len(pair[0]))

    def code(self, library: str, number: str) -> str | None:
        """The name of the code of ``library`` that has this number."""
        return self._numbers.get(library, {}).get(number)

    def numbered(self, number: str) -> list[tuple[str, str]]:
        """(library, name) of every code that has this number, decimal or hexadecimal."""
        try:
            decimal = str(int(number, 0))
        except ValueError:
            return []
        return [(library, names[decimal]) for library, names in self._numbers.items() if decimal in names]

    def code_of_text(self, library: str, text: str) -> str | None:
        """The name of the code of ``library`` with whose fixed error string ``text`` begins; the longest such string counts."""
        texts, squeezed = self._texts.get(library, {}), squeeze(text)
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


def digest(folders: Iterable[Path], pattern: str = "*.yaml") -> str:
    """A hash of the names and contents of all files of these folders: the identity of a knowledge base."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob(pattern)):
            total.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()[:12]


def compile_folders(folders: Sequence[Path]) -> Data:
    """Compile rule folders. Raises KnowledgeError that lists every problem with file, line and field."""
    from . import compiling, rulebook

    book = rulebook.read(folders)
    data = compiling.compile_rulebook(book)
    if book.problems:
        raise KnowledgeError(compiling.problems_text(book.problems))
    return data


def _cache_file(digest: str) -> Path:
    from .. import __version__

    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "cudnn-triage" / f"{__version__}-{digest}.json"


def _cached(folders: Sequence[Path]) -> Data:
    """Compile ``folders``, or take the result of an earlier run over the same contents and code."""
    code = digest([Path(__file__).parent], "*.py")
    file = _cache_file(f"{digest(folders)}-{code}")
    try:
        data: Data = json.loads(file.read_bytes())
        return data
    except (OSError, ValueError):
        data = compile_folders(folders)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".tmp", delete=False, encoding="utf-8") as out:
            json.dump(data, out)
        os.replace(out.name, file)
    except OSError:
        pass  # a read-only home only costs the time to compile again
    return data


@lru_cache(maxsize=8)
def load(extra: tuple[Path, ...] = ()) -> Knowledge:
    """The shipped knowledge base, with the rules of ``extra`` folders added; same ids override.

    Raises KnowledgeError, with every problem's file, line and field, where a rule cannot be used.
    """
    packaged = resources.files("cudnn_triage").joinpath(COMPILED)
    tree = source_rules()
    if tree is not None:
        return Knowledge(_cached((tree, *extra)))
    if not extra:
        return Knowledge(json.loads(packaged.read_bytes()))
    shipped = resources.files("cudnn_triage").joinpath("rules")
    with resources.as_file(shipped) as folder:
        return Knowledge(_cached((folder, *extra)))
