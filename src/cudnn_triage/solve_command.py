"""``cudnn-triage solve``: which set of versions works on a machine, from what is told on the command line or read in a log."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from . import __version__
from .catalogue import gpu_named
from .cli import OK, UsageError, emit, knowledge, output, standard_input, unreadable
from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .near import nearest
from .options import Once, Parser, columns
from .solving import Answer, Situation, Wishes, solve
from .solving.ground import ground
from .solving.limits import LimitError, limits
from .solving.situation import from_facts
from .tables import derive
from .values import Version, capability, version

_EXAMPLES = {"python": "3.11", "glibc": "2.35"}
_DRIVERS_END = 1000  # a driver branch has three digits
_EXAMPLE = "cudnn-triage solve --framework torch --gpu 'RTX 5090' --driver 570.86 --python 3.11 --os linux"


def run(args: Sequence[str]) -> int:
    """Answer one question; the exit code tells nothing of the answer."""
    options = _parser().parse_args(args)
    known = knowledge(options.rules)
    framework = _framework(options.framework, known)
    keep = dict(_requirement(text, "--keep") for text in options.keep)
    for text in options.gpu:
        _check_gpu(text, known)
    told = Facts(_told(options, keep, known))
    derive(told, known)
    if options.log:
        told = Facts([*told, *_of_log(options.log, known, told)])
    situation = _installed(from_facts(told, framework, known), options)
    wishes = Wishes(tuple(sorted(_kept(keep, situation).items())), options.manager)
    answer = solve(framework, situation, wishes, known)
    if options.format == "json":
        emit(json.dumps(_plain(answer, known), ensure_ascii=False) + "\n")
    else:
        from .render.solution import solution

        width = options.width or min(shutil.get_terminal_size((100, 24)).columns, 120)
        print(solution(answer, width, verbose=options.verbose), end="", file=output())
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cudnn-triage solve",
        description="Say which set of versions works on a machine, nearest to what is installed, with the commands.",
        epilog=f"Example: {_EXAMPLE}. What is not told stays unknown and is asked for where it matters.",
    )
    parser.add_argument(
        "--framework", action=Once, required=True, metavar="NAME", help="torch, tensorflow, jax, onnxruntime ..."
    )
    parser.add_argument(
        "--gpu", action="append", default=[], metavar="GPU", help="its name or compute capability; repeat for several"
    )
    parser.add_argument("--driver", action=Once, metavar="VERSION", help="NVIDIA driver version (nvidia-smi)")
    parser.add_argument("--python", action=Once, metavar="VERSION", help="Python version")
    parser.add_argument("--os", action=Once, choices=("linux", "windows", "macos", "wsl"), help="operating system")
    parser.add_argument("--arch", action=Once, metavar="PROCESSOR", help="processor: x86_64, aarch64 (uname -m)")
    parser.add_argument("--glibc", action=Once, metavar="VERSION", help="glibc version (ldd --version)")
    parser.add_argument(
        "--installed", action="append", default=[], metavar="PACKAGE==VERSION", help="what is installed; repeatable"
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="WHAT",
        help="what must stay: torch, torch==2.1, 'cuda<13', python==3.11",
    )
    parser.add_argument(
        "--manager", action=Once, choices=("pip", "uv", "conda"), default="pip", help="who installs (default: pip)"
    )
    parser.add_argument("--log", action=Once, metavar="FILE", help="take facts from a log, '-' is standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add rules")
    parser.add_argument("--verbose", action="store_true", help="list every rejected build")
    parser.add_argument("--width", type=columns, metavar="N", help="columns of text output")
    return parser


def _framework(asked: str, known: Knowledge) -> str:
    folded = asked.casefold()
    for name, recipe in known.recipes.items():
        if folded == name or folded in recipe["aliases"] or folded == recipe["title"].casefold():
            return name
    names = [name for key, recipe in known.recipes.items() for name in (key, *recipe["aliases"])]
    close = nearest(asked, names)
    raise UsageError(f"--framework {asked}: not known{close}; known: {', '.join(sorted(known.recipes))}")


def _check_gpu(text: str, known: Knowledge) -> None:
    """Raise UsageError for what is no GPU that the tables know."""
    if "," in text:
        raise UsageError(f"--gpu {text}: one GPU at a time; repeat --gpu for several")
    asked = Facts(_gpu(text, known))
    derive(asked, known)
    names = known.table["gpus"]["rows"]
    if not asked.values("gpu.cc"):
        raise UsageError(
            f"--gpu {text}: no GPU of that name in the tables{nearest(text, (row['key'] for row in names))}; give its "
            "compute capability, such as --gpu 8.6 (nvidia-smi --query-gpu=compute_cap --format=csv,noheader)"
        )
    served = {row["cc"] for row in names} | set(map(str, ground(known).capabilities))
    if not asked.values("gpu.name") and str(asked.values("gpu.cc")[0]) not in served:
        row = ", ".join(sorted(served, key=lambda cc: tuple(map(int, cc.split(".")))))
        raise UsageError(f"--gpu {text}: no GPU has that compute capability; the tables know {row}")


def _gpu(text: str, known: Knowledge) -> Iterator[Fact]:
    read = capability(text) if text.replace("sm_", "").replace(".", "").isdigit() else None
    yield Fact("gpu.cc", read) if read else Fact("gpu.name", gpu_named(text, known) or text)


def _told(options: argparse.Namespace, keep: dict[str, str], known: Knowledge) -> Iterator[Fact]:
    """The facts on the command line. A Python or driver to keep is a fact like any other."""
    for text in options.gpu:
        yield from _gpu(text, known)
    for name, fact in (("driver", "driver.version"), ("python", "python.version"), ("glibc", "glibc.version")):
        kept, text = keep.pop(name, "").lstrip("="), getattr(options, name, None)
        if kept and text and kept != text:
            raise UsageError(f"--{name} {text} and --keep {name}=={kept}: give one")
        if text := text or kept:
            read = _version(text, f"--{name}")
            if name == "driver":
                _check_driver(text, read, known)
            elif len(read.parts) < 2:
                raise UsageError(f"--{name} {text}: which minor release? such as {_EXAMPLES[name]}")
            yield Fact(fact, read)
    if options.os:
        yield Fact("platform.os", "linux" if options.os == "wsl" else options.os)
        if options.os == "wsl":
            yield Fact("platform.wsl", "2")
    if options.arch:
        yield Fact("platform.arch", options.arch)


def _check_driver(text: str, read: Version, known: Knowledge) -> None:
    """Raise UsageError for what is no number of an NVIDIA driver. Newer ones than the tables know may well be."""
    oldest, newest = ground(known).oldest_known_driver, ground(known).newest_driver
    if oldest.parts[0] <= read.parts[0] < _DRIVERS_END:
        return
    small = read.parts[0] < oldest.parts[0]
    cuda = " The driver's version is not what nvidia-smi calls 'CUDA Version'." if small else ""
    raise UsageError(
        f"--driver {text}: no NVIDIA driver has that number; the tables know {oldest} to {newest}, such as 535.104.05 "
        f"(nvidia-smi --query-gpu=driver_version --format=csv,noheader).{cuda}"
    )


def _of_log(name: str, known: Knowledge, told: Facts) -> Iterable[Fact]:
    """The facts of a log that the command line does not tell."""
    from .cleaning import clean
    from .engine import Triager, joined
    from .reading import ReadError, read_path

    try:
        logs = standard_input() if name == "-" else read_path(name)
    except ReadError as error:
        raise unreadable(error) from error
    settled = {fact.name for fact in told}
    settled |= {"gpu.name"} if told.values("gpu.cc") else set()
    settled |= {"cuda.driver"} if told.values("driver.version") else set()
    case = Triager(known).examine(clean(joined(logs, name)))
    return [fact for fact in case.facts if fact.name not in settled]


def _installed(situation: Situation, options: argparse.Namespace) -> Situation:
    found = dict(situation.installed)
    for text in options.installed:
        name, limit = _requirement(text, "--installed")
        found[name] = _version(limit.removeprefix("=="), "--installed")
    return replace(situation, installed=tuple(sorted(found.items(), key=lambda item: item[0])))


def _kept(keep: dict[str, str], situation: Situation) -> dict[str, str]:
    """What is to stay, as limits; a bare name stays at the release that is installed."""
    kept = {}
    for name, limit in keep.items():
        has = situation.has(name)
        if not limit and has is None:
            raise UsageError(
                f"--keep {name}: which release? --keep {name}==VERSION, or --installed {name}==VERSION too"
            )
        kept[name] = limit or f"=={has.text}" if has else limit
        try:
            limits(kept[name])
        except LimitError as error:
            raise UsageError(f"--keep {name}: {error}") from None
    return kept


def _requirement(text: str, option: str) -> tuple[str, str]:
    """('torch', '==2.1') of torch==2.1."""
    at = min((text.find(sign) for sign in "=<>!~" if sign in text), default=len(text))
    name = text[:at].strip().casefold()
    if not name or (option == "--installed" and not text[at:].startswith("==")):
        raise UsageError(f"{option} {text}: expected PACKAGE==VERSION")
    return name, text[at:].strip()


def _version(text: str, option: str) -> Version:
    read = version(text)
    if read is None:
        raise UsageError(f"{option} {text}: expected a version such as 535.104.05 or 3.11")
    return read


def _plain(answer: Answer, known: Knowledge) -> dict[str, object]:
    tool = {"name": "cudnn-triage", "version": __version__, "knowledge": known.digest}
    return {"schema_version": 1, "tool": tool, **answer.to_dict()}
