"""Labelled logs: NAME.log beside NAME.yaml (corpus/), or one YAML file that holds the log itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..knowledge.yamlfile import Document, Problem, load


@dataclass(frozen=True)
class Labelled:
    """One log and the root causes known to be behind it; no gold cause means that nothing is wrong at all."""

    id: str
    log: bytes
    gold: tuple[str, ...]
    acceptable: tuple[str, ...]
    group: str
    blind: str = ""  # the first answer ever given, before any rule was changed for this log; "" where not recorded
    blind_confidence: float = 0.0


def read_folder(folder: Path) -> list[Labelled]:
    """All labelled logs below ``folder``, by id. Raises Problem where a label cannot be read."""
    found: list[Labelled] = []
    for path in sorted(folder.rglob("*.yaml")):
        document = load(path)
        data = document.data
        if not isinstance(data, dict) or "gold" not in data:
            raise document.problem("$", "a label needs 'gold': the root causes, first = primary")
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
        blind = data.get("blind")
        said, confidence = _blind(blind, document) if blind else ("", 0.0)
        gold = tuple(data["gold"])
        found.append(Labelled(name, log, gold, tuple(acceptable), path.parent.name, said, confidence))
    if not found:
        raise Problem(str(folder), 0, "", "no labelled logs (*.yaml) here")
    return found


def _blind(data: object, document: Document) -> tuple[str, float]:
    if not isinstance(data, dict) or not data.get("said"):
        raise document.problem("$.blind", "expected {said: CAUSE, confidence: '0.93', date: YYYY-MM-DD}")
    try:
        return data["said"], float(data.get("confidence") or 0.0)
    except ValueError:
        raise document.problem("$.blind.confidence", f"expected a number, got {data['confidence']!r}") from None
