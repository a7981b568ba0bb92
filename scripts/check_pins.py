#!/usr/bin/env python3
"""Check that every version that the knowledge base can print exists, and that sets which the solver gives resolve with pip.

    python scripts/check_pins.py                 both; minutes, needs the package registry
    python scripts/check_pins.py --no-resolve    only whether versions exist
    python scripts/check_pins.py --sets 10       fewer sets

Versions come from the pins in the fixes' commands, from the tables that recipes choose from, and from the commands of the
solved sets. pip looks them up and resolves them as it is set up on this machine, and installs nothing. Exit code 1 when
something is missing or does not resolve.

PyTorch's and Paddle's own wheel indices are not asked: builds such as 2.7.1+cu128 and 2.4.2.post117 are checked by their public
version, and in the resolver grid by the same release as the registry has it. conda packages and images are not checked.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

import registry
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.solving import Answer, Situation, Wishes, solve
from cudnn_triage.values import capability, version

INSTALL = re.compile(r"pip install (.*?)(?:$|&&|;|\|)", re.MULTILINE)
OPTION_WITH_VALUE = (
    "-i",
    "-f",
    "--index-url",
    "--extra-index-url",
    "--torch-backend",
    "--python",
    "-r",
    "-c",
    "-t",
    "--target",
)
ELSEWHERE = frozenset({"nvidia-tensorflow", "pyg-lib"})  # on an index of their own, which the fix adds
GRID = {
    "torch": (
        ("3.7", "5.0", "6.1", "7.0", "7.5", "8.6", "8.9", "9.0", "12.0"),
        ("470.82", "535.104.05", "580.65.06"),
        ("3.8", "3.10", "3.12", "3.14"),
    ),
    "tensorflow": (("6.1", "8.6", "9.0"), ("535.104.05",), ("3.9", "3.11", "3.13")),
    "jax": (("6.1", "8.6", "12.0"), ("535.104.05", "580.65.06"), ("3.10", "3.12")),
    "onnxruntime": (("6.1", "8.6"), ("470.82", "535.104.05", "580.65.06"), ("3.9", "3.11")),
    "ctranslate2": (("6.1", "8.6"), ("470.82", "535.104.05"), ("3.11",)),
    "cupy": (("6.1", "12.0"), ("535.104.05", "580.65.06"), ("3.12",)),
}
"""GPUs, drivers and Pythons that are combined for each framework; on Linux."""


@dataclass(frozen=True)
class Pin:
    """A requirement that the knowledge base can print, and where it stands."""

    requirement: Requirement
    where: str


def without_substitutions(command: str) -> str:
    """``command`` with VERSION in place of each ``$(...)``, whatever brackets are within."""
    kept, depth = [], 0
    for letter in command:
        if depth:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        elif letter == "(" and kept[-1:] == ["$"]:
            kept[-1], depth = "VERSION", 1
        else:
            kept.append(letter)
    return "".join(kept)


def requirements(command: str) -> Iterator[Requirement]:
    """What a pip command asks for; words in capitals and {holes} stand for something a person fills in."""
    plain = re.sub(r"(^|\s)(#|& rem ).*", "", without_substitutions(command))
    for found in INSTALL.finditer(plain):
        words = iter(re.findall(r'"[^"]*"|\S+', found[1]))
        for word in words:
            text = word.strip("\"'")
            if text in OPTION_WITH_VALUE:
                next(words, None)
            elif not text.startswith(("-", ".", "/", "#", "git+")) and not text.isupper() and "{" not in text:
                try:
                    yield Requirement(text)
                except InvalidRequirement:
                    continue


def pins_of_fixes(known: Knowledge) -> Iterator[Pin]:
    """The literal requirements of all fixes."""
    for name, cause in known.causes.items():
        for fix in cause["fixes"]:
            for command in (*fix["commands"], *fix["verify"]):
                yield from (Pin(found, f"{name}: {fix['title']}") for found in requirements(command))


def pins_of_tables(known: Knowledge) -> Iterator[Pin]:
    """The releases that recipes choose from, their companions and what they need beside them."""
    for name, recipe in known.recipes.items():
        for variant in recipe["variants"]:
            for item in variant["also"]:
                yield Pin(Requirement(item["requirement"]), f"solving/{name}.yaml")
            if variant["companions"]:
                for row in known.table[variant["companions"]["table"]]["rows"]:
                    for package in variant["companions"]["packages"]:
                        if package in row:
                            yield Pin(Requirement(f"{package}=={row[package]}"), variant["companions"]["table"])
    for row in known.table["wheels"]["rows"]:
        package, _, release = row["key"].partition(" ")
        if not row.get("source"):  # a row with a source of its own is of another index
            yield Pin(Requirement(f"{package}=={release}"), "wheels")


def missing(pin: Pin) -> str:
    """Why no release satisfies a pin; nothing where one does."""
    public = re.sub(r"\+\w+|\.post\d{3}", "", str(pin.requirement.specifier))  # 2.4.2.post117 is Paddle's for CUDA 11.7
    wanted = SpecifierSet(public)
    name = pin.requirement.name
    if name in ELSEWHERE or any(wanted.contains(release, prereleases=True) for release in registry.releases(name)):
        return ""
    releases = registry.releases(name) + registry.sources(name)
    if not releases:
        return "the registry has no such package"
    if not any(wanted.contains(release, prereleases=True) for release in releases):
        return f"no release satisfies {wanted}; newest {max(releases)}"
    return ""


def solved_sets(known: Knowledge, most: int) -> list[tuple[str, str, Answer]]:
    """Distinct sets that the solver gives for the grid: framework, Python, answer; spread over the frameworks."""
    by_framework: dict[str, dict[tuple[str, ...], tuple[str, str, Answer]]] = {}
    for framework, (gpus, drivers, pythons) in GRID.items():
        found = by_framework.setdefault(framework, {})
        for gpu, driver, python in itertools.product(gpus, drivers, pythons):
            situation = Situation(
                gpus=(capability(gpu),),
                driver=version(driver),
                system="linux",
                python=version(python),  # type: ignore[arg-type]
            )
            answer = solve(framework, situation, Wishes(), known, thorough=False)
            if answer.choice:
                found.setdefault((python, *answer.commands), (framework, python, answer))
    rounds = itertools.zip_longest(*(list(found.values()) for found in by_framework.values()))
    return [item for items in rounds for item in items if item][:most]


def asked(answer: Answer) -> list[str]:
    """The requirements of a solved set as the public registry can be asked for them: without local versions."""
    found = [str(r) for command in answer.commands for r in requirements(command)]
    return [re.sub(r"\+cu\d+", "", text) for text in found]


def resolve(framework: str, python: str, answer: Answer) -> bool:
    """Whether pip resolves a set; prints what it says."""
    wanted = asked(answer)
    items, why = registry.resolved(wanted, python, "linux-x86_64", deps=True)
    yanked = [item["metadata"]["name"] for item in items if item.get("is_yanked")]
    own = (
        " (own index; asked of the public registry)"
        if any("download.pytorch.org" in c for c in answer.commands)
        else ""
    )
    told = f"{len(items)} packages" if items else f"FAILED: {why}"
    told += f"; YANKED: {', '.join(yanked)}" if yanked else ""
    print(f"{framework:12} Python {python:5} {' '.join(wanted)}{own}: {told}", flush=True)
    return bool(items) and not yanked


def main() -> int:
    """Check pins and sets; print what is wrong and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-resolve", action="store_true", help="leave out the resolver grid")
    parser.add_argument("--sets", type=int, default=40, metavar="N", help="solved sets to resolve (default 40)")
    options = parser.parse_args()
    known = load()
    pins = {str(pin.requirement): pin for pin in (*pins_of_fixes(known), *pins_of_tables(known))}
    wrong = [(pin, why) for pin in pins.values() if (why := missing(pin))]
    for pin, why in wrong:
        print(f"{pin.requirement}: {why} ({pin.where})")
    names = {pin.requirement.name for pin in pins.values()}
    print(f"{len(pins)} requirements of {len(names)} packages: {len(wrong)} missing", flush=True)
    failed = 0
    if not options.no_resolve:
        sets = solved_sets(known, options.sets)
        failed = sum(not resolve(*item) for item in sets)
        print(f"{len(sets)} solved sets: {failed} do not resolve")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
