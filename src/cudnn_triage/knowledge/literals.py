"""What the scan of a large log looks for, as one Hyperscan database: the literal text of every rule, and what tells of failures.

The database is compiled with the rules and loaded as it is; where it does not fit the processor or the release of Hyperscan, it is
compiled once more and kept in the user's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from .store import Listed, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hyperscan

    from .store import Store

LONGEST = 40
"""Letters of a literal that are looked for."""

COUNTED = 16
"""Letters from which on every place of a literal is counted; shorter ones may stand everywhere and are told once for each block."""


def literal_sections(texts: Iterable[str], signs: Iterable[str]) -> dict[str, bytes]:
    """The literals of templates (``texts``, by template number) and what else to look for, and the database of all."""
    templates: dict[str, list[int]] = {sign.lower(): [] for sign in signs}
    for number, text in enumerate(texts):
        if not text:
            continue
        templates.setdefault(scanned(text), []).append(number)
    words = list(templates)
    return {
        "scan": compiled(words),
        "scan.words": "\n".join(words).encode(),
        **listed("scan.templates", list(templates.values())),
    }


def scanned(text: str) -> str:
    """The part of a template's literal that the scan looks for: the beginning of its longest line, in lower case."""
    line = max((" ".join(line.split()) for line in text.split("\n")), key=len)
    return line[:LONGEST].lower().rstrip()


def compiled(words: list[str]) -> bytes:
    """The serialised database of these literals; empty where this Python has no Hyperscan."""
    try:
        import hyperscan
    except ImportError:
        return b""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    once = hyperscan.HS_FLAG_SINGLEMATCH
    if words:
        database.compile(
            expressions=[word.encode() for word in words],
            ids=list(range(len(words))),
            elements=len(words),
            flags=[hyperscan.HS_FLAG_CASELESS | (once if len(word) < COUNTED else 0) for word in words],
            literal=True,
        )
    return hyperscan.dumpb(database) if words else b""


class Literals:
    """The literals that the scan looks for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def words(self) -> list[str]:
        """The literals, in lower case."""
        return self._store.words("scan.words")

    @cached_property
    def _templates(self) -> Listed:
        return Listed(self._store, "scan.templates")

    def templates(self, literal: int) -> Sequence[int]:
        """The templates that this is a literal of; none for what stands in any failure."""
        return self._templates[literal]

    @cached_property
    def database(self) -> hyperscan.Database:
        """The database, ready to scan. Raises ImportError where this Python has no Hyperscan."""
        import hyperscan

        packed = bytes(self._store.section("scan"))
        try:
            return hyperscan.loadb(packed, hyperscan.HS_MODE_BLOCK)
        except hyperscan.error:
            return hyperscan.loadb(self._recompiled(), hyperscan.HS_MODE_BLOCK)

    def _recompiled(self) -> bytes:
        import platform
        from importlib.metadata import version

        from .cache import kept

        parts = (self._store.digest, len(self.words), version("hyperscan"), platform.machine(), platform.processor())
        name = "-".join(map(str, parts)).replace("/", "").replace(" ", "")
        return kept(f"{name[:150]}.scan", lambda: compiled(self.words))
