"""Loggers' own prefixes: time, level, module. Most go; those that messages are quoted with only give the level.

absl, glog, PyTorch's C++ logger, onnxruntime and TensorRT print prefixes that are part of how people know a message, and a bare
``ERROR: `` may be part of the message itself: they stay in the text.
"""

from __future__ import annotations

import re

from .light import pattern

WEEKDAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
DATE = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d{4}|\d\d[-/]\d\d|\d{8})"
TIME = r"\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?"
STAMP = rf"(?:{DATE}[ T_:,-]{{1,2}}{TIME}(?:[ ]?(?:Z|UTC|[+-]\d\d:?\d\d))?)"
_LOUD = (
    "ERROR", "ERR", "WARNING", "WARN", "INFO", "DEBUG", "CRITICAL", "FATAL", "NOTICE", "TRACE", "SUCCESS", "EXCEPTION",
)  # fmt: skip
_CALM = (
    "Error", "error", "Warning", "warning", "Info", "info", "Debug", "debug", "Critical", "critical", "Fatal", "fatal",
)  # fmt: skip
_LEVELS = (*_LOUD, *_CALM)
_CAPS = rf"(?:{'|'.join(_LOUD)})"
LEVEL = rf"(?:{'|'.join(_LEVELS)})"
# a bracketed field of a record: a module, file:line or thread, without spaces; neither a rank nor a number
_FIELD = r"\[(?!rank\d|default\d|\d{1,4}\]|[IWEF]\])[\w./\\:<>@-]{1,120}\]"
# a module or a place in a source file; never a library, nor an exception, which begin messages
_MODULE = (
    r"(?![\w.]{0,80}(?:Error|Exception|Warning|Interrupt)\b|[\w.-]{0,80}\.(?:so|dll|dylib)\b)"
    r"(?:__main__|root|(?:[\w<>-]{1,60}[./]){1,12}[\w<>-]{1,60}(?::[\w.<>-]{1,80}){0,2}"
    r"|[\w<>-]{1,60}:[\w.<>-]{1,60}(?::\d{1,6})?)"
)
_PLACE = r"[\w./-]{1,80}:\d{1,6}"
_PROCESS = r"(?:[ ]\([\w./]{1,80}[ ]\d{1,6}\))?"

# Prefixes that go, by what they begin with: "[", a level's word, or a time. Those behind a time are told apart by the character
# that follows it, so that a log needs few of these patterns.
_BRACKETED = pattern(
    rf"""
    (?:
      # [time] [pid] [LEVEL] [file.py:3:function] message: DeepSpeed, gunicorn, hydra
      \[{STAMP}\](?:[ ]?\[[\w./+: -]{{1,60}}\]){{0,2}}[ ]?\[[ ]?(?P<a>{LEVEL})[ ]{{0,4}}\]
        (?:[ ]?{_FIELD}){{0,3}}(?:[ ]{{1,2}}-[ ]|:[ ]|[ ]|$)
      # [time]::[InvokeAI]::ERROR --> message; [time] ERROR in app: message
    | \[{STAMP}\](?:::\[[\w. -]{{1,40}}\]::|[ ]?[-|:]?[ ]?)(?P<b>{_CAPS})
        (?:[ ]{{0,8}}-->|[ ]{{1,8}}(?:in[ ][\w.]{{1,60}}:|[|-]|{_FIELD}))(?:[ ]|$)
      # [LEVEL|file.py:3] time >> message: Hugging Face transformers
    | \[(?P<c>{LEVEL})\|{_PLACE}\][ ]{STAMP}[ ]>>[ ]?
      # [time name]: message: detectron2; the same with a level: Swin, mmdetection
    | \[{STAMP}[ ][\w.-]{{1,60}}\]{_PROCESS}:[ ]
    | \[{STAMP}[ ][\w./-]{{1,80}}\]{_PROCESS}:?[ ](?P<d>{_CAPS})[ ]{{0,3}}:?[ ]
    | \[NeMo[ ](?P<e>[IWE])[ ]{STAMP}[ ][\w.]{{1,80}}:\d{{1,6}}\](?:[ ]|$)
      # [time] LEVEL: message: only the time goes
    | \[{STAMP}\][ ]{{1,2}}(?=(?P<n>{LEVEL}):[ ])
    )
    """,
    re.VERBOSE,
)
_WORDED = pattern(
    rf"""
    (?:
      # LEVEL 03-19 06:43:11 [file.py:3] message: vLLM
      (?P<f>{LEVEL})[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[ ]\[?{_PLACE}\](?:[ ]|$)
      # LEVEL:time:module:3: message: jax
    | (?P<g>{LEVEL}):{STAMP}:[\w./]{{1,120}}:\d{{1,6}}:[ ]?
      # LEVEL:name:message: logging.basicConfig
    | (?P<o>ERROR|WARNING|INFO|DEBUG|CRITICAL):[A-Za-z_][\w.-]{{0,99}}:(?!\d)
    )
    """,
    re.VERBOSE,
)
_TIME = pattern(STAMP)
_BEHIND_TIME = {
    " ": pattern(
        rf"""
        (?:
          # time | LEVEL | module:function:3 - message: loguru
          [ ]{{1,2}}\|[ ](?P<h>{LEVEL})[ ]{{0,8}}\|[ ](?:[^|\s]{{1,120}}[ ][-|](?:[ ]|$))?
          # time - name - LEVEL - message, in any order
        | (?:[ ]{{1,2}}[-|][ ]{{1,2}}[^\s|]{{1,100}}){{0,3}}[ ]{{1,2}}[-|][ ]{{1,2}}\[?(?P<i>{LEVEL})\]?
            (?:[ ]{{1,8}}[-|][ ]{{1,2}}{_MODULE}){{0,2}}[ ]{{0,8}}(?:[-:|]|>>)(?:[ ]|$)
          # time [LEVEL ] thread MODEL_LOG - message: TorchServe relays what a model prints, always as INFO or WARN
        | [ ]\[{LEVEL}[ ]{{0,4}}\][ ][\w./:-]{{1,120}}[ ]MODEL_LOG[ ]-(?:[ ]|$)
          # time [LEVEL ] thread package.Class - message: log4j
        | [ ]\[(?P<q>{LEVEL})[ ]{{0,4}}\][ ][\w./:-]{{1,120}}[ ](?:\w{{1,60}}\.){{1,12}}[\w$]{{1,80}}[ ]-(?:[ ]|$)
          # time [LEVEL] [thread] module: message
        | [ ]{{1,2}}(?:{_MODULE}[ ])?
            (?:\[(?P<k>{LEVEL})[ ]{{0,8}}\]|(?P<l>{_CAPS})(?![ ]\d\d-\d\d[ ]\d\d:)(?=[ ]))
            (?:[ ]{{0,8}}{_FIELD}){{0,3}}
            (?:[ ]{{0,8}}{_MODULE}[ ]?(?:[:-]|(?<=\d)\])[ ]|[ ]{{0,8}}-[ ]|[ ]{{1,8}}|$)
          # time LEVEL: message: only the time goes
        | [ ]{{1,2}}(?=(?P<n>{LEVEL}):[ ])
        )
        """,
        re.VERBOSE,
    ),
    ":": pattern(rf"(?::[\w./-]{{1,80}}){{0,3}}:(?P<j>{_CAPS}):[ ]?"),
    "[": pattern(rf"(?:\[\d{{1,8}}\])?\[(?P<m>{LEVEL})\][ ]"),
}

_KEPT = pattern(
    rf"""
    (?:{STAMP}:?[ ])?
    (?:
      (?P<absl>[IWEF])[ ][\w.+-]{{1,60}}/
    | (?P<glog>[IWEF])\d{{3,4}}[ ]\d\d:\d\d:
    | \[(?P<torch>[IWEF])(?:\d{{3,4}}[ ]\d\d:\d\d:[\d.]{{2,16}}|:onnxruntime|[ ][\w./]{{1,80}}:\d)
    | \[(?:[\d/:. -]{{8,26}}\][ ]\[)?(?P<tensorrt>[IWEF])\][ ]
    | \[TRT\][ ]\[(?P<trt>[IWEF])\]
    | (?:\[[\w.]{{1,40}}\][ ])?\[?(?P<word>{LEVEL})\]?[ ]{{0,5}}(?::|\]|[ ]-)
    | [\w./\\:-]{{1,200}}[:(]\d{{1,6}}\)?:[ ]\w{{0,40}}(?P<python>Warning):
      # time="..." level=fatal msg="...": logrus, go-kit, slog
    | (?:[\w.]{{1,20}}=(?:"[^"]{{0,80}}"|\S{{1,80}})[ ]){{0,4}}
        (?:level|lvl)=(?P<pairs>(?i:panic|fatal|critical|error|warn(?:ing)?|notice|info|debug|trace))\b
    )
    """,
    re.VERBOSE,
)
_KEPT_FIRST = frozenset("[0123456789")
_KEPT_SIGNS = ("Warning:", "level=", "lvl=")


def is_record(text: str, at: int = 0) -> bool:
    """Whether a logger's prefix that can be taken off stands at ``at``."""
    return _removed(text, at) is not None


def _removed(text: str, at: int) -> re.Match[str] | None:
    """The match of a prefix that goes and stands at ``at``; its end is the prefix's end."""
    first = text[at : at + 1]
    if first.isdigit():
        time = _TIME.match(text, at)
        behind = _BEHIND_TIME.get(text[time.end() : time.end() + 1]) if time else None
        return behind.match(text, time.end()) if time and behind else None
    if first == "[":
        return _BRACKETED.match(text, at)
    return _WORDED.match(text, at) if text.startswith(_LEVELS, at) and ":" in text else None


def logger(text: str) -> tuple[int, str]:
    """Length of a logger's prefix and the level that it names; a prefix that stays in the text has no length."""
    if not text or text[0] == " ":
        return 0, ""
    if (match := _removed(text, 0)) is not None:
        return match.end(), _letter(match)
    if _may_be_kept(text) and (match := _KEPT.match(text)) is not None:
        return 0, _letter(match)
    return 0, ""


def _may_be_kept(text: str) -> bool:
    """Whether it is worth asking for a prefix that stays: most logs need none of these patterns."""
    first, second = text[0], text[1:2]
    if first in _KEPT_FIRST or (first in "IWEF" and (second == " " or second.isdigit())):
        return True
    return text.startswith(_LEVELS) or any(sign in text for sign in _KEPT_SIGNS)


def _letter(match: re.Match[str]) -> str:
    """I, W, E or F for the level that was matched."""
    if match.lastgroup is None:
        return ""
    first = match[match.lastgroup][:1].upper()
    return "F" if first in "CFP" else first if first in "WE" else "I"
