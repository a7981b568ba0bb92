"""The closed sets of words that a report uses. For type checkers and the JSON Schema: a run does not import them."""

from __future__ import annotations

from typing import Literal

Kind = Literal["signature", "fact", "probe"]
Match = Literal["exact", "fuzzy"]
Origin = Literal["log", "local", "table", "structure"]
Safety = Literal["inspect", "reversible", "destructive"]
Severity = Literal["fatal", "degraded", "benign"]
Status = Literal["suspected", "confirmed", "refuted"]
ProbeStatus = Literal["ok", "skipped", "failed", "timed-out", "crashed"]
Part = Literal["none", "used", "ignored", "assumed", "only"]
Verdict = Literal["diagnosed", "benign", "unrelated", "unexplained", "empty"]
