"""Prefixes that CI systems, containers, schedulers, launchers and quoting put before what a program printed.

Two kinds: those that cannot be mistaken are taken off wherever they stand; the others (``0: ``, ``name | ``, ``> ``) only
where they recur, so that a message that happens to look like one stays whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from .light import pattern, record
from .loggers import LEVEL, MONTHS, STAMP, TIME, WEEKDAYS, is_record

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d|[ ]UTC)?"
_MONTH = rf"(?:{MONTHS})"
_ADDRESS = r"[\da-fA-F.:]{3,45}"
# what a time before it belongs to: onnxruntime's and PyTorch's own prefixes
_OWN = r"(?!\[?[IWEFV]:onnxruntime|\[[IWEFV]:)"

_CARRIER = pattern(
    rf"""
    (?:
      # GitHub Actions, Azure Pipelines, docker logs -t, Kubernetes (CRI), GitLab's time stamps
      \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{{6,9}}(?:Z|[+-]\d\d:\d\d)[ ](?:std(?:out|err)[ ][FP][ ]|\d\d[OE][+ ])?{_OWN}
    | \[\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z\][ ]                             # Jenkins
    | \#\#\[(?P<ci>error|warning|debug|command|section|group|endgroup|notice)\]
    | ::(?P<command>error|warning|notice|debug|group|endgroup)(?:[ ][^:\r\n]{{0,300}})?::
      # GitLab, Jenkins, Buildkite
    | (?P<stage>
        section_(?:start|end):\d{{9,11}}:[\w.-]{{1,100}}(?:\[[^\]]{{0,200}}\])?
      | \[Pipeline\][ ](?=[a-zA-Z{{}}/])
      | _bk;t=\d{{13}}
      )
      # docker build (BuildKit): step and seconds; of what it says itself the step alone
    | (?P<buildkit>\#\d{{1,4}}[ ](?:\d{{1,6}}\.\d{{1,3}}(?:[ ]|$)|(?=ERROR:[ ])))
    | \[pod/(?P<pod>[\w.-]{{1,253}}(?:/[\w.-]{{1,63}})?)\][ ]?
      # syslog and journald: date host program[pid]: message
    | (?:<\d{{1,3}}>)?{_MONTH}[ ][ \d]\d[ ]\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[ ](?!\d{{4}}\b)[\w.:-]{{0,63}}[\w.-][ ]
        (?P<program>[\w./@() -]{{1,64}}?)(?:\[\d{{1,8}}\])?:[ ]
    | \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{{1,6}})?(?:Z|[+-]\d\d:?\d\d)[ ][\w.-]{{1,64}}[ ]
        (?P<daemon>[\w./@-]{{1,64}})(?:\[\d{{1,8}}\])?:[ ]
    | (?:<\d{{1,3}}>)?\[[ ]{{0,6}}\d{{1,8}}\.\d{{6}}\](?:[ ]?\[[ ]{{0,6}}[TC]\d{{1,8}}\])?[ ]             # dmesg
    | \[[ ]{{0,6}}\+\d{{1,6}}\.\d{{6}}\][ ]
    | (?:<\d{{1,3}}>)?\[(?:{WEEKDAYS})[ ]{_MONTH}[ ]{{1,2}}\d{{1,2}}[ ]\d\d:\d\d:\d\d[ ]\d{{4}}\][ ]
    | kernel:[ ](?=NVRM|\[|nvidia|NVIDIA|nouveau|Out[ ]of|oom|pcieport|BUG|INFO:)
    | \[rank(?P<rank>\d{{1,5}})\]:[ ]?
    | \[default(?P<default>\d{{1,5}})\]:                                            # torchrun --tee: nothing between
    | \[rank:[ ](?P<lightning>\d{{1,5}})\][ ]
    | \[\d{{1,4}},(?:mpirank:)?(?P<mpi>\d{{1,5}})(?:,[\w.-]+)?\]<std(?:out|err|diag)>:
      # Ray, vLLM: (Worker pid=1, ip=10.0.0.2)
    | \((?P<ray>(?:[\w.:<>\[\]=/-]{{1,80}}[ ]){{0,3}}pid=\d{{1,8}}(?:,[ ]ip={_ADDRESS})?(?:,[ ]actor_id=\w{{1,40}})?)\)
        (?:[ ]|$)
    | \((?:raylet|autoscaler|gcs_server)(?:,[ ]ip={_ADDRESS}|[ ]\+\w{{1,12}})?\)[ ]
    | (?P<compose>[a-z][\w.-]{{0,60}}[-_]\d{{1,4}})[ ]{{1,60}}\|(?:[ ]|$)                                # docker compose
    )
    """,
    re.VERBOSE,
)
# groups that tell what runs the program, by the name of the carrier, and those that name one stream of several
BUILDKIT, CI = "buildkit", "ci"
_CARRIERS = {"buildkit": BUILDKIT, "compose": "compose", "pod": "pod", "ci": CI, "command": CI, "stage": CI}
_STREAMS = frozenset({"compose", "pod", "rank", "default", "lightning", "mpi", "ray"})
# gh run view --log: job, step and time before each line
_GH = pattern(r"[^\t\r\n]{1,120}\t[^\t\r\n]{1,200}\t(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z[ ]?)")

# BuildKit prints the output of a step that failed once more, below the step's name, each line with its seconds alone
_STEP = pattern(r"[ ]>[ ]\[[^\]]{1,200}\][ ]")
_STEP_ENDS = "------"
_SECONDS = pattern(r"\d{1,6}\.\d{1,3}(?:[ ]|$)")

# lines that begin with another character than these need not be tried
_CARRIER_FIRST = frozenset("0123456789[#:_<(JFMASONDabcdefghijklmnopqrstuvwxyz")


@record(frozen=True, slots=True)
class Prefix:
    """A prefix that counts only where it recurs. The pattern's group ``rank``, if any, names the stream."""

    name: str
    first: str  # the characters one of which a line begins with that carries it
    needle: str  # and what it holds
    pattern: re.Pattern[str]
    share: float  # of the lines with text that must carry it
    least: int  # lines that must carry it
    streams: bool = False  # different names must recur: a table has another name on each line
    time: bool = False  # a bare time: what a logger puts behind its own is the logger's
    all: int = 0  # lines that suffice where every line carries it


_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_LETTERS = _LOWER + _LOWER.upper()
_RECURRING: tuple[Prefix, ...] = (
    Prefix(
        "quote",
        ">",
        "",
        pattern(r"(?!>>>(?:[ ]|$))(?:(?:>[ ]?){1,6}?(?=>>>(?:[ ]|$))|(?:>[ ]?){1,6}(?!>))"),
        0.6,
        3,
        all=1,
    ),
    Prefix(
        "compose",
        _LETTERS + _DIGITS,
        "|",
        pattern(r"(?P<rank>[A-Za-z0-9][\w.-]{0,80}?)[ ]{1,60}\|(?:[ ]|$)"),
        0.3,
        3,
        streams=True,
    ),
    Prefix("box", " \u2502", "\u2502", pattern(r"[ ]{0,12}\u2502(?:[ ]|$)"), 0.5, 3),
    Prefix("srun", " 0123456789", ":", pattern(r"[ ]{0,4}(?P<rank>\d{1,5}):(?:[ ]|$)"), 0.5, 3, streams=True),
    Prefix("bracketed-number", "[", "]", pattern(r"\[(?P<rank>\d{1,4})\]:?(?:[ ]|$)"), 0.5, 4, streams=True),
    Prefix("role", "[", "]:", pattern(r"\[(?P<rank>[A-Za-z_][A-Za-z_-]{0,20}\d{1,4})\]:"), 0.2, 3, streams=True),
    Prefix(
        "host",
        _LETTERS + _DIGITS,
        ":",
        pattern(r"(?P<rank>(?:[A-Za-z][\w.-]{0,60}[A-Za-z_-]\d{1,5}|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})):(?:[ ]|$)"),
        0.6,
        4,
        streams=True,
        all=2,
    ),
    Prefix(
        "stern",
        _LOWER,
        "-",
        pattern(r"(?P<rank>[a-z][a-z0-9.-]{1,200}-[a-z0-9]{5}[ ][a-z][a-z0-9-]{0,62})(?:[ ]|$)"),
        0.6,
        3,
        streams=True,
    ),
    Prefix("file", _LETTERS + _DIGITS + "./~", ":", pattern(r"[\w./~-]{1,120}\.(?:log|txt|out|err):"), 0.97, 4),  # grep
    Prefix("stamp", "[0123456789", ":", pattern(rf"\[?{STAMP}\]?(?:[ ]-)?[ \t]{_OWN}"), 0.4, 3, time=True, all=1),
    Prefix("iso", _DIGITS, ":", pattern(rf"{_ISO}[ \t]{_OWN}"), 0.2, 2, time=True, all=1),
    Prefix("wide clock", "[0123456789", ":", pattern(rf"(?:\[{TIME}\]|{TIME})[ ]{{2}}"), 0.97, 4, time=True, all=2),
    Prefix("clock", "[0123456789", ":", pattern(rf"(?:\[{TIME}\]|{TIME})[ \t]"), 0.6, 4, time=True, all=2),
    Prefix("elapsed", _DIGITS, ".", pattern(r"\d{1,6}\.\d{1,3}(?:[ ]|$)"), 0.7, 4, time=True),
)
_TAG = pattern(r"\[[A-Za-z][\w .:/-]{0,30}\](?=[ ])")
_SAMPLES = 20
_SAMPLE_LINES = 200


class Prefixes:
    """The prefixes of one log."""

    def __init__(self, texts: Sequence[str]) -> None:
        rest = [text for text in _sample(texts) if text and not text.isspace()]
        self._recurring: list[tuple[Callable[[str, int], re.Match[str] | None], bool]] = []
        names: set[str] = set()
        for _ in range(6):
            rest = [left for text in rest if (left := text[self.carriers(text)[0] :]) and not left.isspace()]
            firsts = Counter([text[0] for text in rest])
            plain: list[str] | None = None  # the lines without a logger's prefix, once they are asked for
            for prefix in _RECURRING:
                possible = sum(count for first, count in firsts.items() if first in prefix.first)
                if prefix.name in names or possible < (prefix.all or prefix.least):
                    continue
                texts = rest
                if prefix.time:
                    texts = plain = [text for text in rest if not is_record(text)] if plain is None else plain
                elif possible < prefix.share * len(rest):
                    continue
                if _recurs(prefix, texts):
                    names.add(prefix.name)
                    self._recurring.append((prefix.pattern.match, prefix.time))
                    break
            else:
                if tag := _common_tag(rest):
                    self._recurring.append((pattern(re.escape(tag) + " ?").match, False))
                elif (indent := _common_indent(rest)) and "indent" not in names:
                    names.add("indent")
                    self._recurring.append((pattern(f" {{{indent}}}").match, False))
                else:
                    break

    def carriers(self, text: str) -> tuple[int, str, str, str, str]:
        """How many characters of prefixes of what carried the output the line begins with; their rank, level, program, and
        the name of the carrier where the prefix cannot be another's."""
        if not text or (not self._recurring and text[0] not in _CARRIER_FIRST and "\t" not in text):
            return 0, "", "", "", ""
        at = 0
        ranks: list[str] = []
        level = program = carrier = ""
        once = self._recurring[:]
        if "\t" in text and (job := _GH.match(text)) is not None:
            at = job.end()
        for _ in range(8):
            if at >= len(text):
                break
            if _may_carry(text, at) and (match := _CARRIER.match(text, at)) is not None and match.end() > at:
                at = match.end()
                group = match.lastgroup
                carrier = _CARRIERS.get(group or "", carrier)
                if group in ("ci", "command"):
                    level = {"error": "E", "warning": "W"}.get(match[group], level)
                elif group in ("program", "daemon"):
                    program = match[group].partition("(")[0].strip().rpartition("/")[2]
                if group in _STREAMS:
                    _add(ranks, match[group])
                continue
            for entry in once:
                matcher, time = entry
                match = matcher(text, at)
                if match is None or match.end() == at or (time and is_record(text, at)):
                    continue
                at = match.end()
                if "rank" in match.re.groupindex:
                    _add(ranks, match["rank"])
                once.remove(entry)
                break
            else:
                break
        return at, "/".join(ranks), level, program, carrier


class FailedStep:
    """Whether a line stands in the output of a step that BuildKit repeats. To be asked of each line in order."""

    def __init__(self) -> None:
        self._open = False

    def seconds(self, text: str, at: int) -> int:
        """How many characters the seconds take that stand at ``at`` before such a line; 0 where the line is none."""
        if not self._open:
            self._open = text.startswith(" > [", at) and _STEP.match(text, at) is not None
            return 0
        if text.startswith(_STEP_ENDS, at):
            self._open = False
            return 0
        match = _SECONDS.match(text, at)
        return match.end() - at if match is not None else 0


def _may_carry(text: str, at: int) -> bool:
    """Whether what stands at ``at`` can begin one of the carriers: most lines can not, and need no pattern."""
    first = text[at]
    if first not in _CARRIER_FIRST:
        return False
    if first.isdigit():
        return text[at + 10 : at + 11] == "T"
    if first.islower():
        return "|" in text or text.startswith(("section_", "kernel: "), at)
    return first in "[#:_<(" or text[at + 3 : at + 4] == " "


def _sample(texts: Sequence[str]) -> Sequence[str]:
    """Stretches from all over a long log."""
    if len(texts) <= _SAMPLES * _SAMPLE_LINES:
        return texts
    step = (len(texts) - _SAMPLE_LINES) // (_SAMPLES - 1)
    return [text for start in range(0, step * _SAMPLES, step) for text in texts[start : start + _SAMPLE_LINES]]


def _add(ranks: list[str], rank: str) -> None:
    if rank not in ranks:
        ranks.append(rank)


def _recurs(prefix: Prefix, texts: Sequence[str]) -> bool:
    matches, total = 0, len(texts)
    streams: Counter[str] = Counter()
    for text in texts:
        if prefix.needle not in text or text[0] not in prefix.first:
            continue
        match = prefix.pattern.match(text)
        if match is None or not match.end():
            continue
        matches += 1
        if prefix.streams:
            streams[match["rank"]] += 1
    least = prefix.all if prefix.all and matches == total else prefix.least
    if not matches or matches < prefix.share * total or matches < least:
        return False
    # every stream speaks more than once, as a rule; a list or table has another name on each line
    return not prefix.streams or matches >= 2.5 * len(streams) or (matches >= 2 * len(streams) and len(streams) <= 2)


def _common_tag(texts: Sequence[str]) -> str:
    """A bracketed word that most lines begin with ('[TRAINING] '), other than a level."""
    bracketed = [text for text in texts if text[0] == "["]
    if len(bracketed) < max(5, 0.4 * len(texts)):
        return ""
    tags = Counter([match.group() for text in bracketed if (match := _TAG.match(text))])
    for tag, count in tags.most_common(1):
        if count >= 5 and count >= 0.4 * len(texts) and not re.match(rf"\[(?:{LEVEL}|[IWEF]|TRT|TensorRT)\b", tag):
            return tag
    return ""


def _common_indent(texts: Sequence[str]) -> int:
    """How far all lines are indented: Markdown's four spaces, pip's six. Two may be those of a traceback's frames."""
    if len(texts) < 2 or not all(text.startswith("   ") for text in texts):
        return 0
    return min(len(text) - len(text.lstrip(" ")) for text in texts)
