"""Compiled extensions of PyTorch: whether each can be imported beside the torch that is installed. Parts: trials, apart."""

import importlib
import importlib.util
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .apart import apart, step
    from .prelude import SETTINGS, absent, attempt, fact, read, run
    from .trials import failed


def present(module: str) -> bool:
    """Whether a module could be found, without importing it or what it is part of."""
    top, _, rest = module.partition(".")
    found = attempt(importlib.util.find_spec, top)
    if found is None:
        return False
    if not rest:
        return True
    names = [name for folder in found.submodule_search_locations or [] for name in attempt(os.listdir, folder) or []]
    return any(name.split(".")[0] == rest.split(".")[0] for name in names)


def examine(name: str, modules: "list[str]") -> None:
    """Import the compiled modules of one extension, after torch."""
    for module in ["torch", *modules]:
        step(f"import {module}")
        try:
            importlib.import_module(module)
        except BaseException as error:
            if module != "torch":
                fact("extension.failed", name)
                failed(error, "extension." + name)
            return
    fact("extension.loaded", name)


def examine_xformers() -> None:
    """What xformers notes of its build."""
    found = attempt(importlib.util.find_spec, "xformers")
    for folder in (found.submodule_search_locations if found else None) or []:
        noted: Any = attempt(json.loads, read(os.path.join(folder, "cpp_lib.json")) or "")
        version = (noted or {}).get("version", {})
        fact("extension.torch", version.get("torch"))
        cuda = version.get("cuda")
        fact("extension.cuda", f"{cuda // 100}.{cuda % 100}" if isinstance(cuda, int) and cuda >= 1000 else None)


def main() -> None:
    """Each extension in a child of its own."""
    if importlib.util.find_spec("torch") is None:
        absent("torch is not installed for this interpreter")
        return
    examine_xformers()
    seen = []
    for name, modules in SETTINGS["extensions"].items():
        there = [module for module in modules if present(module)]
        if there:
            seen.append(name)
            if not apart("extensions", name, examine, name, there):
                fact("extension.failed", name)
    fact("extension.found", bool(seen))


if __name__ == "__main__":
    run(main)
