"""The compiled knowledge base as one file, of which a run decodes only what its log asks for: the rules that matched, their causes.

A magic line, the length of a header, the header (JSON: digest, and offset and length of each section), the sections. Sections are
JSON or arrays of numbers, least byte first; below the classes that read them stand the functions that write them.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Data = dict[str, Any]

MAGIC = b"cudnn-triage knowledge 3\n"


class Store:
    """A compiled knowledge base. Raises ValueError for bytes that are none, or were cut short."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        self._buffer = memoryview(buffer)
        at = len(MAGIC)
        if self._buffer[:at] != MAGIC:
            raise ValueError("no compiled knowledge base of this version")
        size = int.from_bytes(self._buffer[at : at + 8], "little")
        header = json.loads(bytes(self._buffer[at + 8 : at + 8 + size]))
        self.digest: str = header["digest"]
        self._start = at + 8 + size
        self._sections: dict[str, list[int]] = header["sections"]
        if len(self._buffer) != self._start + header["size"]:
            raise ValueError("the compiled knowledge base is cut short")

    def section(self, name: str) -> memoryview:
        """The bytes of a section; empty if there is none."""
        at, size = self._sections.get(name, (0, 0))
        return self._buffer[self._start + at : self._start + at + size]

    def json(self, name: str) -> Any:
        """What a section of JSON says."""
        return json.loads(bytes(self.section(name)))

    def ints(self, name: str, kind: str = "I") -> memoryview:
        """A section of numbers: "I" (4 bytes), "i" (with a sign), "Q" (8 bytes)."""
        view = self.section(name)
        if sys.byteorder == "big":
            swapped = array(kind, bytes(view))
            swapped.byteswap()
            return memoryview(swapped)
        return view.cast(kind)  # type: ignore[call-overload,no-any-return]

    def words(self, name: str) -> list[str]:
        """A section of lines."""
        text = bytes(self.section(name)).decode()
        return text.split("\n") if text else []


class Texts:
    """Records by number, most of them JSON."""

    def __init__(self, store: Store, name: str) -> None:
        self._text = store.section(name)
        self._at = store.ints(f"{name}.at")

    def __len__(self) -> int:
        return len(self._at) - 1 if self._at else 0

    def raw(self, number: int) -> bytes:
        """A record as it is."""
        return bytes(self._text[self._at[number] : self._at[number + 1]])

    def json(self, number: int) -> Any:
        """What a record says."""
        return json.loads(self.raw(number))


class Listed:
    """Lists of numbers, by number."""

    def __init__(self, store: Store, name: str) -> None:
        self._at = store.ints(f"{name}.at")
        self._numbers = store.ints(name)

    def __len__(self) -> int:
        return len(self._at) - 1

    def __getitem__(self, index: int) -> Sequence[int]:
        return self._numbers[self._at[index] : self._at[index + 1]]


class Names(Mapping[str, int]):
    """The numbers of many names, of which a run asks for few: they are looked up where they lie, by a hash."""

    def __init__(self, store: Store, name: str) -> None:
        self._names = Texts(store, name)
        self._hashed = Listed(store, f"{name}.hashed")

    def __getitem__(self, name: str) -> int:
        sought = name.encode("utf-8", "surrogatepass")
        places = len(self._hashed)
        for number in self._hashed[_hash(sought, places)] if places > 0 else ():
            if self._names.raw(number) == sought:
                return number
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (self._names.raw(number).decode("utf-8", "surrogatepass") for number in range(len(self)))

    def __len__(self) -> int:
        return len(self._names)


class Records(Mapping[str, "Any"]):
    """Records by name, each decoded when it is first asked for."""

    def __init__(self, names: Mapping[str, int], decode: Callable[[int], Any]) -> None:
        self._names = names
        self._decode = decode
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._decode(self._names[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Deferred(dict[str, "Any"]):
    """A record of which a part is decoded when something of it is first asked for by name."""

    __slots__ = ("_decode",)

    def __init__(self, record: Data, decode: Callable[[], Data]) -> None:
        super().__init__(record)
        self._decode = decode

    def __missing__(self, key: str) -> Any:
        self.update(self._decode())
        if key not in self:
            raise KeyError(key)
        return self[key]


class Rules:
    """The rules (signatures and codes) of a store and their templates, both also by number."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules = Texts(store, "rules")
        self._templates = Texts(store, "templates")
        self._wants = Texts(store, "wants")
        self._first = store.ints(
            "rules.first"
        )  # number of each rule's first template; rules without any share the next one's
        self._known: dict[int, Data] = {}
        self._known_templates: dict[int, tuple[Data, Data]] = {}

    def __len__(self) -> int:
        return len(self._first) - 1

    def __getitem__(self, number: int) -> Data:
        found = self._known.get(number)
        if found is None:
            first, last = self._first[number], self._first[number + 1]
            found = Deferred(
                self._rules.json(number), lambda: {"templates": [self.template(at)[1] for at in range(first, last)]}
            )
            self._known[number] = found
        return found

    @cached_property
    def by_id(self) -> Records:
        """Rules by id."""
        return Records(Names(self._store, "ids"), self.__getitem__)

    def __iter__(self) -> Iterator[Data]:
        return (self[number] for number in range(len(self)))

    def wants(self, number: int) -> list[list[bytes]]:
        """Lists of literals, squeezed, of each of which one stands in whatever a template matches, beside the one it is found by."""
        text = self._wants.raw(number)
        return [some.split(b"\0") for some in text.split(b"\n")] if text else []

    def template(self, number: int) -> tuple[Data, Data]:
        """A template, by its number among all, and the rule that it belongs to."""
        found = self._known_templates.get(number)
        if found is None:
            rule = self[bisect_right(self._first, number) - 1]
            found = self._known_templates[number] = (rule, self._templates.json(number))
        return found


def records(section: str, texts: Sequence[bytes]) -> dict[str, bytes]:
    """The sections of records, for Texts."""
    return {section: b"".join(texts), f"{section}.at": sums(map(len, texts))}


def listed(name: str, rows: Sequence[Iterable[int]]) -> dict[str, bytes]:
    """The sections of lists of numbers, for Listed."""
    numbers = [array("I", row) for row in rows]
    return {name: b"".join(row.tobytes() for row in numbers), f"{name}.at": sums(map(len, numbers))}


def name_sections(section: str, names: Iterable[str]) -> dict[str, bytes]:
    """The sections of names, each once, for Names."""
    texts = [name.encode("utf-8", "surrogatepass") for name in names]
    places: list[list[int]] = [[] for _ in range(len(texts) | 1)]
    for number, text in enumerate(texts):
        places[_hash(text, len(places))].append(number)
    return {**records(section, texts), **listed(f"{section}.hashed", places)}


def sums(sizes: Iterable[int]) -> bytes:
    """The running totals of sizes, from 0 on, as a section of numbers."""
    total = array("I", (0,))
    for size in sizes:
        total.append(total[-1] + size)
    return total.tobytes()


def _hash(text: bytes, places: int) -> int:
    """A place for a name, the same in every process; ``places`` is odd, so that all of its letters count."""
    return int.from_bytes(text, "little") % places
