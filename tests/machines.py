"""Made-up machines for tests of the probe scripts: a folder that stands for '/', library files made byte by byte, and a way to run a probe on them."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.probing import bundle, readings

ENDING = b'if __name__ == "__main__":'
KEPT = ("PATH", "HOME", "SYSTEMROOT", "TMPDIR")
MACHINE = platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64")
FOLDER = f"{MACHINE}-linux-gnu"
MACHINES = {"x86_64": 62, "aarch64": 183, "i386": 3}


@cache
def knowledge() -> Knowledge:
    return load()


@dataclass
class Said:
    """What a probe said."""

    probe: str
    code: int
    lines: list[dict[str, Any]]
    errors: str

    def all(self, name: str) -> list[Any]:
        return [line["value"] for line in self.lines if line.get("fact") == name]

    def one(self, name: str) -> Any:
        values = self.all(name)
        assert len(values) <= 1, (name, values)
        return values[0] if values else None

    def records(self, kind: str) -> list[dict[str, Any]]:
        return [line["value"] for line in self.lines if line.get("record") == kind]

    @property
    def messages(self) -> str:
        return "\n".join(line["message"] for line in self.lines if "message" in line)

    @property
    def stages(self) -> list[str]:
        return [line["stage"] for line in self.lines if "stage" in line]

    @property
    def absent(self) -> str:
        return "".join(line["absent"] for line in self.lines if "absent" in line)


def examine(
    probe: str,
    root: Path | None = None,
    *,
    system: str = "",
    environ: Mapping[str, str] | None = None,
    python: str = sys.executable,
    flags: Sequence[str] = (),
    before: str = "",
    whole: bool = True,
) -> Said:
    """Run ``probe`` with ``root`` in the place of '/', as on operating system ``system``.

    ``before`` is run before the probe's main function. ``whole``: the probe must reach its end without a failed reading.
    """
    change = before
    if root is not None:
        change += f"\nROOT = {str(root)!r}"
    if system:
        change += f"\nOS = {system!r}"
    text = bundle.program(probe, knowledge())
    head, _, tail = text.rpartition(ENDING)
    clean = {name: os.environ[name] for name in KEPT if name in os.environ}
    run = subprocess.run(
        [python, *flags, "-"],
        input=head + change.encode() + b"\n" + ENDING + tail,
        capture_output=True,
        env={**clean, **(environ or {})},
        timeout=120,
        check=False,
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    said = Said(probe, run.returncode, lines, run.stderr.decode(errors="replace"))
    outcome = readings.Outcome(probe, "ok", "", 0.0, "", "", tuple(lines))
    assert readings.unusable([outcome], knowledge()) == []
    if whole:
        assert [line for line in lines if "trouble" in line or "error" in line] == []
        assert lines, said.errors
        assert lines[-1] == {"end": "ok"}, said.errors
    return said


def files(root: Path, contents: Mapping[str, str | bytes | None]) -> Path:
    """Write files below ``root``; None makes a folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        path = root / name.lstrip("/")
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def program(root: Path, name: str, script: str, folder: str = "usr/bin") -> Path:
    """An executable shell script /usr/bin/NAME below ``root``."""
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    path.chmod(0o755)
    return path


def library(
    path: Path,
    *,
    needed: Iterable[str] = (),
    soname: str = "",
    rpath: str = "",
    runpath: str = "",
    machine: str = MACHINE,
    names: Iterable[str] = (),
    release: tuple[int, int, int] | None = None,
    bits: int = 64,
    size: int = 0,
) -> Path:
    """A shared library's file with just what a loader looks at.

    ``release`` stands in a data symbol as cuDNN keeps it; ``names`` are symbol versions; ``size`` pads the file.
    """
    strings = bytearray(b"\0")

    def text(word: str) -> int:
        strings.extend(word.encode() + b"\0")
        return len(strings) - len(word.encode()) - 1

    dynamic = [(1, text(name)) for name in needed]
    dynamic += [(tag, text(word)) for tag, word in ((14, soname), (15, rpath), (29, runpath)) if word]
    versions = [text(name) for name in names]
    symbol = text("cudnn_graph_version")
    entry, start = 16, 64 + 2 * 56
    versions_at = start + entry * (len(dynamic) + 4)
    table_of_versions = b"".join(
        struct.pack("<HHHHIII", 1, 0, i + 1, 1, 0, 20, 28 if name != versions[-1] else 0) + struct.pack("<II", name, 0)
        for i, name in enumerate(versions)
    )
    strings_at = versions_at + len(table_of_versions)
    dynamic += [(0x6FFFFFFC if versions else 10, versions_at), (5, strings_at), (10, len(strings)), (0, 0)]
    body = b"".join(struct.pack("<qQ", tag, value) for tag, value in dynamic) + table_of_versions + bytes(strings)
    value_at = start + len(body)
    body += struct.pack("<I", release[0] << 16 | release[1] << 8 | release[2]) if release else b""
    symbols_at = start + len(body)
    body += struct.pack("<IBBHQQ", symbol, 1 << 4 | 1, 0, 1, value_at, 4) if release else b""
    table_at = start + len(body)
    table = struct.pack("<IIQQQQIIQQ", 0, 11, 2, symbols_at, symbols_at, 24, 0, 0, 8, 24) if release else b""
    total = table_at + len(table)
    head = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    ends = (table_at, 0, 64, 56, 2, 64, 1, 0) if table else (0, 0, 64, 56, 2, 64, 0, 0)
    head += struct.pack("<HHIQQQIHHHHHH", 3, MACHINES[machine], 1, 0, 64, *ends)
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    length = entry * len(dynamic)
    segments += struct.pack("<IIQQQQQQ", 2, 6, start, start, start, length, length, 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + segments + body + table + bytes(max(0, size - total)))
    return path


def loader_cache(root: Path, paths: Mapping[str, str]) -> None:
    """/etc/ld.so.cache below ``root``: name -> path."""
    strings = bytearray()
    entries = []
    base = 48 + 24 * len(paths)
    for name, place in paths.items():
        where = base + len(strings), base + len(strings) + len(name) + 1
        strings += name.encode() + b"\0" + place.encode() + b"\0"
        entries.append(struct.pack("<iIIIQ", 3, *where, 0, 0))
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(paths), len(strings)) + bytes(20)
    files(root, {"/etc/ld.so.cache": head + b"".join(entries) + bytes(strings)})


def wheel(
    site: Path,
    name: str,
    version: str,
    listed: Mapping[str, str | bytes] | None = None,
    requires: Iterable[str] = (),
) -> None:
    """An installed distribution with its metadata and files."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    rows = []
    for path, content in (listed or {}).items():
        data = content.encode() if isinstance(content, str) else content
        files(site, {path: data})
        rows.append(f"{path},sha256={zlib.crc32(data):x},{len(data)}")
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {text}" for text in requires)]
    metadata = "Metadata-Version: 2.1\n" + "\n".join(lines) + "\n"
    files(info, {"METADATA": metadata, "RECORD": "\n".join([*rows, f"{info.name}/METADATA,,"]) + "\n"})


def compiled(path: Path, source: str, *flags: str) -> Path:
    """A real shared library from C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    code = path.parent / (path.name + ".c")
    code.write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, code, *flags], check=True, capture_output=True)
    code.unlink()
    return path


def has_compiler() -> bool:
    return sys.platform == "linux" and shutil.which("gcc") is not None


def opens(name: str) -> bool:
    """Whether the loader of this machine finds a library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
