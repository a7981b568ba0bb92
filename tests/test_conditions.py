"""Conditions on facts: three values, comparison by value, several values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudnn_triage.conditions import holds
from cudnn_triage.facts import Fact, Facts
from cudnn_triage.knowledge.base import load
from cudnn_triage.knowledge.condition_language import ConditionError, Tree, gate, names, parse
from cudnn_triage.values import read

FACTS = Facts(
    [
        Fact("cudnn.loaded", read("version", "8.0.5")),
        Fact("cudnn.compiled", read("version", "8.1.0")),
        Fact("gpu.cc", read("cc", "sm_120")),
        Fact("memory.total", read("size", "8.00 GiB")),
        Fact("memory.free", read("size", "25 MiB")),
        Fact("memory.reserved", read("size", "3 GiB")),
        Fact("platform.os", "windows"),
        Fact("opened.library", read("soname", "libcudart.so.11.0")),
        Fact("opened.library", read("soname", "/usr/lib/libcublas.so.11")),
        Fact("missing.library", read("soname", "cudnn_ops64_9.dll")),
    ]
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("cudnn.loaded < cudnn.compiled", True),
        ("never", False),
        ("gpu.cc >= 12.0 and not never", True),
        ("cudnn.loaded.major == cudnn.compiled.major", True),
        ("cudnn.loaded.minor == '8.0'", True),
        ("cudnn.loaded >= 8.1", False),
        ("cudnn.loaded == 8", True),  # a bare major version neither contradicts nor exceeds
        ("gpu.cc >= 12.0", True),
        ("gpu.cc < 9.0", False),
        ("driver.version < 450", None),
        ("not driver.version < 450", None),
        ("driver.version < 450 or gpu.cc >= 12.0", True),
        ("driver.version < 450 and gpu.cc < 12.0", False),
        ("driver.version < 450 and gpu.cc >= 12.0", None),
        ("memory.total - memory.reserved - memory.free > 1GiB", True),
        ("memory.total * 2 < 1GiB", False),
        ("platform.os == Windows", True),
        ("platform.os in [linux, macos]", False),
        ("platform.os is windows", True),
        ("not platform.os is [linux, macos]", True),
        ("gpu.cc is 8.6", False),
        ("driver.version is 450", False),  # unlike ==, of which nothing is known here
        ("not driver.version is 450 and gpu.cc is [9.0, 12.0]", True),
        ("known(driver.version)", False),
        ("several(opened.library)", True),
        ("several(cudnn.loaded)", False),
        ("several(driver.version)", None),
        ("opened.library.stem == cublas", True),
        ("opened.library ~ 'libcudart.so.11'", True),
        ("missing.library.stem in [cudnn, cudnn_ops]", True),
        ("missing.library.version == 9", True),
        ("seen(a-message)", True),
        ("not seen(another)", True),
        ("(seen(another) or known(gpu.cc)) and not known(driver.version)", True),
    ],
)
def test_a_condition_is_true_false_or_unknown(condition: str, expected: bool | None) -> None:
    assert holds(parse(condition), FACTS, {"a-message"}.__contains__) is expected


def test_division_by_zero_is_unknown_not_an_error() -> None:
    facts = Facts([Fact("memory.free", 0), Fact("memory.total", 5)])
    assert holds(parse("memory.total / memory.free > 1"), facts, lambda _: False) is None


@pytest.mark.parametrize(
    "text", ["cudnn.loaded <", "known()", "a.b == 1 and", "a.b ==== 2", "a.b is not c", "2 is 2", "", "seen(x) y"]
)
def test_a_condition_that_cannot_be_read_says_where(text: str) -> None:
    with pytest.raises(ConditionError, match="column"):
        parse(text)


def test_the_linter_sees_which_facts_and_ids_a_condition_asks_for() -> None:
    assert names(parse("a.b < c.d and not seen(x-y) or several(e.f) or g.h in [one, two]")) == (
        {"a.b", "c.d", "e.f", "g.h"},
        {"x-y"},
    )


def test_inner_scopes_come_first() -> None:
    outer = Facts([Fact("missing.library", "a"), Fact("x.y", "1")])
    inner = Facts([Fact("missing.library", "b")], outer)
    assert inner.values("missing.library") == ["b"]
    assert inner.values("x.y") == ["1"]


def test_a_condition_that_waits_for_facts_does_not_hold_without_them() -> None:
    waiting = [item for _, item in load().evidence if item["needs_any"] is not None]
    assert len(waiting) > 20
    assert not [item["text"] for item in waiting if holds(item["when"], Facts(), lambda _: False)]


def test_the_conditions_that_a_log_can_fulfil_are_those_that_wait_for_nothing_or_for_what_is_there() -> None:
    knowledge = load()
    asked = knowledge.evidence_of({"driver.version", "gpu.name"})
    assert asked == [
        (cause, item)
        for cause, item in knowledge.evidence
        if item["needs_any"] is None or {"driver.version", "gpu.name"} & {*item["needs_any"]}
    ]
    assert 0 < len(asked) < len(knowledge.evidence)


def test_a_fix_that_denies_nothing_is_called_for_by_a_log_only() -> None:
    fixes = [fix for cause in load().causes.values() for fix in cause["fixes"] if fix["when"]]
    assert any(fix["denies"] for fix in fixes)
    assert not any(holds(fix["when"], Facts(), lambda _: False) for fix in fixes if not fix["denies"])


_ASKED = st.one_of(
    st.builds(lambda name: ["seen", name], st.sampled_from("pqr")),
    st.builds(lambda fact: ["known", fact], st.sampled_from(["a.b", "c.d"])),
    st.builds(
        lambda fact, word: ["==", ["fact", fact], ["literal", word]],
        st.sampled_from(["a.b", "c.d"]),
        st.sampled_from("xy"),
    ),
    st.builds(
        lambda fact, words: ["in", ["fact", fact], words],
        st.sampled_from(["a.b", "c.d"]),
        st.lists(st.sampled_from("xy"), min_size=1),
    ),
)
_TREES = st.recursive(
    _ASKED,
    lambda parts: st.one_of(
        st.builds(lambda kind, some: [kind, *some], st.sampled_from(["and", "or"]), st.lists(parts, max_size=4)),
        st.builds(lambda part: ["not", part], parts),
    ),
    max_leaves=12,
)


@given(
    _TREES, st.sets(st.sampled_from("pqr")), st.dictionaries(st.sampled_from(["a.b", "c.d"]), st.sampled_from("xyz"))
)
def test_a_fix_whose_gate_is_shut_does_not_apply(tree: Tree, met: set[str], said: dict[str, str]) -> None:
    facts = Facts(Fact(name, value) for name, value in said.items())
    shut = gate(tree)
    if shut is not None and holds(shut, facts, met.__contains__) is False:
        assert holds(tree, facts, met.__contains__) is False


def test_most_fixes_for_one_message_are_left_shut() -> None:
    fixes = [fix for cause in load().causes.values() for fix in cause["fixes"]]
    opened = [fix for fix in fixes if fix["gate"] is None or holds(fix["gate"], Facts(), lambda _: False) is not False]
    assert 0 < len(opened) < len(fixes) / 4
