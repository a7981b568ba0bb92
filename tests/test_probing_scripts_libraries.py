"""Probe scripts that look at libraries: files on disk made byte by byte, and real ones made by a compiler for the loader."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import machines
from machines import FOLDER, MACHINE, compiled, examine, files, library, loader_cache, wheel

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="ELF files and ld.so are of Linux")
COMPILER = pytest.mark.skipif(not machines.has_compiler(), reason="needs gcc on Linux")
pytestmark = LINUX

PARTS = machines.knowledge().settings["cudnn_parts"]["9"]
ORIGIN = "$ORIGIN"


def cudnn(site: Path, release: tuple[int, int, int] = (9, 10, 2), without: str = "") -> Path:
    """A whole cuDNN 9 as its wheel installs it."""
    folder = site / "nvidia/cudnn/lib"
    library(folder / "libcudnn.so.9", soname="libcudnn.so.9", runpath=ORIGIN)
    for part in PARTS:
        if part != without:
            library(folder / f"lib{part}.so.9", soname=f"lib{part}.so.9", runpath=ORIGIN, release=release)
    listed = {f"nvidia/cudnn/lib/{path.name}": path.read_bytes() for path in folder.iterdir()}
    wheel(site, "nvidia-cudnn-cu12", ".".join(map(str, release)) + ".21", listed)
    return folder


def torch(
    site: Path, needed: tuple[str, ...], *, rpath: str = "", runpath: str = f"{ORIGIN}/../../nvidia/cudnn/lib"
) -> Path:
    """A framework's own library that needs others."""
    return library(site / "torch/lib/libtorch_cuda.so", needed=needed, rpath=rpath, runpath=runpath)


def look(root: Path, site: Path, **environ: str) -> machines.Said:
    return examine("libraries", root, environ={"PYTHONPATH": str(site), **environ}, flags=["-S"])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages folder inside the made-up root, so that it is found with and without the root."""
    return files(tmp_path / "site-packages", {})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return files(tmp_path, {"/etc/x": ""})


# on disk


def test_whole_cudnn(root: Path, site: Path) -> None:
    cudnn(site)
    said = look(root, site)
    assert (said.one("cudnn.present"), said.one("cudnn.parts.complete"), said.one("cudnn.parts.mixed")) == (
        "yes",
        "yes",
        "no",
    )
    assert said.one("cudnn.installed") == "9.10.2.21"
    assert (said.one("library.sound"), said.all("library.broken"), said.all("cudnn.parts.missing")) == ("yes", [], [])
    assert said.one("cudnn.plain") == "no"


def test_cudnn_part_missing(root: Path, site: Path) -> None:
    cudnn(site, without="cudnn_cnn")
    said = look(root, site)
    assert (said.one("cudnn.parts.complete"), said.all("cudnn.parts.missing")) == ("no", ["libcudnn_cnn.so.9"])


def test_cudnn_of_mixed_releases(root: Path, site: Path) -> None:
    folder = cudnn(site)
    library(folder / "libcudnn_graph.so.9", runpath=ORIGIN, release=(9, 1, 0))
    said = look(root, site)
    assert said.one("cudnn.parts.mixed") == "yes"


def test_no_cudnn(root: Path, site: Path) -> None:
    said = look(root, site)
    assert said.one("cudnn.present") == "no"
    assert "cudnn" in said.all("library.absent")
    assert (said.one("cudnn.parts.complete"), said.one("cudnn.parts.mixed"), said.one("cudnn.installed")) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize("how", ["empty", "truncated", "not-elf", "class", "machine", "dangling"])
def test_broken_library(how: str, root: Path, site: Path) -> None:
    path = cudnn(site) / "libcudnn_ops.so.9"
    other = "aarch64" if MACHINE == "x86_64" else "x86_64"
    if how == "empty":
        path.write_bytes(b"")
    elif how == "truncated":
        path.write_bytes(path.read_bytes()[:-40])
    elif how == "not-elf":
        path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    elif how == "dangling":
        path.unlink()
        path.symlink_to("libcudnn_ops.so.9.99.0")
    else:
        library(path, machine=other if how == "machine" else MACHINE, bits=32 if how == "class" else 64)
    said = look(root, site)
    assert said.one("library.sound") == "no"
    assert [Path(name).name for name in said.all("library.broken")] == ["libcudnn_ops.so.9"]
    assert said.one("library.broken.how") in {how, "truncated" if how == "class" else how}
    assert said.all("cudnn.parts.missing") == ["libcudnn_ops.so.9"]


def test_every_cut_of_a_library_is_seen(tmp_path: Path) -> None:
    """However much is missing at the end, it is a fault, never a traceback or a sound library."""
    whole = library(tmp_path / "libcudnn_graph.so.9", release=(9, 1, 0), soname="libcudnn_graph.so.9").read_bytes()
    space = {"__name__": "probe"}
    exec(compile(machines.bundle.program("libraries", machines.knowledge()), "libraries", "exec"), space)
    read = space["Elf"]
    assert read(str(tmp_path / "libcudnn_graph.so.9")).fault == ""  # type: ignore[operator]
    assert read(str(tmp_path / "libcudnn_graph.so.9")).release == "9.1.0"  # type: ignore[operator]
    cut = tmp_path / "libcudnn_ops.so.9"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        assert read(str(cut)).fault in {"empty", "truncated", "not-elf"}, length  # type: ignore[operator]


def test_libraries_for_other_machines_in_system_folders_are_no_fault(root: Path, site: Path) -> None:
    cudnn(site)
    library(root / "usr/lib/libcuda.so.1", machine="i386", bits=32)
    said = look(root, site)
    assert said.one("library.sound") == "yes"


def test_linker_script_is_no_fault(root: Path, site: Path) -> None:
    cudnn(site)
    files(root, {f"/usr/lib/{FOLDER}/libcudnn.so": "/* GNU ld script */\nINPUT(libcudnn.so.9)\n"})
    assert look(root, site).one("library.sound") == "yes"


def test_what_the_framework_needs_is_met(root: Path, site: Path) -> None:
    cudnn(site)
    torch(site, ("libcudnn.so.9",))
    said = look(root, site)
    assert (said.one("library.needs"), said.all("library.unresolved")) == ("met", [])
    assert said.one("library.framework") == "torch"


def test_what_the_framework_needs_is_missing(root: Path, site: Path) -> None:
    cudnn(site)
    torch(site, ("libcudnn.so.9", "libcublas.so.12", "libcuda.so.1"))
    library(root / "usr/local/cuda/lib64/libcublas.so.13")
    said = look(root, site)
    assert (said.one("library.needs"), said.all("library.unresolved")) == ("unmet", ["libcublas.so.12"])
    assert (said.one("library.other.present"), said.all("library.other")) == ("yes", ["libcublas.so.13"])


def test_part_that_cudnn_opens_later_counts_as_needed(root: Path, site: Path) -> None:
    cudnn(site, without="cudnn_adv")
    torch(site, ("libcudnn.so.9",))
    assert look(root, site).all("library.unresolved") == ["libcudnn_adv.so.9"]


def test_no_framework_no_verdict(root: Path, site: Path) -> None:
    cudnn(site)
    said = look(root, site)
    assert (said.one("library.needs"), said.one("library.framework")) == (None, None)


def test_loader_cache_and_links(root: Path, site: Path) -> None:
    real = library(root / "opt/cudnn/libcudnn.so.8.9.7", soname="libcudnn.so.8")
    (real.parent / "libcudnn.so.8").symlink_to(real.name)
    loader_cache(root, {"libcudnn.so.8": "/opt/cudnn/libcudnn.so.8"})
    said = look(root, site)
    assert set(said.all("cudnn.installed")) == {"8.9.7"}
    assert (said.one("cudnn.plain"), said.one("cudnn.first")) == ("yes", "/opt/cudnn/libcudnn.so.8")


def test_conda_environment(root: Path, site: Path, tmp_path: Path) -> None:
    prefix = files(tmp_path / "conda", {"conda-meta/history": ""})
    real = library(prefix / "lib/libcudnn.so.8.9.2", soname="libcudnn.so.8")
    (real.parent / "libcudnn.so.8").symlink_to(real.name)
    said = look(root, site, CONDA_PREFIX=str(prefix))
    assert said.one("cudnn.installed") == "8.9.2"
    assert {record["place"] for record in said.records("library")} == {"conda"}


def test_library_path_in_front_of_the_wheel(root: Path, site: Path, tmp_path: Path) -> None:
    cudnn(site)
    torch(site, ("libcudnn.so.9",))
    old = tmp_path / "old"
    for name in ("libcudnn.so.9", "libcudnn_graph.so.9"):
        library(old / name, release=(9, 1, 0) if "graph" in name else None, size=5000)
    said = look(root, site, LD_LIBRARY_PATH=str(old))
    assert said.one("library.shadowing") == "yes"
    assert set(said.all("library.shadowed")) == {"libcudnn.so.9", "libcudnn_graph.so.9"}
    assert said.all("library.shadowed.by")[0].startswith(str(old))
    same = look(root, site, LD_LIBRARY_PATH=str(site / "nvidia/cudnn/lib"))
    assert (same.one("library.shadowing"), same.all("library.shadowed")) == ("no", [])


def test_rpath_comes_before_the_library_path(root: Path, site: Path, tmp_path: Path) -> None:
    """An RPATH without RUNPATH is looked at before LD_LIBRARY_PATH, so nothing is shadowed; a RUNPATH is looked at after."""
    folder = cudnn(site)
    library(tmp_path / "old/libcudnn.so.9", size=5000)
    for name in folder.iterdir():
        library(name, soname=name.name, rpath=ORIGIN, release=(9, 10, 2))
    torch(site, ("libcudnn.so.9",), rpath=f"{ORIGIN}/../../nvidia/cudnn/lib", runpath="")
    assert look(root, site, LD_LIBRARY_PATH=str(tmp_path / "old")).one("library.shadowing") == "no"
    torch(site, ("libcudnn.so.9",))
    assert look(root, site, LD_LIBRARY_PATH=str(tmp_path / "old")).one("library.shadowing") == "yes"


def test_parts_that_cudnn_opens_by_name_are_shadowed(root: Path, site: Path, tmp_path: Path) -> None:
    """The main library comes from the wheel by RPATH; its parts are looked for along LD_LIBRARY_PATH before its own folder."""
    cudnn(site)
    torch(site, ("libcudnn.so.9",), rpath=f"{ORIGIN}/../../nvidia/cudnn/lib", runpath="")
    library(tmp_path / "old/libcudnn_graph.so.9", release=(9, 0, 0))
    said = look(root, site, LD_LIBRARY_PATH=str(tmp_path / "old"))
    assert (said.one("library.shadowing"), said.all("library.shadowed")) == ("yes", ["libcudnn_graph.so.9"])


@pytest.mark.parametrize(("how", "answer"), [("truncated", "yes"), ("machine", "no")])
def test_broken_file_in_front(how: str, answer: str, root: Path, site: Path, tmp_path: Path) -> None:
    """The loader stops at a damaged file, and passes over one for another processor."""
    cudnn(site)
    front = library(tmp_path / "front/libcudnn_cnn.so.9", machine="i386" if how == "machine" else MACHINE, size=9000)
    if how == "truncated":
        front.write_bytes(front.read_bytes()[:200])
    said = look(root, site, LD_LIBRARY_PATH=str(front.parent))
    assert (said.one("library.shadowing"), said.one("library.broken.how")) == (answer, how)


def test_preloaded_library_shadows(root: Path, site: Path, tmp_path: Path) -> None:
    mine = library(site / "nvidia/nccl/lib/libnccl.so.2", soname="libnccl.so.2")
    torch(site, ("libnccl.so.2",), rpath=f"{ORIGIN}/../../nvidia/nccl/lib", runpath="")
    cluster = library(tmp_path / "cluster/libnccl.so.2.18.3", soname="libnccl.so.2", size=4000)
    for path, answer in ((cluster, "yes"), (mine, "no")):
        before = f"os.environ['LD_PRELOAD'] = {str(path)!r}\n"  # set late: the file is no real library
        said = examine("libraries", root, environ={"PYTHONPATH": str(site)}, flags=["-S"], before=before)
        assert said.one("library.shadowing") == answer


@pytest.mark.parametrize(
    ("place", "kind"),
    [(f"usr/lib/{FOLDER}", "driver"), ("usr/local/cuda/lib64/stubs", "stub"), ("usr/local/cuda/compat", "compat")],
)
def test_kinds_of_libcuda(place: str, kind: str, root: Path, site: Path) -> None:
    library(root / place / "libcuda.so.1")
    assert set(look(root, site).all("libcuda.kinds")) == {kind}
    assert "driver" not in look(root, site).all("library.absent")


def test_glibcxx_that_the_framework_needs(root: Path, site: Path) -> None:
    library(site / "torch/lib/libtorch_python.so", names=["GLIBCXX_3.4.29", "GLIBC_2.34", "GLIBC_2.4"])
    said = look(root, site)
    assert (said.one("glibcxx.needed"), said.one("glibc.needed")) == ("3.4.29", "2.34")


def test_thousand_copies(root: Path, site: Path) -> None:
    for index in range(1000):
        library(root / f"usr/local/cuda-{index}/lib64/libcudart.so.12.{index}")
    said = look(root, site)
    assert len(said.records("library")) == 1000


def test_windows_names(site: Path, tmp_path: Path) -> None:
    folder = files(
        tmp_path / "bin", {"cudnn64_9.dll": pe((9, 5, 1, 17)), "cudart64_12.dll": b"MZ", "zlibwapi.dll": pe()}
    )
    environ = {"PATH": str(folder), "PYTHONPATH": str(site), "SYSTEMROOT": str(tmp_path / "Windows")}
    said = examine("libraries", system="windows", environ=environ, flags=["-S"])
    assert said.one("cudnn.installed") == "9.5.1.17"
    assert [Path(name).name for name in said.all("library.broken")] == ["cudart64_12.dll"]
    assert "vcruntime140.dll" in said.all("library.helper.absent")
    assert "zlibwapi.dll" not in said.all("library.helper.absent")


def pe(release: tuple[int, int, int, int] = (1, 0, 0, 0)) -> bytes:
    """A DLL's file with just a version resource."""
    import struct

    machine = 0x8664 if MACHINE == "x86_64" else 0xAA64
    head = bytearray(b"MZ" + bytes(62))
    head[0x3C:0x40] = struct.pack("<I", 64)
    a, b, c, d = release
    resource = b"\xbd\x04\xef\xfe" + struct.pack("<IHHHH", 0x10000, b, a, d, c)
    header = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, 0, 0)
    section = b".rsrc\0\0\0" + struct.pack("<IIII", len(resource), 0, len(resource), 64 + 24 + 40) + bytes(16)
    return bytes(head) + header + section + resource


# loaded for real

STATUS = """
typedef unsigned long size_t;
size_t cudnnGetVersion(void) { return VERSION; }
size_t cudnnGetCudartVersion(void) { return 12090; }
const char *cudnnGetErrorString(int s) { return s == 0 ? "CUDNN_STATUS_SUCCESS" : s == 1001 ? "CUDNN_STATUS_NOT_INITIALIZED" : "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"; }
void cudnnGetLastErrorString(char *text, size_t size) { text[0] = 'n'; text[1] = 'o'; text[2] = 0; }
int cudnnCreate(void **handle) { CREATE; }
int cudnnDestroy(void *handle) { return 0; }
int cudnnOpsVersionCheck(void) { return CHECK; }
"""


def real_cudnn(folder: Path, version: int = 91002, create: str = "return 0", check: int = 0, without: str = "") -> Path:
    compiled(
        folder / "libcudnn.so.9",
        STATUS,
        f"-DVERSION={version}",
        f"-DCREATE={create}",
        f"-DCHECK={check}",
        "-Wl,-soname,libcudnn.so.9",
        f"-Wl,-rpath,{ORIGIN}",
    )
    first = compiled(folder / "libcudnn_graph.so.9", "int nothing;", "-Wl,-soname,libcudnn_graph.so.9")
    for part in PARTS:
        if part == without:
            (folder / f"lib{part}.so.9").unlink(missing_ok=True)
        elif part != "cudnn_graph":
            shutil.copy(first, folder / f"lib{part}.so.9")
    return folder


def load(site: Path, **environ: str) -> machines.Said:
    return examine("loader", environ={"PYTHONPATH": str(site), **environ}, flags=["-S"])


@COMPILER
def test_cudnn_that_loads_and_answers(site: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib")
    said = load(site)
    assert (said.one("cudnn.loaded"), said.one("cudnn.cudart"), said.one("cudnn.create")) == (
        "9.10.2",
        "12.9",
        "CUDNN_STATUS_SUCCESS",
    )
    assert set(said.all("cudnn.part.loaded")) == {f"lib{part}.so.9" for part in PARTS}
    assert (said.all("cudnn.part.failed"), said.all("cudnn.part.check"), said.one("loader.mixed")) == ([], [], "no")
    assert (said.one("loader.cudnn"), said.one("cudnn.origin")) == ("yes", "wheel")


@COMPILER
def test_cudnn_part_that_is_missing_or_mismatched(site: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib", create="return 1001", check=2008, without="cudnn_adv")
    said = load(site)
    assert said.all("cudnn.part.failed") == ["libcudnn_adv.so.9"]
    assert said.all("cudnn.part.check") == ["CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"]
    assert (said.one("cudnn.create"), said.one("cudnn.error")) == ("CUDNN_STATUS_NOT_INITIALIZED", "no")
    assert "libcudnn_adv.so.9" in said.messages


@COMPILER
def test_parts_taken_from_another_release(site: Path, tmp_path: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib")
    compiled(tmp_path / "old/libcudnn_ops.so.9", "int old;", "-Wl,-soname,libcudnn_ops.so.9")
    said = load(site, LD_LIBRARY_PATH=str(tmp_path / "old"))
    assert said.one("loader.mixed") == "yes"


@COMPILER
def test_cudnn_from_the_library_path(site: Path, tmp_path: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib")
    real_cudnn(tmp_path / "old", version=90100)
    said = load(site, LD_LIBRARY_PATH=str(tmp_path / "old"))
    assert (said.one("cudnn.loaded"), said.one("cudnn.origin")) == ("9.1.0", "LD_LIBRARY_PATH")


def test_no_cudnn_to_load(site: Path) -> None:
    said = load(site)
    assert (said.one("loader.cudnn"), said.one("cudnn.loaded"), said.one("cudnn.create")) == ("no", None, None)


@COMPILER
def test_crash_inside_cudnn_tells_where(site: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib", create="return *(volatile int *)0")
    said = load(site)
    assert (said.one("probe.loader.crashed"), said.one("probe.loader.stage")) == ("SIGSEGV", "cudnnCreate")
    assert said.one("cudnn.loaded") == "9.10.2"
    assert said.one("cudnn.create") is None


DRIVER = """
int cuInit(unsigned f) { return STATUS; }
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *t, int n, int d) { t[0] = 'H'; t[1] = '0' + d; t[2] = 0; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : 0; return 0; }
"""


@COMPILER
@pytest.mark.parametrize(
    ("status", "folder", "name", "kind"),
    [
        (0, "lib", "CUDA_SUCCESS", "driver"),
        (100, "lib", "CUDA_ERROR_NO_DEVICE", "driver"),
        (34, "lib/stubs", "CUDA_ERROR_STUB_LIBRARY", "stub"),
        (803, "compat", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "compat"),
    ],
)
def test_what_cuinit_answers(status: int, folder: str, name: str, kind: str, site: Path, tmp_path: Path) -> None:
    compiled(tmp_path / folder / "libcuda.so.1", DRIVER, f"-DSTATUS={status}")
    said = load(site, LD_LIBRARY_PATH=str(tmp_path / folder))
    assert (said.one("driver.init"), said.one("driver.libcuda")) == (name, kind)
    assert said.one("cuda.driver") == "12.4"
    assert said.one("gpu.count") == (2 if status == 0 else None)
    assert said.all("gpu.name") == (["H0", "H1"] if status == 0 else [])
    assert said.all("gpu.cc") == (["9.0"] if status == 0 else [])


@COMPILER
def test_driver_that_crashes_leaves_cudnn_to_be_looked_at(site: Path, tmp_path: Path) -> None:
    compiled(tmp_path / "lib/libcuda.so.1", "int cuInit(unsigned f) { return *(volatile int *)0; }")
    real_cudnn(site / "nvidia/cudnn/lib")
    said = load(site, LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert (said.one("probe.loader.crashed"), said.one("probe.loader.stage")) == ("SIGSEGV", "cuInit")
    assert said.one("cudnn.loaded") == "9.10.2"


def test_libcuda_that_is_found_and_refused(site: Path, tmp_path: Path) -> None:
    files(tmp_path / "lib", {"libcuda.so.1": "not a library"})
    said = load(site, LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert said.one("driver.libcuda") == "broken"
    assert "libcuda.so.1" in said.messages


@pytest.mark.skipif(machines.opens("libcuda.so.1"), reason="there is a driver")
def test_no_libcuda(site: Path) -> None:
    said = load(site)
    assert (said.one("driver.libcuda"), said.one("driver.init")) == ("none", None)


@COMPILER
def test_framework_opens_its_libraries_by_full_path(site: Path) -> None:
    """libtorch_global_deps.so finds no cuDNN by itself; PyTorch then opens the wheel's, and so does the probe."""
    folder = real_cudnn(site / "nvidia/cudnn/lib")
    compiled(
        site / "torch/lib/libtorch_global_deps.so",
        "int torch;",
        "-Wl,--no-as-needed",
        f"-L{folder}",
        "-l:libcudnn.so.9",
    )
    said = load(site)
    assert (said.one("loader.cudnn"), said.one("cudnn.loaded"), said.all("loader.failed")) == ("yes", "9.10.2", [])
    (folder / "libcudnn.so.9").unlink()
    gone = load(site)
    assert (gone.one("loader.cudnn"), gone.all("loader.failed")) == ("no", ["libcudnn.so.9"])


@COMPILER
def test_mapped_libraries_are_seen_without_proc(site: Path, tmp_path: Path) -> None:
    real_cudnn(site / "nvidia/cudnn/lib")
    hidden = "plain_read = read\ndef read(path, limit=1 << 20):\n    return None if path.startswith('/proc/') else plain_read(path, limit)\n"
    said = examine("loader", environ={"PYTHONPATH": str(site)}, flags=["-S"], before=hidden)
    assert any(name.endswith("libcudnn.so.9") for name in said.all("loader.loaded"))
    assert said.one("cudnn.origin") == "wheel"


@COMPILER
def test_real_libraries_are_sound(site: Path, root: Path) -> None:
    """What gcc makes is read without a fault, with all it needs."""
    folder = compiled(
        site / "nvidia/cudnn/lib/libcudnn.so.9",
        "int x;",
        "-Wl,-soname,libcudnn.so.9",
        "-Wl,-rpath,/opt/lib",
        "-lm",
        "-Wl,--no-as-needed",
    ).parent
    subprocess.run(["strip", folder / "libcudnn.so.9"], check=True)
    said = look(root, site)
    assert said.one("library.sound") == "yes"
    assert said.records("library")[0]["soname"] == "libcudnn.so.9"


WINDOWS = """
class Kernel:
    class GetCurrentProcess:
        def __call__(self): return -1
    GetCurrentProcess = GetCurrentProcess()
    def K32EnumProcessModules(self, process, handles, room, size):
        handles[0], handles[1] = 11, 12
        size._obj.value = 2 * ctypes.sizeof(ctypes.c_void_p)
        return 1
    def GetModuleFileNameW(self, handle, name, room):
        name.value = {11: "C:/Windows/System32/nvcuda.dll", 12: "C:/env/torch/lib/cudnn64_9.dll"}[handle.value]
        return 1
ctypes.WinDLL = lambda name: Kernel()
"""


def test_windows_modules(site: Path) -> None:
    said = examine(
        "loader",
        system="windows",
        environ={"PYTHONPATH": str(site)},
        flags=["-S"],
        before=WINDOWS + "def examine_driver():\n    tell_mapped('test')\n",
    )
    assert {Path(name).name for name in said.all("loader.loaded")} == {"nvcuda.dll", "cudnn64_9.dll"}
