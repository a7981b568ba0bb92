#!/usr/bin/env python3
"""Refresh rows of rules/compat/*.yaml from package metadata: which CUDA, cuDNN, NCCL and Python each release asks for.

    python scripts/refresh_compat.py [TABLE ...]

For every release of a package that pip can see, pip resolves the wheel and reports its metadata (pip 24 or newer does so
without downloading it). The pins in it (nvidia-cudnn-cu12==9.1.0.70, cuda-toolkit==13.0.2, ...) fill the columns cuda,
cudnn and nccl, its classifiers the columns python_oldest and python_newest. For gcc-nvcc the small wheel with nvcc's
host_config.h is downloaded and its limits are read. Columns that people filled in (archs, builds, ...) and rows of
releases that have no metadata stay as they are. A row whose release is already there is read again only with --all.
Review the result with git diff.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

COMPAT = Path(__file__).resolve().parent.parent / "rules" / "compat"
PYTHONS = ("3.12", "3.11", "3.13", "3.10", "3.14", "3.9", "3.8", "3.7")
PLATFORMS = (
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
)
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


def pip(*arguments: str) -> str | None:
    """What pip prints, or None where it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


def releases(package: str) -> list[Version]:
    """The releases of a package that pip can see, newest first."""
    listing = pip("index", "versions", package) or ""
    found = re.search(r"Available versions: (.*)", listing)
    return [Version(v.strip()) for v in found[1].split(",")] if found else []


def metadata(requirement: str) -> dict[str, Any] | None:
    """The metadata of the Linux wheel that a requirement selects, for the first Python that has one."""
    for python in PYTHONS:
        tag = "cp" + python.replace(".", "")
        command = [
            "install",
            "--dry-run",
            "--no-deps",
            "--ignore-installed",
            "--quiet",
            "--only-binary=:all:",
            "--target",
            "unused",
        ]
        command += ["--python-version", python, "--implementation", "cp", "--report", "-"]
        for abi in (tag, f"{tag}m", "abi3", "none"):
            command += ["--abi", abi]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        report = pip(*command, requirement)
        if report:
            found: dict[str, Any] = json.loads(report)["install"][0]["metadata"]
            return found
    return None


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
    """A row for each release of a package that is not among ``known``."""
    seen = set(known)
    for release in releases(source.package):
        key = ".".join(map(str, release.release[:2])) if source.minor else str(release)
        if release < Version(source.since) or release.is_prerelease or release.local or key in seen:
            continue
        seen.add(key)
        found = metadata(f"{source.package}=={release}")
        row = row_of(found) if found else {}
        if row.get("cuda") or row.get("cudnn"):
            yield {"key": key, **row, "source": f"metadata of {source.package} {release}"}


def compilers(known: set[str]) -> Iterator[Row]:
    """A row for each toolkit release: the newest gcc and Visual C++ that its host_config.h accepts."""
    seen = set(known)
    for package in COMPILERS:
        for release in releases(package):
            key = ".".join(map(str, release.release[:2]))
            if key in seen:
                continue
            seen.add(key)
            with tempfile.TemporaryDirectory() as folder:
                pip(
                    "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, f"{package}=={release}"
                )
                wheel = next(Path(folder).glob("*.whl"), None)
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
            yield {**row, "source": f"host_config.h of {package} {release}"}


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
    today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    fresh = compilers(known) if table == "gcc-nvcc" else packaged(SOURCES[table], known)
    for row in fresh:
        rows[row["key"]] = {**rows.get(row["key"], {}), **row, "read": today}
    document["rows"] = sorted(rows.values(), key=lambda row: Version(row["key"]))
    path.write_text(dump(document))


def main() -> int:
    """Refresh the named tables, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", nargs="*", help=f"default: {', '.join([*SOURCES, 'gcc-nvcc'])}")
    parser.add_argument("--all", action="store_true", help="read again the releases that the tables have")
    arguments = parser.parse_args()
    for table in arguments.table or [*SOURCES, "gcc-nvcc"]:
        refresh(table, arguments.all)
    return 0


if __name__ == "__main__":
    sys.exit(main())
