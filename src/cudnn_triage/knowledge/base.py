"""The compiled knowledge base as the engine uses it: opened from the package or a source tree, shared, read-only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial

from ..values import Soname, Value, squeeze
from .indexes import Anchors, Runs
from .literals import Literals
from .store import Deferred, Names, Records, Rules, Store, Texts

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
        self.field_marks = [mark.encode() for mark in core["field_marks"]]
        """Words and names of this field, squeezed (but those told by a space); where none stands in a log it is of another."""
        self.error_words: list[str] = core["error_words"]
        self.weights: dict[str, float] = core["weights"]
        self.rules = Rules(store)
        self.by_id = self.rules.by_id
        """Rules (signatures and codes) by id."""
        self.anchors = Anchors(store)
        self.runs = Runs(store)
        self.literals = Literals(store)
        self.tables: list[Data] = [
            Deferred(head, partial(_rows, store, f"table {head['table']}")) for head in core["tables"]
        ]
        light: dict[str, tuple[str, str, list[Data]]] = core["causes"]
        self.families = {name: family for name, (family, _, _) in light.items()}
        self.evidence = [(name, item) for name, (_, _, evidence) in light.items() for item in evidence]
        """The conditions that speak for or against a cause by themselves, with the cause."""
        self.competing = frozenset(name for name, (_, severity, _) in light.items() if severity != "benign")
        """The causes that exclude one another: all but the harmless ones."""
        self.off_field = frozenset(
            name for name, (family, severity, _) in light.items() if family == "benign" and severity == "fatal"
        )
        """The causes that stand for 'this is not about the GPU': fatal, though of the harmless family."""
        self._names = list(light)
        self._fixes = Texts(store, "fixes")
        self.causes = Records({name: at for at, name in enumerate(self._names)}, self._cause)

    def _cause(self, number: int) -> Data:
        """A cause; of its fixes only the gates are decoded, each of the others' when it is asked for."""
        cause: Data = self._store.json(f"cause {self._names[number]}")
        first, gates = cause["fixes"]
        decode = self._fixes.json
        cause["fixes"] = [Deferred({"gate": gate}, partial(decode, at)) for at, gate in enumerate(gates, first)]
        return cause

    @cached_property
    def _waiting(self) -> dict[str, list[int]]:
        """For each name of a fact, signature or cause, the conditions that wait for it; under "" those that wait for nothing."""
        waiting: dict[str, list[int]] = {}
        for number, (_, item) in enumerate(self.evidence):
            for name in [""] if item["needs_any"] is None else item["needs_any"]:
                waiting.setdefault(name, []).append(number)
        return waiting

    def evidence_of(self, there: Iterable[str]) -> list[tuple[str, Data]]:
        """Those of ``evidence`` that can hold where these facts, signatures and causes are all there is."""
        numbers = {number for name in ("", *there) for number in self._waiting.get(name, ())}
        return [self.evidence[number] for number in sorted(numbers)]

    @cached_property
    def in_field(self) -> frozenset[str]:
        """The causes of this field that are worth a diagnosis: neither harmless nor 'not about the GPU'."""
        return self.competing - self.off_field

    @cached_property
    def general(self) -> list[Data]:
        """The rules that are asked of what nothing else explains (``in: unexplained``)."""
        return [self.by_id[name] for name in self._store.words("general")]

    @cached_property
    def hunches(self) -> Data | None:
        """The head of the model of words: causes, what each has by itself, why it is believed; None where there is no model."""
        found: Data | None = self._store.json("hunches")
        return found

    @cached_property
    def hunch_rows(self) -> Mapping[str, Sequence[float]]:
        """For each word of the model how rare it is, then numbers of causes, each with the weight of the word for it."""
        return Records(Names(self._store, "hunch words"), Texts(self._store, "hunch rows").json)

    @cached_property
    def table(self) -> dict[str, Data]:
        """Compatibility tables by name."""
        return {table["table"]: table for table in self.tables}

    @cached_property
    def libraries(self) -> dict[str, Data]:
        """The libraries whose codes are known: title, and how their codes are written."""
        found: dict[str, Data] = self._store.json("libraries")
        return found

    @cached_property
    def probes(self) -> dict[str, Data]:
        """The probes by id."""
        found: dict[str, Data] = self._store.json("probes")
        return found

    @cached_property
    def settings(self) -> Data:
        """Lists that several probes work through."""
        found: Data = self._store.json("settings")
        return found

    @cached_property
    def elsewhere(self) -> list[Data]:
        """Conditions under which readings are not of the machine that the log is from."""
        found: list[Data] = self._store.json("elsewhere")
        return found

    @cached_property
    def no_gpu(self) -> list[Any] | None:
        """A condition on readings under which there is no GPU to compete for."""
        found: list[Any] | None = self._store.json("no_gpu")
        return found

    @cached_property
    def cure_first(self) -> list[str]:
        """Families of causes, in the order in which several faults of a machine are best cured."""
        found: list[str] = self._store.json("cure_first")
        return found

    @cached_property
    def recipes(self) -> dict[str, Data]:
        """What the solver knows of each framework."""
        found: dict[str, Data] = self._store.json("recipes")
        return found

    @cached_property
    def facts(self) -> Records:
        """The declared facts: type, title and the command that reads them."""
        return Records(Names(self._store, "fact names"), Texts(self._store, "facts").json)

    @cached_property
    def code_names(self) -> dict[str, str]:
        """The names of status codes, by their lower-case form."""
        return {name.lower(): name for name in self._store.words("codes")}

    @cached_property
    def numbers(self) -> dict[str, dict[str, str]]:
        """The names of codes, by library and number (decimal, as text)."""
        found: dict[str, dict[str, str]] = self._store.json("numbers")
        return found

    @cached_property
    def texts(self) -> dict[str, dict[str, str]]:
        """The names of codes, by library and squeezed error string."""
        found: dict[str, dict[str, str]] = self._store.json("texts")
        return found

    @cached_property
    def _products(self) -> list[tuple[str, str]]:
        rows = self.table["libraries"]["rows"] if "libraries" in self.table else ()
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


def _rows(store: Store, name: str) -> Data:
    return {"rows": store.json(name)}


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

    Raises KnowledgeError, with every problem's file, line and field, where a rule cannot be used, and TypeError for one
    folder that is not in a tuple.
    """
    if isinstance(extra, (str, os.PathLike)):
        raise TypeError(f"expected a tuple of folders, got {type(extra).__name__}: load(({os.fspath(extra)!r},))")
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
