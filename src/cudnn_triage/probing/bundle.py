"""A probe as one program: the shared head, what the rules tell the script, the script; and all of them as one file."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..knowledge.base import Knowledge


@cache
def text_of(name: str) -> str:
    """The source text of a file of this package ('runner.py', 'scripts/torch.py')."""
    return resources.files(__package__).joinpath(*name.split("/")).read_text(encoding="utf-8")


@cache
def _pynvml() -> str:
    """The source text of nvidia-ml-py, without importing it; empty where it is not installed."""
    spec = find_spec("pynvml")
    if spec is None or not spec.origin:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")


def program(probe: str, knowledge: Knowledge) -> bytes:
    """The program that the interpreter under examination runs for ``probe``. Needs nothing but that interpreter."""
    entry = knowledge.probes[probe]
    given: dict[str, Any] = {
        "SETTINGS": {**knowledge.settings, **entry["settings"]},
        "READS": entry["reads"],
        "CODES": {library: knowledge.codes(library) for library in entry["codes"]},
        "GPU_MEMORY": entry["gpu_memory"],
    }
    parts = [text_of("scripts/prelude.py"), "import json as _json"]
    parts += [f"{name} = _json.loads({json.dumps(value)!r})" for name, value in given.items()]
    if "pynvml" in entry["needs"] and _pynvml():
        parts += [
            "import sys as _sys, types as _types",
            "_sys.modules['pynvml'] = _types.ModuleType('pynvml')",
            f"exec(compile({_pynvml()!r}, 'pynvml.py', 'exec'), _sys.modules['pynvml'].__dict__)",
        ]
    parts += [text_of(f"scripts/{name}.py") for name in (*entry["parts"], probe)]
    return "\n".join(parts).encode()
