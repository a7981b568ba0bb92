"""What a process of this interpreter really loads: the driver's libcuda, cuDNN and its parts, and what they answer.

Every attempt is made in a child process, so that a crash of one leaves the others. Parts: elf, apart.
"""

import ctypes
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .apart import apart, step
    from .elf import (
        Loader,
        elf,
        expand,
        family_of,
        fault_of,
        folder_libraries,
        frameworks,
        globbed,
        packages,
        parts_of,
        stem_of,
        version_of,
    )
    from .prelude import (
        CODES,
        OS,
        SETTINGS,
        attempt,
        cuda_dotted,
        cudnn_dotted,
        fact,
        folders,
        message,
        read,
        record,
        run,
        shown,
        unique,
    )


def mapped() -> "list[str]":
    """The files of shared libraries that this process has mapped, in order."""
    if OS == "windows":
        return attempt(windows_modules) or []
    maps = read("/proc/self/maps", 1 << 24)
    if maps is not None:
        found = re.findall(r"(/.*?)(?: \(deleted\))?$", maps, re.MULTILINE)
        return [path for path in unique(found) if stem_of(os.path.basename(path))]
    return attempt(iterated) or []


def windows_modules() -> "list[str]":
    """The same by K32EnumProcessModules."""
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    handles = (ctypes.c_void_p * 4096)()
    size = ctypes.c_ulong(0)
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    kernel.K32EnumProcessModules(process, handles, ctypes.c_ulong(ctypes.sizeof(handles)), ctypes.byref(size))
    out = []
    for handle in handles[: min(len(handles), size.value // ctypes.sizeof(ctypes.c_void_p))]:
        name = ctypes.create_unicode_buffer(1024)
        if kernel.GetModuleFileNameW(ctypes.c_void_p(handle), name, 1024):
            out.append(name.value)
    return [path for path in unique(out) if stem_of(os.path.basename(path))]


class _Object(ctypes.Structure):
    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


def iterated() -> "list[str]":
    """The same from the loader itself, where there is no /proc."""
    names: list[str] = []

    def note(entry: "Any", _size: int, _data: "Any") -> int:
        names.append(os.fsdecode(entry.contents.name or b""))
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Object), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(kind(note), None)
    return [name for name in unique(names) if stem_of(os.path.basename(name))]


def origin_of(path: str) -> str:
    """Where a loaded library came from: LD_LIBRARY_PATH, wheel, conda, toolkit or system."""
    folder = os.path.dirname(os.path.realpath(path))

    def below(tops: "list[str]") -> bool:
        return any((folder + os.sep).startswith(os.path.realpath(top).rstrip(os.sep) + os.sep) for top in tops if top)

    if any(os.path.realpath(top) == folder for top in folders("LD_LIBRARY_PATH")):
        return "LD_LIBRARY_PATH"
    if below([top for top in packages() if os.path.basename(top) in ("site-packages", "dist-packages")]):
        return "wheel"
    prefixes = [os.environ.get("CONDA_PREFIX") or "", sys.prefix]
    if below([prefix for prefix in prefixes if os.path.isdir(os.path.join(prefix, "conda-meta"))]):
        return "conda"
    toolkits = [os.environ.get(name) or "" for name in SETTINGS["toolkit_variables"]]
    toolkits += [found for pattern in SETTINGS["toolkit_folders"] for found in globbed("/", [pattern.lstrip("/")])]
    return "toolkit" if below(toolkits) else "system"


def opened(path: str, of: str, everywhere: bool = False) -> "Any":
    """The library, opened; None and a reading where the loader refuses."""
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL if everywhere else ctypes.DEFAULT_MODE)
    except OSError as error:
        message(error, of)
        fact("loader.failed", refused_of(error) or path)
        return None


def refused_of(error: OSError) -> "str | None":
    """The library that the loader's message begins with: the one it could not open, which another may have asked for."""
    name = str(error).partition(":")[0]
    return name if stem_of(os.path.basename(name)) else None


def code_name(library: str, number: int) -> str:
    """The name of a status number, or the number itself."""
    return CODES.get(library, {}).get(str(number), str(number))


def integer(call: "Any", *arguments: "Any") -> "int | None":
    """What a CUDA function writes through its first argument; None where it reports an error."""
    value = ctypes.c_int(0)
    return value.value if call(ctypes.byref(value), *arguments) == 0 else None


def examine_driver() -> None:
    """The libcuda that this interpreter gets, what cuInit answers, and the GPUs that CUDA shows this process."""
    step("open libcuda")
    name = "nvcuda.dll" if OS == "windows" else "libcuda.so.1"
    found = Loader().plain(name) if OS == "linux" else None
    library = attempt(ctypes.CDLL, name)
    if library is None:
        try:
            ctypes.CDLL(name)
        except OSError as error:
            message(error, "libcuda")
        fact("driver.libcuda", "broken" if found else "none")
        fact("driver.libcuda.path", found)
        return
    paths = [path for path in mapped() if stem_of(os.path.basename(path)) == "cuda"]
    path = paths[0] if paths else found
    if path:
        folder = (os.path.dirname(path) + os.sep + os.path.dirname(os.path.realpath(path))).split(os.sep)
        fact("driver.libcuda", "stub" if "stubs" in folder else "compat" if "compat" in folder else "driver")
        fact("driver.libcuda.path", path)
        fact("driver.library", version_of(path))
    else:
        fact("driver.libcuda", "driver")
    step("cuInit")
    status = library.cuInit(0)
    fact("driver.init", code_name("cuda", status))
    version = integer(library.cuDriverGetVersion)
    fact("cuda.driver", cuda_dotted(version))
    if CODES.get("cuda", {}).get(str(status), "").endswith("STUB_LIBRARY"):
        fact("driver.libcuda", "stub")
    if status:
        return
    step("cuDeviceGetCount")
    count = integer(library.cuDeviceGetCount)
    fact("gpu.count", count)
    for index in range(count or 0):
        device = integer(library.cuDeviceGet, index)
        text = ctypes.create_string_buffer(256)
        if device is None:
            continue
        if library.cuDeviceGetName(text, 256, device) == 0:
            fact("gpu.name", text.value.decode("utf-8", "replace"))
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        major, minor = (integer(library.cuDeviceGetAttribute, attribute, device) for attribute in (75, 76))
        if major is not None:
            fact("gpu.cc", f"{major}.{minor}")
        record("cuda device", index=index, name=text.value.decode("utf-8", "replace"), cc=f"{major}.{minor}")


def cudnn_names(folders_of_framework: "list[str]") -> "list[str]":
    """The main cuDNN libraries to try, newest first: those in the framework's folders, else any that is named in the settings."""
    found = [path for folder in folders_of_framework for path in folder_libraries(folder)]
    mine = [path for path in found if stem_of(os.path.basename(path)) == "cudnn" and not fault_of(elf(path))]
    versioned = [path for path in mine if OS == "windows" or re.search(r"\.so\.\d+$", path)]
    loader = Loader()
    plain = [name for name in SETTINGS["cudnn_names"] if OS != "linux" or loader.plain(name)]
    versioned.sort(
        key=lambda path: [int(digits) for digits in re.findall(r"\d+", os.path.basename(path))], reverse=True
    )
    return versioned + plain


def load_cudnn(name: str, binaries: "list[str]", preloads: "list[str]") -> "str | None":
    """Load cuDNN as framework ``name`` does; the file that was mapped, or None.

    A framework that links cuDNN is opened by its entry libraries, with its packages' libraries opened first where that
    fails. One that opens cuDNN by name is imitated by opening the file which its RUNPATH leads to.
    """
    wanted = SETTINGS["frameworks"].get(name, {}).get("entries", [])
    entries = [path for path in binaries if os.path.basename(path) in wanted]
    ahead = [path for folder in preloads for path in folder_libraries(folder)]
    parts = {stem for stems in SETTINGS["cudnn_parts"].values() for stem in stems}  # these are left to cuDNN itself
    ahead = [path for path in ahead if stem_of(os.path.basename(path)) not in parts]
    for entry in entries:
        step(f"{name}: open {os.path.basename(entry)}")
        if attempt(ctypes.CDLL, entry, mode=ctypes.RTLD_GLOBAL) is None:
            for path in ahead:
                attempt(ctypes.CDLL, path)
            opened(entry, name, everywhere=True)
    mains = [path for path in mapped() if stem_of(os.path.basename(path)) == "cudnn"]
    if mains:
        return mains[0]
    loader = Loader()
    rpath = unique(folder for binary in binaries for folder in expand(elf(binary).rpath, binary))
    runpath = unique(folder for binary in binaries for folder in expand(elf(binary).runpath, binary))
    for candidate in cudnn_names(rpath + runpath + preloads):
        base = os.path.basename(candidate)
        path = (loader.find(base, rpath, runpath) if OS == "linux" else None) or candidate
        step(f"{name}: open {base}")
        if opened(path, name):
            mains = [path for path in mapped() if stem_of(os.path.basename(path)) == "cudnn"]
            return (mains or [path])[0]
    return None


def ask_cudnn(main: str) -> None:
    """What a loaded cuDNN says of itself, of each part and of the GPU."""
    library = ctypes.CDLL(main)
    step("cudnnGetVersion")
    library.cudnnGetVersion.restype = ctypes.c_size_t
    number = library.cudnnGetVersion()
    fact("cudnn.loaded", cudnn_dotted(number))
    if hasattr(library, "cudnnGetCudartVersion"):
        step("cudnnGetCudartVersion")
        library.cudnnGetCudartVersion.restype = ctypes.c_size_t
        fact("cudnn.cudart", cuda_dotted(library.cudnnGetCudartVersion()))
    major = str(number // 10000 if number >= 90000 else number // 1000)
    loader = Loader()
    failed = False
    for stem in parts_of(major):
        part = os.path.basename(main).replace("cudnn", stem, 1)
        if OS == "linux":
            part = re.sub(r"(\.so\.\d+).*", r"\1", part)
            found = loader.find(part, expand(elf(main).rpath, main), expand(elf(main).runpath, main))
            path = found or part
        else:
            path = os.path.join(os.path.dirname(main), part)
        step(f"open {part}")
        try:
            ctypes.CDLL(path)
            fact("cudnn.part.loaded", part)
        except OSError as error:
            failed = True
            fact("cudnn.part.failed", part)
            fact("loader.failed", part)
            message(error, part)
    fact("cudnn.parts.load", not failed)
    agree = True
    library.cudnnGetErrorString.restype = ctypes.c_char_p
    for check in SETTINGS["cudnn_checks"]:
        if hasattr(library, check):
            step(check)
            status = library[check]()
            if status:
                agree = False
                fact("cudnn.part.check", library.cudnnGetErrorString(status).decode())
                record("cudnn check", function=check, status=library.cudnnGetErrorString(status).decode())
    fact("cudnn.parts.agree", agree)
    step("cudnnCreate")
    handle = ctypes.c_void_p()
    status = library.cudnnCreate(ctypes.byref(handle))
    fact("cudnn.create", library.cudnnGetErrorString(status).decode())
    if status == 0:
        library.cudnnDestroy(handle)
    elif hasattr(library, "cudnnGetLastErrorString"):
        text = ctypes.create_string_buffer(2000)
        library.cudnnGetLastErrorString(text, ctypes.c_size_t(2000))
        fact("cudnn.error", text.value.decode("utf-8", "replace"))
        if text.value:
            message(text.value.decode("utf-8", "replace"), "cudnnCreate")


def tell_mapped(name: str) -> None:
    """Which of the field's libraries this process holds now."""
    ours = [path for path in mapped() if family_of(os.path.basename(path)) and "/stubs/" not in path]
    for path in ours:
        fact("loader.loaded", path)
        record("mapped", by=name, path=path, release=version_of(path) or None)
    parts = [path for path in ours if family_of(os.path.basename(path)) == "cudnn"]
    if parts:
        fact("cudnn.origin", origin_of(parts[0]))
        releases = {tuple(version_of(path).split(".")[:3]) for path in parts} - {("",)}
        homes = {os.path.dirname(os.path.realpath(path)) for path in parts}
        fact("loader.mixed", len(homes) > 1 or len(releases) > 1)


def examine_cudnn(name: str, binaries: "list[str]", preloads: "list[str]") -> None:
    """Load and question cuDNN as framework ``name`` would."""
    main = load_cudnn(name, binaries, preloads)
    fact("loader.cudnn", main is not None)
    try:
        if main:
            ask_cudnn(main)
    finally:
        tell_mapped(name)


def uses_cudnn(name: str, binaries: "list[str]") -> bool:
    """Whether this is a CUDA build: its own files need a library of the field, or the mark that the settings name is there."""
    if any(family_of(needed) for binary in binaries for needed in elf(binary).needed):
        return True
    marks = SETTINGS["frameworks"][name].get("marks")
    if not marks:
        return False
    found = (path for top in packages() for path in globbed(top, marks[:1]))
    return any(re.search(marks[1], read(path) or "") is not None for path in found)


def main() -> None:
    """First the driver, then cuDNN by each framework's way, or by a plain program's where there is none."""
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")  # keeps the context that cudnnCreate makes small
    apart("loader", "driver", examine_driver)
    ways = {name: found for name, found in frameworks().items() if uses_cudnn(name, found[0])}
    if OS == "windows":
        for folder in [shown(path) for top in packages() for path in globbed(top, SETTINGS["wheel_folders"])]:
            attempt(os.add_dll_directory, folder)  # type: ignore[attr-defined,unused-ignore]
    for name, (binaries, preloads) in ways.items():
        apart("loader", name, examine_cudnn, name, binaries, preloads)
    if not ways:
        wheels = [path for top in packages() for path in globbed(top, SETTINGS["cudnn_folders"])]
        apart("loader", "plain", examine_cudnn, "plain", [], wheels)


if __name__ == "__main__":
    run(main)
