"""Inventory of cuDNN, CUDA and driver libraries: every copy with place, release and soundness, and which one would be taken.

Reads files only. Part: elf.
"""

import glob
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elf import (
        Loader,
        closure,
        elf,
        family_of,
        fault_of,
        folder_libraries,
        frameworks,
        globbed,
        opened_later,
        packages,
        parts_of,
        stem_of,
        version_of,
    )
    from .prelude import (
        OS,
        SETTINGS,
        at,
        attempt,
        exists,
        fact,
        facts,
        folders,
        listing,
        read,
        record,
        run,
        shown,
        unique,
    )


def places() -> "list[tuple[str, str]]":
    """Where copies may lie: (kind of place, folder). A folder of the wheels stays one when LD_LIBRARY_PATH names it."""
    wheels = SETTINGS["wheel_folders"]
    out = [("wheel", path) for folder in packages() for path in globbed(folder, wheels) if os.path.isdir(path)]
    if OS == "linux":
        out += [("LD_LIBRARY_PATH", folder) for folder in folders("LD_LIBRARY_PATH")]
    prefixes = unique(filter(None, [os.environ.get("CONDA_PREFIX"), sys.prefix]))
    for prefix in prefixes:
        if os.path.isdir(os.path.join(prefix, "conda-meta")):
            out += [("conda", os.path.join(prefix, part)) for part in ("lib", os.path.join("Library", "bin"), "bin")]
    if OS == "windows":
        out += [("PATH", folder) for folder in folders("PATH")]
        system = os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
        out.append(("system", system))
    else:
        out += [
            ("system", folder) for folder in unique(os.path.dirname(p) for ps in Loader().cache.values() for p in ps)
        ]
        out += [("system", folder) for folder in [*Loader().defaults, *SETTINGS["system_folders"]]]
    roots = [os.environ.get(name) for name in SETTINGS["toolkit_variables"]]
    roots += [shown(path) for pattern in SETTINGS["toolkit_folders"] for path in sorted(glob.glob(at(pattern)))]
    for root in filter(None, roots):
        out += [("toolkit", os.path.join(root, *part.split("/"))) for part in SETTINGS["toolkit_parts"]]
    real = {(kind, os.path.realpath(at(folder))): (kind, os.path.normpath(folder)) for kind, folder in reversed(out)}
    return [place for place in reversed(list(real.values())) if os.path.isdir(at(place[1]))]


def wheel_versions() -> "dict[str, tuple[str, str]]":
    """Path of each library that an installed distribution lists -> its name and release, judged by the listed size.

    Two distributions may list the same file (-cu11 beside -cu12): the one whose size is the file's put it there.
    """
    out: dict[str, tuple[str, str]] = {}
    for folder in packages():
        for info in listing(folder):
            named = re.fullmatch(r"(.+)-([^-]+)\.dist-info", info)
            if not named or not re.match(SETTINGS["wheel_names"], named[1], re.IGNORECASE):
                continue
            for line in (read(os.path.join(folder, info, "RECORD"), 1 << 24) or "").splitlines():
                name, _, size = [*line.rsplit(",", 2), "", ""][:3]
                if family_of(os.path.basename(name)):
                    path = os.path.join(folder, *name.split("/"))
                    if attempt(os.path.getsize, path) == attempt(int, size) or path not in out:
                        out[path] = (named[1].replace("_", "-").lower(), named[2])
    return out


class Copy:
    """One library file, under one of its names."""

    def __init__(self, path: str, kind: str, owners: "dict[str, tuple[str, str]]") -> None:
        self.path, self.kind = path, kind
        self.name = os.path.basename(path)
        self.family = family_of(self.name) or ""
        self.stem = stem_of(self.name) or ""
        self.library = elf(path)
        self.fault = fault_of(self.library)
        self.owner, owned = owners.get(path, ("", ""))
        self.release = version_of(path) or owned

    @property
    def soname(self) -> str:
        """The name that others ask for."""
        return self.library.soname or self.name

    @property
    def real(self) -> str:
        """The file behind all links."""
        return shown(os.path.realpath(at(self.path)))

    @property
    def alien(self) -> bool:
        """Whether it is one of the system's libraries for programs of another class or machine: no fault of anybody's."""
        return self.kind == "system" and self.fault in ("class", "machine")

    @property
    def kind_of_libcuda(self) -> str:
        """stub, compat or driver, by where the file lies; broken where it cannot be loaded."""
        parts = os.path.dirname(self.path).split(os.sep) + os.path.dirname(self.real).split(os.sep)
        return "broken" if self.fault else "stub" if "stubs" in parts else "compat" if "compat" in parts else "driver"


def inventory() -> "list[Copy]":
    """Every copy, in the order of the places; a file of several names is listed under each."""
    owners = attempt(wheel_versions) or {}
    found = [(kind, path) for kind, folder in places() for path in folder_libraries(folder)]
    found += [("LD_PRELOAD", path) for path in Loader().preloaded]
    kinds: dict[str, str] = {}
    for kind, path in found:
        if family_of(os.path.basename(path)) is not None:
            kinds.setdefault(path, kind)
    copies = (Copy(path, kind, owners) for path, kind in kinds.items())
    return [copy for copy in copies if not copy.library.script and not copy.alien]


def major_of(copy: Copy) -> str:
    """The major version in a library's name or release."""
    found = re.search(r"\.so\.(\d+)", copy.name) or re.search(r"_(\d+)(?:_\d+)?\.dll$", copy.name)
    return found[1] if found else copy.release.partition(".")[0]


def examine_cudnn(copies: "list[Copy]", main: "Copy | None") -> None:
    """Whether the cuDNN that comes first is whole and of one release."""
    installed = [copy for copy in copies if copy.stem == "cudnn" and not copy.fault]
    fact("cudnn.present", bool(installed))
    facts("cudnn.installed", (copy.release for copy in installed))
    if main is None:
        return
    major = major_of(main)
    folder = os.path.dirname(main.path)
    beside = [copy for copy in copies if copy.family == "cudnn" and os.path.dirname(copy.path) == folder]
    lacking = []
    releases = {main.release} - {""}
    whole = bool(parts_of(major))
    for stem in parts_of(major):
        mates = [copy for copy in beside if copy.stem == stem and major_of(copy) == major]
        sound = [copy for copy in mates if not copy.fault]
        if not sound:
            lacking.append(main.name.replace("cudnn", stem, 1))
        releases |= {copy.release for copy in sound} - {""}
    facts("cudnn.parts.missing", lacking)
    mixed = len({tuple(release.split(".")[:3]) for release in releases}) > 1
    if mixed or (whole and not lacking and releases):
        fact("cudnn.parts.mixed", mixed)
    if whole:
        fact("cudnn.parts.complete", not lacking)
    fact("cudnn.first", main.path)


def first_cudnn(copies: "list[Copy]", mapped: "dict[str, str]", loader: "Loader") -> "Copy | None":
    """The main cuDNN that a framework of this interpreter, else a plain program, would take."""
    mains = [copy for copy in copies if copy.stem == "cudnn" and copy.name != "libcudnn.so"]
    wanted = [path for name, path in mapped.items() if stem_of(name) == "cudnn"]
    wanted += [path for path in (loader.plain(copy.name) for copy in mains) if path]
    for path in wanted:
        for copy in mains:
            if copy.path == path or copy.real == os.path.realpath(path):
                return copy
    return mains[0] if mains else None


def examine_search(copies: "list[Copy]", loader: "Loader") -> "dict[str, str]":
    """What the frameworks' own binaries find: name -> file."""
    mapped: dict[str, str] = {}
    unresolved: set[str] = set()
    for name, (binaries, preloads) in frameworks().items():
        fact("library.framework", name)
        preloaded = {os.path.basename(path): path for folder in preloads for path in folder_libraries(folder)}
        found, lacking = closure(loader, binaries, preloaded, opened_later)
        for soname, path in found.items():
            mapped.setdefault(soname, path)
        missing = [soname for soname in lacking if family_of(soname) not in (None, "driver")]
        for soname in missing:
            fact("library.unresolved", soname)
            record("unresolved", framework=name, library=soname, needed_by=lacking[soname])
        unresolved.update(missing)
        facts("library.resolved", (soname for soname in found if family_of(soname)))
        examine_host_libraries(binaries)
    if unresolved or any(family_of(soname) not in (None, "driver") for soname in mapped):
        fact("library.needs", "unmet" if unresolved else "met")
    if unresolved:
        stems = {stem_of(soname) for soname in unresolved}
        others = [copy for copy in copies if copy.stem in stems and copy.name not in unresolved and not copy.fault]
        facts("library.other", unique(copy.name for copy in others if copy.name != f"lib{copy.stem}.so"))
        fact("library.other.present", bool(others))
    return mapped


def examine_shadows(copies: "list[Copy]", mapped: "dict[str, str]") -> None:
    """Whether LD_PRELOAD, LD_LIBRARY_PATH (or PATH on Windows) names another release of what the packages here bring."""
    brought = {copy.soname: copy for copy in reversed(copies) if copy.kind == "wheel" and not copy.fault}
    shadows = []
    for copy in copies:
        mine = brought.get(copy.soname)
        if copy.kind not in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PATH") or mine is None:
            continue
        if copy.fault in ("class", "machine", "dangling", "unreadable"):  # the loader passes these over
            continue
        taken = shown(os.path.realpath(at(mapped.get(copy.soname, ""))))
        same = (mine.release, mine.library.size) == (copy.release, copy.library.size) or mine.real == copy.real
        if not same and taken != mine.real:  # an RPATH comes before LD_LIBRARY_PATH
            shadows.append((mine, copy))
    for mine, copy in shadows:
        fact("library.shadowed", mine.name)
        fact("library.shadowed.by", copy.path)
        record("shadowed", library=mine.path, release=mine.release, by=copy.path, by_release=copy.release)
    if brought:
        fact("library.shadowing", bool(shadows))


def examine_host_libraries(binaries: "list[str]") -> None:
    """The newest symbol versions of glibc and libstdc++ that the frameworks' binaries need."""
    for prefix, name in (("GLIBC", "glibc.needed"), ("GLIBCXX", "glibcxx.needed")):
        found = [version for binary in binaries for version in elf(binary).versions(prefix)[-1:]]
        if found:
            fact(name, ".".join(map(str, max(found))))


def tell_copies(copies: "list[Copy]") -> None:
    """Every file with all its names, and what is wrong with it."""
    names: dict[str, list[str]] = {}
    for copy in copies:
        names.setdefault(copy.real, []).append(copy.path)
    for copy in copies:
        if names[copy.real][0] == copy.path:
            record(
                "library",
                path=copy.path,
                also=names[copy.real][1:] or None,
                family=copy.family,
                place=copy.kind,
                release=copy.release or None,
                package=copy.owner or None,
                soname=copy.library.soname or None,
                size=copy.library.size,
                fault=copy.fault or None,
            )
        if copy.fault and copy.fault != "unreadable":
            fact("library.broken", copy.path)
            fact("library.broken.how", copy.fault)
            fact("broken.library", copy.name)
    fact("library.sound", not any(copy.fault for copy in copies) if copies else None)


def examine_families(sound: "list[Copy]") -> None:
    """Which products have no library here, and the releases of those that have."""
    for family in SETTINGS["families"]:
        mine = [copy for copy in sound if copy.family == family]
        if not mine:
            fact("library.absent", family)
        if family + ".installed" in SETTINGS["release_facts"]:
            facts(family + ".installed", (copy.release for copy in mine))


def examine_findable(sound: "list[Copy]", loader: "Loader") -> None:
    """Which libraries a program would find by name, and of which CUDA."""
    findable = {name for name in (copy.name for copy in sound) if OS != "linux" or loader.plain(name)}
    findable |= {copy.name for copy in sound if copy.kind in ("wheel", "PATH", "system")}
    facts("library.found", sorted(findable))
    if OS == "linux":
        plain = sorted(name for name in findable if loader.plain(name))
        facts("library.plain", plain)
        fact("cudnn.plain", any(re.fullmatch(r"libcudnn\.so\.\d+", name) for name in plain))
    versioned = [copy for copy in sound if copy.stem in SETTINGS["runtime_stems"] and copy.name != f"lib{copy.stem}.so"]
    facts("cuda.libraries.major", sorted({major_of(copy)[:2] for copy in versioned if major_of(copy)}))


def examine_libcuda(copies: "list[Copy]") -> None:
    """The driver's library under each of its names: the driver's own, a stub, or one of forward compatibility."""
    for copy in copies:
        if copy.stem in ("cuda", "nvcuda"):
            record("libcuda", path=copy.path, sort=copy.kind_of_libcuda, release=copy.release or None)
            fact("libcuda.kinds", copy.kind_of_libcuda)


def examine_helpers() -> None:
    """What CUDA's libraries for Windows load beside them."""
    searched = [folder for _, folder in places()]
    for name in SETTINGS["windows_helpers"]:
        if not any(exists(os.path.join(folder, name)) for folder in searched):
            fact("library.helper.absent", name)


def main() -> None:
    """Look everywhere, then ask what would be taken."""
    copies = inventory()
    loader = Loader()
    sound = [copy for copy in copies if not copy.fault]
    tell_copies(copies)
    examine_families(sound)
    examine_findable(sound, loader)
    examine_libcuda(copies)
    mapped = examine_search(copies, loader) if OS == "linux" else {}
    examine_shadows(copies, mapped)
    examine_cudnn(copies, first_cudnn(copies, mapped, loader))
    if OS == "windows":
        examine_helpers()


if __name__ == "__main__":
    run(main)
