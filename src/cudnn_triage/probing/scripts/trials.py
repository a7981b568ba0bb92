"""What the framework probes share: importing, trying an operation, listening to what the framework prints."""

import importlib
import importlib.util
import mmap
import os
import re
import signal
import struct
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .prelude import SETTINGS, absent, attempt, clip, fact, facts, first_line, message, stage, tell, unique

_CODE = re.compile(
    r"\b(?:(?:CUDNN_STATUS|CUDA_ERROR|CUBLAS_STATUS|CUSOLVER_STATUS|CUFFT)_[A-Z0-9_]+|cudaError[A-Z]\w+)\b"
)
_MOST_HEARD = 60000  # characters of a framework's own log that are handed on
_overheard = {"file": -1, "real": -1}
_handed_on = mmap.mmap(-1, 8)  # how much of it was handed on; shared with the child


def watched(work: "Callable[[], None]") -> None:
    """Do ``work`` in a child process, and keep what it writes to standard error, for ``heard``.

    When the child dies of a signal, what it wrote last is handed on before this process ends in the same way. Where the
    system has no fork or no files in memory, ``work`` is simply done.
    """
    if not hasattr(os, "memfd_create") or not hasattr(os, "fork"):
        work()
        return
    _overheard["real"] = os.dup(2)
    _overheard["file"] = os.memfd_create("overheard")
    child = os.fork()
    if not child:
        os.dup2(_overheard["file"], 2)
        try:
            work()
        except BaseException as error:
            tell(error=first_line(error))
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    heard("end")
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    if status:
        os._exit(1)


def heard(of: str) -> None:
    """Hand on what was printed since the last time, as messages, and to the real standard error."""
    if _overheard["file"] < 0:
        return
    size, told = os.fstat(_overheard["file"]).st_size, struct.unpack("q", _handed_on[:])[0]
    data = os.pread(_overheard["file"], min(size - told, _MOST_HEARD), told)
    _handed_on[:] = struct.pack("q", size)
    if data:
        attempt(os.write, _overheard["real"], data)
        lines = unique(line.rstrip() for line in data.decode("utf-8", "replace").splitlines() if line.strip())
        for start in range(0, min(len(lines), 200), 20):
            message("\n".join(lines[start : start + 20]), of)


def failed(error: BaseException, name: str) -> None:
    """The readings of an exception: its text for the matcher, its status code."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-3))
    message(clip(text), name)
    found = unique(_CODE.findall(str(error)))
    facts(name.partition(".")[0] + ".error.code", found)


def imported(name: str, shown_as: str = "") -> "Any":
    """The framework's module; None, with readings, where it is not there or cannot be imported."""
    key = shown_as or name
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        found = None
    if found is None:
        fact(key + ".installed", False)
        absent(f"{name} is not installed for this interpreter")
        return None
    fact(key + ".installed", True)
    if found.origin is None and not getattr(found.loader, "path", None):
        facts(key + ".place", list(found.submodule_search_locations or [])[:1])
    else:
        fact(key + ".place", os.path.dirname(found.origin or ""))
    stage(f"import {name}")
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        fact(key + ".imports", False)
        fact(key + ".error", first_line(error))
        heard(key + ".import")
        failed(error, key + ".import")
        return None
    fact(key + ".imports", True)
    heard(key + ".import")
    return module


def trial(name: str, *works: "Callable[[], None]") -> "bool | None":
    """Whether all ``works`` succeed: fact ``name`` = ok or failed, with the error's text where it fails.

    None, and 'no-memory', where the GPU memory that a probe may take, or that is free, did not suffice: that says nothing
    about the operation.
    """
    stage(name)
    try:
        for work in works:
            work()
    except BaseException as error:
        heard(name)
        failed(error, name)
        short = re.search(SETTINGS["out_of_memory"], first_line(error)) is not None
        fact(name, "no-memory" if short else "failed")
        return None if short else False
    heard(name)
    fact(name, "ok")
    return True


def capability(text: str) -> "tuple[int, int] | None":
    """(9, 0) of sm_90, compute_90a, 90 or 9.0."""
    found = re.search(r"(\d+)(?:\.(\d+))?", text)
    if not found:
        return None
    if found[2] is not None:
        return int(found[1]), int(found[2])
    return int(found[1][:-1] or 0), int(found[1][-1])


def serves(archs: "list[str]", gpu: "tuple[int, int]") -> bool:
    """Whether code for ``archs`` runs on a GPU: machine code of the same major and no newer minor version, or PTX that is no newer.

    sm_90a and the like run on that very capability only.
    """
    for arch in archs:
        made = capability(arch)
        if made is None:
            continue
        if arch.startswith("compute"):
            if made <= gpu and not arch[-1].isalpha():
                return True
        elif made == gpu if arch[-1:] == "a" else (made[0] == gpu[0] and made[1] <= gpu[1]):
            return True
    return False


def tell_archs(framework: str, archs: "list[str]", gpus: "list[tuple[int, int]]") -> None:
    """The architectures in a build, and whether they serve the GPUs here."""
    if not archs:
        return
    fact("build.archs", " ".join(archs))
    made = sorted(filter(None, map(capability, archs)))
    fact("build.cc.min", f"{made[0][0]}.{made[0][1]}" if made else None)
    fact("build.cc.max", f"{made[-1][0]}.{made[-1][1]}" if made else None)
    for gpu in gpus:
        fact(framework + ".serves", serves(archs, gpu))


def tell_fault(framework: str, plain: "list[bool | None]", cudnn: "list[bool | None]") -> None:
    """Which layer fails: cuda (already without cuDNN), cudnn (only with it) or none; nothing where that cannot be told."""
    if False in plain:
        fact(framework + ".fault", "cuda")
    elif None not in plain and False in cudnn:
        fact(framework + ".fault", "cudnn")
    elif None not in plain + cudnn:
        fact(framework + ".fault", "none")
