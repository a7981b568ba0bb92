"""A probe as one program: the shared head, what the rules tell the script, the script; and all of them as one file."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..knowledge.base import Knowledge
from .readings import HEAD


@cache
def text_of(name: str) -> str:
    """The source text of a file of this package ('runner.py', 'scripts/torch.py')."""
    return resources.files(__package__).joinpath(*name.split("/")).read_text(encoding="utf-8")


def has_script(name: str) -> bool:
    """Whether there is a script, or a part of scripts, of this name."""
    return resources.files(__package__).joinpath("scripts").joinpath(f"{name}.py").is_file()


@cache
def _pynvml() -> str:
    """The source text of nvidia-ml-py, without importing it; empty where it is not installed."""
    spec = find_spec("pynvml")
    if spec is None or not spec.origin:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")


def program(probe: str, knowledge: Knowledge) -> bytes:
    """The program that the interpreter under examination runs for ``probe``. Needs nothing but that interpreter."""
    return "\n".join(_pieces(probe, knowledge)).encode()


def _pieces(probe: str, knowledge: Knowledge) -> list[str]:
    entry = knowledge.probes[probe]
    given: dict[str, Any] = {
        "SETTINGS": {**knowledge.settings, **entry["settings"]},
        "READS": entry["reads"],
        "CODES": {library: knowledge.codes(library) for library in entry["codes"]},
        "GPU_MEMORY": entry["gpu_memory"],
    }
    pieces = [text_of("scripts/prelude.py"), "import json as _json"]
    pieces += [f"{name} = _json.loads({json.dumps(value)!r})" for name, value in given.items()]
    if "pynvml" in entry["needs"] and _pynvml():
        pieces += [
            "import sys as _sys, types as _types",
            "_sys.modules['pynvml'] = _types.ModuleType('pynvml')",
            f"exec(compile({_pynvml()!r}, 'pynvml.py', 'exec'), _sys.modules['pynvml'].__dict__)",
        ]
    return pieces + [text_of(f"scripts/{name}.py") for name in (*entry["parts"], probe)]


def script(knowledge: Knowledge) -> str:
    """All probes as one Python file that needs nothing but an interpreter, and prints what ``--facts`` reads."""
    parts: dict[str, int] = {}
    probes = []
    for probe, entry in knowledge.probes.items():
        pieces = [parts.setdefault(piece, len(parts)) for piece in _pieces(probe, knowledge)]
        limits = {name: entry[name] for name in ("seconds", "memory", "touches_gpu")}
        probes.append({"id": probe, "parts": pieces, **limits})
    return "\n".join(
        [
            *_SCRIPT_HEAD,
            f"RUNNER = {_literal(text_of('runner.py') + text_of('portable.py'))}",
            f"TOOL = {HEAD!r}",
            f"SUPERVISOR = {_literal(text_of('supervisor.py'))}",
            "PARTS = [",
            *(f"{_literal(part)}," for part in parts),
            "]",
            f"PROBES = {probes!r}",
            'if __name__ == "__main__":',
            "    exec(compile(RUNNER, 'runner', 'exec'))",
            "    main(TOOL, SUPERVISOR, PARTS, PROBES)",
            "",
        ]
    )


_SCRIPT_HEAD = (
    "# -*- coding: utf-8 -*-",
    "# All probes of cudnn-triage in one file: python look.py --help. Any Python can read this head; the rest is text to it.",
    "import sys",
    "if sys.version_info[:2] < (3, 8):",
    "    sys.exit('this needs Python 3.8 or newer and was run by ' + sys.version.split()[0] + ': run it with another one, '",
    "             'and name the Python to examine behind it: python3 look.py /path/to/python')",
)


def _literal(text: str) -> str:
    """``text`` as a Python literal that stays readable."""
    readable = "'''" not in text and not text.endswith(("'", "\\")) and "\r" not in text
    return f"r'''{text}'''" if readable else repr(text)
