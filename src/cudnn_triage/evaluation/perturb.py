"""What happens to logs on their way to us: wrapping, prefixes, quoting, noise. Each is a function from text to text."""

from __future__ import annotations

import html
import random
from collections.abc import Callable
from functools import cache


def wrapped(text: str) -> str:
    """Cut at 80 columns, as a terminal does."""
    return "\n".join(
        piece for line in text.split("\n") for piece in ([line[i : i + 80] for i in range(0, len(line), 80)] or [""])
    )


def ci_prefixed(text: str) -> str:
    """With the time stamps of GitHub Actions."""
    return "\n".join(
        f"2026-11-20T11:{i // 600 % 60:02}:{i // 10 % 60:02}.{i % 10}229280Z {line}"
        for i, line in enumerate(text.split("\n"))
    )


def composed(text: str) -> str:
    """As docker compose prints a service, in colour."""
    return "\n".join(f"\x1b[36mtrainer-1  | \x1b[0m{line}" for line in text.split("\n"))


def quoted(text: str) -> str:
    """As a reply by mail or in an issue."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def escaped(text: str) -> str:
    """With HTML entities."""
    return html.escape(text)


def noisy(text: str) -> str:
    """One in a hundred visible characters replaced by a wrong one."""
    chance = random.Random(f"noise {len(text)} {text[:80]}")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(chance.choice(letters) if not c.isspace() and chance.random() < 0.01 else c for c in text)


def one_line(text: str) -> str:
    """All line ends lost."""
    return " ".join(text.split("\n"))


def two_ranks(text: str) -> str:
    """Two ranks that print the same, line by line through one another."""
    return "\n".join(f"[rank{rank}]: {line}" for line in text.split("\n") for rank in (0, 1))


@cache
def _filler(seed: int) -> list[str]:
    chance = random.Random(seed)
    words = [
        "resolved",
        "package",
        "step",
        "epoch",
        "loading",
        "dataset",
        "saved",
        "artifact",
        "cache",
        "hit",
        "module",
        "built",
    ]
    out = []
    for i in range(1000):
        kind = i % 4
        if kind == 0:
            out.append(
                f"Epoch {i // 40} step {i} loss {chance.random():.4f} lr 0.0010 throughput {chance.randint(80, 900)} samples/s"
            )
        elif kind == 1:
            out.append(
                f"  Compiling {chance.choice(words)}-{chance.choice(words)} v0.{chance.randint(0, 40)}.{chance.randint(0, 9)}"
            )
        elif kind == 2:
            out.append(f"INFO {chance.choice(words)} {chance.choice(words)} {chance.randint(1, 9999)} ok")
        else:
            out.append(f"tests/test_{chance.choice(words)}.py::test_{chance.choice(words)} PASSED [{i // 10:3d}%]")
    return out


def buried(text: str) -> str:
    """In the middle of 2,000 lines of other output."""
    return "\n".join([*_filler(1), text, *_filler(2)])


PERTURBATIONS: dict[str, Callable[[str], str]] = {
    "wrapped": wrapped,
    "ci-prefix": ci_prefixed,
    "compose": composed,
    "quoted": quoted,
    "entities": escaped,
    "noise": noisy,
    "one-line": one_line,
    "two-ranks": two_ranks,
    "buried": buried,
}
