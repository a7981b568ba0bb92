"""What the compiled files of a wheel tell: GPU architectures they hold code for, TensorFlow's build info."""

from __future__ import annotations

import ast
import mmap
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

_MAGIC = b"\x50\xed\x55\xba"  # fatBinaryHeader.magic of fatbinary_section.h, little endian
_KINDS = {1: "compute", 2: "sm"}  # PTX and machine code
_COMPILED = re.compile(r"\.so(\.\d+)*$|\.dll$|\.pyd$")
_TORCH = re.compile(rb"(?:(?:sm|compute)_\d{2,3}[a-z]? ?){2,}(?=\0)")


def compiled_files(wheel: Path, only: str = "") -> Iterator[tuple[str, mmap.mmap]]:
    """The shared libraries of a wheel, one after the other, unpacked and mapped; ``only`` filters by a pattern in the name."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if not _COMPILED.search(member.filename) or not re.search(only, member.filename) or not member.file_size:
                continue
            with tempfile.TemporaryFile() as out:
                with archive.open(member) as packed:
                    shutil.copyfileobj(packed, out, 1 << 20)
                out.flush()
                with closing(mmap.mmap(out.fileno(), 0, access=mmap.ACCESS_READ)) as content:
                    yield member.filename, content


def fatbin_archs(content: mmap.mmap) -> set[tuple[str, int]]:
    """('sm', 86), ('compute', 90)... of every entry of every fat binary in a file (headers are never compressed)."""
    found: set[tuple[str, int]] = set()
    at = content.find(_MAGIC)
    while at >= 0:
        header, size = struct.unpack_from("<HQ", content, at + 6) if at + 16 <= len(content) else (0, 0)
        entry, end = at + header, min(at + header + size, len(content))
        while header == 16 and entry + 32 <= end:
            kind, _, head, body = struct.unpack_from("<HHIQ", content, entry)
            (arch,) = struct.unpack_from("<I", content, entry + 28)
            if kind not in _KINDS or not 20 <= arch <= 200 or not head:
                break
            found.add((_KINDS[kind], arch))
            entry += head + body
        at = content.find(_MAGIC, max(at + 4, end if header == 16 else 0))
    return found


def archs(wheel: Path, only: str = "") -> str:
    """'sm_50 sm_80 compute_90': the architectures of all fat binaries in a wheel, machine code first."""
    found: set[tuple[str, int]] = set()
    for _, content in compiled_files(wheel, only):
        found |= fatbin_archs(content)
    return " ".join(f"{kind}_{arch}" for kind, arch in sorted(found, key=lambda pair: (pair[0] != "sm", pair[1])))


def torch_archs(wheel: Path) -> str:
    """The list that torch.cuda.get_arch_list() prints, which is compiled into libtorch."""
    for _, content in compiled_files(wheel, r"torch_cuda|torch_cpu|libtorch|_C\."):
        lists = [found[0].decode() for found in _TORCH.finditer(content)]
        if lists:
            return max(lists, key=len).strip()
    return ""


def tensorflow_build(wheel: Path) -> dict[str, str]:
    """tf.sysconfig.get_build_info() of a TensorFlow wheel: cuda_version, cudnn_version, cuda_compute_capabilities ..."""
    with zipfile.ZipFile(wheel) as archive:
        name = next((m for m in archive.namelist() if m.endswith("platform/build_info.py")), "")
        text = archive.read(name).decode() if name else ""
    found = re.search(r"build_info = ([\w.]+\(.*?\)|\{.*?\})\s*$", text, re.DOTALL | re.MULTILINE)
    if not found:
        return {}
    tree = ast.parse(found[1], mode="eval").body  # collections.OrderedDict([(key, value), ...])
    pairs = ast.literal_eval(tree.args[0]) if isinstance(tree, ast.Call) else ast.literal_eval(tree).items()
    out: dict[str, str] = {}
    for key, told in pairs:
        out[key] = " ".join(told) if isinstance(told, (list, tuple)) else str(told)
    return out
