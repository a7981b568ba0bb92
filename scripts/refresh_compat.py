#!/usr/bin/env python3
"""Refresh rows of rules/compat/*.yaml from the package registry: what releases ask for, and what their wheels hold.

    python scripts/refresh_compat.py [TABLE ...]
    python scripts/refresh_compat.py --binaries tensorflow onnxruntime

For every release of a package that pip can see, pip resolves the wheel and reports its metadata (pip 23.3 or newer does so
without downloading it, and tells withdrawn releases). The pins in it (nvidia-cudnn-cu12==9.1.0.70, cuda-toolkit==13.0.2, ...)
fill the columns cuda, cudnn and nccl, its classifiers the columns python_oldest and python_newest. For gcc-nvcc the small
wheel with nvcc's host_config.h is downloaded and its limits are read. The table wheels is made of the names of the wheel
files, torch-companions of the torch that torchvision and torchaudio pin. With --binaries the wheels of a table's rows are
downloaded one after the other (hundreds of megabytes each) and the architectures in their compiled files fill the column
archs. Columns that people filled in (builds, ...) and rows of releases that have no metadata stay as they are. A row whose
release is already there is read again only with --all. Review the result with git diff.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

import binaries
import registry

COMPAT = Path(__file__).resolve().parent.parent / "rules" / "compat"
COLUMNS = {
    "cudnn": re.compile(r"nvidia-cudnn-cu\d+$"),
    "cuda": re.compile(r"nvidia-cuda-runtime(-cu\d+)?$|cuda-toolkit$"),
    "nccl": re.compile(r"nvidia-nccl-cu\d+$"),
}

Row = dict[str, str]


@dataclass(frozen=True)
class Source:
    """The package behind a table: its releases from ``since`` on, one row for each or one for each minor release."""

    package: str
    since: str
    minor: bool = False


SOURCES = {
    "pytorch": Source("torch", "2.6"),
    "tensorflow": Source("tensorflow", "2.14", minor=True),
    "jax": Source("jax-cuda12-plugin", "0.4.22"),
    "jax-cuda13": Source("jax-cuda13-plugin", "0.7.2"),
    "onnxruntime": Source("onnxruntime-gpu", "1.20", minor=True),
}
COMPILERS = {"nvidia-cuda-nvcc-cu11": "11", "nvidia-cuda-nvcc-cu12": "12", "nvidia-cuda-crt": "13"}


def lowest(specifiers: SpecifierSet) -> str:
    """The lowest version that a pin allows."""
    bounds = [s.version.removesuffix(".*") for s in specifiers if s.operator in ("==", ">=", "~=")]
    return min(bounds, key=Version, default="")


def row_of(found: dict[str, Any]) -> Row:
    """The columns that a release's metadata fills."""
    row: Row = {}
    for line in found.get("requires_dist", []):
        requirement = Requirement(line)
        for column, pattern in COLUMNS.items():
            if pattern.match(requirement.name) and (version := lowest(requirement.specifier)):
                row[column] = ".".join(version.split(".")[:2]) if column == "cuda" else version
    pythons = sorted(Version(m[1]) for c in found.get("classifier", []) if (m := re.match(r".*Python :: (3\.\d+)$", c)))
    if pythons:
        row["python_oldest"] = str(pythons[0])
        row["python_newest"] = str(pythons[-1])
    return row


def packaged(source: Source, known: set[str]) -> Iterator[Row]:
    """A row for each release of a package that is not among ``known`` and was not withdrawn."""
    seen = set(known)
    for release in registry.releases(source.package):
        key = ".".join(map(str, release.release[:2])) if source.minor else str(release)
        if release < Version(source.since) or release.is_prerelease or release.local or key in seen:
            continue
        seen.add(key)
        found = None if registry.yanked(source.package, release) else registry.metadata(source.package, release)
        row = row_of(found) if found else {}
        if row.get("cuda") or row.get("cudnn"):
            yield {"key": key, **row, "source": f"metadata of {source.package} {release}"}


def compilers(known: set[str]) -> Iterator[Row]:
    """A row for each toolkit release: the newest gcc and Visual C++ that its host_config.h accepts."""
    seen = set(known)
    for package in COMPILERS:
        for release in registry.releases(package):
            key = ".".join(map(str, release.release[:2]))
            if key in seen:
                continue
            seen.add(key)
            with registry.downloaded(package, str(release)) as wheel:
                if wheel is None:
                    continue
                with zipfile.ZipFile(wheel) as archive:
                    member = next(m for m in archive.namelist() if m.endswith("host_config.h"))
                    text = archive.read(member).decode(errors="replace")
            row: Row = {"key": key}
            if found := re.search(r"__GNUC__ > (\d+)", text):
                row["gcc"] = found[1]
            if found := re.search(r"_MSC_VER >= (\d+)", text):
                row["msvc_below"] = found[1]
            if found := re.search(r"clang version must be less than (\d+)", text):
                row["clang_below"] = found[1]
            yield {**row, "source": f"host_config.h of {package} {release}"}


WHEELS = {
    "torch": "1.0",
    "torchvision": "0.2.1",
    "torchaudio": "0.3",
    "tensorflow": "2.1",
    "tensorflow-gpu": "1.13",
    "jax-cuda12-plugin": "0.4.30",
    "jax-cuda13-plugin": "0.7.2",
    "onnxruntime-gpu": "1.11",
    "ctranslate2": "3.0",
    "cupy-cuda11x": "11.0",
    "cupy-cuda12x": "12.0",
    "cupy-cuda13x": "13.0",
    "paddlepaddle-gpu": "2.0",
}
"""Packages that the solver chooses from, and the oldest release of interest."""
NEWEST_PYTHON = 15  # of 3.x, for wheels that do not name theirs
PYTHONS_OF = {
    "pytorch": ("torch",),
    "tensorflow": ("tensorflow", "tensorflow-gpu"),
    "jax": ("jax-cuda12-plugin",),
    "jax-cuda13": ("jax-cuda13-plugin",),
    "onnxruntime": ("onnxruntime-gpu",),
}
"""Packages whose wheels tell the Pythons of a table's rows."""
PAIRED = {"torchvision": "0.2.1", "torchaudio": "0.3"}


def wheel_rows(known: set[str]) -> Iterator[Row]:
    """A row for each release that was not withdrawn: the Pythons it has wheels for, by platform, and the oldest glibc."""
    for package, since in WHEELS.items():
        found: dict[Version, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        glibc: dict[Version, str] = {}
        for wheel in registry.wheels(package):
            if wheel.version >= Version(since) and wheel.platform:
                if f"{package} {wheel.version}" in known:
                    continue
                found[wheel.version][wheel.platform] |= wheel.pythons or any_python(package, wheel.version)
                if wheel.glibc:
                    glibc[wheel.version] = min(glibc.get(wheel.version, wheel.glibc), wheel.glibc, key=Version)
        for release in sorted(found):
            if registry.yanked(package, release):
                continue
            columns = {name: spans(found[release][name]) for name in sorted(found[release])}
            yield {"key": f"{package} {release}", **columns, "glibc": glibc.get(release, "")}


@cache
def any_python(package: str, release: Version) -> frozenset[str]:
    """The Pythons of a release whose wheels name none (py3-none-PLATFORM): those that its metadata admits."""
    admitted = SpecifierSet((registry.metadata(package, release) or {}).get("requires_python", ">=3.9"))
    return frozenset(f"3.{minor}" for minor in range(6, NEWEST_PYTHON + 1) if admitted.contains(f"3.{minor}.99"))


def spans(pythons: set[str]) -> str:
    """'3.8-3.11 3.13' of a set of Pythons."""
    rows: list[list[int]] = []
    for minor in sorted(int(p.partition(".")[2]) for p in pythons):
        if rows and minor == rows[-1][-1] + 1:
            rows[-1].append(minor)
        else:
            rows.append([minor])
    return " ".join(f"3.{r[0]}" if len(r) == 1 else f"3.{r[0]}-3.{r[-1]}" for r in rows)


def name_pythons(rows: Iterable[Row], packages: tuple[str, ...]) -> None:
    """Fill the columns python_oldest and python_newest from the names of the Linux wheels, where a release has any."""
    for row in rows:
        prefix = Version(row["key"]).release
        mine = [
            python
            for package in packages
            for wheel in registry.wheels(package)
            if wheel.version.release[: len(prefix)] == prefix and wheel.platform == "linux-x86_64"
            for python in wheel.pythons
        ]
        told = "Pythons: names of the wheel files"
        if mine and (min(mine, key=Version), max(mine, key=Version)) != (
            row.get("python_oldest"),
            row.get("python_newest"),
        ):
            row["python_oldest"], row["python_newest"] = min(mine, key=Version), max(mine, key=Version)
            row["read"] = today()
            row["source"] = row["source"] if told in row["source"] else f"{row['source']}; {told}"


def companion_rows(known: set[str]) -> Iterator[Row]:
    """A row for each release of torch: the torchvision and torchaudio that go with it by their own metadata."""
    told = {
        package: {
            release: (registry.metadata(package, release) or {}).get("requires_dist", [])
            for release in registry.releases(package)
            if release >= Version(since)
        }
        for package, since in PAIRED.items()
    }
    for row in paired(told, registry.releases("torch")):
        if row["key"] not in known:
            yield {**row, "source": f"metadata of {' and '.join(PAIRED)}"}


def paired(told: dict[str, dict[Version, list[str]]], torches: list[Version]) -> Iterator[Row]:
    """Releases that pin a torch go with it; those that name an oldest torch go with each from there that nothing pins."""
    for torch in sorted(torches):
        row: Row = {"key": str(torch)}
        for package, releases in told.items():
            pins = {release: pin for release, lines in releases.items() if (pin := _pin(lines))}
            exact = [r for r, pin in pins.items() if pin.operator == "==" and Version(pin.version).public == str(torch)]
            open_ended = [r for r, pin in pins.items() if pin.operator == ">=" and Version(pin.version) <= torch]
            if found := exact or [
                r for r in open_ended if all(r > e for e, pin in pins.items() if pin.operator == "==")
            ]:
                row[package] = str(max(found))
        if len(row) > 1:
            yield row


def _pin(lines: list[str]) -> Specifier | None:
    """What a package asks of torch: one specifier, or nothing."""
    asked = [r.specifier for line in lines if (r := Requirement(line)).name == "torch" and not r.marker]
    return next((Specifier(str(s)) for s in asked[0]), None) if asked and len(asked[0]) == 1 else None


BINARIES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "torch-builds": ("torch", binaries.torch_archs),
    "tensorflow": ("tensorflow", lambda wheel: binaries.tensorflow_build(wheel).get("cuda_compute_capabilities", "")),
    "onnxruntime": ("onnxruntime-gpu", binaries.archs),
    "jax": ("jax-cuda12-plugin", binaries.archs),
    "jax-cuda13": ("jax-cuda13-plugin", binaries.archs),
}
"""How the column archs of a table is read from the wheels of its package."""


def refresh_archs(table: str) -> None:
    """Fill the column archs of the rows whose release has a wheel; of torch only the builds that are the default ones."""
    path = COMPAT / f"{table}.yaml"
    document = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    package, read = BINARIES[table]
    listed = registry.releases(package)
    for row in document["rows"]:
        if "+" in row["key"] and row.get("default") != "yes":
            continue
        wanted = Version(row["key"].partition("+")[0]) if row["key"][0].isdigit() else None
        mine = [r for r in listed if wanted and r.release[: len(wanted.release)] == wanted.release]
        if not mine:
            continue
        with registry.downloaded(package, str(mine[0])) as wheel:
            archs = read(wheel) if wheel else ""
        if archs:
            row["archs"], row["read"] = archs, today()
            told = f"the wheel {package} {mine[0]}"
            row["source"] = row["source"] if told in row["source"] else f"{row['source']}; archs: {told}"
    path.write_text(dump(document))


def today() -> str:
    """The day that goes into the column read."""
    return datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()


class _Flow(dict[str, str]):
    """A mapping written on one line."""


class _Dumper(yaml.SafeDumper):
    """Block style, one line for each row."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Flow, lambda d, value: d.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=True)
)


def dump(document: dict[str, Any]) -> str:
    """The YAML text of a table, always laid out the same way: one line for each row, columns in a fixed order."""
    head = {k: (_Flow(v) if isinstance(v, dict) else v) for k, v in document.items() if k != "rows"}
    columns = dict.fromkeys(c for row in document["rows"] for c in row if c not in ("source", "read"))
    rows = [_Flow({c: row[c] for c in (*columns, "source", "read") if row.get(c)}) for row in document["rows"]]
    return str(yaml.dump({**head, "rows": rows}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000))


def refresh(table: str, again: bool) -> None:
    """Rewrite one table: new rows, and with ``again`` also the rows that are there."""
    path = COMPAT / f"{table}.yaml"
    document = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    rows: dict[str, Row] = {row["key"]: row for row in document["rows"]}
    known = set() if again else set(rows)
    makers = {"gcc-nvcc": compilers, "wheels": wheel_rows, "torch-companions": companion_rows}
    fresh = makers[table](known) if table in makers else packaged(SOURCES[table], known)
    for row in fresh:
        stamp = {} if table == "wheels" else {"read": today()}
        rows[row["key"]] = {**rows.get(row["key"], {}), **row, **stamp}
    if table == "wheels":
        document["read"] = today()
    if table in PYTHONS_OF:
        name_pythons(rows.values(), PYTHONS_OF[table])
    document["rows"] = sorted(rows.values(), key=_order)
    path.write_text(dump(document))


def _order(row: Row) -> tuple[str, Version]:
    """By package where a key names one, then by version."""
    package, _, version = row["key"].rpartition(" ")
    return package, Version(version)


def main() -> int:
    """Refresh the named tables, all of them by default."""
    tables = [*SOURCES, "gcc-nvcc", "torch-companions", "wheels"]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", nargs="*", help=f"default: {', '.join(tables)}")
    parser.add_argument("--all", action="store_true", help="read again the releases that the tables have")
    parser.add_argument(
        "--binaries", action="store_true", help=f"download the wheels of {', '.join(BINARIES)} and read archs from them"
    )
    arguments = parser.parse_args()
    for table in arguments.table or (BINARIES if arguments.binaries else tables):
        if arguments.binaries:
            refresh_archs(table)
        else:
            refresh(table, arguments.all)
    return 0


if __name__ == "__main__":
    sys.exit(main())
