#!/usr/bin/env python3
"""In which releases of a package the messages stand that the knowledge base describes.

    python scripts/measure_releases.py --cache DIR torch tensorflow==2.3.1,2.4.0    the newest of every minor, or those named
    python scripts/measure_releases.py --cache DIR --of 'nccl/*' --of 'memory/torch-*' nvidia-nccl-cu12
    python scripts/measure_releases.py --cache DIR --nowhere torch nccl@../nccl     only what stands in none of them

Each release's wheel (for Linux unless --platform says otherwise) or, where there is none, its source archive is downloaded with
pip and removed once read: one archive is on disk at a time. NAME@DIR stands for the tags of a git repository. What is kept below
--cache is the text of the source files and the strings of the shared libraries, compressed; a release that is there is not
downloaded again. For every signature that stands in one of the releases, each template is printed with the runs of releases in
which it stands. '~' is said of releases in which all its parts stand in one file, but not beside each other: streamed messages of
which the linker sorted the pieces, or chance.

A message that a framework receives from another library is printed by that library: it stands in none of the framework's releases.
Regular expressions are not measured, nor are texts in GPU code, which is compressed.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import mmap
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import hyperscan
from packaging.version import Version

import binaries
import registry
from cudnn_triage.knowledge.templates import Choice, Hole, Literal, parse
from cudnn_triage.knowledge.yamlfile import load

SIGNATURES = Path(__file__).resolve().parent.parent / "rules" / "signatures"

BESIDE = 400
"""Visible characters that may stand between two parts of a message: code, or the strings of its neighbours."""

SHORTEST = 4
"""Visible characters from which on a part of a template is looked for; shorter ones stand everywhere."""

DISTINCT = 12
"""Visible characters that a part has which tells a message apart wherever it stands in a file."""

FORMS = 64
"""Forms of a template with choices that are looked for."""

PLACES = 300
"""Places of a template's longest part in one file that are looked at."""

STABLE = "3.12"
"""The Python for which a wheel is asked that fits all that are newer than the one it names."""

_SOURCE = re.compile(r"\.(?:py|pyx|pxi|c|cc|cpp|cu|cuh|h|hpp|inl|rs|go|sh|ts|js)$|/help-[\w-]+\.txt$")
_TAG = re.compile(r"(?:v|rel-|release-)?(\d+(?:\.\d+)+)(?:-\d+)?$")
_STRING = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]+){6,}")
_MANGLED = re.compile(rb"\s*(?:_Z|\*?N?K?S?[t0-9]*\d+[A-Za-z_])\S*\s*$")
_LETTERS = re.compile(rb"[A-Za-z]{3}")
_PRINTED = re.compile(
    r"(?:[\w.]*(?:Error|Exception|Warning|Failure|Exit|Interrupt): "
    r"|(?:\w+ )?\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|[Ww]arning|[Ee]rror)\]?:? "
    r"|[\w./]+\.\w+:\{:int\}[\]:] )+"
)
_QUOTED = re.compile(rb"""(?<!\\)(["'])[\s\\+]+[rbfuRBFUL]{0,2}\1""")
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+")
_ESCAPE = re.compile(rb"""\\(?:[nrt]|(["'\\]))""")
_DOUBLED = re.compile(rb"%%|\{\{|\}\}")

Runs = list[tuple[Version, Version]]


@dataclass(frozen=True)
class Form:
    """One way in which a template's message may be written in a program: its parts, squeezed, in order."""

    parts: tuple[bytes, ...]

    @property
    def anchor(self) -> bytes:
        """The part by which it is found."""
        return max(self.parts, key=len)


@dataclass(frozen=True)
class Template:
    """A template of a signature and the forms of its message."""

    signature: str
    text: str
    forms: tuple[Form, ...]


def squeeze(text: bytes) -> bytes:
    """Text without white space, in lower case."""
    return b"".join(text.split()).lower()


def plain(text: bytes, *, source: bool) -> bytes:
    """What a file's strings say, squeezed: in source, strings that are written in pieces are one, without escapes."""
    if source:
        text = _QUOTED.sub(b"", text)
        text = _ESCAPE.sub(lambda found: found[1] or b"", text)
    return squeeze(_DOUBLED.sub(lambda found: found[0][:1], text))


def forms(template: str) -> tuple[Form, ...]:
    """The parts of a template that a program's text has to hold, in the forms in which it may hold them.

    What a choice offers may stand in the message or elsewhere, and sentences may be put together when it is printed. What an
    interpreter or a logger prints before the message (an exception's type, a level, file and line) may be missing. Empty where
    nothing is long enough.
    """
    ways = [parse(template)]
    if printed := _PRINTED.match(template):
        ways.append(parse(template[printed.end() :]))
    found: dict[Form, None] = {}
    for way in ways:
        choices = [(*part.texts, "\0") if isinstance(part, Choice) else ("",) for part in way]
        for chosen in itertools.islice(itertools.product(*choices), FORMS):
            joined = "".join(
                "\0" if isinstance(part, Hole) else part.text if isinstance(part, Literal) else text
                for part, text in zip(way, chosen, strict=True)
            )
            for text in (joined, _SENTENCE.sub("\0", joined)):
                pieces = (squeeze(piece.encode()) for piece in text.split("\0"))
                kept = tuple(piece for piece in pieces if len(piece) >= SHORTEST)
                if kept and len(max(kept, key=len)) >= 2 * SHORTEST:
                    found[Form(kept)] = None
    return tuple(found)


def beside(form: Form, text: bytes, at: int) -> bool:
    """Whether all parts of a form stand around its longest part, which begins at ``at``: in order, or crowded together."""
    index = form.parts.index(form.anchor)
    here = at
    for part in reversed(form.parts[:index]):
        here = text.rfind(part, max(here - BESIDE - len(part), 0), here)
        if here < 0:
            return _crowded(form, text, at)
    here = at + len(form.anchor)
    for part in form.parts[index + 1 :]:
        here = text.find(part, here, here + BESIDE + len(part))
        if here < 0:
            return _crowded(form, text, at)
        here += len(part)
    return True


def _crowded(form: Form, text: bytes, at: int) -> bool:
    window = text[max(at - BESIDE, 0) : at + len(form.anchor) + BESIDE]
    return min(map(len, form.parts)) >= 2 * SHORTEST and all(part in window for part in form.parts)


class Finder:
    """Looks for the messages of many templates in one pass over a text."""

    def __init__(self, templates: Iterable[Template]) -> None:
        self._forms = [(template, form) for template in templates for form in template.forms]
        self._by_anchor: dict[bytes, list[int]] = defaultdict(list)
        for number, (_, form) in enumerate(self._forms):
            self._by_anchor[form.anchor].append(number)
        self._words = list({part: None for _, form in self._forms for part in form.parts})
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        once = hyperscan.HS_FLAG_SINGLEMATCH
        if self._words:
            self._database.compile(
                expressions=self._words,
                ids=list(range(len(self._words))),
                elements=len(self._words),
                flags=[0 if word in self._by_anchor else once for word in self._words],
                literal=True,
            )

    def find(self, text: bytes) -> tuple[set[Template], set[Template]]:
        """The templates whose parts stand beside each other in a plain text, and those whose parts stand apart in it."""
        if not self._words or not text:
            return set(), set()
        places: dict[bytes, list[int]] = defaultdict(list)

        def note(number: int, _: int, end: int, *__: object) -> None:
            word = self._words[number]
            if len(places[word]) < PLACES:
                places[word].append(end - len(word))

        self._database.scan(text, match_event_handler=note)
        stands: set[Template] = set()
        apart: set[Template] = set()
        for anchor in [word for word in places if word in self._by_anchor]:
            for template, form in (self._forms[number] for number in self._by_anchor[anchor]):
                if template in stands:
                    continue
                if any(beside(form, text, at) for at in places[anchor]):
                    stands.add(template)
                elif all(part in places for part in form.parts) and min(map(len, form.parts)) >= DISTINCT:
                    apart.add(template)
        return stands, apart - stands


def runs(standing: Iterable[Version], measured: Sequence[Version]) -> Runs:
    """The first and last of each run of releases without a gap among those that were measured (in order)."""
    found: Runs = []
    stands = set(standing)
    for inside, group in itertools.groupby(measured, key=lambda release: release in stands):
        if inside:
            releases = list(group)
            found.append((releases[0], releases[-1]))
    return found


def ladder(releases: Iterable[Version]) -> list[Version]:
    """The newest release of every minor version, oldest first."""
    return sorted({release.release[:2]: release for release in sorted(releases)}.values())


def _read_only(content: mmap.mmap) -> Iterator[tuple[int, int]]:
    """(begin, end) of the sections of an ELF file that hold data and no GPU code; the whole file where it is none."""
    if content[:5] != b"\x7fELF\x02":
        yield 0, len(content)
        return
    (table,) = struct.unpack_from("<Q", content, 0x28)
    size, count, names = struct.unpack_from("<HHH", content, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", content, table + i * size) for i in range(count)] if table else []
    for name, kind, flags, _, offset, length in rows:
        begin = rows[names][4] + name
        title = content[begin : begin + 12]
        if kind == 1 and flags & 2 and not flags & 4 and not title.startswith((b".nv", b"__nv", b".eh_frame", b".gcc")):
            yield offset, offset + length


def strings(content: mmap.mmap) -> bytes:
    """The strings of a compiled file, one below the other; without names of C++ types."""
    found = (
        piece[0]
        for begin, end in _read_only(content)
        for piece in _STRING.finditer(content, begin, end)
        if _LETTERS.search(piece[0]) and not _MANGLED.match(piece[0])
    )
    return b"\n".join(found)


def texts(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name and text of the files of a wheel or source archive that can print something."""
    if archive.suffix not in (".whl", ".zip"):
        with tarfile.open(archive) as tar:
            for item in tar:
                if item.isfile() and _SOURCE.search(item.name) and (packed := tar.extractfile(item)):
                    yield item.name, packed.read()
        return
    with zipfile.ZipFile(archive) as wheel:
        for member in wheel.infolist():
            if _SOURCE.search(member.filename) and "/include/" not in member.filename:
                yield member.filename, wheel.read(member)
    for name, content in binaries.compiled_files(archive):
        yield name, strings(content)


def tags(repository: str) -> dict[Version, str]:
    """The releases that a git repository has tags of; no pre-releases."""
    done = subprocess.run(["git", "-C", repository, "tag"], capture_output=True, text=True, check=True)
    return {Version(found[1]): found[0] for found in map(_TAG.match, done.stdout.split()) if found}


def tagged(repository: str, tag: str) -> Iterator[tuple[str, bytes]]:
    """Name and text of the source files of a tag; files that the copy lacks are left out."""
    git = ["git", "-C", repository]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", tag], capture_output=True, check=True).stdout
    rows = [row.split(b"\t") for row in listing.split(b"\0") if b"\t" in row and b" blob " in row]
    files = [(about.split()[2], name.decode()) for about, name in rows if _SOURCE.search(name.decode())]
    asked = b"\n".join(key for key, _ in files)
    said = subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    at = 0
    for _, name in files:
        head, _, _ = said[at : at + 200].partition(b"\n")
        at += len(head) + 1
        if not head.endswith(b"missing"):
            size = int(head.split()[2])
            yield name, said[at : at + size]
            at += size + 1


def told(package: str, release: Version, platform: str) -> Iterator[tuple[str, bytes]]:
    """Name and text of the files of a release: of its tag, its wheel, or its source archive where it has no such wheel."""
    _, _, repository = package.partition("@")
    if repository:
        yield from tagged(repository, tags(repository)[release])
    elif mine := [w for w in registry.wheels(package) if w.version == release and w.platform in (platform, "")]:
        python = STABLE if all(wheel.stable for wheel in mine) else ""
        with registry.downloaded(package, str(release), python, platform) as archive:
            yield from texts(archive) if archive else ()
    else:
        with tempfile.TemporaryDirectory() as folder:
            registry.pip("download", "-q", "--no-deps", "--no-binary=:all:", "--dest", folder, f"{package}=={release}")
            for path in Path(folder).iterdir():
                yield from texts(path)


def kept(package: str, release: Version, platform: str, cache: Path) -> Path | None:
    """The file that holds a release's texts, made where it is not there; None where the release cannot be had."""
    name = f"{package.partition('@')[0]}-{release}{'' if platform == 'linux-x86_64' else '-' + platform}"
    path, part = cache / f"{name}.gz", cache / f"{name}.part"
    if not path.exists():
        found = 0
        with gzip.open(part, "wb", compresslevel=4) as out:
            for file, text in told(package, release, platform):
                found += out.write(b"\0%s\n%s\n" % (file.encode(), text.replace(b"\0", b"\n")))
        if not found:
            part.unlink()
            return None
        part.rename(path)
    return path


def read(path: Path) -> Iterator[bytes]:
    """The plain texts of a release's files."""
    with gzip.open(path) as file:
        for block in file.read().split(b"\0")[1:]:
            name, _, text = block.partition(b"\n")
            yield plain(text, source=bool(_SOURCE.search(name.decode())))


def templates(patterns: Sequence[str]) -> list[Template]:
    """The templates of all signatures whose 'AREA/ID' fits one of the patterns; without patterns, of all."""
    found: list[Template] = []
    for path in sorted(SIGNATURES.glob("*/*.yaml")):
        name = f"{path.parent.name}/{path.stem}"
        if not patterns or any(fnmatch(name, pattern) for pattern in patterns):
            found += [Template(name, text, forms(text)) for text in load(path).data.get("templates", ())]
    return found


def asked(package: str, platform: str) -> tuple[str, list[Version]]:
    """The package of 'NAME', 'NAME@REPOSITORY' or 'NAME==RELEASE,RELEASE', and its releases, oldest first."""
    name, _, named = package.partition("==")
    if named:
        return name, sorted(map(Version, named.split(",")))
    if "@" in name:
        return name, ladder(tags(name.partition("@")[2]))
    mine = {w.version for w in registry.wheels(name) if w.platform in (platform, "")} or set(registry.sources(name))
    return name, ladder(mine)


def _said(found: Runs, mark: str = "") -> str:
    return ", ".join(mark + (f"{first} - {last}" if first != last else str(first)) for first, last in found)


def main() -> int:
    """Measure the releases of packages and print where each template stands."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="+", metavar="PACKAGE[@DIR][==RELEASE,...]")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the texts here and use those that are there")
    parser.add_argument("--of", action="append", default=[], metavar="AREA/ID", help="only these signatures (* and ?)")
    parser.add_argument("--platform", default="linux-x86_64", help="whose wheels are read (default linux-x86_64)")
    parser.add_argument("--nowhere", action="store_true", help="list only the templates that stand nowhere")
    options = parser.parse_args()
    wanted = templates(options.of)
    finder = Finder(wanted)
    lines: dict[Template, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as passing:
        cache = options.cache or Path(passing)
        cache.mkdir(parents=True, exist_ok=True)
        for package, releases in (asked(text, options.platform) for text in options.packages):
            stands: dict[Template, list[Version]] = defaultdict(list)
            apart: dict[Template, list[Version]] = defaultdict(list)
            measured: list[Version] = []
            for release in releases:
                path = kept(package, release, options.platform, cache)
                print(f"{package} {release}{'' if path else ': not to be had'}", file=sys.stderr, flush=True)
                if not path:
                    continue
                measured.append(release)
                found = [finder.find(text) for text in read(path)]
                whole = set().union(*(here for here, _ in found))
                for template in whole:
                    stands[template].append(release)
                for template in set().union(*(loose for _, loose in found)) - whole:
                    apart[template].append(release)
                if not options.cache:
                    path.unlink()
            for template in {**stands, **apart}:
                both = _said(runs(stands[template], measured)), _said(runs(apart[template], measured), "~")
                lines[template].append(f"{package.partition('@')[0]} {', '.join(filter(None, both))}")
    for name, group in itertools.groupby(wanted, key=lambda template: template.signature):
        mine = list(group)
        if options.nowhere:
            mine = [template for template in mine if template.forms and template not in lines]
        elif not any(template in lines for template in mine):
            continue
        if mine:
            print(name)
        for template in mine:
            print(f"  {'; '.join(lines[template]) if template in lines else '-':30}  {' '.join(template.text.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
