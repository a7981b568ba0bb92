"""What is told about shared libraries, the products they belong to, and GPU architectures, from the compatibility tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .facts import Fact, Facts
from .knowledge.base import Knowledge
from .pages import Names, Page, Part, Prose, Verbatim
from .tables import derive, find_row
from .values import Soname, Version, capability, soname, version

_ARCHITECTURE = re.compile(
    r"(?:sm|compute)_?(\d{2,3})[af]?|(?:(?:cc|compute capability) ?)?(\d{1,2}\.\d)", re.IGNORECASE
)
_WANTED = {"cudnn.wanted": "cudnn.compiled", "cuda.wanted": "cuda.build"}
"""What a library's name tells, and what the tables of frameworks say of the same."""
_WORDS = 8  # "NVIDIA RTX 6000 Ada Generation Laptop GPU" has seven; what is longer than this is a sentence
_CODES = 12  # codes of a library that a page on its product names

Row = dict[str, Any]


def library_names(knowledge: Knowledge) -> list[str]:
    """The file names of libraries that the tables know."""
    found = (row["key"] for name in ("sonames", "library-wheels") for row in _rows(name, knowledge))
    return sorted(dict.fromkeys(found), key=str.casefold)


def product_names(knowledge: Knowledge) -> list[str]:
    """The products that the tables tell of."""
    return [row["key"] for row in _rows("products", knowledge)]


def architectures(knowledge: Knowledge) -> list[Version]:
    """The compute capabilities of GPUs that the tables know, oldest first."""
    found = {row["cc"] for row in _rows("gpus", knowledge)} | {row["key"] for row in _rows("driver-archs", knowledge)}
    return sorted((cc for text in found if (cc := version(text))), key=lambda cc: cc.parts)


def gpu_names(knowledge: Knowledge) -> list[str]:
    """The names of GPUs that the tables know."""
    return [row["key"] for row in _rows("gpus", knowledge)]


def gpu_named(asked: str, knowledge: Knowledge) -> str | None:
    """The name in the tables of the GPU that somebody names: as nvidia-smi does ('NVIDIA A100-SXM4-80GB'), or by its last words
    alone ('4090', 'K80') where that is one GPU. None where no GPU is named."""
    if "gpus" not in knowledge.table or len(asked.split()) > _WORDS:
        return None
    row = find_row(knowledge.table["gpus"], asked)
    if row and re.search(rf"\b{re.escape(row['key'])}(?!\d)", asked, re.IGNORECASE):
        return row["key"]
    ends = [name for name in gpu_names(knowledge) if name.casefold().endswith(f" {asked.casefold()}")]
    return ends[0] if len(ends) == 1 else None


def library_page(asked: str, knowledge: Knowledge) -> Page | None:
    """The page on a shared library ('libcudnn.so.8', 'cudart64_110.dll'); None for what is none that the tables know."""
    bare = re.fullmatch(r"lib[\w+-]+", asked) is not None
    placed = _placed(f"{asked}.so" if bare else asked, knowledge)
    if placed is None or not _spelt(placed, knowledge):
        return None
    name = asked if bare else placed.text
    product = _row("products", placed.product, knowledge)
    said = product["title"] if product else placed.product
    return Page(
        name,
        f"{name}: a library of {said}",
        f"part of {placed.product}",
        tuple(_library(placed, product, knowledge)),
    )


def _placed(text: str, knowledge: Knowledge) -> Soname | None:
    """A library's name with the product it belongs to; None where it belongs to none that the tables know."""
    read = soname(text)
    placed = knowledge.placed(read) if read else None
    return placed if isinstance(placed, Soname) and placed.product else None


def _spelt(name: Soname, knowledge: Knowledge) -> bool:
    """Whether there is such a library: its product is told by how its name begins, and libcudnnn begins like cuDNN, too."""
    keys = (row["key"].casefold() for row in _rows("libraries", knowledge))
    stem = name.stem.casefold()
    rest = {stem[len(key) :] for key in keys if stem.startswith(key)}
    return any(not end[:1].isalpha() for end in rest) or name.text in library_names(knowledge)


def _library(name: Soname, product: Row | None, knowledge: Knowledge) -> Iterator[Part]:
    told = Facts([Fact("missing.library", name)])
    derive(told, knowledge)
    row = _row("sonames", name.text, knowledge) or {}
    for fact, words in (("cudnn.wanted", "cuDNN"), ("cuda.wanted", "CUDA")):
        for value in told.values(fact):
            yield Prose("Release", f"{words} {value}")
    if several := row.get("toolkit"):
        yield Prose("Release", f"CUDA {several}")
    for value in told.values("library.wheel"):
        yield Prose("Wheel", str(value))
    if product:
        yield Prose("Comes with", product["comes"])
    if built := tuple(_built_with(told, knowledge)):
        yield Verbatim("Built with that release, as far as the tables tell", built)
    if product:
        yield Names("Where it is not found, or is the wrong one", tuple(product["causes"].split()))


def _built_with(told: Facts, knowledge: Knowledge) -> Iterator[str]:
    """The frameworks whose builds the tables pair with the release that is told: 'tensorflow 2.5 to 2.17'."""
    for fact, built in _WANTED.items():
        for wanted in told.values(fact):
            if not isinstance(wanted, Version):
                continue
            releases: dict[str, list[Version]] = {}
            for table in knowledge.tables:
                column = next((column for column, name in table["gives"].items() if name == built), "")
                if column and table["match"] in ("exact", "minor") and table["keys"][0].endswith(".version"):
                    found = (version(row["key"]) for row in table["rows"] if _of(row.get(column, ""), wanted))
                    framework = table["keys"][0].removesuffix(".version")
                    releases.setdefault(framework, []).extend(release for release in found if release)
            for framework, mine in releases.items():
                if mine:
                    yield f"{framework} {_span(mine)}"


def _of(text: str, wanted: Version) -> bool:
    """Whether a version in a table is of the release that is wanted, as far as that is told."""
    found = version(text) if text else None
    return found is not None and found.parts[: len(wanted.parts)] == wanted.parts


def _span(releases: Iterable[Version]) -> str:
    order = sorted({release.parts for release in releases})
    first, last = (".".join(map(str, parts)) for parts in (order[0], order[-1]))
    return first if first == last else f"{first} to {last}"


def product_page(asked: str, knowledge: Knowledge) -> Page | None:
    """The page on a product ('nccl') or on a library of codes ('xid'); None for what is neither."""
    name = asked.casefold()
    row = _row("products", name, knowledge)
    if row is None and name not in knowledge.libraries:
        return None
    title = row["title"] if row else knowledge.libraries[name]["title"]
    return Page(
        name, f"{name}: {title}", "a product" if row else "a list of codes", tuple(_product(name, row, knowledge))
    )


def _product(name: str, row: Row | None, knowledge: Knowledge) -> Iterator[Part]:
    if row:
        yield Prose("Comes with", row["comes"])
        placed = ((text, _placed(text, knowledge)) for text in library_names(knowledge))
        libraries = [text for text, found in placed if found and found.product == name]
        if libraries:
            yield Verbatim("Its libraries", tuple(libraries))
    for library in row["codes"].split() if row and "codes" in row else [name] if not row else []:
        codes = [rule for rule in knowledge.rules if rule.get("library") == library]
        shown = codes[:_CODES] if row else codes
        rest = [f"and {len(codes) - len(shown)} more: cudnn-triage rules list"] if len(codes) > len(shown) else []
        lines = (f"{rule['number'] or '-':>6}  {rule['title']}" for rule in shown)
        yield Verbatim(knowledge.libraries[library]["title"], (*lines, *rest))
    if row:
        yield Names("Where it is not found, or is the wrong one", tuple(row["causes"].split()))


def architecture_page(asked: str, knowledge: Knowledge) -> Page | None:
    """The page on a GPU architecture ('sm_120', 'compute capability 8.6', a name of ``gpu_names``); None for what is none."""
    found = _ARCHITECTURE.fullmatch(asked.strip())
    if found:
        cc = capability(found[1] or found[2])
    else:
        row = _row("gpus", asked, knowledge)
        cc = version(row["cc"]) if row else None
    if cc is None or cc not in architectures(knowledge):
        return None
    name = architecture_name(cc)
    return Page(name, f"{name}: compute capability {cc}", "a GPU architecture", tuple(_architecture(cc, knowledge)))


def architecture_name(cc: Version) -> str:
    """'sm_86' of 8.6."""
    return f"sm_{cc.parts[0]}{cc.parts[1]}"


def _architecture(cc: Version, knowledge: Knowledge) -> Iterator[Part]:
    text = str(cc)
    gpus = [row["key"] for row in _rows("gpus", knowledge) if row["cc"] == text]
    if gpus:
        yield Prose("GPUs", ", ".join(gpus))
    if row := _row("arch-toolkit", text, knowledge):
        since = f"since {row['first']}" if row.get("first") else ""
        until = f"up to {row['last']}" if row.get("last") else ""
        yield Prose("CUDA toolkits that compile for it", f"{since} {until}".strip())
    if row := _row("driver-archs", text, knowledge):
        until = f", up to branch {row['newest']}" if "newest" in row else ""
        yield Prose("Drivers", f"{row['oldest']} or newer{until} (on Windows {row['oldest_windows']} or newer)")
    yield Verbatim("Which versions work with it", (f"cudnn-triage solve --framework torch --gpu {text}",))
    if row := _row("products", "architecture", knowledge):
        yield Names("Where a build has no code for it", tuple(row["causes"].split()))


def _rows(table: str, knowledge: Knowledge) -> list[Row]:
    """The rows of a table; none where a knowledge base lacks it."""
    found: list[Row] = knowledge.table[table]["rows"] if table in knowledge.table else []
    return found


def _row(table: str, key: str, knowledge: Knowledge) -> Row | None:
    """The row of a table with this key, whatever its case; None where there is none."""
    return next((row for row in _rows(table, knowledge) if row["key"].casefold() == key.casefold()), None)
