"""What an extension build would find: nvcc, CUDA headers, host compiler, and whether they accept one another. Part: elf."""

import glob
import os
import re
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elf import Loader, elf
    from .prelude import (
        OS,
        SETTINGS,
        at,
        attempt,
        cuda_dotted,
        each,
        exists,
        fact,
        folders,
        message,
        output,
        program,
        read,
        record,
        run,
        shown,
        unique,
    )

_SUFFIX = ".exe" if OS == "windows" else ""


def homes() -> "list[str]":
    """Toolkit folders: named by variables, found by nvcc on PATH, at the usual places, in this interpreter's environment."""
    out = [os.environ.get(name, "") for name in SETTINGS["toolkit_variables"]]
    nvcc = program("nvcc")
    if nvcc:
        out += [os.path.dirname(os.path.dirname(path)) for path in (nvcc, os.path.realpath(nvcc))]
    out += [shown(path) for pattern in SETTINGS["toolkit_folders"] for path in sorted(glob.glob(at(pattern)))]
    out += [os.environ.get("CONDA_PREFIX", ""), sys.prefix]
    wheels = (sorted(glob.glob(os.path.join(glob.escape(folder), "nvidia", "cu[0-9]*"))) for folder in sys.path)
    out += [path for found in wheels for path in found]
    return unique(os.path.normpath(path) for path in out if path and os.path.isdir(at(path)))


def build_home() -> "str | None":
    """The toolkit that PyTorch's extension builder takes: CUDA_HOME, CUDA_PATH, nvcc on PATH, the usual place."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            return os.environ[name]
    nvcc = program("nvcc")
    if nvcc:
        return os.path.dirname(os.path.dirname(nvcc))
    usual = "/usr/local/cuda"
    return usual if OS == "linux" and exists(usual) else None


def include_folders(home: "str | None", root: "str | None") -> "list[str]":
    """Where a build's preprocessor looks for headers: CPATH and the like, the toolkit, the environment, the system."""
    out = [folder for name in SETTINGS["include_variables"] for folder in folders(name)]
    named = [os.environ.get(name) for name in ("CUDNN_PATH", "CONDA_PREFIX")]
    for prefix in filter(None, [home, root and shown(root), *named]):
        nested = sorted(glob.glob(at(os.path.join(prefix, "targets", "*", "include"))))
        out += [os.path.join(prefix, "include"), *map(shown, nested)]
    return unique([*out, *SETTINGS["include_folders"]])


def header_version(places: "list[str]", files: "list[str]", names: "list[str]") -> "tuple[int, ...] | None":
    """The numbers behind #define NAME in the first of the headers that has them all."""
    for file in files:
        for folder in places:
            text = read(os.path.join(folder, file)) or ""
            found = [re.search(rf"#\s*define\s+{name}\s+(\d+)", text) for name in names]
            if all(found):
                return tuple(int(one[1]) for one in found if one)
    return None


def root_of(nvcc: str) -> str:
    """The toolkit that an nvcc works with, as it says itself (it may be a link or a wrapper)."""
    said = output([nvcc, "--dryrun", "-E", "-x", "cu", os.devnull], 10)
    found = re.search(r"^#\$ TOP=(.*)$", said[1], re.MULTILINE) if said else None
    return os.path.realpath(found[1].strip()) if found else os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


def examine_headers(home: "str | None", root: "str | None") -> None:
    """CUDA, cuDNN and Python headers where a build looks."""
    places = include_folders(home, root)
    cuda = header_version(places, ["cuda.h"], ["CUDA_VERSION"])
    cudnn = header_version(places, ["cudnn_version.h", "cudnn.h"], ["CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"])
    fact("toolkit.cuda.h", any(exists(os.path.join(folder, "cuda.h")) for folder in places))
    fact("cuda.headers", cuda_dotted(cuda[0]) if cuda else None)
    fact("toolkit.cudnn.h", any(exists(os.path.join(folder, "cudnn.h")) for folder in places))
    fact("cudnn.headers", ".".join(map(str, cudnn)) if cudnn else None)
    include = sysconfig.get_paths().get("include", "")
    fact("python.headers", exists(os.path.join(include, "Python.h")) if include else None)


def nvcc_release(path: str) -> "str | None":
    """The release that an nvcc or ptxas says it is."""
    said = output([path, "--version"], 10)
    found = re.search(r"release (\d+\.\d+), V(\d+\.\d+\.\d+)", said[1]) if said else None
    return found[2] if found else None


def build_nvcc(home: "str | None") -> "str | None":
    """The nvcc of the toolkit that a build takes, else the one on PATH."""
    path = at(os.path.join(home, "bin", "nvcc" + _SUFFIX)) if home else ""
    return path if os.path.isfile(path) else program("nvcc")


def examine_nvcc(home: "str | None", nvcc: "str | None", root: "str | None") -> None:
    """Every nvcc; the one that a build takes, and what it can compile for."""
    found = [os.path.join(folder, "bin", "nvcc" + _SUFFIX) for folder in homes()]
    found = [path for path in found if os.path.isfile(at(path))]
    for path in found:
        record("nvcc", path=path, release=nvcc_release(at(path)))
    fact("toolkit.nvcc", bool(found) or nvcc is not None)
    fact("toolkit.home", home is not None)
    fact("toolkit.home.path", home)
    if home:
        fact("toolkit.home.nvcc", os.path.isfile(at(os.path.join(home, "bin", "nvcc" + _SUFFIX))))
    if nvcc is None or root is None:
        return
    release = nvcc_release(nvcc)
    fact("toolkit.runs", release is not None)
    fact("cuda.toolkit", release)
    ptxas = os.path.join(root, "bin", "ptxas" + _SUFFIX)
    fact("ptxas.version", nvcc_release(ptxas) if os.path.isfile(ptxas) else None)
    fact("toolkit.ptxas", os.path.isfile(ptxas))
    said = output([nvcc, "--list-gpu-arch"], 10) if release else None
    archs = [int(digits) for digits in re.findall(r"compute_(\d+)", said[1])] if said and said[0] == 0 else []
    if archs:
        fact("toolkit.cc.min", f"{min(archs) // 10}.{min(archs) % 10}")
        fact("toolkit.cc.max", f"{max(archs) // 10}.{max(archs) % 10}")
    libdevice = [os.path.join(root, "nvvm", "libdevice"), at("/usr/lib/nvidia-cuda-toolkit/libdevice")]
    fact("toolkit.libdevice", any(glob.glob(os.path.join(folder, "libdevice*.bc")) for folder in libdevice))
    fact(
        "toolkit.complete",
        all(os.path.exists(os.path.join(root, *part.split("/"))) for part in SETTINGS["toolkit_needs"]),
    )
    if release:
        examine_acceptance(nvcc)


def examine_acceptance(nvcc: str) -> None:
    """Whether nvcc takes the host compiler that it would use: an empty file is preprocessed, nothing is written."""
    said = output([nvcc, "-x", "cu", "-E", os.devnull, "-o", os.devnull], 20)
    if said is None:
        return
    fact("toolkit.accepts", said[0] == 0)
    if said[0]:
        message(said[1], "nvcc")


def examine_compiler() -> None:
    """The host compiler that a build takes: CXX or CUDAHOSTCXX, else c++, g++, clang++, cl."""
    asked = [
        os.environ[name].split()[0] for name in ("CXX", "CUDAHOSTCXX", "NVCC_CCBIN") if os.environ.get(name, "").strip()
    ]
    present = False
    for name in unique([*asked, *SETTINGS["compilers"]]):
        path = name if os.path.isfile(name) else program(name)
        if path is None:
            record("compiler", name=name, missing=True) if name in asked else None
            continue
        said = output([path, "--version"] if OS != "windows" else [path], 10)
        if said is None:
            continue
        gcc = re.search(r"\(.*\)\s+(\d+\.\d+(?:\.\d+)?)", said[1])
        version = re.search(r"version (\d+\.\d+(?:\.\d+)*)", said[1]) or gcc
        kind = "clang" if "clang" in said[1] else "msvc" if "Microsoft" in said[1] else "gcc" if gcc else None
        record("compiler", name=name, path=path, maker=kind, version=version[1] if version else None)
        if not present:
            present = True
            fact("compiler.name", kind)
            fact("compiler.version", version[1] if version else None)
            fact("compiler.path", path)
            fact("compiler.gcc", version[1] if version and kind == "gcc" else None)
    fact("compiler.present", present)
    for tool in SETTINGS["build_tools"]:
        fact("toolkit.tool" if program(tool) else "toolkit.tool.absent", tool)


def examine_runtime() -> None:
    """The newest GLIBCXX and CXXABI of the libstdc++ that this interpreter would load."""
    if OS != "linux":
        return
    interpreter = elf(os.path.realpath(sys.executable))
    beside = os.path.join(sys.prefix, "lib", "libstdc++.so.6")
    from_conda = os.path.isdir(os.path.join(sys.prefix, "conda-meta")) and os.path.isfile(beside)
    path = beside if from_conda and (interpreter.rpath or interpreter.runpath) else Loader().plain("libstdc++.so.6")
    if path is None:
        return
    for prefix, name in (("GLIBCXX", "glibcxx.newest"), ("CXXABI", "cxxabi.newest")):
        versions = elf(path).versions(prefix)
        fact(name, ".".join(map(str, versions[-1])) if versions else None)
    fact("glibcxx.path", path)


def main() -> None:
    """Headers, nvcc, compilers."""
    home = attempt(build_home)
    nvcc = attempt(build_nvcc, home)
    root = attempt(root_of, nvcc) if nvcc else None
    each(lambda: examine_headers(home, root), lambda: examine_nvcc(home, nvcc, root), examine_compiler, examine_runtime)


if __name__ == "__main__":
    run(main)
