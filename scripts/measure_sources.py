#!/usr/bin/env python3
"""How much of what a program's source can print about this field the knowledge base knows.

    python scripts/measure_sources.py DIR...              a figure for each tree of sources
    python scripts/measure_sources.py DIR --details       and the messages that no signature knows, with their places
    python scripts/measure_sources.py DIR --only 'cuda|nccl' --details

The texts of exceptions, failed checks and log calls are taken out of Python (by its syntax) and of C, C++, CUDA, Go, Rust, Java,
C#, Swift, JavaScript, Cython, Julia and CMake (the literals of the statements that print or throw) and of compiled files, as of
unpacked wheels (texts of several words), what is filled in stands as 1, and each that holds a word of this field is triaged as a
log of one line. It is 'known' where a signature or a code speaks for a cause, 'harmless' where one says that it is chatter or
another field's, 'general' where only general terms speak, else 'unknown'. What is unknown is for a person to judge: most of it is
meant for developers.
"""

from __future__ import annotations

import argparse
import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cudnn_triage.cleaning import clean
from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.metrics import harmless
from cudnn_triage.reading import read_text
from cudnn_triage.wording import has_field_word

_STATEMENTS = re.compile(
    r"""\b(?: throw\b | c(?:err|out)\s*<<
      | \w*(?: error|err|exception|fail|fatal|abort|panic|die|bail|warn|log|print|msg|message|throw|assert|check|ensure|enforce
               | require|unavailable|unimplemented|precondition|argument|exhausted )\w*(?:(?:\.|::|->)\w+)?\s*!?\s*\( )""",
    re.VERBOSE | re.IGNORECASE,
)
"""What begins a statement that prints or throws, in languages with braces and in CMake: calls are known by their names."""

_LITERAL = re.compile(r'(?:R|u8)?"(?P<text>(?:[^"\\\n]|\\.)*)"|`(?P<raw>[^`]*)`')
_FILLED = re.compile(
    r"%(?:\d+\$)?[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t|L)?[diouxXeEfFgGaAcsprqvwTtU]|\{[^{}\n]{0,60}\}|\$\{[^{}\n]*\}"
)
_CONTINUED = re.compile(r'\s+(?:<<|\+|"|\.)')
_VALUE = "1"  # stands for what is filled in: a number, a name, a status that is no success
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PRINTED = re.compile(rb"[\x20-\x7e\n]+")
_PROSE = re.compile(rb"[a-z]{3} [a-z]{2}")
_LONGEST = 1200  # characters of a statement
_BRACED = re.compile(
    r"\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp|inl|go|rs|java|cs|swift|m|mm|js|ts|pyx|jl|cmake)$|(?:^|/)CMakeLists\.txt$"
)
_COMPILED = re.compile(r"\.so(?:\.\d+)*$|\.dll$|\.pyd$|\.dylib$")
_OMITTED = re.compile(
    r"(?:^|/)(?:third_party|vendor|node_modules|tests?|testing|docs?|\.git)(?:/|$)|_test\.|(?:^|/)test_"
)
_LOGS = re.compile(r"error|critical|exception|warn(?:ing)?(?:_once)?|fatal|print|exit|skip")
_SHORTEST = 12  # characters of a message


def _text(node: ast.expr | None) -> str:
    """What an expression prints, with 1 for what is filled in."""
    match node:
        case ast.Constant(value=str(value)):
            return _FILLED.sub(_VALUE, value)
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) if isinstance(part, ast.Constant) else _VALUE for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _text(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "join")):
            return _text(value)
    return _VALUE


def python_messages(source: str) -> Iterator[tuple[int, str]]:
    """(line, message as printed) of what Python source raises, asserts and logs. Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Raise(exc=ast.Call(func=(ast.Name(id=name) | ast.Attribute(attr=name)), args=[first, *_])):
                yield node.lineno, f"{name}: {_text(first)}"
            case ast.Assert(msg=ast.expr() as said):
                yield node.lineno, f"AssertionError: {_text(said)}"
            case ast.Call(func=(ast.Name(id=name) | ast.Attribute(attr=name)), args=[first, *_]) if _LOGS.fullmatch(
                name
            ):
                yield node.lineno, f"{name.upper()}: {_text(first)}"


def _end(source: str, start: re.Match[str]) -> int:
    """Where a statement ends: at the bracket that closes what it stands in, or at a line's or a statement's end outside brackets."""
    depth, at = 0, start.start()
    while at < min(len(source), start.start() + _LONGEST):
        if literal := _LITERAL.match(source, at):
            at = literal.end()
            continue
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(source[at], 0)
        ends = source[at] == ";" or (source[at] == "\n" and not _CONTINUED.match(source, at))
        if depth < 0 or (ends and depth == 0 and at > start.end()):
            break
        at += 1
    return at


def braced_messages(source: str) -> Iterator[tuple[int, str]]:
    """(line, message as printed) of the statements that print or throw in a language with braces: their literals in order."""
    source = _COMMENT.sub(lambda found: found[0] if '"' in found[0] else "\n" * found[0].count("\n"), source)
    past = 0
    for start in _STATEMENTS.finditer(source):
        if start.start() < past:
            continue
        said, last, past = "", start.start(), _end(source, start)
        for literal in _LITERAL.finditer(source, start.start(), past):
            said += _VALUE if said and source[last : literal.start()].strip() else ""
            said += literal["text"] or literal["raw"] or ""
            last = literal.end()
        if said:
            text = _FILLED.sub(_VALUE, said).replace(r"\"", '"').replace("\\n", "\n").replace("\\t", " ").strip()
            yield source.count("\n", 0, start.start()) + 1, f"Error: {text}"


def compiled_messages(content: bytes) -> Iterator[tuple[int, str]]:
    """(offset in bytes, message) of the texts of several words in a compiled file."""
    for found in _PRINTED.finditer(content):
        ended = content[found.end() : found.end() + 1] == b"\0"
        if ended and _SHORTEST <= len(found[0]) <= _LONGEST and _PROSE.search(found[0]):
            yield found.start(), "Error: " + _FILLED.sub(_VALUE, found[0].decode("ascii")).strip()


def messages(tree: Path) -> Iterator[tuple[str, str]]:
    """(place, message) of all sources below a folder, or of one file; what cannot be parsed is left out."""
    for path in sorted(p for p in tree.rglob("*") if p.is_file()) if tree.is_dir() else [tree]:
        name = path.relative_to(tree).as_posix() if path != tree else path.name
        if _OMITTED.search(name):
            continue
        try:
            if path.suffix == ".py":
                found = list(python_messages(path.read_text(encoding="utf-8", errors="replace")))
            elif _BRACED.search(name):
                found = list(braced_messages(path.read_text(encoding="utf-8", errors="replace")))
            elif _COMPILED.search(name):
                found = list(compiled_messages(path.read_bytes()))
            else:
                continue
        except (SyntaxError, RecursionError, ValueError):
            continue
        for place, message in found:
            yield f"{name}:{place}", message


def standing(message: str, triager: Triager) -> str:
    """How a message is understood: 'known', 'harmless', 'general' or 'unknown'."""
    case = triager.examine(clean(read_text(message, "")))
    speaking = [item for item in case.evidence if item.supports and item.occurrence is not None]
    exact = [item.cause for item in speaking if item.occurrence and not item.occurrence.general]
    if any(not harmless(cause, triager.knowledge) for cause in exact):
        return "known"
    if any(triager.knowledge.by_id[o.rule]["points_to"] for o in case.occurrences if not o.general) and exact:
        return "harmless"
    return "general" if speaking else "unknown"


def main() -> None:
    """Print the shares, and the messages that no signature knows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument(
        "--details", action="store_true", help="the messages that are unknown or read in general terms only"
    )
    parser.add_argument(
        "--only", type=re.compile, default=re.compile(""), help="messages in which this pattern is found"
    )
    options = parser.parse_args()
    triager = Triager()
    for tree in options.trees:
        places: dict[str, str] = {}
        for place, message in messages(tree):
            text = message.strip()[:_LONGEST]
            said = text.partition(": ")[2].lower()
            if (
                len(said) >= _SHORTEST
                and has_field_word(said, triager.knowledge)
                and any(word in text.lower() for word in triager.knowledge.error_words)
                and options.only.search(text)
            ):
                places.setdefault(text, place)
        counts: Counter[str] = Counter()
        for text, place in places.items():
            how = standing(text, triager)
            counts[how] += 1
            if options.details and how in ("unknown", "general"):
                print(f"{how}  {place}\n    " + text.replace("\n", "\n    "))
        shares = ", ".join(f"{counts[how]} {how}" for how in ("known", "harmless", "general", "unknown"))
        print(f"{tree}: {len(places)} messages of this field: {shares}")


if __name__ == "__main__":
    main()
