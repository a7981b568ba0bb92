"""Measures how time grows with the size of hostile logs: for each shape, the ratio of 400 KB to 200 KB (linear: about 2)."""

from __future__ import annotations

import time

from cudnn_triage import triage
from cudnn_triage.redact import masked

SHAPES = {
    "one line of a status name": b"CUDNN_STATUS_NOT_INITIALIZED ",
    "near-matches of it": b"CUDNN_STATUS_NOT_INITIALIZE_ ",
    "lines of one error": b"RuntimeError: CUDA error: out of memory\n",
    "empty lines": b"\n",
    "tracebacks": b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x()\nKeyError: 1\n',
    "damaged messages": b"Loaded runtme CuDNN libary: 8.0.5 but sorce was compiled with: 8.1\n",
    "escapes": b"\x1b[31m",
    "tokens": b"token=eyJaaaaaaaaaaaa.",
}


def seconds(unit: bytes, size: int) -> float:
    """Time to triage and mask ``size`` bytes of this shape; the better of two runs."""
    data = unit * (size // len(unit))
    best = float("inf")
    for _ in range(2):
        begin = time.perf_counter()
        triage(data)
        masked(data.decode())
        best = min(best, time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    triage("warm")
    for name, unit in SHAPES.items():
        small, large = seconds(unit, 200_000), seconds(unit, 400_000)
        print(f"{name:28} {small:6.2f} s  {large:6.2f} s  ratio {large / small:4.1f}")
