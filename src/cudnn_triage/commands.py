"""The other commands: explain, solve, rules, eval, fit, completion."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .cli import (
    COMMANDS,
    FAILED,
    FORMATS,
    OK,
    UsageError,
    complain,
    emit,
    knowledge,
    output,
    standard_input,
    unreadable,
)
from .options import Parser

if TYPE_CHECKING:
    from .evaluation.metrics import Figures

HEALTHY = "corpus/healthy"
_WIDEST = 120  # columns to which explanations are wrapped
_SHOWN = 200  # characters of what was asked that an error repeats


def run(command: str, args: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    actions: dict[str, Callable[[Sequence[str]], int]] = {
        "explain": _explain,
        "solve": _solve,
        "rules": _rules,
        "eval": _eval,
        "fit": _fit,
        "completion": _completion,
    }
    return actions[command](args)


def _parser(command: str, description: str) -> argparse.ArgumentParser:
    return Parser(prog=f"cudnn-triage {command}", description=description)


def _explain(args: Sequence[str]) -> int:
    parser = _parser(
        "explain", "Say what a cause, a message, a status, a number, a library or a GPU architecture means."
    )
    parser.add_argument(
        "name",
        nargs="+",
        help="for example cudnn-not-found, CUDNN_STATUS_NOT_INITIALIZED, 700, 'Xid 79', libcudnn.so.8, sm_120, nccl",
    )
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add rules")
    options = parser.parse_args(args)
    from .explain import Unknown, explain
    from .render.plain import cut

    asked = " ".join(options.name)
    try:
        width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
        print(explain(asked, knowledge(options.rules), width), file=output())
    except Unknown as error:
        hint = f"; nearest: {', '.join(error.close)}" if error.close else ""
        log = "; a message in its log says more: cudnn-triage FILE" if " " in asked else ""
        raise UsageError(f"nothing is known of {cut(asked, _SHOWN)!r}{hint}{log}") from None
    return OK


def _solve(args: Sequence[str]) -> int:
    from .solve_command import run as solve

    return solve(args)


def _rules(args: Sequence[str]) -> int:
    parser = _parser("rules", "Work on the knowledge base.")
    actions = parser.add_subparsers(dest="action", required=True)
    lint = actions.add_parser("lint", help="check rules: shape, ids, references, examples, sources")
    lint.add_argument("folders", nargs="*", metavar="DIR", help="folders of rules (default: the shipped ones)")
    lint.add_argument(
        "--healthy", metavar="DIR", help=f"logs in which nothing is wrong, *.log (default: {HEALTHY}, if it is there)"
    )
    test = actions.add_parser("test", help="run the examples and near-misses of all rules")
    test.add_argument("folders", nargs="*", metavar="DIR")
    listing = actions.add_parser("list", help="list causes, signatures and codes")
    listing.add_argument("--rules", action="append", default=[], metavar="DIR")
    new = actions.add_parser("new", help="make a signature file from a message on standard input")
    new.add_argument("id", help="id of the new signature, lower-case words with hyphens")
    new.add_argument("--cause", default="", help="the cause that the message points to")
    new.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="your own rules, where the cause is there"
    )
    options = parser.parse_args(args)
    if options.action == "list":
        return _list(options.rules)
    if options.action == "new":
        return _new(options)
    return _lint(options)


def _new(options: argparse.Namespace) -> int:
    import re

    from .cleaning import clean
    from .knowledge.scaffold import signature_file
    from .knowledge.schema import ID_PATTERN, ID_WORDS
    from .near import nearest
    from .reading import ReadError

    known = knowledge(options.rules)
    if not re.fullmatch(ID_PATTERN, options.id):
        raise UsageError(f"rules new {options.id}: {ID_WORDS}")
    if options.id in known.by_id or options.id in known.causes:
        raise UsageError(f"rules new {options.id}: there is a rule of that id; cudnn-triage explain {options.id}")
    if options.cause and options.cause not in known.causes:
        close = nearest(options.cause, known.causes) or "; cudnn-triage rules list names all"
        raise UsageError(f"--cause {options.cause}: no such cause{close}")
    try:
        logs = list(standard_input())
    except ReadError as error:
        raise unreadable(error) from error
    pasted = "\n".join(log.text for log in logs)
    if not pasted.strip():
        raise UsageError("rules new: paste the message on standard input")
    message = "\n".join(line.text for log in logs for line in clean(log))
    emit(signature_file(options.id, pasted, message, options.cause, date.today().isoformat()))
    return OK


def _lint(options: argparse.Namespace) -> int:
    from .knowledge.base import shipped_rules
    from .linting import lint, only_examples

    own = [Path(folder) for folder in options.folders]
    for folder in own:
        if folder.is_file():
            raise UsageError(f"{folder}: is a file; name the folder of rules, in which signatures/, causes/ ... lie")
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder")
    out = output()
    with shipped_rules() as shipped:
        beside = [] if any(folder.resolve() == shipped.resolve() for folder in own) or not own else [shipped]
        folders = own or [shipped]
        test = options.action == "test"
        problems = only_examples(folders, beside) if test else lint(folders, _healthy(options.healthy), beside)
    for problem in problems:
        print(problem, file=out)
    print(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}", file=out)
    if not own:
        complain("these were the rules that the tool runs with; name a folder to check others: rules lint DIR")
    return FAILED if problems else OK


def _healthy(asked: str | None) -> Path | None:
    """The folder of healthy logs; without one says that the rules are not run over healthy logs."""
    folder = Path(asked or HEALTHY)
    if folder.is_dir():
        return folder
    if asked:
        raise UsageError(f"--healthy {asked}: no such folder")
    print(f"not run over healthy logs: there is no folder {HEALTHY} here (--healthy DIR names one)", file=output())
    return None


def _list(folders: Sequence[str]) -> int:
    known = knowledge(folders)
    out = output()
    for name, cause in sorted(known.causes.items(), key=lambda item: (item[1]["family"], item[0])):
        print(f"cause      {cause['family']:12} {name:32} {cause['title']}", file=out)
    for rule in known.rules:
        kind = "code" if rule["code"] else "signature"
        print(f"{kind:10} {rule['id']:45} {rule['title'][:100]}", file=out)
    return OK


def _folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="*", metavar="DIR", help="folders of labelled logs (default: corpus)")
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add rules")


def _eval(args: Sequence[str]) -> int:
    parser = _parser("eval", "Measure accuracy and calibration on labelled logs.")
    _folders(parser)
    parser.add_argument("--no-perturb", action="store_true", help="leave out the perturbed runs")
    parser.add_argument("--no-baseline", action="store_true", help="leave out the statistical look-alikes")
    parser.add_argument("--details", action="store_true", help="list confusions and every wrong answer")
    parser.add_argument("--min-fair", type=float, metavar="X", help="fail when cross-validated fair@1 is below X")
    parser.add_argument("--max-ece", type=float, metavar="X", help="fail when the calibration error is above X")
    parser.add_argument("--max-alarms", type=int, metavar="N", help="fail on more than N false alarms")
    parser.add_argument(
        "--max-drop", type=float, metavar="X", help="fail when a perturbation costs more than X of fair@1"
    )
    parser.add_argument(
        "--unexplained",
        action="store_true",
        help="instead: list lines of this field that no rule explains, over any folders of logs, labelled or not; rules "
        "that never fire and rules that fire on healthy logs",
    )
    parser.add_argument(
        "--top", type=int, default=30, metavar="N", help="lines listed with --unexplained (default: 30)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures, or the whole list, as JSON ('-': only that)")
    options = parser.parse_args(args)
    if options.max_drop is not None and options.no_perturb:
        parser.error("--max-drop needs the perturbed runs, which --no-perturb leaves out")
    from .engine import Triager
    from .evaluation.command import evaluate
    from .evaluation.coverage import coverage, coverage_data, print_coverage
    from .knowledge.yamlfile import Problem

    folders = _labelled(options.folders)
    triager = Triager(knowledge(options.rules))
    out = StringIO() if options.json == "-" else output()
    record: dict[str, Any] = {"date": date.today().isoformat()}
    try:
        if options.unexplained:
            covered = coverage(folders, triager)
            print_coverage(covered, out, options.top)
            _write_json(options.json, {**record, **coverage_data(covered)})
            return OK
        plain, perturbed = evaluate(
            folders,
            triager,
            out,
            perturb=not options.no_perturb,
            baseline=not options.no_baseline,
            details=options.details,
            record=record,
        )
    except Problem as problem:
        raise UsageError(str(problem)) from None
    _write_json(options.json, record)
    missed = _missed(options, plain, perturbed)
    for text in missed:
        complain(text, "cudnn-triage eval: ")
    return FAILED if missed else OK


def _missed(options: argparse.Namespace, found: Figures, perturbed: Mapping[str, Figures]) -> list[str]:
    """The limits on the command line that the figures miss."""
    missed = []
    if options.min_fair is not None and found.fair1 < options.min_fair:
        missed.append(f"fair@1 {found.fair1:.3f} is below {options.min_fair}")
    if options.max_ece is not None and found.ece > options.max_ece:
        missed.append(f"ECE {found.ece:.3f} is above {options.max_ece}")
    if options.max_alarms is not None and len(found.alarms) > options.max_alarms:
        missed.append(f"{len(found.alarms)} false alarms")
    drops = {name: found.fair1 - changed.fair1 for name, changed in perturbed.items()}
    if options.max_drop is not None:
        missed += [f"{name} costs {drop:.3f} of fair@1" for name, drop in drops.items() if drop > options.max_drop]
    return missed


def _write_json(name: str | None, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=1) + "\n"
    if name == "-":
        emit(text)
    elif name:
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--json {name}: cannot be written: {error.strerror}") from error


def _labelled(folders: Sequence[str]) -> list[Path]:
    paths = [Path(folder) for folder in folders] or [Path("corpus")]
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"{path}: no such folder of logs")
    return paths


def _fit(args: Sequence[str]) -> int:
    parser = _parser("fit", "Fit the numbers behind the strength words; prints rules/weights.yaml.")
    _folders(parser)
    parser.add_argument(
        "--hunches", action="store_true", help="instead: learn what the words of logs say; prints rules/hunches.yaml"
    )
    options = parser.parse_args(args)
    from .engine import Triager
    from .evaluation.command import fitted, learned
    from .evaluation.learning import CannotLearn
    from .knowledge.yamlfile import Problem

    paths = _labelled(options.folders)
    triager = Triager(knowledge(options.rules))
    out = output()
    try:
        if options.hunches:
            out.write(learned(paths, triager, date.today().isoformat()))
            return OK
        numbers = fitted(paths, triager)
    except (CannotLearn, Problem) as error:
        raise UsageError(str(error)) from None
    print("# Fitted by 'cudnn-triage fit'; what each number means stands in src/cudnn_triage/ranking.py", file=out)
    for name, value in numbers.items():
        print(f"{name}: {value}", file=out)
    return OK


_BASH = """_cudnn_triage() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  case "$prev" in
    --format) COMPREPLY=($(compgen -W "%(formats)s" -- "$cur")); return;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return;;
    rules) COMPREPLY=($(compgen -W "lint test list new" -- "$cur")); return;;
    explain|verify) COMPREPLY=($(compgen -W "%(causes)s" -- "$cur")); return;;
    probe) COMPREPLY=($(compgen -W "%(probes)s --list --script" -- "$cur")); return;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return;;
  esac
  COMPREPLY=($(compgen -W "%(commands)s %(options)s" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _cudnn_triage cudnn-triage
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + _BASH
_FISH = """complete -c cudnn-triage -n __fish_use_subcommand -a "%(commands)s"
complete -c cudnn-triage -l format -x -a "%(formats)s"
complete -c cudnn-triage -l color -x -a "auto always never"
complete -c cudnn-triage -n "__fish_seen_subcommand_from rules" -x -a "lint test list new"
complete -c cudnn-triage -n "__fish_seen_subcommand_from explain verify" -x -a "%(causes)s"
complete -c cudnn-triage -n "__fish_seen_subcommand_from probe" -a "%(probes)s"
complete -c cudnn-triage -n "__fish_seen_subcommand_from completion" -x -a "bash zsh fish"
"""


def _completion(args: Sequence[str]) -> int:
    parser = _parser("completion", 'Print a completion script: eval "$(cudnn-triage completion bash)".')
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    options = parser.parse_args(args)
    script = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}[options.shell]
    from .cli import parser as main_parser

    flags = [o for action in main_parser()._actions for o in action.option_strings if o.startswith("--")]
    known = knowledge([])
    words = {
        "formats": " ".join(FORMATS),
        "commands": " ".join(COMMANDS),
        "causes": " ".join(sorted(known.causes)),
        "probes": " ".join(known.probes),
        "options": " ".join(flags),
    }
    print(script % words, end="", file=output())
    return OK
