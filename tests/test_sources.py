"""What a program's sources can print: the messages taken out of them, and whether the rules know them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "scripts"))

from cudnn_triage.engine import shared
from measure_sources import braced_messages, compiled_messages, messages, python_messages, standing


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('raise RuntimeError("no " "GPU")', "RuntimeError: no GPU"),
        ('raise errors.CudaError(f"GPU {n} of {len(all)} is gone")', "CudaError: GPU 1 of 1 is gone"),
        ('raise ValueError("device %d of %s" % (a, b))', "ValueError: device 1 of 1"),
        ('raise ValueError("device {} of {name!r}".format(a, name=b))', "ValueError: device 1 of 1"),
        ('raise OSError("no " + name + " here")', "OSError: no 1 here"),
        ('assert n > 0, "no CUDA device"', "AssertionError: no CUDA device"),
        ('logger.warning("cuDNN %s is old", v)', "WARNING: cuDNN 1 is old"),
        ('sys.exit("no nvcc")', "EXIT: no nvcc"),
    ],
)
def test_python_prints(source: str, message: str) -> None:
    assert [said for _, said in python_messages(f"\n{source}\n")] == [message]
    assert [line for line, _ in python_messages(f"\n{source}\n")] == [2]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('TORCH_CHECK(x.is_cuda(), "x must be on ", name, " memory");', "Error: x must be on 1 memory"),
        ('LOG(ERROR) << "failed to load " << path\n  << ": " << why;', "Error: failed to load 1:"),
        ('throw std::runtime_error("CUDA error "\n    "in kernel");', "Error: CUDA error in kernel"),
        ('fprintf(stderr, "GPU %d: \\"%s\\"\\n", id, name);', 'Error: GPU 1: "1"'),
        ('return fmt.Errorf("unable to open %v: %w", path, err)', "Error: unable to open 1: 1"),
        ('bail!("no device {}", n);', "Error: no device 1"),
        ("console.error(`no GPU ${name}`)", "Error: no GPU 1"),
        ('ucs_warn("no CUDA device %d", n);', "Error: no CUDA device 1"),
        ('av_log(avctx, AV_LOG_ERROR, "Cannot load %s\\n", name);', "Error: Cannot load 1"),
        ('message(FATAL_ERROR "CUDA not found")', "Error: CUDA not found"),
    ],
)
def test_languages_with_braces_print(source: str, message: str) -> None:
    assert [said for _, said in braced_messages(f"// \n{source}\n")] == [message]
    assert [line for line, _ in braced_messages(f"// \n{source}\n")] == [2]


def test_what_is_no_message_is_left_out() -> None:
    assert not list(python_messages('x = "no GPU found"\nraise\nraise ValueError(reason)\n'.replace("(reason)", "")))
    assert not list(
        braced_messages('const char* name = "no GPU found";\n// throw Error("old")\n'.replace('"old"', "old"))
    )
    assert not list(compiled_messages(b"\0_ZN4cudaE\0CUDNN_STATUS\0\1no end of a failed text here"))


def test_a_compiled_file_prints_its_texts() -> None:
    assert list(compiled_messages(b"\0\0CUDA driver %s is too old\0x")) == [(2, "Error: CUDA driver 1 is too old")]


def test_a_tree_is_read_and_what_cannot_be_parsed_left_out(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text('raise ValueError("a test")')
    (tmp_path / "bad.py").write_text("print 'no CUDA'")
    (tmp_path / "a.py").write_text('raise ValueError("no CUDA")')
    (tmp_path / "b.cu").write_bytes(b'throw Error("\xff no GPU");')
    assert [place for place, _ in messages(tmp_path)] == ["a.py:1", "b.cu:1"]


@pytest.mark.parametrize(
    ("message", "how"),
    [
        ("RuntimeError: CUDA out of memory. Tried to allocate 1 GiB", "known"),
        ("WARNING: TF-TRT Warning: Could not find TensorRT", "harmless"),
        ("Error: the turbo encabulator of the GPU failed to synchronise its side fumbling", "unknown"),
    ],
)
def test_how_a_message_is_understood(message: str, how: str) -> None:
    assert standing(message, shared()) == how
