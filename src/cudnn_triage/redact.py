"""Masking secrets in a report before anything renders it: tokens, keys, passwords in URLs and in assignments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import is_

from .light import pattern
from .report import EvidenceItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

MASK = "***"

Span = tuple[int, int]

# Tokens that tell by their own form that they are one. Each begins where no word runs on (or after a written \n), and what
# it needs can fail only after a few characters or at the end of the word, so that the time stays linear.
_BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_FORMS = pattern(
    rf"{_BEGIN}(?:gh[pousr]_\w{{20,}}|github_pat_\w{{20,}}|glpat-[\w-]{{20,}}|hf_[A-Za-z0-9]{{20,}}|(?:AKIA|ASIA)[A-Z0-9]{{16}}\b"
    r"|AIza[\w-]{35}|xox[abposr]-[\w-]{10,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
_FORM_SIGNS = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "AKIA", "ASIA", "AIza", "xox", "npm_", "pypi-", "eyJ",
    "-----BEGIN ",
)  # fmt: skip
_GUESSED = pattern(rf"{_BEGIN}sk-([\w-]{{20,}})|(?i:\bbearer)\s([\w.~+/=-]{{16,}})")  # only if the value looks like one
_USER = pattern(  # what stands before the last @ of a URL's host; else a password with a slash in it
    r"""(?<=://)(?:[^\s"'<>/?\#]*(?=@)|[^\s"'<>/?\#:@]{1,100}:(?!\d*(?:[/?\#]|$))[^\s"'<>@]{1,200}(?=@))""", re.VERBOSE
)

# An assignment: a name that ends in one of these words, then = or : (or a blank after --name), then the value.
_STEMS = (
    "token", "secret", "passw", "passphrase", "pwd", "credential", "authorization",
    "_key", "-key", "apikey", "api key", "accesskey", "access key", "privatekey", "private key",
)  # fmt: skip
_NAME = pattern(
    r"(?:(?i:(?:api|access|secret|private)[ _-]?key|[_-]key|token|secret|passwd|password|passphrase|pwd|credential|authorization)"
    r"|(?<=[a-z])Key)(?i:(?<!token)s)?\d{0,2}(?![\w-])"
)
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LONGEST_NAME = 64
_SEPARATOR = pattern(
    r"""[\\'"`\]]{0,6}[ \t]{0,4}(?::[ ]?(?:str|Optional\[str\]|str[ ]?\|[ ]?None)[ ]?=|=>|:=|={1,2}|:)[ \t]{0,4}"""
    r"""(?:[bfru](?=['"]))?(?=\S)"""
)
_FLAG_SEPARATOR = pattern(r"""[ \t]{1,4}(?=[^\s-])|['"],[ \t]{0,4}(?=['"])""")
_SCHEME = pattern(r"(?i:bearer|basic|token|digest|negotiate)\s{1,4}")
_QUOTE = pattern(r"""\\{0,3}(?:'''|\"""|['"`])""")
_BARE = pattern(r"""[^\s'"&]+""")
_NEXT_ITEM = pattern(r"[,;](?=[\w.-]{1,64}[=:])")

_STRONG = pattern(  # names that mean a secret whatever the value looks like
    r"(?i:secret|passw|passphrase|[_-]pwd|authorization|(?:api|access|private|account|auth|encryption|license|"
    r"master|shared|signing|ssh|storage|wandb)[ _-]?key|(?:access|api|auth|bot|bearer|deploy|github|gh|git|gitlab|hf|hub|"
    r"huggingface|job|npm|pypi|refresh|registry|secret|session|slack|wandb)[_-]?token)|^--token$"
)
_NO_SECRET = pattern(
    "cannot|could|denied|empty|expected|expired|failed|false|found|incorrect|invalid|is|missing|must|no|none|nonetype|not|"
    "null|optional|please|required|str|string|the|true|undefined|unknown|unset|was|wrong|yes"
)
_CODE = pattern(  # an expression, a placeholder or a shell variable, not a value
    r"(?:self|cls|args|opts?|options|config|cfg|settings|kwargs|env|os|environ|getenv|getpass)\b[.\[(]|[{(\[<]"
    r"|\$\{?[A-Z_][A-Z0-9_]*\}?$|\$env:|\$\{\{|%[a-z(]"
)
_PATH = pattern(r"[/~.]|[A-Za-z]:[\\/]")
_SECRET_CHARS = pattern(r"[\w.~+/@!#$%^*:-]{6,}={0,2}", re.ASCII)
_WORD = pattern(r"[a-z]*(?:[A-Z]+[a-z]{2,})*[A-Z]*\d{0,3}|\d+[a-z]{0,2}")
_PARTS = pattern(r"[._/:=+~-]+")
_LONG_WORD = 20  # letters that no word has
_SHORT = 600  # characters of a text, and
_REMEMBERED = 5000  # texts that are remembered to hold no secret: those of rules come again with every report
_innocent: set[str] = set()
_MOST = 100  # characters of a value that are looked at to judge it


def masked(text: str) -> str:
    """``text`` with secrets replaced by ***."""
    spans = secrets(text)
    return _replaced(text, spans) if spans else text


def secrets(text: str) -> list[Span]:
    """Where the secrets in ``text`` stand, in order and apart. Takes time linear in the text."""
    if text in _innocent:
        return []
    found = _secrets(text)
    if not found and len(text) <= _SHORT:
        if len(_innocent) > _REMEMBERED:
            _innocent.clear()
        _innocent.add(text)
    return found


def _secrets(text: str) -> list[Span]:
    found = [m.span() for m in _FORMS.finditer(text)] if any(sign in text for sign in _FORM_SIGNS) else []
    lowered = text.lower()
    if "sk-" in text or "bearer" in lowered:
        found += [m.span(m.lastindex or 0) for m in _GUESSED.finditer(text) if _looks_random(m[m.lastindex or 0])]
    if "://" in text and "@" in text:
        found += [m.span() for m in _USER.finditer(text) if ":" in m[0] or _looks_random(m[0])]
    if "Key" in text or any(stem in lowered for stem in _STEMS):
        found += _assigned(text)
    return _apart(span for span in found if text[span[0] : span[1]] != MASK)


def redacted(value: T) -> T:
    """A report (or any part of one) with secrets masked in every text it holds; evidence stays where it stands."""
    return _walk(value)  # type: ignore[no-any-return]


def _walk(value: Any) -> Any:
    """The value with secrets masked; itself where it holds none, as most of a report does."""
    kind = value.__class__
    if kind is str:
        return masked(value)
    if kind is tuple:
        items = [_walk(item) for item in value] if value else []
        return value if all(map(is_, items, value)) else tuple(items)
    names = getattr(kind, "__match_args__", None)
    if names is None:
        return value
    new = {}
    for name in names:
        old = getattr(value, name)
        masked_one = _walk(old)
        if masked_one is not old:
            new[name] = masked_one
    if not new:
        return value
    if isinstance(value, EvidenceItem):
        spans = secrets(value.text)
        start = _moved(value.offset, spans, end=False)
        end = _moved(value.offset + value.length, spans, end=True)
        new |= {"offset": start, "length": max(end - start, min(value.length, 1))}
    return kind(**{name: new.get(name, getattr(value, name)) for name in names})


def _apart(spans: Iterable[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if start == end:
            continue
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _replaced(text: str, spans: list[Span]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], MASK]
        at = end
    return "".join([*parts, text[at:]])


def _moved(place: int, spans: list[Span], *, end: bool) -> int:
    """Where a place of the text is once ``spans`` are masked; within a secret it is the mask's begin, or its end."""
    shift = 0
    for first, last in spans:
        if last <= place:
            shift += len(MASK) - (last - first)
        elif first < place:
            return first + shift + (len(MASK) if end else 0)
    return place + shift


def _assigned(text: str) -> Iterator[Span]:
    """The values that stand behind names of secrets."""
    at = 0
    run_end = -1  # where the unquoted run ends that was looked at last
    while (stem := _NAME.search(text, at)) is not None:
        at = stem.end()
        before = text[max(stem.start() - _LONGEST_NAME, 0) : stem.start()]
        lead = before.rstrip(_NAME_CHARS)
        name = before[len(lead) :] + stem[0]
        separator = _SEPARATOR.match(text, at)
        if separator is None and name.startswith("--"):
            separator = _FLAG_SEPARATOR.match(text, at)
        if separator is None:
            continue
        start = separator.end()
        strong = _STRONG.search(name) is not None or lead.endswith(("?", "&"))
        quote = _QUOTE.match(text, start)
        if quote is not None:
            start = quote.end()
            end = _closing(text, quote[0], start)
            judged = text[start : min(end, start + _MOST)]
        else:
            if scheme := _SCHEME.match(text, start):
                start, strong = scheme.end(), True
            if run_end <= start:
                run = _BARE.match(text, start)
                run_end = run.end() if run else start
            end = run_end
            judged = text[start : _item_end(text, start, min(end, start + _MOST))]
        if _is_secret(name, judged, strong, quoted=quote is not None):
            at = end if quote else _item_end(text, start, end)
            yield start, at


def _closing(text: str, quote: str, start: int) -> int:
    """Where a quoted value ends: before the next such quote that is not escaped, else at the end of the line."""
    end = text.find(quote, start)
    while end > start and not quote.startswith("\\") and text[end - 1] == "\\":
        end = text.find(quote, end + 1)
    if end < 0:
        end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _item_end(text: str, start: int, end: int) -> int:
    """Where an unquoted value ends that may go on to ``end``: before ``,name=``, and without closing brackets."""
    item = _NEXT_ITEM.search(text, start, end)
    last = item.start() if item else end
    while last > start and text[last - 1] in ",;)]}":
        last -= 1
    return last


def _is_secret(name: str, value: str, strong: bool, *, quoted: bool) -> bool:
    plain = value.strip("\\'\"_").lower()
    if not plain.strip("*") or _NO_SECRET.fullmatch(plain):
        return False
    if len(plain) >= 5 and name.lower().replace("-", "_").endswith(plain):
        return False  # token=token, password=self_password: source code, shown in a traceback
    if not quoted and _CODE.match(value):
        return False
    if strong:
        return True
    if len(value) < 8 or not _SECRET_CHARS.fullmatch(value) or _PATH.match(value):
        return False
    one_word = "key" not in name.lower() and _PARTS.search(value) is None
    return _looks_random(value) or (one_word and _mixed(value))


def _mixed(value: str) -> bool:
    """Letters with digits, or capitals within a word."""
    letters = any(c.isalpha() for c in value)
    return letters and (any(c.isdigit() for c in value) or _WORD.fullmatch(value) is None)


def _looks_random(value: str) -> bool:
    """Whether it holds more than words, numbers and words with a number: not the name of a layer, a model or a file."""
    parts = [part for part in _PARTS.split(value[:_MOST]) if part]
    odd = [part for part in parts if _WORD.fullmatch(part) is None or len(part) >= _LONG_WORD]
    return any(len(part) >= 8 for part in odd) or (len(value) >= 8 and len(odd) * 2 > len(parts))
