"""Prefixes that CI systems, containers, schedulers, launchers and loggers put before what a program printed.

Two kinds: those that cannot be mistaken are taken off wherever they stand; the others (``0: ``, ``name | ``, ``> ``) only
where they recur, so that a message that happens to look like one stays whole. Prefixes of absl, glog, PyTorch's C++ logger and
onnxruntime stay in the text, because messages are quoted with them; they only set the level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d|[ ]UTC)?"
_DATE = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d{4}|\d\d[-/]\d\d|\d{8})"
_TIME = r"\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?"
_STAMP = rf"(?:{_DATE}[ T_:,-]{{1,2}}{_TIME}(?:[ ]?(?:Z|UTC|[+-]\d\d:?\d\d))?)"
_LEVEL = (
    r"(?:[Ee]rror|ERROR|ERR|[Ww]arning|WARNING|WARN|[Ii]nfo|INFO|[Dd]ebug|DEBUG|CRITICAL|[Cc]ritical|FATAL|[Ff]atal|"
    r"NOTICE|TRACE|SUCCESS|EXCEPTION)"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# a bracketed field of a record: a module, file:line or thread, without spaces; neither a rank nor a number
_FIELD = r"\[(?!rank\d|default\d|\d{1,4}\]|[IWEF]\])[\w./\\:<>@-]{1,120}\]"
_CAPS = r"(?:ERROR|ERR|WARNING|WARN|INFO|DEBUG|CRITICAL|FATAL|NOTICE|TRACE|SUCCESS|EXCEPTION)"
# a module or a place in a source file, as loggers name it; never what a message begins with
_MODULE = (
    r"(?![\w.]{0,80}(?:Error|Exception|Warning|Interrupt)\b|[\w.-]{0,80}\.(?:so|dll|dylib)\b)"
    r"(?:__main__|root|(?:[\w<>-]{1,60}[./]){1,12}[\w<>-]{1,60}(?::[\w.<>-]{1,80}){0,2}|[\w<>-]{1,60}:[\w.<>-]{1,60}(?::\d{1,6})?)"
)
# what must not be taken off: absl's, onnxruntime's and TensorRT's own prefixes
_OWN = r"(?!\[?[IWEFV]:onnxruntime|\[[IWEFV]:)"

_CARRIER = re.compile(
    rf"""
    (?:
      # GitHub Actions, Azure Pipelines, docker logs -t, Kubernetes (CRI), GitLab's time stamps
      \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{{6,9}}(?:Z|[+-]\d\d:\d\d)[ ](?:std(?:out|err)[ ][FP][ ]|\d\d[OE][+ ])?{_OWN}
    | \[\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z\][ ]                             # Jenkins
    | \#\#\[(?P<ci>error|warning|debug|command|section|group|endgroup|notice)\]
    | ::(?P<command>error|warning|notice|debug|group|endgroup)(?:[ ][^:\r\n]{{0,300}})?::
    | section_(?:start|end):\d{{9,11}}:[\w.-]{{1,100}}(?:\[[^\]]{{0,200}}\])?
    | \[Pipeline\][ ](?=[a-zA-Z{{}}/])
    | _bk;t=\d{{13}}
    | \#\d{{1,4}}[ ]\d{{1,6}}\.\d{{1,3}}[ ]                                        # docker build (BuildKit)
    | \[pod/(?P<pod>[\w.-]{{1,253}}(?:/[\w.-]{{1,63}})?)\][ ]?
    | (?:<\d{{1,3}}>)?{_MONTH}[ ][ \d]\d[ ]\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[ ](?!\d{{4}}\b)[\w.:-]{{1,64}}[ ][\w./@() -]{{1,64}}?(?:\[\d{{1,8}}\])?:[ ]
    | \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{{1,6}})?(?:Z|[+-]\d\d:?\d\d)[ ][\w.-]{{1,64}}[ ][\w./@-]{{1,64}}(?:\[\d{{1,8}}\])?:[ ]
    | (?:<\d{{1,3}}>)?\[[ ]{{0,6}}\d{{1,8}}\.\d{{6}}\](?:[ ]?\[[ ]{{0,6}}[TC]\d{{1,8}}\])?[ ]             # dmesg
    | \[[ ]{{0,6}}\+\d{{1,6}}\.\d{{6}}\][ ]
    | (?:<\d{{1,3}}>)?\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ]{_MONTH}[ ]{{1,2}}\d{{1,2}}[ ]\d\d:\d\d:\d\d[ ]\d{{4}}\][ ]
    | kernel:[ ](?=NVRM|\[|nvidia|NVIDIA|nouveau|Out[ ]of|oom|pcieport|BUG|INFO:)
    | \[(?:rank|default|local_rank|Rank[ ]|rank:[ ])(?P<rank>\d{{1,5}})\]:(?:[ ]|(?=\S)|$)
    | \[rank:[ ](?P<lightning>\d{{1,5}})\][ ]
    | \[\d{{1,4}},(?P<mpi>\d{{1,5}})\]<std(?:out|err|diag)>:[ ]?
    | \((?P<ray>(?:[\w.:<>\[\]=/-]{{1,80}}[ ]){{0,3}}pid=\d{{1,8}}(?:,[ ]ip=[\da-fA-F.:]{{3,45}})?(?:,[ ]actor_id=\w{{1,40}})?)\)(?:[ ]|$)
    | \((?:raylet|autoscaler|gcs_server)(?:,[ ]ip=[\da-fA-F.:]{{3,45}}|[ ]\+\w{{1,12}})?\)[ ]
    | (?P<service>[a-z][\w.-]{{0,60}}[-_]\d{{1,4}})[ ]{{1,60}}\|(?:[ ]|$)                                # docker compose
    )
    """,
    re.VERBOSE,
)
_LOGGER = re.compile(
    rf"""
    (?:
      \[{_STAMP}\](?:[ ]?\[[\w./+: -]{{1,60}}\]){{0,2}}[ ]?\[[ ]?(?P<l1>{_LEVEL})[ ]{{0,4}}\](?:[ ]?{_FIELD}){{0,3}}(?:[ ]{{1,2}}-[ ]|:[ ]|[ ]|$)
    | \[{_STAMP}\](?:::\[[\w. -]{{1,40}}\]::|[ ]?[-|:]?[ ]?)(?P<l2>{_CAPS})(?:[ ]{{0,8}}-->|[ ]{{1,8}}(?:in[ ][\w.]{{1,60}}:|[|-]|{_FIELD}))(?:[ ]|$)
    | \[(?P<l3>{_LEVEL})\|[\w./-]{{1,80}}:\d{{1,6}}\][ ]{_STAMP}[ ]>>[ ]?                      # Hugging Face transformers
    | \[(?:{_STAMP})[ ][\w.-]{{1,60}}\](?:[ ]\([\w.]{{1,60}}[ ]\d{{1,6}}\))?:[ ]                          # detectron2 and its kind
    | \[{_STAMP}[ ][\w./-]{{1,80}}\](?:[ ]\([\w./]{{1,80}}[ ]\d{{1,6}}\))?:?[ ](?P<l4>{_CAPS})[ ]{{0,3}}:?[ ]
    | (?P<l5>{_LEVEL})[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[ ](?:\[[\w./-]{{1,80}}:\d{{1,6}}\]|[\w./-]{{1,80}}:\d{{1,6}}\])(?:[ ]|$)       # vLLM
    | (?P<l6>{_LEVEL}):{_STAMP}:[\w./]{{1,120}}:\d{{1,6}}:[ ]?                          # jax
    | {_STAMP}[ ]{{1,2}}\|[ ](?P<l7>{_LEVEL})[ ]{{0,8}}\|[ ][^|\r\n]{{1,120}}?(?:[ ]-|[ ]\|)(?:[ ]|$)         # loguru
    | {_STAMP}[ ]{{1,2}}\|[ ](?P<l8>{_LEVEL})[ ]{{0,8}}\|[ ]
    | {_STAMP}(?:[ ]?[-:|][ ]{{0,2}}[\w.<>/\[\]:()-]{{1,100}}){{0,3}}[ ]?[-:|][ ]{{0,2}}\[?(?P<l9>{_LEVEL})\]?[ ]{{0,8}}(?:[ ]?[-|][ ]{{0,2}}{_MODULE}){{0,2}}[ ]?(?:[-:|]|>>)(?:[ ]|$)
    | {_STAMP}[ ]{{1,2}}(?:{_MODULE}[ ])?(?:\[(?P<l10>{_LEVEL})[ ]{{0,8}}\]|(?P<l13>{_CAPS})(?![ ]\d\d-\d\d[ ]\d\d:)(?=[ ]))(?:[ ]{{0,8}}{_FIELD}){{0,3}}(?:[ ]{{0,8}}{_MODULE}[ ]?(?:[:-]|(?<=\d)\])[ ]|[ ]{{0,8}}-[ ]|[ ]{{1,8}}|$)
    | (?:{_STAMP}|\[{_STAMP}\])[ ]{{1,2}}(?=(?P<l14>{_LEVEL}):[ ])
    | {_STAMP}(?:\[\d{{1,8}}\])?\[(?P<l11>{_LEVEL})\][ ]
    | (?P<l12>ERROR|WARNING|INFO|DEBUG|CRITICAL):[A-Za-z_][\w.-]{{0,99}}:(?!\d)[ ]?
    )
    """,
    re.VERBOSE,
)
# gh run view --log: job, step and time before each line
_GH = re.compile(r"[^\t\r\n]{1,120}\t[^\t\r\n]{1,200}\t(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z[ ]?)")

# lines that begin with another character than these need not be tried
_CARRIER_FIRST = frozenset("0123456789[#:_<(JFMASONDabcdefghijklmnopqrstuvwxyz")
_LOGGER_FIRST = frozenset("0123456789[EWIDCNTFSewidcnf")

_KEPT_LEVEL = re.compile(
    rf"""
    (?:{_STAMP}:?[ ])?
    (?:
      (?P<a>[IWEF])[ ](?:[\w.+-]{{1,60}}/)
    | (?P<b>[IWEF])\d{{3,4}}[ ]\d\d:\d\d:
    | \[(?P<c>[IWEF])(?:\d{{3,4}}[ ]\d\d:\d\d:[\d.]{{2,16}}|:onnxruntime|[ ][\w./]{{1,80}}:\d)
    | \[(?:[\d/:. -]{{8,26}}\][ ]\[)?(?P<d>[IWEF])\][ ]
    | \[TRT\][ ]\[(?P<e>[IWEF])\]
    | (?:\[[\w.]{{1,40}}\][ ])?\[?(?P<f>{_LEVEL})\]?[ ]{{0,5}}(?::|\]|[ ]-)
    | [\w./\\:-]{{1,200}}[:(]\d{{1,6}}\)?:[ ](?P<g>\w{{0,40}}Warning):
      )
    """,
    re.VERBOSE,
)
_KEPT_FIRST = frozenset("IWEF[0123456789/CNDTSefwdic<")


def level_letter(word: str) -> str:
    """The letter of a logger's level: I, W, E or F."""
    first = word[:1].upper()
    if first in "CF":
        return "F"
    return first if first in "WE" else "I"


def _kept_level(text: str) -> str:
    """The level that a prefix which stays in the text gives, or ''."""
    if not text or text[0] not in _KEPT_FIRST:
        return ""
    match = _KEPT_LEVEL.match(text)
    if match is None or match.lastgroup is None:
        return ""
    if match.lastgroup == "g":
        return "W"
    return level_letter(match[match.lastgroup])


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix that counts only where it recurs. The pattern's group ``rank``, if any, names the stream."""

    name: str
    pattern: re.Pattern[str]
    share: float  # of the lines with text that must carry it (or of a block of neighbouring lines, for quoting)
    least: int  # lines that must carry it
    streams: bool = False  # different names must recur: a table has another name on each line
    time: bool = False  # a bare time: what a logger puts behind its own is the logger's
    all: int = 0  # lines that suffice where every line carries it


_RECURRING: tuple[Prefix, ...] = (
    Prefix("quote", re.compile(r"(?!>>>(?:[ ]|$))(?:(?:>[ ]?){1,6}?(?=>>>(?:[ ]|$))|(?:>[ ]?){1,6}(?!>))"), 0.6, 3, all=1),
    Prefix("compose", re.compile(r"(?P<rank>[A-Za-z0-9][\w.-]{0,80}?)[ ]{1,60}\|(?:[ ]|$)"), 0.3, 3, streams=True),
    Prefix("box", re.compile(r"[ ]{0,12}\u2502(?:[ ]|$)"), 0.5, 3),
    Prefix("srun", re.compile(r"[ ]{0,4}(?P<rank>\d{1,5}):(?:[ ]|$)"), 0.5, 3, streams=True),
    Prefix("bracketed-number", re.compile(r"\[(?P<rank>\d{1,4})\]:?(?:[ ]|$)"), 0.5, 4, streams=True),
    Prefix("role", re.compile(r"\[(?P<rank>[A-Za-z_][A-Za-z_-]{0,20}\d{1,4})\]:[ ]?"), 0.2, 3, streams=True),
    Prefix(
        "host",
        re.compile(r"(?P<rank>(?:[A-Za-z][\w.-]{0,60}[A-Za-z_-]\d{1,5}|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})):(?:[ ]|$)"),
        0.6,
        4,
        streams=True,
        all=2,
    ),
    Prefix(
        "stern", re.compile(r"(?P<rank>[a-z][a-z0-9.-]{1,200}-[a-z0-9]{5}[ ][a-z][a-z0-9-]{0,62})(?:[ ]|$)"), 0.6, 3, streams=True
    ),
    Prefix("stamp", re.compile(rf"\[?{_STAMP}\]?(?:[ ]-)?[ \t]{{1,2}}{_OWN}"), 0.4, 3, time=True, all=1),
    Prefix("iso", re.compile(rf"{_ISO}[ \t]{{1,2}}{_OWN}"), 0.2, 2, time=True, all=1),
    Prefix("clock", re.compile(rf"(?:\[{_TIME}\]|{_TIME})[ \t]{{1,2}}"), 0.6, 4, time=True, all=2),
    Prefix("elapsed", re.compile(r"\d{1,6}\.\d{1,3}(?:[ ]|$)"), 0.7, 4, time=True),
)
_TAG = re.compile(r"\[[A-Za-z][\w .:/-]{0,30}\][ ]?(?=\S)")
_SAMPLE = 4000


class Prefixes:
    """The prefixes of one log."""

    def __init__(self, texts: Sequence[str]) -> None:
        half = _SAMPLE // 2
        sample = texts if len(texts) <= _SAMPLE else [*texts[:half], *texts[-half:]]
        rest = [text for text in sample if text and not text.isspace()]
        self._recurring: list[tuple[Callable[[str, int], re.Match[str] | None], bool]] = []
        names: set[str] = set()
        for _ in range(6):
            rest = [text[self.carriers(text)[0] :] for text in rest]
            plain = [text for text in rest if not (text and text[0] in _LOGGER_FIRST and _LOGGER.match(text))]
            for prefix in _RECURRING:
                if prefix.name not in names and _recurs(prefix, plain if prefix.time else rest):
                    names.add(prefix.name)
                    self._recurring.append((prefix.pattern.match, prefix.time))
                    break
            else:
                if tag := _common_tag(rest):
                    self._recurring.append((re.compile(re.escape(tag) + " ?").match, False))
                elif (indent := _common_indent(rest)) and "indent" not in names:
                    names.add("indent")
                    self._recurring.append((re.compile(" {%d}" % indent).match, False))
                else:
                    break

    def carriers(self, text: str) -> tuple[int, str, str]:
        """How many characters of prefixes of what carried the output the line begins with; their rank and level."""
        if not text or (not self._recurring and text[0] not in _CARRIER_FIRST and "\t" not in text):
            return 0, "", ""
        at = 0
        ranks: list[str] = []
        level = ""
        once = list(self._recurring)
        if "\t" in text and (job := _GH.match(text)) is not None:
            at = job.end()
        for _ in range(8):
            if at >= len(text):
                break
            if text[at] in _CARRIER_FIRST and (match := _CARRIER.match(text, at)) is not None and match.end() > at:
                at = match.end()
                group = match.lastgroup
                if group in ("ci", "command"):
                    level = {"error": "E", "warning": "W"}.get(match[group], level)
                elif group is not None:
                    _add(ranks, match[group])
                continue
            for entry in once:
                matcher, time = entry
                match = matcher(text, at)
                if match is None or match.end() == at or (time and _LOGGER.match(text, at)):
                    continue
                at = match.end()
                if "rank" in match.re.groupindex:
                    _add(ranks, match["rank"])
                once.remove(entry)
                break
            else:
                break
        return at, "/".join(ranks), level


def logger(text: str) -> tuple[int, str]:
    """Length of a logger's prefix and the level that it names; a prefix that stays in the text has no length."""
    if not text:
        return 0, ""
    if text[0] in _LOGGER_FIRST and (match := _LOGGER.match(text)) is not None:
        group = match.lastgroup
        return match.end(), level_letter(match[group]) if group else ""
    return 0, _kept_level(text)


def _add(ranks: list[str], rank: str) -> None:
    if rank not in ranks:
        ranks.append(rank)


def _recurs(prefix: Prefix, texts: Iterable[str]) -> bool:
    matches = 0
    total = 0
    streams: Counter[str] = Counter()
    for text in texts:
        if not text or text.isspace():
            continue
        total += 1
        match = prefix.pattern.match(text)
        if match is not None and match.end():
            matches += 1
            if prefix.streams:
                streams[match["rank"]] += 1
    if matches < prefix.share * total or matches < (prefix.all if prefix.all and matches == total else prefix.least):
        return False
    # every stream speaks more than once, as a rule; a list or table has another name on each line
    return not prefix.streams or matches >= 2.5 * len(streams) or (matches >= 2 * len(streams) and len(streams) <= 2)


def _common_tag(texts: Sequence[str]) -> str:
    """A bracketed word that most lines begin with ('[TRAINING] '), other than a level."""
    tags: Counter[str] = Counter()
    total = 0
    for text in texts:
        if text and not text.isspace():
            total += 1
            if match := _TAG.match(text):
                tags[match.group().rstrip()] += 1
    for tag, count in tags.most_common(1):
        if count >= 5 and count >= 0.4 * total and not re.match(rf"\[(?:{_LEVEL}|[IWEF]|TRT|TensorRT)\b", tag):
            return tag
    return ""


def _common_indent(texts: Sequence[str]) -> int:
    """How far all lines are indented: Markdown's four spaces, pip's six. Two may be those of a traceback's frames."""
    indents = [len(text) - len(text.lstrip(" ")) for text in texts if text and not text.isspace()]
    least = min(indents, default=0)
    return least if least > 2 and len(indents) > 1 else 0
