"""Typed values found in logs: versions, sizes, compute capabilities, library names; read from text, compared by value."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from .light import pattern, record

_DIGITS = pattern(r"\d{1,9}")
_RELEASE = pattern(r"v?((\d+(?:\.\d+)*)[\w.+-]*)", re.ASCII | re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = pattern(r"([\d.,]+)\s*([kmgt]?)(?:i?b|ib|bytes?)?$", re.IGNORECASE | re.ASCII)


@record(frozen=True, slots=True)
class Version:
    """A dotted version as printed. Comparison looks at as many components as both sides have: 9 == 9.1.0, 8.9 < 9.

    A soname's '9' says no more than the major version, so it neither equals nor contradicts a minor one.
    Local and pre-release parts ('+cu118', 'rc1') are kept in ``text`` and do not take part in comparisons.
    """

    text: str
    parts: tuple[int, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def local(self) -> str:
        """What follows the '+': 'cu118' of 2.1.0+cu118."""
        return self.text.partition("+")[2]

    def first(self, count: int) -> Version:
        """The leading ``count`` components as a version."""
        parts = self.parts[:count]
        return Version(".".join(map(str, parts)), parts)


@record(frozen=True, slots=True)
class Soname:
    """A shared library's file name: libcudnn_ops.so.9.1 or cudnn_ops64_9.dll, with the directory where one was printed."""

    text: str
    stem: str  # cudnn_ops
    version: Version | None
    dir: str = ""
    product: str = ""  # what the library belongs to (cudnn, cuda, driver, ...), from the knowledge base

    def __str__(self) -> str:
        return self.text


class Argument(str):
    """What a command is given, of an alphabet for which no shell needs quotes: the file of a Python program (train.py,
    tools/train.py), the name of a container image."""

    __slots__ = ()


Value = str | int | float | Version | Soname | tuple[Version, ...]


def version(text: str) -> Version | None:
    """Read a dotted version; None where there is none, or where a part of it has more digits than any number."""
    found = _RELEASE.match(text.strip())
    if not found:
        return None
    parts = found[2].split(".")
    if max(map(len, parts)) > _LONGEST_NUMBER:
        return None
    return Version(found[1], tuple(map(int, parts)))


def _dotted(*parts: int) -> Version:
    return Version(".".join(map(str, parts)), parts)


def _tuple_version(text: str) -> Version | None:
    parts = [int(p) for p in _DIGITS.findall(text)][:4]
    return _dotted(*parts) if parts else None


def cudnn_number(text: str) -> Version | None:
    """CUDNN_VERSION: 1000*major + 100*minor + patch up to 8, 10000*major + 100*minor + patch since 9 (cudnn_version.h)."""
    return _numbered(text, 90000)


def cuda_number(text: str) -> Version | None:
    """CUDA_VERSION: 1000*major + 10*minor (cuda.h)."""
    number = _integer(text)
    if number is None or number < 1000:
        return None
    return _dotted(number // 1000, number // 10 % 100)


def nccl_number(text: str) -> Version | None:
    """NCCL_VERSION_CODE: 1000*major + 100*minor + patch up to 2.8, 10000*major + 100*minor + patch since (nccl.h)."""
    return _numbered(text, 10000)


def _numbered(text: str, wide: int) -> Version | None:
    """A version in one number: from ``wide`` on two digits are the minor part, below one."""
    number = _integer(text)
    if number is None or number < 1000:
        return None
    if number >= wide:
        return _dotted(number // 10000, number // 100 % 100, number % 100)
    return _dotted(number // 1000, number // 100 % 10, number % 100)


def capability(text: str) -> Version | None:
    """A compute capability in any notation: 8.6, 86, sm_86, compute_90a, (8, 6), 120."""
    digits = _DIGITS.findall(text)
    if len(digits) >= 2:
        return _dotted(int(digits[0]), int(digits[1]))
    if not digits or not 2 <= len(digits[0]) <= 3:
        return None
    if len(digits[0]) == 3 and digits[0].endswith("0") and int(digits[0]) > 200:  # darknet prints 860 for 8.6
        digits[0] = digits[0][:2]
    return _dotted(int(digits[0][:-1]), int(digits[0][-1]))


def capabilities(text: str) -> tuple[Version, ...] | None:
    """A list of architectures: 'sm_50 sm_60 compute_90', '3.5;5.2;8.0+PTX'."""
    found = (capability(word) for word in re.split(r"[\s,;'\"\[\]]+", text) if word)
    return tuple(v for v in found if v) or None


def size(text: str) -> int | None:
    """An amount of memory in bytes: '20.00 MiB', '512M', '1024 bytes'. K, M, G are powers of 1024, as the frameworks print them."""
    found = _SIZE.match(text.strip())
    if not found or len(found[1]) > _LONGEST_NUMBER:
        return None
    number = found[1].replace(",", "")
    if number.count(".") > 1 or number in ("", "."):
        return None
    return int(float(number) * _UNITS[found[2].lower()])


_SONAME_DLL = pattern(r"(?:lib)?([a-z][\w+-]*?)?(?:64)?(?:_?(\d{1,3}(?:_\d+)*))?\.dll$", re.IGNORECASE)
_SONAME_SO = pattern(r"(?:lib)?([\w+.-]+?)(?:\.so((?:\.\d+)*)|\.(\d[\d.]*)?\.?dylib)(?:[^\w.].*)?$", re.IGNORECASE)


def soname(text: str) -> Soname | None:
    """A shared library's file name, with or without directory."""
    text = text.strip().strip("'\"")
    cut = max(text.rfind("/"), text.rfind("\\"))
    folder, base = text[: max(cut, 0)], text[cut + 1 :]
    found = _SONAME_SO.match(base)
    if found:
        digits = (found[2] or found[3] or "").strip(".")
        return Soname(base, found[1], version(digits), folder)
    found = _SONAME_DLL.match(base)
    if found and found[1]:
        digits = _dll_version(found[2] or "")
        return Soname(base, found[1].rstrip("_"), version(digits), folder)
    return None


def _dll_version(digits: str) -> str:
    """The version in a DLL's name: cudnn64_8 is 8, cudart64_110 and nvrtc64_110_0 are 11.0, cublas64_80 is 8.0."""
    major, _, rest = digits.partition("_")
    if len(major) == 3:
        return f"{major[:2]}.{major[2]}"
    if len(major) == 2 and major >= "50":
        return f"{major[0]}.{major[1]}"
    return f"{major}.{rest.replace('_', '.')}".rstrip(".")


_SCRIPT = pattern(r"(?:[A-Za-z0-9_][\w.-]*/)*[A-Za-z][\w.-]*\.py", re.ASCII)


def script(text: str) -> Argument | None:
    """The file of a Python program: by a relative path as it stands, by its name alone where the path leads out of a folder."""
    path = text.strip().replace("\\", "/").removeprefix("./")
    found = _SCRIPT.fullmatch(path) or _SCRIPT.fullmatch(path.rpartition("/")[2])
    return Argument(found[0]) if found else None


# distribution/reference reference.go, read 2026-11-30: a domain with a port, a path of lower-case words, a tag, a digest
_IMAGE_WORD = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = pattern(
    rf"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/)?{_IMAGE_WORD}(?:/{_IMAGE_WORD})*(?::\w[\w.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?",
    re.ASCII,
)


def image(text: str) -> Argument | None:
    """The name of a container image, as Docker and Podman take it; None for what cannot be one (capitals in its path)."""
    name = text.strip().rstrip(".:")
    return Argument(name) if _IMAGE.fullmatch(name) else None


def _integer(text: str) -> int | None:
    try:
        return int(text.replace(",", "")) if len(text) <= _LONGEST_NUMBER else None
    except ValueError:
        return None


def code_number(text: str) -> int | None:
    """The number of a status code: decimal, be it with zeros before it, or hexadecimal (0x2bc, 0X2BC)."""
    try:
        return int(text, 16 if "x" in text.lower() else 10) if len(text) <= _LONGEST_NUMBER else None
    except ValueError:
        return None


def _float(text: str) -> float | None:
    try:
        return float(text) if len(text) <= _LONGEST_NUMBER else None
    except ValueError:
        return None


_LONGEST_NUMBER = 25  # digits; longer ones are not amounts of anything
_LOWER = {i: i + 32 for i in range(ord("A"), ord("Z") + 1)}


def squeeze(text: str) -> str:
    """The form in which text is scanned and compared: no white space, ASCII letters in lower case."""
    return "".join(text.split()).translate(_LOWER)


BEYOND = "\x80"
"""Among the literals that a text is asked for: any letter beyond ASCII, whose case is not folded."""
OF_THE_FIELD = "\x81"
"""Among those literals, too: that the text uses words or names of this field, or is brief (lines.BRIEF): pasted for what it says."""

_READERS: dict[str, Callable[[str], Value | None]] = {
    "version": version,
    "vtuple": _tuple_version,
    "cudnnint": cudnn_number,
    "cudaint": cuda_number,
    "ncclint": nccl_number,
    "int": _integer,
    "float": _float,
    "size": size,
    "bytes": _integer,
    "cc": capability,
    "archs": capabilities,
    "soname": soname,
    "script": script,
    "image": image,
}


def read(kind: str, text: str) -> Value | None:
    """Read ``text`` as a value of type ``kind`` (a hole type of the rule language); None where it is not one."""
    reader = _READERS.get(kind)
    if reader is None:
        text = " ".join(text.split())
        return text if text or kind == "rest" else None
    return reader(text)


def attribute(value: Value, name: str) -> Value | None:
    """``value.name`` of the rule language: major, minor, micro of versions; stem, version, dir, major of library names."""
    if isinstance(value, Soname):
        if name == "stem":
            return value.stem
        if name == "dir":
            return value.dir or None
        if name == "product":
            return value.product or None
        if name == "version":
            return value.version
        return attribute(value.version, name) if value.version else None
    if isinstance(value, Version):
        wanted = {"major": 1, "minor": 2, "micro": 3}.get(name)
        return value.first(wanted) if wanted and len(value.parts) >= wanted else None
    return None


def compare(left: Value, right: Value) -> int | None:
    """-1, 0, 1, or None where the two cannot be compared."""
    if isinstance(left, tuple) or isinstance(right, tuple):
        return None
    if isinstance(left, Soname):
        left = left.text
    if isinstance(right, Soname):
        right = right.text
    if isinstance(left, Version) or isinstance(right, Version):
        a = left if isinstance(left, Version) else version(str(left))
        b = right if isinstance(right, Version) else version(str(right))
        if a is None or b is None:
            return None
        for x, y in zip_longest(a.parts, b.parts):
            if x is None or y is None:
                return 0
            if x != y:
                return -1 if x < y else 1
        return 0
    if isinstance(left, str) and isinstance(right, str):
        a_text, b_text = left.casefold(), right.casefold()
        return (a_text > b_text) - (a_text < b_text)
    try:
        x_number, y_number = float(left), float(right)
    except ValueError:
        return 0 if str(left).casefold() == str(right).casefold() else None
    return (x_number > y_number) - (x_number < y_number)


def show(value: Value) -> str:
    """The value as the report writes it; lists are joined by spaces."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)
