"""The user's cache of compiled rules, keyed by the contents of the rules and of the code that compiles them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .store import Store

_KEPT = 6  # compiled knowledge bases; older ones are removed
_CODE = Path(__file__).parent
_PACKAGE = _CODE.parent


def digest(folders: Iterable[Path], pattern: str = "*.yaml") -> str:
    """A hash of the names and contents of all files of these folders: the identity of a knowledge base."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob(pattern)):
            total.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            try:
                total.update(path.read_bytes())
            except OSError:
                continue  # a dangling link; reading the rules reports it
    return total.hexdigest()[:12]


def folder() -> Path | None:
    """The cache folder of the user, or None where there is no home to keep one in."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if not base:
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return Path(base) / "cudnn-triage"


def compiled(
    shipped: Path, extra: Sequence[str], compile_rules: Callable[[Sequence[str | Path]], dict[str, Any]], known: str
) -> bytes:
    """The store of these rules, made now or by an earlier run over the same contents. What compiling raises, raises.

    ``known`` is the identity of the shipped rules where the package tells it, so that they need not be read.
    """
    from .packing import pack

    cache = folder()
    if cache is None:
        return pack(compile_rules([shipped, *extra]))
    own = digest([Path(path) for path in extra]) if extra else ""
    # the grammar names texts for the scan of long logs to look for
    code = digest([_CODE, _PACKAGE / "grammar"], "*.py") + digest([_PACKAGE], "values.py")
    file = cache / f"{known or digest([shipped])}-{own}-{code}.bin"
    found = _load(file)
    if found is None:
        found = pack(compile_rules([shipped, *extra]))
        store(file, found)
    return found


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What an earlier run kept under this name, or what ``make`` gives, kept for later ones."""
    cache = folder()
    if cache is None:
        return make()
    file = cache / name
    try:
        return file.read_bytes()
    except OSError:
        made = make()
        store(file, made)
        return made


def _load(file: Path) -> bytes | None:
    try:
        data = file.read_bytes()
        Store(data)
    except (OSError, ValueError):
        return None
    return data


def store(file: Path, data: bytes) -> None:
    """Write whole or not at all; a read-only home or a full disk only costs the time to make it again."""
    scratch = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".tmp", delete=False) as out:
            scratch = out.name
            out.write(data)
        os.replace(scratch, file)
        old = sorted(file.parent.glob(f"*{file.suffix}"), key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]
        for path in old:
            path.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            os.unlink(scratch)
