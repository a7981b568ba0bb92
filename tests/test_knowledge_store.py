"""The compiled knowledge base as a file: what is decoded when, and the cache that keeps it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Rules
from cudnn_triage.knowledge import indexes
from cudnn_triage.knowledge.base import Knowledge, compile_folders, load
from cudnn_triage.knowledge.cache import compiled, folder
from cudnn_triage.knowledge.indexes import Anchors, anchor_sections
from cudnn_triage.knowledge.packing import _file
from cudnn_triage.knowledge.store import Names, Store, name_sections

ROOT = Path(__file__).resolve().parents[1]
TEXT = (
    st.text(alphabet="abcü_ ", min_size=3, max_size=12)
    .map(lambda text: "".join(text.split()))
    .filter(lambda t: len(t) > 2)
)


@given(
    literals=st.lists(TEXT, min_size=1, max_size=12),
    text=st.lists(TEXT, max_size=20).map("".join),
    piece=st.integers(1, 40),
)
def test_the_index_finds_every_literal_and_nothing_else(literals: list[str], text: str, piece: int) -> None:
    anchors = Anchors(Store(_file("digest", anchor_sections(literals))))
    raw = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "_PIECE", piece)  # a long text is looked through in pieces
        found = anchors.find(raw)
    assert all(anchors.literal(anchor) == literal for anchor, literal in found)
    assert sorted(literal for _, literal in found) == sorted({t.encode() for t in literals if t.encode() in raw})


@given(st.lists(st.text(max_size=8), unique=True), st.text(max_size=8))
def test_a_name_is_found_where_it_lies(names: list[str], other: str) -> None:
    found = Names(Store(_file("digest", name_sections("names", names))), "names")
    assert [*found] == names
    assert [found[name] for name in names] == [*range(len(names))]
    assert (other in found) == (other in names)


def test_every_template_is_found_by_its_literal() -> None:
    knowledge = load()
    for number in range(0, sum(len(rule["templates"]) for rule in knowledge.rules), 37):
        rule, template = knowledge.rules.template(number)
        literal = template["anchor"].encode()
        assert (rule["inside"] != "unexplained") == any(
            number in knowledge.anchors.templates(anchor) for anchor, _ in knowledge.anchors.find(literal)
        )


def test_a_store_gives_back_what_was_packed(rules: Rules) -> None:
    rules.cause("sick")
    rules.points("sneeze", "the gpu has sneezed {gpu.sneezes:int} times", "sick")
    rules.facts(gpu__sneezes="int")
    data = compile_folders([rules.folder])
    knowledge = Knowledge(data)
    (rule,) = knowledge.rules
    assert rule["points_to"] == data["rules"][0]["points_to"]
    assert rule["templates"][0]["re"] == data["rules"][0]["templates"][0]["re"]
    cause, packed = data["causes"]["sick"], knowledge.causes["sick"]
    assert {**packed, "fixes": [{key: fix[key] for key in cause["fixes"][0]} for fix in packed["fixes"]]} == cause
    assert dict(knowledge.facts) == data["facts"]
    assert Knowledge(knowledge.packed).digest == data["digest"]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b"x" + b, lambda _: b""])
def test_a_damaged_file_is_refused(rules: Rules, damage: object) -> None:
    rules.cause("sick")
    rules.facts()
    packed = bytes(rules.knowledge().packed)
    with pytest.raises(ValueError):  # noqa: PT011 - JSON's and ours alike
        Store(damage(packed))  # type: ignore[operator]


def keep(rules: Rules, extra: Path | None = None) -> Knowledge:
    return Knowledge(compiled(rules.folder, [str(extra)] if extra else [], compile_folders, ""))


def test_the_cache_follows_the_contents(rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rules.cause("sick")
    rules.points("sneeze", "the gpu has sneezed again", "sick")
    rules.facts()
    assert [rule["title"] for rule in keep(rules).rules] == ["Message sneeze"]
    monkeypatch.setattr("cudnn_triage.knowledge.packing.pack", None)  # a second run does not compile
    assert [rule["title"] for rule in keep(rules).rules] == ["Message sneeze"]
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = rules.folder / "signatures/test/sneeze.yaml"
    stamp = file.stat()
    file.write_text(file.read_text(encoding="utf-8").replace("Message sneeze", "Message SNEEZE"), encoding="utf-8")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [rule["title"] for rule in keep(rules).rules] == ["Message SNEEZE"]


def test_the_cache_follows_what_the_grammar_has_looked_for(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("cudnn_triage.knowledge.cache._PACKAGE", tmp_path)
    rules.cause("sick")
    rules.facts()
    (tmp_path / "grammar").mkdir()
    for number, signs in enumerate(("one", "another"), 1):
        (tmp_path / "grammar" / "failures.py").write_text(signs, encoding="utf-8")
        keep(rules)
        where = folder()
        assert where
        assert len(list(where.glob("*.bin"))) == number


def test_a_cut_file_in_the_cache_is_made_again(rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rules.cause("sick")
    rules.facts()
    keep(rules)
    where = folder()
    assert where
    (file,) = where.glob("*.bin")
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    assert set(keep(rules).causes) == {"sick"}
    assert file.read_bytes() == whole


def test_without_a_place_for_the_cache_rules_are_compiled_each_time(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    rules.cause("sick")
    rules.facts()
    assert set(keep(rules).causes) == {"sick"}


def test_many_writers_at_once(rules: Rules, tmp_path: Path) -> None:
    rules.cause("sick")
    rules.facts()
    script = (
        "import sys; from pathlib import Path; from cudnn_triage.knowledge.base import Knowledge, compile_folders\n"
        "from cudnn_triage.knowledge.cache import compiled\n"
        "print(*Knowledge(compiled(Path(sys.argv[1]), [], compile_folders, '')).causes)"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT / "src")}

    def once(_: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", script, str(rules.folder)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(once, range(6))) == {"sick"}
    assert [file.suffix for file in (tmp_path / "cache" / "cudnn-triage").iterdir()] == [".bin"]


def test_a_home_that_cannot_be_written_only_costs_time(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules.cause("sick")
    rules.facts()
    home = tmp_path / "home"
    home.write_text("a file, in which no folder can be made")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert keep(rules).digest == keep(rules).digest
    assert home.is_file()


def test_one_folder_of_rules_is_not_read_letter_by_letter(tmp_path: Path) -> None:
    for folder_ in (str(tmp_path), tmp_path):
        with pytest.raises(TypeError, match="expected a tuple of folders"):
            load(folder_)  # type: ignore[arg-type]


def test_a_disk_that_is_full_costs_the_cache_and_leaves_nothing_behind(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("cudnn_triage.knowledge.cache.os.replace", refuse)
    rules.cause("sick")
    rules.facts()
    assert set(keep(rules).causes) == {"sick"}
    where = folder()
    assert where
    assert list(where.iterdir()) == []
