"""What a triage returns: frozen, typed, and equal to the published JSON (docs/report.schema.json, schema version 1)."""

from __future__ import annotations

from .light import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from .vocabulary import Kind, Match, Origin, Part, ProbeStatus, Safety, Severity, Status, Verdict

SCHEMA_VERSION: Literal[1] = 1


@record(frozen=True, slots=True)
class EvidenceItem:
    """One thing that speaks for (or against) a diagnosis, and where it stands."""

    kind: Kind
    id: str
    match: Match
    origin: Origin
    line: int  # 1-based line of the raw log; 0 where it has no place
    column: int  # 1-based; 0 where it has no place
    text: str  # the line as cleaned, or the fact
    supports: bool
    why: str = ""
    echoes: tuple[int, ...] = ()  # lines whose errors are only consequences of this one
    offset: int = 0  # where in ``text`` the evidence begins
    length: int = 0  # how many characters of ``text`` it is


@record(frozen=True, slots=True)
class FixItem:
    """One way to cure the cause, its commands complete where the facts allow."""

    title: str
    safety: Safety
    commands: tuple[str, ...]
    applies: str
    verify: tuple[str, ...]
    why: str
    missing: tuple[str, ...] = ()  # what would have to be known to complete the commands, and how to read it

    def has_hole(self, need: str) -> bool:
        """Whether a command has a place for this missing fact; else it would only decide which command is best."""
        return any(f"{need.partition(': ')[0]}}}" in command for command in self.commands)


@record(frozen=True, slots=True)
class Reference:
    """A page worth reading."""

    title: str
    url: str


@record(frozen=True, slots=True)
class DeadEnd:
    """What people try that does not help, and why."""

    tried: str
    why: str


@record(frozen=True, slots=True)
class Diagnosis:
    """A ranked root cause."""

    cause: str
    title: str
    family: str
    severity: Severity
    confidence: float  # probability, 0..1: of the first that it is an answer that holds, of the others that they are the root instead
    status: Status
    explanation: str
    evidence: tuple[EvidenceItem, ...]
    fixes: tuple[FixItem, ...]
    dead_ends: tuple[DeadEnd, ...]
    references: tuple[Reference, ...]


@record(frozen=True, slots=True)
class BenignItem:
    """Harmless chatter that people mistake for the error."""

    cause: str
    signature: str
    line: int
    text: str
    why: str
    count: int = 1


@record(frozen=True, slots=True)
class LogLine:
    """A line of the log."""

    line: int
    text: str


@record(frozen=True, slots=True)
class FailedLine:
    """A line at which the program failed; ``why`` is what is known of it: a rule's words, or that the traceback breaks off."""

    line: int
    text: str
    why: str = ""


@record(frozen=True, slots=True)
class AlsoItem:
    """A cause of this field that a line of the log surely speaks of, although the program failed for another reason."""

    cause: str
    title: str
    signature: str
    line: int
    text: str


@record(frozen=True, slots=True)
class FactItem:
    """A fact as reported."""

    name: str
    value: str
    origin: Origin
    line: int


@record(frozen=True, slots=True)
class ProbeItem:
    """A probe that was run, or why it was not."""

    name: str
    status: ProbeStatus
    reason: str
    seconds: float
    why: str = ""  # what it was to tell


@record(frozen=True, slots=True)
class Difference:
    """Why the readings are not of the machine that the log is from."""

    why: str
    text: str  # what differs: the log's fact and the machine's


@record(frozen=True, slots=True)
class MachineInfo:
    """What part readings of a machine had in this report.

    ``readings``: "none" there are none; "used" they counted; "ignored" they are of another machine or environment than the
    log; "assumed" they are, and were to count nevertheless; "only" there was no log, the machine itself was looked at.
    """

    readings: Part
    name: str = ""  # which machine, as a person would say it: "this machine", "the machine of node7.json"
    interpreter: str = ""  # which Python was examined, and why that one
    differences: tuple[Difference, ...] = ()


@record(frozen=True, slots=True)
class Look:
    """One look at a machine: what was run there, on which machine and by which interpreter."""

    probes: tuple[ProbeItem, ...] = ()
    name: str = "this machine"
    interpreter: str = ""


@record(frozen=True, slots=True)
class InputInfo:
    """What was read."""

    name: str
    bytes: int
    lines: int
    encoding: str
    note: str = ""  # what of it could not be read; empty: all was


@record(frozen=True, slots=True)
class ToolInfo:
    """Which tool and knowledge base made the report."""

    name: str
    version: str
    knowledge: str


@record(frozen=True, slots=True)
class Report:
    """The answer. ``diagnoses`` is best first and empty when nothing of this field is wrong."""

    tool: ToolInfo
    verdict: Verdict
    summary: str
    diagnoses: tuple[Diagnosis, ...]
    benign: tuple[BenignItem, ...]
    unexplained: tuple[LogLine, ...]
    failed: tuple[FailedLine, ...]  # where the program failed, in log order
    facts: tuple[FactItem, ...]
    probes: tuple[ProbeItem, ...]
    input: InputInfo
    machine: MachineInfo
    next_steps: tuple[FixItem, ...] = ()  # what the log calls for where it failed for a reason outside this field
    also: tuple[AlsoItem, ...] = ()  # what of this field is wrong besides, where it failed for a reason outside
    schema_version: Literal[1] = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, equal to the JSON output."""
        plain: dict[str, Any] = _plain(self)
        return {"schema_version": plain.pop("schema_version"), **plain}

    def to_json(self) -> str:
        """The report as JSON, one line, keys in a fixed order."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_markdown(self) -> str:
        """The report as Markdown for an issue or pull-request comment."""
        from .render.markdown import to_markdown

        return to_markdown(self)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__match_args__"):
        return {name: _plain(getattr(value, name)) for name in value.__match_args__}
    return value
