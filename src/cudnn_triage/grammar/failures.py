"""Lines on which a program or process visibly fails without an exception: aborts, signals, kills, exit codes, fatal errors."""

from __future__ import annotations

import re

from ..light import pattern

# What a line must hold for the shapes below to be worth trying.
HINTS = (
    "rror", "ERROR: ", "ailed", "xit", "illed", "bort", "ignal", "egmentation", "SIG", "FATAL", "atal", "FAILED", "us error",
    "llegal instruction", "loating point exc", "breakpoint trap", "OOM", "oom", "panic", "return", "CANCELLED", "npm ERR!",
    "free()", "malloc", "munmap", "corrupt", "smashing", "overflow detected", "ssertion", "*** ", "mpirun", "Primary job",
    "\u00d7 ", "llegal hardware",
    "\u9519\u8bef", "\u932f\u8aa4", "Fehler", "erreur", "\u043e\u0448\u0438\u0431\u043a\u0430", "\u30a8\u30e9\u30fc",
    "\u6bb5\u9519\u8bef", "\u5df2\u653e\u5f03", "\u5df2\u6740\u6b7b", "Speicherzugriff", "Abgebrochen", "Get\u00f6tet", "Abandon",
)  # fmt: skip

SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
}  # fmt: skip
_WINDOWS = {3221226505: "SIGABRT", -1073740791: "SIGABRT", 3221225477: "SIGSEGV", -1073741819: "SIGSEGV"}
_KINDS = {"SIGKILL": "killed", "SIGABRT": "abort"}
_DEATHS = {
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Illegal instruction": "SIGILL",
    "Illegal hardware instruction": "SIGILL",
    "Floating point exception": "SIGFPE",
    "Trace/breakpoint trap": "SIGTRAP",
    "Aborted": "SIGABRT",
    "Abort trap": "SIGABRT",
    "Abort": "SIGABRT",
    "Killed": "SIGKILL",
    # the same words of the shells' German, French and Chinese catalogues
    "\u6bb5\u9519\u8bef": "SIGSEGV",
    "\u5df2\u653e\u5f03": "SIGABRT",
    "\u5df2\u6740\u6b7b": "SIGKILL",
    "Speicherzugriffsfehler": "SIGSEGV",
    "Abgebrochen": "SIGABRT",
    "Get\u00f6tet": "SIGKILL",
    "Erreur de segmentation": "SIGSEGV",
    "Abandon": "SIGABRT",
}
_DEATH = pattern(
    "(" + "|".join(sorted(map(re.escape, _DEATHS), key=len, reverse=True)) + r")(?::? \d+)?\s*"
    r"(?:[(\uff08\u3014][^)\uff09\u3015]{0,60}[)\uff09\u3015]?)?\s*(\S?)",
    re.IGNORECASE,
)
_BY_SHELL = pattern(  # what a shell or launcher puts before the word: script and line, job, task
    r"(?:\S{1,200}: (?:line )?\d+:\s+\d+ |\[\d+\]\s*[+-]?\s+\d+ |srun: error: [^:]{1,200}: tasks? [^:]{1,200}: "
    r"|(?:zsh|bash|sh|fish): )\s*"
)
_LOWER_DEATHS = {word.lower(): name for word, name in _DEATHS.items()}

_SIGNAL = (  # patterns whose first group is a signal's name, number or the words of strsignal
    pattern(r"Fatal Python error: (.*)"),
    pattern(r"(?:\[[^\]]*\] )?\*\*\* (SIG[A-Z]+) "),
    pattern(r"\[\S+?\] Signal: (.*?) \(\d+\)"),
    pattern(r"\[[^\]]*\] Caught signal (\d+)"),
    pattern(r"(?:\[\d+\] )?signal \((\d+)(?:\.\d+)?\): "),
    pattern(r"Caught (?:SIGNAL|signal) (SIG[A-Z]+|\d+)"),
    pattern(r"(?:Thread \d+ \S+|Program) received signal (SIG[A-Z]+)"),
    pattern(r"Program terminated with signal (SIG[A-Z]+|\d+)"),
    pattern(r"# +(SIG[A-Z]+) \(0x"),
    pattern(
        r".{0,200}?\b(?:exited|terminated|killed|died|was sent) (?:(?:by|with|on|due to) )?"
        r"'?(?:[Ss]ignal:? ?)?(\d+ \(SIG[A-Z]+|SIG[A-Z]+)"
    ),
    pattern(r".{0,200}?\b(?:exited|terminated|killed|died) (?:by|with|on|due to) '?[Ss]ignal:? ?(\d+)"),
    pattern(r"FatalError: ?`([^`'\u2019]*)['`] is detected by the operating system"),
)
_STRSIGNAL = {
    "segmentation": "SIGSEGV", "abort": "SIGABRT", "bus error": "SIGBUS", "illegal instruction": "SIGILL",
    "floating point": "SIGFPE", "killed": "SIGKILL", "erroneous arithmetic": "SIGFPE", "access to an undefined": "SIGBUS",
    "termination": "SIGTERM", "access violation": "SIGSEGV",
}  # fmt: skip
_ALLOCATOR = pattern(
    r"(?:\*\*\* Error in [`'][^`']*[`']: .*|(?:free|malloc|realloc)\(\): \S.*|munmap_chunk\(\): .*|double free or corruption.*"
    r"|corrupted (?:size vs\. prev_size|double-linked list).*|malloc_consolidate\(\): .*|\*\*\* stack smashing detected \*\*\*.*"
    r"|\*\*\* buffer overflow detected \*\*\*.*|\S.{0,300}: Assertion [`'].*' failed\.)"
)
_OOM_KILL = pattern(
    r"(?:\S+ +)*?(?:Memory cgroup out of memory: Kill(?:ed)? process|Out of memory: Kill(?:ed)? process|oom-kill:"
    r"|A process of this unit has been killed by the OOM killer|Failed with result 'oom-kill')"
)
_PANIC = pattern(r"Kernel panic - not syncing")

# Exit codes, each with what a line must hold for its pattern to be tried; the group "code" is the number where there is one.
_EXIT = tuple(
    (needle, pattern(shape))
    for needle, shape in (
        ("Process completed", r"(?:##\[error\]|Error: )?Process completed with exit code (?P<code>\d+)"),
        ("Process finished", r"Process finished with exit code (?P<code>-?\d+)"),
        (
            "error: ",
            r"error: (?:subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|failed-wheel-build)",
        ),
        ("exit ", r"error: command .* failed with exit (?:status|code) (?P<code>\d+)"),
        (": *** ", r"g?make(?:\[\d+\])?: \*\*\* (?:.{0,1000}Error (?P<code>\d+))?"),
        ("ninja: ", r"ninja: (?:build stopped|error): "),
        ("FAILED: ", r"FAILED: \S"),
        (
            "CANCELLED",
            r"(?:slurmstepd(?:-\S{1,100})?: error: |srun: )?\*\*\* (?:JOB|STEP) \S+ (?:STEPD TERMINATED )?ON \S+ CANCELLED AT ",
        ),
        ("job killed", r"(?:=>> PBS|TERM_[A-Z_]+): job killed\b"),
        (" phase)", r"(?:\* )?ERROR: \S+ failed \(\w+ phase\)"),  # Portage
        ("xited with", r"(?:srun|slurmstepd): error: .{0,1000}[Ee]xited with (?:exit )?code (?P<code>\d+)"),
        (": ", r"(?:srun|slurmstepd(?:-\S{1,100})?|sbatch|salloc): (?:error|fatal): "),
        ("npm ERR!", r"npm ERR! (?:code|errno|signal) (?P<code>\d*)"),
        (
            "ERROR: ",
            r"ERROR: (?:Failed building wheel for|Could not build wheels for|Command errored out|Service '|Job failed:)",
        ),
        ("exit code", r"ERROR: (?:process|executor failed running) .{0,2000}?exit code:? (?P<code>\d+)"),
        ("failed to solve", r"(?:ERROR: )?failed to solve: (?:.{0,2000}?exit code:? (?P<code>\d+))?"),
        (
            "non-zero",
            r"(?:The command|Command) .{1,4000}? (?:returned a non-zero code:|returned non-zero exit status) ?(?P<code>-?\d+)",
        ),
        (
            "ommand",
            r"(?:The command|Command) .{1,4000}? (?:exited with|failed with exit (?:code|status)) ?(?P<code>-?\d+)",
        ),
        ("", r"(?:[Ee]xit(?:ed)?(?: ?[Cc]ode| status)?|EXIT CODE|[Rr]eturn ?code)\s*[:=]\s*(?P<code>-?\d+)\s*$"),
        ("exited with ", r".{0,200}?\bexited with (?:exit )?(?:code|status)[ :]*(?P<code>-?\d+)"),
        ("exits with return code", r".{0,4000}?\bexits with return code = (?P<code>-?\d+)"),
        ("(exitcode: ", r".{0,200}?\bfailed \(exitcode: (?P<code>-?\d+)\)"),
        ("failed with ", r".{0,80}?\bfailed with (?:exit|return|error) (?:code|status):? (?P<code>-?\d+)"),
        ("returned an error code", r"E: Sub-process \S+ returned an error code \((?P<code>\d+)\)"),
        ("Primary job", r"Primary job  ?terminated normally, but \d+ process"),
        ("mpirun ", r"mpirun (?:noticed that|detected that) "),
        ("Main process exited", r".{0,200}?Main process exited, code=\w+, status=(?P<code>\d+)/\w+"),
        ("did not run successfully", r"\u00d7 \S.*did not run successfully\."),
    )
)
_OOMKILLED = pattern(r"(?:.{0,200}[\s:\"'=(])?OOMKilled\b")

_FATAL = tuple(  # a tool's or runtime's own last word
    (needle, pattern(shape))
    for needle, shape in (
        ("response from daemon", r"(?:docker: )?Error response from daemon: "),
        ("Error", r"Error(?::|!) \S"),
        ("rror: ", r"[\w.-]{1,60}: (?:[a-z ]{1,40} )?error: "),
        (": ", r"(?:modprobe|insmod|rmmod|dpkg|apt|apt-get|yum|dnf|conda|git|ssh): (?:ERROR|FATAL|fatal|error):? "),
        ("error: ", r"(?:\S{1,200}: )?error: "),
        (
            "rror",
            r"(?:[A-Za-z]:)?[^\s:(][^:(]{0,300}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)) ?: "
            r"(?:fatal |internal compiler )?error(?: [A-Z]+\d+)?: ",
        ),
        *(
            (
                word,
                rf"[^\s:(][^:(]{{0,300}}:\d+(?::\d+)?: (?:\S+ )?{word}(?: fatale)? ?[:\uff1a]",
            )  # gcc in other languages
            for word in (
                "\u9519\u8bef",
                "\u932f\u8aa4",
                "Fehler",
                "erreur",
                "\u043e\u0448\u0438\u0431\u043a\u0430",
                "\u30a8\u30e9\u30fc",
            )
        ),
        ("rror", r"(?:nvcc|ptxas|nvlink|cicc|cudafe\+\+|clang|gcc|g\+\+|cc1plus|ld|lld)(?:\.exe)? +error *: "),
        (
            "atal",
            r"(?:nvcc|ptxas|nvlink|cicc|cudafe\+\+|clang|gcc|g\+\+|cc1plus|ld|lld)(?:\.exe)? +fatal *: |[Ff]atal(?: error)?: ",
        ),
        ("FATAL", r"FATAL(?: ERROR)?: "),
        ("CMake Error", r"CMake Error"),
        ("rrors occurred", r"-- Configuring incomplete, errors occurred"),
        (
            "ERROR: ",
            r"ERROR: (?:No matching distribution found|Could not find a version|Cannot install|ResolutionImpossible)",
        ),
        ("Check failed: ", r"Check failed: "),
    )
)

_STARTS = (
    "terminate called", "Aborted", "Killed", "Segmentation fault", "Bus error", "Illegal instruction", "srun:", "slurmstepd",
    "make:", "make[", "gmake", "ninja:", "npm ERR!", "##[", "Fatal Python error", "*** ", "error: subprocess", "Process finished",
    "Process completed", "FAILED", "Exception ignored in", "Exception in thread", "mpirun ", "Error response from daemon",
    "\u5df2\u653e\u5f03", "\u6bb5\u9519\u8bef", "\u5df2\u6740\u6b7b", "Sentry is attempting", "note: This error originates",
    "=>> PBS: ", "TERM_", "NOTE: If your import", "exit status:", "exit code:", "\u00d7 ", "\u2570\u2500",
)  # fmt: skip


def starts_failure(bare: str) -> bool:
    """Whether the line begins like one that reports a process's end, so that no exception message goes on with it."""
    return bare.startswith(_STARTS) or _death(bare) != ""


def _death(bare: str) -> str:
    """The signal that ended a process, where the line is what its shell or launcher says about it; else ``""``."""
    shell = _BY_SHELL.match(bare[:800])
    if shell:
        found = _DEATH.match(bare[:800], shell.end())
        return _LOWER_DEATHS[found[1].lower()] if found else ""
    if len(bare) > 80:
        return ""
    found = _DEATH.match(bare)
    return _DEATHS.get(found[1], "") if found and not found[2] else ""


def _signal(word: str) -> str:
    """The signal that a name, number or the words of strsignal mean, ``""`` if none."""
    word = word.strip().partition(" (")[0]
    if word.isdecimal():
        return SIGNALS.get(int(word[:4]), "")
    if word.startswith("SIG") and word[3:].isupper():
        return word
    lower = word.lower()
    for start, name in _STRSIGNAL.items():
        if start in lower:
            return name
    return ""


def of_code(code: int) -> str:
    """The signal that an exit code tells, ``""`` if none: 137 and -9 are SIGKILL, 134 and -6 SIGABRT, 139 SIGSEGV."""
    if code in _WINDOWS:
        return _WINDOWS[code]
    number = -code if -65 < code < 0 else code - 128 if 128 < code < 193 else 0
    return SIGNALS.get(number, "")


def read(bare: str) -> tuple[str, str] | None:
    """(kind, type) of the failure that a line reports, ``None`` if it reports none. Ask for lines outside tracebacks only."""
    for hint in HINTS:
        if hint in bare:
            break
    else:
        return None
    head = bare[:4000]
    name = _death(head)
    if name:
        return _KINDS.get(name, "signal"), name
    if "ignal" in head or "SIG" in head or "Fatal Python" in head or "FatalError" in head:
        for pattern in _SIGNAL:
            found = pattern.match(head)
            if found:
                name = _signal(found[1])
                if name:
                    return _KINDS.get(name, "signal"), name
                if head.startswith("Fatal Python error"):
                    return "abort", "SIGABRT"
    if ("oom" in head or "memory" in head or "OOM killer" in head) and _OOM_KILL.match(head):
        return "killed", "SIGKILL"
    if "OOMKilled" in head and _OOMKILLED.match(head):
        return "killed", "SIGKILL"
    if "panic" in head and _PANIC.search(head):
        return "abort", "kernel panic"
    if (head[0] in "*frmdc" or "Assertion" in head) and _ALLOCATOR.match(head):
        return "abort", "SIGABRT"
    for needle, pattern in _EXIT:
        if needle in head:
            found = pattern.match(head)
            if found:
                code = found.groupdict().get("code")
                if not code or code == "-":
                    return "exit-code", ""
                number = int(code[:12])
                return ("exit-code", of_code(number)) if number else None
    for needle, pattern in _FATAL:
        if needle in head and pattern.match(head):
            return "fatal-log", ""
    return None
