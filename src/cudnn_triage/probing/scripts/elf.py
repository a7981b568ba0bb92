"""Shared libraries read as files: where they lie, what is wrong with them, what they need, which release; nothing is run."""

import glob
import os
import platform
import re
import site
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Iterator

    from .prelude import OS, SETTINGS, at, attempt, folders, listing, shown, unique

MACHINES = {3: "x86", 20: "ppc", 21: "ppc64", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv", 258: "loongarch"}
PE_MACHINES = {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64"}
NAME = re.compile(r"lib(?P<stem>[\w+-]+(?:\.alt)?)\.so(?P<version>(?:\.\d+)*)$")
DLL_NAME = re.compile(r"(?P<stem>[\w+-]+?)(?:64)?_?(?P<version>\d+(?:_\d+)*)?\.dll$", re.IGNORECASE)
_MOST_VERSIONS = 4096  # names of symbol versions; libstdc++ has about 60
_HASHED = re.compile(r"-[0-9a-f]{8}$")  # what auditwheel appends to a copied library's name
_LINKER_SCRIPT = re.compile(rb"^\s*(/\*|INPUT|GROUP|OUTPUT_FORMAT)")


def stem_of(name: str) -> "str | None":
    """cudnn_ops of libcudnn_ops.so.9, cudnn_ops64_9.dll or libcudnn_ops-0a1b2c3d.so.9; None for any other file."""
    found = NAME.match(name) or DLL_NAME.match(name)
    return _HASHED.sub("", found["stem"]) if found else None


class Elf:
    """The parts of a library file that the loader looks at. ``fault`` says why it cannot be loaded; '' where it can.

    Faults: empty, truncated, not-elf, class (32 or 64 bits), machine, dangling (link to nothing), unreadable.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.fault = ""
        self.machine = self.soname = self.release = ""
        self.bits = 0
        self.needed: list[str] = []
        self.rpath: list[str] = []
        self.runpath: list[str] = []
        self.names: list[str] = []  # symbol versions defined and needed
        self.size = 0
        self.script = False  # a linker script: text on purpose, of no interest to the loader
        try:
            self.size = os.stat(at(path)).st_size
            with open(at(path), "rb") as file:
                self._read(file)
        except FileNotFoundError:
            self.fault = "dangling"
        except OSError:
            self.fault = "unreadable"
        except (struct.error, ValueError, IndexError, OverflowError, MemoryError):
            self.fault = self.fault or "truncated"

    def _read(self, file: "BinaryIO") -> None:
        head = file.read(64)
        if not head:
            self.fault = "empty"
        elif head[:2] == b"MZ":
            self._read_pe(file)
        elif head[:4] != b"\x7fELF":
            self.script = bool(_LINKER_SCRIPT.match(head))
            self.fault = "" if self.script else "not-elf"
        else:
            self._read_elf(file, head)

    def _read_elf(self, file: "BinaryIO", head: bytes) -> None:
        self.bits = 64 if head[4] == 2 else 32
        self._order = order = "<" if head[5] == 1 else ">"
        self.machine = MACHINES.get(struct.unpack_from(order + "H", head, 18)[0], "other")
        if self.bits == 64:
            phoff, shoff = struct.unpack_from(order + "QQ", head, 32)
            phsize, phcount, shsize, shcount = struct.unpack_from(order + "HHHH", head, 54)
        else:
            phoff, shoff = struct.unpack_from(order + "II", head, 28)
            phsize, phcount, shsize, shcount = struct.unpack_from(order + "HHHH", head, 42)
        segments = []
        for index in range(phcount):
            entry = self._at(file, phoff + index * phsize, phsize)
            if self.bits == 64:
                kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", entry)
            else:
                kind, offset, address, _, length = struct.unpack_from(order + "IIIII", entry)
            segments.append((kind, offset, address, length))
        self._loads = [segment for segment in segments if segment[0] == 1]
        ends = [offset + length for _, offset, _, length in segments] + [shoff + shsize * shcount]
        if self.size < max(ends):
            self.fault = "truncated"
        for kind, offset, _, length in segments:
            if kind == 2:
                self._dynamic(file, offset, length)
        if not self.fault and shoff:
            self._sections = [self._section(self._at(file, shoff + i * shsize, shsize)) for i in range(shcount)]
            self.release = attempt(self._release, file) or ""

    @staticmethod
    def _at(file: "BinaryIO", offset: int, length: int) -> bytes:
        if length > 1 << 28:
            raise ValueError("a table larger than any real one")
        file.seek(offset)
        return file.read(length)

    def _offset(self, address: int) -> int:
        for _, offset, start, length in self._loads:
            if start <= address < start + length:
                return int(offset + address - start)
        raise ValueError("address outside the file")

    def _dynamic(self, file: "BinaryIO", offset: int, length: int) -> None:
        pair = struct.Struct(self._order + ("qQ" if self.bits == 64 else "iI"))
        table = self._at(file, offset, length)
        entries = [pair.unpack_from(table, i) for i in range(0, len(table) - pair.size + 1, pair.size)]
        if 0 in [tag for tag, _ in entries]:
            entries = entries[: [tag for tag, _ in entries].index(0)]
        single = dict(entries)
        if 5 not in single:
            return
        self._names = self._offset(single[5])
        self.needed = [self._name(file, value) for tag, value in entries if tag == 1]
        self.soname = self._name(file, single[14]) if 14 in single else ""
        self.rpath = self._name(file, single[15]).split(":") if 15 in single else []
        self.runpath = self._name(file, single[29]).split(":") if 29 in single else []
        # symbol versions: DT_VERDEF and DT_VERNEED are lists of entries, each with a list of names
        for start, shape, name in ((0x6FFFFFFC, "HHHHIII", "II"), (0x6FFFFFFE, "HHIII", "IHHII")):
            if start in single:
                self.names += self._versions(file, self._offset(single[start]), shape, name)

    def _versions(self, file: "BinaryIO", place: int, shape: str, name: str) -> "list[str]":
        entry, aside = struct.Struct(self._order + shape), struct.Struct(self._order + name)
        out: list[str] = []
        for _ in range(_MOST_VERSIONS):
            fields = entry.unpack(self._at(file, place, entry.size))
            inner = place + fields[-2]
            for _ in range(fields[3] if shape == "HHHHIII" else fields[1]):
                found = aside.unpack(self._at(file, inner, aside.size))
                out.append(self._name(file, found[-2]))
                if not found[-1] or len(out) > _MOST_VERSIONS:
                    break
                inner += found[-1]
            if not fields[-1]:
                break
            place += fields[-1]
        return out

    def _name(self, file: "BinaryIO", start: int) -> str:
        return self._at(file, self._names + start, 4096).partition(b"\0")[0].decode("utf-8", "replace")

    def _section(self, entry: bytes) -> "tuple[int, int, int, int]":
        if self.bits == 64:
            _, kind, _, _, offset, length, link = struct.unpack_from(self._order + "IIQQQQI", entry)
        else:
            _, kind, _, _, offset, length, link = struct.unpack_from(self._order + "IIIIIII", entry)
        return kind, offset, length, link

    def _release(self, file: "BinaryIO") -> str:
        """The release that cuDNN 8 and 9 keep in a data symbol: cudnn_graph_version = 0x90a02 is 9.10.2."""
        if self.bits != 64 or not (stem_of(os.path.basename(self.path)) or "").startswith("cudnn"):
            return ""
        for kind, offset, length, _ in self._sections:
            if kind != 11:  # SHT_DYNSYM
                continue
            table = self._at(file, offset, length)
            for name, info, _, section, value, size in struct.iter_unpack(self._order + "IBBHQQ", table):
                if size == 4 and info & 15 == 1 and section and re.match(r"cudnn_\w+_version$", self._name(file, name)):
                    packed = struct.unpack(self._order + "I", self._at(file, self._offset(value), 4))[0]
                    return f"{packed >> 16}.{packed >> 8 & 255}.{packed & 255}" if 1 <= packed >> 16 < 100 else ""
        return ""

    def versions(self, prefix: str) -> "list[tuple[int, ...]]":
        """The symbol versions PREFIX_x.y that a library provides or needs of another, e.g. GLIBCXX, oldest first."""
        found = (re.fullmatch(re.escape(prefix) + r"_(\d+(?:\.\d+)+)", name) for name in self.names)
        return sorted(tuple(int(part) for part in one[1].split(".")) for one in found if one)

    def _read_pe(self, file: "BinaryIO") -> None:
        start = struct.unpack("<I", self._at(file, 0x3C, 4))[0]
        header = self._at(file, start, 24)
        if header[:4] != b"PE\0\0":
            self.fault = "not-elf"
            return
        machine, sections = struct.unpack_from("<HH", header, 4)
        self.machine = PE_MACHINES.get(machine, "other")
        self.bits = 32 if self.machine == "x86" else 64
        table = start + 24 + struct.unpack_from("<H", header, 20)[0]
        for index in range(sections):
            entry = self._at(file, table + 40 * index, 40)
            length, offset = struct.unpack_from("<II", entry, 16)
            if offset + length > self.size:
                self.fault = "truncated"
            if entry[:5] == b".rsrc":
                found = re.search(rb"\xbd\x04\xef\xfe.{4}(.{8})", self._at(file, offset, length), re.DOTALL)
                if found:
                    low, high, last, third = struct.unpack("<HHHH", found[1])
                    self.release = f"{high}.{low}.{third}" + (f".{last}" if last else "")


_read_already: "dict[str, Elf]" = {}


def elf(path: str) -> Elf:
    """The library at ``path``; each file is read once."""
    if path not in _read_already:
        _read_already[path] = Elf(path)
    return _read_already[path]


def own() -> "tuple[int, str]":
    """Word size and machine of the interpreter: what its libraries must have, too."""
    bits = 64 if sys.maxsize > 1 << 32 else 32
    machine = platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64")
    return bits, machine if bits == 64 else {"x86_64": "x86", "aarch64": "arm"}.get(machine, machine)


def fault_of(library: Elf) -> str:
    """The library's fault, or 'class' / 'machine' where the interpreter is of another kind."""
    bits, machine = own()
    if library.fault or not library.bits:
        return library.fault
    known = machine in MACHINES.values()
    return "class" if library.bits != bits else "machine" if known and library.machine != machine else ""


def loader_cache() -> "list[tuple[str, str]]":
    """Name and path of each library in /etc/ld.so.cache, in the loader's order."""
    try:
        with open(at("/etc/ld.so.cache"), "rb") as file:
            data = file.read(1 << 24)
        start = data.index(b"glibc-ld.so.cache1.1")
        count = struct.unpack_from("<I", data, start + 20)[0]
        entries = (struct.unpack_from("<iII", data, start + 48 + 24 * index) for index in range(count))
        return [(_text(data, start + name), _text(data, start + path)) for _, name, path in entries]
    except (OSError, ValueError, struct.error):
        return []


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("utf-8", "replace")


def default_folders() -> "list[str]":
    """Where the loader looks last."""
    machine = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}.get(own()[1], "")
    triplet = [f"/lib/{machine}", f"/usr/lib/{machine}"] if machine else []
    return [*triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"]


class Loader:
    """Where ld.so would find a library, worked out from files alone. ``search`` is LD_LIBRARY_PATH."""

    def __init__(self) -> None:
        self.search = folders("LD_LIBRARY_PATH") if OS == "linux" else []
        named = re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", "")) if OS == "linux" else []
        self.preloaded = [path for path in named if path and os.path.isfile(at(path))]
        self.cache: dict[str, list[str]] = {}
        for name, path in loader_cache():
            self.cache.setdefault(name, []).append(path)
        self.defaults = default_folders()

    def plain(self, name: str) -> "str | None":
        """The file that a plain dlopen(name) takes: LD_LIBRARY_PATH, the cache, the system's folders."""
        return self.find(name, [], [])

    def find(self, name: str, rpath: "list[str]", runpath: "list[str]") -> "str | None":
        """The first file of that name which the loader accepts (one of another class or machine is passed over)."""
        ahead = [] if runpath else rpath
        for path in self._candidates(name, [*ahead, *self.search, *runpath]):
            library = elf(path)
            if library.fault != "dangling" and fault_of(library) not in ("class", "machine"):
                return path
        return None

    def _candidates(self, name: str, ahead: "list[str]") -> "Iterator[str]":
        for folder in ahead:
            if os.path.lexists(at(os.path.join(folder, name))):
                yield os.path.join(folder, name)
        yield from self.cache.get(name, [])
        for folder in self.defaults:
            if os.path.lexists(at(os.path.join(folder, name))):
                yield os.path.join(folder, name)


def expand(paths: "list[str]", origin: str) -> "list[str]":
    """Folders of an RPATH or RUNPATH with $ORIGIN replaced."""
    folder = os.path.dirname(os.path.realpath(at(origin)))
    here = shown(folder)
    return [os.path.normpath(re.sub(r"\$ORIGIN|\$\{ORIGIN\}", lambda _: here, path)) for path in paths if path]


def closure(
    loader: Loader, binaries: "list[str]", preloaded: "dict[str, str]", opens: "Any"
) -> "tuple[dict[str, str], dict[str, str]]":
    """What loading ``binaries`` maps: name -> file, and name -> who asked, for those not found.

    ``preloaded`` are libraries that the framework opens by full path if its first try fails; ``opens(name)`` lists what a
    library opens later by name.
    """
    mapped = {elf(path).soname or os.path.basename(path): path for path in loader.preloaded}
    lacking: dict[str, str] = {}
    pending = [(binary, expand(elf(binary).rpath, binary)) for binary in binaries]
    while pending:
        asker, inherited = pending.pop(0)
        library = elf(asker)
        runpath = expand(library.runpath, asker)
        for name in library.needed + opens(os.path.basename(asker)):
            if name in mapped:
                continue
            path = loader.find(name, inherited, runpath) or preloaded.get(name)
            if path is None:
                lacking.setdefault(name, asker)
                continue
            mapped[name] = path
            lacking.pop(name, None)
            pending.append((path, unique(expand(elf(path).rpath, path) + inherited)))
    return mapped, lacking


def version_of(path: str) -> str:
    """The release of a library from its real file name (libcudnn.so.8.9.7) or its contents; '' where neither says."""
    library = elf(path)
    real = os.path.basename(os.path.realpath(at(path)))
    named = NAME.match(real)
    digits = named["version"].strip(".") if named else ""
    if library.release:
        return library.release
    return digits if digits.count(".") else ""


def folder_libraries(folder: str) -> "list[str]":
    """The shared libraries in a folder, by full path."""
    return [os.path.join(folder, name) for name in listing(folder) if stem_of(name)]


def packages() -> "list[str]":
    """The folders that this interpreter imports installed packages from."""
    known = attempt(site.getsitepackages) or []
    user = attempt(site.getusersitepackages)
    candidates = [path for path in [*sys.path, *known, *([user] if user else [])] if path]
    return [path for path in unique(map(os.path.normpath, candidates)) if os.path.isdir(path)]


def globbed(folder: str, patterns: "list[str]") -> "list[str]":
    """What matches any of the patterns below ``folder``, sorted per pattern."""
    found = (sorted(glob.glob(os.path.join(glob.escape(folder), *pattern.split("/")))) for pattern in patterns)
    return unique(path for paths in found for path in paths)


def family_of(name: str) -> "str | None":
    """The family of rules/probes.yaml that a library file belongs to, by its name."""
    stem = stem_of(name)
    if stem is None:
        return None
    for family, pattern in SETTINGS["families"].items():
        if re.fullmatch(pattern, stem, re.IGNORECASE):
            return str(family)
    return None


def frameworks() -> "dict[str, tuple[list[str], list[str]]]":
    """The frameworks in this interpreter: name -> their own binaries, and the folders they open libraries from by full path."""
    out: dict[str, tuple[list[str], list[str]]] = {}
    for folder in packages():
        for name, parts in SETTINGS["frameworks"].items():
            binaries = [path for path in globbed(folder, parts["binaries"]) if not elf(path).fault]
            if binaries and name not in out:
                out[name] = binaries, globbed(folder, parts.get("preloads", []))
    return out


def parts_of(major: str) -> "list[str]":
    """The stems of the parts that cuDNN of this major version consists of, beside the main library."""
    return list(SETTINGS["cudnn_parts"].get(major, []))


def opened_later(name: str) -> "list[str]":
    """What the library ``name`` opens by name when it is used: the main cuDNN its parts."""
    found = re.fullmatch(r"libcudnn\.so\.(\d+)", name)
    return [f"lib{stem}.so.{found[1]}" for stem in parts_of(found[1])] if found else []
