"""Head of every probe program: how readings are written, and how to look at a machine without falling over.

A probe is this text, a block with the probe's settings, the probe's own text. It runs in a process of its own on any
Python from 3.8 on and writes JSON lines to the standard output it was given; everything else that prints goes to
standard error. A reading that fails costs only itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any, Callable, Iterable, Iterator

# What the generated block between this text and the probe's replaces:
SETTINGS: dict[str, Any] = {}  # the probe's settings of rules/probes.yaml
READS: list[str] = []  # the fact names that the probe may yield
CODES: dict[str, dict[str, str]] = {}  # library -> number -> name of a status code
GPU_MEMORY = 64 << 20  # bytes of GPU memory that the probe may allocate

ROOT = ""  # before every absolute path that is read; tests put a made-up machine there
OS = {"win32": "windows", "cygwin": "windows", "darwin": "macos"}.get(sys.platform, "linux")
LONGEST_TEXT = 4000  # characters of a text reading

_answer: Any = None
_told: set[tuple[str, str]] = set()


def tell(**line: Any) -> None:
    """Write one line of the answer."""
    _answer.write(json.dumps(line) + "\n")
    _answer.flush()


def fact(name: str, value: Any) -> None:
    """A typed reading; nothing where ``value`` is None. The same reading twice is written once."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if value is None or value == "":
        return
    if isinstance(value, str):
        value = clip(value)
    if (name, str(value)) not in _told:
        _told.add((name, str(value)))
        tell(fact=name, value=value)


def facts(name: str, values: Iterable[Any]) -> None:
    """One reading per value."""
    for value in values:
        fact(name, value)


def record(kind: str, **value: Any) -> None:
    """An entry of an inventory, for people and for --save-facts."""
    tell(record=kind, value={key: item for key, item in value.items() if item is not None})


def stage(name: str) -> None:
    """What is tried next: where the process is when it dies."""
    tell(stage=name)


def absent(why: str) -> None:
    """What this probe examines is not there."""
    tell(absent=why)


def message(text: Any, of: str) -> None:
    """A text that a loader or framework printed while ``of`` was tried; the tool reads it as it reads a log."""
    tell(message=clip(str(text)), of=of)


def clip(text: str) -> str:
    """``text`` without surrogates and control characters, at most LONGEST_TEXT characters."""
    text = text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text).strip()


def first_line(error: Any) -> str:
    """The first line of an exception's text that says something, with the exception's type."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:500]


def attempt(reading: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What ``reading`` returns; None where it fails in any way."""
    try:
        return reading(*arguments, **named)
    except Exception:
        return None


def each(*readings: Callable[[], None]) -> None:
    """Take readings one after another; one that fails says so and leaves the others."""
    for reading in readings:
        try:
            reading()
        except Exception as error:
            tell(trouble=first_line(error), of=getattr(reading, "__name__", ""))


def at(path: str) -> str:
    """Where an absolute path lies on the examined machine."""
    return ROOT + path if ROOT and not path.startswith(ROOT) else path


def shown(path: str) -> str:
    """The path as the examined machine knows it."""
    return path[len(ROOT) :] if ROOT and path.startswith(ROOT) else path


def read(path: str, limit: int = 1 << 20) -> str | None:
    """A small file's text, or None. Never waits: only what is there is read."""
    try:
        with open(at(path), "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def number(text: Any) -> int | None:
    """The whole number that ``text`` is, or None."""
    try:
        return int(str(text).strip(), 0)
    except ValueError:
        return None


def cuda_dotted(number: int | None) -> str | None:
    """12040 is 12.4 (CUDA_VERSION of cuda.h)."""
    return f"{number // 1000}.{number // 10 % 100}" if number and number >= 1000 else None


def cudnn_dotted(number: int | None) -> str | None:
    """8902 is 8.9.2, 91002 is 9.10.2 (CUDNN_VERSION of cudnn_version.h)."""
    if not number or number < 1000:
        return None
    major, rest = divmod(number, 10000) if number >= 90000 else divmod(number, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def listing(path: str) -> list[str]:
    """The names in a folder, sorted; none where it cannot be read."""
    try:
        return sorted(os.listdir(at(path)))
    except (OSError, ValueError):
        return []


def exists(path: str) -> bool:
    """Whether a path is there (also when it may not be opened)."""
    return os.path.lexists(at(path))


def folders(variable: str) -> list[str]:
    """The folders of a search path in the environment, each once, empty entries left out."""
    return unique(part for part in os.environ.get(variable, "").split(os.pathsep) if part)


def unique(items: Iterable[Any]) -> list[Any]:
    """The items in order, each once."""
    return list(dict.fromkeys(items))


def program(name: str) -> str | None:
    """The path of a program on PATH, or in the system folders that PATH of a plain user may lack."""
    suffix = ".exe" if OS == "windows" else ""
    extra = [] if OS == "windows" else ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    for folder in folders("PATH") + extra:
        path = os.path.join(at(folder) if folder.startswith("/") else folder, name + suffix)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def output(command: list[str], seconds: float = 5.0, limit: int = 1 << 20) -> tuple[int, str] | None:
    """Exit status and what a program printed (both streams, at most ``limit`` bytes), or None where it could not run.

    It runs in the probe's own process group, so that it ends with the probe at the latest.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, ValueError):
        return None
    late = threading.Timer(seconds, process.kill)
    late.start()
    try:
        with process:
            text = process.stdout.read(limit) if process.stdout else b""
            process.kill()  # one that goes on writing after the limit
        return process.returncode, text.decode("utf-8", "replace")
    finally:
        late.cancel()


def walk(top: str, depth: int, most: int = 20000) -> Iterator[str]:
    """The files under ``top``, at most ``depth`` folders down and ``most`` in all; unreadable folders are passed over."""
    left = most
    pending = [(at(top), depth)]
    while pending:
        folder, deeper = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except (OSError, ValueError):
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            if attempt(entry.is_dir, follow_symlinks=False):
                if deeper:
                    pending.append((entry.path, deeper - 1))
            else:
                yield shown(entry.path)


def cgroups(controller: str) -> list[str]:
    """The folders of this process's control group for ``controller`` and of the groups above it, innermost first."""
    out: list[str] = []
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controllers == "" or controller in controllers.split(","):
            base = "/sys/fs/cgroup" + ("/" + controller if controllers else "")
            parts = [part for part in group.split("/") if part and part != ".."]
            out += [base + "".join("/" + part for part in parts[:count]) for count in range(len(parts), -1, -1)]
    return [folder for folder in unique(out) if exists(folder)]


def run(main: Callable[[], None]) -> None:
    """Run a probe: keep the answer channel clean, say how it ended, and leave without running anybody's exit handlers."""
    global _answer
    _answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    here = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv and sys.argv[0] not in ("", "-", "-c") else None
    sys.path[:] = [p for p in sys.path if p not in ("", here)]
    status = 0
    try:
        main()
        tell(end="ok")
    except BaseException as error:
        tell(error=first_line(error))
        status = 1
    for stream in (sys.stdout, sys.stderr):
        attempt(stream.flush)
    os._exit(status)
