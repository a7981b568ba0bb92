"""Facts: typed values with a dotted name, an origin and a place; and the set of them that conditions are asked of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .light import record
from .values import Value, attribute, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .vocabulary import Origin

OF_THE_LOG = "log."  # before a fact's name, where it would otherwise mean the reading of a probe


@record(frozen=True, slots=True)
class Fact:
    """One reading. ``origin`` is "log", "local" (a probe on this machine), "table" (worked out from a compatibility table)
    or "structure" (how the log's lines hang together)."""

    name: str
    value: Value
    origin: Origin = "log"
    line: int = 0  # 1-based raw line, 0 where the fact has no place

    @property
    def text(self) -> str:
        """The value as printed in reports and commands."""
        return show(self.value)


def covers(patterns: Iterable[str], name: str) -> bool:
    """Whether a list of fact names holds ``name``; 'package.*' in it stands for all that begin so."""
    return any(name == p or (p.endswith(".*") and name.startswith(p[:-1])) for p in patterns)


class Facts:
    """The facts of one log, by name, in order of appearance. Scopes nest: a signature's own captures come first."""

    def __init__(self, facts: Iterable[Fact] = (), parent: Facts | None = None) -> None:
        self._by_name: dict[str, list[Fact]] = {}
        self._known: set[tuple[str, Value]] = set()
        self._parent = parent
        self._values: dict[str, list[Value]] = {}  # answers given before
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add a reading, unless the same value is already known under this name."""
        if (fact.name, fact.value) not in self._known:
            self._known.add((fact.name, fact.value))
            self._by_name.setdefault(fact.name, []).append(fact)
            self._values.clear()

    def get(self, name: str) -> list[Fact]:
        """All readings of ``name``; of the innermost scope that has any."""
        found = self._by_name.get(name)
        if found is None and self._parent is not None:
            return self._parent.get(name)
        return found or []

    def find(self, name: str) -> list[Fact]:
        """All readings of ``name``, or of the fact whose attribute it is ('cudnn.loaded' for 'cudnn.loaded.major')."""
        found = self.get(name)
        stem = name.rpartition(".")[0]
        return found if found or not stem else self.find(stem)

    def values(self, name: str) -> list[Value]:
        """The distinct values of ``name``; ``name`` may end in an attribute ('cudnn.loaded.major')."""
        parent = self._parent
        if parent is not None and not self.tells(name):
            return parent.values(name)
        known = self._values.get(name)
        if known is None:
            known = self._values[name] = self._look(name)
        return known

    def of_all_scopes(self, name: str) -> list[Value]:
        """The distinct values of ``name`` here and in the scopes around: whether a thing differs is asked of the whole log."""
        own = self.values(name)
        if self._parent is None or not self.tells(name):
            return own
        return list(dict.fromkeys([*own, *self._parent.of_all_scopes(name)]))

    def tells(self, name: str) -> bool:
        """Whether this scope, without those around it, has a fact of this name, or one whose attribute it may be."""
        while name:
            if name in self._by_name:
                return True
            name = name.rpartition(".")[0]
        return False

    def _look(self, name: str) -> list[Value]:
        facts = self.get(name)
        if facts:
            return [fact.value for fact in facts]
        stem, _, last = name.rpartition(".")
        if not stem:
            return []
        found = (attribute(value, last) for value in self.values(stem))
        return list(dict.fromkeys(value for value in found if value is not None))

    def one(self, name: str) -> Value | None:
        """The value of ``name`` where there is exactly one, else None."""
        values = self.values(name)
        return values[0] if len(values) == 1 else None

    def before(self, parent: Facts) -> Facts:
        """These facts as a scope in which ``parent`` is asked about what they do not tell."""
        scope = Facts((), parent)
        scope._by_name = self._by_name
        return scope

    def names(self) -> set[str]:
        """The names of the facts of this scope, without those around it."""
        return set(self._by_name)

    def silence_is_no(self, name: str) -> bool:
        """Whether a fact that is not here is known not to be: a log has been read from end to end."""
        return True

    def __iter__(self) -> Iterator[Fact]:
        for facts in self._by_name.values():
            yield from facts


class Readings(Facts):
    """The scope of conditions that settle a cause: a name means the local reading, 'log.' and a name what the log says.

    A reading that is not here is unknown: its probe may not have run, or could not tell. Without a log, what it would say
    is unknown too.
    """

    def __init__(self, local: Facts, log: Facts | None) -> None:
        super().__init__()
        self._local, self._log = local, log

    def get(self, name: str) -> list[Fact]:
        """All readings of ``name``, from here or, where it begins with 'log.', from the log."""
        if not name.startswith(OF_THE_LOG):
            return self._local.get(name)
        if self._log is None:
            return []
        return self._log.get(name.removeprefix(OF_THE_LOG)) or self._log.get(name)

    @property
    def has_readings(self) -> bool:
        """Whether anything was read."""
        return any(True for _ in self._local)

    @property
    def has_log(self) -> bool:
        """Whether there is a log to compare with."""
        return self._log is not None

    def is_reading(self, name: str) -> bool:
        """Whether ``name`` is known, and from a machine."""
        return not name.startswith(OF_THE_LOG) and bool(self.values(name))

    def silence_is_no(self, name: str) -> bool:
        """Only of the log."""
        return name.startswith(OF_THE_LOG) and self._log is not None
