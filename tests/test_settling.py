"""Readings of a machine against hypotheses from a log: confirmed, refuted, unknown, or of another machine."""

from __future__ import annotations

import pytest

from conftest import Rules
from cudnn_triage.engine import Triager
from cudnn_triage.facts import Fact
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.probing.plan import Planner
from cudnn_triage.reading import read_text
from cudnn_triage.report import Report
from cudnn_triage.values import read as value

FACTS = """
area: test
facts:
  driver.present: {type: word, title: driver}
  driver.version: {type: version, title: driver version}
  gpu.name: {type: gpu, title: GPU}
  gpu.cc: {type: cc, title: compute capability}
  build.min: {type: cc, title: oldest capability}
  cudnn.loaded: {type: version, title: loaded cuDNN}
  cudnn.compiled: {type: version, title: compiled cuDNN}
  missing.library: {type: soname, title: missing library, many: 'true'}
  torch.version: {type: version, title: torch}
  shm: {type: size, title: shared memory}
  memory.shm: {type: size, title: shared memory}
"""

PROBES = """
probes:
  - {id: driver, title: the driver, cost: '1', seconds: '5', examines: machine, reads: [driver.present, driver.version]}
  - {id: nvml, title: GPUs, cost: '2', seconds: '5', examines: machine, touches_gpu: 'true', reads: [gpu.name, driver.version]}
  - {id: loader, title: libraries, cost: '3', seconds: '5', examines: interpreter, reads: [cudnn.loaded, missing.library]}
  - {id: torch, title: torch, cost: '6', seconds: '5', examines: interpreter, reads: [torch.version, cudnn.compiled, missing.library]}
  - {id: host, title: host, cost: '1', seconds: '5', examines: machine, reads: [memory.shm]}
elsewhere:
  - {when: not log.gpu.name == gpu.name, why: another GPU}
cure_first: [driver, library]
"""

TABLE = """
table: gpus
title: GPUs
key: gpu.name
match: contains
gives: {cc: gpu.cc}
source: tests
read: 2026-11-20
rows: [{key: T4, cc: '7.5'}, {key: K80, cc: '3.7'}]
"""


@pytest.fixture
def base(rules: Rules) -> Rules:
    rules.file("facts/test.yaml", FACTS)
    rules.file("probes.yaml", PROBES)
    rules.file("compat/gpus.yaml", TABLE)
    rules.cause(
        "no-driver",
        "confirm: [{when: driver.present == no, why: there is no driver, alone: 'true'}]\n"
        "refute: [{when: driver.present == yes, why: there is a driver}]",
        family="driver",
    )
    rules.cause(
        "mismatch",
        "confirm: [{when: cudnn.loaded < cudnn.compiled, why: the loaded cuDNN is older}]\n"
        "refute: [{when: cudnn.loaded >= cudnn.compiled, why: the loaded cuDNN is new enough}]",
    )
    rules.cause("missing", "confirm: [{when: log.missing.library == missing.library, why: it is missing here too}]")
    rules.cause("small-shm", "confirm: [{when: memory.shm < 128MiB, why: shared memory is small}]", family="memory")
    rules.cause("old-card", "confirm: [{when: not gpu.cc >= build.min, why: the card is too old}]", family="device")
    rules.signature(
        "handle",
        "Could not create cudnn handle",
        more="points_to:\n"
        "  - {cause: mismatch, strength: strong}\n"
        "  - {cause: no-driver, strength: likely}\n"
        "  - {cause: small-shm, strength: weak}\n",
    )
    rules.points("lost", "Could not load library {missing.library:soname}", "missing")
    rules.points("worker", "DataLoader worker is killed by signal", "small-shm")
    rules.signature("card", "Found device {gpu.name:gpu} of the machine")
    rules.signature(
        "minimum",
        "Needs at least compute capability {build.min:cc}",
        more="points_to: [{cause: old-card, strength: strong}]",
    )
    rules.points("registered", "Unable to register cuDNN factory", "small-shm", "weak")
    return rules


def knowledge(rules: Rules) -> Knowledge:
    return rules.knowledge()


def local(**readings: str) -> list[Fact]:
    kinds = {
        "driver__present": "word",
        "gpu__name": "gpu",
        "memory__shm": "size",
        "missing__library": "soname",
        "build__min": "cc",
    }
    found = []
    for name, text in readings.items():
        typed = value(kinds.get(name, "version"), text)
        assert typed is not None
        found.append(Fact(name.replace("__", "."), typed, "local"))
    return found


def report(rules: Rules, log: str, assume: bool = False, **readings: str) -> Report:
    return Triager(knowledge(rules)).triage(read_text(log, "t.log"), readings=local(**readings), assume_local=assume)


def statuses(found: Report) -> list[tuple[str, str]]:
    return [(d.cause, d.status) for d in found.diagnoses]


LOG = "RuntimeError: Could not create cudnn handle"


def test_without_readings_all_is_suspected(base: Rules) -> None:
    found = report(base, LOG)
    assert {d.status for d in found.diagnoses} == {"suspected"}
    assert found.machine.readings == "none"


def test_a_confirmed_cause_goes_first_and_shows_the_reading(base: Rules) -> None:
    found = report(base, LOG, driver__present="no")
    assert found.diagnoses[0].cause == "no-driver"
    assert found.diagnoses[0].status == "confirmed"
    assert 0.9 < found.diagnoses[0].confidence < 1
    first = found.diagnoses[0].evidence[0]
    assert (first.kind, first.origin, first.text, first.why) == (
        "probe",
        "local",
        "driver.present = no",
        "there is no driver",
    )
    assert found.summary.startswith("Cause no-driver (no-driver,")
    assert "confirmed" in found.summary


def test_a_refuted_cause_goes_last_with_the_reason(base: Rules) -> None:
    found = report(base, LOG, cudnn__loaded="9.1", cudnn__compiled="9.0", driver__present="no")
    assert statuses(found) == [("no-driver", "confirmed"), ("small-shm", "suspected"), ("mismatch", "refuted")]
    against = found.diagnoses[-1].evidence[-1]
    assert (against.kind, against.supports) == ("probe", False)
    assert "cudnn.loaded = 9.1" in against.text


def test_a_refuted_cause_that_stands_alone_is_still_shown(base: Rules) -> None:
    found = report(
        base,
        "RuntimeError: Could not create cudnn handle",
        cudnn__loaded="9",
        cudnn__compiled="9",
        driver__present="yes",
    )
    assert found.verdict == "diagnosed"
    assert dict(statuses(found))["mismatch"] == "refuted"
    assert statuses(found)[0][1] == "suspected"


@pytest.mark.parametrize("readings", [{"cudnn__loaded": "9.1"}, {"cudnn__compiled": "9.1"}, {"memory__shm": "64 MiB"}])
def test_what_is_not_read_neither_confirms_nor_refutes(base: Rules, readings: dict[str, str]) -> None:
    assert dict(statuses(report(base, LOG, **readings)))["mismatch"] == "suspected"


def test_a_condition_on_the_log_alone_settles_nothing(base: Rules) -> None:
    base.cause("missing", "confirm: [{when: known(log.missing.library) or driver.present == no, why: x}]")
    found = report(base, "ImportError: Could not load library libcudnn.so.9", memory__shm="64 MiB")
    assert statuses(found) == [("missing", "suspected")]


def test_a_reading_that_is_not_there_is_not_taken_for_absent(base: Rules) -> None:
    base.cause("missing", "confirm: [{when: not known(cudnn.loaded) and driver.present == yes, why: x}]")
    found = report(base, "ImportError: Could not load library libcudnn.so.9", driver__present="yes")
    assert statuses(found) == [("missing", "suspected")]


def test_what_confirms_outweighs_what_refutes(base: Rules) -> None:
    base.cause(
        "missing",
        "confirm: [{when: driver.present == no, why: x}]\nrefute: [{when: driver.present == no, why: y}]",
    )
    found = report(base, "ImportError: Could not load library libcudnn.so.9", driver__present="no")
    assert statuses(found) == [("missing", "confirmed")]


def test_a_common_state_does_not_confirm_what_the_log_hardly_allows_for(base: Rules) -> None:
    found = report(base, LOG, memory__shm="64 MiB")
    assert dict(statuses(found)).get("small-shm", "suspected") == "suspected"
    assert found.diagnoses[0].cause == "mismatch"
    found = report(base, "RuntimeError: DataLoader worker is killed by signal", memory__shm="64 MiB")
    assert statuses(found) == [("small-shm", "confirmed")]


def test_two_confirmed_causes_stand_in_the_order_of_the_log(base: Rules) -> None:
    found = report(base, LOG, driver__present="no", cudnn__loaded="8", cudnn__compiled="9")
    assert statuses(found)[:2] == [("mismatch", "confirmed"), ("no-driver", "confirmed")]


def test_log_and_machine_are_compared(base: Rules) -> None:
    log = "ImportError: Could not load library libcudnn.so.9"
    assert statuses(report(base, log, missing__library="libcudnn.so.9")) == [("missing", "confirmed")]
    assert statuses(report(base, log, missing__library="libcublas.so.12")) == [("missing", "suspected")]


def test_tables_work_on_readings_too(base: Rules) -> None:
    log = "RuntimeError: Needs at least compute capability 5.0"
    base.cause("old-card", "confirm: [{when: not gpu.cc >= log.build.min, why: the card is too old}]", family="device")
    assert statuses(report(base, log, gpu__name="Tesla K80")) == [("old-card", "confirmed")]
    assert statuses(report(base, log, gpu__name="Tesla T4")) == [("old-card", "suspected")]


def test_readings_of_another_machine_decide_nothing_unless_asked_to(base: Rules) -> None:
    log = f"Found device Tesla T4 of the machine\n{LOG}"
    readings = {"driver__present": "no", "gpu__name": "Tesla K80"}
    found = report(base, log, **readings)
    assert found.machine.readings == "ignored"
    assert [(d.why, d.text) for d in found.machine.differences] == [
        ("another GPU", "gpu.name = Tesla T4 in the log, gpu.name = Tesla K80 here")
    ]
    assert {d.status for d in found.diagnoses} == {"suspected"}
    found = report(base, log, assume=True, **readings)
    assert (found.machine.readings, statuses(found)[0]) == ("assumed", ("no-driver", "confirmed"))
    found = report(base, log, driver__present="no", gpu__name="Tesla T4")
    assert (found.machine.readings, statuses(found)[0]) == ("used", ("no-driver", "confirmed"))


@pytest.mark.parametrize("log", ["all is well\nepoch 1 done", "", "E Unable to register cuDNN factory\ndone"])
def test_a_faulty_machine_makes_no_diagnosis_of_a_healthy_log(base: Rules, log: str) -> None:
    found = report(base, log, driver__present="no", memory__shm="1 MiB")
    assert not found.diagnoses


def test_the_doctor_reports_what_is_a_fault_by_itself_what_must_be_cured_first_first(base: Rules) -> None:
    base.cause("missing", "confirm: [{when: cudnn.loaded < 8, why: ancient, alone: 'true'}]")
    triager = Triager(knowledge(base))
    found = triager.check_up(local(driver__present="no", memory__shm="1 MiB", cudnn__loaded="7"))
    assert statuses(found) == [("no-driver", "confirmed"), ("missing", "confirmed")]
    assert found.machine.readings == "only"
    found = triager.check_up(local(driver__present="yes", cudnn__loaded="9"))
    assert not found.diagnoses
    assert found.summary == "No fault was found on this machine."


def plan(rules: Rules, log: str, ran: list[str], **readings: str) -> list[str]:
    known = knowledge(rules)
    triager = Triager(known)
    from cudnn_triage.cleaning import clean

    case = triager.beside(triager.examine(clean(read_text(log, "t"))), local(**readings))
    planner = Planner(known, case.met.__contains__)
    return list(planner.next_probes(triager.hypotheses(case)[0], case.machine, ran))


def test_the_cheapest_probe_that_can_settle_the_leader_runs_first(base: Rules) -> None:
    assert plan(base, LOG, []) == ["driver"]
    assert plan(base, "ImportError: Could not load library libcudnn.so.9", []) == ["loader"]


def test_probes_that_can_change_nothing_are_not_run(base: Rules) -> None:
    assert plan(base, "all is well", []) == []
    assert plan(base, LOG, ["driver"], driver__present="no") == ["loader"]  # mismatch stands above it and is open
    assert plan(base, LOG, ["driver", "loader"], driver__present="no") == []  # nothing known to compare with
    assert plan(base, LOG, ["driver", "loader"], driver__present="no", cudnn__loaded="8") == ["torch"]
    assert (
        plan(base, LOG, ["driver", "loader", "torch"], driver__present="no", cudnn__loaded="8", cudnn__compiled="9")
        == []
    )


def test_whether_the_log_is_from_here_is_not_asked_where_nothing_can_be_settled(base: Rules) -> None:
    base.cause("odd", family="program")
    base.points("strange", "something strange has happened", "odd")
    log = "Found device Tesla T4 of the machine\nRuntimeError: something strange has happened"
    assert plan(base, log, []) == []


def test_once_a_hypothesis_is_confirmed_only_likelier_ones_are_looked_into(base: Rules) -> None:
    assert plan(base, LOG, ["loader", "torch"], cudnn__loaded="8", cudnn__compiled="9") == []


def test_another_probe_is_asked_for_facts_that_may_have_several_values(base: Rules) -> None:
    log = "ImportError: Could not load library libcudnn.so.9"
    assert plan(base, log, ["loader"], missing__library="libcublas.so.12") == ["torch"]
    assert plan(base, log, ["loader"], missing__library="libcudnn.so.9") == []


def test_whether_the_log_is_from_here_is_asked_first_and_ends_the_asking(base: Rules) -> None:
    log = f"Found device Tesla T4 of the machine\n{LOG}"
    assert plan(base, log, []) == ["nvml"]
    assert plan(base, log, ["nvml"], gpu__name="Tesla T4") == ["driver"]
    assert plan(base, log, ["nvml"], gpu__name="Tesla K80") == []
