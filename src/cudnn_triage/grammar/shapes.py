"""Shapes of single lines: frames, exception lines, separators, rulers. Pure tests, anchored patterns, no state."""

from __future__ import annotations

import re

from ..light import pattern

WIDEST = 4000  # characters of a line that shapes look at

TRACEBACK = "Traceback (most recent"
CHAINS = (
    ("During handling of the above exc", "context"),
    ("The above exception was the direct cause", "cause"),
)

_FRAME_PY = pattern(r'(?:> ?)?File "([^"\n]*)"(?:, line (\d+))?(?:,? in ?(.*))?')
_FRAME_IPY = pattern(r"File ([^\s\"].*?):(\d+)(?:, in ?(.*)|\s*)$")
_CELL = pattern(r"((?:Cell|Input) In ?\[\d+\])(?:, line (\d+))?(?:, in ?(.*))?")
_LINKED = pattern(r"\[(.+)\]\(https?://[^()\s]+\)$")  # as Colab copies the file of a frame
_RICH = pattern(r"(\S[^\n]*?):(\d+) in(?: (\S+))?\s*$")
_SHORT = pattern(r"([^\s:]\S*?\.\w{1,4}|[A-Za-z]:\S*?\.\w{1,4}):(\d+): ?(?:in (\S+)|([A-Za-z_][\w.]*)|)\s*$")
_EXCEPTION = pattern(
    r"((?:[A-Za-z_]\w*(?:\.<locals>)?\.)*[A-Za-z_]\w*(?:\([\w.]+\))?)(?: \(see above for traceback\))?(?::(?:\s(.*)|$)|\s*$)",
    re.DOTALL,
)
_STRONG = pattern(
    r"(?:Error|Exception|Interrupt|SystemExit|GeneratorExit|StopIteration|StopAsyncIteration|ExceptionGroup|Timeout"
    r"|TimeoutExpired|Failure|[a-z]Failed|Error_\w+)(?:\(\S*\))?$"
)
_NUMBERED = pattern(r"(?:-*>|\u2771|>)?\s*(\d+)(?:[\s\u2502|]|$)")
_ARROW = pattern(r"(?:-{1,6}>|\u2771) ?(\d+)(?:[\s\u2502]|$)")
_RULER = pattern(r"([=\-_*~#+\u2500\u2550])\1{7,}\s*$")
_EPOCH = pattern(r"\s{0,8}[Ee]poch:? ?\[?\d")
_PROMPT = pattern(
    r"(?:>>> ?|\.\.\. |In ?\[\d+\]: |\$ \S|PS [A-Z]:|\([\w.-]+\) [^\s@]*@\S+[:$]|[\w.-]+@[\w.-]+:\S*[$#]\s|\[\w+@\S+ [^\]]*\][$#])"
)
_CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NATIVE = (  # entries of stack traces: what the line holds, and how it begins
    ("frame #", pattern(r"frame #\d+: ")),  # c10
    ("#", pattern(r"#\d+\s+(?:0x[0-9a-f]+ in |0x[0-9a-f]{6,}|\S+ \(.*\) at |<signal handler)")),  # gdb, sanitizers
    ("@", pattern(r"@\s+(?:0x[0-9a-f]+|\(nil\))\s")),  # glog
    ("at ", pattern(r"at [\w$.<>]+\([^)]*\)(?: .*)?$|at (?:async )?\S.* \(.*:\d+:\d+\)$")),  # Java, JavaScript
    (" more", pattern(r"\.\.\. \d+ more$")),
    ("] [", pattern(r"\[\S+\] \[ ?\d+\] ")),  # Open MPI
    ("+0x", pattern(r"\d+ +\S+\([^)]*\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]")),  # UCX
    ("+0x", pattern(r"\S+\((?:\S*)\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]")),  # backtrace_symbols
    (  # Linux kernel
        "+0x",
        pattern(r"(?:\[ *\d+\.\d+\]\s+|<\d>\[ *\d+\.\d+\]\s+)?(?:\? )?[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+(?: |$)"),
    ),
    ("::", pattern(r"\d+: +(?:0x[0-9a-f]+ - )?[\w<][\w:<>{} ]*(?:::[\w<>{} ]+)+$")),  # Rust
    (".rs:", pattern(r"at (?:/|\./)\S+\.rs:\d+")),
    ("@ ", pattern(r"\[\d+\] .* @ \S|@ \S+ \S+:\d+$")),  # Julia
    (  # Lua
        ": ",
        pattern(r"\[C\]: (?:in|at) |\S+\.lua:\d+: in |\.\.\.\S*: in (?:function|main) |\[string .*\]:\d+: in "),
    ),
)
_NATIVE_HINTS = ("frame #", "0x", "(nil)", ".rs:", "::", " @ ", "@ ", "[C]: ", ": in ", "at ", " more")
_RAISED_FROM = pattern(r"Exception raised from .* \(most recent call first\)")
_SELF_LOWER = frozenset(("timeout", "error", "socket.timeout", "socket.error"))
_LEVELS = frozenset(
    ("INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL", "FATAL", "NOTE", "NOTICE", "Warning", "Error", "TRACE")
)


def frame(bare: str) -> tuple[str, int, str] | None:
    """(file, line, function) of a line that is one entry of a Python or IPython traceback."""
    first = bare[:1]
    if first == "F" or first == ">":
        if 'File "' in bare[:9]:
            found = _FRAME_PY.match(bare[:WIDEST])
            if found:
                return found[1], _number(found[2]), (found[3] or "").strip()
            return bare[bare.index('"') + 1 :][:WIDEST], 0, ""
        if bare.startswith("File "):
            found = _FRAME_IPY.match(bare[:WIDEST])
            if found:
                return found[1], _number(found[2]), (found[3] or "").strip()
    elif first in "CI":
        found = _CELL.match(bare[:WIDEST])
        if found:
            return found[1], _number(found[2]), (found[3] or "").strip()
    return None


def listing_frame(bare: str) -> tuple[str, int, str] | None:
    """A frame as old IPython (``file.py in f(x)``) and rich (``file.py:12 in f``) write it; ask only inside their listings."""
    if " in " not in bare and not bare.endswith(" in"):
        return None
    file, _, function = bare[:WIDEST].partition(" in ")
    file = file.strip()
    if file.endswith(")") and (link := _LINKED.match(file)) is not None:
        file = link[1]
    if function and (file.endswith((".py", ".pyx", ".pyc")) or (file.startswith("<") and file.endswith(">"))):
        return file, 0, function.strip()
    found = _RICH.match(bare[:WIDEST])
    if found:
        return found[1], _number(found[2]), found[3] or ""
    return None


def short_frame(text: str) -> tuple[str, int, str, str] | None:
    """(file, line, function, type) of pytest's ``file.py:12: in f`` and ``file.py:12: RuntimeError``."""
    if ".py:" not in text and ".pyx:" not in text:
        return None
    found = _SHORT.match(text[:WIDEST])
    if found:
        return found[1], _number(found[2]), found[3] or "", found[4] or ""
    return None


def exception(bare: str) -> tuple[str, str] | None:
    """(type, message) of a line that has the shape of an exception's first line. Many other lines have it, too."""
    found = _EXCEPTION.match(bare)
    if found is None or found[1] in _LEVELS:
        return None
    return found[1], (found[2] or "").strip()


def strong(type_: str) -> bool:
    """Whether a name says of itself that it is an exception: ``RuntimeError``, ``torch.cuda.OutOfMemoryError``."""
    if _STRONG.search(type_) is None:
        return type_ == "socket.timeout"
    return (
        type_ not in ("Error", "Exception", "Failure", "Timeout", "Interrupt")
        and type_.partition("(")[0].rpartition(".")[2][0] in _CAPITALS
    )


def plausible(type_: str) -> bool:
    """Whether a name may be an exception's right after the frames of a traceback."""
    if strong(type_) or type_ in _SELF_LOWER or type_ == "Exception":
        return True
    last = type_.rpartition(".")[2]
    if "." in type_:
        return not type_.endswith((".py", ".cpp", ".cc", ".so", ".sh", ".log"))
    capitals = sum(map(str.isupper, last))
    return (capitals >= 2 and last != last.upper()) or type_.endswith("Warning")


def native_frame(bare: str) -> bool:
    """Whether the line is an entry of a stack trace of C++, Java, Lua, Rust, Julia or the kernel."""
    for hint in _NATIVE_HINTS:
        if hint in bare:
            break
    else:
        return False
    head = bare[:1500]
    return any(needle in head and shape.match(head) is not None for needle, shape in _NATIVE)


def raised_from(bare: str) -> bool:
    """Whether the line is the header of c10's stack traces."""
    return bare.startswith("Exception raised from ") and _RAISED_FROM.match(bare) is not None


def chain(bare: str) -> str:
    """How the exception above led to the one below, where the line is the separator of a chain; else ``""``."""
    for start, relation in CHAINS:
        if bare.startswith(start):
            return relation
    return ""


def numbered(bare: str) -> int:
    """The line number of a listed source line (``12 code``, ``---> 12 code``, ``❱ 12 │ code``), -1 if it is none."""
    found = _NUMBERED.match(bare)
    return int(found[1]) if found and len(found[1]) < 8 else -1


def arrow(bare: str) -> int:
    """The line number of the source line that IPython or rich points at, -1 if the line is none."""
    found = _ARROW.match(bare)
    return int(found[1]) if found and len(found[1]) < 8 else -1


def carets(bare: str) -> bool:
    """Whether the line only points at code: ``^^^^``, ``~~~^^^~~``, ``│  └ value``."""
    if bare.startswith(("^", "~")):
        return not bare.strip("^~ ")
    return bare.startswith(("\u2514", "\u2502")) and " " in bare


def ruler(bare: str) -> bool:
    """Whether the line is a ruler: ``=======``, ``-------``."""
    return bare[0] in "=-_*~#+\u2500\u2550" and _RULER.match(bare[:WIDEST]) is not None


def prompt(bare: str) -> bool:
    """Whether the line is what a person typed at a prompt."""
    return _PROMPT.match(bare[:200]) is not None


def progress(text: str) -> bool:
    """Whether the line is a progress bar, or begins like a training loop's word on an epoch."""
    bar = ("%|" in text or "it/s" in text or "s/it" in text) and ("|" in text or "[" in text)
    return bar or _EPOCH.match(text) is not None


def _number(digits: str | None) -> int:
    return int(digits) if digits and len(digits) < 10 else 0
