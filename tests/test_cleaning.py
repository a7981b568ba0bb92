"""Clean lines: what is taken off, what stays, and that every character still knows its raw place."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_triage.cleaning import clean
from cudnn_triage.lines import Line
from cudnn_triage.reading import Log, cut_log, read_text

ERROR = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
TRACEBACK = f"""\
Traceback (most recent call last):
  File "/home/u/train.py", line 172, in <module>
    main()
  File "/opt/conda/lib/python3.10/site-packages/torch/nn/modules/conv.py", line 456, in _conv_forward
    return F.conv2d(input, weight, bias, self.stride,
{ERROR}"""
ABSL = (
    "2023-04-02 16:00:19.964652: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:429] "
    "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED"
)


def log_of(text: str | bytes) -> Log:
    return cut_log("<stdin>", text.encode() if isinstance(text, str) else text)


def lines_of(text: str | bytes) -> list[Line]:
    return clean(log_of(text))


def shown(text: str | bytes) -> list[str]:
    return [line.text for line in lines_of(text)]


def check_places(log: Log, lines: list[Line]) -> None:
    """Every line and character points into the raw log, in order; what is copied is found there again."""
    raw_lines = log.raw[log.bom :].decode(log.encoding, "replace").split("\n")
    last = (0, 0)
    for line in lines:
        line.text.encode()
        assert 0 <= line.start <= line.end <= len(log.raw)
        assert (line.number, line.start) >= last
        last = (line.number, line.start)
        for index, char in enumerate(line.text):
            number, column = line.place(index)
            assert 1 <= number <= len(raw_lines)
            assert column >= 1
            byte = line.byte(index)
            assert line.start <= byte <= line.end
            if char.isascii() and char.isalnum() and not log.pieces and "&" not in log.text:
                assert raw_lines[number - 1][column - 1] == char
                assert log.raw[byte:].startswith(char.encode(log.encoding))


# --- terminal control


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("\x1b[1;31mRuntime\x1b[0mError: x\x1b[K", ["RuntimeError: x"]),
        ("\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["text link"]),
        ("\x1b_bk;t=1700000000000\x07$ make", ["$ make"]),
        ("^[[31mred^[[0m", ["red"]),
        (r"\x1b[31mred\x1b[0m \u001b[1mbold\033[0m", ["red bold"]),
        ("[31mred[0m and [1;33mnext[39m", ["red and next"]),
        ("a list[0m] stays", ["a list[0m] stays"]),
        ("unterminated \x1b]0;title and text", ["unterminated 0;title and text"]),
        ("col\x1b[3Cumn", ["col umn"]),
        ("N\x08NA\x08AM\x08ME\x08E", ["NAME"]),
        ("1/10\x08\x08\x08\x08\x08\x082/10 done", ["1/10", "2/10 done"]),
        ("zero\u200bwidth\ufeff and\xa0hard\x00 space", ["zerowidth and hard space"]),
        ("windows\r\nline\r\n", ["windows", "line"]),
    ],
)
def test_terminal_control_goes(raw: str, expected: list[str]) -> None:
    assert shown(raw) == expected


def test_an_error_behind_a_progress_bar_begins_its_own_line() -> None:
    bar = " 25%|██▍       | 1818/7272 [8:23:36<24:27:04, 16.14s/it]"
    lines = lines_of(f'{bar}[rank3]: Traceback (most recent call last):\n[rank3]:   File "x.py", line 1, in f\n')
    assert [(line.text, line.rank) for line in lines] == [
        (bar, ""),
        ("Traceback (most recent call last):", "3"),
        ('  File "x.py", line 1, in f', "3"),
    ]
    assert lines[1].place(0) == (1, len(bar) + len("[rank3]: ") + 1)


@pytest.mark.parametrize("between", ["\r", ""])
def test_progress_bars_collapse_to_the_last(between: str) -> None:
    steps = [
        f"Loading shards: {step:3}%|{'█' * (step // 10):10}| {step}/100 [00:0{step // 20}<00:09, 10.5it/s]"
        for step in range(0, 101, 5)
    ]
    assert shown(f"{between.join(steps)}\n{ERROR}") == [steps[-1], ERROR]
    assert shown(f"{between.join(steps[:7])}{between or ' '}{ERROR}\n") == [steps[6], ERROR if between else f" {ERROR}"]


def test_what_is_printed_between_bars_is_kept() -> None:
    bar = " 25%|██▍  | {}/7272 [8:23:03<24:17:40, 16.03s/it]"
    assert shown(bar.format(1816) + bar.format(1817) + "     {'loss': 2.3578}\n") == [
        bar.format(1817),
        "     {'loss': 2.3578}",
    ]


def test_of_very_many_blank_lines_the_first_are_kept() -> None:
    raw = "a\n" + "\n" * 20 + "b\n" + " \r\n" * 5000 + f"{ERROR}\n" + "\n" * 5000
    log = log_of(raw)
    lines = clean(log)
    check_places(log, lines)
    assert len(lines) < 500
    assert [(line.text, line.number) for line in lines if line.text.strip()] == [("a", 1), ("b", 22), (ERROR, 5023)]


# --- prefixes


@pytest.mark.parametrize(
    ("prefix", "rank", "level"),
    [
        ("2026-11-20T11:10:14.4229280Z ", "", ""),
        ("test (3.10)\tRun tests\t2026-11-20T11:10:14.4229280Z ", "", ""),
        ("##[error]", "", "E"),
        ("2026-11-20T11:10:14.4229280Z ##[error]", "", "E"),
        ("::error file=a.py,line=1::", "", "E"),
        ("2024-05-22T12:31:38.317443Z 01E ", "", ""),
        ("[2024-05-22T12:31:38.317Z] ", "", ""),
        ("2024-05-22T12:31:38.317443123Z stderr F ", "", ""),
        ("#12 143.4 ", "", ""),
        ("trainer-1  | ", "trainer-1", ""),
        ("\x1b[36mtrainer-1  |\x1b[0m ", "trainer-1", ""),
        ("[pod/train-abc12/main] ", "train-abc12/main", ""),
        ("Aug 26 13:52:31 wks01 kernel: ", "", ""),
        ("Nov  2 03:52:31 node-7 python[123]: ", "", ""),
        ("<6>[    3.089482] ", "", ""),
        ("[ 1798.117302] ", "", ""),
        ("[Tue Aug 26 13:52:31 2025] ", "", ""),
        ("[rank0]: ", "0", ""),
        ("[default12]:", "12", ""),
        ("[rank: 1] ", "1", ""),
        ("[1,3]<stderr>:", "3", ""),
        ("[1,mpirank:3,algo-1]<stderr>:", "3", ""),  # Amazon SageMaker
        ("(RayTrainWorker pid=1234, ip=10.0.0.2) ", "RayTrainWorker pid=1234, ip=10.0.0.2", ""),
        ("\x1b[36m(pid=77)\x1b[0m ", "pid=77", ""),
        ("(EngineCore_0 pid=12) ERROR 11-20 10:00:00 [core.py:390] ", "EngineCore_0 pid=12", "E"),
        ("2024-01-01 10:00:00,123 - trainer.main - ERROR - ", "", "E"),
        ("2024-01-01 10:00:00.123 | ERROR    | trainer.main:run:12 - ", "", "E"),
        ("[2024-04-29 22:31:01,790] [WARNING] [comm.py:594:init_distributed] ", "", "W"),
        ("[2024-04-29 22:31:01,790] [INFO] ", "", "I"),
        ("2024-01-01 10:00:00,123 ERROR trainer.main: ", "", "E"),
        ("[2023-07-30 16:21:08,022]::[InvokeAI]::ERROR --> ", "", "E"),
        ("[WARNING|trainer.py:123] 2024-01-01 10:00:00,123 >> ", "", "W"),
        ("06/02/2023 14:10:24 - INFO - __main__ - ", "", "I"),
        ("[06/02 14:10:24 d2.engine]: ", "", ""),
        ("ERROR:root:", "", "E"),
        ("CRITICAL:torch.distributed:", "", "F"),
        ("ERROR:2025-06-30 14:38:28,149:jax._src.xla_bridge:444: ", "", "E"),
        ("2023-05-02T10:11:12,345 [INFO ] W-9000-resnet_1.0-stdout MODEL_LOG - ", "", ""),
        ("2023-05-02T10:11:12,345 [WARN ] W-9000-resnet_1.0 org.pytorch.serve.wlm.WorkerThread - ", "", "W"),
        ("> ", "", ""),
        ("> > ", "", ""),
        ("2026-11-20T11:10:14.4229280Z trainer-1  | [rank3]: ", "trainer-1/3", ""),
    ],
)
def test_prefixes_go_and_name_rank_and_level(prefix: str, rank: str, level: str) -> None:
    text = "\n".join(f"{prefix}{line}" for line in TRACEBACK.splitlines())
    log = log_of(text)
    lines = clean(log)
    assert [line.text for line in lines] == TRACEBACK.splitlines()
    assert {line.rank for line in lines} == {rank}
    assert lines[-1].level == level
    check_places(log, lines)


@pytest.mark.parametrize(
    ("prefixes", "ranks"),
    [
        (["0: ", "1: "], {"0", "1"}),
        ([" 0: ", "12: "], {"0", "12"}),
        (["worker-1: ", "worker-2: "], {"worker-1", "worker-2"}),
        (["db     | ", "worker | "], {"db", "worker"}),
        (["[trainer0]:", "[trainer1]:"], {"trainer0", "trainer1"}),
        (["11:10:01  ", "11:10:02  "], {""}),
        (["2026-11-20 11:10:01 ", "2026-11-20 11:10:02 "], {""}),
        (["[TRAINING] ", "[TRAINING] "], {""}),
        (["│ ", "│ "], {""}),
        (["      ", "      "], {""}),
        (["logs/train.log:", "logs/train.log:"], {""}),  # grep
    ],
)
def test_prefixes_that_recur_go(prefixes: list[str], ranks: set[str]) -> None:
    source = TRACEBACK.splitlines()
    text = "\n".join(f"{prefixes[number % 2]}{line}" for number, line in enumerate(source))
    lines = lines_of(text)
    assert [line.text for line in lines] == source
    assert {line.rank for line in lines} == ranks


@pytest.mark.parametrize(
    ("line", "level"),
    [
        (ABSL, "E"),
        ("E0000 00:00:1736163964.084812 3415088 cuda_dnn.cc:8310] Unable to register cuDNN factory", "E"),
        ("F1011 13:25:12.899116  7866 cudnn.hpp:122] Check failed: status == CUDNN_STATUS_SUCCESS (3 vs. 0)", "F"),
        ("W tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic library", "W"),
        ("2025-11-08 19:02:18.488301611 [E:onnxruntime:Default, provider_bridge_ort.cc:1546 Fn] Failed to load", "E"),
        ("[W319 06:44:57.891787142 ProcessGroupNCCL.cpp:1168] Warning: WARNING: process group", "W"),
        ("ERROR: pip's dependency resolver does not currently take into account", "E"),
        ("WARNING: All log messages before absl::InitializeLog() is called are written to STDERR", "W"),
        ("/opt/torch/cuda/__init__.py:52: UserWarning: CUDA initialization: Unexpected error", "W"),
        ('time="2023-08-01T02:47:46Z" level=fatal msg="Failed to watch metrics"', "F"),
        ('level=warn ts=2024-02-01T10:00:00Z caller=main.go:4 msg="no mould"', "W"),
        ("time=2025-01-01T10:00:00.000Z level=INFO source=gpu.go:377 msg=started", "I"),
        ("torch.cuda.is_available()=False level=7", ""),
        ("[Rank 2] Watchdog caught collective operation timeout: WorkNCCL", ""),
        ("0: NVIDIA A100-SXM4-80GB", ""),
        ("libcudnn.so.8: cannot open shared object file: No such file or directory", ""),
        ("gpu:2912164:2912210 [0] NCCL INFO cudaDriverVersion 12020", ""),
        ("node07:33867:33936 [3] NCCL WARN Cuda failure 'out of memory'", ""),
        (">>> import torch", ""),
        ("| 0  Tesla V100-SXM2...  On   | 00000000:00:1E.0 Off |                    0 |", ""),
        ("Error response from daemon: could not select device driver", ""),
        ("Fatal Python error: Segmentation fault", ""),
        (ERROR, ""),
    ],
)
def test_what_messages_need_stays(line: str, level: str) -> None:
    for text in (line, f"Loading\n{line}\nend\n", f"2026-11-20T11:10:14.4229280Z {line}\n"):
        found = [clean_line for clean_line in lines_of(text) if clean_line.text == line]
        assert found
        assert found[0].level == level


def test_messages_behind_a_recurring_time_stay_whole() -> None:
    source = [
        "Error response from daemon: x",
        "ERROR: pip's dependency resolver",
        "NCCL INFO NET/Plugin : none",
        "Fatal Python error: Aborted",
        ERROR,
    ]
    assert shown("\n".join(f"2026-11-20 11:10:0{number} {line}" for number, line in enumerate(source))) == source


RELAYED = ["INFO:root:step 1", "loading", *TRACEBACK.splitlines(), "ERROR:root:given up", "done"]


@pytest.mark.parametrize(
    "prefix",
    [
        "aws_instance.gpu (remote-exec): ",  # Terraform
        "2026-11-20 11:00:{0:02},123 DEBG 'train' stderr output:\n",  # supervisord ends its record with what was printed
        "Nov {0}, 2026, 11:00:00 AM WARNING ",  # Colab's own log
        "2026-11-20 11:00:{0:02},123 - launcher - INFO - ",
        "2026-11-20 11:00:{0:02}.123 | WARNING  | launcher:relay:42 - ",
        "INFO:launcher:",
        "{0}:",  # grep -n
        "train.log:{0}:",
        "{0:6d}\t",  # cat -n
        "  {0:3d} | ",
    ],
)
def test_what_another_program_puts_before_each_line_goes(prefix: str) -> None:
    prefix = prefix.replace(":\n", ": ")
    log = log_of("\n".join(prefix.format(at) + line for at, line in enumerate(RELAYED, 7)))
    lines = clean(log)
    assert [line.text for line in lines] == ["step 1", *RELAYED[1:-2], "given up", "done"]
    assert [line.level for line in lines] == ["I", "", *("" for _ in TRACEBACK.splitlines()), "E", ""]
    check_places(log, lines)


@pytest.mark.parametrize("level", ["info", "warning"])
def test_a_message_among_the_fields_of_a_record_that_passes_it_on_is_a_line(level: str) -> None:
    log = log_of("\n".join(
        f'time="2026-11-20T11:00:{at:02}Z" level={level} msg="{line.replace(chr(34), chr(92) + chr(34))}" pod=t-0'
        for at, line in enumerate(RELAYED)
    ))  # fmt: skip
    lines = clean(log)
    assert [line.text for line in lines] == ["step 1", *RELAYED[1:-2], "given up", "done"]
    check_places(log, lines)


def test_a_traceback_that_a_program_logs_as_a_warning_stays_one() -> None:
    source = TRACEBACK.splitlines()
    steps = [f"INFO 11-20 10:00:00 [core.py:{at}] step" for at in range(9)]
    lines = lines_of("\n".join([*steps, *(f"WARNING 11-20 10:00:00 [core.py:12] {line}" for line in source), *steps]))
    assert [line.level for line in lines] == [*"I" * 9, *"W" * len(source), *"I" * 9]


def test_a_step_that_docker_build_prints_once_more_is_read() -> None:
    source = TRACEBACK.splitlines()
    step = " > [stage-0 5/9] RUN python train.py:"
    end = ["------", "   5 | >>> RUN python train.py"]
    log = log_of("\n".join([
        "#9 [stage-0 5/9] RUN python train.py",
        *(f"#9 2.51{at} {line}" for at, line in enumerate(source)),
        '#9 ERROR: process "/bin/sh -c python train.py" did not complete successfully: exit code: 1',
        "------",
        step,
        *(f"12.{at}1 {line}" for at, line in enumerate(source)),
        *end,
        "0.512 of the memory is used",
    ]))  # fmt: skip
    lines = clean(log)
    texts = [line.text for line in lines]
    assert texts[1 : len(source) + 1] == source
    assert texts[len(source) + 1].startswith("ERROR: process")
    assert texts[-3 - len(source) :] == [*source, *end, "0.512 of the memory is used"]
    assert {line.carrier for line in lines if line.text == ERROR} == {"buildkit"}
    check_places(log, lines)


def test_a_list_is_no_set_of_prefixes() -> None:
    for text in (
        "0: NVIDIA A100\n1: NVIDIA A100\n2: NVIDIA A100\n3: NVIDIA T4\n",
        "torch     | 2.1.0\nnumpy     | 1.26\nscipy     | 1.11\ntriton    | 2.1\n",
        "E: one\nW: two\nRuntimeError: three\nRuntimeError: four\nRuntimeError: five\nRuntimeError: six\n",
        ">>> import torch\n>>> torch.cuda.is_available()\nFalse\n>>> 1\n",
        "".join(f"main.cpp:{at}:5: error: '{'x' * (at % 3) * 20}' was not declared\n" for at in range(9, 19)),
    ):
        assert shown(text) == text.splitlines()


def test_streams_printed_through_one_another_are_told_apart() -> None:
    source = TRACEBACK.splitlines()
    text = "".join(f"[rank0]: {line}\n[rank1]: {line}\n" for line in source)
    lines = lines_of(text)
    for rank in "01":
        assert [line.text for line in lines if line.rank == rank] == source


def test_a_line_that_lost_its_prefix_belongs_to_the_only_service() -> None:
    first, *rest = TRACEBACK.splitlines()
    assert {line.rank for line in lines_of("\n".join([first, *(f"web    | {line}" for line in rest)]))} == {"web"}
    assert {line.rank for line in lines_of("\n".join([first, *(f"[rank1]: {line}" for line in rest)]))} == {"", "1"}


def test_a_rank_prefix_in_the_middle_of_a_line_begins_a_line() -> None:
    lines = lines_of("import nvidia_smi failed[rank1]: Traceback (most recent call last):\n")
    assert [(line.text, line.rank) for line in lines] == [
        ("import nvidia_smi failed", ""),
        ("Traceback (most recent call last):", "1"),
    ]


# --- margins and markup


def test_pytest_margins() -> None:
    text = f"""\
=================================== FAILURES ===================================
    def test_conv(device):
>       torch.randn(2, 8).to(device)
E       {ERROR}

tests/test_ops.py:14: RuntimeError
"""
    lines = lines_of(text)
    assert ERROR in [line.text for line in lines]
    assert "       torch.randn(2, 8).to(device)" in [line.text for line in lines]
    assert next(line for line in lines if line.text == ERROR).place(0) == (4, 9)


def test_rich_boxes() -> None:
    text = (
        "╭───── Traceback (most recent call last) ─────╮\n"
        "│ /x/module.py:989 in to                     │\n"
        "│                                            │\n"
        "╰────────────────────────────────────────────╯\n"
        "RuntimeError: x\n"
    )
    assert [line.strip() for line in shown(text)] == [
        "Traceback (most recent call last)",
        "/x/module.py:989 in to",
        "",
        "",
        "RuntimeError: x",
    ]


def test_markup_of_pages() -> None:
    assert shown("a -&gt; b &#39;c&#39; &amp;&amp; &quot;d&quot;&nbsp;e &amp;lt;f&gt; AT&T &unknown;") == [
        "a -> b 'c' && \"d\" e <f> AT&T &unknown;"
    ]
    assert shown("<pre><code>one<br>two<br/>three</code></pre>") == ["one", "two", "three"]
    assert shown('File "<stdin>", line 1, in <module> vector<int>') == [
        'File "<stdin>", line 1, in <module> vector<int>'
    ]
    assert shown("<p>no kernel foo<P>(int) for bar<TR>(int)</p>") == ["no kernel foo<P>(int) for bar<TR>(int)"]
    assert shown(f"```python\n{ERROR}\n```\n") == ["", ERROR, ""]
    assert shown(f"```{ERROR}```\n") == [ERROR]


@pytest.mark.parametrize(
    "write",
    [
        lambda lines: (
            "<table>"
            + "".join(f'<tr><td class="ln">{at}</td><td>{escape(line)}</td></tr>\n' for at, line in enumerate(lines))
        ),
        lambda lines: "<ol>" + "\n".join(f"<li>{escape(line)}</li>" for line in lines) + "</ol>",
        lambda lines: "".join(f"<p>{escape(line)}</p>" for line in lines),
        lambda lines: "\n".join(f"#033[34m{line}#033[0m" for line in lines),  # rsyslog writes control characters so
        lambda lines: "\n".join(
            f"{piece:80}\u2502" for line in lines for piece in (line[:80], line[80:]) if piece
        ),  # tmux
    ],
)
def test_how_pages_and_panes_show_a_log(write: Callable[[list[str]], str]) -> None:
    source = [*TRACEBACK.splitlines(), "loading", "loaded", "begun", "ended"]
    log = log_of(write(source))
    lines = clean(log)
    read = "".join("".join(line.text.split()) for line in lines)
    assert read == "".join("".join(line.split()) for line in source)
    assert ERROR in [line.text.strip() for line in lines]


def test_what_a_converter_to_markdown_escaped_is_undone_and_keeps_its_places() -> None:
    text = "RuntimeError: cuDNN error: CUDNN\\_STATUS\\_NOT\\_INITIALIZED\n\\[W\\] C:\\\\venv\\\\cudnn\\_ops.dll"
    first, second = lines_of(text)
    assert [first.text, second.text] == [ERROR, r"[W] C:\venv\cudnn_ops.dll"]
    assert text[first.byte(first.text.index("STATUS")) :].startswith("STATUS\\_NOT")


@pytest.mark.parametrize(
    "text",
    [
        "C:\\app\\_internal\\_socket.pyd: DLL load failed\nC:\\app\\_internal\\torch_cuda.dll",
        r"error at C:\app\_internal\cudnn.dll",
        r"re.compile('a\_b') and my_name, your_name",
    ],
)
def test_backslashes_before_underscores_of_a_path_stay(text: str) -> None:
    assert "\n".join(shown(text)) == text


def test_powershell_noise_goes() -> None:
    text = f"""\
python : Traceback (most recent call last):
At line:1 char:1
+ python train.py 2> err.txt
+ ~~~~~~~~~~~~~~~~~~~~~~~~~~
    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], RemoteException
    + FullyQualifiedErrorId : NativeCommandError

{ERROR}
"""
    found = [line for line in shown(text) if line]
    assert found[0] == "Traceback (most recent call last):"
    assert found[-1] == ERROR
    assert not any("CategoryInfo" in line or "~~~" in line for line in found)


# --- wrapped and pasted as one line

LONG = "\n".join(
    [
        "2020-08-08 19:17:16.746067: I tensorflow/stream_executor/platform/default/dso_loader.cc:42] "
        "Successfully opened dynamic library libcudart.so.10.0",
        "2020-08-08 19:17:16.754002: I tensorflow/stream_executor/platform/default/dso_loader.cc:53] "
        "Could not dlopen library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open shared object file: "
        "No such file or directory",
        "short",
        TRACEBACK,
        "Skipping registering GPU devices because a message that nobody needs is longer than any terminal is wide today.",
    ]
)


STATES = [("Running", 0), ("CrashLoopBackOff", 822)]


@pytest.mark.parametrize("width", [80, 97, 120])
@pytest.mark.parametrize("prefix", ["", "2026-11-20T11:10:14.4229280Z "])
def test_hard_wrapped_lines_are_joined(width: int, prefix: str) -> None:
    wrapped = "\n".join(
        prefix + line[start : start + width] for line in LONG.splitlines() for start in range(0, len(line), width)
    )
    log = log_of(wrapped)
    lines = clean(log)
    assert [line.text for line in lines] == LONG.splitlines()
    check_places(log, lines)
    assert lines[1].place(width) == (lines[1].number + 1, len(prefix) + 1)


def test_lines_of_equal_length_are_not_joined() -> None:
    table = "\n".join(
        f"kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=180221{number}, name=python3, "
        f"Ch 0000000{number} caused by previous Xid 149"
        for number in range(7)
    )
    assert len(shown(table)) == 7
    assert shown("=" * 80 + "\ncollected 4 items\n" + "=" * 80 + "\nplatform linux\n") == [
        "=" * 80,
        "collected 4 items",
        "=" * 80,
        "platform linux",
    ]


def test_records_of_a_syslog_are_not_joined_where_they_happen_to_be_of_one_length() -> None:
    messages = [
        "started session 12 of user root and the quota is at 77 percents now",
        "loading weights of the model from disk, it takes up to ten seconds.",
        "gpu has fallen off the bus, and that is all there is to say of the",
        "processes of the second user were started and their quota is given",
        "timers of the system ran and the next one is at four in the morning",
        "short",
    ]
    records = [f"Nov  2 03:52:{at:02} node-7 python[123]: {message:.66}" for at, message in enumerate(messages)]
    assert shown("\n".join(records)) == [message[:66] for message in messages]


def test_rows_of_a_table_are_not_joined() -> None:
    names = [
        "gpu-operator-69488c4b65-lmn6r",
        "nvidia-driver-daemonset-6xzh7",
        "rhgpu-node-feature-discovery-worker-87ckw",
    ]
    rows = [f"{name:<54}{'1/1':<8}{status:<19}{restarts:<11}2d22h" for name in names for status, restarts in STATES]
    assert shown("\n".join(rows)) == rows


def test_a_log_pasted_on_one_line_is_split_again() -> None:
    text = " ".join([ABSL, *TRACEBACK.splitlines(), ABSL])
    log = log_of(text)
    lines = clean(log)
    assert [line.text.strip() for line in lines] == [ABSL, *(line.strip() for line in TRACEBACK.splitlines()), ABSL]
    assert [line.level for line in lines] == ["E", *[""] * 6, "E"]
    assert {line.number for line in lines} == {1}
    check_places(log, lines)


@pytest.mark.parametrize(
    "records",
    [
        [
            "[Sun Jul 28 09:15:27 2024] NVRM: loading the module",
            "[Sun Jul  7 09:15:28 2024] nvidia 0000:00:05.0: enabling",
        ],
        [
            "Jul 28 09:15:27 node7 kernel: NVRM: loading the module",
            "Jul  8 09:15:28 node7 kernel: [ 12.345678] NVRM: GPU lost",
        ],
    ],
)
def test_a_kernel_log_pasted_on_one_line_is_split_again(records: list[str]) -> None:
    rest = "x" * 200
    assert len(clean(log_of(" ".join([*records, rest])))) == len(records)


def test_line_ends_written_out_are_line_ends() -> None:
    assert shown("error: " + repr(TRACEBACK)[1:-1]) == ["error: ", *TRACEBACK.splitlines()]
    path = r"could not open C:\new\name.txt and C:\nothing\else"
    assert shown(path) == [path]


def test_source_code_that_prints_a_traceback_is_not_split() -> None:
    line = "    print('Traceback (most recent call last):', file=sys.stderr); print('see above')"
    assert shown(line) == [line]


# --- properties

PIECES = st.sampled_from(
    [
        "\x1b[31m",
        "\x1b[0m",
        "\x1b]",
        "\x1b",
        "^[[1m",
        "[0m",
        "\r",
        "\n",
        "\n",
        "\r\n",
        "\x08",
        "\x08" * 6,
        "[rank0]: ",
        "0: ",
        "svc-1  | ",
        "2026-11-20T11:10:14.4229280Z ",
        "> ",
        "(W pid=1) ",
        "ERROR:root:",
        "E   ",
        "&gt;",
        "&amp;gt;",
        "<br>",
        "```",
        "│ ",
        "╭──",
        " 25%|██▍  | 1/4 [0:03<2:17, 16.0s/it]",
        "Traceback (most recent call last):",
        '  File "x", line 3, in f',
        "ValueError: x",
        '{"log":"a\\nb"}',
        "{",
        "\\n",
        "2020-08-08 19:17:16.746067: I tensorflow/a",
        " ",
        "abc",
        "x" * 80,
        "word " * 16,
        "ü",
        "漢字",
        "🔥",
        "\x00",
        "\ufeff",
        "\xa0",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_character_knows_its_place(text: str) -> None:
    log = log_of(text)
    check_places(log, clean(log))


@settings(max_examples=100)
@given(st.lists(PIECES, max_size=20).map("".join), st.sampled_from(["utf-16", "utf-16-le", "utf-8-sig"]))
def test_every_character_knows_its_place_in_other_encodings(text: str, encoding: str) -> None:
    log = log_of(text.encode(encoding))
    check_places(log, clean(log))


@settings(max_examples=200)
@given(st.lists(st.one_of(st.binary(max_size=12), PIECES.map(str.encode)), max_size=30).map(b"".join))
def test_any_bytes_give_lines_that_point_into_them(data: bytes) -> None:
    log = log_of(data)
    for line in clean(log):
        line.text.encode()
        assert "\n" not in line.text
        assert 0 <= line.start <= line.end <= len(log.raw)
        for index in range(len(line.text)):
            assert line.start <= line.byte(index) <= line.end
            assert min(line.place(index)) >= 1


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="abc XYZ.:/()'0", min_size=1, max_size=60), max_size=30))
def test_text_without_anything_to_clean_is_unchanged(source: list[str]) -> None:
    text = "\n".join(["start of a log", *(f"message {line}" for line in source)])
    assert shown(text) == text.split("\n")


@pytest.mark.parametrize(
    "unit",
    [
        b"x",
        b"\r",
        b"a\r",
        b"\x1b[",
        b"\x1b]",
        b"\x1b[31m",
        b"a\x08",
        b"\x08",
        b"\x00",
        b"\xff",
        b" ",
        b"\t",
        b"\n",
        b"\\n",
        b"[",
        b"(",
        b"{",
        b"&",
        b"&gt;",
        b"<span ",
        b"> ",
        b"A.",
        b"1%|",
        b"1% 1/1 [a",
        b'{"a":',
        b'"log":"',
        "│ ".encode(),
        b'File "',
        b'File "x", line 3, in f ',
        b"aError: ",
        b"Traceback (most recent call last): ",
        b"2024-01-01 10:00:00 ",
        b"2024-01-01 10:00:00 - a-b:c.d/e - f - g\n",
        b"[2024-01-01 10:00:00] [a] [b] [c\n",
    ],
)
def test_hostile_repetition_is_cleaned_in_order(unit: bytes) -> None:
    """Speed is measured by benchmarks/compare.py growth; a quadratic step would not come back from this."""
    log = log_of(unit * (480_000 // len(unit)))
    lines = clean(log)
    assert all(a.start <= b.start for a, b in pairwise(lines))
    assert all(0 <= line.start <= line.end <= len(log.raw) for line in lines)


AS_LETTERS = TRACEBACK.encode("utf-16-le").decode("latin-1")


@pytest.mark.parametrize(
    "text",
    [
        AS_LETTERS.replace("\0", " "),
        "\n".join(" ".join(line) for line in TRACEBACK.splitlines()),
        AS_LETTERS.replace("\0", "^@"),
        repr(AS_LETTERS.replace("\n\0", "\n"))[1:-1].replace("\\n", "\n"),
    ],
    ids=["blanks", "blanks-between", "vim", "repr"],
)
def test_utf_16_that_was_shown_as_bytes_is_read_and_keeps_its_places(text: str) -> None:
    log = log_of(text)
    lines = clean(log)
    assert [line.text.strip() for line in lines] == [line.strip() for line in TRACEBACK.splitlines()]
    check_places(log, lines)


def test_lines_of_such_a_log_need_not_be_words() -> None:
    source = ["Traceback (most recent call last):", '  File "t.py", line 1, in <module>', "    x()", "      ^^^", ERROR]
    assert shown("\n".join(" ".join(line) for line in source)) == source


def test_letters_that_stand_alone_stay_apart() -> None:
    table = "r e t\n1 0 0 1 0 1 0 0 1 1 0 1 0 1 0 0\n- - - - - - - - - - - - - - - - -\nso e and r and t stand alone"
    assert shown(table) == table.splitlines()


@pytest.mark.parametrize("encode", [quote, quote_plus])
def test_what_was_part_of_an_address_is_decoded_and_keeps_its_places(encode: Callable[[str], str]) -> None:
    log = log_of(
        "https://github.com/a/b/issues/new?body=" + encode(TRACEBACK.replace("cuDNN error", "Ошибка: cuDNN error"))
    )
    lines = clean(log)
    assert [line.text for line in lines][-6:-1] == TRACEBACK.splitlines()[:-1]
    assert lines[-1].text == "RuntimeError: Ошибка: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
    number, column = lines[-1].place(lines[-1].text.index("CUDNN_STATUS"))
    assert number == 1
    assert log.text[column - 1 :].startswith("CUDNN_STATUS")


def test_a_short_log_that_a_form_sent_is_decoded() -> None:
    assert shown("body=" + quote_plus("loading NVML\nno device found 1+1")) == [
        "body=loading NVML",
        "no device found 1+1",
    ]


def test_an_annotation_of_github_is_lines_and_a_plain_address_stays() -> None:
    assert shown("::error::" + ERROR + "%0A  see%0Abelow")[-2:] == ["  see", "below"]
    plain = "Downloading https://host.example/a%20b/torch-2.1.0%2Bcu118.whl (3 MB, 50%)"
    assert shown(plain) == [plain]


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            ["%0A", "%20", "%C3%BC", "%C3", "%1B[31m", "L o a d ", " e ", " r ", " t ", "^@a", "+", "x", "\n"]
        ),
        max_size=60,
    )
)
def test_whatever_is_undone_points_into_the_raw_log(parts: list[str]) -> None:
    log = log_of("".join(parts))
    for line in clean(log):
        for index in range(len(line.text)):
            assert 0 <= line.byte(index) <= len(log.raw)


def test_quotation_marks_that_a_record_quotes_lose_their_backslashes_and_keep_their_places() -> None:
    raw = 'msg="failed: no runtime for \\\\\\"nvidia\\\\\\" is configured, \\"x\\""'
    (line,) = clean(read_text(raw, ""))
    assert line.text == 'msg="failed: no runtime for "nvidia" is configured, "x""'
    assert line.place(line.text.index("is configured")) == (1, raw.index("is configured") + 1)
    (path,) = clean(read_text('cd "C:\\dir\\"', ""))
    assert path.text == 'cd "C:\\dir\\"'
