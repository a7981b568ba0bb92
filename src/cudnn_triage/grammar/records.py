"""Records of loggers: absl and glog, TensorFlow, XLA, torch c10d, onnxruntime, Python logging and warnings, kernel, syslog."""

from __future__ import annotations

from ..light import pattern
from ..loggers import MONTHS

_LEVEL = r"(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL|FATAL|NOTICE|TRACE)"
_DIGIT = pattern(
    r"\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d"  # 2024-01-31 10:00:00 ..., 2024/01/31 10:00:00
    r"|\d\d:\d\d:\d\d[.,: ]"
    r"|\d{1,2}/\d{1,2}(?:/\d{2,4})? \d\d:\d\d:\d\d"
)
_BRACKET = pattern(
    r"\[(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d \d\d:\d\d|\d\d:\d\d:\d\d|\s*\d+\.\d{3,}\]|\s*\+\d+\.\d+\]"
    r"|[IWEFDV](?:[ :\]]|\d{4})|(?i:info|warn|warning|error|debug|critical|fatal|notice)\b)"
)
_GLOG = pattern(r"([IWEFV])(?:\d{4,8} \d\d:\d\d:\d\d| \S+\.\w{1,4}:\d+\])")
_TENSORFLOW = pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ([IWEF]) ")
_WORD = pattern(_LEVEL + r"(?:\s*[:|\]]| +-|  +\S| \d)")
_NAMED = pattern(r"[\w.\[\]-]{1,60}(?:: | - | \(?)" + _LEVEL + r"\b")
_WARNING = pattern(r"\S[^\n]*?:\d+: (?:[A-Za-z_]\w*\.)*[A-Za-z]*Warning(?::|$)")
_SYSLOG = pattern(rf"(?:{MONTHS}) [ \d]\d \d\d:\d\d:\d\d ")
_KERNEL = pattern(r"<\d{1,2}>\[")
_LEVEL_WORD = pattern(r"\b(INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL|FATAL)\b")
_TOOLS = ("modprobe: ", "insmod: ", "rmmod: ")  # they write ERROR like a logger, but it is their last word
_LETTERS = {"INFO": "I", "DEBUG": "I", "WARNING": "W", "WARN": "W", "ERROR": "E", "CRITICAL": "E", "FATAL": "F"}


def python_warning(text: str) -> bool:
    """Whether the line is what Python's ``warnings`` prints: ``file.py:12: UserWarning: message``."""
    return "Warning" in text and _WARNING.match(text) is not None


def record(bare: str) -> bool:
    """Whether the line begins like a logger's record."""
    first = bare[0]
    if first.isdigit():
        return _DIGIT.match(bare) is not None
    if first == "[":
        return _BRACKET.match(bare) is not None
    if first == "<":
        return _KERNEL.match(bare) is not None
    if first in "IWEFVDCTN" and (_GLOG.match(bare) is not None or _WORD.match(bare) is not None):
        return True
    if first in "JFMASOND" and _SYSLOG.match(bare) is not None:
        return True
    head = bare[:90]
    if head.startswith(_TOOLS):
        return False
    if ("WARN" in head or "ERROR" in head or "INFO" in head or "CRITICAL" in head) and _NAMED.match(head):
        return True
    return bare.startswith("kernel: ")


def level(bare: str) -> str:
    """The level of a record as a letter, ``""`` where it does not say."""
    found = _TENSORFLOW.match(bare) or _GLOG.match(bare)
    if found:
        return found[1]
    if bare[:1] == "[" and bare[1:2] in "IWEF" and bare[2:3] in " :0123456789":
        return bare[1]
    word = _LEVEL_WORD.search(bare[:120])
    return _LETTERS[word[1]] if word else ""


def absl(bare: str) -> bool:
    """Whether the record is one of absl, glog or TensorFlow's C++ code."""
    return _TENSORFLOW.match(bare) is not None or _GLOG.match(bare) is not None


def fatal(bare: str) -> bool:
    """Whether the record is fatal by itself: after it, glog and absl end the process."""
    if bare[0] == "F":
        found = _GLOG.match(bare)
        return found is not None and found[1] == "F"
    if bare[0] == "[":
        return bare[1:2] == "F" and bare[2:3] in " :0123456789" and _BRACKET.match(bare) is not None
    if bare[0].isdigit() and ": F " in bare[:60]:
        found = _TENSORFLOW.match(bare)
        return found is not None and found[1] == "F"
    return False
