"""Probe scripts on made-up machines: environment, driver, host, packages, toolchain; and every probe where nothing can be read."""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker, default_environment
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import machines
from cudnn_triage.probing import bundle
from machines import FOLDER, examine, files, library, program, wheel

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the scripts' Linux half needs Linux paths")
PROBES = sorted(machines.knowledge().probes)
FRAMEWORKS = {"torch", "tensorflow", "jax", "onnxruntime", "extensions"}
SYSTEM_PROBES = [probe for probe in PROBES if probe not in FRAMEWORKS]
PLAIN_USER = "import os\nif os.geteuid() == 0: os.setuid(65534)\n"  # a probe that runs as root sees everything


def functions(probe: str) -> dict[str, Any]:
    """The names that a probe's program defines."""
    space: dict[str, Any] = {"__name__": "probe"}
    exec(compile(bundle.program(probe, machines.knowledge()), probe, "exec"), space)
    return space


def interpreters() -> list[str]:
    """One interpreter of each release from 3.8 on that is at hand."""
    found: dict[str, str] = {}
    candidates = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    candidates += [Path(path) for minor in range(8, 15) if (path := shutil.which(f"python3.{minor}"))]
    for path in candidates:
        ask = "import sys; print('%d.%02d' % sys.version_info[:2])"
        said = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout >= "3.08":
            found.setdefault(said.stdout.strip(), str(path))
    return list(found.values())


def public_python() -> str:
    """An interpreter that a plain user may run, too (root's own may lie where others cannot look)."""
    return "/usr/bin/python3" if not os.geteuid() else sys.executable


# every probe, where there is little to see


def test_scripts_are_written_for_python_3_8() -> None:
    for entry in resources.files("cudnn_triage.probing").joinpath("scripts").iterdir():
        if entry.name.endswith(".py"):
            ast.parse(entry.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("probe", PROBES)
def test_no_name_is_defined_twice_in_a_program(probe: str) -> None:
    """Head, parts and script share one name space; a second definition would change the first one's callers."""
    names = [
        target
        for node in ast.parse(bundle.program(probe, machines.knowledge())).body
        for target in (
            [node.name]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            else [
                t.id
                for t in ([node.target] if isinstance(node, ast.AnnAssign) else node.targets)
                if isinstance(t, ast.Name)
            ]
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            else []
        )
    ]
    given = {"SETTINGS", "READS", "CODES", "GPU_MEMORY", "TYPE_CHECKING"}  # replaced or repeated on purpose
    assert sorted(name for name in set(names) - given if names.count(name) > 1) == []


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).parents[1].name)
def test_runs_on_every_python_at_hand(python: str) -> None:
    for probe in PROBES:
        examine(probe, python=python, flags=["-S"] if probe in FRAMEWORKS else [])


@pytest.mark.parametrize("system", ["linux", "windows", "macos"])
@pytest.mark.parametrize("probe", SYSTEM_PROBES)
def test_bare_machine_without_proc(probe: str, system: str, tmp_path: Path) -> None:
    examine(probe, tmp_path, system=system)


@LINUX
@pytest.mark.parametrize("probe", ["environment", "driver", "host", "libraries", "toolchain"])
def test_garbage_in_system_files_costs_only_its_reading(probe: str, tmp_path: Path) -> None:
    noise = random.Random(5).randbytes(3000)
    names = ["/proc/modules", "/proc/meminfo", "/proc/self/cgroup", "/proc/self/status", "/proc/driver/nvidia/version"]
    names += ["/etc/ld.so.cache", "/etc/os-release", "/proc/cpuinfo", "/proc/net/tcp", "/proc/vmstat", "/proc/1/cgroup"]
    names += [f"/usr/lib/{FOLDER}/libcudnn.so.9", "/etc/hosts", "/etc/nsswitch.conf", "/sys/kernel/security/lockdown"]
    files(tmp_path, dict.fromkeys(names, noise))
    examine(probe, tmp_path)


@LINUX
@pytest.mark.parametrize("probe", SYSTEM_PROBES)
def test_folders_that_may_not_be_read(probe: str) -> None:
    """A user who may look into nothing gets an end, not a traceback."""
    with tempfile.TemporaryDirectory() as made:
        root = files(
            Path(made), {"/proc/x": "", "/dev/nvidia0": "", "/sys/module/x": "", "/usr/local/cuda/lib64/x": ""}
        )
        root.chmod(0o755)
        top = [root / name for name in ("proc", "dev", "sys", "usr")]
        for folder in top:
            folder.chmod(0)
        try:
            examine(probe, root, before=PLAIN_USER, python=public_python(), flags=["-S"])
        finally:
            for folder in top:
                folder.chmod(0o755)


def test_chatter_does_not_reach_the_answer() -> None:
    chatter = "quiet = main\ndef main():\n    print('inside')\n    os.write(1, b'raw')\n    quiet()\n"
    said = examine("environment", before=chatter)
    assert "inside" in said.errors
    assert "raw" in said.errors


def test_failing_reading_is_named_and_costs_only_itself() -> None:
    said = examine("environment", before="def examine_limits():\n    raise ValueError('odd')\n", whole=False)
    assert [line for line in said.lines if "trouble" in line] == [
        {"trouble": "ValueError: odd", "of": "examine_limits"}
    ]
    assert said.lines[-1] == {"end": "ok"}
    assert said.one("platform.os")


# environment


@LINUX
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "unset"), ("", "none"), ("-1", "none"), ("NoDevFiles", "none"), ("0", "indices"), ("0, 1,3", "indices"),
        ("GPU-8f1b7a7e-0000-1111-2222-333344445555", "uuids"), ("MIG-1c2d3e4f-aaaa-bbbb-cccc-ddddeeeeffff", "mig"),
        ("cuda:0", "odd"),
    ],
)  # fmt: skip
def test_visible_devices(value: str | None, kind: str, tmp_path: Path) -> None:
    said = examine("environment", tmp_path, environ={} if value is None else {"CUDA_VISIBLE_DEVICES": value})
    assert said.one("env.CUDA_VISIBLE_DEVICES.kind") == kind
    assert ("CUDA_VISIBLE_DEVICES" in said.all("env.unset")) == (value is None)
    assert ("CUDA_VISIBLE_DEVICES" in said.all("env.set")) == (value is not None)


def test_no_other_variable_leaves_the_machine() -> None:
    said = examine("environment", environ={"HF_TOKEN": "hf_secret", "AWS_SECRET_ACCESS_KEY": "hush"})
    assert "hf_secret" not in str(said.lines)
    assert "hush" not in str(said.lines)


@LINUX
@pytest.mark.parametrize(
    ("contents", "environ", "kind"),
    [
        ({"/.dockerenv": ""}, {}, "docker"),
        ({"/proc/1/cgroup": "12:cpuset:/docker/0123abcd\n"}, {}, "docker"),
        ({"/run/.containerenv": ""}, {}, "podman"),
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"APPTAINER_CONTAINER": "/x.sif"}, "singularity"),
        ({"/proc/1/cgroup": "0::/init.scope\n"}, {}, None),
    ],
)
def test_containers(contents: dict[str, str], environ: dict[str, str], kind: str | None, tmp_path: Path) -> None:
    said = examine("environment", files(tmp_path, contents), system="linux", environ=environ)
    assert said.one("platform.container") == kind
    assert ("container" in said.all("platform.without")) == (kind is None)


@LINUX
def test_driver_in_a_container(tmp_path: Path) -> None:
    inside = {"/.dockerenv": ""}
    assert examine("environment", files(tmp_path / "a", inside)).one("container.driver") == "no"
    assert (
        examine("environment", files(tmp_path / "b", {**inside, "/dev/nvidiactl": ""})).one("container.driver") == "yes"
    )
    assert examine("environment", files(tmp_path / "c", {"/proc/x": ""})).one("container.driver") is None


@LINUX
def test_wsl_versions(tmp_path: Path) -> None:
    kernel = "/proc/sys/kernel/osrelease"
    two = files(tmp_path / "2", {kernel: "5.15.90.1-microsoft-standard-WSL2"})
    assert examine("environment", two).one("platform.wsl") == "2"
    assert examine("environment", files(tmp_path / "1", {kernel: "4.4.0-19041-Microsoft"})).one("platform.wsl") == "1"
    assert "wsl" in examine("environment", files(tmp_path / "0", {kernel: "6.1.0-18-amd64"})).all("platform.without")


@LINUX
def test_hosted_and_scheduled(tmp_path: Path) -> None:
    said = examine("environment", tmp_path, environ={"SLURM_JOB_ID": "1", "COLAB_RELEASE_TAG": "release-colab"})
    assert (said.one("platform.scheduler"), said.one("platform.hosted")) == ("slurm", "colab")
    assert "ci" in said.all("platform.without")


@LINUX
def test_cgroup_memory_limit_of_a_parent_counts(tmp_path: Path) -> None:
    root = files(tmp_path, {
        "/proc/self/cgroup": "0::/job/step\n",
        "/sys/fs/cgroup/job/memory.max": "2147483648\n", "/sys/fs/cgroup/job/memory.current": "1073741824\n",
        "/sys/fs/cgroup/job/step/memory.max": "max\n", "/sys/fs/cgroup/job/step/memory.current": "5\n",
    })  # fmt: skip
    said = examine("environment", root)
    assert (said.one("memory.cgroup"), said.one("memory.cgroup.used")) == (2147483648, 1073741824)


@LINUX
def test_no_cgroup_limit_is_said_and_no_cgroup_is_silence(tmp_path: Path) -> None:
    free = files(tmp_path / "free", {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"})
    said = examine("environment", free)
    assert "memory.cgroup" in said.all("limits.unlimited")
    assert said.one("memory.cgroup") is None
    blind = examine("environment", files(tmp_path / "blind", {}))
    assert "memory.cgroup" not in blind.all("limits.unlimited")
    assert blind.one("memory.cgroup") is None


@LINUX
def test_old_cgroup_devices_and_memory(tmp_path: Path) -> None:
    root = files(tmp_path, {
        "/proc/self/cgroup": "4:memory:/docker/1\n3:devices:/docker/1\n",
        "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "1073741824\n",
        "/sys/fs/cgroup/devices/docker/1/devices.list": "c 1:3 rwm\nc 195:* rwm\n",
    })  # fmt: skip
    said = examine("environment", root)
    assert (said.one("memory.cgroup"), said.one("cgroup.devices")) == (1073741824, "limited")


@LINUX
def test_interface_that_nccl_is_told_to_use() -> None:
    for value, missing in (("nosuch", ["nosuch"]), ("=lo", []), ("^lo", []), ("lo,nosuch", ["nosuch"])):
        said = examine("environment", environ={"NCCL_SOCKET_IFNAME": value})
        assert said.all("network.interface.missing") == missing


@LINUX
def test_missing_folders_of_search_paths(tmp_path: Path) -> None:
    said = examine("environment", environ={"LD_LIBRARY_PATH": f"/no/such/folder:{tmp_path}", "CUDA_HOME": "/no/cuda"})
    assert said.all("env.folder.missing") == ["/no/such/folder"]
    assert said.all("env.file.missing") == ["CUDA_HOME"]


@LINUX
def test_ulimit_is_a_size() -> None:
    before = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))\n"
    said = examine("environment", before=before)
    assert said.one("memory.ulimit") == 8 << 30
    assert "memory.ulimit" not in said.all("limits.unlimited")


@LINUX
def test_listening_ports(tmp_path: Path) -> None:
    row = "   0: 0100007F:7371 00000000:0000 {} 00000000:00000000 00:00000000 00000000     0        0 1\n"
    root = files(
        tmp_path,
        {"/proc/net/tcp": "  sl  local_address\n" + row.format("0A") + row.replace("7371", "1111").format("01")},
    )
    assert examine("environment", root).all("port.listening") == [29553]


# driver

MODULES = "nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1 nvidia_uvm, Live 0x0\n"
OTHER_MODULES = "ext4 1 0 - Live 0x0\n"
PROC = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Tue Mar 12 23:40:52 UTC 2024\nGCC version: gcc version 12.3.0\n"


def driver_machine(root: Path, kernel: str = "550.54.14", user: str = "550.54.14") -> Path:
    """A machine with a driver: modules, nodes, libcuda."""
    files(root, {"/proc/modules": MODULES, "/proc/driver/nvidia/version": PROC.format(kernel)})
    files(root, {"/proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: X\nDevice Minor: \t 0\n"})
    files(root, {"/dev/nvidiactl": "", "/dev/nvidia-uvm": "", "/dev/nvidia0": ""})
    real = library(root / f"usr/lib/{FOLDER}/libcuda.so.{user}", soname="libcuda.so.1")
    (real.parent / "libcuda.so.1").symlink_to(real.name)
    return root


@LINUX
def test_working_driver(tmp_path: Path) -> None:
    said = examine("driver", driver_machine(tmp_path))
    assert (said.one("driver.present"), said.one("driver.module"), said.one("driver.uvm")) == ("yes", "yes", "yes")
    assert (said.one("driver.kernel"), said.one("driver.library")) == ("550.54.14", "550.54.14")
    assert (said.one("driver.matches"), said.one("driver.gpus"), said.one("driver.open")) == ("yes", 1, "no")


@LINUX
def test_driver_upgraded_without_reboot(tmp_path: Path) -> None:
    said = examine("driver", driver_machine(tmp_path, kernel="535.161.07"))
    assert said.one("driver.matches") == "no"
    assert (said.one("driver.kernel"), said.one("driver.library")) == ("535.161.07", "550.54.14")


@LINUX
def test_no_driver_where_one_could_look(tmp_path: Path) -> None:
    machine = {"/proc/modules": OTHER_MODULES, "/sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n"}
    said = examine("driver", files(tmp_path, machine))
    assert (said.one("driver.present"), said.one("driver.module"), said.one("driver.hardware")) == ("no", "no", "no")
    assert said.one("driver.libraries") == "absent"
    assert said.one("driver.matches") is None


@LINUX
def test_no_answer_where_one_cannot_look(tmp_path: Path) -> None:
    said = examine("driver", tmp_path)
    assert said.one("driver.present") is None
    assert said.one("driver.module") is None
    assert said.one("driver.hardware") is None


@LINUX
def test_user_space_without_module(tmp_path: Path) -> None:
    files(driver_machine(tmp_path), {"/proc/modules": OTHER_MODULES})
    shutil.rmtree(tmp_path / "proc/driver")
    shutil.rmtree(tmp_path / "dev")
    said = examine("driver", tmp_path)
    assert (said.one("driver.present"), said.one("driver.libraries")) == ("no", "found")
    assert said.one("driver.library") == "550.54.14"


@LINUX
def test_nodes_fine_denied_and_missing() -> None:
    with tempfile.TemporaryDirectory() as made:
        root = driver_machine(Path(made))
        root.chmod(0o755)
        node = {name: root / "dev" / name for name in ("nvidiactl", "nvidia-uvm", "nvidia0")}
        for path in node.values():
            path.chmod(0o666)
        fine = examine("driver", root, before=PLAIN_USER, python=public_python())
        assert fine.one("driver.nodes") == "ok"
        node["nvidia0"].chmod(0)
        denied = examine("driver", root, before=PLAIN_USER, python=public_python())
        assert (denied.one("driver.nodes"), denied.all("driver.node.denied")) == ("denied", ["/dev/nvidia0"])
        node["nvidia0"].chmod(0o666)
        node["nvidia-uvm"].unlink()
        missing = examine("driver", root, before=PLAIN_USER, python=public_python())
        assert (missing.one("driver.nodes"), missing.all("driver.node.missing")) == ("missing", ["/dev/nvidia-uvm"])
        program(root, "nvidia-modprobe", "")
        later = examine("driver", root, before=PLAIN_USER, python=public_python())
        assert (later.one("driver.nodes"), later.all("driver.node.missing")) == ("on-demand", ["/dev/nvidia-uvm"])


@LINUX
def test_gpu_held_by_nouveau(tmp_path: Path) -> None:
    device = "/sys/bus/pci/devices/0000:01:00.0"
    root = files(tmp_path, {"/proc/modules": "nouveau 1 0 - Live 0x0\n", "/sys/bus/pci/drivers/nouveau": None})
    files(root, {device + "/vendor": "0x10de\n", device + "/class": "0x030000\n"})
    (root / (device.lstrip("/") + "/driver")).symlink_to(root / "sys/bus/pci/drivers/nouveau")
    said = examine("driver", root)
    assert (said.one("driver.nouveau"), said.one("driver.hardware")) == ("yes", "yes")
    assert (said.all("driver.bound"), said.one("driver.present")) == (["nouveau"], "no")


@LINUX
@pytest.mark.parametrize(("last", "answer"), [(b"\x01", "on"), (b"\x00", "off")])
def test_secure_boot(last: bytes, answer: str, tmp_path: Path) -> None:
    name = machines.knowledge().probes["driver"]["settings"]["secure_boot"]
    assert examine("driver", files(tmp_path / "efi", {name: b"\x06\0\0\0" + last})).one("driver.secureboot") == answer
    assert examine("driver", files(tmp_path / "masked", {"/sys/firmware": None})).one("driver.secureboot") is None


@LINUX
def test_module_built_for_this_kernel_or_not(tmp_path: Path) -> None:
    modules = "/lib/modules/6.8.0-45-generic/modules.dep"
    root = files(tmp_path, {
        "/proc/sys/kernel/osrelease": "6.8.0-45-generic\n", "/proc/modules": OTHER_MODULES,
        modules: "kernel/fs/ext4/ext4.ko:\n", "/var/lib/dkms/nvidia/550.54.14/6.8.0-41-generic/x": "",
    })  # fmt: skip
    said = examine("driver", root)
    assert (said.one("driver.built"), said.one("driver.dkms")) == ("no", "not-built")
    assert said.one("driver.dkms.version") == "550.54.14"
    files(root, {modules: "updates/dkms/nvidia.ko.zst:\n", "/var/lib/dkms/nvidia/550.54.14/6.8.0-45-generic/x": ""})
    again = examine("driver", root)
    assert (again.one("driver.built"), again.one("driver.dkms")) == ("yes", "built")


@LINUX
def test_fabric_manager(tmp_path: Path) -> None:
    running = files(tmp_path / "a", {"/proc/2/comm": "kthreadd\n", "/proc/900/comm": "nv-fabricmanage\n"})
    assert examine("driver", running).one("fabric.manager") == "yes"
    assert examine("driver", files(tmp_path / "b", {"/proc/2/comm": "kthreadd\n"})).one("fabric.manager") == "no"
    assert examine("driver", files(tmp_path / "c", {"/proc/1/comm": "bash\n"})).one("fabric.manager") is None


@LINUX
def test_wsl_driver(tmp_path: Path) -> None:
    root = files(tmp_path, {"/dev/dxg": "", "/proc/modules": ""})
    library(root / "usr/lib/wsl/lib/libcuda.so.1")
    machines.loader_cache(root, {"libcuda.so.1": "/usr/lib/wsl/lib/libcuda.so.1"})
    said = examine("driver", root)
    assert (said.one("driver.present"), said.one("driver.wsl.library"), said.one("driver.wsl.foreign")) == (
        "yes",
        "yes",
        "no",
    )
    library(root / f"usr/lib/{FOLDER}/libcuda.so.1")
    machines.loader_cache(root, {"libcuda.so.1": f"/usr/lib/{FOLDER}/libcuda.so.1"})
    assert examine("driver", root).one("driver.wsl.foreign") == "yes"


def test_windows_driver(tmp_path: Path) -> None:
    system = files(tmp_path / "Windows" / "System32", {"other.dll": ""})
    environ = {"SYSTEMROOT": str(tmp_path / "Windows")}
    assert examine("driver", system="windows", environ=environ).one("driver.present") == "no"
    files(system, {"nvcuda.dll": ""})
    assert examine("driver", system="windows", environ=environ).one("driver.present") == "yes"


# host

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
KILLED = "Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:1kB"


@LINUX
def test_memory_in_bytes(tmp_path: Path) -> None:
    text = "MemTotal: 1024 kB\nMemAvailable: 512 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"
    said = examine("host", files(tmp_path, {"/proc/meminfo": text}))
    assert (said.one("ram.total"), said.one("ram.free"), said.one("swap.total")) == (1 << 20, 1 << 19, 0)


@LINUX
def test_kernel_log(tmp_path: Path) -> None:
    text = "\n".join(["[    0.000000] Linux version 6.8"] * 30 + [f"[1.0] {XID}", f"[2.0] {KILLED}"])
    program(tmp_path / "a", "dmesg", f"cat <<'END'\n{text}\nEND\n")
    said = examine("host", tmp_path / "a")
    assert (said.one("kernel.log"), said.all("xid.number"), said.all("host.killed")) == ("read", [79], ["python3"])
    assert XID in said.messages
    program(tmp_path / "b", "dmesg", "cat <<'END'\n" + "[0.0] quiet\n" * 30 + "END\n")
    quiet = examine("host", tmp_path / "b")
    assert (quiet.one("kernel.log"), quiet.all("xid.number"), quiet.all("host.killed")) == ("read", [], [])
    program(tmp_path / "c", "dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted'; exit 1\n")
    closed = examine("host", tmp_path / "c")
    assert (closed.one("kernel.log"), closed.all("xid.number")) == ("closed", [])


@LINUX
def test_endless_dmesg_is_cut_off(tmp_path: Path) -> None:
    program(tmp_path, "dmesg", "while :; do echo '[1.0] again and again and again and again'; done\n")
    assert examine("host", tmp_path).one("kernel.log") == "closed"


@LINUX
def test_oom_kills(tmp_path: Path) -> None:
    root = files(tmp_path / "killed", {
        "/proc/vmstat": "nr_free_pages 5\noom_kill 3\n", "/proc/self/cgroup": "0::/job\n",
        "/sys/fs/cgroup/job/memory.events": "low 0\noom 1\noom_kill 2\n",
    })  # fmt: skip
    said = examine("host", root)
    assert (said.one("host.oomkill"), said.one("cgroup.oomkill")) == (3, 2)
    none = examine("host", files(tmp_path / "none", {"/proc/vmstat": "oom_kill 0\n"}))
    assert (none.one("host.oomkill"), none.one("cgroup.oomkill")) == (0, None)
    blind = examine("host", files(tmp_path / "blind", {}))
    assert (blind.one("host.oomkill"), blind.one("cgroup.oomkill")) == (None, None)


# packages


def packages(site: Path) -> machines.Said:
    return examine("packages", environ={"PYTHONPATH": str(site)}, flags=["-S"])


def test_healthy_packages(tmp_path: Path) -> None:
    needs = ['nvidia-cudnn-cu12==9.1.0.70; python_version >= "3"', "numpy<3; extra == 'all'"]
    wheel(tmp_path, "torch", "2.4.0", {"torch/__init__.py": "x"}, needs)
    wheel(
        tmp_path, "nvidia-cudnn-cu12", "9.1.0.70", {"nvidia/__init__.py": "", "nvidia/cudnn/lib/libcudnn.so.9": "ELF"}
    )
    wheel(
        tmp_path,
        "nvidia-cublas-cu12",
        "12.4.5.8",
        {"nvidia/__init__.py": "", "nvidia/cublas/lib/libcublas.so.12": "ELF"},
    )
    said = packages(tmp_path)
    assert said.one("package.torch") == "2.4.0"
    assert (said.one("packages.check"), said.one("packages.files"), said.one("packages.conflicting")) == (
        "ok",
        "complete",
        "no",
    )
    assert said.one("packages.doubled") == "no"
    assert said.one("packages.cuda.major") == 12
    assert "tensorflow" in said.all("packages.absent")


def test_unmet_and_missing_requirements(tmp_path: Path) -> None:
    wheel(tmp_path, "torchvision", "0.19.0", {}, ["torch==2.4.0", "numpy"])
    wheel(tmp_path, "torch", "2.5.1+cu121", {})
    said = packages(tmp_path)
    assert (said.one("packages.check"), said.one("packages.unmet")) == ("broken", "torchvision")
    assert (said.one("pip.has"), said.one("packages.missing")) == ("torch", "numpy")
    unmet = {"package": "torchvision", "version": "0.19.0", "needs": "torch==2.4.0", "installed": "2.5.1+cu121"}
    assert said.records("unmet")[0] == unmet


def test_two_packages_write_the_same_files(tmp_path: Path) -> None:
    wheel(
        tmp_path,
        "nvidia-cudnn-cu11",
        "8.9.6.50",
        {"nvidia/__init__.py": "", "nvidia/cudnn/lib/libcudnn.so.8": "eleven"},
    )
    wheel(
        tmp_path,
        "nvidia-cudnn-cu12",
        "8.9.7.29",
        {"nvidia/__init__.py": "", "nvidia/cudnn/lib/libcudnn.so.8": "twelve!"},
    )
    said = packages(tmp_path)
    assert (said.one("packages.doubled"), said.one("packages.conflicting")) == ("yes", "yes")
    assert said.one("packages.doubled.import") == "nvidia.cudnn"
    assert sorted(said.one("packages.conflict").split(" beside ")) == ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12"]
    assert said.all("packages.damaged") == ["nvidia-cudnn-cu11"]
    assert sorted(said.all("packages.cuda.major")) == [11, 12]


def test_alternatives_side_by_side(tmp_path: Path) -> None:
    wheel(tmp_path, "onnxruntime", "1.20.0", {})
    wheel(tmp_path, "onnxruntime-gpu", "1.20.0", {})
    said = packages(tmp_path)
    assert said.all("packages.conflict") == ["onnxruntime beside onnxruntime-gpu"]
    assert said.one("packages.conflicting") == "yes"


def test_files_gone_after_uninstalling_the_other_package(tmp_path: Path) -> None:
    wheel(tmp_path, "onnxruntime-gpu", "1.20.0", {"onnxruntime/__init__.py": "x", "onnxruntime/capi/a.so": "y"})
    shutil.rmtree(tmp_path / "onnxruntime")
    said = packages(tmp_path)
    assert (said.one("packages.files"), said.one("package.file.missing")) == ("missing", "onnxruntime-gpu")


def test_remains_of_an_interrupted_pip(tmp_path: Path) -> None:
    files(tmp_path, {"~orch": None, "~orch-2.1.0.dist-info": None})
    assert packages(tmp_path).all("packages.leftover") == ["~orch", "~orch-2.1.0.dist-info"]


def test_two_releases_of_one_package(tmp_path: Path) -> None:
    wheel(tmp_path, "jaxlib", "0.4.30", {})
    wheel(tmp_path, "jaxlib", "0.4.31", {})
    assert packages(tmp_path).all("packages.twice") == ["jaxlib"]


def test_damaged_metadata_costs_one_package(tmp_path: Path) -> None:
    wheel(tmp_path, "torch", "2.4.0", {})
    files(tmp_path, {"numpy-1.dist-info/METADATA": b"\xff\xfe\0", "jax-0.5.dist-info": None})
    files(tmp_path, {"tensorflow-2.16.dist-info/METADATA": "no colon"})
    assert packages(tmp_path).one("package.torch") == "2.4.0"


def test_requirements_that_cannot_be_read_are_no_conflict(tmp_path: Path) -> None:
    wheel(
        tmp_path,
        "torch",
        "2.4.0",
        {},
        ["numpy===weird~version; nonsense(", "numpy @ https://example.invalid/numpy.whl"],
    )
    wheel(tmp_path, "numpy", "2.0.0", {})
    assert packages(tmp_path).one("packages.check") == "ok"


PACKAGES = functions("packages")
numbers = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
suffixes = st.sampled_from(
    ["", "a1", "b2", "rc1", ".post1", ".dev3", "rc2.dev1", ".post2.dev4", "+cu121", "+local.1", "rc1+cu118"]
)
versions = st.builds(lambda number, suffix: number + suffix, numbers, suffixes)
clauses = st.one_of(
    st.builds(
        lambda op, version: op + version.partition("+")[0],
        st.sampled_from(["==", "!=", "<=", ">=", "<", ">"]),
        versions,
    ),
    st.builds(lambda op, version: op + version, st.sampled_from(["==", "!="]), versions),
    st.builds(lambda op, number: f"{op}{number}.*", st.sampled_from(["==", "!="]), numbers),
    st.builds(lambda number, last: f"~={number}.{last}", numbers, st.integers(0, 9)),
)


@settings(max_examples=600)
@given(st.lists(clauses, min_size=1, max_size=3), versions)
def test_versions_are_judged_as_packaging_judges_them(parts: list[str], version: str) -> None:
    specifier = ",".join(parts)
    judged = SpecifierSet(specifier).contains(Version(version), prereleases=True)
    assert PACKAGES["satisfies"](specifier, version) == judged


@pytest.mark.parametrize(
    "marker",
    [
        'platform_system == "Linux"', "sys_platform != 'win32' and python_version >= '3.8'", 'extra == "cuda12"',
        "(os_name == 'posix' or os_name == 'nt') and implementation_name == 'cpython'", "python_version < '3.10'",
        "platform_machine in 'x86_64 aarch64'", 'python_full_version >= "3.8.0"', "sys_platform not in 'win32 cygwin'",
        "platform_python_implementation == 'PyPy' or python_version > '3'", "python_version != '3.11'",
    ],
)  # fmt: skip
def test_markers_are_judged_as_packaging_judges_them(marker: str) -> None:
    environment: dict[str, Any] = {**default_environment(), "extra": ""}
    assert PACKAGES["applies"](marker, PACKAGES["surroundings"]()) == Marker(marker).evaluate(environment)


# toolchain

NVCC = """case "$1" in
--version) echo 'Cuda compilation tools, release 12.4, V12.4.131';;
--dryrun) echo '#$ TOP={top}';;
--list-gpu-arch) printf 'compute_50\\ncompute_90\\n';;
*) {compile};;
esac
"""
GCC = "echo 'g++ (Ubuntu 14.2.0-4ubuntu2) 14.2.0'\n"


def toolkit(root: Path, compile_: str = "exit 0") -> Path:
    """A machine with a CUDA toolkit at the usual place."""
    home = "usr/local/cuda"
    files(root, {f"/{home}/include/cuda.h": "#define CUDA_VERSION 12040\n", f"/{home}/include/cuda_runtime.h": ""})
    program(root, "nvcc", NVCC.format(top=root / home, compile=compile_), f"{home}/bin")
    return root


@LINUX
def test_toolkit_that_accepts_its_compiler(tmp_path: Path) -> None:
    program(toolkit(tmp_path), "c++", GCC)
    said = examine("toolchain", tmp_path, environ={"PATH": "/usr/bin"})
    assert (said.one("toolkit.nvcc"), said.one("toolkit.home"), said.one("toolkit.runs")) == ("yes", "yes", "yes")
    assert (said.one("cuda.toolkit"), said.one("cuda.headers"), said.one("toolkit.cc.max")) == (
        "12.4.131",
        "12.4",
        "9.0",
    )
    assert (said.one("compiler.name"), said.one("compiler.version"), said.one("toolkit.accepts")) == (
        "gcc",
        "14.2.0",
        "yes",
    )
    assert (said.one("toolkit.home.path"), said.one("toolkit.complete")) == ("/usr/local/cuda", "yes")
    assert said.one("toolkit.cudnn.h") == "no"


@LINUX
def test_toolkit_that_refuses_its_compiler(tmp_path: Path) -> None:
    error = "error: -- unsupported GNU version! gcc versions later than 13 are not supported!"
    program(toolkit(tmp_path, f"echo '{error}'; exit 1"), "c++", GCC)
    said = examine("toolchain", tmp_path, environ={"PATH": "/usr/bin"})
    assert said.one("toolkit.accepts") == "no"
    assert error in said.messages


@LINUX
def test_no_toolkit_and_no_compiler(tmp_path: Path) -> None:
    said = examine("toolchain", tmp_path, environ={"PATH": "/nowhere"})
    assert (said.one("toolkit.nvcc"), said.one("toolkit.home"), said.one("compiler.present")) == ("no", "no", "no")
    assert (said.one("toolkit.accepts"), said.one("cuda.toolkit"), said.one("toolkit.runs")) == (None, None, None)


@LINUX
def test_cuda_home_that_points_nowhere(tmp_path: Path) -> None:
    said = examine("toolchain", toolkit(tmp_path), environ={"PATH": "/nowhere", "CUDA_HOME": "/opt/nothing"})
    assert (said.one("toolkit.home"), said.one("toolkit.home.path"), said.one("toolkit.home.nvcc")) == (
        "yes",
        "/opt/nothing",
        "no",
    )
    assert said.one("toolkit.nvcc") == "yes"


@LINUX
@pytest.mark.parametrize(
    ("folder", "environ"), [("/usr/include", {}), ("/opt/cudnn/include", {"CPATH": "/opt/cudnn/include"})]
)
def test_cudnn_headers(folder: str, environ: dict[str, str], tmp_path: Path) -> None:
    text = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 5\n#define CUDNN_PATCHLEVEL 1\n"
    root = files(tmp_path, {f"{folder}/cudnn_version.h": text, f"{folder}/cudnn.h": "#include <cudnn_version.h>\n"})
    said = examine("toolchain", root, environ={"PATH": "/nowhere", **environ})
    assert (said.one("toolkit.cudnn.h"), said.one("cudnn.headers")) == ("yes", "9.5.1")
    elsewhere = examine("toolchain", root, environ={"PATH": "/nowhere", "CPATH": "/opt/other"})
    assert elsewhere.one("toolkit.cudnn.h") == ("yes" if folder == "/usr/include" else "no")


@LINUX
def test_newest_glibcxx(tmp_path: Path) -> None:
    names = ["GLIBCXX_3.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "CXXABI_1.3.13"]
    library(tmp_path / f"usr/lib/{FOLDER}/libstdc++.so.6", names=names)
    said = examine("toolchain", tmp_path, environ={"PATH": "/nowhere"})
    assert (said.one("glibcxx.newest"), said.one("cxxabi.newest")) == ("3.4.30", "1.3.13")
