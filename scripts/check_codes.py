#!/usr/bin/env python3
"""Show that ``explain`` answers every enumerator of the vendor's headers, by name, by number and in the forms people paste.

    python scripts/check_codes.py [--cache DIR] [--driver DIR] [LIBRARY ...]

Reads the headers in NVIDIA's wheels (downloaded with pip; see refresh_codes.py) and, with --driver, the Xid and SXid
numbers in a checkout of NVIDIA/open-gpu-kernel-modules. What was found in the headers is written to
tests/enumerators.txt, so that the test suite holds explain to it without a download. Ends with 1 where something is
not answered.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cudnn_triage.explain import find
from cudnn_triage.knowledge.base import Knowledge, load
from refresh_codes import LIBRARIES, enumeration, unpack

RECORD = Path(__file__).resolve().parent.parent / "tests" / "enumerators.txt"
XID_HEADER = "src/common/sdk/nvidia/inc/nverror.h"
SXID_HEADER = "src/common/nvswitch/interface/ctrl_dev_nvswitch.h"

Enumerators = dict[str, int]


def unanswered(library: str, name: str, number: int, knowledge: Knowledge) -> list[str]:
    """What explain does not answer with the page on this code: its name, its number, forms in which it is pasted."""
    pages = find(name, knowledge)
    if not pages:
        return [name]
    code = pages[0][1].id
    if library in ("xid", "sxid"):
        kind = "Xid" if library == "xid" else "SXid"
        forms = [str(number), f"{kind} {number}", f"{kind.lower()}{number}", f"{kind} (PCI:0000:3b:00): {number}"]
    else:
        forms = [str(number), hex(number), f"error {number}", f"{library} error {number}", f"{name} ({number})"]
    return [form for form in forms if code not in {page.id for _, page in find(form, knowledge)}]


def wheel_enumerators(library: str, cache: Path) -> Iterator[tuple[str, Enumerators]]:
    """(header and wheel, its status enumeration) of each wheel of a library."""
    wanted = LIBRARIES[library]
    for wheel in wanted.wheels:
        folder = unpack(wheel.requirement, (), cache)
        header = next(p for p in sorted(folder.glob("*.h")) if re.fullmatch(wanted.header, p.name))
        codes = enumeration(header.read_text(errors="replace"), wanted.first)
        yield (
            f"{header.name} of {folder.name.replace('_', '-').replace('@', ' ')}",
            {n: v for n, (v, _) in codes.items()},
        )


def driver_enumerators(driver: Path) -> Iterator[tuple[str, str, Enumerators]]:
    """(library, header, numbers) of the Xids and SXids in the driver's source, a checkout or a bare repository."""

    def text(path: str) -> str:
        if (driver / path).exists():
            return (driver / path).read_text()
        return subprocess.run(
            ["git", "-C", str(driver), "show", f"HEAD:{path}"], check=True, capture_output=True, text=True
        ).stdout

    xids = {n: int(v) for n, v in re.findall(r"^#define (\w+)\s+\((\d+)\)", text(XID_HEADER), re.M)}
    levels = {n for n in xids if n == "ROBUST_CHANNEL_LAST_ERROR" or "RECOVERY_LEVEL" in n}
    yield "xid", XID_HEADER, {n: v for n, v in xids.items() if n not in levels}
    sxids = {n: int(v) for n, v in re.findall(r"(NVSWITCH_ERR_HW_\w+)\s*=\s*(\d+)", text(SXID_HEADER))}
    yield "sxid", SXID_HEADER, {n: v for n, v in sxids.items() if v % 1000}  # a thousand is the name of a unit


def main() -> int:
    """Check the named libraries, all by default; 1 if explain does not answer something."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", nargs="*", choices=[*LIBRARIES, []], help="default: all")
    parser.add_argument("--cache", type=Path, help="folder for unpacked headers, kept")
    parser.add_argument("--driver", type=Path, help="checkout of NVIDIA/open-gpu-kernel-modules: checks xid and sxid")
    arguments = parser.parse_args()
    knowledge = load()
    with tempfile.TemporaryDirectory() as scratch:
        cache = arguments.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        found = [
            (library, source, codes)
            for library in arguments.library or LIBRARIES
            for source, codes in wheel_enumerators(library, cache)
        ]
    if arguments.driver:
        found += driver_enumerators(arguments.driver)
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    kept = [line for line in lines if line.split()[0] not in {library for library, _, _ in found}]
    missing = 0
    for library, source, codes in found:
        wrong = [form for name, number in codes.items() for form in unanswered(library, name, number, knowledge)]
        print(f"{library}: {source}: {len(codes)} enumerators, {len(wrong)} forms not answered")
        for form in wrong:
            print(f"    {form}")
        missing += len(wrong)
        kept += [f"{library} {name} {number}" for name, number in codes.items()]
    RECORD.write_text("\n".join(sorted(dict.fromkeys(kept))) + "\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
