"""What the package registry that pip is set up for knows: a package's wheels, a release's metadata, a wheel's content.

Everything goes through pip's own command line; no address is read from its output or kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import VERSION_PATTERN, Version

_WHEEL = re.compile(r"[\w.+!%-]+\.whl(?=[#\s])")
LINUX = (*(f"manylinux_2_{minor}" for minor in range(28, 4, -1)), "manylinux2014", "manylinux2010", "manylinux1")
"""Linux platform tags that pip is asked for, without the processor; newest first."""
OLDEST_PIP = Version("23.3")
"""The first pip whose report tells releases that were withdrawn (pip's NEWS, 23.3, #12224; read 2026-11-29)."""


@dataclass(frozen=True)
class Wheel:
    """One wheel file of the registry, by its name."""

    version: Version
    pythons: frozenset[str]  # '3.11'; empty: any Python 3
    platform: str  # 'linux-x86_64', 'windows-x86_64', 'macos-arm64', ...; empty: any
    glibc: str  # the oldest glibc that its tag allows, '' where it has none
    stable: bool  # abi3: works on newer Pythons too


def pip(*arguments: str) -> str | None:
    """What pip prints, or None where it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


@cache
def wheels(package: str) -> tuple[Wheel, ...]:
    """All wheels of a package, read from what pip says while it looks at them; early ones where there are no others."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", package, "-vv", "--ignore-requires-python", "--pre"],
        capture_output=True,
        text=True,
        check=False,
    )
    names = dict.fromkeys(found[0].replace("%2B", "+") for found in _WHEEL.finditer(done.stdout))
    finished = tuple(wheel for name in names for wheel in _wheel(name))
    return finished or tuple(wheel for name in names for wheel in _wheel(name, early=True))


def _wheel(name: str, *, early: bool = False) -> Iterator[Wheel]:
    try:
        _, version, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return
    if version.local or (version.is_prerelease and not early):
        return
    pythons = {_python(tag.interpreter) for tag in tags if tag.interpreter.startswith("cp")}
    if any(tag.abi.endswith("t") for tag in tags):  # the free-threaded interpreter is another one
        return
    stable = any(tag.abi == "abi3" for tag in tags)
    for platform, glibc in dict(sorted(map(_platform, {tag.platform for tag in tags}), reverse=True)).items():
        yield Wheel(version, frozenset(p for p in pythons if p), platform, glibc, stable)


def _python(interpreter: str) -> str:
    digits = interpreter.removeprefix("cp")
    return f"{digits[0]}.{digits[1:]}" if len(digits) > 1 and digits[0] == "3" else ""


_GLIBC = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_PROCESSORS = {"amd64": "x86_64", "win32": "x86", "intel": "x86_64"}


def _platform(tag: str) -> tuple[str, str]:
    """('linux-x86_64', '2.28') of manylinux_2_28_x86_64."""
    if tag == "any":
        return "", ""
    if found := re.match(r"manylinux_(\d+)_(\d+)_(\w+)$", tag):
        return f"linux-{found[3]}", f"{found[1]}.{found[2]}"
    if found := re.match(r"(manylinux\d+)_(\w+)$", tag):
        return f"linux-{found[2]}", _GLIBC[found[1]]
    if found := re.match(r"linux_(\w+)$", tag):
        return f"linux-{found[1]}", ""
    if tag.startswith("win"):
        processor = tag.removeprefix("win_")
        return f"windows-{_PROCESSORS.get(processor, processor)}", ""
    if found := re.match(r"macosx_\d+_\d+_(\w+)$", tag):
        return f"macos-{_PROCESSORS.get(found[1], found[1])}", ""
    return tag, ""


def releases(package: str) -> list[Version]:
    """The releases of a package that have wheels, newest first."""
    return sorted({wheel.version for wheel in wheels(package)}, reverse=True)


def sources(package: str) -> list[Version]:
    """The releases of a package that pip can build from source, newest first; names of old archives that are no versions left out."""
    listing = pip("index", "versions", package, "--ignore-requires-python") or ""
    found = re.search(r"Available versions: (.*)", listing)
    named = [text.strip() for text in found[1].split(",")] if found else []
    return [Version(text) for text in named if re.fullmatch(VERSION_PATTERN, text, re.VERBOSE | re.IGNORECASE)]


def target(python: str, platform: str = "linux-x86_64") -> list[str]:
    """pip's options for installing for another Python and platform."""
    tag = "cp" + python.replace(".", "")
    options = ["--python-version", python, "--implementation", "cp", "--only-binary=:all:"]
    for abi in (tag, f"{tag}m", "abi3", "none"):
        options += ["--abi", abi]
    system, _, processor = platform.partition("-")
    for name in LINUX if system == "linux" else ("",):
        options += ["--platform", f"{name}_{processor}" if name else {"windows": "win_amd64"}.get(system, system)]
    return options


def resolved(
    requirements: Sequence[str], python: str, platform: str, *, deps: bool
) -> tuple[list[dict[str, Any]], str]:
    """What pip would install (the items of its report), or an empty list and pip's last words. Nothing is installed.

    A pip that does not tell of withdrawn releases ends the script: its answers would be taken for good ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--target", folder, "--report", "-", *([] if deps else ["--no-deps"])]
        done = subprocess.run(
            [*command, *target(python, platform), *requirements], capture_output=True, text=True, check=False
        )
    if done.returncode:
        return [], "\n".join(line for line in done.stderr.splitlines() if line.startswith("ERROR"))
    report = json.loads(done.stdout)
    if Version(report["pip_version"]) < OLDEST_PIP:
        sys.exit(
            f"pip {report['pip_version']} does not tell which releases were withdrawn: "
            f"{sys.executable} -m pip install --upgrade 'pip>={OLDEST_PIP}'"
        )
    items: list[dict[str, Any]] = report["install"]
    return items, ""


@cache
def _item(package: str, version: Version) -> dict[str, Any]:
    """What pip reports of a release's wheel, which it does not download; Linux first, any Python. Empty where pip has none."""
    mine = sorted(
        (w for w in wheels(package) if w.version == version), key=lambda w: not w.platform.startswith("linux")
    )
    for wheel in mine[:3]:
        python = max(wheel.pythons, key=Version) if wheel.pythons else "3.12"
        found, _ = resolved([f"{package}=={version}"], python, wheel.platform or "linux-x86_64", deps=False)
        if found:
            return found[0]
    return {}


def metadata(package: str, version: Version) -> dict[str, Any] | None:
    """The metadata of a release's wheel."""
    told: dict[str, Any] | None = _item(package, version).get("metadata")
    return told


def yanked(package: str, version: Version) -> bool:
    """Whether a release was withdrawn."""
    return bool(_item(package, version).get("is_yanked"))


@contextmanager
def downloaded(package: str, version: str, python: str = "", platform: str = "linux-x86_64") -> Iterator[Path | None]:
    """A release's wheel in a temporary folder, gone afterwards; None where pip has none."""
    mine = [w for w in wheels(package) if w.version == Version(version) and w.platform in (platform, "")]
    if not python:
        pythons = {p for w in mine for p in w.pythons}
        python = max(pythons, key=Version) if pythons else "3.12"
    with tempfile.TemporaryDirectory() as folder:
        pip("download", "--quiet", "--no-deps", "--dest", folder, *target(python, platform), f"{package}=={version}")
        yield next(Path(folder).glob("*.whl"), None)
