"""Masking secrets in a report before anything renders it: tokens, keys, passwords in URLs and in assignments."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

MASK = "***"

_PATTERNS = [
    re.compile(r"(?<=://)[^\s/@:]{1,100}:[^\s/@]{1,200}(?=@)"),  # user:password in a URL
    re.compile(r"\b(?:gh[pousr]_\w{20,255}|github_pat_\w{20,255})"),
    re.compile(r"\bglpat-[\w-]{20,64}"),
    re.compile(r"\bhf_[A-Za-z0-9]{20,64}"),
    re.compile(r"\bsk-(?:[a-z]+-)?[\w-]{20,200}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bAIza[\w-]{35}"),
    re.compile(r"\bxox[abposr]-[\w-]{10,200}"),
    re.compile(r"\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{40,255}"),
    re.compile(r"\beyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,2000}"),  # JSON web token
    re.compile(r"(?i)(?<=authorization: )(?:bearer|basic|token) [^\s'\",]{8,2000}|(?<=bearer )[\w.~+/=-]{16,2000}"),
    re.compile(
        r"(?i)(?:(?<=password)|(?<=passwd)|(?<=secret)|(?<=api_key)|(?<=apikey)|(?<=api-key)|(?<=access_key)|(?<=auth_token)"
        r"|(?<=access_token)|(?<=_token))[\"']?\s?[=:]\s?[\"']?[^\s\"',;&]{6,500}"
    ),
]
_ASSIGNMENT = re.compile(r"^([\"']?\s?[=:]\s?[\"']?)")

T = TypeVar("T")


def masked(text: str) -> str:
    """``text`` with secrets replaced by ***."""
    for pattern in _PATTERNS:
        text = pattern.sub(_mask, text)
    return text


def _mask(found: re.Match[str]) -> str:
    lead = _ASSIGNMENT.match(found[0])
    return (lead[1] if lead else "") + MASK


def redacted(value: T) -> T:
    """A report (or any part of one) with secrets masked in every text it holds."""
    return _walk(value)  # type: ignore[no-any-return]


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, tuple):
        return tuple(_walk(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _walk(getattr(value, f.name)) for f in fields(value)})
    return value
