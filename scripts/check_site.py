#!/usr/bin/env python3
"""Check a built site: every internal link and anchor leads somewhere, nothing is loaded from another host, no page is missing.

python scripts/check_site.py [site]
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}


class _Page(HTMLParser):
    """The anchors and the links of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif (tag, name) in _LOADED and ("rel", "canonical") not in attrs:
                self.loaded.append(value)


def check(site: Path) -> list[str]:
    """What is wrong with the site in this folder, a line each."""
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
    problems: list[str] = []
    root = site.resolve()
    for path, page in pages.items():
        here = path.relative_to(root)
        if here.name == "404.html":
            continue  # shown at any address, so its links are absolute
        for link in dict.fromkeys(page.links):
            problems += [f"{here}: {link}: {wrong}" for wrong in _wrong(link, path, root, pages)]
        for link in dict.fromkeys(page.loaded):
            if urlsplit(link).scheme == "data":
                continue
            if urlsplit(link).netloc:
                problems.append(f"{here}: {link}: loaded from another host")
            else:
                problems += [f"{here}: {link}: {wrong}" for wrong in _wrong(link, path, root, pages)]
    return problems


def _wrong(link: str, path: Path, root: Path, pages: dict[Path, _Page]) -> list[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return []
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if root not in target.parents or not target.is_file():
        return ["no such page"]
    if parts.fragment and target in pages and unquote(parts.fragment) not in {*pages[target].anchors, "__top"}:
        return ["no such anchor"]
    return []


def missing(site: Path) -> list[str]:
    """Causes, messages and codes that have no page."""
    from cudnn_triage.knowledge import rulebook
    from cudnn_triage.knowledge.base import load
    from site_pages import ROOT
    from site_pages import site as generated

    book = rulebook.read([ROOT / "rules"])
    files = (name for name, _ in generated(load(), book))
    wanted = (
        name.removesuffix("index.md") if name.endswith("/index.md") else name.removesuffix(".md") for name in files
    )
    return [name for name in wanted if not ((site / name).is_file() or (site / name / "index.html").is_file())]


def main() -> int:
    """Check the site in the folder given, site/ by default; 1 if anything is wrong."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    if not site.is_dir():
        print(f"{site}: no such folder; build the site first: mkdocs build", file=sys.stderr)
        return 2
    problems = [*check(site), *(f"{name}: no page" for name in missing(site))]
    for problem in problems:
        print(problem)
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
