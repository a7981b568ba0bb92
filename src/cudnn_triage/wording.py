"""Which lines read like errors, and which like errors of this field: by the words of rules/facts and what rules say of them."""

from __future__ import annotations

from collections.abc import Sequence

from .knowledge.base import Knowledge
from .light import pattern
from .lines import BRIEF, Line
from .matching import Occurrence, speaks
from .structure import Role, Structure
from .values import squeeze

_FILE = pattern(
    r"\w\.(?:cuh?|cpp|cc?|cxx|hpp|h|py|ipynb|run|log|txt|ii|o|obj|sh|json|ya?ml|deb|gz|zip|go|rs)\b"
)  # the name of a file
# of a setting, a variable or a function; of a package and its version ('error-helper==0.1'), which is looked for only where a
# name begins, so that a long one takes no long time; or one that no word is as long as
_NAME = pattern(
    r"\b[a-z]+\d*(?:_[a-z\d]+)+\b|(?<![\w.-])[a-z][a-z\d]*(?:[-_.][a-z\d]+)*(?:[=~<>]=|-| {2,40})v?\d+\.\d[\w.]*"
    r"|\b(?:exception|error)[a-z]{5,}\b"
)
_SOURCE = pattern(r"\.(?:cuh?|cpp|cc|cxx|hpp|h)\b")  # how the name of a C++ or CUDA source file ends
PRINTED = (Role.TEXT, Role.RECORD, Role.EXCEPTION)


def has_field_word(text: str, knowledge: Knowledge) -> bool:
    """Whether a text uses words of this field (rules/facts: field_words).

    Names of files do not count, but for the source file that a program's own assertion names behind its text.
    """
    lowered = text.lower()
    words = [word for word in lowered.split() if "/" not in word and "\\" not in word and not _FILE.search(word)]
    if "assert" in lowered or "check failed" in lowered:
        first = 0 if "assertion `" in lowered else 1  # what a compiler says of a source file begins with its name
        words += ["/".join(parts[-3:]) for word in lowered.split()[first:] if len(parts := _source(word)) > 1]
    said = " ".join(words)
    return any(word in said for word in knowledge.field_words)


def has_error_word(text: str, knowledge: Knowledge) -> bool:
    """Whether a text uses words that errors are told with (rules/facts: error_words).

    Names of settings and functions do not count (``"remove_invalid_values": false``), names of codes (CUDA_ERROR_UNKNOWN) do.
    """
    lowered, words = text.lower(), knowledge.error_words
    if not any(word in lowered for word in words):
        return False
    said = _NAME.sub(" ", text).lower()
    return any(word in said for word in words)


def _source(word: str) -> list[str]:
    """The parts of a path of a C++ or CUDA source file, none of anything else."""
    parts = word.replace("\\", "/").split("/")
    return parts if _SOURCE.search(parts[-1]) else []


def spoken_of(occurrences: Sequence[Occurrence], knowledge: Knowledge) -> set[int]:
    """The lines on which a rule says what a message means."""
    speaking = (o for o in occurrences if speaks(knowledge.by_id[o.rule]))
    return {i for o in speaking for i in range(o.first, o.last + 1)}


def pasted(structure: Structure) -> list[int]:
    """All printed lines of a log so short that each of them was pasted for what it says, in whatever words; else none."""
    printed = [i for i, role in enumerate(structure.roles) if role in PRINTED]
    return printed if len(printed) <= BRIEF else []


def complains(line: Line, knowledge: Knowledge) -> bool:
    """Whether a line reads like an error, by its level or its words."""
    return line.level in ("E", "F") or has_error_word(line.text, knowledge)


def unexplained_lines(
    occurrences: Sequence[Occurrence],
    lines: Sequence[Line],
    structure: Structure,
    knowledge: Knowledge,
    *,
    distinct: bool = True,
) -> list[int]:
    """Lines that look like an error of this field and that no rule speaks of; of lines that differ only in numbers the
    first, if only ``distinct`` ones are asked for."""
    covered = spoken_of(occurrences, knowledge)
    out: list[int] = []
    texts: set[str] = set()
    for i, line in enumerate(lines):
        if i in covered or structure.roles[i] in (Role.SOURCE, Role.FRAME, Role.BLANK):
            continue
        if not has_error_word(line.text, knowledge) or not has_field_word(line.text, knowledge):
            continue
        key = squeeze("".join(char for char in line.text.lower() if not char.isdigit()))
        if key not in texts or not distinct:
            texts.add(key)
            out.append(i)
    return out
