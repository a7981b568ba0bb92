"""Whether a log shows that its program did its work to the end: what it warned of on the way did not stop it."""

from __future__ import annotations

from ..light import pattern
from ..structure import Role
from .page import Page

_LAST = 8  # lines at the end of a log in which the end of the work is told
_MOST = 400  # characters of a line
_BESIDE = r"\d+\s(?:skipped|deselected|xfailed|xpassed|warnings?)"  # what pytest counts beside the tests that passed
_WELL = pattern(
    rf"""(?ix)
    .{{0,200}}\b(?:exit(?:ed)?|finished|ended|completed|returned)\b.{{0,20}}?\b(?:code|status)\b\s*[:=]?\s*0\b(?:\s*\(0x0\))?\W*$
  | (?:.{{0,80}}\W)?(?:[a-z]{{1,20}}_)?exit_(?:code|status)\s?[:=]\s?0$
  | (?:=+\s)?(?:{_BESIDE},\s)*\d+\spassed(?:,\s{_BESIDE})*\sin\s[\d.]+\s?s\b.{{0,20}}$      # pytest
  | \[\s\sPASSED\s\s\]\s\d+\stests?\b                                                     # googletest
  | .{{0,200}}"POST\s\S{{1,200}}\sHTTP/[\d.]+"\s2\d\d\b                                  # a server that answers: uvicorn,
  | .{{0,120}}\|\s2\d\d\s\|.{{0,120}}\bPOST\b                                               # Gin
  | (?:BUILD\sSUCCESSFUL|Build\ssucceeded|Finished:\sSUCCESS|Job\ssucceeded)\b            # Gradle, MSBuild, Jenkins, GitLab
    """
)
_SAYS = pattern(
    r"""(?ix)
    \W*(?:(?:all|the|your|\w{2,20}ing|job|run|build|tests?|script|program|process|conversion|export|pipeline|inference)\s){0,3}
    (?:(?:is|was|has|have|are|were)\s(?:been\s)?)?(?:now\s)?
    (?:done|finished|complete|completed|succeeded|successful|success)(?:\ssuccessfully)?(?:\s(?:in|after|at)\s.{1,60})?\W*$
  | \[[\w-]{1,20}\]\s(?:all\s)?(?:done|finished|completed?)\b(?:\W.{0,120})?$
  | (?:finished|completed|done\swith)\s(?:the\s)?(?:training|inference|evaluation|testing|processing|conversion|export)\b.{0,80}$
  | .{0,80}\bcompleted?\ssuccessfully\b.{0,40}$
  | .{0,60}\b(?:saved|wrote|written)(?:\s[\w-]{1,20}){0,4}\s(?:to|in|into|as|at)[:\s]\s*\S+.{0,40}$
  | (?:model|checkpoint|weights|results?|output)s?\s(?:(?:was|were|is|are)\s)?saved\W*$
  | saved\W*$
    """
)
_METRICS = "'train_runtime': "  # the last thing that the Trainer of transformers prints
_EPOCH = pattern(r"(?:.{0,100}\W)?[Ee]poch:?\s*\[?(\d{1,6})\s?/\s?(\d{1,6})\b")
_DOUBT = pattern(
    r"(?i)\b(?:load|init|import|download|fail|error|not\b|no\b|unable|abort|cannot|could|skip|cancel|only\b|without|warn|except|if\b|unless|when\b)"
)


def well(page: Page) -> bool:
    """Whether one of the last lines says that the work is done. Of a log in which something failed it tells nothing."""
    seen = 0
    metrics = False  # whether a number stands below
    for index in range(len(page.texts) - 1, -1, -1):
        if page.roles[index] not in (Role.TEXT, Role.RECORD):
            continue
        text = page.texts[index].strip()[:_MOST]
        if page.levels[index] in ("E", "F"):
            return False
        if _METRICS in text or _WELL.match(text) is not None:
            return True
        if _SAYS.match(text) is not None and _DOUBT.search(text) is None:
            return True
        if "poch" in text and (found := _EPOCH.match(text)) is not None:
            return found[1] == found[2] and (metrics or "loss" in text)
        metrics = metrics or "loss" in text or "acc" in text
        seen += 1
        if seen == _LAST:
            break
    return False
