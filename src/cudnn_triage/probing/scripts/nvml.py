"""What NVML says of the driver and of each GPU: memory and who holds it, modes, errors, links, clocks, temperature.

Asks only; NVML makes no CUDA context, so no GPU memory is taken. Needs pynvml (nvidia-ml-py), which the bundle brings.
Units: memory in bytes, clocks in MHz, temperature in degrees Celsius, power in watts, PCIe width in lanes.
"""

import ctypes
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prelude import (
        OS,
        SETTINGS,
        absent,
        attempt,
        cuda_dotted,
        fact,
        facts,
        message,
        number,
        read,
        record,
        run,
        stage,
    )

_MOST_PAIRS = 16  # GPUs whose peer access is looked at, each with each


class Gpu:
    """One GPU (or MIG instance) and what could not be asked of it."""

    def __init__(self, nvml: "Any", handle: "Any") -> None:
        self.nvml, self.handle = nvml, handle
        self.lost = False
        self.refused: set[str] = set()

    def ask(self, name: str, *arguments: "Any") -> "Any":
        """What NVML function ``name`` answers, None where this driver or GPU does not have it."""
        function = getattr(self.nvml, name, None)
        if function is None:
            return None
        try:
            return function(self.handle, *arguments)
        except self.nvml.NVMLError as error:
            status = status_name(self.nvml, getattr(error, "value", 0))
            self.lost = self.lost or status.endswith("GPU_IS_LOST")
            self.refused.add(status)
        except Exception as error:
            self.refused.add(type(error).__name__)
        return None

    def word(self, name: str, table: str) -> "str | None":
        """The answer as the word that the settings have for it."""
        value = self.ask(name)
        value = value[0] if isinstance(value, (list, tuple)) else value
        return SETTINGS[table].get(str(value)) if value is not None else None


def text(value: "Any") -> "str | None":
    """NVML's text as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


_statuses: "dict[int, str]" = {}


def status_name(nvml: "Any", status: int) -> str:
    """NVML_ERROR_... of a status number."""
    if not _statuses:
        for name in dir(nvml):
            if name.startswith("NVML_ERROR_") or name == "NVML_SUCCESS":
                _statuses[getattr(nvml, name)] = name
    return _statuses.get(status, f"NVML_ERROR_{status}")


def switched(value: "Any") -> "str | None":
    """on or off, from NVML's 1 or 0."""
    return None if value is None else "on" if value else "off"


def owner(pid: int) -> "tuple[str | None, str | None]":
    """User and program of a process, where this one may see it."""
    uid = re.search(r"^Uid:\s*(\d+)", read(f"/proc/{pid}/status") or "", re.MULTILINE)
    user = uid[1] if uid else None
    if uid:
        user = attempt(lambda: __import__("pwd").getpwuid(int(uid[1])).pw_name) or user
    command = (read(f"/proc/{pid}/cmdline") or "").replace("\0", " ").strip()
    return user, (read(f"/proc/{pid}/comm") or command or "").strip() or None


def examine_processes(gpu: Gpu, index: int, used: "int | None") -> "list[dict[str, Any]]":
    """Who holds memory of the GPU: pid, user, program, bytes."""
    out: dict[int, dict[str, Any]] = {}
    known = False
    for kind in ("Compute", "Graphics", "MPSCompute"):
        listed = None
        for version in ("_v3", "_v2", ""):
            listed = listed if listed is not None else gpu.ask(f"nvmlDeviceGet{kind}RunningProcesses{version}")
        for process in listed or []:
            user, name = owner(process.pid)
            name = name or (text(attempt(gpu.nvml.nvmlSystemGetProcessName, process.pid)) if OS != "linux" else None)
            out[process.pid] = {
                "pid": process.pid,
                "user": user,
                "name": name,
                "memory": process.usedGpuMemory,
                "kind": kind.lower(),
            }
        known = known or (listed is not None and kind == "Compute")
    out.pop(os.getpid(), None)
    if known:
        fact("gpu.processes", len(out))
        sizes = [process["memory"] for process in out.values()]
        if None not in sizes:
            fact("memory.other", sum(sizes))
            fact("gpu.memory.unattributed", max(0, used - sum(sizes)) if used is not None else None)
    for process in out.values():
        fact("gpu.holder", "pid {} {} of {}".format(*(process[key] or "?" for key in ("pid", "name", "user"))))
    return list(out.values())


def examine_memory(gpu: Gpu) -> "tuple[dict[str, Any], int | None]":
    """Bytes of memory: total, used, free, and kept by the driver."""
    memory = gpu.ask("nvmlDeviceGetMemoryInfo")
    if memory is None:
        return {}, None
    for name in ("total", "used", "free"):
        fact("memory." + name, getattr(memory, name))
    second = gpu.ask("nvmlDeviceGetMemoryInfo", getattr(gpu.nvml, "nvmlMemory_v2", 0))
    reserved = getattr(second, "reserved", None)
    bar = gpu.ask("nvmlDeviceGetBAR1MemoryInfo")
    found = {"total": memory.total, "used": memory.used, "free": memory.free, "reserved": reserved}
    found["bar1_total"] = getattr(bar, "bar1Total", None)
    return found, second.used if reserved is not None else memory.used


def examine_errors(gpu: Gpu) -> "dict[str, Any]":
    """ECC counts, remapped rows, retired pages, and what the driver recommends."""
    mode = gpu.ask("nvmlDeviceGetEccMode") or (None, None)
    fact("gpu.ecc", switched(mode[0]))
    fact("gpu.ecc.pending", switched(mode[1]))
    found: dict[str, Any] = {"ecc": switched(mode[0])}
    for kind, error in (("corrected", 0), ("uncorrected", 1)):
        for span, counter in (("", 0), (".lifetime", 1)):
            count = gpu.ask("nvmlDeviceGetTotalEccErrors", error, counter) if mode[0] else None
            fact(f"gpu.ecc.{kind}{span}", count)
            found[f"ecc_{kind}{span.replace('.', '_')}"] = count
    rows = gpu.ask("nvmlDeviceGetRemappedRows")
    if rows:
        fact("gpu.remap.corrected", rows[0])
        fact("gpu.remap.uncorrected", rows[1])
        fact("gpu.remap.pending", bool(rows[2]))
        fact("gpu.remap.failed", bool(rows[3]))
        found["remapped_rows"] = list(rows)
    pages = [gpu.ask("nvmlDeviceGetRetiredPages", cause) for cause in (0, 1)]
    counts = [len(page) for page in pages if page is not None]
    fact("gpu.retired.pages", sum(counts) if counts else None)
    pending = gpu.ask("nvmlDeviceGetRetiredPagesPendingStatus")
    fact("gpu.retired.pending", bool(pending) if pending is not None else None)
    action = field(gpu, "NVML_FI_DEV_GET_GPU_RECOVERY_ACTION")
    fact("gpu.recovery", SETTINGS["recovery"].get(str(action)) if action is not None else None)
    unrepairable = gpu.ask("nvmlDeviceGetRepairStatus")
    found["repair"] = str(unrepairable) if unrepairable is not None else None
    return found


def field(gpu: Gpu, name: str) -> "int | None":
    """A field value of NVML that is an unsigned number."""
    identity = getattr(gpu.nvml, name, None)
    values = gpu.ask("nvmlDeviceGetFieldValues", [identity]) if identity is not None else None
    if not values or values[0].nvmlReturn:
        return None
    small = values[0].valueType == gpu.nvml.NVML_VALUE_TYPE_UNSIGNED_INT
    return int(values[0].value.uiVal if small else values[0].value.ullVal)


def examine_links(gpu: Gpu) -> "dict[str, Any]":
    """PCIe link width and generation against what the GPU could have; NVLink; NVSwitch fabric."""
    found: dict[str, Any] = {}
    for name, function in (
        ("gpu.pcie.width", "nvmlDeviceGetCurrPcieLinkWidth"),
        ("gpu.pcie.width.max", "nvmlDeviceGetMaxPcieLinkWidth"),
        ("gpu.pcie.generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
        ("gpu.pcie.generation.max", "nvmlDeviceGetMaxPcieLinkGeneration"),
        ("gpu.pcie.replays", "nvmlDeviceGetPcieReplayCounter"),
    ):
        value = gpu.ask(function)
        fact(name, value)
        found[name[4:].replace(".", "_")] = value
    width, most = found["pcie_width"], found["pcie_width_max"]
    fact("gpu.pcie.narrow", width < most if width and most else None)
    states = []
    for link in range(getattr(gpu.nvml, "NVML_NVLINK_MAX_LINKS", 18)):
        state = gpu.ask("nvmlDeviceGetNvLinkState", link)
        if state is None:
            break
        states.append(state)
    up = sum(1 for state in states if state)
    if up:
        fact("nvlink.up", up)
        fact("nvlink.down", len(states) - up)
        counters = [
            gpu.ask("nvmlDeviceGetNvLinkErrorCounter", link, kind) for link in range(len(states)) for kind in range(3)
        ]
        known = [count for count in counters if count is not None]
        fact("nvlink.errors", sum(known) if known else None)
    found["nvlink"] = states or None
    info = attempt(gpu.nvml.c_nvmlGpuFabricInfo_t)
    if info is not None and gpu.ask("nvmlDeviceGetGpuFabricInfo", ctypes.byref(info)) is not None:
        fact("fabric.state", SETTINGS["fabric"].get(str(info.state)))
        if str(info.state) == SETTINGS["fabric_done"]:
            fact("fabric.status", status_name(gpu.nvml, info.status))
    return found


def examine_state(gpu: Gpu) -> "dict[str, Any]":
    """Temperature, power, clocks and what holds them down; utilisation."""
    found: dict[str, Any] = {
        "temperature": gpu.ask("nvmlDeviceGetTemperature", 0),
        "temperature_slowdown": gpu.ask("nvmlDeviceGetTemperatureThreshold", 1),
        "temperature_shutdown": gpu.ask("nvmlDeviceGetTemperatureThreshold", 0),
    }
    for name in ("temperature", "temperature_slowdown", "temperature_shutdown"):
        fact("gpu." + name.replace("_", "."), found[name])
    for name, function in (
        ("power", "nvmlDeviceGetPowerUsage"),
        ("power.limit", "nvmlDeviceGetEnforcedPowerLimit"),
    ):
        milliwatts = gpu.ask(function)
        fact("gpu." + name, milliwatts / 1000 if milliwatts is not None else None)
    for name, kind in (("graphics", 0), ("sm", 1), ("memory", 2)):
        found["clock_" + name] = gpu.ask("nvmlDeviceGetClockInfo", kind)
        found[f"clock_{name}_max"] = gpu.ask("nvmlDeviceGetMaxClockInfo", kind)
        fact("gpu.clock." + name, found["clock_" + name])
        fact(f"gpu.clock.{name}.max", found[f"clock_{name}_max"])
    mask = gpu.ask("nvmlDeviceGetCurrentClocksEventReasons")
    mask = gpu.ask("nvmlDeviceGetCurrentClocksThrottleReasons") if mask is None else mask
    if mask is not None:
        reasons = [word for bit, word in SETTINGS["throttle"].items() if mask & int(bit, 0)]
        facts("gpu.throttle", reasons or ["none"])
        found["throttle"] = reasons
    use = gpu.ask("nvmlDeviceGetUtilizationRates")
    found["utilisation"] = getattr(use, "gpu", None)
    fact("gpu.utilisation", found["utilisation"])
    found["state"] = gpu.ask("nvmlDeviceGetPerformanceState")
    return found


def examine_modes(gpu: Gpu) -> "dict[str, Any]":
    """Compute mode, persistence, driver model, display, virtualisation, MIG."""
    mode = gpu.word("nvmlDeviceGetComputeMode", "compute_modes")
    fact("gpu.mode", mode)
    persistence = gpu.ask("nvmlDeviceGetPersistenceMode")
    fact("gpu.persistence", bool(persistence) if persistence is not None else None)
    model = gpu.word("nvmlDeviceGetDriverModel", "driver_models") if OS == "windows" else None
    fact("gpu.driver.model", model)
    display = gpu.ask("nvmlDeviceGetDisplayActive")
    fact("gpu.display", bool(display) if display is not None else None)
    virtual = gpu.word("nvmlDeviceGetVirtualizationMode", "virtual_modes")
    fact("gpu.virtual", virtual)
    mig = gpu.ask("nvmlDeviceGetMigMode")
    instances = []
    if mig is not None:
        fact("gpu.mig", switched(mig[0]))
        fact("gpu.mig.pending", switched(mig[1]))
        if mig[0]:
            for index in range(gpu.ask("nvmlDeviceGetMaxMigDeviceCount") or 0):
                handle = gpu.ask("nvmlDeviceGetMigDeviceHandleByIndex", index)
                if handle is None:
                    continue
                part = Gpu(gpu.nvml, handle)
                memory = part.ask("nvmlDeviceGetMemoryInfo")
                instances.append(
                    {"uuid": text(part.ask("nvmlDeviceGetUUID")), "name": text(part.ask("nvmlDeviceGetName"))}
                )
                instances[-1]["memory_free"] = getattr(memory, "free", None)
                fact("gpu.mig.uuid", instances[-1]["uuid"])
            fact("gpu.mig.instances", len(instances))
    return {
        "mode": mode,
        "persistence": persistence,
        "mig": switched(mig[0]) if mig else None,
        "instances": instances or None,
    }


def examine(nvml: "Any", index: int) -> "Any":
    """One GPU; its handle, or None where the driver does not give it out."""
    stage(f"GPU {index}")
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        status = status_name(nvml, getattr(error, "value", 0))
        fact("gpu.error", status)
        fact("gpu.lost", status.endswith("GPU_IS_LOST") or None)
        record("gpu", index=index, error=status)
        return None
    gpu = Gpu(nvml, handle)
    name, uuid = text(gpu.ask("nvmlDeviceGetName")), text(gpu.ask("nvmlDeviceGetUUID"))
    capability = gpu.ask("nvmlDeviceGetCudaComputeCapability")
    fact("gpu.name", name)
    fact("gpu.uuid", uuid)
    fact("gpu.cc", "{}.{}".format(*capability) if capability else None)
    pci = gpu.ask("nvmlDeviceGetPciInfo")
    memory, used = examine_memory(gpu)
    entry: dict[str, Any] = {"index": index, "name": name, "uuid": uuid, "cc": capability, "memory": memory}
    entry["bus"] = text(getattr(pci, "busId", None))
    entry["minor"] = gpu.ask("nvmlDeviceGetMinorNumber")
    entry["vbios"] = text(gpu.ask("nvmlDeviceGetVbiosVersion"))
    entry["gsp"] = text(gpu.ask("nvmlDeviceGetGspFirmwareVersion"))
    entry["processes"] = attempt(examine_processes, gpu, index, used)
    for part in (examine_modes, examine_errors, examine_links, examine_state):
        entry.update(attempt(part, gpu) or {})
    fact("gpu.lost", gpu.lost)
    entry["refused"] = sorted(gpu.refused - {"NVML_ERROR_NOT_SUPPORTED", "NVML_ERROR_FUNCTION_NOT_FOUND"}) or None
    record("gpu", **entry)
    return uuid if not gpu.lost else None, handle


def examine_peers(nvml: "Any", handles: "list[Any]") -> None:
    """Whether each GPU reads each other's memory directly."""
    few = handles[:_MOST_PAIRS]
    known = [attempt(nvml.nvmlDeviceGetP2PStatus, one, other, 0) for one in few for other in few if one is not other]
    answers = [status for status in known if status is not None]
    if answers:
        fact("gpu.p2p", all(status == 0 for status in answers))


def examine_visible(uuids: "list[str]", count: int) -> None:
    """Whether every device that CUDA_VISIBLE_DEVICES names is there."""
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    if not value or not count:
        return
    for part in (part.strip() for part in value.split(",")):
        index = number(part) if part.isdigit() else None
        there = index < count if index is not None else any(uuid and uuid.startswith(part) for uuid in uuids)
        if part and not part.startswith("-") and not there:
            fact("gpu.visible.missing", part)
    fact("gpu.visible.checked", True)


def main() -> None:
    """Start NVML, ask the driver, then each GPU."""
    nvml = attempt(__import__, "pynvml")
    if nvml is None:
        absent("pynvml (nvidia-ml-py) is not at hand")
        return
    stage("nvmlInit")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        status = status_name(nvml, getattr(error, "value", 0))
        fact("nvml.status", status)
        message(f"{status}: {error}", "nvmlInit")
        if status.endswith("LIBRARY_NOT_FOUND"):
            fact("nvml.library", False)
            absent("NVML is not installed: there is no NVIDIA driver here")
        else:
            fact("nvml.library", True)
        return
    fact("nvml.status", "NVML_SUCCESS")
    fact("nvml.library", True)
    fact("driver.version", text(attempt(nvml.nvmlSystemGetDriverVersion)))
    fact("cuda.driver", cuda_dotted(attempt(nvml.nvmlSystemGetCudaDriverVersion)))
    record("nvml", version=text(attempt(nvml.nvmlSystemGetNVMLVersion)))
    count = attempt(nvml.nvmlDeviceGetCount)
    fact("gpu.installed", count)
    found = [answer for answer in (examine(nvml, index) for index in range(count or 0)) if answer is not None]
    examine_visible([uuid for uuid, _ in found], count or 0)
    attempt(examine_peers, nvml, [handle for _, handle in found])
    attempt(nvml.nvmlShutdown)


if __name__ == "__main__":
    run(main)
