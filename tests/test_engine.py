"""From log to report on small knowledge bases: root and echo, facts that decide, chatter, other failures."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import Rules
from cudnn_triage import Triager, triage, triage_all
from cudnn_triage.cleaning import clean
from cudnn_triage.facts import Fact
from cudnn_triage.reading import read, read_text
from cudnn_triage.report import Report
from cudnn_triage.values import read as value
from cudnn_triage.wording import has_error_word

FAILED = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'


def report(rules: Rules, text: str, *facts: Fact) -> Report:
    return rules.triager().triage(read(text.encode(), "test.log")[0], facts)


@pytest.fixture
def base(rules: Rules) -> Rules:
    rules.facts(cudnn__loaded="version", cudnn__compiled="version", gpu__cc="cc", missing__library="soname")
    for name in ("memory-held", "version-mismatch", "assertion", "not-found"):
        rules.cause(name)
    rules.cause("chatter", family="benign", severity="benign")
    rules.cause(
        "not-gpu",
        family="benign",
        severity="fatal",
        more="evidence:\n  - {when: failure.explained == no and failure.vocabulary == no, strength: strong, why: w}",
    )
    rules.signature(
        "no-handle",
        "Could not create cudnn handle",
        more="points_to: [{cause: memory-held, strength: likely}, {cause: version-mismatch, strength: certain, when: cudnn.loaded < cudnn.compiled}]\n"
        "symptom_of: [asserted]",
    )
    rules.signature(
        "versions", "Loaded {cudnn.loaded:version} but compiled with {cudnn.compiled:version}", more="points_to: []"
    )
    rules.points("asserted", "device-side assert triggered", "assertion", "certain")
    rules.points("registered", "Unable to register cuDNN factory", "chatter", "certain", more="survived: true")
    return rules


def test_a_traceback_that_belongs_to_a_notice_is_no_failure(base: Rules) -> None:
    template = "Fast kernels are not available, going on without: Traceback (most recent call last): {:any} import fast {:any}: No module named 'fast'"
    base.points("slow", template, "chatter", "certain", more="survived: true")
    notice = "Fast kernels are not available, going on without:\n"
    traceback = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    import fast\n'
        "ModuleNotFoundError: No module named 'fast'\n"
    )
    assert (report(base, notice + traceback + "epoch 1").verdict, report(base, traceback).verdict) == (
        "benign",
        "unrelated",
    )
    done = base.triager().examine(
        clean(read_text(notice + traceback + "\nepoch 1\nepoch 2\nModel saved to out/model.pt"))
    )
    assert done.structure.ended_well
    behind = report(base, notice + traceback + FAILED + "KeyError: 'x'\n")
    assert behind.verdict == "unrelated"
    assert [line.line for line in behind.failed] == [9]


def test_the_first_line_of_the_answer(base: Rules) -> None:
    found = report(base, "x\nE dnn.cc:1] Could not create cudnn handle: STATUS")
    assert found.verdict == "diagnosed"
    assert found.diagnoses[0].cause == "memory-held"
    assert found.summary.startswith("Cause memory-held")
    evidence = found.diagnoses[0].evidence[0]
    assert (evidence.line, evidence.column) == (2, 13)
    assert evidence.text[evidence.offset : evidence.offset + evidence.length] == "Could not create cudnn handle"


def test_a_lesser_cause_that_a_message_speaks_for_stays_in_view(base: Rules) -> None:
    """However sharp the fitted temperature is: in some logs the lesser one is the true cause."""
    base.signature(
        "lost",
        "GPU handle lost",
        more="points_to: [{cause: memory-held, strength: strong}, {cause: not-found, strength: possible}]",
    )
    base.file("weights.yaml", "temperature: 0.2\n")
    found = report(base, "E dnn.cc:1] GPU handle lost").diagnoses
    assert [d.cause for d in found] == ["memory-held", "not-found"]
    assert found[0].confidence > 0.9
    assert 0 < found[1].confidence < 0.05


@pytest.mark.parametrize("temperature", ["1.0", "0.3"])
def test_odds_say_how_often_one_of_two_causes_is_meant(base: Rules, temperature: str) -> None:
    """Strength words are far apart once the fitted temperature is sharp; odds hold whatever it is."""
    base.signature(
        "lost",
        "GPU handle lost",
        more="points_to: [{cause: memory-held, strength: strong}, {cause: not-found, strength: strong, odds: 0.25}]",
    )
    base.file("weights.yaml", f"temperature: {temperature}\ndoubt: 0\nlead: 0\n")
    first, second = report(base, "E dnn.cc:1] GPU handle lost").diagnoses
    assert (first.cause, second.cause) == ("memory-held", "not-found")
    assert second.confidence / first.confidence == pytest.approx(0.25, rel=0.01)


def test_the_likeliest_of_causes_that_cannot_be_told_apart_takes_the_lead(base: Rules) -> None:
    """All other causes give it the same share of theirs, so that their order and the sum stay as they are."""
    base.signature(
        "lost",
        "GPU handle lost",
        more="points_to: [{cause: memory-held, strength: strong}, {cause: not-found, strength: strong, odds: 0.5}]",
    )
    told = []
    for lead in (0.0, 0.4):
        base.file("weights.yaml", f"doubt: 0\nlead: {lead}\n")
        told.append([d.confidence for d in report(base, "E dnn.cc:1] GPU handle lost").diagnoses])
    (first, second), (leading, following) = told
    assert (leading, following) == pytest.approx((first + 0.4 * second, 0.6 * second), abs=0.001)


def test_facts_decide_between_causes_that_print_the_same_message(base: Rules) -> None:
    found = report(base, "Loaded 7.1.2 but compiled with 7.6.0\nCould not create cudnn handle")
    assert found.diagnoses[0].cause == "version-mismatch"
    found = report(base, "Loaded 7.6.5 but compiled with 7.6.0\nCould not create cudnn handle")
    assert found.diagnoses[0].cause == "memory-held"


def test_facts_given_by_the_caller_count(base: Rules) -> None:
    given = [
        Fact("cudnn.loaded", value("version", "7.1"), "local"),
        Fact("cudnn.compiled", value("version", "7.6"), "local"),
    ]
    assert report(base, "Could not create cudnn handle", *given).diagnoses[0].cause == "version-mismatch"


def test_an_echo_is_shown_under_its_root(base: Rules) -> None:
    found = report(
        base, "Could not create cudnn handle\nRuntimeError: device-side assert triggered\nCould not create cudnn handle"
    )
    assert [d.cause for d in found.diagnoses] == ["assertion"]
    assert found.diagnoses[0].evidence[0].echoes == (1, 3)


def test_of_two_messages_that_may_follow_from_each_other_the_first_in_the_log_is_the_root(base: Rules) -> None:
    base.points("timed-out", "collective timed out", "assertion", more="symptom_of: [not-found]")
    base.points("no-peer", "peer not found", "not-found", more="symptom_of: [assertion]")
    assert [d.cause for d in report(base, "E collective timed out\nE peer not found").diagnoses] == ["assertion"]
    assert [d.cause for d in report(base, "E peer not found\nE collective timed out").diagnoses] == ["not-found"]


def test_of_messages_that_may_follow_from_one_another_round_about_the_first_in_the_log_is_the_root(base: Rules) -> None:
    base.points("timed-out", "collective timed out", "assertion", more="symptom_of: [not-found]")
    base.points("no-peer", "peer not found", "not-found", more="symptom_of: [memory-held]")
    base.points("held", "memory is held", "memory-held", more="symptom_of: [assertion]")
    lines = ["E collective timed out", "E memory is held", "E peer not found"]
    assert [d.cause for d in report(base, "\n".join(lines)).diagnoses] == ["assertion"]
    assert "assertion" in [d.cause for d in report(base, "\n".join([lines[0], lines[2], lines[1]])).diagnoses]
    base.points("first-gone", "the first is gone", "assertion", more="symptom_of: [second-gone]")
    base.points("second-gone", "the second is gone", "not-found", more="symptom_of: [third-gone]")
    base.points("third-gone", "the third is gone", "memory-held", more="symptom_of: [first-gone]")
    gone = "E the second is gone\nE the first is gone\nE the third is gone"
    assert [d.cause for d in report(base, gone).diagnoses] == ["not-found"]


def test_whether_a_fact_differs_is_asked_of_the_whole_log(rules: Rules) -> None:
    rules.facts(nccl__network="word")
    rules.cause("network")
    rules.signature(
        "using",
        "NCCL INFO Using network {nccl.network:word}",
        more="points_to: [{cause: network, strength: certain, when: several(nccl.network)}]",
    )
    assert report(rules, "NCCL INFO Using network IB").diagnoses == ()
    assert report(rules, "NCCL INFO Using network IB\nNCCL INFO Using network IB").diagnoses == ()
    assert report(rules, "NCCL INFO Using network IB\nNCCL INFO Using network Socket").diagnoses


@pytest.mark.parametrize(
    "prefix",
    [
        "Jan 31 10:00:00 host {}[123]: ",
        "2024-01-31T10:00:00+01:00 host {}: ",
        "<6>Jan  1 10:00:00 host /usr/bin/{}[1]: ",
    ],
)
def test_the_program_that_a_syslog_names_is_a_fact_of_its_line(rules: Rules, prefix: str) -> None:
    rules.cause("daemon")
    rules.signature(
        "query",
        "Failed to query NVIDIA devices",
        more="points_to: [{cause: daemon, strength: certain, when: log.program == nvidia-persistenced}]",
    )
    other = prefix.format("dockerd") + "something else\n"
    found = report(rules, other + prefix.format("nvidia-persistenced") + "Failed to query NVIDIA devices")
    assert found.diagnoses[0].cause == "daemon"
    assert [(f.value, f.line) for f in found.facts if f.name == "log.program"] == [("nvidia-persistenced", 2)]
    assert report(rules, other + prefix.format("dockerd") + "Failed to query NVIDIA devices").diagnoses == ()
    assert report(rules, "Failed to query NVIDIA devices").diagnoses == ()


@pytest.mark.parametrize(
    ("prefix", "engine"),
    [("web-1  | ", "docker"), ("#12 3.456 ", "docker"), ("[pod/trainer-0/main] ", "kubernetes"), ("2024-01-31 ", "")],
)
def test_the_prefix_of_a_container_engine_tells_where_to_run_the_commands(prefix: str, engine: str) -> None:
    message = "RuntimeError: Found no NVIDIA driver on your system.\n"
    found = triage(prefix + "Loading the model\n" + prefix + message)
    assert [f.value for f in found.facts if f.name == "platform.container"] == [engine] * bool(engine)
    assert found.diagnoses[0].cause == triage(message).diagnoses[0].cause  # a prefix is no evidence
    assert ("--gpus all" in str(found.diagnoses[0].fixes[0].commands)) == (engine == "docker")


def test_a_stamp_without_a_host_does_not_take_the_message_for_a_program(rules: Rules) -> None:
    rules.cause("library")
    rules.points("gone", "ImportError: libcudart.so.9.0: cannot open shared object file", "library")
    found = report(rules, "Aug 23 23:25:17 ImportError: libcudart.so.9.0: cannot open shared object file\n")
    assert [d.cause for d in found.diagnoses] == ["library"]


def test_a_program_of_the_prefix_can_excuse_a_message(rules: Rules) -> None:
    rules.cause("ended")
    rules.points("signalled", "Received signal 15 at last", "ended", "certain", more="unless: [nvidia-persistenced]")
    line = "Jan 31 10:00:00 host {}[123]: Received signal 15 at last"
    assert report(rules, line.format("train")).diagnoses
    assert report(rules, line.format("nvidia-persistenced")).diagnoses == ()


def test_a_message_that_begins_in_a_frame_is_shown_where_it_was_printed(rules: Rules) -> None:
    rules.cause("arch")
    rules.signature(
        "no-arch",
        "arch_list[-1] += '+PTX'\nIndexError: list index out of range",
        more="in: any\npoints_to: [{cause: arch, strength: certain}]",
    )
    log = "Traceback (most recent call last):\n  File \"e.py\", line 9, in f\n    arch_list[-1] += '+PTX'\nIndexError: list index out of range"
    shown = report(rules, log).diagnoses[0].evidence[0]
    assert (shown.line, shown.column, shown.text) == (4, 1, "IndexError: list index out of range")
    assert shown.text[shown.offset : shown.offset + shown.length] == shown.text


WARNED = "W tensorflow/core/dso.cc:60] Could not create cudnn handle\n"
WENT_ON = "Using device: cpu\nEpoch 1/2 loss 0.5\n"


def test_a_warning_in_a_run_that_ended_well_is_believed_by_half(base: Rules) -> None:
    well = report(base, WARNED + WENT_ON + "Epoch 2/2 loss 0.4\n")
    goes_on = report(base, WARNED + WENT_ON)
    assert (well.verdict, goes_on.verdict) == ("diagnosed", "diagnosed")
    assert well.diagnoses[0].confidence == pytest.approx(goes_on.diagnoses[0].confidence / 2, abs=1e-3)
    assert well.summary.startswith("The program ended well, but: Cause memory-held")
    assert goes_on.summary.startswith("Cause memory-held")
    assert any((f.name, f.value) == ("log.ended", "well") for f in well.facts)


def test_what_ends_well_but_for_an_error_outside_a_record_is_believed(base: Rules) -> None:
    printed = report(base, "check: Could not create cudnn handle\nProcess finished with exit code 0\n")
    assert printed.diagnoses[0].confidence > 0.7


def fact(found: Report, name: str) -> list[str]:
    return [f.value for f in found.facts if f.name == name]


@pytest.mark.parametrize(
    "after",
    [
        "terminate called without an active exception",
        "Segmentation fault (core dumped)",
        "Aborted",
        FAILED,
        "error: command 'nvcc' failed with exit status 1",
    ],
)
def test_how_a_process_dies_of_an_exception_adds_nothing(base: Rules, after: str) -> None:
    found = report(base, f"{FAILED}ValueError: the file is not there\n{after}")
    assert (fact(found, "failure.kind"), fact(found, "failure.type")) == (["exception"], ["ValueError"])
    assert found.verdict == "unrelated"
    assert "ValueError" in found.summary


@pytest.mark.parametrize("line", ["the mould failed to set", 'time="2024-05-01T10:00:00Z" level=error msg="no mould"'])
def test_a_short_paste_that_reads_like_an_error_is_not_called_free_of_failures(base: Rules, line: str) -> None:
    found = report(base, f"pouring\n{line}\n")
    assert (found.verdict, [f.line for f in found.failed]) == ("unrelated", [2])
    assert line in found.summary
    many = "".join(f"pouring {letter}\n" for letter in "abcdefgh")
    assert report(base, f"{many}{line}\n").failed == ()  # programs log errors that they go on from
    assert report(base, "pouring\nall is well\n").failed == ()


def test_what_killed_a_process_without_an_exception_is_its_failure(base: Rules) -> None:
    assert fact(report(base, "Segmentation fault (core dumped)"), "failure.type") == ["SIGSEGV"]
    assert fact(report(base, f"Aborted\n{FAILED}ValueError: x"), "failure.type") == ["ValueError"]


def test_of_a_message_that_is_cut_off_nothing_is_concluded(base: Rules) -> None:
    found = report(base, f"RuntimeError   Traceback (most recent call last)\n{FAILED}")
    assert fact(found, "failure.vocabulary") == []
    assert fact(report(base, f"{FAILED}ValueError: x"), "failure.vocabulary") == ["no"]


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("ValueError: no gpu here", "yes"),
        ("ValueError: /home/u/gpu/train.txt is not there", "no"),
        ("ValueError: cannot open cuda_12.4_linux.run", "no"),
        ("ValueError: gpu_miner.cu(12): HALFSIZE", "no"),
        ("ValueError: libcuda.so.1 is not there", "yes"),
        ('RuntimeError: handle INTERNAL ASSERT FAILED at "../c10/cuda/driver_api.cpp":15', "yes"),
        ('RuntimeError: handle INTERNAL ASSERT FAILED at "../c10/core/api.cpp":15', "no"),
        ("RuntimeError: see ../c10/cuda/driver_api.cpp:15", "no"),
        ("RuntimeError: x\n../native/cuda/Indexing.cu:1: block: [1], thread: [2] Assertion `a < b` failed.", "yes"),
    ],
)
def test_names_of_files_are_no_words_of_the_field(base: Rules, text: str, ours: str) -> None:
    assert fact(report(base, f"{FAILED}{text}"), "failure.vocabulary") == [ours]


def test_an_error_of_the_field_is_not_left_without_any_answer(base: Rules) -> None:
    base.points("vague", "the frobnicator of the gpu", "memory-held", "possible")
    found = report(base, f"the frobnicator of the gpu\n{FAILED}RuntimeError: unknown cuda error 17")
    assert found.verdict == "diagnosed"
    assert found.diagnoses[0].confidence < 0.6
    assert report(base, "the frobnicator of the gpu").diagnoses == ()


AGAIN = {
    "the same command": (
        "user@host:~$ python train.py --batch 8\n",
        "user@host:~$ CUDA_LAUNCH_BLOCKING=1 python train.py\n",
    ),
    "a supervisor": ("", "[default] Worker group FAILED. 2/3 attempts left; will restart worker group\n"),
    "the opening lines": ("Loading the settings\nSeed is 1\n", "Loading the settings\nSeed is 2\n"),
}


@pytest.mark.parametrize("how", AGAIN)
def test_what_ended_the_last_attempt_weighs_most(base: Rules, how: str) -> None:
    first, second = AGAIN[how]
    held = "RuntimeError: Could not create cudnn handle\n"
    asserted = "RuntimeError: device-side assert triggered\n"
    assert report(base, first + asserted + second + held).diagnoses[0].cause == "memory-held"
    assert report(base, first + held + second + asserted).diagnoses[0].cause == "assertion"
    assert report(base, asserted + held).diagnoses[0].cause == "assertion"  # held is its echo in one attempt


def test_of_runs_in_one_file_the_last_one_counts_and_a_failure_again_and_again_is_told_once(base: Rules) -> None:
    held, asserted = (
        f"{FAILED}RuntimeError: {said}\n" for said in ("Could not create cudnn handle", "device-side assert triggered")
    )
    runs = [f"[run {number}]\n{asserted}" for number in range(1, 30)]
    found = report(base, "".join([*runs, f"[run 30]\n{held}"]))
    assert found.diagnoses[0].cause == "memory-held"
    assert [line.line for line in found.failed] == [29 * (asserted.count("\n") + 1), 30 * (asserted.count("\n") + 1)]
    healthy = report(base, "".join([*runs, "[run 30]\nsaved to a.pt\n"]))
    assert healthy.failed == ()
    assert all(healthy.summary.startswith("The program ended well, but") for _ in healthy.diagnoses)


def test_an_attempt_that_ran_for_long_and_was_ended_weighs_most(base: Rules) -> None:
    base.points("ended", "job killed: walltime", "assertion", "likely")
    first = f"Loading the settings\nSeed is 1\n{FAILED}RuntimeError: Could not create cudnn handle\n"
    ended = "=>> PBS: job killed: walltime 10 exceeded limit 9\n"
    second = "Loading the settings\nSeed is 2\n"
    assert report(base, first + second + "step\n" * 99 + ended).diagnoses[0].cause == "assertion"


def test_of_several_attempts_the_last_word_on_a_fact_counts(base: Rules) -> None:
    old, new = ("Loaded 7.1.2 but compiled with 7.6.0\n", "Loaded 7.6.5 but compiled with 7.6.0\n")
    held = "RuntimeError: Could not create cudnn handle\n"
    again = "$ python x.py\n"
    assert report(base, again + old + held + again + new + held).diagnoses[0].cause == "memory-held"
    assert report(base, again + new + held + again + old + held).diagnoses[0].cause == "version-mismatch"
    assert report(base, old + held + new).diagnoses[0].cause == "version-mismatch"  # one attempt: both are true


def test_a_harmless_line_of_which_a_rule_knows_two_parts_counts_once(base: Rules) -> None:
    base.file(
        "signatures/test/twofold.yaml",
        "id: twofold\ntitle: A widget\ntemplates: ['the widget was refused', 'since widgets are two already']\n"
        "points_to: [{cause: chatter, strength: certain}]\nexamples: ['the widget was refused']\n"
        "near_misses: [x]\nsource: s\nread: 2026-11-29\n",
    )
    line = "the widget was refused since widgets are two already\n"
    assert [item.count for item in report(base, line + "step 1\n" + line).benign] == [2]


def test_harmless_chatter_is_never_the_diagnosis(base: Rules) -> None:
    found = report(base, "E Unable to register cuDNN factory\ndone")
    assert found.verdict == "benign"
    assert not found.diagnoses
    assert [(b.cause, b.line, b.why) for b in found.benign] == [("chatter", 1, "Message registered")]
    found = report(base, "E Unable to register cuDNN factory\nCould not create cudnn handle")
    assert [d.cause for d in found.diagnoses] == ["memory-held"]
    assert [b.signature for b in found.benign] == ["registered"]


def test_another_failure_is_named_by_its_line(base: Rules) -> None:
    log = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nKeyError: 3\n'
    found = report(base, log)
    assert found.verdict == "unrelated"
    assert not found.diagnoses
    assert found.failed[0].line == 4
    assert "KeyError: 3" in found.summary
    found = report(base, log + "saving what there is\nclosing the pool\n")
    assert found.failed[0].line == 4  # whatever is printed below it


STEPS = """
evidence:
  - {when: failure.explained == no and failure.vocabulary == no, strength: strong, why: w}
fixes:
  - {title: Look closer, safety: inspect, commands: [], verify: [v], why: w, source: s, read: 2026-11-20}
  - {title: Empty the disk, safety: destructive, when: seen(full), commands: [df], verify: [v], why: w, source: s, read: 2026-11-20}
"""


def test_a_failure_outside_the_field_gets_the_next_step_that_its_log_calls_for(base: Rules) -> None:
    base.cause("not-gpu", family="benign", more=STEPS)
    base.points("full", "No space left on device", "not-gpu")
    found = report(base, f"{FAILED}OSError: No space left on device")
    assert (found.verdict, found.diagnoses) == ("unrelated", ())
    assert [(step.title, step.commands) for step in found.next_steps] == [("Empty the disk", ("df",))]
    assert report(base, f"{FAILED}ValueError: x").next_steps == ()
    assert report(base, "all is well").next_steps == ()
    assert "Next step" in found.to_markdown()


def test_what_is_wrong_with_the_gpu_as_well_is_told_beside_another_failure(base: Rules) -> None:
    """A sure warning is not lost where something else ended the program; a doubtful one is not worth a line there."""
    base.cause("old-build")
    base.points(
        "no-code", "this build has no code for the card", "old-build", more="survived: true", strength="certain"
    )
    base.points("perhaps", "the card may be slow to answer", "memory-held", strength="possible")
    found = report(base, f"this build has no code for the card\nthe card may be slow to answer\n{FAILED}KeyError: 3")
    assert (found.verdict, found.diagnoses) == ("unrelated", ())
    assert [(a.cause, a.signature, a.line) for a in found.also] == [("old-build", "no-code", 1)]
    assert "old-build" in found.to_markdown()
    assert report(base, f"{FAILED}KeyError: 3").also == ()
    assert report(base, "all is well").also == ()


def test_what_a_rule_knows_of_a_failure_outside_the_field_is_told(base: Rules) -> None:
    base.points("full", "No space left on device", "not-gpu")
    found = report(base, f"{FAILED}OSError: No space left on device")
    assert [(f.text, f.why) for f in found.failed] == [("OSError: No space left on device", "Message full")]
    assert "Message full" in found.to_markdown()
    assert [f.why for f in report(base, f"{FAILED}ValueError: x").failed] == [""]


def test_a_traceback_that_breaks_off_before_its_error_is_told_as_that(base: Rules) -> None:
    found = report(base, FAILED)
    assert found.verdict == "unrelated"
    assert "breaks off at line 3, before its error" in found.summary
    assert [line.why for line in found.failed] == [
        "the traceback breaks off here, before its error; the lines that follow say what it was"
    ]
    assert "breaks off" not in report(base, f"{FAILED}ValueError: x").summary


def test_a_line_that_a_rule_knows_says_more_than_a_traceback_without_its_message(base: Rules) -> None:
    base.points("usage", "error: unrecognized arguments", "not-gpu")
    found = report(base, f"train.py: error: unrecognized arguments: --rank=0\n{FAILED}")
    assert found.verdict == "unrelated"
    assert found.summary == "No GPU cause found; line 1: Message usage"
    assert [f.line for f in found.failed] == [1, 4]


def test_a_warning_that_could_mean_several_things_is_not_told_of_a_run_that_ended_well(base: Rules) -> None:
    base.signature(
        "no-driver",
        "Could not find cuda drivers",
        more="points_to: [{cause: memory-held, strength: possible}, {cause: not-found, strength: possible}]\nsurvived: true",
    )
    base.file("weights.yaml", "temperature: 0.3\npossible: 1.7\n")
    warned = "I tensorflow/tsl/cudart_stub.cc:28] Could not find cuda drivers\n"
    assert report(base, warned + WENT_ON).verdict == "diagnosed"
    assert report(base, warned + WENT_ON + "Epoch 2/2 loss 0.4\n").diagnoses == ()


def test_an_error_of_the_field_that_no_rule_knows_is_listed(base: Rules) -> None:
    found = report(base, "step 1\nCUDA frobnication failed: error 17 in the frobnicator\nstep 2")
    assert found.verdict == "unexplained"
    assert [(u.line, u.text) for u in found.unexplained] == [
        (2, "CUDA frobnication failed: error 17 in the frobnicator")
    ]


@pytest.mark.parametrize("name", ["a.", "a-", "a1-"])
def test_a_long_name_takes_little_time(base: Rules, name: str) -> None:
    knowledge = base.knowledge()
    before = time.process_time()
    assert has_error_word("error " + name * 20000, knowledge)
    assert time.process_time() - before < 2


def test_settings_that_are_named_after_errors_are_no_errors(base: Rules) -> None:
    assert not report(base, "Collecting exceptiongroup\nCollecting cuda-error-helper==0.1\n" + "ok\n" * 9).unexplained
    settings = '  "remove_invalid_values": false,\n  "cuda_error_retries": 3,\n'
    assert report(base, f"config\n{settings}step 1\n").verdict == "unrelated"
    told = report(base, f"{settings}CUDA_ERROR_FROBNICATED from cuda_error_retries").unexplained
    assert [u.line for u in told] == [3]


def test_an_empty_log(base: Rules) -> None:
    assert report(base, " \n\n").verdict == "empty"
    assert report(base, "").verdict == "empty"


def test_catch_alls_are_silent_beside_a_specific_message(rules: Rules) -> None:
    rules.cause("specific")
    rules.cause("general")
    rules.points("wrapper", "RuntimeError: NCCL error in", "general", "likely", more="catch_all: true")
    rules.points("precise", "unhandled system failure number nine", "specific", "likely")
    assert [
        d.cause for d in report(rules, "RuntimeError: NCCL error in: unhandled system failure number nine").diagnoses
    ] == ["specific"]
    assert [d.cause for d in report(rules, "RuntimeError: NCCL error in: x").diagnoses] == ["general"]


def test_another_wording_means_what_the_signature_it_names_means(rules: Rules) -> None:
    rules.cause("gone")
    rules.points("english", "the gizmo cannot be opened at all", "gone", "strong")
    rules.signature("deutsch", "der Gizmo kann nicht geöffnet werden", more="points_as: english")
    assert [d.cause for d in report(rules, "der Gizmo kann nicht geöffnet werden").diagnoses] == ["gone"]


def test_tables_work_out_facts_and_never_override_the_log(rules: Rules) -> None:
    rules.facts(tf__version="version", cuda__build="version")
    rules.cause("old")
    rules.signature("tf", "tensorflow version {tf.version:version}")
    rules.signature("built", "built with CUDA {cuda.build:version}")
    rules.signature(
        "failed", "it failed for some reason", more="points_to: [{cause: old, strength: strong, when: cuda.build < 11}]"
    )
    rules.file(
        "compat/tf.yaml",
        "table: tf\ntitle: t\nkey: tf.version\nmatch: minor\ngives: {cuda: cuda.build}\nsource: s\nread: 2026-11-20\n"
        "rows: [{key: '1.15', cuda: '10.0'}, {key: '2.5', cuda: '11.2'}]\n",
    )
    assert report(rules, "tensorflow version 1.15.3\nit failed for some reason").diagnoses
    assert not report(rules, "tensorflow version 2.5.0\nit failed for some reason").diagnoses
    assert not report(rules, "tensorflow version 1.15.3\nbuilt with CUDA 11.8\nit failed for some reason").diagnoses


def test_one_input_gives_one_report_to_the_byte_from_any_thread(base: Rules) -> None:
    triager = base.triager()
    log = read(
        b"Loaded 7.1.2 but compiled with 7.6.0\nCould not create cudnn handle\nE Unable to register cuDNN factory", "x"
    )[0]
    with ThreadPoolExecutor(8) as pool:
        reports = set(pool.map(lambda _: triager.triage(log).to_json(), range(64)))
    assert len(reports) == 1


def test_unrelated_lines_never_change_the_first_diagnosis(base: Rules) -> None:
    text = "Loaded 7.1.2 but compiled with 7.6.0\nCould not create cudnn handle"
    filler = "\n".join(f"epoch {i} loss 0.{i} accuracy 0.9" for i in range(300))
    for changed in (filler + "\n" + text, text + "\n" + filler, filler + "\n" + text + "\n" + filler):
        assert report(base, changed).diagnoses[0].cause == "version-mismatch"


def test_json_equals_the_report(base: Rules) -> None:
    found = report(base, "Could not create cudnn handle")
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["schema_version"] == 1


FIXES = """
fixes:
  - title: Install the right one
    safety: reversible
    commands: ['pip install "cudnn=={cudnn.compiled}"', 'echo {cudnn.compiled.major}']
    verify: [check]
    why: w
    source: s
    read: 2026-11-20
  - title: Only for new cards
    safety: inspect
    when: gpu.cc >= 12.0
    commands: [ls]
    verify: [check]
    why: w
    source: s
    read: 2026-11-20
"""


def test_commands_are_completed_from_facts(rules: Rules) -> None:
    rules.facts(cudnn__compiled="version", gpu__cc="cc")
    rules.cause("c", more=FIXES)
    rules.points("m", "compiled with {cudnn.compiled:version} it does not run", "c")
    rules.signature("cc", "capability {gpu.cc:cc} found")
    fixes = report(rules, "compiled with 9.8.0 it does not run").diagnoses[0].fixes
    assert fixes[0].commands == ('pip install "cudnn==9.8.0"', "echo 9")
    assert [f.title for f in fixes] == ["Install the right one", "Only for new cards"]  # unknown keeps a fix
    fixes = report(rules, "capability 8.6 found\ncompiled with 9.8.0 it does not run").diagnoses[0].fixes
    assert [f.title for f in fixes] == ["Install the right one"]  # false drops it


def test_fixes_made_for_this_log_come_first(rules: Rules) -> None:
    rules.facts(platform__os="word", gpu__cc="cc")
    fix = "  - {{title: {0}, safety: inspect, when: '{1}', verify: [v], why: w, source: s, read: 2026-11-20}}\n"
    conditions = {
        "any": "not known(platform.os) or platform.os == linux",
        "unknown": "gpu.cc > 9",
        "seen": "seen(nouveau)",
        "not": "platform.os == windows",
        "linux": "platform.os == linux",
    }
    rules.cause("c", more="fixes:\n" + "".join(fix.format(name, when) for name, when in conditions.items()))
    rules.points("m", "it does not run at all", "c")
    rules.signature("nouveau", "another module holds the card", more="sets: {platform.os: linux}")
    log = "another module holds the card\nit does not run at all"
    assert [f.title for f in report(rules, log).diagnoses[0].fixes] == ["seen", "linux", "any", "unknown"]
    fixes = report(rules, "it does not run at all").diagnoses[0].fixes
    assert [f.title for f in fixes] == ["any", "unknown", "not", "linux"]


def test_a_fix_says_what_calls_for_it(rules: Rules) -> None:
    rules.facts(platform__os="word")
    fix = "  - {{title: {0}, safety: inspect, first: '{1}', verify: [v], why: w, source: s, read: 2026-11-20}}\n"
    rules.cause("c", more="fixes:\n" + fix.format("look", "") + fix.format("rebuild", "seen(nouveau)"))
    rules.points("m", "it does not run at all", "c")
    rules.signature("nouveau", "another module holds the card", more="sets: {platform.os: linux}")
    assert [f.title for f in report(rules, "it does not run at all").diagnoses[0].fixes] == ["look", "rebuild"]
    log = "another module holds the card\nit does not run at all"
    assert [f.title for f in report(rules, log).diagnoses[0].fixes] == ["rebuild", "look"]


def test_a_name_from_a_table_enters_a_command(rules: Rules) -> None:
    rules.facts(missing__library="soname", wheel="word")
    rules.file(
        "compat/wheels.yaml",
        "table: wheels\ntitle: t\nkey: missing.library\ngives: {wheel: wheel}\nsource: s\nread: 2026-11-20\n"
        "rows: [{key: libfrob.so.1, wheel: frob-cu12}]\n",
    )
    rules.cause("c", more=FIXES.replace("cudnn=={cudnn.compiled}", "{wheel}").replace("{cudnn.compiled.major}", "1"))
    rules.points("m", "cannot open the library {missing.library:soname}", "c")
    rules.signature("own", "the log says wheel {wheel:word} itself")
    fixes = report(rules, "cannot open the library libfrob.so.1").diagnoses[0].fixes
    assert fixes[0].commands[0] == 'pip install "frob-cu12"'
    fixes = report(rules, "the log says wheel evil itself\ncannot open the library libfrob.so.1").diagnoses[0].fixes
    assert fixes[0].commands[0] == 'pip install "{t}"'


def test_a_command_that_lacks_a_fact_says_which(rules: Rules) -> None:
    rules.facts(cudnn__compiled="version", gpu__cc="cc")
    rules.cause("c", more=FIXES)
    rules.points("m", "it does not run at all", "c")
    fix = report(rules, "it does not run at all").diagnoses[0].fixes[0]
    assert fix.commands[0] == 'pip install "cudnn=={t}"'
    assert fix.missing == ("t",)


def test_text_from_the_log_never_reaches_a_command(rules: Rules) -> None:
    rules.facts(some__path="path", some__version="version")
    rules.cause(
        "c",
        more=FIXES.replace("{cudnn.compiled}", "{some.path}")
        .replace("{cudnn.compiled.major}", "{some.version}")
        .replace("gpu.cc >= 12.0", "known(some.path)"),
    )
    rules.points("m", "cannot load {some.path:path} version {some.version:version}", "c")
    found = report(rules, "cannot load /x;rm${IFS}-rf version 1.2.3;reboot")
    commands = next(f.commands for f in found.diagnoses[0].fixes if f.title == "Install the right one")
    assert commands == ('pip install "cudnn=={t}"', "echo 1.2.3")


@pytest.mark.parametrize("log", [5, None, Path("error.log"), ["a", "b"]])
def test_what_is_no_log_is_a_type_error_that_says_what_to_do(log: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a log as str or bytes, got .*open\(name, 'rb'\)"):
        triage(log)


def test_one_log_is_not_many() -> None:
    with pytest.raises(TypeError, match="got one"):
        list(triage_all("CUDA error: out of memory"))


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"facts": ["gpu.cc"]}, TypeError, r"facts\[0\]: expected a cudnn_triage.Fact, got str"),
        (
            {"facts": [Fact("gpu.cc", "8.6", "lgo")]},
            ValueError,
            "gpu.cc has origin 'lgo'; facts= takes origin 'log' or",
        ),
        ({"readings": [Fact("gpu.cc", "8.6")]}, ValueError, "origin 'log'; readings= takes origin 'local'"),
        ({"facts": [Fact("gpu.ccc", "8.6")]}, ValueError, "no fact is called 'gpu.ccc'; nearest: gpu.cc"),
        ({"facts": [Fact("driver.version", "old")]}, ValueError, "driver.version is a version, which 'old' is not"),
        ({"facts": [Fact("gpu.cc", b"8.6")]}, ValueError, "gpu.cc is a cc, which b'8.6' is not"),  # type: ignore[arg-type]
    ],
)
def test_facts_that_are_none_are_refused(given: Any, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        triage("CUDA error: out of memory", **given)


@pytest.mark.parametrize("killed", ["Killed", "Matado", "已杀死"])
@pytest.mark.parametrize("below", ["", "\n\nstep 10/100\n", "\n$ ls\n"])
def test_what_stands_below_a_killed_process_changes_nothing(killed: str, below: str) -> None:
    assert triage(f"step 1 of 100\n{killed}{below}").diagnoses[0].cause == "host-out-of-memory"


def test_values_of_facts_may_be_given_as_text() -> None:
    log = "CUDA error: no kernel image is available for execution on the device"
    facts = [fact for fact in triage(log, facts=[Fact("gpu.cc", "sm_86")]).facts if fact.name == "gpu.cc"]
    assert [fact.value for fact in facts] == ["8.6"]


def test_a_triager_says_what_it_takes() -> None:
    with pytest.raises(TypeError, match="expected a Knowledge, got str"):
        triage("x", knowledge="/rules")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a Log, got str; of a text: cudnn_triage.triage\("):
        Triager().triage("CUDA error")  # type: ignore[arg-type]


def test_what_is_evidence_of_the_diagnosis_is_not_called_harmless(base: Rules) -> None:
    base.signature(
        "exceeds",
        "allocation exceeds free memory",
        more="points_to: [{cause: chatter, strength: likely}, {cause: memory-held, strength: likely}]",
    )
    found = report(base, "W allocation exceeds free memory\nE cuda_dnn.cc:1] Could not create cudnn handle")
    assert found.diagnoses[0].cause == "memory-held"
    assert not found.benign


def test_dead_ends_and_references_may_be_for_some_logs_only(rules: Rules) -> None:
    rules.facts(platform__os="word")
    rules.cause(
        "broken",
        more="dead_ends: [{tried: a, why: w}, {tried: b, why: w, when: platform.os == windows}]\n"
        "references: [{title: t, url: 'https://x.example', when: not platform.os == windows, read: 2026-11-20}]",
    )
    rules.points("crash", "the widget broke", "broken")
    here = Fact("platform.os", "windows")
    (on_windows,) = report(rules, "E x.cc:1] the widget broke", here).diagnoses
    (elsewhere,) = report(rules, "E x.cc:1] the widget broke").diagnoses
    assert [[d.tried for d in found.dead_ends] for found in (on_windows, elsewhere)] == [["a", "b"], ["a"]]
    assert [len(found.references) for found in (on_windows, elsewhere)] == [0, 0]
    linux = Fact("platform.os", "linux")
    assert len(report(rules, "E x.cc:1] the widget broke", linux).diagnoses[0].references) == 1


def test_a_failure_outside_the_field_that_a_rule_knows_is_told_in_its_words(base: Rules) -> None:
    base.cause("elsewhere", family="benign", severity="fatal")
    base.signature(
        "shop", "the shop is shut", more="points_to: [{cause: elsewhere, strength: likely, why: it is Sunday}]"
    )
    found = report(
        base, 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nOSError: the shop is shut'
    )
    assert found.summary == "No GPU cause found; line 3: it is Sunday"


RANKS = """[rank1]: Traceback (most recent call last):
[rank1]:   File "/w/train.py", line 41, in <module>
[rank1]:     check(shard)
[rank1]: {error}
[rank0]:[E502 10:30:12.123456789 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=33, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=33, OpType=ALLREDUCE, \
Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
"""


@pytest.mark.parametrize("error", ["KeyError: 'ce'", "mine.errors.Damaged: shard 17 has another checksum"])
def test_the_error_of_one_rank_is_the_root_and_the_wait_of_the_others_its_echo(error: str) -> None:
    found = triage(RANKS.format(error=error))
    assert found.verdict == "unrelated"
    assert error in found.summary


def test_a_failing_line_is_explained_by_the_root_of_which_it_is_a_symptom(base: Rules) -> None:
    base.points("dropped", "the shared handle was dropped", "version-mismatch", more="")
    base.signature(
        "shut", "the door is shut", more="points_to: [{cause: chatter, strength: weak}]\nsymptom_of: [dropped]"
    )
    log = (
        "the shared handle was dropped\n"
        + "one more step\n" * 9
        + 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nOSError: {}'
    )
    explained = {
        text: next(f.value for f in report(base, log.format(text)).facts if f.name == "failure.explained")
        for text in ("the door is shut", "the window is open")
    }
    assert explained == {"the door is shut": "yes", "the window is open": "no"}


def test_what_follows_from_a_message_on_its_own_line_is_no_further_error(base: Rules) -> None:
    base.points("dropped", "the shared handle was dropped", "version-mismatch")
    base.signature(
        "shut", "so it was shut", more="points_to: [{cause: chatter, strength: weak}]\nsymptom_of: [dropped]"
    )
    (item,) = report(base, "the shared handle was dropped so it was shut\nand so it was shut").diagnoses[0].evidence
    assert (item.line, item.echoes) == (1, (2,))
