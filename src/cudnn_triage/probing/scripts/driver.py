"""The NVIDIA driver as the system shows it: kernel modules, device nodes, PCI devices, user-space libraries, DKMS, Secure Boot.

Reads files and opens device nodes without asking them for anything. Part: elf.
"""

import errno
import os
import re
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elf import Loader, folder_libraries, version_of
    from .prelude import (
        OS,
        SETTINGS,
        absent,
        at,
        each,
        exists,
        fact,
        facts,
        listing,
        output,
        program,
        read,
        record,
        run,
    )


def modules() -> "set[str] | None":
    """The loaded kernel modules, or None where the system does not tell."""
    text = read("/proc/modules")
    names = {line.split()[0] for line in (text or "").splitlines() if line.split()}
    built_in = set(listing("/sys/module"))
    return names | built_in if text is not None or built_in else None


def examine_modules() -> None:
    """Which modules are loaded, the NVIDIA module's release and flavour, and whether it matches libcuda's."""
    loaded = modules()
    if loaded is not None:
        for module, name in SETTINGS["modules"].items():
            fact(name, module in loaded)
    text = read("/proc/driver/nvidia/version") or ""
    found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", text)
    kernel = found[1] if found else (read("/sys/module/nvidia/version") or "").strip()
    fact("driver.kernel", kernel)
    if text:
        fact("driver.open", "Open Kernel Module" in text)
    loader = Loader()
    releases = set()
    for library in SETTINGS["user_libraries"]:
        path = loader.plain(library)
        if path is None:
            continue
        release = version_of(path)
        record("driver library", path=path, real=os.path.realpath(path), release=release or None)
        if library == "libcuda.so.1":
            fact("driver.library.path", path)
            fact("driver.library", release if "stubs" not in path.split("/") else None)
        if "compat" not in path and "stubs" not in path:
            releases.add(release)
    releases.discard("")
    fact("driver.libraries", "found" if releases else "absent")
    if kernel and releases:
        fact("driver.matches", releases == {kernel})


def examine_presence() -> None:
    """Whether there is a driver at all: kernel module, WSL's library and device, Jetson's, or the Windows library."""
    if OS == "windows":
        folder = os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
        found = [name for name in SETTINGS["windows_libraries"] if exists(os.path.join(folder, name))]
        fact("driver.present", bool(found))
        fact("driver.libraries", "found" if found else "absent")
        return
    if OS == "macos":
        fact("driver.present", False)
        return
    loaded = modules()
    wsl = exists("/dev/dxg")
    if wsl:
        mine = [path for path in folder_libraries("/usr/lib/wsl/lib") if os.path.basename(path) == "libcuda.so.1"]
        fact("driver.wsl.library", bool(mine))
        taken = Loader().plain("libcuda.so.1")
        fact("driver.wsl.foreign", taken is not None and not os.path.realpath(taken).startswith("/usr/lib/wsl/"))
    there = (
        bool({"nvidia", "nvgpu"} & (loaded or set()))
        or exists("/proc/driver/nvidia/version")
        or exists("/dev/nvhost-gpu")
        or (wsl and exists("/usr/lib/wsl/lib/libcuda.so.1"))
    )
    if there or loaded is not None:  # without /proc and /sys nothing can be said
        fact("driver.present", there)


def opened(path: str) -> "str | None":
    """None where this user may open a device node for reading and writing, else why not (an errno name)."""
    try:
        os.close(os.open(at(path), os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "error")
    return None


def examine_nodes() -> None:
    """Device nodes: missing although the module is loaded, closed to this user, or no device at all."""
    gpus = [name for name in listing("/dev") if re.fullmatch(r"nvidia\d+", name)]
    known = listing("/proc/driver/nvidia/gpus")
    fact("driver.gpus", len(known) if exists("/proc/driver/nvidia/gpus") else None)
    facts("driver.switches", [len([name for name in listing("/dev") if re.fullmatch(r"nvidia-nvswitch\d+", name)])])
    module = "nvidia" in (modules() or set()) or exists("/proc/driver/nvidia/version")
    if not module and not gpus:
        return
    wanted = list(SETTINGS["nodes"])
    minors = [
        re.search(r"Device Minor:\s*(\d+)", read(f"/proc/driver/nvidia/gpus/{name}/information") or "")
        for name in known
    ]
    wanted += ["/dev/nvidia" + minor[1] for minor in minors if minor] or ["/dev/" + name for name in gpus]
    if not gpus and not any(minors):
        wanted.append("/dev/nvidia0")
    worst = "ok"
    for path in wanted[:64]:
        if not exists(path):
            fact("driver.node.missing", path)
            worst = "missing" if worst == "ok" else worst
            continue
        mode = os.lstat(at(path)).st_mode
        if not stat.S_ISCHR(mode):
            fact("driver.node.odd", path)
        why = opened(path)
        record("node", path=path, mode=oct(mode & 0o777), refused=why)
        if why in ("EACCES", "EPERM"):
            fact("driver.node.denied", path)
            worst = "denied"
        elif why:
            fact("driver.node.odd", f"{path}: {why}")
    if worst == "missing" and program("nvidia-modprobe"):
        worst = "on-demand"  # that helper makes them when a program first asks for CUDA
    if module or worst in ("ok", "denied"):
        fact("driver.nodes", worst)
    for path in SETTINGS["optional_nodes"]:
        if exists(path) and (listing(path) or not os.path.isdir(at(path))):
            record("node", path=path, entries=listing(path) or None)


def examine_hardware() -> None:
    """NVIDIA's devices on the PCI bus, and which kernel driver holds each."""
    devices = listing("/sys/bus/pci/devices")
    if not devices:
        return
    found = 0
    for device in devices:
        base = "/sys/bus/pci/devices/" + device
        if (read(base + "/vendor") or "").strip() != "0x10de":
            continue
        kind = (read(base + "/class") or "").strip()[:6]
        if kind not in SETTINGS["display_classes"] + SETTINGS["bridge_classes"]:
            continue
        link = os.path.realpath(at(base + "/driver"))
        holder = os.path.basename(link) if exists(base + "/driver") else "none"
        record("pci device", address=device, device=(read(base + "/device") or "").strip(), holder=holder)
        if kind in SETTINGS["display_classes"]:
            found += 1
            fact("driver.bound", holder)
    fact("driver.hardware", found > 0)


def examine_build() -> None:
    """Whether a driver is installed and built for the running kernel; Secure Boot, lockdown, blacklists."""
    kernel = (read("/proc/sys/kernel/osrelease") or os.uname().release).strip()
    trees = [folder for folder in (f"/lib/modules/{kernel}", f"/usr/lib/modules/{kernel}") if os.path.isdir(at(folder))]
    if trees:
        listed = read(trees[0] + "/modules.dep", 1 << 24)
        if listed is not None:
            fact("driver.built", re.search(r"/nvidia(?:-current)?\.ko\b", listed) is not None)
    versions = [name for name in listing("/var/lib/dkms/nvidia") if name[:1].isdigit()]
    facts("driver.dkms.version", versions)
    for version in versions:
        done = exists(f"/var/lib/dkms/nvidia/{version}/{kernel}")
        fact("driver.dkms", "built" if done else "not-built")
    modinfo = program("modinfo")
    said = output([modinfo, "-F", "version", "nvidia"]) if modinfo and OS == "linux" else None
    if said is not None and trees:
        fact("driver.installed", said[1].strip() if said[0] == 0 else None)
    secure = SETTINGS["secure_boot"]
    try:
        with open(at(secure), "rb") as file:
            fact("driver.secureboot", "on" if file.read()[-1:] == b"\x01" else "off")
    except OSError:
        if listing("/sys/firmware") and not exists("/sys/firmware/efi"):  # a container sees an empty folder
            fact("driver.secureboot", "off")
    lockdown = re.search(r"\[(\w+)\]", read("/sys/kernel/security/lockdown") or "")
    fact("driver.lockdown", lockdown[1] if lockdown else None)
    for folder in ("/etc/modprobe.d", "/lib/modprobe.d", "/usr/lib/modprobe.d", "/run/modprobe.d"):
        for name in listing(folder):
            for word in re.findall(r"^\s*blacklist\s+(\S+)", read(f"{folder}/{name}") or "", re.MULTILINE):
                if word in SETTINGS["modules"]:
                    fact("driver.blacklisted", word)
    taint = (read("/sys/module/nvidia/taint") or "").strip()
    fact("driver.taint", taint)


def examine_daemons() -> None:
    """Which of the driver's helpers run, where this process can see the others at all."""
    pids = [name for name in listing("/proc") if name.isdigit()]
    names = {(read(f"/proc/{pid}/comm") or "").strip() for pid in pids[:20000]}
    for daemon, name in SETTINGS["daemons"].items():
        if daemon[:15] in names:
            fact(name, True)
        elif "kthreadd" in names:  # not behind a process name space
            fact(name, False)


def main() -> None:
    """Presence first: that settles the most."""
    each(examine_presence)
    if OS != "linux":
        if OS == "macos":
            absent("there is no NVIDIA driver for macOS")
        return
    each(examine_modules, examine_nodes, examine_hardware, examine_build, examine_daemons)


if __name__ == "__main__":
    run(main)
