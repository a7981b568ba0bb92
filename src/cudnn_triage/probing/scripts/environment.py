"""What surrounds a process here: variables, container, scheduler, limits, shared memory, the kind of system."""

import os
import platform
import re
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .prelude import (
        OS,
        SETTINGS,
        at,
        attempt,
        cgroups,
        each,
        exists,
        fact,
        facts,
        folders,
        number,
        read,
        record,
        run,
        unique,
    )


def examine_variables() -> None:
    """The variables of the settings: value, or the name among env.unset."""
    for name in SETTINGS["variables"]:
        value = os.environ.get(name)
        if value is None:
            fact("env.unset", name)
        else:
            fact("env.set", name)
            fact("env." + name, value)
            record("variable", name=name, value=value)
    fact("env.CUDA_VISIBLE_DEVICES.kind", kind_of_devices(os.environ.get("CUDA_VISIBLE_DEVICES")))
    for name in SETTINGS["path_variables"]:
        for folder in folders(name):
            if not os.path.isdir(at(folder)):
                fact("env.folder.missing", folder)
                record("missing folder", variable=name, folder=folder)
    for name in SETTINGS["file_variables"]:
        value = os.environ.get(name)
        if value and not any(exists(part) for part in value.split(os.pathsep)):
            fact("env.file.missing", name)


def kind_of_devices(value: "str | None") -> str:
    """What CUDA_VISIBLE_DEVICES says: unset, none (no device), indices, uuids, mig or odd."""
    if value is None:
        return "unset"
    parts = [part.strip() for part in value.split(",")]
    if not value.strip() or parts[0].startswith("-") or parts[0].lower() in SETTINGS["no_devices"]:
        return "none"
    for kind, pattern in (("indices", r"\d+"), ("uuids", r"GPU-[0-9a-fA-F-]+"), ("mig", r"MIG-.+")):
        if all(re.fullmatch(pattern, part) for part in parts):
            return kind
    return "odd"


def container() -> "str | None":
    """Which kind of container this is, or None outside of any."""
    for kind, signs in SETTINGS["containers"].items():
        if any(os.environ.get(name) for name in signs.get("variables", [])):
            return str(kind)
        if any(exists(path) for path in signs.get("files", [])):
            return str(kind)
        for path, pattern in signs.get("contents", {}).items():
            if re.search(pattern, read(path) or ""):
                return str(kind)
    return None


def sign(name: str, value: "str | None") -> None:
    """A kind of platform; where this machine is none of them, the name among platform.without."""
    if value is None:
        fact("platform.without", name.partition(".")[2])
    else:
        fact(name, value)


def examine_platform() -> None:
    """Operating system, machine, interpreter, and what hosts it."""
    fact("platform.os", OS)
    fact("platform.arch", platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64"))
    fact("platform.kernel", platform.release())
    fact("host.name", attempt(socket.gethostname))
    fact("python.version", platform.python_version())
    fact("python.bits", 64 if sys.maxsize > 1 << 32 else 32)
    fact("python.executable", sys.executable)
    fact("python.environment", environment_kind())
    for path in sys.path:
        if os.path.basename(path) in ("site-packages", "dist-packages"):
            facts("python.site", unique([path, os.path.realpath(path)]))
    release = read("/etc/os-release") or ""
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    fact("platform.distribution", found[1] if found else None)
    libc, version = attempt(platform.libc_ver) or ("", "")
    fact("glibc.version", version if libc == "glibc" else None)
    if OS == "linux":
        kernel = read("/proc/sys/kernel/osrelease") or platform.release()
        wsl = "microsoft" in kernel.lower()
        sign("platform.wsl", ("2" if "wsl2" in kernel.lower() or exists("/dev/dxg") else "1") if wsl else None)
        jetson = exists("/etc/nv_tegra_release") or exists("/dev/nvhost-gpu")
        sign("platform.jetson", "yes" if jetson else None)
    kind = container()
    if OS == "linux":
        sign("platform.container", kind)
    for name, table in (("platform.hosted", "hosts"), ("platform.scheduler", "schedulers"), ("platform.ci", "ci")):
        signs = SETTINGS[table]
        sign(
            name,
            next((found for found, names in signs.items() if any(n in os.environ or exists(n) for n in names)), None),
        )
    if kind:
        mounted = [path for path in SETTINGS["driver_signs"] if exists(path)]
        fact("container.driver", bool(mounted))
        record("container", runtime=kind, driver_signs=mounted)


def environment_kind() -> str:
    """conda, venv or system: what the interpreter belongs to."""
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        return "conda"
    return "venv" if sys.prefix != sys.base_prefix else "system"


def examine_limits() -> None:
    """Limits of this process: ulimits, cgroup, capabilities; shared memory."""
    try:
        import resource
    except ImportError:
        resource = None  # type: ignore[assignment,unused-ignore]
    for name, constant in SETTINGS["ulimits"].items():
        kind = getattr(resource, constant, None)
        pair = attempt(resource.getrlimit, kind) if kind is not None else None
        if pair is None:
            continue
        soft = pair[0]
        if soft == resource.RLIM_INFINITY or soft < 0 or soft >= 1 << 62:
            fact("limits.unlimited", name)
        else:
            fact(name, soft)
    status = read("/proc/self/status") or ""
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    if effective:
        held = int(effective[1], 16)
        fact("process.capabilities", effective[1])
        facts("process.capability", (name for name, bit in SETTINGS["capabilities"].items() if held >> int(bit) & 1))
    fact("process.root", os.geteuid() == 0 if hasattr(os, "geteuid") else None)
    groups = attempt(os.getgroups) if hasattr(os, "getgroups") else None
    if groups:
        record("groups", ids=groups)
    space = attempt(os.statvfs, at("/dev/shm")) if hasattr(os, "statvfs") else None
    if space is not None and exists("/dev/shm"):
        fact("memory.shm", space.f_blocks * space.f_frsize)
        fact("memory.shm.free", space.f_bavail * space.f_frsize)


def examine_cgroup() -> None:
    """The memory limit of this process's control groups: the smallest that is set, and how much of it is used."""
    limits = []
    for folder in cgroups("memory"):
        limit, used = (
            next((value for value in (number(read(folder + "/" + file)) for file in files) if value is not None), None)
            for files in (("memory.max", "memory.limit_in_bytes"), ("memory.current", "memory.usage_in_bytes"))
        )
        if limit is not None and limit < 1 << 60:
            limits.append((limit, used))
    if limits:
        fact("memory.cgroup", min(limits)[0])
        fact("memory.cgroup.used", min(limits)[1])
    elif cgroups("memory"):
        fact("limits.unlimited", "memory.cgroup")
    for folder in cgroups("devices"):
        listed = read(folder + "/devices.list")
        if listed is not None:
            fact("cgroup.devices", "all" if re.match(r"a \*:\* rwm", listed) else "limited")
            break


def examine_network() -> None:
    """Network interfaces, and those that NCCL or Gloo is told to use and that are not there."""
    names = [name for _, name in attempt(socket.if_nameindex) or []] if hasattr(socket, "if_nameindex") else []
    facts("network.interface", names)
    for variable in SETTINGS["interface_variables"]:
        value = os.environ.get(variable, "")
        if not value or value[0] == "^" or not names:
            continue
        exact = value[0] == "="
        for wanted in filter(None, value.lstrip("=").split(",")):
            if not any(name == wanted if exact else name.startswith(wanted) for name in names):
                fact("network.interface.missing", wanted)


def examine_ports() -> None:
    """TCP ports that somebody listens on, and whether the host's own name is found without asking a name server."""
    ports = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in (read(path, 1 << 22) or "").splitlines()[1:]:
            fields = line.split()
            if len(fields) > 3 and fields[3] == "0A":  # LISTEN
                ports.add(int(fields[1].rpartition(":")[2], 16))
    facts("port.listening", sorted(ports)[:1000])
    name = attempt(socket.gethostname) or ""
    hosts = {word for line in (read("/etc/hosts") or "").splitlines() for word in line.partition("#")[0].split()[1:]}
    ways = re.search(r"^hosts:(.*)$", read("/etc/nsswitch.conf") or "", re.MULTILINE)
    if name and (name in hosts or (ways and "myhostname" in ways[1])):
        fact("host.resolves", True)
    elif ways and set(ways[1].split()) <= {"files"}:
        fact("host.resolves", False)  # with a name server in play this cannot be told without asking it


def main() -> None:
    """Look around."""
    each(examine_platform, examine_variables, examine_limits, examine_cgroup, examine_network, examine_ports)


if __name__ == "__main__":
    run(main)
