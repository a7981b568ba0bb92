"""The shared environments of the laboratory: made once in a cache folder outside the repository, cloned for each fault."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIVEN = "given"  # the interpreter that was given on the command line: GPU machines mostly have no network
_TORCH_NEEDS = [
    "filelock",
    "typing-extensions",
    "sympy==1.13.1",
    "mpmath==1.3.0",
    "networkx",
    "jinja2",
    "markupsafe",
    "fsspec",
    "numpy==2.2.6",
]

# What each environment holds: the arguments of one pip install after another. torch 2.6.0 is the last release on PyPI built
# with CUDA 12.4; its own requirements are listed by hand so that Triton (250 MB, needed by no fault) stays out.
ENVIRONMENTS: dict[str, list[list[str]]] = {
    "torch-cpu": [["torch==2.13.0", "numpy"]],
    "torch-cuda": [
        ["--no-deps", "torch==2.6.0", *_TORCH_NEEDS, "setuptools==75.8.0", "ninja"]
        + [
            f"nvidia-{name}"
            for name in (
                "cuda-runtime-cu12==12.4.127",
                "cuda-nvrtc-cu12==12.4.127",
                "cuda-cupti-cu12==12.4.127",
                "cudnn-cu12==9.1.0.70",
                "cublas-cu12==12.4.5.8",
                "cufft-cu12==11.2.1.3",
                "curand-cu12==10.3.5.147",
                "cusolver-cu12==11.6.1.9",
                "cusparse-cu12==12.3.1.170",
                "cusparselt-cu12==0.6.2",
                "nccl-cu12==2.21.5",
                "nvtx-cu12==12.4.127",
                "nvjitlink-cu12==12.4.127",
            )
        ]
    ],
    "tf-cpu": [["tensorflow-cpu==2.20.0"]],
    "tf": [["tensorflow==2.20.0"]],
    "ort": [["onnxruntime-gpu==1.22.0", "onnx==1.18.0", "numpy<2.3"]],
    "ort-cpu": [["onnxruntime==1.22.0", "onnx==1.18.0", "numpy<2.3"]],
    "jax": [["jax==0.4.38", "jaxlib==0.4.38", "numpy<2.3"]],
}
SMALL = ("torch-cpu", "tf-cpu", "ort-cpu")  # what CI makes
_PYTHONS = ((3, 11), (3, 12), (3, 10))  # the releases that all of these have wheels for, best first


class Missing(Exception):
    """This machine lacks something that a fault needs; the text says what."""


class Cache:
    """The folder that holds environments, wheels and unpacked Debian packages."""

    def __init__(self, folder: Path, allowed: tuple[str, ...] = tuple(ENVIRONMENTS)) -> None:
        self.folder = folder
        self.allowed = allowed
        folder.mkdir(parents=True, exist_ok=True)

    def environment(self, name: str) -> Path:
        """The folder of the environment ``name``, made where it is not there yet."""
        if name not in self.allowed:
            raise Missing(f"needs the environment {name}, which is not made here")
        home = self.folder / name
        stamp = home / "lab.json"
        wanted = json.dumps(ENVIRONMENTS[name])
        with self._locked(name):
            if stamp.is_file() and stamp.read_text() == wanted:
                return home
            shutil.rmtree(home, ignore_errors=True)
            _call([_interpreter(), "-m", "venv", str(home)])
            for arguments in ENVIRONMENTS[name]:
                self.pip(home / "bin" / "python", "install", *arguments)
            stamp.write_text(wanted)
        return home

    def pip(self, python: Path, *arguments: str) -> None:
        """Run pip of ``python``; Missing where it fails (no network, no such wheel)."""
        _call([str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments])

    def wheel(self, requirement: str) -> Path:
        """One downloaded wheel of ``requirement``, unpacked; the folder stands for its site-packages."""
        folder = self.folder / "wheels" / requirement.replace("==", "-")
        with self._locked(str(folder.relative_to(self.folder))):
            if not folder.is_dir():
                fresh = folder.with_name(folder.name + ".part")
                shutil.rmtree(fresh, ignore_errors=True)
                for wheel in self.wheelhouse(requirement).glob("*.whl"):
                    shutil.unpack_archive(wheel, fresh, "zip")
                fresh.rename(folder)
        return folder

    def wheelhouse(self, requirement: str) -> Path:
        """A folder with the wheel of ``requirement`` in it."""
        folder = self.folder / "wheelhouse" / requirement.replace("==", "-")
        with self._locked(str(folder.relative_to(self.folder))):
            if not folder.is_dir():
                fresh = folder.with_name(folder.name + ".part")
                shutil.rmtree(fresh, ignore_errors=True)
                python = self.environment("torch-cpu") / "bin" / "python"
                self.pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(fresh), requirement)
                fresh.rename(folder)
        return folder

    def debian(self, package: str, suite: str = "bookworm") -> Path:
        """A Debian package of another release or component than the machine takes, unpacked and not installed."""
        folder = self.folder / "debian" / f"{package}-{suite}"
        with self._locked(str(folder.relative_to(self.folder))):
            if not folder.is_dir():
                fresh = folder.with_name(folder.name + ".part")
                shutil.rmtree(fresh, ignore_errors=True)
                fresh.mkdir(parents=True)
                apt = _apt(self.folder / "debian" / "apt", suite)
                _call(["apt-get", "-q", "update"], apt)
                _call(["apt-get", "-q", "download", f"{package}/{suite}"], apt, cwd=fresh)
                for archive in fresh.glob("*.deb"):
                    _call(["dpkg-deb", "-x", str(archive), str(fresh)])
                    archive.unlink()
                fresh.rename(folder)
        return folder

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Two laboratories at once must not make one thing twice."""
        locks = self.folder / "locks"
        locks.mkdir(exist_ok=True)
        with (locks / name.replace("/", "-")).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _interpreter() -> str:
    """A Python that the wheels of all environments exist for."""
    if sys.version_info[:2] in _PYTHONS:
        return sys.executable
    for major, minor in _PYTHONS:
        for found in (
            shutil.which(f"python{major}.{minor}"),
            *Path.home().glob(f".pyenv/versions/{major}.{minor}.*/bin/python"),
        ):
            if found:
                return str(found)
    raise Missing("needs Python 3.10, 3.11 or 3.12")


def _apt(folder: Path, suite: str) -> dict[str, str]:
    """The environment in which apt-get reads its own lists: the machine's sources with all components and ``suite`` added."""
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    if not sources.is_file() or not shutil.which("apt-get"):
        raise Missing("needs Debian's apt-get with debian.sources")
    for part in ("state/lists/partial", "cache/archives/partial", "sources"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lines = []
    for line in sources.read_text().splitlines():
        if line.startswith("Components:"):
            line = "Components: main contrib non-free"
        if line.startswith("Suites:") and suite not in line.split() and "security" not in line:
            line = f"{line} {suite}"
        lines.append(line)
    (folder / "sources" / "lab.sources").write_text("\n".join(lines) + "\n")
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources",
    }
    (folder / "apt.conf").write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()))
    return {"APT_CONFIG": str(folder / "apt.conf")}


def _call(command: list[str], variables: dict[str, str] | None = None, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **(variables or {})}, cwd=cwd, check=False
        )
    except OSError as error:
        raise Missing(f"could not run {command[0]}: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Missing(f"{' '.join(command[:5])} ... failed: {said[-1] if said else done.returncode}")
