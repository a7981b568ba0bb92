"""``cudnn-triage rules new``: a signature file made from a pasted message, its versions, sizes and names turned into holes."""

from __future__ import annotations

import re

_HOLES = [
    ("soname", re.compile(r"(?:[\w./-]*/)?lib[\w+-]+\.so(?:\.\d+)*|[\w+-]+\.dll\b")),
    ("size", re.compile(r"\d[\d.,]*\s?(?:[KMGT]iB|[KMGT]B)\b")),
    ("version", re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?:\+\w+)?(?![\w])")),
    ("hex", re.compile(r"\b0x[0-9a-fA-F]+\b")),
    ("path", re.compile(r"(?:/[\w.+-]+){2,}/?|[A-Z]:\\[^\s'\"]+")),
    ("int", re.compile(r"(?<![\w.])\d+(?![\w.])")),
]


def template_of(message: str) -> str:
    """The message as a template: braces doubled, each typed value a hole."""
    marks: list[tuple[int, int, str]] = []
    for kind, pattern in _HOLES:
        for found in pattern.finditer(message):
            if all(found.end() <= start or found.start() >= end for start, end, _ in marks):
                marks.append((found.start(), found.end(), kind))
    out, at = [], 0
    for start, end, kind in sorted(marks):
        out.append(message[at:start].replace("{", "{{").replace("}", "}}") + f"{{:{kind}}}")
        at = end
    out.append(message[at:].replace("{", "{{").replace("}", "}}"))
    return "".join(out)


def signature_file(name: str, pasted: str, message: str, cause: str, today: str) -> str:
    """The text of rules/signatures/AREA/NAME.yaml for a pasted message; what only a person knows is marked TODO.

    ``message`` is what cleaning leaves of ``pasted``: a template is compared with that, an example is what people paste.
    """
    template = _block(template_of(_trimmed(message)), 4)
    return f"""id: {name}
title: TODO what this message says, in a few words
templates:
  - |-
{template}
points_to:
  - cause: {cause or "TODO-cause-id"}
    strength: possible   # certain, strong, likely, possible or weak: how surely the message alone means this cause
examples:
  - |-
{_block(_trimmed(pasted), 4)}
near_misses:
  - 'TODO a similar line that must not match'
source: TODO the source file that prints it, or a page
read: {today}
"""


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _block(text: str, indent: int) -> str:
    return "\n".join(" " * indent + line for line in text.splitlines())
