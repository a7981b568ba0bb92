"""Installed distributions of this field: releases, unmet requirements, two that provide the same files, damage on disk.

Works on metadata alone, as `pip check` does, and needs neither pip nor packaging.
"""

import os
import platform
import re
import site
import sys
from importlib import metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

    from .prelude import SETTINGS, attempt, each, fact, facts, record, run

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<pren>\d*))?"
    r"(?P<post>-(?P<post1>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post2>\d*))?(?:[-_.]?(?P<dev>dev)[-_.]?(?P<devn>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$",
    re.IGNORECASE,
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LAST = 1 << 62


class Release:
    """A version by PEP 440, with its order."""

    def __init__(self, text: str) -> None:
        found = _VERSION.match(text.strip())
        if not found:
            raise ValueError(f"not a version: {text}")
        self.numbers = tuple(int(part) for part in found["release"].split("."))
        self.epoch = int(found["epoch"] or 0)
        pre = (found["pre"] or "").lower()
        self.pre = (_PRE.get(pre, pre), int(found["pren"] or 0)) if pre else None
        self.post = int(found["post1"] or found["post2"] or 0) if found["post"] else None
        self.dev = int(found["devn"] or 0) if found["dev"] else None
        self.local = tuple(re.split(r"[-_.]", found["local"].lower())) if found["local"] else ()

    @property
    def base(self) -> "tuple[Any, ...]":
        """Epoch and numbers without trailing zeros."""
        numbers = self.numbers
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers = numbers[:-1]
        return self.epoch, numbers

    def place(self, post: "int | None", dev: "int | None") -> "tuple[Any, ...]":
        """Where this version would stand in the order with other post and dev numbers; the local part is left out."""
        pre: tuple[Any, ...] = ("z",) if self.pre is None else self.pre
        if self.pre is None and post is None and dev is not None:
            pre = ("",)
        return (*self.base, pre, -1 if post is None else post, _LAST if dev is None else dev)

    @property
    def public(self) -> "tuple[Any, ...]":
        """What orders versions when the local part is left out."""
        return self.place(self.post, self.dev)

    @property
    def key(self) -> "tuple[Any, ...]":
        """What orders versions."""
        return *self.public, tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in self.local)

    @property
    def early(self) -> bool:
        """Whether it is a pre-release or a development release."""
        return self.pre is not None or self.dev is not None


def accepts(clause: str, version: str) -> bool:
    """Whether one clause of a specifier ('>=2.1', '==1.*') takes a version; pre-releases count like any other, as for `pip check`."""
    found = re.match(r"\s*(===|~=|==|!=|<=|>=|<|>)\s*(.+?)\s*$", clause)
    if not found:
        return True
    operator, wanted = found.groups()
    if operator == "===":
        return version.strip().lower() == wanted.lower()
    have = Release(version)
    if wanted.endswith(".*"):
        prefix = Release(wanted[:-2])
        numbers = have.numbers + (0,) * len(prefix.numbers)
        same = (have.epoch, numbers[: len(prefix.numbers)]) == (prefix.epoch, prefix.numbers)
        return same if operator == "==" else not same
    want = Release(wanted)
    if operator in ("==", "!="):
        same = have.key == want.key if want.local else have.public == want.public
        return same if operator == "==" else not same
    if operator == "~=":
        head = want.numbers[:-1]
        return (
            have.public >= want.public
            and have.epoch == want.epoch
            and (have.numbers + (0,) * len(head))[: len(head)] == head
        )
    if operator == ">=":
        return have.public >= want.public
    if operator == "<=":
        return have.public <= want.public
    if operator == "<":  # not the pre-releases of the version itself either
        return have.public < (want.public if want.early else want.place(want.post, 0))
    if want.dev is not None:
        return have.public >= want.place(want.post, want.dev + 1)
    if want.post is not None:
        return have.public >= want.place(want.post + 1, 0)
    return have.public > want.public and (have.base, have.pre) != (want.base, want.pre)  # not its post-releases


def satisfies(specifier: str, version: str) -> "bool | None":
    """Whether a version satisfies all clauses of a specifier; None where either is not by the book."""
    try:
        return all(accepts(clause, version) for clause in specifier.split(",") if clause.strip())
    except ValueError:
        return None


def surroundings() -> "dict[str, str]":
    """The variables of PEP 508 markers."""
    version = platform.python_version()
    return {
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "python_full_version": version,
        "implementation_version": version,
        "os_name": os.name,
        "sys_platform": sys.platform,
        "platform_system": platform.system(),
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_version": platform.version(),
        "platform_python_implementation": platform.python_implementation(),
        "implementation_name": sys.implementation.name,
        "extra": "",
    }


def applies(marker: str, values: "dict[str, str]") -> bool:
    """Whether a PEP 508 marker holds; one that cannot be read counts as not holding."""
    tokens = re.findall(r"'[^']*'|\"[^\"]*\"|\(|\)|not\s+in\b|[<>=!~]+|[\w.]+", marker)
    try:
        held = _either(tokens, values)
        return held and not tokens
    except (IndexError, KeyError, ValueError):
        return False


def _either(tokens: "list[str]", values: "dict[str, str]") -> bool:
    held = _both(tokens, values)
    while tokens and tokens[0] == "or":
        tokens.pop(0)
        other = _both(tokens, values)
        held = held or other
    return held


def _both(tokens: "list[str]", values: "dict[str, str]") -> bool:
    held = _single(tokens, values)
    while tokens and tokens[0] == "and":
        tokens.pop(0)
        other = _single(tokens, values)
        held = held and other
    return held


def _single(tokens: "list[str]", values: "dict[str, str]") -> bool:
    token = tokens.pop(0)
    if token == "(":
        held = _either(tokens, values)
        tokens.pop(0)
        return held
    operator = re.sub(r"\s+", " ", tokens.pop(0))
    left, right = _operand(token, values), _operand(tokens.pop(0), values)
    if operator in ("in", "not in"):
        return (left in right) == (operator == "in")
    if "version" in token or token == "platform_release":
        by_version = satisfies(operator + right, left)
        if by_version is not None:
            return by_version
    return {"==": left == right, "!=": left != right, "<": left < right, ">": left > right}.get(operator, False)


def _operand(token: str, values: "dict[str, str]") -> str:
    return token[1:-1] if token[0] in "'\"" else values[token.replace(".", "_")]


def canonical(name: str) -> str:
    """A distribution's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> "tuple[str, str, str] | None":
    """Name, specifier and marker of a requirement; a direct address accepts any version."""
    found = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(@[^;]*|[^;]*)(?:;(.*))?$", text, re.DOTALL)
    if not found:
        return None
    specifier = "" if found[2].startswith("@") else found[2].strip().strip("()")
    return canonical(found[1]), specifier, (found[3] or "").strip()


class Installed:
    """One installed distribution."""

    def __init__(self, distribution: "Any") -> None:
        self.found = distribution
        self.name = canonical(distribution.metadata["Name"] or "")
        self.version = str(distribution.version or "")
        self.place = os.path.dirname(str(getattr(distribution, "_path", "")))

    @property
    def ours(self) -> bool:
        """Whether it is a package of this field."""
        return re.match(SETTINGS["field"], self.name) is not None

    def needs(self) -> "Iterator[tuple[str, str]]":
        """Name and specifier of what it requires here."""
        values = surroundings()
        for text in self.found.requires or []:
            parts = requirement(text)
            if parts and (not parts[2] or applies(parts[2], values)):
                yield parts[0], parts[1]

    def files(self) -> "Iterator[tuple[str, str, str]]":
        """Path, hash and size of the code files that it lists."""
        for line in (attempt(self.found.read_text, "RECORD") or "").splitlines():
            parts = [*line.rsplit(",", 2), "", ""][:3]
            path = parts[0].strip('"').replace("\\", "/")
            if re.search(r"\.(so(\.[\d.]+)?|py|pyd|dll|dylib)$", path) and not path.startswith(("..", "/")):
                yield path, parts[1], parts[2]


def installed() -> "tuple[list[Installed], list[str]]":
    """The distributions that imports find, first on the path first; names that are there twice."""
    first: dict[str, Installed] = {}
    twice = []
    for distribution in metadata.distributions():
        entry = attempt(Installed, distribution)
        if entry is None or not entry.name:
            continue
        other = first.setdefault(entry.name, entry)
        if other is not entry and os.path.realpath(other.place) == os.path.realpath(entry.place):
            if other.version != entry.version:
                twice.append(entry.name)
        elif other is not entry and entry.ours:
            record("hidden", package=entry.name, version=entry.version, place=entry.place, by=other.place)
    return list(first.values()), twice


def examine_requirements(have: "list[Installed]") -> None:
    """What `pip check` would say of the packages of this field."""
    versions = {entry.name: entry.version for entry in have}
    broken = False
    for entry in have:
        for name, specifier in attempt(list, entry.needs()) or []:
            if not (entry.ours or re.match(SETTINGS["field"], name)):
                continue
            version = versions.get(name)
            if version is not None and satisfies(specifier, version) is not False:
                continue
            broken = True
            fact("packages.unmet", entry.name)
            fact("pip.wants", entry.name)
            fact("pip.has" if version else "packages.missing", name)
            record("unmet", package=entry.name, version=entry.version, needs=f"{name}{specifier}", installed=version)
    fact("packages.check", "broken" if broken else "ok")


def examine_files(have: "list[Installed]") -> None:
    """Files that two packages list with different contents; files that are listed and missing or of another size."""
    owner: dict[str, tuple[Installed, str]] = {}
    doubled = set()
    missing = False
    for entry in have:
        if not entry.ours:
            continue
        lost = []
        for path, digest, size in entry.files():
            whole = os.path.join(entry.place, path)
            other, known = owner.setdefault(os.path.normcase(whole), (entry, digest))
            if other is not entry and known != digest:
                top = path.split("/")[: 2 if path.startswith("nvidia/") else 1]
                doubled.add((other.name, entry.name, ".".join(top)))
            try:
                real = os.path.getsize(whole)
            except OSError:
                lost.append(path)
                continue
            if re.search(r"\.(so(\.[\d.]+)?|pyd|dll)$", path) and size.isdigit() and int(size) != real:
                fact("packages.damaged", entry.name)
                record("damaged", package=entry.name, file=path, size=real, listed=int(size))
        if lost:
            fact("package.file.missing", entry.name)
            record("missing files", package=entry.name, count=len(lost), first=lost[:5])
        missing = missing or bool(lost)
    fact("packages.files", "missing" if missing else "complete")
    for one, two, package in sorted(doubled):
        fact("packages.doubled.import", package)
        fact("packages.conflict", f"{one} beside {two}")
        record("doubled", packages=[one, two], files=package)
    fact("packages.doubled", bool(doubled))
    fact("packages.conflicting", bool(examine_alternatives(have)) or bool(doubled))


def examine_alternatives(have: "list[Installed]") -> "list[str]":
    """Packages of which only one may be there: 'a beside b'. Tells the CUDA majors of the nvidia-* wheels as well."""
    names = {entry.name for entry in have}
    quarrels = []
    for group in SETTINGS["alternatives"]:
        there = [name for name in group if name in names]
        quarrels += [f"{there[0]} beside {other}" for other in there[1:]]
    facts("packages.conflict", quarrels)
    for name in sorted(names):
        found = re.fullmatch(SETTINGS["cuda_wheel"], name)
        if found:
            fact("packages.cuda.major", int(found["major"]))
    return quarrels


def examine_leftovers() -> None:
    """Folders '~name' that an interrupted pip left; whether the user's own site folder is in use."""
    for folder in sys.path:
        for name in sorted(attempt(os.listdir, folder) or []):
            if name.startswith("~") and os.path.isdir(os.path.join(folder, name)):
                fact("packages.leftover", name)
    user = attempt(site.getusersitepackages)
    fact("packages.usersite", bool(user and user in sys.path and attempt(os.listdir, user)))


def main() -> None:
    """Name them, then look for quarrels."""
    have, twice = installed()
    for entry in have:
        if entry.ours:
            fact("package." + entry.name, entry.version)
            record("package", name=entry.name, version=entry.version, place=entry.place)
    names = {entry.name for entry in have}
    facts("packages.absent", (name for name in SETTINGS["asked"] if name not in names))
    facts("packages.twice", twice)
    each(
        lambda: examine_requirements(have),
        lambda: examine_files(have),
        examine_leftovers,
    )


if __name__ == "__main__":
    run(main)
