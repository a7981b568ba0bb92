"""Where a log begins anew: one attempt after another, appended to one file or pasted in one piece.

That a log holds several failures tells nothing by itself: processes fail side by side, the steps of a pipeline one after the
other. An attempt begins where, after a failure, the same command is typed again, the opening lines of the log come again, or
a supervisor says that it starts its program once more. Where none of these can be seen, many different ends of programs are
those of many runs, whose errors a scheduler has appended to one file.
"""

from __future__ import annotations

from bisect import bisect_left

from ..light import pattern, replaced
from ..loggers import MONTHS, WEEKDAYS
from ..structure import Failure, Role
from .page import Page
from .shapes import prompt

_SHORTEST = 12  # letters of the opening lines that cannot be taken for others
_DAY = pattern(rf"\b(?:{WEEKDAYS}|{MONTHS}|AM|PM)\b")
_OPENING = 2  # lines that open a log
_TOLD = r"\d+(?:[:.+/TZ-]+\d+)*Z?"  # a day, a time, a year
_GAP_OF_WORDS = r"[:.+/-]*[^\w:.+/-]\W*"  # what may stand between these and words; a sign within a time is none
_HEADING = pattern(  # a line that can only stand at the head of a run: its number, or its day and time and next to nothing else
    r"(?i)[^\w\n]{0,40}\b(?:run|attempt|try|trial|start|started|starting|restart|launch)\b\W{0,6}\d.{0,40}$"
    rf"|(?=.{{0,80}}\d\d:\d\d)(?=.{{0,80}}\d{{4}})\W*(?:[A-Z]{{2,10}}{_GAP_OF_WORDS}){{0,3}}"
    rf"(?:{_TOLD}{_GAP_OF_WORDS}(?:[A-Z]{{1,4}}{_GAP_OF_WORDS}){{0,2}}){{0,6}}(?:{_TOLD}|[A-Z]{{2,4}})?\W*$"
)
_NUMBER = pattern(r"\d+")
_GAP = 4  # blank lines between them
_PROMPT = pattern(  # what stands before a command, and what a shell is told beside its name
    r"(?:\([\w.-]+\) ?)?(?:PS )?(?:[A-Z]:\\[^>]*>|\[[^\]]*\][$#]|[^\s@$#]*@[^$#>%]*?[$#]|[$#%>])\s*"
    r"(?:(?:sudo|time|nohup|exec|env|&|\w+=(?:\"[^\"]*\"|'[^']*'|\S*))\s+)*"
)
_WORDS = 4  # of a command that tell it from others
_DIFFERENT = 40  # letters of an exception that tell it from others
_ENDS = 6  # so many different exceptions that end a program are not those of the processes of one run
_OUTERMOST = ("<module>", "_run_module_as_main")
_AGAIN = (  # what a line holds, and what it is by which a supervisor says that its program begins again
    ("will restart worker group", pattern(r"")),  # torchelastic
    ("Scheduled restart job", pattern(r"")),  # systemd
    ("ttempt", pattern(r"(?:.{0,40}\W)?[Aa]ttempt #?\d+(?: ?(?:/|of) ?\d+)? failed\b")),  # GitHub Actions: retry, Bazel
    ("nohup: ", pattern(r"nohup: ")),
    ("estarting", pattern(r"(?:.{0,60}\W)?[Rr]estarting (?:the )?(?:job|training|worker group|process|script|run)\b")),
    ("etrying", pattern(r"(?:.{0,60}\W)?[Rr]etrying (?:the )?(?:job|training|command|step|run|build)\b")),
)


def starts(page: Page, failures: tuple[Failure, ...], *, concluded: bool) -> tuple[int, ...]:
    """The lines with which the second and each further attempt begins; empty where attempts cannot be told apart. Behind the
    last failure one begins only where the log is ``concluded``: a person who tries things out may type any command again."""
    # where they begin, since the first lines of a new attempt may be read as the message of the failure above them
    failed = sorted({failure.first for failure in failures if not failure.caught})
    if not failed or (len(failed) < 2 and not concluded):
        return ()
    opening = _opening(page, failed[0])
    commands = {key for index in range(failed[0]) if (key := _command(page, index))}
    begun: list[int] = []
    ahead = 0  # of the failures, the first that is not before the line
    over = False  # whether one has been since the last attempt began
    for index in range(failed[0] + 1, len(page.texts) if concluded else failed[-1]):
        if ahead < len(failed) and failed[ahead] < index:
            over, ahead = True, bisect_left(failed, index)
        key = _command(page, index)
        if over and (key in commands if key else _again(page, index) or _opens(page, index, opening)):
            begun.append(index)
            over = False
        if key:
            commands.add(key)
    return (*begun, *_ended_over_and_over(page, failures, begun[-1] if begun else 0))


def outlived(failures: tuple[Failure, ...], begun: tuple[int, ...]) -> tuple[Failure, ...]:
    """The failures of a log whose last attempt did its work: those of attempts before it were survived."""
    if not begun or any(failure.first >= begun[-1] and not failure.caught for failure in failures):
        return failures
    return tuple(replaced(failure, caught=True) for failure in failures)


def _ended_over_and_over(page: Page, failures: tuple[Failure, ...], begun: int) -> tuple[int, ...]:
    """Where each further run begins, if so many different exceptions have ended a program since the line ``begun``."""
    ending = {
        found.order[found.last]
        for found in page.found
        if found.final and found.frames and found.frames[0].function in _OUTERMOST
    }
    ends = [
        failure
        for failure in failures
        if failure.first >= begun
        and failure.kind == "exception"
        and not failure.caught
        and not failure.rank
        and failure.last in ending
    ]
    if len({"".join(filter(str.isalpha, failure.text))[:_DIFFERENT] for failure in ends}) < _ENDS:
        return ()
    return tuple(sorted({failure.last + 1 for failure in ends[:-1]}))


def _opening(page: Page, end: int) -> list[str]:
    """The lines that open the log, if they come once before its first failure: several processes print theirs several times.
    The first one is enough where it is a heading, or where a traceback follows at once."""
    full = [index for index in range(end) if page.roles[index] is not Role.BLANK][: _OPENING + 1]
    if not full or not _ordinary(page, full[0]):
        return []
    heading = _HEADING.match(page.texts[full[0]][:200]) is not None
    if heading or (len(full) > 1 and page.roles[full[1]] is Role.FRAME):
        found = [_key(page, full[0])]
    elif all(_ordinary(page, index) for index in full[:_OPENING]):
        found = _following(page, full[0], _OPENING)
    else:
        return []
    keys = [_key(page, index) for index in range(end)]
    told = heading or len("".join(found)) >= _SHORTEST
    return found if told and keys.count(found[0]) == 1 else []


def _ordinary(page: Page, index: int) -> bool:
    """Whether a line is what a program prints while nothing is wrong."""
    return page.roles[index] in (Role.TEXT, Role.RECORD) and page.levels[index] not in ("E", "F")


def _opens(page: Page, index: int, opening: list[str]) -> bool:
    return bool(opening) and _key(page, index) == opening[0] and _following(page, index, len(opening)) == opening


def _following(page: Page, index: int, count: int) -> list[str]:
    """What tells apart the ``count`` lines from ``index`` on."""
    lines = range(index, min(index + count + _GAP, len(page.texts)))
    return [_key(page, at) for at in lines if page.roles[at] is not Role.BLANK][:count]


def _key(page: Page, index: int) -> str:
    """The letters of a line, with its rank: times, numbers and addresses differ from one attempt to the next. Of a line
    without any, its signs."""
    text = page.texts[index][:200]
    text = _DAY.sub("", text) if ":" in text else text
    return page.ranks[index] + ("".join(filter(str.isalpha, text)) or "".join(_NUMBER.sub("0", text).split()))


def _command(page: Page, index: int) -> tuple[str, ...]:
    """The program and its first arguments that a person typed at a shell's prompt, empty where none was typed."""
    text = page.texts[index].strip()[:300]
    if not text or (text[0].isalpha() and "@" not in text and text[1:2] != ":" and not text.startswith("PS ")):
        return ()
    found = _PROMPT.match(text)
    if found is None or not (prompt(text) or ":\\" in text):
        return ()
    words = text[found.end() :].split()
    options = [at for at, word in enumerate(words) if word.startswith("-")]
    first = options[0] if options else len(words)
    return tuple(words[: min(max(first, 3 if first == 1 else 1), _WORDS)])


def _again(page: Page, index: int) -> bool:
    text = page.texts[index]
    if page.roles[index] not in (Role.TEXT, Role.RECORD):
        return False
    return any(needle in text and shape.match(text) is not None for needle, shape in _AGAIN)
