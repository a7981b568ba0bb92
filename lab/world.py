"""The scratch environment of one fault: a clone of an environment, variables, private mounts and limits; programs run in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .environments import GIVEN, Cache, Missing

PROGRAMS = Path(__file__).parent / "programs"
_GIVEN_PARTS = (
    "torch",
    "torchgen",
    "functorch",
    "nvidia",
    "cusparselt",
)  # what a clone of a given interpreter owns, to be broken


@dataclass(frozen=True)
class Outcome:
    """What a program printed and how it ended. ``code`` is negative for a signal, None where its time was up."""

    code: int | None
    text: str


class World:
    """Everything that a fault changes. Programs, probes and the tool all run inside it."""

    def __init__(self, folder: Path, environment: str, cache: Cache, given: Path) -> None:
        self.folder = folder
        self.cache = cache
        self.work = folder / "work"
        self.environment, self.given = environment, given
        self.arguments: tuple[str, ...] = ()  # added to the fault's program; mending may say 'right' here
        self.variables: dict[str, str] = {}
        self.setup: list[str] = []  # shell lines run in a private mount namespace before every program
        self.prefix: list[str] = []  # a command put before every program: prlimit, setpriv ...
        self.others: list[subprocess.Popen[bytes]] = []  # programs of 'somebody else', ended with the world
        self.cgroups: list[Path] = []
        shutil.copytree(PROGRAMS, self.work)
        self.home = folder / "env"
        self.python = self.home / "bin" / "python"
        self.reset()

    def reset(self) -> None:
        """Make the clone anew, whole: what reinstalling the broken packages comes to."""
        shutil.rmtree(self.home, ignore_errors=True)
        if self.environment == GIVEN:
            self._given(self.given)
        else:
            clone(self.cache.environment(self.environment), self.home)

    @property
    def site(self) -> Path:
        """The clone's site-packages."""
        return next(iter((self.home / "lib").glob("python3*/site-packages")))

    def file(self, pattern: str) -> Path:
        """The one file below site-packages that ``pattern`` names."""
        found = sorted(self.site.glob(pattern))
        if not found:
            raise Missing(f"needs {pattern} in the environment's site-packages")
        return found[0]

    def remove(self, pattern: str) -> Path:
        """Delete what ``pattern`` names below site-packages; the shared environment keeps its copy."""
        path = self.file(pattern)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        return path

    def replace(self, pattern: str, content: bytes) -> Path:
        """Put another file in the place of one below site-packages (never written through the hard link)."""
        path = self.remove(pattern)
        path.write_bytes(content)
        return path

    def take(self, source: Path, target: str) -> None:
        """Copy a folder over one below site-packages, file by file, as a package installed on top of another does."""
        for path in sorted(source.rglob("*")):
            place = self.site / target / path.relative_to(source)
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.unlink(missing_ok=True)
                shutil.copy2(path, place)

    def install(self, *requirements: str) -> None:
        """Reinstall exactly these releases into the clone, without what they require; wheels are kept in the cache."""
        for requirement in requirements:
            house = self.cache.wheelhouse(requirement)
            self.cache.pip(
                self.python,
                "install",
                "--no-deps",
                "--no-index",
                "--force-reinstall",
                "--find-links",
                str(house),
                requirement,
            )

    def uninstall(self, *packages: str) -> None:
        """Remove packages from the clone, as pip does."""
        self.cache.pip(self.python, "uninstall", "--yes", *packages)

    def change(self, environment: str) -> None:
        """Put another environment in the place of the clone: 'install the other build' without downloading it again."""
        self.environment = environment
        self.reset()

    def hide(self, *paths: Path) -> None:
        """Make folders look empty and programs missing, in this world only."""
        for path in paths:
            self.setup.append(f"mount -t tmpfs none {path}" if path.is_dir() else f"mount --bind /dev/null {path}")

    def hide_toolkit(self) -> None:
        """Make this world one without a CUDA toolkit."""
        programs = [Path(folder) / "nvcc" for folder in os.environ.get("PATH", "").split(":")]
        self.hide(*Path("/usr/local").glob("cuda*"), *(path for path in programs if path.is_file()))

    def front(self, *folders: Path) -> None:
        """Put ``folders`` on LD_LIBRARY_PATH."""
        old = [self.variables["LD_LIBRARY_PATH"]] if self.variables.get("LD_LIBRARY_PATH") else []
        self.variables["LD_LIBRARY_PATH"] = ":".join([*map(str, folders), *old])

    def folder_of(self, name: str, **links: Path) -> Path:
        """A folder of the world that holds links: ``folder_of('stubs', **{'libcuda.so.1': stub})``."""
        made = self.folder / name
        made.mkdir(parents=True, exist_ok=True)
        for link, target in links.items():
            (made / link).symlink_to(target)
        return made

    def private_devices(self, *more: str) -> None:
        """A /dev of this world's own (needs root): libcuda makes device nodes where it finds none. ``more``: shell lines run in it."""
        dev = self.folder / "dev"
        dev.mkdir()
        self.setup += [f"mount -t tmpfs none {dev}", f"mkdir {dev}/shm {dev}/pts", f"ln -s /proc/self/fd {dev}/fd"]
        for name in ("null", "zero", "full", "random", "urandom", "tty"):
            self.setup.append(f"touch {dev}/{name} && mount --bind /dev/{name} {dev}/{name}")
        self.setup += [f"cd {dev}", *more, "cd - > /dev/null", f"mount --rbind {dev} /dev"]

    def limit_memory(self, size: int) -> None:
        """Put every program of the world into a control group that may use ``size`` bytes (version 1 or 2; needs root)."""
        one, two = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        base, setting = (one, "memory.limit_in_bytes") if one.is_dir() else (two, "memory.max")
        group = base / f"cudnn-triage-lab-{os.getpid()}-{self.folder.name}"
        try:
            group.mkdir()
            self.cgroups.append(group)
            (group / setting).write_text(str(size))
        except OSError as error:
            raise Missing(f"needs a writable memory control group ({error.strerror})") from error
        self.setup.append(f"echo $$ > {group / 'cgroup.procs'}")

    def start(self, *command: str) -> None:
        """Start a program of 'somebody else' that lives as long as the world, and wait until it prints its first line."""
        process = subprocess.Popen(
            self.command(command),
            cwd=self.work,
            env=self.environ(),
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.others.append(process)
        assert process.stdout
        if not process.stdout.readline():
            raise Missing(f"{command[-1]} could not be started")

    def compile(self, source: str, program: str) -> None:
        """Compile a CUDA program for the GPU of this machine."""
        done = self.run("nvcc", "-arch=native", "-o", program, source, seconds=300)
        if done.code:
            raise Missing(f"could not compile {source}: {done.text.strip()[-200:]}")

    def end_others(self) -> None:
        """End the programs of 'somebody else'."""
        for process in self.others:
            _end(process)
            process.wait()
        self.others.clear()

    def environ(self) -> dict[str, str]:
        """The variables of every program in this world; an empty value of ``variables`` is kept, '-' unsets."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("CUDA", "LD_", "PYTHON", "TORCH", "TF_", "XLA_", "JAX_", "VIRTUAL_ENV"))
        }
        kept.update(PYTHONUNBUFFERED="1", COLUMNS="120", VIRTUAL_ENV=str(self.home), HOME=str(self.folder / "home"))
        kept["XDG_CACHE_HOME"] = str(self.cache.folder / "xdg")  # the tool's compiled rules
        kept["PATH"] = f"{self.home / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        for name, value in self.variables.items():
            if value == "-":
                kept.pop(name, None)
            else:
                kept[name] = value
        return kept

    def command(self, argv: tuple[str, ...] | list[str]) -> list[str]:
        """``argv`` as it runs here: the clone's interpreter for 'python', private mounts and limits around it."""
        full = [str(self.python) if argv[0] == "python" else argv[0], *argv[1:]]
        if self.setup:
            user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
            script = "set -e; " + "; ".join(self.setup) + '; exec "$@"'
            full = [
                "unshare",
                *user,
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                script,
                "sh",
                *self.prefix,
                *full,
            ]
        elif self.prefix:
            full = [*self.prefix, *full]
        return full

    def run(self, *argv: str, seconds: float, stdin: bytes | None = None, apart: bool = False) -> Outcome:
        """Run a program in this world. ``apart`` keeps standard error out of the text."""
        (self.folder / "home").mkdir(exist_ok=True)
        process = subprocess.Popen(
            self.command(argv),
            cwd=self.work,
            env=self.environ(),
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if apart else subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(stdin, timeout=seconds)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            _end(process)
            out, _ = process.communicate()
            code = None
        except BaseException:  # the laboratory itself is being stopped: nothing of the world may stay behind
            _end(process)
            raise
        return Outcome(code, out.decode("utf-8", "replace"))

    def close(self) -> None:
        """End what was started and remove what was made."""
        self.end_others()
        for group in self.cgroups:
            for pid in (group / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
            try:
                group.rmdir()
            except OSError:
                continue  # its last process is still on its way out; an empty group harms nobody
        shutil.rmtree(self.folder, ignore_errors=True)

    def _given(self, python: Path) -> None:
        """A virtual environment that owns copies (links) of torch and nvidia's wheels, and finds all else where the given one does."""
        check([str(python), "-m", "venv", "--without-pip", str(self.home)])
        ask = "import importlib.util as u, pathlib as p; s = u.find_spec('torch'); print(p.Path(s.origin).parent.parent if s else '')"
        theirs = check([str(python), "-c", ask]).strip()
        if not theirs:
            raise Missing(f"needs PyTorch in {python}")
        folders = check(
            [str(python), "-c", "import sys; print('\\n'.join(p for p in sys.path if p.endswith('-packages')))"]
        )
        (self.site / "given.pth").write_text(folders)
        for name in _GIVEN_PARTS:
            if (Path(theirs) / name).is_dir():
                clone(Path(theirs) / name, self.site / name)
        for info in Path(theirs).glob("*.dist-info"):
            if info.name.split("-")[0].startswith(("torch", "nvidia")):
                clone(info, self.site / info.name)


def clone(source: Path, target: Path) -> None:
    """Copy a folder by hard links (symbolic ones where it lies on another file system): quick, and files can be replaced."""
    for folder, subfolders, files in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in [*files, *(d for d in subfolders if os.path.islink(os.path.join(folder, d)))]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                os.symlink(os.readlink(path), place / name)
                continue
            try:
                os.link(path, place / name)
            except OSError:
                os.symlink(path, place / name)


def check(command: list[str]) -> str:
    """What a command prints; Missing where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} failed: {done.stderr.strip()[-200:]}")
    return done.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
