"""Small knowledge bases made from text, so that tests of the engine do not depend on the shipped rules."""

from __future__ import annotations

import importlib
import io
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from cudnn_triage.engine import Triager
from cudnn_triage.knowledge.base import Knowledge, compile_folders

Write = Callable[..., Path]

settings.register_profile("unhurried", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("unhurried")

CAUSE = """
id: {id}
title: Cause {id}
family: {family}
severity: {severity}
explanation: Because of {id}.
{more}
"""

SIGNATURE = """
id: {id}
title: Message {id}
templates:
{templates}
{more}
examples: [x]
near_misses: [y]
source: tests
read: 2026-11-20
"""


class Rules:
    """A folder of rules under construction."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "signatures").mkdir(parents=True)

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def cause(self, name: str, more: str = "", family: str = "library", severity: str = "fatal") -> None:
        text = CAUSE.format(id=name, family=family, severity=severity, more=more)
        self.file(f"causes/{family}/{name}.yaml", text)

    def signature(self, name: str, *templates: str, more: str = "") -> None:
        listed = "\n".join(f"  - {_quoted(t)}" for t in templates)
        self.file(f"signatures/test/{name}.yaml", SIGNATURE.format(id=name, templates=listed, more=more))

    def points(self, name: str, template: str, cause: str, strength: str = "strong", more: str = "") -> None:
        self.signature(name, template, more=f"points_to: [{{cause: {cause}, strength: {strength}}}]\n{more}")

    def facts(self, **types: str) -> None:
        rows = "\n".join(f"  {name.replace('__', '.')}: {{type: {kind}, title: t}}" for name, kind in types.items())
        listed = f"facts:\n{rows}\n" if types else ""
        self.file("facts/test.yaml", f"area: test\n{listed}field_words: [cuda, gpu]\nerror_words: [error, failed]\n")

    def knowledge(self) -> Knowledge:
        return Knowledge(compile_folders([self.folder]))

    def triager(self) -> Triager:
        return Triager(self.knowledge())


def script(name: str) -> ModuleType:
    """One of scripts/ as a module."""
    folder = Path(__file__).resolve().parents[1] / "scripts"
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module(name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'" if "\n" not in text else "|-\n      " + text.replace("\n", "\n      ")


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    """An empty folder of rules."""
    return Rules(tmp_path / "rules")


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def heed_interrupts() -> None:
    """Before a program starts that the test interrupts: one started in the background of a shell would ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
