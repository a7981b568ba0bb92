"""The compiled knowledge base as the engine uses it: opened from the package or a source tree, shared, read-only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial

from ..values import Soname, Value, squeeze
from .indexes import Anchors, Runs
from .literals import Literals
from .store import Deferred, Records, Rules, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    Data = dict[str, Any]

COMPILED = "knowledge.bin"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class KnowledgeError(Exception):
    """The knowledge base cannot be used; the message lists what is wrong with which file."""


class Knowledge:
    """A compiled knowledge base: what compiling gives, or the bytes of a store of it. It never changes; threads may share it."""

    def __init__(self, data: Data | bytes | memoryview) -> None:
        if isinstance(data, dict):
            from .packing import pack

            data = pack(data)
        self.packed = data
        """The bytes of its store."""
        self._store = store = Store(data)
        core = store.json("core")
        self.digest: str = store.digest
        self.field_words: list[str] = core["field_words"]
        self.error_words: list[str] = core["error_words"]
        self.weights: dict[str, float] = core["weights"]
        self.rules = Rules(store)
        self.by_id = self.rules.by_id
        """Rules (signatures and codes) by id."""
        self.anchors = Anchors(store)
        self.runs = Runs(store)
        self.literals = Literals(store)
        self.tables: list[Data] = [
            Deferred(head, "rows", partial(store.json, f"table {head['table']}")) for head in core["tables"]
        ]
        light: dict[str, tuple[str, str, list[Data]]] = core["causes"]
        self.families = {name: family for name, (family, _, _) in light.items()}
        self.evidence = [(name, evidence) for name, (_, _, evidence) in light.items() if evidence]
        """The conditions that speak for or against a cause by themselves."""
        self.competing = frozenset(name for name, (_, severity, _) in light.items() if severity != "benign")
        """The causes that exclude one another: all but the harmless ones."""
        self.off_field = frozenset(
            name for name, (family, severity, _) in light.items() if family == "benign" and severity == "fatal"
        )
        """The causes that stand for 'this is not about the GPU': fatal, though of the harmless family."""
        names = list(light)
        self.causes = Records({name: at for at, name in enumerate(names)}, lambda at: store.json(f"cause {names[at]}"))

    @cached_property
    def facts(self) -> dict[str, Data]:
        """The declared facts: type, title and the command that reads them."""
        found: dict[str, Data] = self._store.json("facts")
        return found

    @cached_property
    def code_names(self) -> dict[str, str]:
        """The names of status codes, by their lower-case form."""
        return {name.lower(): name for name in self._store.words("codes")}

    @cached_property
    def _numbers(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = self._store.json("numbers")
        return found

    @cached_property
    def _texts(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = self._store.json("texts")
        return found

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


def source_rules() -> str | None:
    """The rules/ folder of the source tree this package is run from, if it is."""
    folder = os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "rules")
    return folder if os.path.isdir(os.path.join(folder, "signatures")) else None


def compile_folders(folders: Sequence[str | Path]) -> Data:
    """Compile rule folders. Raises KnowledgeError that lists every problem with file, line and field."""
    from pathlib import Path

    from . import compiling, rulebook

    book = rulebook.read([Path(folder) for folder in folders])
    data = compiling.compile_rulebook(book)
    if book.problems:
        raise KnowledgeError(compiling.problems_text(book.problems))
    return data


def shipped_rules() -> AbstractContextManager[Path]:
    """The folder of the shipped rules: of the source tree, or the copy that the package carries."""
    from contextlib import contextmanager
    from importlib import resources
    from pathlib import Path

    @contextmanager
    def folder() -> Iterator[Path]:
        tree = source_rules()
        if tree is not None:
            yield Path(tree)
        else:
            with resources.as_file(resources.files("cudnn_triage").joinpath("rules")) as carried:
                yield carried

    return folder()


@lru_cache(maxsize=8)
def load(extra: tuple[str | Path, ...] = ()) -> Knowledge:
    """The shipped knowledge base, with the rules of ``extra`` folders added; same ids override.

    Raises KnowledgeError, with every problem's file, line and field, where a rule cannot be used.
    """
    shipped = None if source_rules() else _carried()
    if shipped is not None and not extra:
        return Knowledge(shipped)
    from .cache import compiled

    with shipped_rules() as rules:
        known = Store(shipped).digest if shipped is not None else ""
        return Knowledge(compiled(rules, [os.fspath(folder) for folder in extra], compile_folders, known))


def _carried() -> memoryview | None:
    """The compiled rules that the package carries, mapped: only what is used is read."""
    import mmap

    try:
        with open(os.path.join(_PACKAGE, COMPILED), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        return None
