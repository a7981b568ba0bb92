"""The grammar of logs: roles of lines, exceptions with their chains, and the places where programs failed."""

from __future__ import annotations

import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_triage.grammar import parse
from cudnn_triage.lines import Line
from cudnn_triage.structure import Failure, Raised, Role, Structure

LETTERS = {
    Role.TEXT: "T",
    Role.RECORD: "R",
    Role.EXCEPTION: "E",
    Role.FRAME: "F",
    Role.SOURCE: "S",
    Role.BLANK: "-",
}


def lines(text: str, rank: str = "", level: str = "") -> list[Line]:
    return [Line(part, number, 0, 0, rank=rank, level=level) for number, part in enumerate(text.splitlines(), 1)]


def read(text: str) -> Structure:
    return parse(lines(textwrap.dedent(text).strip("\n")))


def roles(structure: Structure) -> str:
    return "".join(LETTERS[role] for role in structure.roles)


def only_failure(structure: Structure) -> Failure:
    assert len(structure.failures) == 1, structure.failures
    return structure.failures[0]


def only_raised(structure: Structure) -> Raised:
    assert len(structure.raised) == 1, structure.raised
    return structure.raised[0]


PLAIN = """
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py", line 456, in _conv_forward
    return F.conv2d(input, weight, bias, self.stride,
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: device fell off the table
Errors of this kind may be reported late, so the stack trace above may be wrong.
Set ONE_AT_A_TIME=1 to find the place.
"""


def test_plain_traceback() -> None:
    structure = read(PLAIN)
    assert roles(structure) == "FFSFSSEEE"
    raised = only_raised(structure)
    assert raised.type == "RuntimeError"
    assert raised.message.startswith("device fell off the table\nErrors of this kind")
    assert [(frame.file, frame.line, frame.function) for frame in raised.frames] == [
        ("train.py", 12, "<module>"),
        ("/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py", 456, "_conv_forward"),
    ]
    failure = only_failure(structure)
    assert (failure.kind, failure.package, failure.first, failure.last) == ("exception", "torch", 6, 8)
    assert not failure.caught


def test_message_printed_after_the_traceback_is_not_source() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "a.py", line 3, in f
            raise ValueError(
        ValueError: the shape is wrong
        Restarting in 5 s
    """)
    assert roles(structure)[:4] == "FFSE"
    assert Role.SOURCE not in structure.roles[3:]


def test_package_is_empty_for_the_users_own_file_and_skips_the_standard_library() -> None:
    own = read('Traceback (most recent call last):\n  File "/app/a.py", line 1, in f\n    g()\nKeyError: 1')
    assert only_failure(own).package == ""
    through_stdlib = read("""
        Traceback (most recent call last):
          File "/venv/lib/python3.11/site-packages/numba/cuda/libs.py", line 65, in open_lib
            return ctypes.CDLL(path)
          File "/usr/lib/python3.11/ctypes/__init__.py", line 376, in __init__
            self._handle = _dlopen(self._name, mode)
        OSError: libfoo.so: cannot open shared object file: No such file or directory
    """)
    assert only_failure(through_stdlib).package == "numba"


def test_the_package_of_a_file_in_an_egg_is_the_one_inside_it() -> None:
    egg = "/usr/lib/python3/site-packages/cudf-0.3.0+138.gdae6026-py3.6-linux-x86_64.egg/cudf/core.py"
    structure = read(f'Traceback (most recent call last):\n  File "{egg}", line 1, in <module>\n    f()\nOSError: no')
    assert only_failure(structure).package == "cudf"


CHAINED = """
Traceback (most recent call last):
  File "/venv/lib/python3.7/site-packages/tensorflow/python/pywrap.py", line 58, in <module>
    from x import *
ImportError: libfoo.so.10.0: cannot open shared object file: No such file or directory

{separator}

Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import tensorflow as tf
RuntimeError: no native runtime
"""


@pytest.mark.parametrize(
    ("separator", "relation"),
    [
        ("During handling of the above exception, another exception occurred:", "context"),
        ("The above exception was the direct cause of the following exception:", "cause"),
    ],
)
def test_chain(separator: str, relation: str) -> None:
    structure = read(CHAINED.format(separator=separator))
    first, second = structure.raised
    assert (first.type, first.relation, first.final) == ("ImportError", relation, False)
    assert (second.type, second.relation, second.final) == ("RuntimeError", "", True)
    failure = only_failure(structure)  # one for the chain, over all of its messages
    assert (failure.type, failure.first, failure.last) == ("RuntimeError", first.first, second.last)


def test_message_that_quotes_a_traceback() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "a.py", line 1, in <module>
            raise ImportError(msg)
        ImportError: Traceback (most recent call last):
          File "/venv/lib/python3.7/site-packages/tensorflow/b.py", line 2, in <module>
            load()
        ImportError: libfoo.so.10: cannot open shared object file
    """)
    assert roles(structure) == "FFSEFSE"
    failure = only_failure(structure)
    assert failure.text == "ImportError: libfoo.so.10: cannot open shared object file"
    assert failure.package == "tensorflow"


@pytest.mark.parametrize(
    ("log", "inner", "remote"),
    [
        (
            """
            Traceback (most recent call last):
              File "/venv/lib/python3.10/site-packages/torch/multiprocessing/spawn.py", line 160, in join
                raise ProcessRaisedException(msg, error_index, failed_process.pid)
            torch.multiprocessing.spawn.ProcessRaisedException:

            -- Process 1 terminated with the following error:
            Traceback (most recent call last):
              File "/app/main.py", line 12, in run
                x = x.to(rank)
            RuntimeError: no such device
            """,
            "no such device",
            "multiprocessing",
        ),
        (
            """
            Traceback (most recent call last):
              File "train.py", line 5, in <module>
                for batch in loader:
            IndexError: Caught IndexError in DataLoader worker process 0.
            Original Traceback (most recent call last):
              File "/app/data.py", line 20, in __getitem__
                return self.items[i]
            IndexError: list index out of range
            """,
            "list index out of range",
            "multiprocessing",
        ),
        (
            """
            Traceback (most recent call last):
              File "/venv/lib/python3.10/site-packages/ray/_private/worker.py", line 2630, in get
                raise value.as_instanceof_cause()
            ray.exceptions.RayTaskError(RuntimeError): ray::f() (pid=1234, ip=10.0.0.1)
              File "/app/f.py", line 2, in g
                raise RuntimeError("in worker")
            RuntimeError: in worker
            """,
            "in worker",
            "ray",
        ),
        (
            """
            multiprocessing.pool.RemoteTraceback:
            \"\"\"
            Traceback (most recent call last):
              File "/app/x.py", line 21, in work
                net.to(DEVICE)
            RuntimeError: in a child
            \"\"\"

            The above exception was the direct cause of the following exception:

            Traceback (most recent call last):
              File "/app/x.py", line 29, in <module>
                pool.map(work, range(8))
            RuntimeError: in a child
            """,
            "in a child",
            "multiprocessing",
        ),
    ],
)
def test_exceptions_of_other_processes(log: str, inner: str, remote: str) -> None:
    structure = read(log)
    quoted = next(raised for raised in structure.raised if raised.remote)
    assert (quoted.message, quoted.remote, quoted.relation, quoted.final) == (inner, remote, "cause", False)
    failure = only_failure(structure)
    assert failure.text.endswith(inner)
    assert failure.first <= quoted.first <= failure.last


def test_exception_group() -> None:
    structure = read("""
          + Exception Group Traceback (most recent call last):
          |   File "/app/main.py", line 15, in <module>
          |     asyncio.run(main())
          |     ~~~~~~~~~~~^^^^^^^^
          | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
          +-+---------------- 1 ----------------
            | Traceback (most recent call last):
            |   File "/app/main.py", line 5, in work
            |     raise RuntimeError("disk full")
            | RuntimeError: disk full
            +---------------- 2 ----------------
            | Traceback (most recent call last):
            |   File "/app/main.py", line 9, in other
            |     int("x")
            |     ~~~^^^^^
            | ValueError: invalid literal
            +------------------------------------
    """)
    assert roles(structure) == "FFSSE-FFSE-FFSSE-"
    assert [(r.type, r.relation, r.final) for r in structure.raised] == [
        ("ExceptionGroup", "", True),
        ("RuntimeError", "cause", False),
        ("ValueError", "cause", False),
    ]
    assert only_failure(structure).text == "RuntimeError: disk full"


def test_syntax_error() -> None:
    structure = read("""
          File "train.py", line 3
            print "x"
                  ^
        SyntaxError: Missing parentheses in call to 'print'
    """)
    assert roles(structure) == "FSSE"
    assert only_failure(structure).type == "SyntaxError"


def test_cut_off_before_the_exception() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "train.py", line 3, in <module>
            fit()
            ^^^^^
    """)
    failure = only_failure(structure)
    assert (failure.kind, failure.type, failure.text) == ("exception", "", "fit()")
    assert not structure.raised


def test_cut_off_at_the_beginning() -> None:
    structure = read("""
          File "/venv/lib/python3.12/site-packages/torch/nn/modules/conv.py", line 455, in _conv_forward
            return F.conv2d(input, weight, bias, self.stride,
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        RuntimeError: it would not start

        Setup complete
    """)
    assert roles(structure) == "FSSE-T"
    assert only_failure(structure).package == "torch"


def test_indented_by_a_tool() -> None:
    structure = read("""
        x
              File "/tmp/build/setuptools/command/build_ext.py", line 88, in run
                _build_ext.run(self)
            RuntimeError:
            The toolkit (12.2) is not the one that was used to compile
            the extension (11.7).
            [end of output]
    """)
    assert roles(structure) == "TFSEEET"
    assert only_raised(structure).message.startswith("The toolkit (12.2)")


PASTED_FROM_ITS_FIRST_LETTER_ON = {
    "frame": """\
File "/tmp/build/setuptools/command/build_ext.py", line 88, in run
          _build_ext.run(self)
      RuntimeError:
      The toolkit (12.2) is not the one that was used to compile
""",
    "frames": """\
File "/tmp/build/setuptools/command/build_ext.py", line 87, in __call__
        File "/tmp/build/setuptools/command/build_ext.py", line 88, in run
          _build_ext.run(self)
      RuntimeError:
      The toolkit (12.2) is not the one that was used to compile
""",
    "header": """\
Traceback (most recent call last):
        File "/tmp/build/setuptools/command/build_ext.py", line 88, in run
          _build_ext.run(self)
      RuntimeError:
      The toolkit (12.2) is not the one that was used to compile
""",
}


@pytest.mark.parametrize("text", PASTED_FROM_ITS_FIRST_LETTER_ON.values(), ids=PASTED_FROM_ITS_FIRST_LETTER_ON)
def test_a_paste_whose_first_line_lost_its_indentation(text: str) -> None:
    assert only_raised(read(text)).message.startswith("The toolkit (12.2)")


def test_ipython() -> None:
    structure = read("""
        ---------------------------------------------------------------------------
        RuntimeError                              Traceback (most recent call last)
        Cell In[3], line 4
              2 import torch
        ----> 4 x.cuda()

        File ~/venv/lib/python3.10/site-packages/torch/cuda/__init__.py:298, in _lazy_init()
            297     raise AssertionError("quoted, not said")
        --> 298 torch._C._cuda_init()

        RuntimeError: Found nothing here.
        More of the message.
    """)
    assert roles(structure) == "TFFSS-FSS-EE"
    assert only_failure(structure).package == "torch"


def test_ipython_of_old() -> None:
    structure = read("""
        InternalError                             Traceback (most recent call last)
        <ipython-input-5-8c8f> in <module>()
              1 with tf.Session() as sess:
        ----> 2     sess.run(init)

        ~/anaconda3/lib/python3.6/site-packages/tensorflow/python/client/session.py in run(self, fetches)
            927     try:
        --> 928       result = self._run(None, fetches)

        InternalError: it did not launch : m=64
        \t [[Node: MatMul = MatMul[T=DT_FLOAT]]]
    """)
    assert roles(structure) == "FFSS-FSS-EE"
    assert only_raised(structure).frames[1].file.endswith("session.py")


def test_frames_as_colab_copies_them_as_links() -> None:
    structure = read("""
        ImportError                               Traceback (most recent call last)
        [<ipython-input-5-3ba3>](https://localhost:8080/#) in <module>
        ----> 2 import mmcv.ops

        [/usr/local/lib/python3.10/dist-packages/mmcv/utils/ext_loader.py](https://localhost:8080/#) in load_ext(name, funcs)
             11     def load_ext(name, funcs):
        ---> 12         ext = importlib.import_module(name)

        ImportError: undefined symbol: _ZN2at4_ops
    """)
    frames = only_raised(structure).frames
    assert [f.file for f in frames] == [
        "<ipython-input-5-3ba3>",
        "/usr/local/lib/python3.10/dist-packages/mmcv/utils/ext_loader.py",
    ]
    assert [f.package for f in structure.failures] == ["mmcv"]


PYTEST = """
=================================== FAILURES ===================================
___________________________ test_conv_channels_last ____________________________

device = device(type='cuda', index=0)

    def test_conv_channels_last(device):
>       x = torch.randn(2, 8).to(device)

tests/test_ops.py:13:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def _lazy_init():
        if _is_in_bad_fork():
            raise RuntimeError(
                "Never say this in a forked subprocess"
            )
>           torch._C._cuda_init()
E           RuntimeError: No device today
E           and none tomorrow

venv/lib/python3.10/site-packages/torch/cuda/__init__.py:298: RuntimeError
----------------------------- Captured stdout call -----------------------------
    indented output of the program
=========================== short test summary info ============================
FAILED tests/test_ops.py::test_conv_channels_last - RuntimeError: No device today
"""


def test_pytest_listing_is_source() -> None:
    structure = read(PYTEST)
    assert roles(structure) == "TT-T-SS-FT-SSSSSSEE-FTTTT"
    failure = only_failure(structure)
    assert (failure.type, failure.package) == ("RuntimeError", "torch")
    assert failure.text == "RuntimeError: No device today\nand none tomorrow"


def test_pytest_listing_whose_margins_cleaning_has_taken_off() -> None:
    cleaned = [
        Line(line[1:].strip(), number, 0, 0, level="E")
        if line.startswith("E ")
        else Line(" " + line[1:] if line.startswith(">") else line, number, 0, 0)
        for number, line in enumerate(PYTEST.strip("\n").splitlines(), 1)
    ]
    structure = parse(cleaned)
    assert roles(structure) == "TT-T-SS-FT-SSSSSSEE-FTTTT"
    assert only_failure(structure).package == "torch"


def test_what_passed_tests_have_printed_is_no_failure() -> None:
    found = read(
        """
=================================== PASSES ====================================
__________________________ test_halves_the_batch[64] __________________________
------------------------------ Captured log call ------------------------------
WARNING  trainer:retry.py:8 batch 64 does not fit
Traceback (most recent call last):
  File "trainer/retry.py", line 6, in step
    run(batch)
RuntimeError: CUDA out of memory.
=========================== short test summary info ===========================
FAILED tests/test_size.py::test_sizes - assert 64 == 32
"""
    )
    assert not found.failures
    assert roles(found) == "TSSSSSSSTT"


def test_pytest_short() -> None:
    structure = read("""
        tests/test_x.py:10: in test_x
            y = f(x)
        src/f.py:3: in f
            raise RuntimeError("nope")
        E   RuntimeError: nope
    """)
    assert roles(structure) == "FSFSE"
    assert [frame.line for frame in only_raised(structure).frames] == [10, 3]


def test_margins_without_a_message_take_little_time() -> None:
    before = time.process_time()
    structure = read("E\n" * 20_000)
    assert set(structure.roles) == {Role.TEXT}
    assert time.process_time() - before < 5


RICH = """
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /workspace/train.py:120 in main                                              │
│                                                                              │
│   119 │   args = parser.parse_args()                                         │
│ ❱ 120 │   run(args)                                                          │
│                                                                              │
│ /opt/conda/lib/python3.10/site-packages/torch/cuda/__init__.py:247 in        │
│ _lazy_init                                                                   │
│                                                                              │
│ ❱ 247 │   │   torch._C._cuda_init()                                          │
╰──────────────────────────────────────────────────────────────────────────────╯
RuntimeError: Unexpected trouble. Did you run
some functions before?
"""


@pytest.mark.parametrize("boxed", [True, False])
def test_rich(boxed: bool) -> None:
    text = RICH.strip("\n")
    if not boxed:  # as cleaning leaves it
        text = text.replace("╭───────────────────── ", "").replace(" ──────────────────────╮", "")
        text = "\n".join(line[1:-1].rstrip() if line.startswith("│") else line for line in text.splitlines())
        text = text.replace("╰" + "─" * 78 + "╯", "")
    structure = parse(lines(text))
    source = [line.text for line, role in zip(lines(text), structure.roles, strict=True) if role is Role.SOURCE]
    assert any("parse_args" in line for line in source)
    assert any("_cuda_init" in line for line in source)
    raised = only_raised(structure)
    assert raised.message == "Unexpected trouble. Did you run\nsome functions before?"
    assert only_failure(structure).package == "torch"


def test_loguru() -> None:
    structure = read("""
        Traceback (most recent call last):

        > File "/app/train.py", line 12, in <module>
            main()
            └ <function main at 0x7f1c2a0d>

          File "/app/train.py", line 8, in main
            model.cuda()
            │     └ <function Module.cuda at 0x7f>
            └ Net()

        RuntimeError: no device here
    """)
    assert roles(structure) == "F-FSS-FSSS-E"


def test_ranks_print_through_one_another() -> None:
    one, two = lines(PLAIN.strip("\n"), rank="0"), lines(PLAIN.strip("\n"), rank="1")
    mixed = [line for pair in zip(one, two, strict=True) for line in pair]
    structure = parse(mixed)
    assert structure.ranks == ("0", "1")
    assert [(raised.rank, len(raised.frames)) for raised in structure.raised] == [("0", 2), ("1", 2)]
    assert [failure.rank for failure in structure.failures] == ["0", "1"]


def test_two_processes_without_a_prefix() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "train.py", line 106, in <module>
        Traceback (most recent call last):
          File "train.py", line 106, in <module>
            main()
          File "train.py", line 102, in main
            main()
          File "train.py", line 102, in main
            x = outputs.split('_')
        AttributeError: 'list' object has no attribute 'split'
            x = outputs.split('_')
        AttributeError: 'list' object has no attribute 'split'
    """)
    assert {failure.type for failure in structure.failures} == {"AttributeError"}
    assert all(raised.message == "'list' object has no attribute 'split'" for raised in structure.raised)


def test_each_line_of_a_traceback_with_its_own_log_level() -> None:
    structure = parse(lines(PLAIN.strip("\n"), level="E"))
    assert only_failure(structure).type == "RuntimeError"
    assert not only_failure(structure).caught
    assert only_failure(parse(lines(PLAIN.strip("\n"), level="W"))).caught


ELASTIC = """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 238923)
  traceback : Traceback (most recent call last):
    File "/app/train.py", line 9, in main
      raise ValueError("bad")
  ValueError: bad

============================================================
srun: error: node1: task 0: Exited with exit code 1
"""


def test_torchelastic_table() -> None:
    structure = read(ELASTIC)
    assert roles(structure) == "EEEEEEEEEEEEFSE-ET"
    assert [failure.kind for failure in structure.failures] == ["exit-code", "exit-code"]
    inner = next(raised for raised in structure.raised if raised.remote == "torchelastic")
    assert (inner.type, inner.message) == ("ValueError", "bad")


def test_torchelastic_json() -> None:
    structure = read("""
        ERROR:torch.distributed.elastic.multiprocessing.errors.error_handler:{
          "message": {
            "message": "RendezvousConnectionError: The store could not be reached.",
    """)
    assert roles(structure) == "RTE"
    assert only_failure(structure).text == "RendezvousConnectionError: The store could not be reached."


def test_each_line_of_a_traceback_with_a_loggers_prefix() -> None:
    prefixed = "\n".join("ERROR 03-19 06:43:11 engine.py:366] " + line for line in PLAIN.strip().splitlines())
    structure = parse(lines(prefixed + "\nINFO 03-19 06:43:12 engine.py:366] bye"))
    assert roles(structure) == "FFSFSSEEER"
    assert only_failure(structure).package == "torch"


def test_message_before_a_header_on_its_line_is_not_hidden() -> None:
    said = "ERROR - Could not load the library libfoo.so.8: Traceback (most recent call last):"
    structure = read(said + PLAIN.strip().removeprefix("Traceback (most recent call last):"))
    assert roles(structure)[0] == "T"
    assert only_failure(structure).type == "RuntimeError"


def test_exception_without_traceback_that_much_follows_is_caught() -> None:
    going_on = "\n".join(f"step {step}" for step in range(100))
    assert only_failure(read("ValueError: skipping a sample\n\n" + going_on)).caught
    assert not only_failure(read("ValueError: the end\n\nstep 1")).caught


def test_tensorflow_appendices_belong_to_the_message() -> None:
    structure = read("""
        tensorflow.python.framework.errors_impl.UnknownError: 2 root error(s) found.
          (0) Unknown:  Failed to get it.
        \t [[node conv2d/Conv2D (defined at a.py:1) ]]
          (1) Unknown:  Failed to get it.
        0 successful operations.
        0 derived errors ignored. [Op:__inference_train_function_812]

        Function call stack:
        train_function

        2020-01-01 00:00:00.000000: W tensorflow/core/x.cc:1] later
    """)
    assert roles(structure) == "EEEEEE-EE-R"


def test_tensorflow_detected_at_node() -> None:
    structure = read("""
        tensorflow.python.framework.errors_impl.UnimplementedError: Graph execution error:

        Detected at node Conv2D defined at (most recent call last):
          File "/home/dev/tf/nchw2.py", line 16, in <module>

          File "/home/dev/tf/nchw2.py", line 10, in __call__

        The layer is not supported here.
        \t [[{{node Conv2D}}]] [Op:__forward___call___31]
    """)
    assert roles(structure) == "E-EF-F-EE"
    assert "not supported here" in only_raised(structure).message


def test_the_place_that_a_library_names_belongs_to_the_message_it_was_announced_by() -> None:
    structure = read("""
        RuntimeError: Critical error when building pipeline:
        Error when constructing operator encountered:
        [/opt/lib/factory.h:54] Assert on "found" failed
        The pipeline is no longer valid.
    """)
    assert roles(structure) == "EEEE"
    assert roles(read("ValueError: the end\n[/data/a.bin] written")) == "ET"


def test_the_native_half_of_an_exception_belongs_to_its_message() -> None:
    structure = read("""
        RuntimeError: simple_bind error. Arguments:
        data: (128, 3, 112, 112)
        [17:54:55] src/storage/./pooled_storage_manager.h:107: cudaMalloc failed: unknown error
    """)
    assert roles(structure) == "EEE"
    assert only_raised(structure).message.endswith("cudaMalloc failed: unknown error")
    assert roles(read("ValueError: the end\n[17:54:55] epoch 7 begins")) == "ER"


def test_what_keras_announces_stands_below_a_gap() -> None:
    structure = read("""
        UnimplementedError: Exception encountered when calling layer "conv2d_2" (type Conv2D).

        {{function_node __wrapped__Conv2D_device_GPU:0}} DNN library is not found. [Op:Conv2D]

        Call arguments received by layer "conv2d_2" (type Conv2D):
          - inputs=tf.Tensor(shape=(4, 28, 28, 3), dtype=float32)

        and something else
    """)
    assert roles(structure) == "E-E-EE-T"
    assert "DNN library is not found" in only_raised(structure).message


def test_cmake_says_what_is_wrong_below_the_place() -> None:
    structure = read("""
        -- Configuring
        CMake Error at CMakeLists.txt:53 (message):
          The backend requires the library.  Please

          disable it
        Call Stack (most recent call first):
          other/CMakeLists.txt:13 (include)
    """)
    failure = only_failure(structure)
    assert (failure.first, failure.last) == (1, 4)
    assert failure.text.endswith("(message): The backend requires the library.  Please disable it")
    assert only_failure(read("CMake Error: no such file\n  nearby")).last == 0


def test_a_printed_object_does_not_belong_to_the_message() -> None:
    structure = read("""
        RuntimeError: cannot load
        DataParallel(
          (module): Net(
            (fc): Linear(in_features=1)
          )
        )
    """)
    assert roles(structure) == "ETTTTT"


def test_warning_is_a_notice_and_its_source_line_is_source() -> None:
    structure = read("""
        /venv/lib/python3.8/site-packages/torch/cuda/__init__.py:52: UserWarning: it could not be initialised
          return torch._C._cuda_getDeviceCount() > 0
        /venv/lib/python2.7/site-packages/torch/cuda/__init__.py:97: UserWarning:
            Found a device that is too old.

          warnings.warn(old_gpu_warn % (d, name))
        False
    """)
    assert roles(structure) == "RSRT-ST"
    assert not structure.failures


def test_traceback_inside_a_warning_is_survived() -> None:
    structure = read("""
        /venv/lib/python3.12/site-packages/cudf/utils/x.py:64: UserWarning: Error getting versions:

        stderr:

        Traceback (most recent call last):
          File "<string>", line 4, in <module>
        foo.SupportError: no library

        Not patching
          warnings.warn(msg, UserWarning)
    """)
    assert only_failure(structure).caught


@pytest.mark.parametrize(
    "before",
    ["Exception ignored in: <function Foo.__del__ at 0x7f>", "--- Logging error ---"],
)
def test_ignored_exceptions_are_caught(before: str) -> None:
    assert only_failure(read(f"{before}\n{PLAIN.strip()}")).caught


def test_logged_warning_with_traceback_is_caught_when_the_program_goes_on() -> None:
    logged = "WARNING:root:loading the cache failed\n" + PLAIN.strip()
    going_on = "".join(f"\nINFO:root:step {step}" for step in range(9))
    assert only_failure(read(logged + going_on)).caught
    assert not only_failure(read(logged)).caught
    absl = "2026-01-01 10:00:00.000000: W tensorflow/compiler/x.cc:38] no TensorRT\n" + PLAIN.strip()
    assert not only_failure(read(absl + going_on)).caught


def test_falling_back_is_caught() -> None:
    structure = read(PLAIN.strip() + "\n\nFalling back to CPU and retrying.")
    assert only_failure(structure).caught


@pytest.mark.parametrize(
    ("line", "kind", "type_"),
    [
        ("Aborted (core dumped)", "abort", "SIGABRT"),
        ("Segmentation fault (core dumped)", "signal", "SIGSEGV"),
        ("Illegal instruction (core dumped)", "signal", "SIGILL"),
        ("Bus error (core dumped)", "signal", "SIGBUS"),
        ("Killed", "killed", "SIGKILL"),
        ("train.sh: line 6: 26104 Segmentation fault      python -X faulthandler mlp.py", "signal", "SIGSEGV"),
        ("/home/u/oom.sh: line 2: 20328 Killed                  python build.py", "killed", "SIGKILL"),
        ("[1]    4242 segmentation fault (core dumped)  python train.py", "signal", "SIGSEGV"),
        ("zsh: killed     python train.py", "killed", "SIGKILL"),
        ("srun: error: cgpu12: task 0: Segmentation fault", "signal", "SIGSEGV"),
        ("已放弃 (核心已转储)", "abort", "SIGABRT"),
        ("Fatal Python error: Segmentation fault", "signal", "SIGSEGV"),
        ("[node01:12345] Signal: Segmentation fault (11)", "signal", "SIGSEGV"),
        ("[cgpu12:56309:2:56362] Caught signal 11 (Segmentation fault: address not mapped)", "signal", "SIGSEGV"),
        ("FatalError: `Process abort signal` is detected by the operating system.", "abort", "SIGABRT"),
        ("*** Error in `python': double free or corruption (!prev): 0x0000000002b6 ***", "abort", "SIGABRT"),
        ("Memory cgroup out of memory: Killed process 20328 (python) total-vm:7629160kB", "killed", "SIGKILL"),
        ("      Reason:       OOMKilled", "killed", "SIGKILL"),
        ("Kernel panic - not syncing: Fatal exception", "abort", "kernel panic"),
        ("terminate called without an active exception", "abort", ""),
        ("Process finished with exit code -1073740791 (0xC0000409)", "exit-code", "SIGABRT"),
        ("Process finished with exit code 137 (interrupted by signal 9: SIGKILL)", "exit-code", "SIGKILL"),
        ("##[error]Process completed with exit code 2.", "exit-code", ""),
        ("Error: Process completed with exit code 1.", "exit-code", ""),
        ("error: subprocess-exited-with-error", "exit-code", ""),
        ("error: command '/usr/local/cuda/bin/nvcc' failed with exit status 1", "exit-code", ""),
        ("make: *** [all] Error 1", "exit-code", ""),
        ("make[1]: *** [Makefile:9: stencil.o] Error 255", "exit-code", ""),
        ("ninja: build stopped: subcommand failed.", "exit-code", ""),
        ("The command '/bin/sh -c make' returned a non-zero code: 2", "exit-code", ""),
        ("slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2022-08-12T01:44:21 DUE TO TIME LIMIT ***", "exit-code", ""),
        ("slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2022-08-12T01:44:21 ***", "exit-code", ""),
        ("=>> PBS: job killed: walltime 43278 exceeded limit 43200", "exit-code", ""),
        ("TERM_OWNER: job killed by owner.", "exit-code", ""),
        (" * ERROR: media-libs/x-7.0::gentoo failed (compile phase):", "exit-code", ""),
        ("slurmstepd: error: Detected 1 oom-kill event(s) in step 1.batch cgroup.", "exit-code", ""),
        ("failed (exitcode: -6) local_rank: 3 (pid: 36674) of binary: /usr/bin/python", "exit-code", "SIGABRT"),
        (
            "[2024-01-01 10:00:00,1] [ERROR] [launch.py:3:f] ['python'] exits with return code = -9",
            "exit-code",
            "SIGKILL",
        ),
        ("F1011 13:25:12.899116  7866 x.hpp:122] Check failed: a == b (3 vs. 0)", "fatal-log", ""),
        ("2018-03-28 17:14:56.970757: F tensorflow/stream_executor/x.cc:444] could not convert", "fatal-log", ""),
        ("docker: Error response from daemon: OCI runtime create failed", "fatal-log", ""),
        ('src/foo.cu(12): error: identifier "bar" is undefined', "fatal-log", ""),
        ("main.cpp:3:10: fatal error: foo.h: No such file or directory", "fatal-log", ""),
        ("ptxas error   : Entry function 'f' uses too much shared data", "fatal-log", ""),
        ("modprobe: ERROR: could not insert 'nvidia': No such device", "fatal-log", ""),
        ("nvidia-container-cli: initialization error: it did not load", "fatal-log", ""),
        ("Process 'ForkPoolWorker-1' pid:123 exited with 'signal 9 (SIGKILL)'", "killed", "SIGKILL"),
        ("[2024-01-01 10:00:00 +0000] [1] [ERROR] Worker (pid:123) was sent SIGKILL!", "killed", "SIGKILL"),
        ("Command terminated by signal 11", "signal", "SIGSEGV"),
        ("train.py: error: unrecognized arguments: --local-rank=0", "fatal-log", ""),
        ("a.service: A process of this unit has been killed by the OOM killer.", "killed", "SIGKILL"),
        ("a.service: Failed with result 'oom-kill'.", "killed", "SIGKILL"),
        ("src/k.cu:62:385: internal compiler error: in maybe_undo, at cp/semantics.c:1740", "fatal-log", ""),
        ("nvidia-uvm/uvm.c:2580:2: \u9519\u8bef\uff1a#else", "fatal-log", ""),
        ("a.c:3:10: schwerwiegender Fehler: x.h: Datei oder Verzeichnis nicht gefunden", "fatal-log", ""),
        ("a.c:3:10: erreur fatale : x.h : Aucun fichier ou dossier de ce type", "fatal-log", ""),
    ],
)
def test_failures_in_one_line(line: str, kind: str, type_: str) -> None:
    failure = only_failure(parse(lines(line)))
    assert (failure.kind, failure.type) == (kind, type_)


def test_a_log_with_numbered_lines_is_no_quotation() -> None:
    numbered = "\n".join(f"{number} | RuntimeError happened {number} times" for number in range(118, 123))
    assert roles(read(numbered)) == roles(read("\n".join("text" for _ in range(5))))
    quoted = "foo.cu:3:10: error: no such thing\n3 | return x;\n  |        ^"
    assert roles(read(quoted))[1:] == roles(read("foo.cu:3:10: error: x\n    3 | return x;\n      |        ^"))[1:]


def test_a_whole_log_on_one_line_is_no_quotation() -> None:
    text = "+ nvcc -arch=sm_130 r.cu nvcc fatal   : Unsupported gpu architecture 'compute_130'"
    assert roles(read(text)) == roles(read("text"))
    assert roles(read(text + "\nnext")) != roles(read("text\nnext"))


@pytest.mark.parametrize(
    "line",
    [
        "Process finished with exit code 0",
        "0 errors, 3 warnings",
        "Epoch 1: error 0.25, failed samples: 0",
        "ERROR:root:could not reach the tracking server",
        "2024-01-01 10:00:00,123 [ERROR] evaluation failed, continuing",
        "The signal was aborted by nobody",
        "Installing exit-codes-1.0",
        "E0000 00:00:1736163964.084812 3415088 x.cc:8310] Unable to register the factory",
        "loss: 0.5 - return: 12.0",
        "nothing was killed",
        "\tInterrupt: pin A routed to IRQ 147",  # lspci -vv
    ],
)
def test_healthy_lines(line: str) -> None:
    assert not parse(lines(line)).failures


def test_terminate_called() -> None:
    structure = read("""
        terminate called after throwing an instance of 'c10::Error'
          what():  a bad access was encountered
        Errors might be reported late.
        Exception raised from create_event_internal at /pytorch/c10/x.cpp:733 (most recent call first):
        frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x42 (0x7fcf322542f2 in /usr/lib/libc10.so)
        frame #1: <unknown function> + 0x126850 (0x764b2e726850 in /lib/x86_64-linux-gnu/libc.so.6)

        Aborted (core dumped)
    """)
    assert roles(structure) == "EEEFFF-T"
    first, second = structure.failures
    assert (first.kind, first.type, first.text) == ("abort", "c10::Error", "a bad access was encountered")
    assert (second.kind, second.type) == ("abort", "SIGABRT")


@pytest.mark.parametrize(
    "entry",
    [
        "frame #3: c10d::ProcessGroup::watchdog() + 0x119 (0x7f5934b4c839 in /venv/libtorch_cuda.so)",
        "    @     0x7f01584a5daa  (unknown)",
        "    @              (nil)  (unknown)",
        "#4  0x00007f01584a5daa in foo (x=1) at foo.c:12",
        "[node01:12345] [ 0] /lib64/libpthread.so.0(+0xf630)[0x7f]",
        "    4  /usr/lib/libucp.so.0(ucp_ep_rkey_unpack+0x341) [0x2aab1a07e5e1]",
        "[ 3098.275499]  panic+0x15c/0x33b",
        "\tat org.Foo.bar(Foo.java:10)",
        "\tslow_neural_style.lua:70: in function 'main'",
    ],
)
def test_native_frames(entry: str) -> None:
    assert roles(parse(lines(entry))) == "F"


def test_lua() -> None:
    structure = read("""
        loading
        torch/install/share/lua/5.1/foo/ffi.lua:1603: 'libfoo not found in library path.
        Please install it

        stack traceback:
        \t[C]: in function 'error'
        \tmain.lua:70: in main chunk
    """)
    assert roles(structure) == "TEE-FFF"
    assert only_failure(structure).kind == "exception"


def test_java_and_julia() -> None:
    structure = read("""
        Exception in thread "main" java.lang.RuntimeException: boom
        \tat org.Foo.bar(Foo.java:10)
        Caused by: java.lang.IllegalStateException: inner
        \tat org.Foo.baz(Foo.java:20)
    """)
    assert roles(structure) == "EFEF"
    assert only_failure(structure).text == "java.lang.IllegalStateException: inner"
    julia = read("ERROR: LoadError: bad\nStacktrace:\n [1] error(s::String)\n   @ Base ./error.jl:35")
    assert roles(julia) == "EFFF"
    assert only_failure(julia).text == "LoadError: bad"


def test_rust() -> None:
    structure = read("""
        thread 'main' panicked at src/main.rs:4:5:
        called `Result::unwrap()` on an `Err` value
        stack backtrace:
           0: std::panicking::begin_panic
           1: demo::main
    """)
    assert roles(structure) == "EEFFF"
    assert only_failure(structure).type == "panic"


def test_quoted_source_outside_tracebacks() -> None:
    structure = read("""
        + export LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64
        ++ nproc
        main.cpp:3:10: error: 'x' was not declared
            3 | return x;
              |        ^
        foo.cu(12): error: identifier "bar" is undefined
              bar();
              ^
        >>> import torch
        >>>import torch
        >>>RuntimeError: CUDA error: out of memory
        >>> /usr/lib/libcublas.so.11: undefined symbol: cublasLtGetStatusString
        +-------------------+
        [+] Running 9/10
    """)
    assert roles(structure) == "SSTSSTSSSSTTTT"


def test_folded_script_of_ci() -> None:
    structure = read("""
        ##[group]Run make
        make CUDA=1
        shell: /usr/bin/bash -e {0}
        ##[endgroup]
        building
        Run python x.py
        python x.py
        shell: /usr/bin/bash -e {0}
        env:
          A: 1
        running
    """)
    assert roles(structure) == "SSSSTSSSSST"


def test_debugger_prints_the_exception_first() -> None:
    structure = read("""
        Exception has occurred: RuntimeError
        it went wrong
          File "/app/layers.py", line 248, in forward
            return x
          File "/app/train.py", line 18, in <mo
    """)
    assert roles(structure) == "EEFSF"
    assert only_failure(structure).text == "RuntimeError: it went wrong"


@pytest.mark.parametrize("words", ["Exception has occurred", "发生异常", "例外が発生しました", "Excepción"])
def test_debugger_speaks_many_languages(words: str) -> None:
    structure = read(f"""
        {words}: nvJitLinkError       (note: full exception trace is shown but execution is paused at: _run_module_as_main)
        ERROR_INTERNAL (6)
    """)
    assert roles(structure) == "EE"
    assert only_failure(structure).text == "nvJitLinkError: ERROR_INTERNAL (6)"


def test_error_that_an_editor_copies_from_a_notebook() -> None:
    structure = read("""
        {
            "name": "RuntimeError",
            "message": "it went wrong
        in two lines
        ",
            "stack": "---------------------------------------------------------------------------
        RuntimeError                              Traceback (most recent call last)
        File a.py:364, in f(x)
            363 with x:
        --> 364     y = f(
    """)
    first, last = structure.failures
    assert (first.text, first.type, first.cut) == ("RuntimeError: it went wrong\nin two lines", "RuntimeError", False)
    assert last.cut


def test_traceback_without_its_end_does_not_say_what_failed() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "a.py", line 1, in <module>
            f()
    """)
    assert only_failure(structure).cut


def test_package_of_a_cython_source() -> None:
    structure = read("""
        Traceback (most recent call last):
          File "/v/site-packages/cupy/__init__.py", line 11, in <module>
            from cupy import core
          File "cupy/cuda/runtime.pxd", line 5, in init cupy.cuda.device
        ImportError: it does not load
    """)
    assert only_failure(structure).package == "cupy"


def test_faulthandler_dump_is_no_exception() -> None:
    structure = read("""
        Fatal Python error: Segmentation fault

        Current thread 0x00007fa57e3ccb80 (most recent call first):
          File "/venv/lib/python3.11/site-packages/jax/_src/xla_bridge.py", line 612 in discover
          File "/home/dev/mlp.py", line 5 in <module>

        Extension modules: numpy.linalg, scipy.x (total: 45)
    """)
    assert roles(structure) == "T-TFF-T"
    assert not structure.raised


UNRELATED = st.lists(
    st.sampled_from(
        [
            "2024-01-31 10:00:00,123 INFO saved the checkpoint",
            "INFO:root:step 3",
            "[2024-01-31 10:00:00,123] [INFO] [launch.py:3:main] started",
            "I0625 02:54:25.428000 36671 x.py:432] Using it",
            " 42%|████▏     | 2146/5153 [2:42:50<3:13:08,  3.85s/it]",
            "",
        ]
    ),
    max_size=8,
)
SHAPES = st.sampled_from(
    [PLAIN, CHAINED.format(separator="During handling of the above exception, x"), PYTEST, RICH, ELASTIC]
)


def told(structure: Structure) -> list[tuple[str, str, str, bool, int]]:
    return [(r.type, r.message, r.relation, r.final, len(r.frames)) for r in structure.raised]


@given(UNRELATED, SHAPES, UNRELATED)
def test_unrelated_lines_around_a_traceback_change_nothing(before: list[str], shape: str, after: list[str]) -> None:
    alone = parse(lines(shape.strip("\n")))
    among = parse(lines("\n".join([*before, *shape.strip("\n").splitlines(), *after])))
    assert told(among) == told(alone)
    assert [(f.kind, f.type, f.text, f.package) for f in among.failures] == [
        (f.kind, f.type, f.text, f.package) for f in alone.failures
    ]


FRAGMENTS = [
    *"\n".join([PLAIN, CHAINED, PYTEST, RICH, ELASTIC]).splitlines(),
    "ImportError: Traceback (most recent call last):",
    "Original Traceback (most recent call last):",
    "  + Exception Group Traceback (most recent call last):",
    "  | ValueError: x",
    "RuntimeError     Traceback (most recent call last)",
    "terminate called after throwing an instance of 'x'",
    "stack traceback:",
    "Stacktrace:",
    "##[group]Run x",
    "Run x",
    "shell: x",
    "x.py:3: UserWarning: y",
    "^^^^",
    'File "',
]


@given(
    st.lists(
        st.builds(
            Line,
            st.one_of(st.text(st.characters(exclude_characters="\r\n")), st.sampled_from(FRAGMENTS)),
            st.just(1),
            st.just(0),
            st.just(0),
            rank=st.sampled_from(["", "", "0", "1"]),
            level=st.sampled_from(["", "", "I", "W", "E", "F"]),
        ),
        max_size=40,
    )
)
@settings(max_examples=300)
def test_any_lines_have_a_structure(log: list[Line]) -> None:
    structure = parse(log)
    assert len(structure.roles) == len(log)
    for raised in structure.raised:
        assert 0 <= raised.first <= raised.last < len(log)
        assert all(0 <= frame.index < len(log) for frame in raised.frames)
    for failure in structure.failures:
        assert 0 <= failure.first <= failure.last < len(log)
    assert list(structure.failures) == sorted(structure.failures, key=lambda failure: (failure.first, failure.last))


def test_tracebacks_quoted_without_end() -> None:
    log = lines("\n".join(["ImportError: Traceback (most recent call last):"] * 5000))
    assert len(parse(log).roles) == len(log)


FAILED = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: x\n'
EPOCHS = "Epoch 1/2 loss 0.5\nEpoch 2/2 loss 0.4\nsaved to a.pt\n"


@pytest.mark.parametrize(
    ("log", "begun"),
    [
        (f"$ python a.py -n 1\n{FAILED}$ python a.py -n 2\n{FAILED}", [5]),
        (f"C:\\x>python a.py\n{FAILED}C:\\x>set A=1\nC:\\x>python a.py\n{FAILED}", [6]),
        (f"(e) u@h:~$ A=1 python a.py\n{FAILED}(e) u@h:~$ sudo python a.py\n{FAILED}(e) u@h:~$ python a.py\nfine", [5]),
        (f"$ python a.py\n{FAILED}$ python b.py\n{FAILED}", []),  # another program
        (f"$ nvidia-smi\n$ python a.py\n{FAILED}$ nvidia-smi\n$ python a.py\nfine", []),  # it failed once
        (f"loading the model\nseed 1\n{FAILED}loading the model\nseed 2\n{FAILED}", [6]),
        (
            f"loading the model\nloading the model\nseed 1\n{FAILED}loading the model\nseed 2\n{FAILED}",
            [],
        ),  # two processes
        (  # a job's script says where and when it begins
            f"Host: n0\nStart: Mon Jul  6 09:34:18 PM MDT 2026\n{FAILED}"
            f"Host: n6\nStart: Tue Aug  7 12:47:10 AM MDT 2026\n{FAILED}",
            [6],
        ),
        (  # a chain whose first exception was not printed is no chain with the exception of the attempt before
            f"loading the model\nseed 1\n{FAILED}loading the model\nseed 2\n"
            + "INFO:root:step\n" * 150
            + f"The above exception was the direct cause of the following exception:\n\n{FAILED}",
            [6],
        ),
        (f"{FAILED}systemd: Scheduled restart job, restart counter is at 1.\n{FAILED}", [4]),
        (f"Attempt 1 of 3 failed: x\n{FAILED}Attempt 2 of 3 failed: x\n{FAILED}", [5]),
        (f"[run 1]\nseed 4\n{FAILED}[run 2]\nseed {FAILED}", [6]),
        (f"=== 2026-11-02 03:00 ===\n{FAILED}=== 2026-11-03 03:00 ===\n{FAILED}", [5]),  # a job of cron
        (f"Mon Nov  2 03:00:01 UTC 2026\n{FAILED}Tue Nov  3 03:00:01 UTC 2026\n{FAILED}", [5]),
        (f"Mon Nov  9 03:00:01 2026\n{FAILED}Tue Nov 10 03:00:01 2026\n{FAILED}", [5]),
        (f"2026-11-02T03:00:01+00:00\n{FAILED}2026-11-03T03:00:01+00:00\n{FAILED}", [5]),
        (f"Date: 02.11.2026, 03:00 AM\n{FAILED}Date: 03.11.2026, 03:00 AM\n{FAILED}", [5]),
        (f"loading the model\n{FAILED}loading the model\n{FAILED}", [5]),  # a traceback follows at once
        (f"=== build ===\n{FAILED}=== test ===\n{FAILED}", []),  # steps of one job
        (f"loading the model\nseed 1\n{FAILED}loading the model\nseed 2\n{EPOCHS}", [6]),  # it works at last
        (f"loading the model\nseed 1\n{FAILED}loading the model\nseed 2\nstep 1\n", []),  # nobody knows
        (f"{FAILED}{FAILED}", []),  # side by side, or one after the other: nobody can tell
    ],
)
def test_attempts(log: str, begun: list[int]) -> None:
    assert list(read(log).attempts) == begun


def test_many_different_ends_are_those_of_many_runs() -> None:
    ends = [
        f'Traceback (most recent call last):\n  File "/home/user/train.py", line {n}, in <module>\n    main()\n{name}: frob\n'
        for n, name in enumerate(("KeyError", "TypeError", "OSError", "ValueError", "NameError", "IndexError"), 1)
    ]
    assert read("".join(ends)).attempts == (4, 8, 12, 16, 20)
    assert read("".join(ends[:5] * 4)).attempts == ()  # processes of one run
    logged = "".join(end.replace("<module>", "serve") for end in ends)
    assert read(logged).attempts == ()  # a server that goes on


def test_what_failed_before_an_attempt_that_did_its_work_was_survived() -> None:
    run = "loading the model\nseed 1\n"
    assert read(f"{run}{FAILED}{run}{FAILED}{run}{EPOCHS}").ended_well
    assert not read(f"{run}{EPOCHS}{run}{FAILED}").ended_well
    assert not read(f"{FAILED}{EPOCHS}").ended_well  # one attempt: something went on, something failed


@pytest.mark.parametrize("filling", [".1", ":-", " 1", "- ", "1 a "])
def test_a_heading_that_is_none_takes_little_time(filling: str) -> None:
    before = time.process_time()
    assert read(f"2026 10:10 1{filling * 90}x\n{FAILED}{FAILED}").attempts == ()
    assert time.process_time() - before < 0.5


def test_attempts_of_many_failures_take_little_time() -> None:
    log = "loading the model\nseed 1\n" + FAILED * 3000
    before = time.process_time()
    assert read(log).attempts == ()
    assert time.process_time() - before < 5


@pytest.mark.parametrize(
    "end",
    [
        "BUILD_EXIT_CODE=0",
        "Process finished with exit code 0",
        "app-1 exited with code 0",
        "===== 3 passed, 1 skipped, 2 warnings in 4.31s =====",
        "5 passed in 0.12s",
        "[  PASSED  ] 12 tests.",
        "BUILD SUCCESSFUL in 3s",
        'INFO:     127.0.0.1:40322 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        '[GIN] 2025/04/16 - 00:47:22 | 200 |  3.606447003s |  127.0.0.1 | POST     "/api/embeddings"',
        "Training complete!",
        "[prep] DONE: wrote 6 files",
        "Finished training in 3.2 s",
        "All tests completed successfully.",
        "Model saved to out/model.pt",
        "Epoch 3/3\n8/8 [====] - 1s - loss: 0.12 - accuracy: 0.98",
        "{'train_runtime': 0.15, 'train_loss': 0.69}\n100%|####| 2/2 [00:00<00:00]",
    ],
)
def test_a_program_that_ended_well(end: str) -> None:
    assert read(f"W file.cc:1] no GPU\n{end}").ended_well
    assert not read(f"{FAILED}{end}").ended_well


@pytest.mark.parametrize(
    "end",
    [
        "BUILD_EXIT_CODE=1",
        "exit_code=01",
        "",
        "Process finished with exit code 1",
        "===== 1 failed, 3 passed in 4.31s =====",
        "Loading complete!",
        "[prep] done loading the model",
        "Training could not be completed successfully",
        "Epoch 2/3\n8/8 [====] - 1s - loss: 0.12",
        "done\nERROR: something else",
        "Download complete",
        'INFO:     127.0.0.1:40322 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
        'INFO:     127.0.0.1:40322 - "GET /health HTTP/1.1" 200 OK',
    ],
)
def test_a_program_that_is_not_known_to_have_ended_well(end: str) -> None:
    assert not parse([*lines("W file.cc:1] no GPU"), *lines(end, level="E" if "ERROR" in end else "")]).ended_well


@pytest.mark.parametrize(
    "log",
    [
        "449a726 Fix the out of memory error\nf0f795e Merge branch 'main'\n28ff7f7 (tag: v1) cuDNN version mismatch",
        'HEAD:src/c.cc:3658:  LOG(FATAL) << "x";\nsrc/c.cc:99:\treturn x;\nc.py:7:def f():',
        "c.py-1-import os\nc.py-2-\nc.py:3:raise X",
    ],
)
def test_listings_are_no_output(log: str) -> None:
    assert roles(read(log)) == "SSS"


@pytest.mark.parametrize(
    "log",
    [
        "src/a.cu(12): error: x\nsrc/a.cpp:3:10: error: y\nsrc/b.cpp:4: warning: z",
        "a.py:1: UserWarning: x\na.py:2: UserWarning: y\na.py:3: FutureWarning: z",
        "main.go:1: starting\nmain.go:2: out of memory\nmain.go:3: bye",
        "449a726 Fix it\nTraceback is gone\nall is well\nmore to come",
        "cafebabe\ndeadbeef x\n1234567 y",
    ],
)
def test_output_is_no_listing(log: str) -> None:
    assert "S" not in roles(read(log))


@pytest.mark.parametrize(
    "line",
    [
        "test_raises_out_of_memory (numba.tests.test_cuda.TestErrors.test_raises_out_of_memory) ... ok",
        "test_no_device (frob.tests.TestX) ... skipped 'CUDA not available'",
        "tests/test_cuda.py::test_launch_failed[cudnn-error] PASSED                 [ 31%]",
        "PASSED tests/test_cuda.py::test_launch_failed[CUBLAS_STATUS_ALLOC_FAILED]",
        "test driver::error_out_of_memory ... ok",
        "test driver::error_no_device ... ignored, needs a GPU",
        "--- PASS: TestNoDevice (0.00s)",
        "[       OK ] CudaError.IllegalAddress (3 ms)",
        "[ RUN      ] CudaError.IllegalAddress",
        " 3/12 Test  #3: cuda_error_no_device ......   Passed    0.02 sec",
    ],
)
def test_the_name_of_a_test_that_passed_is_no_error(line: str) -> None:
    assert roles(read(f"collecting\n{line}\ndone")) == "TST"


@pytest.mark.parametrize(
    "line",
    [
        "test_raises_out_of_memory (numba.tests.test_cuda.TestErrors) ... ERROR",
        "tests/test_cuda.py::test_launch FAILED                 [ 31%]",
        "[  FAILED  ] CudaError.IllegalAddress (3 ms)",
        "test run: CUDA error: out of memory, retrying ... ok",
        "RUN pip install torch",
    ],
)
def test_what_did_not_pass_stays_output(line: str) -> None:
    assert "S" not in roles(read(f"collecting\n{line}\ndone"))


def test_descriptions_of_options_are_no_output() -> None:
    structure = read("""
        usage: prog [-h] [--signal S]
        A program.
        options:
          -h, --help   show this help
          --signal S   SIGKILL or SIGUSR1, sent when
                       a worker fails
          --more
        prog: error: unrecognized arguments: --x
    """)
    assert roles(structure) == "TTTSSSST"
    assert only_failure(structure).kind == "fatal-log"


def test_the_message_of_an_exception_ends_before_the_next_epoch() -> None:
    raised = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: lost\n'
    failure = only_failure(parse(lines(raised + "Epoch 3 step 20 loss 0.25")))
    assert (failure.first, failure.last) == (2, 2)
