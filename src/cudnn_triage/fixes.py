"""Fixes made ready to run: commands completed from the facts, quoted for the shell, or the fact named that is missing."""

from __future__ import annotations

import re
from functools import lru_cache

from .conditions import Seen, holds
from .facts import Facts
from .knowledge.base import Knowledge
from .light import pattern, replaced
from .report import FixItem
from .values import Argument, Soname, Value, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .solving import Answer, Situation

_HOLE = pattern(r"\{([A-Za-z][\w.\[\]-]*)\}")
_DECIDING = ("gpu.cc", "driver.version", "cuda.driver")  # facts without which the solver is not asked
_USUAL = "python"  # the language of a program, unless its log shows another
_TYPED = (Version, Soname, Argument, int, float)
_CODE = pattern(
    r"[!%#{]|import |from |[A-Za-z_][\w.]* = |[A-Za-z_][\w.]*\("
)  # what a cell of a notebook takes as it is
_SAFE = pattern(r"[\w.+:/=@#-]*", re.ASCII)


def ready(fixes: list[dict[str, Any]], facts: Facts, seen: Seen, knowledge: Knowledge) -> tuple[FixItem, ...]:
    """The fixes that apply. First those that this log calls for, then those that hold for any log, last those whose
    condition is unknown, or which install with pip where a program in another language than Python failed; one whose condition is
    false is dropped. Within each, the order of the cause's file."""
    ranked: list[tuple[int, FixItem]] = []
    foreign = _foreign(facts, knowledge)
    for fix in fixes:
        standing = _standing(fix, facts, seen, foreign)
        if standing is not None:
            item, solved = _solved(fix, facts, knowledge) if fix["solve"] else (_fix(fix, facts, knowledge), False)
            ranked.append((0 if solved and standing == 1 else standing, item))
    kept: dict[tuple[str, ...], FixItem] = {}
    for _, item in sorted(ranked, key=lambda pair: pair[0]):  # two fixes that the solver answers alike are one
        kept.setdefault(item.commands or (item.title,), item)
    return tuple(kept.values())


def called_for(fixes: list[dict[str, Any]], facts: Facts, seen: Seen, knowledge: Knowledge) -> tuple[FixItem, ...]:
    """Only the fixes that this log itself calls for, as written."""
    return tuple(_fix(fix, facts, knowledge) for fix in fixes if _standing(fix, facts, seen, "") == 0)


def _standing(fix: dict[str, Any], facts: Facts, seen: Seen, foreign: str) -> int | None:
    """0: this log calls for it (``first`` holds, or ``when`` holds because of the log); 1: it holds for any log; 2: unknown
    whether it applies, or a fix with the call ``foreign``; None: it does not apply, which its gate mostly tells alone."""
    gate = fix["gate"]
    if gate is not None and holds(gate, facts, seen) is False:
        return None
    when, first = fix["when"], fix["first"]
    applies = when is None or holds(when, facts, seen)
    if applies is False:
        return None
    called = first is not None and holds(first, facts, seen)
    if applies is None or (foreign and not called and any(foreign in command for command in fix["commands"])):
        return 2
    if first is not None:
        return 0 if called else 1
    return 1 if for_any_log(fix) else 0


def for_any_log(fix: dict[str, Any]) -> bool:
    """Whether a fix holds where nothing is known: it has no condition, or one that denies something."""
    when = fix["when"]
    return when is None or bool(fix["denies"] and holds(when, Facts(), lambda _: False))


def _foreign(facts: Facts, knowledge: Knowledge) -> str:
    """The call that is of no use where the failing program is written in other languages than Python only: pip's; else ''."""
    languages = facts.values("program.language")
    if not languages or _USUAL in languages or "managers" not in knowledge.table:
        return ""
    return _pip(knowledge)["pip"]


def _solved(fix: dict[str, Any], facts: Facts, knowledge: Knowledge) -> tuple[FixItem, bool]:
    """A fix with the versions that the solver works out from the facts, and True; as written where they do not suffice."""
    if not any(facts.values(name) for name in _DECIDING):
        return _fix(fix, facts, knowledge), False  # nothing is known that would rule a build out
    from .solving import Wishes, solve  # most reports need no solver
    from .solving.situation import from_facts

    situation = from_facts(facts, fix["solve"], knowledge)
    if not situation.gpus and situation.driver is None and situation.driver_cuda is None:
        return _fix(fix, facts, knowledge), False
    kept = tuple((name, f"=={facts.one(fact)}") for name, fact in fix["keep"].items() if facts.one(fact) is not None)
    if len(kept) < len(fix["keep"]):
        return _fix(fix, facts, knowledge), False  # what is to stay is not known
    manager = _manager(facts, knowledge)
    wishes = Wishes(kept, manager["key"]) if manager else Wishes(kept)
    answer = solve(fix["solve"], situation, wishes, knowledge, thorough=False)
    if answer.choice is None or (fix["another"] and _installed(answer, situation)):
        item = _fix(fix, facts, knowledge)
        asked = tuple(f"{question.fact}: {question.ask}" for question in answer.questions)
        why = f"{item.why}; {answer.summary}" if answer.status == "none" else item.why
        return replaced(item, why=why, missing=tuple(dict.fromkeys((*item.missing, *asked)))), False
    title, why = f"Install {answer.choice.words}", "; ".join(answer.reasons)
    return _as_typed(FixItem(title, fix["safety"], answer.commands, "", answer.verify, why), facts, knowledge), True


def _installed(answer: Answer, situation: Situation) -> bool:
    """Whether the solver chose what is there already."""
    return answer.choice is not None and any(
        (name, release.text) in answer.choice.packages for name, release in situation.installed
    )


def _fix(fix: dict[str, Any], facts: Facts, knowledge: Knowledge) -> FixItem:
    missing: dict[str, None] = {}
    for name in fix["needs"]:
        if not facts.values(name):
            missing[_ask(name, knowledge)] = None
    commands = tuple(complete(command, facts, knowledge, missing) for command in fix["commands"])
    verify = tuple(complete(command, facts, knowledge, {}) for command in fix["verify"])
    manager = _manager(facts, knowledge)
    if manager:
        commands = tuple(_called(command, manager, knowledge) for command in commands)
        verify = tuple(_called(command, manager, knowledge) for command in verify)
    applies = complete(fix["applies"], facts, knowledge, {})
    item = FixItem(fix["title"], fix["safety"], commands, applies, verify, fix["why"], tuple(missing))
    return _as_typed(item, facts, knowledge)


def _as_typed(item: FixItem, facts: Facts, knowledge: Knowledge) -> FixItem:
    """A fix as it is typed where the log is from: in a hosted notebook, into cells. What a hosted service runs in a container is a
    job, not a notebook."""
    if not facts.values("platform.hosted") or facts.values("platform.container"):
        return item
    is_command = _shell(knowledge).match
    verify = tuple(_in_a_cell(check) if is_command(check) else check for check in item.verify)
    return replaced(item, commands=tuple(map(_in_a_cell, item.commands)), verify=verify)


@lru_cache(maxsize=4)
def _shell(knowledge: Knowledge) -> re.Pattern[str]:
    """What a shell's command begins with, among checks that say in words what is to be seen."""
    rows = knowledge.table["shell"]["rows"] if "shell" in knowledge.table else ()
    plain = [re.escape(row["key"]) for row in rows]
    with_verb = [rf"{re.escape(row['key'])} (?:{row['verbs'].replace(' ', '|')})\b" for row in rows if "verbs" in row]
    starts = [rf"(?:{'|'.join(plain)})(?: [^a-z ]| \S+\.(?:py|so|dll|log)\b|$)", *with_verb]
    return re.compile(rf"(?:[A-Z_]+=\S* )*(?:{'|'.join(starts)})") if rows else re.compile(r"(?!)")


def _in_a_cell(command: str) -> str:
    """A command as a cell of a notebook takes it: a shell's with ``!``, and ``%cd``, which lasts."""
    if _CODE.match(command):
        return command
    return f"%{command}" if command.startswith("cd ") and "&&" not in command else f"!{command}"


def _manager(facts: Facts, knowledge: Knowledge) -> dict[str, str] | None:
    """The package manager that the facts name, if it answers to pip's subcommands by another name."""
    name = str(facts.one("platform.packages") or "")
    rows = knowledge.table["managers"]["rows"] if name else ()
    return next((row for row in rows if row["key"] == name and "verbs" in row), None)


def _pip(knowledge: Knowledge) -> dict[str, str]:
    """The row of the package manager for which fixes are written."""
    return next(row for row in knowledge.table["managers"]["rows"] if row["key"] == "pip")


def _called(command: str, manager: dict[str, str], knowledge: Knowledge) -> str:
    """A command written for pip, as this manager is called; where a program has a Python of its own, any of Python's."""
    pip, verbs = _pip(knowledge), "|".join(manager["verbs"].split())
    called = re.sub(rf"\b{re.escape(pip['pip'])} (?=(?:{verbs})\b)", lambda _: f"{manager['pip']} ", command)
    if "own" not in manager:
        return called
    return re.sub(rf"\b{re.escape(pip['python'])} (?=-[cm] )", lambda _: f"{manager['python']} ", called)


def complete(command: str, facts: Facts, knowledge: Knowledge, missing: dict[str, None]) -> str:
    """``command`` with {fact} holes filled. Only typed values (versions, numbers, names of libraries, scripts and images) and what a
    table says enter a command, and quoted; a hole whose fact nobody told takes what is usual, or becomes {what it is} and is
    added to ``missing``.
    """

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name not in knowledge.facts and not _declared(name, knowledge):
            return found[0]
        value = facts.one(name)
        if value is None and facts.values(name):
            value = facts.values(name)[-1]
        if value is None and (usual := knowledge.facts.get(name, {}).get("usual")):
            return str(usual)
        if value is None or not (isinstance(value, _TYPED) or all(f.origin == "table" for f in facts.find(name))):
            missing[_ask(name, knowledge)] = None
            return f"{{{_title(name, knowledge)}}}"
        return quoted(value)

    return _HOLE.sub(fill, command)


def quoted(value: Value) -> str:
    """A value as it may stand in a shell command, inside or outside quotes."""
    text = str(value)
    if _SAFE.fullmatch(text):
        return text
    import shlex

    return shlex.quote(text)


def _declared(name: str, knowledge: Knowledge) -> bool:
    stem = name.rpartition(".")[0]
    return name.startswith("package.") or stem in knowledge.facts or stem.rpartition(".")[0] in knowledge.facts


def _title(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name)
    if fact is not None:
        return str(fact["title"])
    stem, _, part = name.rpartition(".")
    whole = knowledge.facts.get(stem)
    return f"{part} part of {whole['title']}" if whole else name


def _ask(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name) or knowledge.facts.get(name.rpartition(".")[0])
    if fact is None:
        return name
    return f"{fact['title']}: {fact['ask']}" if fact["ask"] else str(fact["title"])
