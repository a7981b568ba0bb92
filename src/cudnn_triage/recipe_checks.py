"""The part of the rule linter that checks the solver's recipes: their tables, limits, managers and commands, and the fixes' use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .knowledge.rulebook import Rulebook
from .knowledge.schema import Recipe, Variant
from .knowledge.yamlfile import Document, Problem
from .solving.commands import HOLES
from .solving.ground import TABLES
from .solving.limits import LimitError, limits

_HOLE = re.compile(r"\{([^}]*)\}")


def recipes(book: Rulebook) -> Iterator[Problem]:
    """Recipes name tables, packages, facts and managers that exist, and commands that can be filled; fixes name recipes."""
    for recipe in book.recipes.values():
        yield from _recipe(recipe, book)
    for cause in book.causes.values():
        document = book.documents[cause.id]
        for i, fix in enumerate(cause.fixes):
            if fix.solve and fix.solve not in book.recipes:
                known = ", ".join(sorted(book.recipes))
                yield document.problem(
                    f"$.fixes[{i}].solve", f"no recipe {fix.solve!r} in rules/solving; known: {known}"
                )
            if (fix.another == "true" or fix.keep) and not fix.solve:
                yield document.problem(f"$.fixes[{i}]", "'another' and 'keep' say something only together with 'solve'")
            for name, fact in fix.keep.items():
                if book.facts[fact].type != "version" if fact in book.facts else True:
                    yield document.problem(f"$.fixes[{i}].keep.{name}", f"{fact!r} is no declared fact of type version")


def _recipe(recipe: Recipe, book: Rulebook) -> Iterator[Problem]:
    document = book.documents[f"solving/{recipe.framework}"]
    for name in TABLES:
        if name not in book.tables:
            yield document.problem("$.framework", f"recipes need the table rules/compat/{name}.yaml")
    for i, name in enumerate(recipe.installed):
        if name not in book.facts:
            yield document.problem(f"$.installed[{i}]", f"fact {name!r} is not declared in rules/facts/")
    for i, variant in enumerate(recipe.variants):
        yield from _variant(variant, book, document, f"$.variants[{i}]")


def _variant(variant: Variant, book: Rulebook, document: Document, path: str) -> Iterator[Problem]:
    tables = [variant.table, variant.companions.table if variant.companions else ""]
    for name in tables:
        if name and name not in book.tables:
            yield document.problem(f"{path}.table", f"no table {name!r} in rules/compat")
    if not variant.table and not variant.fixed:
        yield document.problem(f"{path}.table", "needs a table that knows the builds, or 'fixed' where all are alike")
    wheels = {row["key"].partition(" ")[0] for row in book.tables["wheels"].rows} if "wheels" in book.tables else set()
    beside = variant.companions.packages if variant.companions else []
    for package in (variant.package, *beside):
        if package not in wheels:
            yield document.problem(f"{path}.package", f"no wheels of {package!r} in rules/compat/wheels.yaml")
    for i, item in enumerate(variant.also):
        yield from _limit(item.releases, document, f"{path}.also[{i}].releases")
    yield from _limit(variant.releases, document, f"{path}.releases")
    known = HOLES | set(beside) | {f"{name}+tag" for name in beside}
    managers = {row["key"] for row in book.tables["managers"].rows} if "managers" in book.tables else set()
    for i, way in enumerate(variant.ways):
        yield from _limit(way.releases, document, f"{path}.ways[{i}].releases")
        for name in way.managers:
            if name not in managers:
                yield document.problem(
                    f"{path}.ways[{i}].managers", f"no manager {name!r} in rules/compat/managers.yaml"
                )
        for j, command in enumerate(way.commands):
            for hole in _HOLE.findall(command):
                if hole not in known:
                    told = f"unknown hole {{{hole}}}; known: {', '.join(sorted(known))}"
                    yield document.problem(f"{path}.ways[{i}].commands[{j}]", told)


def _limit(text: str, document: Document, path: str) -> Iterator[Problem]:
    try:
        limits(text)
    except LimitError as error:
        yield document.problem(path, str(error))
