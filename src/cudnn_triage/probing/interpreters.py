"""Which Python interpreter is examined: the one asked for, or the active environment's; and the environment it runs in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_WINDOWS = os.name == "nt"
_SCRIPTS = "Scripts" if _WINDOWS else "bin"
_STARTS = 60.0  # seconds within which an interpreter has started, from a slow disk too
_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda", "conda")


class NoInterpreter(Exception):
    """There is no interpreter where one was asked for; the message says what was looked for."""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter, why it is this one, and what activating its environment would change."""

    path: str
    why: str
    environ: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()


def choose(python: str = "", venv: str = "", conda: str = "", environ: Mapping[str, str] | None = None) -> Interpreter:
    """The interpreter to examine. Raises NoInterpreter."""
    environ = os.environ if environ is None else environ
    if python:
        found = shutil.which(os.path.expanduser(python), path=environ.get("PATH"))
        if not found:
            hint = "; it is a folder: try --venv or --conda-env" if os.path.isdir(os.path.expanduser(python)) else ""
            raise NoInterpreter(f"--python {python}: no such program{hint}")
        if not _is_python(found):
            raise NoInterpreter(f"--python {python}: is no Python interpreter")
        return Interpreter(os.path.abspath(found), "asked for by --python")
    if venv:
        folder = Path(venv).expanduser().absolute()
        return _activated(folder, "VIRTUAL_ENV", f"asked for by --venv {venv}", environ, f"--venv {venv}")
    if conda:
        return _activated(_conda(conda, environ), "CONDA_PREFIX", f"asked for by --conda-env {conda}", environ, "")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(name) and (path := _python_in(Path(environ[name]))):
            return Interpreter(str(path), f"the active environment ({name})")
    for name in ("python", "python3"):
        if found := shutil.which(name, path=environ.get("PATH")):
            return Interpreter(found, f"the first {name} on PATH")
    return Interpreter(sys.executable, "the one that cudnn-triage runs in")


def _is_python(path: str) -> bool:
    """Whether a program does what Python does with ``-c``."""
    try:
        done = subprocess.run(
            [path, "-c", "import sys"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_STARTS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _python_in(folder: Path) -> Path | None:
    places = [folder / "python.exe", folder / _SCRIPTS / "python.exe"] if _WINDOWS else [folder / _SCRIPTS / "python"]
    return next((place for place in places if place.is_file()), None)


def _activated(folder: Path, name: str, why: str, environ: Mapping[str, str], asked: str) -> Interpreter:
    path = _python_in(folder)
    if path is None:
        raise NoInterpreter(f"{asked or folder}: no Python interpreter in {folder / _SCRIPTS}")
    before = os.pathsep.join([str(folder / _SCRIPTS), environ.get("PATH", "")])
    other = "CONDA_PREFIX" if name == "VIRTUAL_ENV" else "VIRTUAL_ENV"
    return Interpreter(str(path), why, {name: str(folder), "PATH": before}, ("PYTHONHOME", other))


def _conda(asked: str, environ: Mapping[str, str]) -> Path:
    """The folder of a conda environment, by name or path; found without running conda."""
    if os.sep in asked or (os.altsep and os.altsep in asked):
        return Path(asked).expanduser().absolute()
    looked = list(dict.fromkeys(_conda_folders(environ)))
    for base in looked:
        folder = base if asked in ("base", "root") else base / "envs" / asked
        if (folder / "conda-meta").is_dir() and _python_in(folder):
            return folder
    for folder in _listed(environ):
        if folder.name == asked and _python_in(folder):
            return folder
    places = ", ".join(map(str, looked)) or "nowhere: no conda was found"
    raise NoInterpreter(f"--conda-env {asked}: no such environment (looked in {places})")


def _conda_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """The folders of conda installations, likeliest first."""
    for name in ("CONDA_EXE", "MAMBA_EXE"):
        if environ.get(name):
            yield Path(environ[name]).parent.parent
    for name in ("MAMBA_ROOT_PREFIX", "CONDA_ROOT"):
        if environ.get(name):
            yield Path(environ[name])
    if environ.get("CONDA_PREFIX"):
        active = Path(environ["CONDA_PREFIX"])
        yield active.parent.parent if active.parent.name == "envs" else active
    if found := shutil.which("conda", path=environ.get("PATH")):
        yield Path(found).resolve().parent.parent
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~"))
    for parent in (home, Path("/opt")):
        for name in _CONDA_HOMES:
            if (parent / name).is_dir():
                yield parent / name


def _listed(environ: Mapping[str, str]) -> Iterator[Path]:
    """The environments that conda has written down in the home folder, and those of folders named for that."""
    for name in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        for part in environ.get(name, "").split(os.pathsep):
            if part and Path(part).is_dir():
                yield from Path(part).iterdir()
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~"))
    try:
        lines = (home / ".conda" / "environments.txt").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    yield from (Path(line.strip()) for line in lines if line.strip())
