"""python -m lab: try the faults, print a table, write the verdicts."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import cudnn_triage

from . import capture, fault, needs, runner
from .environments import ENVIRONMENTS, SMALL, Cache

_VERSIONS = """
import importlib.metadata as m, json, platform
names = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "onnxruntime-gpu", "triton")
names += ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12")
found = {}
for name in names:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
print(json.dumps({"python": platform.python_version(), **found}))
"""


def main() -> int:
    """The command line; exit code 1 when a fault that was tried did not come out as it should, or CI could not make an environment."""
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="which faults (default: all)")
    parser.add_argument("--list", action="store_true", help="list the faults and what each breaks")
    parser.add_argument("--ci", action="store_true", help="only those that are cheap enough for CI")
    parser.add_argument("--gpu", action="store_true", help="only those that need a GPU")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("~/.cache/cudnn-triage-lab"),
        help="where environments are kept (default: %(default)s)",
    )
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="the interpreter whose PyTorch the GPU faults use (default: this one)",
    )
    parser.add_argument(
        "--json", type=Path, help="write the verdicts to this file (on a GPU machine: docs/lab-gpu.json)"
    )
    parser.add_argument("--logs", type=Path, help="write the programs' logs and draft labels into this folder")
    options = parser.parse_args()
    names = options.faults or list(fault.names())
    unknown = sorted({*names} - {*fault.names()})
    if unknown:
        parser.error(f"no such fault: {', '.join(unknown)} (python -m lab --list names them)")
    faults = [fault.load(name) for name in names]
    if options.ci:
        faults = [item for item in faults if item.ci]
    if options.gpu:
        faults = [item for item in faults if {"gpu", "torch-gpu"} & {*item.needs}]
    if options.list:
        for item in faults:
            print(f"{item.id:30} {item.cause or 'healthy':28} {item.breaks}")
        return 0
    signal.signal(signal.SIGTERM, _stop)
    cache = Cache(options.cache.expanduser().absolute(), SMALL if options.ci else tuple(ENVIRONMENTS))
    given = options.python.expanduser().absolute()
    machine = _machine(given)
    verdicts: list[runner.Verdict] = []
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=cache.folder) as scratch:
        for number, item in enumerate(faults, 1):
            print(f"[{number}/{len(faults)}] {item.id}: {item.breaks}", file=sys.stderr, flush=True)
            examination = runner.examine(item, cache, given, Path(scratch))
            verdicts.append(examination.verdict)
            print("    " + runner.line(examination.verdict), file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(runner.as_json(verdicts, machine), encoding="utf-8")
            if options.logs and examination.log:
                capture.write(options.logs, item, examination, cache.folder, Path(scratch))
    print("\n".join(runner.table(verdicts)))
    untried = options.ci and any(
        v.skipped and not needs.lacking(item.needs, given) for v, item in zip(verdicts, faults, strict=True)
    )
    return int(untried or any(v.wrong for v in verdicts))


def _machine(given: Path) -> dict[str, Any]:
    """Date, GPUs, driver and versions: what the verdicts were made on. No host or user name."""
    done = subprocess.run([str(given), "-c", _VERSIONS], capture_output=True, text=True, check=False)
    return {
        "date": datetime.date.today().isoformat(),
        "tool": cudnn_triage.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "gpus": needs.gpus(),
        "versions": json.loads(done.stdout) if not done.returncode else {},
    }


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; what was made for the fault in hand is removed")
