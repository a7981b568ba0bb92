"""What faults need of the machine, and why one is skipped where it is not there."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import cudnn_triage

SOURCE = str(Path(cudnn_triage.__file__).parents[1])


def lacking(needs: tuple[str, ...], python: Path) -> str:
    """The first thing of ``needs`` that this machine lacks, in words; empty where all is there."""
    for need in needs:
        said = _CHECKS[need](python)
        if said:
            return said
    return ""


@functools.cache
def gpus() -> list[dict[str, str]]:
    """The machine's NVIDIA GPUs as nvidia-smi lists them; empty without a driver that answers."""
    asked = ("name", "driver_version", "compute_cap", "memory.total")
    try:
        command = ["nvidia-smi", f"--query-gpu={','.join(asked)}", "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return (
        [dict(zip(asked, line.split(", "), strict=False)) for line in done.stdout.splitlines() if line.strip()]
        if not done.returncode
        else []
    )


@functools.cache
def _nvcc() -> str:
    path = shutil.which("nvcc")
    if not path:
        return ""
    found = re.search(
        r"release (\d+)", subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    )
    return found[1] if found else ""


@functools.cache
def _has(python: Path, module: str) -> bool:
    return not subprocess.run([str(python), "-c", f"import {module}"], capture_output=True, check=False).returncode


@functools.cache
def _sees_gpu(python: Path) -> bool:
    ask = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    return not subprocess.run([str(python), "-c", ask], capture_output=True, check=False).returncode


@functools.cache
def _mounts() -> bool:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        return not subprocess.run(command, capture_output=True, check=False).returncode
    except OSError:
        return False


_NO_GPU = "needs an NVIDIA GPU with its driver; nvidia-smi lists none"
_CHECKS: dict[str, Callable[[Path], str]] = {
    "gpu": lambda python: "" if gpus() else _NO_GPU,
    "torch-gpu": lambda python: (
        _NO_GPU if not gpus() else "" if _sees_gpu(python) else f"needs a PyTorch in {python} that sees the GPU"
    ),
    "jax": lambda python: (
        ""
        if _has(python, "jax_cuda13_plugin") or _has(python, "jax_cuda12_plugin")
        else f"needs JAX with its CUDA plugin in {python}"
    ),
    "triton": lambda python: "" if _has(python, "triton") else f"needs Triton in {python}",
    "no-driver": lambda python: (
        "needs a machine without an NVIDIA driver" if gpus() or Path("/proc/driver/nvidia").exists() else ""
    ),
    "nvcc": lambda python: "" if _nvcc() else "needs nvcc on PATH",
    "nvcc-13": lambda python: "" if int(_nvcc() or 0) >= 13 else "needs nvcc 13 or newer on PATH",
    "nvcc-not-12": lambda python: "" if _nvcc() not in ("", "12") else "needs an nvcc that is not of CUDA 12",
    "g++": lambda python: "" if shutil.which("g++") else "needs g++",
    "no-cudnn-header": lambda python: (
        "needs a machine without cudnn.h"
        if [*Path("/usr").glob("include/**/cudnn.h"), *Path("/usr/local").glob("cuda*/include/cudnn.h")]
        else ""
    ),
    "root": lambda python: "" if os.geteuid() == 0 else "needs root",
    "mounts": lambda python: "" if _mounts() else "needs private mounts (root, or user namespaces that may mount)",
}
