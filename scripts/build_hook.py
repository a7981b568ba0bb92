"""Compiles rules/ when the wheel is built, so that a run parses no YAML; a rule that does not compile fails the build."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRules(BuildHookInterface[Any]):
    """Adds cudnn_triage/knowledge.bin, the compiled knowledge base, to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are collected."""
        if version == "editable":
            return  # a source tree compiles, and caches, its rules when it runs
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from cudnn_triage.knowledge.base import COMPILED, compile_folders
        from cudnn_triage.knowledge.packing import pack

        data = compile_folders([root / "rules"])
        self._folder = tempfile.TemporaryDirectory(prefix="cudnn-triage-")  # removed when the build ends
        target = Path(self._folder.name) / COMPILED
        target.write_bytes(pack(data))
        build_data["force_include"][str(target)] = f"cudnn_triage/{COMPILED}"
