"""A program's log as it joins the corpus: paths masked, with a label that comes from the fault and not from the tool."""

from __future__ import annotations

import getpass
import platform
import re
from datetime import date
from pathlib import Path

import yaml

from .fault import Fault
from .runner import Examination

_HOME = "/home/dev"


def write(folder: Path, fault: Fault, examination: Examination, cache: Path, scratch: Path) -> None:
    """Write ``<fault>.log`` and ``<fault>.yaml`` into ``folder``; a label that is there keeps its first, blind answer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{fault.id}.log").write_text(masked(examination.log, fault, cache, scratch), encoding="utf-8")
    label = folder / f"{fault.id}.yaml"
    if label.exists():
        return
    verdict = examination.verdict
    content = {
        "source": f"python -m lab {fault.id} on {date.today().isoformat()}",
        "confirmed": "lab",
        "gold": [fault.cause] if fault.cause else [],
        "acceptable": [*fault.acceptable, *fault.by_log],
        "stack": fault.stack,
        "versions": {},
        "why": f"The fault that was made: {fault.breaks}.",
        "read": date.today().isoformat(),
        "blind": {
            "said": verdict.log_first or "nothing",
            "confidence": f"{verdict.log_confidence:.2f}",
            "date": date.today().isoformat(),
        },
    }
    label.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")


def masked(log: str, fault: Fault, cache: Path, scratch: Path) -> str:
    """``log`` without this machine's paths, user and host."""
    world = scratch / fault.id
    for path, name in (
        (world / "env", f"{_HOME}/venv"),
        (world / "work", f"{_HOME}/project"),
        (world, _HOME),
        (cache, f"{_HOME}/.cache/lab"),
        (Path.home(), _HOME),
    ):
        log = log.replace(str(path), name)
    log = re.sub(rf"\b{re.escape(platform.node())}\b", "gpu-node03", log) if platform.node() else log
    return re.sub(rf"\b{re.escape(getpass.getuser())}\b", "dev", log)
