#!/usr/bin/env python3
"""Refresh names, numbers and error strings in rules/codes/*.yaml from the headers and libraries in NVIDIA's wheels.

    python scripts/refresh_codes.py [--cache DIR] [LIBRARY ...]

Each library's wheels are downloaded with pip (some are 300-900 MB; they are deleted once read, unless --cache names a
folder to unpack them to and to read them from next time), and their headers' status enumeration is merged into
rules/codes/LIBRARY.yaml. What people wrote stays: meaning, points_to, symptom_of, further texts, numbers and sources,
and codes that newer headers no longer have. Where a library has a function that returns its error strings, it is called
(no GPU is needed for that); a string is added unless one that is there ends with it, so that a string which other
programs print too ('operation not permitted') can be kept with the words before it. A code that is new has no meaning
yet: it is named at the end, and tests/test_codes.py fails until somebody writes one. Review the result with git diff.
Tables without a header in a wheel (xid, sxid, winerror, exitcodes) are kept by hand; scripts/check_codes.py says what they lack.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CODES = Path(__file__).resolve().parent.parent / "rules" / "codes"

Codes = dict[str, tuple[int, bool]]
"""Name -> (number, whether it is only another name for a code that has one)."""


@dataclass(frozen=True)
class Wheel:
    """One wheel to read: what pip is asked for, and which releases its numbers stand for where they differ from the newest."""

    requirement: str
    releases: str = ""


@dataclass(frozen=True)
class Library:
    """Where the status codes of one library stand."""

    header: str
    first: str
    wheels: tuple[Wheel, ...]
    strings: str = ""
    shared: tuple[str, ...] = field(default=())


LIBRARIES = {
    "cudnn": Library(
        "cudnn_(graph|ops_infer).h",
        "CUDNN_STATUS_SUCCESS",
        (Wheel("nvidia-cudnn-cu11<9", "cuDNN 7-8"), Wheel("nvidia-cudnn-cu13", "cuDNN 9")),
    ),
    "cudart": Library(
        "driver_types.h",
        "cudaSuccess",
        (Wheel("nvidia-cuda-runtime-cu11"), Wheel("nvidia-cuda-runtime-cu12"), Wheel("nvidia-cuda-runtime")),
        "cudaGetErrorString",
        ("libcudart.so",),
    ),
    "cuda": Library(
        "cuda.h",
        "CUDA_SUCCESS",
        (Wheel("nvidia-cuda-runtime-cu11"), Wheel("nvidia-cuda-runtime-cu12"), Wheel("nvidia-cuda-runtime")),
    ),
    "cublas": Library(
        "cublas_api.h",
        "CUBLAS_STATUS_SUCCESS",
        (Wheel("nvidia-cublas-cu11"), Wheel("nvidia-cublas")),
        "cublasGetStatusString",
        ("libcublasLt.so", "libcublas.so"),
    ),
    "cusparse": Library("cusparse.h", "CUSPARSE_STATUS_SUCCESS", (Wheel("nvidia-cusparse"),)),
    "cusolver": Library("cusolver_common.h", "CUSOLVER_STATUS_SUCCESS", (Wheel("nvidia-cusolver"),)),
    "cufft": Library("cufft.h", "CUFFT_SUCCESS", (Wheel("nvidia-cufft-cu11"), Wheel("nvidia-cufft"))),
    "curand": Library("curand.h", "CURAND_STATUS_SUCCESS", (Wheel("nvidia-curand"),)),
    "nvrtc": Library("nvrtc.h", "NVRTC_SUCCESS", (Wheel("nvidia-cuda-nvrtc"),)),
    "nvjitlink": Library("nvJitLink.h", "NVJITLINK_SUCCESS", (Wheel("nvidia-nvjitlink"),)),
    "cupti": Library("cupti_result.h", "CUPTI_SUCCESS", (Wheel("nvidia-cuda-cupti"),)),
    "nvml": Library("nvml.h", "NVML_SUCCESS", (Wheel("nvidia-nvml-dev"),)),
    "nccl": Library("nccl.h", "ncclSuccess", (Wheel("nvidia-nccl-cu13"),), "ncclGetErrorString", ("libnccl.so",)),
}


def unpack(requirement: str, wanted: tuple[str, ...], folder: Path) -> Path:
    """Download one wheel, leave its headers and the wanted libraries in ``folder`` and return where they lie."""
    name = re.split(r"[<=>]", requirement)[0].replace("-", "_")
    key = re.sub(r"\W+", "_", requirement)
    for done in sorted(folder.glob(f"{key}@*")):
        if all(any(done.glob(f"{stem}*")) for stem in wanted):
            return done
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            scratch,
        ]
        subprocess.run([*command, requirement], check=True)
        wheel = next(Path(scratch).glob(f"{name}-*.whl"))
        target = folder / f"{key}@{wheel.name.split('-')[1]}"
        target.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                path = Path(member)
                if path.suffix == ".h" or path.name.startswith(wanted or ("\0",)):
                    (target / path.name).write_bytes(archive.read(member))
    return target


def enumeration(text: str, first: str) -> Codes:
    """The members of the C enumeration that holds ``first``."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", "", text, flags=re.S | re.M)
    body = next(b for b in re.findall(r"\benum\b[^{;()]*\{([^{}]*)\}", text) if re.search(rf"\b{first}\b", b))
    codes: Codes = {}
    number = -1
    for entry in filter(None, map(str.strip, body.split(","))):
        name, _, value = entry.partition("=")
        alias = value.strip() in codes
        number = codes[value.strip()][0] if alias else int(value.split()[0], 0) if value.strip() else number + 1
        codes[name.split()[0]] = (number, alias)
    return {n: c for n, c in codes.items() if not re.search(r"FORCE_INT|NumResults", n)}


def error_strings(folder: Path, library: Library, codes: Codes) -> dict[str, str]:
    """What the library itself prints for its codes."""
    if not library.strings:
        return {}
    for stem in library.shared:
        loaded = ctypes.CDLL(str(next(folder.glob(f"{stem}*"))))
    function = getattr(loaded, library.strings)
    function.restype = ctypes.c_char_p
    return {name: function(number).decode() for name, (number, _) in codes.items()}


def merge(document: dict[str, Any], wheel: Wheel, codes: Codes, strings: dict[str, str], newest: bool) -> None:
    """Put one release's names, numbers and strings into a document; leave what people wrote."""
    have = {code["name"]: code for code in document["codes"]}
    order = {name: place for place, name in enumerate(codes)}
    for name, (number, alias) in codes.items():
        code = have.get(name)
        if code is None:
            code = have[name] = {"name": name}
            document["codes"].append(code)
        if newest and (not alias or "number" not in code):
            code["number"] = str(number)
        elif newest and wheel.releases:
            code.setdefault("numbers", {})[wheel.releases] = str(number)
        elif wheel.releases:
            code.setdefault("number", str(number))
            code.setdefault("numbers", {})[wheel.releases] = str(number)
        else:
            code.setdefault("number", str(number))
        text = strings.get(name, "").rstrip(".")
        known = code.setdefault("texts", [])
        if number and text and not any(k.lower().endswith(text.lower()) for k in known):
            known.append(text)
    if newest:
        document["codes"].sort(key=lambda code: order.get(code["name"], len(order)))
        for code in document["codes"]:
            same = {k: v for k, v in code.get("numbers", {}).items() if v != code["number"]}
            code.pop("numbers", None)
            if same:
                code["numbers"] = same


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


class _Dumper(yaml.SafeDumper):
    """Block style, but one line for a mapping or list of scalars."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Flow, lambda d, value: d.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=True)
)
_Dumper.add_representer(
    list,
    lambda d, value: d.represent_sequence(
        "tag:yaml.org,2002:seq",
        value,
        flow_style=bool(value) and all(isinstance(v, str) and len(v) < 40 for v in value),
    ),
)

KEYS = (
    "name",
    "number",
    "numbers",
    "also",
    "texts",
    "meaning",
    "kind",
    "action",
    "points_to",
    "symptom_of",
    "survived",
)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _Flow({k: _plain(v) for k, v in value.items()})
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return int(value) if re.fullmatch(r"-?(0|[1-9]\d*)", value) else value


def dump(document: dict[str, Any]) -> str:
    """The YAML text of a code file, always laid out the same way."""
    head = {k: _plain(v) for k, v in document.items() if k != "codes"}
    rows = [
        {k: _plain(code[k]) for k in (*KEYS, *(code.keys() - {*KEYS})) if code.get(k)} for code in document["codes"]
    ]
    return str(yaml.dump({**head, "codes": rows}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=150))


def refresh(name: str, cache: Path) -> list[str]:
    """Rewrite one file of rules/codes; returns the names of codes that nobody has described yet."""
    library = LIBRARIES[name]
    path = CODES / f"{name}.yaml"
    document = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    read: list[str] = []
    for wheel in library.wheels:
        folder = unpack(wheel.requirement, library.shared, cache)
        header = next(p for p in sorted(folder.glob("*.h")) if re.fullmatch(library.header, p.name))
        codes = enumeration(header.read_text(errors="replace"), library.first)
        merge(document, wheel, codes, error_strings(folder, library, codes), wheel is library.wheels[-1])
        read.append(f"{header.name} of {wheel.requirement.split('<')[0]} {folder.name.split('@')[1]}")
    others = [part for part in document["source"].split("; ") if part and not re.match(r"\S+\.h of nvidia-", part)]
    document["source"] = "; ".join([*read, *others])
    document["read"] = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    path.write_text(dump(document))
    return [code["name"] for code in document["codes"] if not code.get("meaning")]


def main() -> int:
    """Refresh the named libraries, all of them by default; 1 if a code has no meaning yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", nargs="*", choices=[*LIBRARIES, []], help="default: all")
    parser.add_argument("--cache", type=Path, help="folder for unpacked headers, kept")
    arguments = parser.parse_args()
    missing = 0
    with tempfile.TemporaryDirectory() as scratch:
        cache = arguments.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        for name in arguments.library or LIBRARIES:
            for code in refresh(name, cache):
                print(f"{name}: {code} has no meaning", file=sys.stderr)
                missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
