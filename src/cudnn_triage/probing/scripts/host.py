"""The machine's memory and what its kernel log says of killed processes and of the GPU."""

import os
import re
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .prelude import (
        OS,
        SETTINGS,
        at,
        attempt,
        cgroups,
        each,
        fact,
        listing,
        message,
        number,
        output,
        program,
        read,
        record,
        run,
    )

_KMSG = 1 << 20  # bytes of kernel log looked at


def fields(path: str) -> "dict[str, int]":
    """The numbers of a file of lines 'name value' or 'name: value kB', in bytes where kB stands."""
    out = {}
    for line in (read(path) or "").splitlines():
        parts = line.replace(":", " ").split()
        value = number(parts[1]) if len(parts) > 1 else None
        if value is not None:
            out[parts[0]] = value << 10 if parts[2:3] == ["kB"] else value
    return out


def examine_memory() -> None:
    """Main memory and swap in bytes."""
    if OS == "windows":
        attempt(examine_windows_memory)
        return
    memory = fields("/proc/meminfo")
    for name, field in (
        ("ram.total", "MemTotal"),
        ("ram.free", "MemAvailable"),
        ("swap.total", "SwapTotal"),
        ("swap.free", "SwapFree"),
        ("memory.committed", "Committed_AS"),
        ("memory.commit.limit", "CommitLimit"),
    ):
        fact(name, memory.get(field))
    if not memory and hasattr(os, "sysconf"):
        pages, size = attempt(os.sysconf, "SC_PHYS_PAGES"), attempt(os.sysconf, "SC_PAGE_SIZE")
        fact("ram.total", pages * size if pages and size else None)
    mode = (read("/proc/sys/vm/overcommit_memory") or "").strip()
    fact("memory.overcommit", mode)
    fact("cpu.count", os.cpu_count())
    uptime = (read("/proc/uptime") or "").split()
    fact("host.uptime", float(uptime[0]) if uptime else None)


def examine_windows_memory() -> None:
    """The same by GlobalMemoryStatusEx; the page file stands for swap."""
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *(
                (name, ctypes.c_ulonglong)
                for name in ("total", "free", "page", "page_free", "virtual", "virtual_free", "more")
            ),
        )

    status = Status()
    status.length = ctypes.sizeof(Status)
    if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined,unused-ignore]
        fact("ram.total", status.total)
        fact("ram.free", status.free)
        fact("memory.commit.limit", status.page)
        fact("memory.committed", status.page - status.page_free)


def examine_kills() -> None:
    """How often the kernel killed a process for want of memory: since boot, and in this process's control group."""
    fact("host.oomkill", fields("/proc/vmstat").get("oom_kill"))
    kills = []
    for folder in cgroups("memory"):
        kills += [fields(f"{folder}/{file}").get("oom_kill") for file in ("memory.events", "memory.oom_control")]
    known = [count for count in kills if count is not None]
    fact("cgroup.oomkill", max(known) if known else None)


def kernel_log() -> "str | None":
    """The end of the kernel log, or None where this user may not read it."""
    try:
        descriptor = os.open(at("/dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, AttributeError):
        descriptor = -1
    lines = []
    size = 0
    if descriptor >= 0:
        try:
            while size < 1 << 25:
                try:
                    text = os.read(descriptor, 8192)
                except BrokenPipeError:  # overwritten while we read: the next read goes on
                    continue
                if not text:
                    break
                size += len(text)
                lines.append(text.decode("utf-8", "replace").partition(";")[2].partition("\n")[0])
        except OSError:
            pass  # nothing more to read
        finally:
            os.close(descriptor)
    if lines:
        return "\n".join(lines)[-_KMSG:]
    for command in (["dmesg"], ["journalctl", "-k", "-b", "--no-pager", "-o", "cat", "-n", "5000"]):
        path = program(command[0])
        said = output([path, *command[1:]], 5, 1 << 23) if path and OS == "linux" else None
        if said is not None and said[0] == 0 and said[1].count("\n") > 20:
            return said[1][-_KMSG:]
    return None


def examine_log() -> None:
    """Xid, SXid and OOM kills in the kernel log; the lines of the field themselves, newest last."""
    if OS != "linux":
        return
    text = kernel_log()
    fact("kernel.log", "read" if text is not None else "closed")
    if text is None:
        return
    for name in ("xid", "sxid"):
        numbers: dict[str, int] = {}
        for found in re.finditer(SETTINGS[name], text):
            fact(f"{name}.number", int(found["number"]))
            numbers[found["number"]] = numbers.get(found["number"], 0) + 1
        if numbers:
            record(name, counts=numbers)
    for found in re.finditer(SETTINGS["killed"], text):
        fact("host.killed", next((name for name in found.groups() if name), None))
    lines = [line for line in text.splitlines() if re.search(SETTINGS["messages"], line)]
    for line in list(dict.fromkeys(lines))[-100:]:
        message(line, "kernel log")


def examine_processor() -> None:
    """Instruction sets that builds ask for, and whether an IOMMU is at work."""
    text = read("/proc/cpuinfo", 1 << 16) or ""
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    if found:
        flags = set(found[1].split())
        for flag in SETTINGS["cpu_flags"]:
            fact("cpu.flag" if flag in flags else "cpu.without", flag)
    if os.path.isdir(at("/sys/class")):
        fact("iommu", "on" if listing("/sys/class/iommu") else "off")


def examine_disk() -> None:
    """Free bytes where temporary files go."""
    folder = next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")
    space = attempt(shutil.disk_usage, at(folder))
    fact("disk.free", space.free if space else None)


def main() -> None:
    """Memory, kills, kernel log, processor."""
    each(examine_memory, examine_kills, examine_log, examine_processor, examine_disk)


if __name__ == "__main__":
    run(main)
