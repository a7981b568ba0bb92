"""An answer of the solver as text: the first line says what works, the next are the commands to run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from ..solving.answer import Answer, Choice, Option, Rejection
from .plain import visible

_GROUPS = 8  # reasons shown without --verbose
_NAMES = 4  # builds named for each


def solution(answer: Answer, width: int, *, verbose: bool = False) -> str:
    """The answer, wrapped to ``width`` columns; commands are never wrapped."""
    return "\n".join(visible(line) for line in _lines(answer, width, verbose)) + "\n"


def _lines(answer: Answer, width: int, verbose: bool) -> Iterator[str]:
    yield f"{answer.summary} works here" if answer.status == "solved" else answer.summary
    if answer.choice:
        yield packages(answer.choice)
    yield ""
    yield from _commands(answer.commands)
    yield from (f"  check: {check}" for check in answer.verify)
    if answer.commands:
        yield ""
    if answer.status == "open" and answer.questions:
        yield "Find out"
        yield from (f"  {question.fact}: {question.ask}" for question in answer.questions)
        yield ""
    if answer.options:
        yield {"solved": "Newer or nearer, under a condition", "open": "Then", "none": "What would work"}[answer.status]
        for option in answer.options:
            yield from _option(option, width)
        yield ""
    if answer.status != "open" and answer.questions:
        yield "What would decide on those" if answer.options else "Not known, and might allow a nearer one"
        yield from (f"  {question.fact}: {question.ask}" for question in answer.questions)
        yield ""
    yield from _listing("Why" if answer.status == "solved" else "Not known", answer.reasons, width)
    yield from _listing("Taken for granted", answer.assumed, width)
    yield from _rejected(answer.rejected, width, verbose, nearer=answer.status == "solved")


def packages(choice: Choice) -> str:
    """'torch 2.7.1+cu128, torchvision 0.22.1, cuDNN 9.7.1.26'."""
    named = [f"{name} {release}" for name, release in choice.packages]
    return ", ".join([*named, *([f"cuDNN {choice.cudnn}"] if choice.cudnn else [])])


def _option(option: Option, width: int) -> Iterator[str]:
    yield from _wrapped(f"{option.when}: {option.choice.title}", "  ", width)
    yield from _commands(option.commands, "    ")


def _commands(commands: Iterable[str], margin: str = "  ") -> Iterator[str]:
    yield from (f"{margin}$ {command}" for command in commands)


def _listing(title: str, items: tuple[str, ...], width: int) -> Iterator[str]:
    if items:
        yield title
        for item in items:
            yield from _wrapped(item, "  - ", width)
        yield ""


def _rejected(rejected: tuple[Rejection, ...], width: int, verbose: bool, *, nearer: bool) -> Iterator[str]:
    if not rejected:
        return
    groups: dict[str, list[str]] = {}
    for item in rejected:
        groups.setdefault(item.reason, []).append(item.build)
    yield "Nearer, but" if nearer else "Rejected, nearest first"
    shown = list(groups.items()) if verbose else list(groups.items())[:_GROUPS]
    for reason, names in shown:
        few = names if verbose else names[:_NAMES]
        rest = f" and {len(names) - len(few)} more" if len(names) > len(few) else ""
        yield from _wrapped(f"{', '.join(few)}{rest}: {reason}", "  - ", width)
    if len(groups) > len(shown):
        yield f"  and {len(groups) - len(shown)} more reasons (--verbose)"


def _wrapped(text: str, lead: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
