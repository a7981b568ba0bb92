"""The site: a page for every cause, message and code with what explain says; links that lead somewhere; pasted messages found."""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Rules, script
from cudnn_triage import pages
from cudnn_triage.catalogue import architecture_name, architectures
from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.command import evaluate
from cudnn_triage.explain import find
from cudnn_triage.knowledge import rulebook
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.knowledge.rulebook import Rulebook

ROOT = Path(__file__).resolve().parents[1]
site_pages = script("site_pages")
paste_index = script("paste_index")
check_site = script("check_site")
LINK = re.compile(r"(?<!\\)\]\(<?([^)>\s]+)>?\)")
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)


@pytest.fixture(scope="module")
def shipped() -> Knowledge:
    return load()


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook.read([ROOT / "rules"])


@pytest.fixture(scope="module")
def files(shipped: Knowledge, book: Rulebook) -> dict[str, str]:
    return dict(site_pages.site(shipped, book))


def text_of(part: pages.Part) -> list[str]:
    """Everything a part says, text by text."""
    match part:
        case pages.Prose(_, text):
            return [text]
        case pages.Verbatim(_, lines):
            return [line for text in lines for line in text.splitlines()]
        case pages.Remedy():
            return [part.title, part.applies, *part.commands, *part.checks]
        case pages.Warnings(_, entries):
            return [text for dead in entries for text in (dead.tried, dead.why)]
        case pages.Edges(_, edges):
            return [text for edge in edges for text in (edge.strength, edge.id, edge.title, edge.condition, edge.why)]
        case pages.Names(_, ids):
            return list(ids)
        case pages.References(_, references):
            return [text for r in references for text in (r.title, r.url, r.read)]


def test_there_is_a_page_for_every_cause_message_and_code(
    shipped: Knowledge, book: Rulebook, files: dict[str, str]
) -> None:
    for name in shipped.causes:
        assert f"causes/{name}.md" in files
    for name in book.signatures:
        assert any(path.startswith("messages/") for path in files if path.endswith(f"/{name}.md")), name
    for library, codes in book.codes.items():
        for code in codes.codes:
            assert f"codes/{library}/{site_pages.slug(code.name)}.md" in files
    assert len(files) == len({path.lower() for path in files})  # also where case does not count


def test_a_page_says_all_that_explain_says(shipped: Knowledge, files: dict[str, str]) -> None:
    things = [(f"causes/{name}.md", pages.cause_page(name, shipped)) for name in shipped.causes]
    for rule in shipped.rules:
        if pages.has_page(rule) and rule["code"]:
            page = pages.rule_page(rule, shipped)
            things.append((f"codes/{rule['library']}/{site_pages.slug(rule['id'])}.md", page))
    for place, name in (("libraries/libcudnn-so-8.md", "libcudnn.so.8"), ("products/nccl.md", "nccl")):
        things.append((place, find(name, shipped)[0][1]))
    things += [
        (f"architectures/{name}.md", find(name, shipped)[0][1])
        for name in map(architecture_name, architectures(shipped))
    ]
    for path, page in things:
        shown = files[path]
        for text in (text for part in page.parts for text in text_of(part)):
            assert text in shown or site_pages.escaped(text) in shown, f"{path}: {text}"


def test_every_link_between_pages_leads_to_one(files: dict[str, str]) -> None:
    known = {*files, *(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))}
    count = 0
    for path, text in files.items():
        if path.endswith(".md"):
            for link in LINK.findall(FENCED.sub("", text)):
                if "://" not in link:
                    count += 1
                    assert posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) in known, f"{path}: {link}"
    assert count > 5000


def test_references_and_sources_stand_with_the_day_they_were_read(files: dict[str, str]) -> None:
    page = files["causes/cudnn-not-found.md"]
    assert re.search(r"## References\n\n- \[.+\]\(<https://.+>\), read 20\d\d-\d\d-\d\d", page)
    assert re.search(r"^Source: .+, read 20\d\d-\d\d-\d\d$", page, re.M)


def test_a_message_is_shown_as_it_is_whatever_stands_in_it(rules: Rules) -> None:
    rules.facts()
    rules.cause("no-cheese", more="tells_apart: 'a <b>bold</b> [link](x) *star* `tick` | pipe # head_line_'")
    rules.points("odd", "cheese ``` </script> {{x}} <b>", "no-cheese")
    rules.file(
        "codes/frob.yaml",
        "library: frob\ntitle: codes\nsource: tests\nread: 2026-11-20\ncodes:\n"
        "  - {name: FROB_A, number: '1', meaning: 'Bad | worse <i>.', points_to: [{cause: no-cheese, strength: weak}]}\n",
    )
    found = dict(site_pages.site(rules.knowledge(), rulebook.read([rules.folder])))
    assert (
        r"a &lt;b&gt;bold&lt;/b&gt; \[link\](x) \*star\* \`tick\` \| pipe \# head\_line\_"
        in found["causes/no-cheese.md"]
    )
    assert "````text\ncheese ``` </script> {x} <b>\n````" in found["messages/test/odd.md"]
    assert r"| 1 | [`FROB_A`](../../codes/frob/frob_a.md) | Bad \| worse &lt;i&gt;. |" in found["codes/frob/index.md"]


@given(st.text(max_size=80))
def test_escaped_text_renders_as_it_is(text: str) -> None:
    markdown = pytest.importorskip("markdown")
    plain = " ".join(text.split())
    if not re.fullmatch(r"[\x20-\x7e]+", plain) or plain.startswith(("=", "&")):
        return
    shown = re.sub(r"<[^>]+>", "", markdown.markdown(site_pages.escaped(plain), extensions=["tables"]))
    assert html.unescape(shown).replace("\u200b", "") == plain


# ---- pasted messages


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?im)\\ba\\s*b", ("\\ba\x01b", "im")),
        ("(?im)(?is)x(?P<cuda__build>\\d)", ("x(?<cuda__build>\\d)", "ims")),
    ],
)
def test_patterns_become_javascript(pattern: str, expected: tuple[str, str]) -> None:
    assert paste_index.javascript(pattern) == expected


def look(index: str, texts: list[str], tmp_path: Path) -> list[dict[str, list[str]]]:
    """What the page finds in each text: ids of messages, and causes likeliest first."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here to run the page's JavaScript")
    (tmp_path / "index.json").write_text(index, encoding="utf-8")
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    program = f"""
      const {{ look }} = require({json.dumps(str(ROOT / "docs" / "assets" / "paste.js"))});
      const read = (name) => JSON.parse(require("fs").readFileSync(name));
      const index = read("index.json");
      const found = read("texts.json").map((text) => look(index, text));
      console.log(JSON.stringify(found.map((f) => ({{
        hits: f.hits.map((h) => h.rule.id), echoes: f.hits.filter((h) => h.echo).map((h) => h.rule.id),
        causes: f.causes.map((c) => c.cause) }}))));
    """
    done = subprocess.run([node, "-e", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    answer: list[dict[str, list[str]]] = json.loads(done.stdout)
    return answer


def test_the_page_finds_the_examples_of_the_rules_and_not_their_near_misses(
    shipped: Knowledge, book: Rulebook, files: dict[str, str], tmp_path: Path
) -> None:
    asked = [r["id"] for r in shipped.rules if not r["code"] and r["points_to"] and r["inside"] != "source"]
    right = [(name, text) for name in asked for text in book.signatures[name].examples]
    wrong = [(name, text) for name in asked for text in book.signatures[name].near_misses]
    found = look(files["paste-index.json"], [text for _, text in right + wrong], tmp_path)
    hits = [name in f["hits"] for (name, _), f in zip(right + wrong, found, strict=True)]
    assert sum(hits[: len(right)]) >= 0.98 * len(right)
    assert sum(hits[len(right) :]) <= 0.01 * len(wrong)


def test_the_page_weighs_codes_echoes_and_harmless_lines(files: dict[str, str], tmp_path: Path) -> None:
    texts = [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:3b:00): 45, pid=1",
        "Loaded runtime CuDNN\n   library: 7.1.2 but source was compiled with: 7.6.0.",
        "all is well",
        "RuntimeError: CUDA error: device-side assert triggered\nRuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED",
    ]
    lost, cudnn, nothing, assertion = look(files["paste-index.json"], texts, tmp_path)
    assert lost["causes"][0] == "gpu-lost"
    assert "Xid 45" in lost["echoes"]
    assert cudnn["causes"][0] == "cudnn-version-mismatch"  # wrapped as terminals do
    assert nothing == {"hits": [], "echoes": [], "causes": []}
    assert assertion["causes"][0] == "device-side-assert"


# ---- the checker of links


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<a href="gone/">x</a>', "gone/: no such page"),
        ('<a href="other/#nowhere">x</a>', "other/#nowhere: no such anchor"),
        ('<a href="#here">x</a>', "#here: no such anchor"),
        ('<script src="https://cdn.example/x.js"></script>', "loaded from another host"),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', "loaded from another host"),
        ('<img src="no.svg">', "no.svg: no such page"),
        ('<a href="../../outside.html">x</a>', "no such page"),
    ],
)
def test_what_is_wrong_with_a_site_is_named(tmp_path: Path, body: str, told: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<h1 id="there">x</h1>', encoding="utf-8")
    good = '<a href="other/#there">x</a><a href="https://elsewhere.example/">y</a><a id="me" href="#me">z</a>'
    (tmp_path / "index.html").write_text(good, encoding="utf-8")
    assert check_site.check(tmp_path) == []
    (tmp_path / "index.html").write_text(good + body, encoding="utf-8")
    (problem,) = check_site.check(tmp_path)
    assert told in problem


# ---- the plots


def test_the_plots_are_drawn_from_the_committed_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    draw = script("draw_plots")
    figures = ROOT / "docs" / "plots" / "figures.json"
    monkeypatch.setattr("sys.argv", ["draw_plots", str(figures), str(tmp_path)])
    assert draw.main() == 0
    wanted = {f"{name}{variant}.svg" for name in draw.PLOTS for variant in ("", "-dark")}
    assert {path.name for path in tmp_path.iterdir()} == wanted
    plain = json.loads(figures.read_text(encoding="utf-8"))["rows"]["cross-validated"]
    assert f"ECE {plain['ece']:.3f}" in (tmp_path / "reliability.svg").read_text(encoding="utf-8")
    for name in wanted:
        assert (ROOT / "docs" / "plots" / name).exists()


def test_the_committed_figures_are_of_the_form_that_the_evaluation_writes(rules: Rules, tmp_path: Path) -> None:
    rules.facts()
    rules.cause("no-cheese")
    rules.cause("not-gpu-related", family="benign")
    rules.points("empty", "the cuda frob is out of cheese", "no-cheese")
    logs = tmp_path / "logs"
    logs.mkdir()
    for i in range(6):
        (logs / f"{i}.yaml").write_text("gold: [no-cheese]\nlog: the cuda frob is out of cheese\n", encoding="utf-8")
    record: dict[str, object] = {"date": "2026-11-20"}
    triager = Triager(rules.knowledge())
    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        evaluate([logs], triager, out, perturb=True, baseline=False, details=False, record=record)
    committed = json.loads((ROOT / "docs" / "plots" / "figures.json").read_text(encoding="utf-8"))
    assert committed.keys() == record.keys()
    written = json.loads(json.dumps(record))
    assert committed["perturbed"].keys() == written["perturbed"].keys()
    assert committed["rows"]["cross-validated"].keys() == written["rows"]["cross-validated"].keys()
    assert committed["said"][0].keys() == written["said"][0].keys()
