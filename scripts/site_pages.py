"""MkDocs hook: a page for every cause, message and code, made from the knowledge base; lists of them; the index for pasting.

What a page says comes from cudnn_triage.pages, as it does for ``cudnn-triage explain``; here it is laid out as Markdown.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudnn_triage.catalogue import (
    architecture_name,
    architecture_page,
    architectures,
    library_names,
    library_page,
    product_names,
    product_page,
)
from cudnn_triage.knowledge import rulebook
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.knowledge.rulebook import Rulebook
from cudnn_triage.pages import (
    Edge,
    Edges,
    Names,
    Page,
    Part,
    Prose,
    References,
    Remedy,
    Verbatim,
    Warnings,
    cause_page,
    has_page,
    rule_page,
)
from cudnn_triage.render.markdown import code, fenced
from cudnn_triage.render.plain import SAFETY

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

sys.path.insert(0, str(Path(__file__).parent))
from paste_index import paste_index

ROOT = Path(__file__).resolve().parent.parent
_INLINE = re.compile(r"[\\`*_{}\[\]#|]")
_PLOT = re.compile(r"!\[([^\]]*)\]\((plots/\w+)\.svg\)")
_EXAMPLES = 3


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of docs/."""
    from mkdocs.structure.files import File

    for uri, text in site(load(), rulebook.read([ROOT / "rules"])):
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """The page on which messages are pasted gets its script; plots are shown in the variant for light or dark pages."""
    markdown = _PLOT.sub(r"![\1](\2.svg#only-light) ![\1](\2-dark.svg#only-dark)", markdown)
    if page.file.src_uri == "paste.md":
        return f'{markdown}\n\n<script src="../assets/paste.js" defer></script>\n'
    return markdown


def site(knowledge: Knowledge, book: Rulebook) -> Iterator[tuple[str, str]]:
    """(path below docs/, text) of every generated file."""
    places = {name: f"causes/{name}.md" for name in knowledge.causes}
    for rule in filter(has_page, knowledge.rules):
        if rule["code"]:
            places[rule["id"]] = f"codes/{rule['library']}/{slug(rule['id'])}.md"
        else:
            places[rule["id"]] = f"messages/{area(rule['id'], book)}/{rule['id']}.md"
    others = list(_catalogue(knowledge))
    places |= {page.id: place for place, page in others}
    for place, page in others:
        yield place, markdown(page, page.id, places, knowledge)
    for name, cause in knowledge.causes.items():
        yield places[name], markdown(cause_page(name, knowledge), cause["title"], places, knowledge)
    for rule in filter(has_page, knowledge.rules):
        heading = rule["id"] if rule["code"] else rule["title"]
        text = markdown(rule_page(rule, knowledge), heading, places, knowledge)
        yield places[rule["id"]], text + "".join(_origin(rule, book))
    yield from _lists(knowledge, book, places)
    yield "paste-index.json", paste_index(knowledge, places)


def _catalogue(knowledge: Knowledge) -> Iterator[tuple[str, Page]]:
    """The pages on libraries, products and architectures, with their places."""
    for folder, names, page in (
        ("products", product_names(knowledge), product_page),
        ("libraries", library_names(knowledge), library_page),
        ("architectures", [architecture_name(cc) for cc in architectures(knowledge)], architecture_page),
    ):
        for name in names:
            if (found := page(name, knowledge)) is not None:
                yield f"{folder}/{slug(name)}.md", found


def slug(name: str) -> str:
    """The name of a code as a file name; no two of one library are alike but for case."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def area(name: str, book: Rulebook) -> str:
    """The folder of rules/signatures in which a message stands."""
    return book.documents[name].file.split("/")[-2]


def escaped(text: str) -> str:
    """Text of the knowledge base as Markdown that shows it as it is."""
    shown = _INLINE.sub(r"\\\g<0>", html.escape(" ".join(text.split()), quote=False))
    return re.sub(r"^([-+]|\d+(?=[.)]))", r"\\\1" if shown[:1] in "-+" else r"\1&#8203;", shown)


def sentence(text: str) -> str:
    """``text`` with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?" else ".")


def markdown(page: Page, heading: str, places: dict[str, str], knowledge: Knowledge) -> str:
    """A page under this heading; ``places`` says where the things lie that it links to."""
    here = places[page.id]
    body = (
        escaped(page.title.removeprefix(f"{page.id}: ")) if page.title.removeprefix(f"{page.id}: ") != heading else ""
    )
    parts = [f"# {escaped(heading)}", _note(page, here, knowledge), body]
    fixes = False
    for part in page.parts:
        if isinstance(part, Remedy) and not fixes:
            fixes = True
            parts.append("## Fixes")
        parts += _part(part, here, places, knowledge)
    return "\n\n".join(filter(None, parts)) + "\n"


def _note(page: Page, here: str, knowledge: Knowledge) -> str:
    rule = knowledge.by_id.get(page.id)
    if rule and rule["code"]:
        return f"[{escaped(page.note)}](index.md)"
    if rule:
        return f"{code(page.id)}, a message of the area [{here.split('/')[1]}](index.md)"
    return f"{code(page.id)}, {escaped(page.note)}"


def _part(part: Part, here: str, places: dict[str, str], knowledge: Knowledge) -> Iterator[str]:
    match part:
        case Prose(title, text):
            yield f"**{title}:** {escaped(text)}" if title else escaped(text)
        case Remedy():
            yield f"### {part.number}. {escaped(part.title)}"
            applies = f"For: {escaped(part.applies)}. " if part.applies else ""
            yield f"{sentence(escaped(part.why))}"
            yield f"*{applies}It {SAFETY[part.safety]}.*"
            if part.commands:
                yield fenced(part.commands, "sh", whole=True)
            if part.checks:
                yield "Check:\n\n" + fenced(part.checks, "sh", whole=True)
            yield _source(part.source, part.read)
        case Verbatim(title, lines):
            yield f"**{title}:**\n\n{fenced(lines, whole=True)}"
        case Warnings(title, entries):
            yield f"## {title}"
            yield "\n".join(
                f"- **{escaped(dead.tried)}**: {escaped(dead.why)}{_dated(dead.source, dead.read)}" for dead in entries
            )
        case Edges(title, edges):
            yield f"## {title}"
            yield "\n".join(_edge(edge, here, places) for edge in edges)
        case Names(title, ids):
            yield f"## {title}"
            yield "\n".join(f"- {_link(name, here, places)}: {escaped(_title(name, knowledge))}" for name in ids)
        case References(title, references):
            yield f"## {title}"
            yield "\n".join(f"- [{escaped(r.title)}](<{r.url}>), read {r.read}" for r in references)


def _edge(edge: Edge, here: str, places: dict[str, str]) -> str:
    word = edge.strength if edge.supports else f"against, {edge.strength}"
    when = f"; when {code(edge.condition)}" if edge.condition else ""
    why = f" ({escaped(edge.why)})" if edge.why else ""
    name = f"{_link(edge.id, here, places)}: " if edge.id else ""
    return f"- *{word}*: {name}{escaped(edge.title)}{when}{why}"


def _title(name: str, knowledge: Knowledge) -> str:
    if name in knowledge.causes:
        return str(knowledge.causes[name]["title"])
    return str(knowledge.by_id[name]["title"]).removeprefix(f"{name}: ")


def _link(name: str, here: str, places: dict[str, str]) -> str:
    up = "../" * here.count("/")
    return f"[{code(name)}]({up}{places[name]})"


def _dated(source: str, read: str) -> str:
    """Where a dead end is known from, if that is an address."""
    when = f", read {read}" if read else ""
    return f" ([source](<{source}>){when})" if re.fullmatch(r"https?://\S+", source) else ""


def _source(source: str, read: str) -> str:
    shown = (
        re.sub(r"https?://[^\s;,)]+", lambda m: f"[{escaped(m[0])}](<{m[0]}>)", source)
        if "://" in source
        else escaped(source)
    )
    return f"Source: {shown}" + (f", read {read}" if read else "") if source else ""


def _origin(rule: dict[str, Any], book: Rulebook) -> Iterator[str]:
    """Examples of a message and where it comes from; the terminal leaves these out."""
    signature = book.signatures.get(rule["id"])
    if signature is None:
        return
    yield f"\n## Examples\n\n{fenced(signature.examples[:_EXAMPLES], whole=True)}"
    yield f"\n{_source(signature.source, signature.read)}\n"


def _lists(knowledge: Knowledge, book: Rulebook, places: dict[str, str]) -> Iterator[tuple[str, str]]:
    families = sorted({cause["family"] for cause in knowledge.causes.values()})
    lines = ["# Causes", "What can be wrong, by family."]
    for family in families:
        names = sorted(n for n, c in knowledge.causes.items() if c["family"] == family)
        rows = [f"- {_link(n, 'causes/index.md', places)}: {escaped(knowledge.causes[n]['title'])}" for n in names]
        lines += [f"## {family}", "\n".join(rows)]
    yield "causes/index.md", "\n\n".join(lines) + "\n"

    for folder, title, said in (
        ("products", "Products", "What libraries and codes belong to."),
        (
            "libraries",
            "Libraries",
            "Shared libraries by file name: which release they are of, and which wheel holds them.",
        ),
        ("architectures", "GPU architectures", "Which toolkits and drivers serve them."),
    ):
        here = f"{folder}/index.md"
        rows = [f"- {_link(name, here, places)}" for name, place in places.items() if place.startswith(f"{folder}/")]
        yield here, f"# {title}\n\n{said}\n\n" + "\n".join(rows) + "\n"

    areas: dict[str, list[dict[str, Any]]] = {}
    libraries: dict[str, list[dict[str, Any]]] = {}
    for rule in filter(has_page, knowledge.rules):
        group = libraries if rule["code"] else areas
        group.setdefault(rule["library"] if rule["code"] else area(rule["id"], book), []).append(rule)
    yield "messages/index.md", _overview("Messages", "What programs print, by area.", {a: a for a in areas}, areas)
    titles = {library: knowledge.libraries[library]["title"] for library in libraries}
    yield "codes/index.md", _overview("Codes", "Status codes, error numbers and exit codes.", titles, libraries)
    for name, rules in areas.items():
        here = f"messages/{name}/index.md"
        rows = [f"- {_link(r['id'], here, places)}: {escaped(r['title'])}" for r in sorted(rules, key=_id)]
        yield here, f"# Messages: {name}\n\n" + "\n".join(rows) + "\n"
    for library, rules in libraries.items():
        here = f"codes/{library}/index.md"
        rows = [
            f"| {escaped(r['number'])} | {_link(r['id'], here, places)} | {escaped(_title(r['id'], knowledge))} |"
            for r in rules
        ]
        table = ["| number | name | meaning |", "|---|---|---|", *rows]
        origin = _source(book.codes[library].source, book.codes[library].read)
        yield here, f"# {escaped(titles[library])}\n\n" + "\n".join(table) + f"\n\n{origin}\n"


def _id(rule: dict[str, Any]) -> str:
    return str(rule["id"])


def _overview(title: str, said: str, titles: dict[str, str], groups: dict[str, list[dict[str, Any]]]) -> str:
    rows: Iterable[str] = (
        f"- [{escaped(titles[name])}]({name}/index.md): {len(groups[name])}" for name in sorted(groups)
    )
    return f"# {title}\n\n{said}\n\n" + "\n".join(rows) + "\n"
