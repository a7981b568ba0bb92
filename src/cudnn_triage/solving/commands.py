"""A build as a set of packages, and the commands of its recipe with the versions filled in."""

from __future__ import annotations

import re
from typing import Any

from ..knowledge.base import Knowledge
from ..values import version
from .answer import Choice
from .builds import Build
from .constraints import companions, platforms
from .ground import Ground
from .limits import keeps
from .situation import Situation, Wishes

_OF_THE_BUILD = ("release", "tag", "cuda", "cuda.major", "cudnn", "cudnn.major", "also", "companions")
HOLES = frozenset(("environment", "install", "remove", "python", "python.command", *_OF_THE_BUILD))
"""What a recipe's commands may leave to be filled, beside the names of companions."""
_HOLE = re.compile(r"\{([a-z.+]+)\}")


def choice(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> Choice:
    """What a build is, in words and versions, with the packages that go with it here."""
    cuda = f" with CUDA {build.code.cuda}" if build.code.cuda else ""
    first = (build.package, f"{build.release}{'+' + build.tag if build.tag else ''}")
    return Choice(
        framework=build.framework,
        title=f"{build.title} {build.release}{cuda}",
        release=str(build.release),
        cuda=str(build.code.cuda or ""),
        cudnn=str(build.code.cudnn or ""),
        packages=(first, *((name, str(found)) for name, found in companions(build, situation, wishes, ground))),
    )


def commands(build: Build, situation: Situation, wishes: Wishes, ground: Ground) -> tuple[str, ...]:
    """The commands that install a build with the wished manager; empty where its recipe has no way for that."""
    variant = _variant(build, ground.knowledge)
    way = next((w for w in variant["ways"] if _fits(w, build, situation, wishes)), None)
    if way is None:
        return ()
    manager = ground.managers[wishes.manager]
    values = _values(build, situation, wishes, ground, variant)
    lines = [manager.get("before", ""), *way["commands"]]
    done = (_filled(line, values) for line in lines)
    return tuple(line for line in done if line)


def way_exists(build: Build, situation: Situation, wishes: Wishes, knowledge: Knowledge) -> bool:
    """Whether the recipe tells how to install a build with the wished manager."""
    return any(_fits(way, build, situation, wishes) for way in _variant(build, knowledge)["ways"])


def verify(build: Build, wishes: Wishes, ground: Ground) -> tuple[str, ...]:
    """The commands that show that the build works."""
    run = ground.managers[wishes.manager]["python"].replace("{environment}", build.framework)
    return tuple(line.replace("{python}", run) for line in ground.knowledge.recipes[build.framework]["verify"])


def _variant(build: Build, knowledge: Knowledge) -> dict[str, Any]:
    found: dict[str, Any] = knowledge.recipes[build.framework]["variants"][build.variant]
    return found


def _fits(way: dict[str, Any], build: Build, situation: Situation, wishes: Wishes) -> bool:
    if way["managers"] and wishes.manager not in way["managers"]:
        return False
    if way["systems"] and situation.system not in way["systems"]:
        return False
    if way["default"] == "true" and not build.default:
        return False
    return keeps(build.release, way["releases"])


def _values(
    build: Build, situation: Situation, wishes: Wishes, ground: Ground, variant: dict[str, Any]
) -> dict[str, str]:
    manager = ground.managers[wishes.manager]
    also = [item["requirement"] for item in variant["also"] if _needed(item, build, situation)]
    values = {
        "environment": build.framework,
        "install": manager["install"],
        "remove": manager.get("remove", ""),
        "python": _python(build, situation, ground),
        "python.command": manager["python"],
        "release": str(build.release),
        "tag": build.tag,
        "cuda": str(build.code.cuda or ""),
        "cuda.major": str(build.code.cuda.parts[0]) if build.code.cuda else "",
        "cudnn": str(build.code.cudnn or ""),
        "cudnn.major": str(build.code.cudnn.parts[0]) if build.code.cudnn else "",
        "also": " ".join(f'"{requirement}"' for requirement in also),
    }
    beside = {name: f"{name}=={found}" for name, found in companions(build, situation, wishes, ground)}
    tagged = {f"{name}+tag": f"{text}+{build.tag}" for name, text in beside.items()}
    return {**values, **beside, **tagged, "companions": " ".join(beside.values())}


def _needed(item: dict[str, Any], build: Build, situation: Situation) -> bool:
    """Whether a requirement belongs to a build here; one for older GPUs is left out only where all are known to be newer."""
    if not keeps(build.release, item["releases"]):
        return False
    limit = version(item["gpus_below"])
    return limit is None or not situation.gpus or any(cc.parts < limit.parts for cc in situation.gpus)


def _python(build: Build, situation: Situation, ground: Ground) -> str:
    """The Python for a new environment: the one at hand where the build has wheels for it, else the newest that it has."""
    mine = build.pythons(platforms(situation, ground))
    if situation.python in mine:
        return str(situation.python)
    return str(max(mine, key=lambda python: python.parts)) if mine else ""


def _filled(line: str, values: dict[str, str]) -> str:
    """A command with its holes filled; nothing where what it is there for is empty."""
    if (line == "{install} {also}" and not values["also"]) or (line.startswith("{remove}") and not values["remove"]):
        return ""
    for _ in range(2):  # a manager's own words have holes too
        line = _HOLE.sub(lambda found: values.get(found[1], ""), line)
    return " ".join(line.split())
