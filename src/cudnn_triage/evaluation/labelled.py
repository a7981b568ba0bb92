"""Labelled logs: NAME.log beside NAME.yaml (corpus/), or one YAML file that holds the log itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..knowledge.yamlfile import Document, Problem, load
from ..loggers import MONTHS

_MONTH = rf"(?:{MONTHS})[a-z]*"
_YEAR = re.compile(rf"\b(20[12]\d)[-/][01]\d[-/][0-3]\d|\b{_MONTH} +\d{{1,2}},? +(?:[\d:]{{5,8}} +)?(20[12]\d)\b")


@dataclass(frozen=True)
class Recorded:
    """An answer that a label keeps: the causes, best first, and how sure the first was."""

    said: tuple[str, ...]  # ("nothing",) where no cause was named
    confidence: float = 0.0  # probability, 0..1
    date: str = ""  # when it was given, YYYY-MM-DD


@dataclass(frozen=True)
class Labelled:
    """One log and the root causes known to be behind it; no gold cause means that nothing is wrong at all."""

    id: str
    log: bytes
    gold: tuple[str, ...]
    acceptable: tuple[str, ...]
    group: str
    blind: Recorded | None = None  # the first answer ever given, before any rule was changed for this log
    expert: Recorded | None = None  # what a reader said who saw nothing but the log
    source: str = ""  # where the log comes from: an address, or how it was made
    dated: int | None = None  # the year that the label gives

    @property
    def year(self) -> int | None:
        """The label's year, else the one that most time stamps of a log from a public thread show; None without either."""
        if self.dated or not self.source.startswith("https://"):
            return self.dated
        years = Counter(int(a or b) for a, b in _YEAR.findall(self.log.decode("utf-8", "replace")))
        return max(years, key=lambda year: (years[year], year)) if years else None


def read_folder(folder: Path) -> list[Labelled]:
    """All labelled logs below ``folder``, by id. Raises Problem where a label cannot be read."""
    found: list[Labelled] = []
    for path in sorted(folder.rglob("*.yaml")):
        document = load(path)
        if not isinstance(document.data, dict) or "gold" not in document.data:
            raise document.problem("$", "a label needs 'gold': the root causes, first = primary")
        found.append(_labelled(path, folder, document))
    if not found:
        raise Problem(str(folder), 0, "", "no labelled logs (*.yaml) here")
    return found


def label(path: Path, folder: Path) -> Labelled | None:
    """The labelled log of one YAML file; None where the file is no label. Raises Problem where a label cannot be used."""
    try:
        document = load(path)
    except Problem:
        return None
    if not isinstance(document.data, dict) or "gold" not in document.data:
        return None
    return _labelled(path, folder, document)


def _labelled(path: Path, folder: Path, document: Document) -> Labelled:
    data: dict[str, Any] = document.data
    beside = path.with_suffix(".log")
    if beside.exists():
        log = beside.read_bytes()
    elif isinstance(data.get("log"), str):
        log = data["log"].encode()
    else:
        raise document.problem("$.log", f"no log: neither here nor in {beside.name}")
    if not isinstance(data["gold"], list):
        raise document.problem("$.gold", "expected a list of causes; empty where nothing is wrong at all")
    name = str(path.relative_to(folder).with_suffix("").as_posix())
    acceptable = data.get("acceptable") or []
    blind, expert = (_recorded(name, document) for name in ("blind", "expert"))
    if expert and not (blind and isinstance(data["blind"]["said"], list)):
        told = "beside an expert's answer stands all that the tool said, [CAUSE, ...], so that the two can be compared"
        raise document.problem("$.expert", told)
    year = data.get("year")
    if year is not None and not str(year).isdecimal():
        raise document.problem("$.year", f"expected the year of the log, such as 2021; got {year!r}")
    return Labelled(
        name,
        log,
        tuple(data["gold"]),
        tuple(acceptable),
        path.parent.name,
        blind,
        expert,
        str(data.get("source", "")),
        int(year) if year is not None else None,
    )


def _recorded(name: str, document: Document) -> Recorded | None:
    if name not in document.data:
        return None
    data = document.data[name]
    said = data.get("said") if isinstance(data, dict) else None
    if not said or not isinstance(said, str | list):
        told = "expected {said: [CAUSE, CAUSE, CAUSE], confidence: '0.93', date: YYYY-MM-DD}, best first"
        raise document.problem(f"$.{name}", told)
    try:
        confidence = float(data.get("confidence") or 0.0)
    except ValueError:
        raise document.problem(f"$.{name}.confidence", f"expected a number, got {data['confidence']!r}") from None
    return Recorded((said,) if isinstance(said, str) else tuple(said), confidence, str(data.get("date", "")))
