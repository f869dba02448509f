"""The workflow in a folder: its files, its locks, and the reasons why jobs failed."""

import atexit
import contextlib
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import IO, Any

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.package_files import PACKAGE, resource_folder
from seqkern.core.progress import Task
from seqkern.core.types import PathLike

# The folder of a study, which uses the workflow of the installed package as a Snakemake module.

WORKFLOW = resource_folder("workflow", PACKAGE.parent / "workflow")
PROFILES = resource_folder("workflow_profiles", PACKAGE.parent / "profiles")
STUDIES = resource_folder("studies", PACKAGE.parent / "config")
SNAKEFILE = str(WORKFLOW / "Snakefile")
"""The workflow of this installation; the Snakefile of a study's folder asks for it."""
CONFIG = "config/config.yaml"
RUN = {"results", "logs", ".snakemake"}
"""Names that Snakemake adds to the folder."""


def write_study_folder(folder: PathLike, *, config: str | None = None, profile: str | None = None) -> Path:
    """Write a study into an empty folder, so that ``snakemake`` runs it there; return the path of its configuration.

    `config` is the content of ``config/config.yaml`` (default: the demo's), and `profile` names a profile to copy
    besides the default one, such as ``"slurm"``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_study_folder(f"{folder}/mystudy")
    ...     print(path.relative_to(folder), sorted(path.name for path in path.parents[1].iterdir()))
    mystudy/config/config.yaml ['README.md', 'Snakefile', 'config', 'profiles']
    """
    home = Path(folder)
    texts = _texts(home, config, profile)
    if home.exists() and (not home.is_dir() or not _is_unfinished(home, texts)):
        raise FileError("is not an empty folder", file=home, remedy="give a new folder")
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(home / name, "w") as file:
            file.write(text)
    return home / CONFIG


def is_demo(folder: PathLike) -> bool:
    """Return whether a folder holds only this version's demo and Snakemake's output from it."""
    home = Path(folder)
    texts = _texts(home, None, None)
    try:
        if any((home / name).read_text(encoding="utf-8") != text for name, text in texts.items()):
            return False
        names = {name.split("/")[0] for name in texts} | RUN
        return all(path.name in names for path in home.iterdir())
    except OSError:
        return False


def _texts(home: Path, config: str | None, profile: str | None) -> dict[str, str]:
    """Return the contents of the files of a study's folder by name, with the configuration last."""
    results = "results" if config else "results/demo"
    files = {name: WORKFLOW / "study" / name for name in ("Snakefile", "README.md")}
    files |= {f"profiles/{name}/config.yaml": PROFILES / name / "config.yaml" for name in ("default", profile) if name}
    try:
        texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
        config = (STUDIES / "config.yaml").read_text(encoding="utf-8") if config is None else config
    except FileNotFoundError as error:
        raise FileError("is missing", file=error.filename, remedy="reinstall seqkern") from error
    texts["README.md"] = texts["README.md"].replace("STUDY", home.resolve().name).replace("RESULTS", results)
    return {**texts, CONFIG: config}  # the last: with it, the study is complete


def _is_unfinished(home: Path, texts: Mapping[str, str]) -> bool:
    """Return whether a folder holds only an interrupted run's files; remove its temporary ones."""
    found = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if not path.is_dir()}
    temporary = [path for path in found.values() if path.name.startswith(".") and path.suffix == ".tmp"]
    written = {name: path for name, path in found.items() if path not in temporary}
    if CONFIG in written or any(
        name not in texts or path.read_bytes() != texts[name].encode() for name, path in written.items()
    ):
        return False
    for path in temporary:
        path.unlink()
    return True


# The progress of a run, in place of Snakemake's messages.

CLEAR = "\r\x1b[K"
"""Removes the last line of a terminal."""


class ProgressLines(logging.Handler):
    """Lines on standard error about finished and failed jobs, and their warnings; a terminal shows the latest only."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._jobs: dict[int, logging.LogRecord] = {}
        self._task, self._name, self._shown = Task("", " jobs", None, time.monotonic()), "", -1
        self._warnings: set[str] = set()
        self._runs, self._on_terminal = False, sys.stderr.isatty()

    def replaces(self, record: logging.LogRecord) -> bool:
        """Return whether Snakemake need not print a message of a run: neither warning nor error, or about a job."""
        event = getattr(record, "event", None)
        self._runs = self._runs or event == "workflow_started"
        says = record.levelno >= logging.WARNING or str(record.msg).startswith("Nothing to be done")
        of_job = event in ("job_error", "group_error") or "\nCalledProcessError in " in str(record.msg)
        return self._runs and (of_job or not says)

    def emit(self, record: logging.LogRecord) -> None:
        """Note a job that starts; print a line for one that ends."""
        event, job = getattr(record, "event", None), vars(record)
        if event == "job_info":
            self._jobs[job["jobid"]] = record
            self._show(_job_text(record)) if self._on_terminal else None
        elif event == "job_error":
            self._print(f"failed: {_job_text(self._jobs.get(job['jobid'], record))}; log: {', '.join(job['log'])}")
        elif event == "job_finished" and job["job_id"] in self._jobs:
            done = self._jobs.pop(job["job_id"])
            self._name = _job_text(done)
            for line in "".join(map(_read, vars(done)["log"])).splitlines():
                text = line.removeprefix("seqkern: ")
                if text.startswith("warning: ") and text not in self._warnings:
                    self._warnings.add(text)
                    self._print(f"{self._name}: {text}")
        elif event == "progress":
            self._task.total = job["total"]
            self._task.update(job["done"], time.monotonic())
            self._show(self._name)

    def _show(self, name: str) -> None:
        """Print how many jobs are done, and the name of the latest; to a file at most one line for each percent."""
        done, total = self._task.done or 0, self._task.total
        text = f"{self._task.text(time.monotonic()).removeprefix(': ')}: {name}" if total else name
        if self._on_terminal:
            self._print(text[: shutil.get_terminal_size().columns - 1], end="\n" if done == total else "")
        elif total and 100 * done // total != self._shown:
            self._shown = 100 * done // total
            self._print(text)

    def _print(self, text: str, end: str = "\n") -> None:
        """Print a text in place of the last line."""
        print(f"{CLEAR if self._on_terminal else ''}{text}", end=end, file=sys.stderr, flush=True)


def _job_text(job: logging.LogRecord) -> str:
    """Return the rule and the wildcards of a job."""
    return " ".join([vars(job)["rule_name"], *map(str, vars(job).get("wildcards", {}).values())])


def show_progress(workflow: Any) -> None:
    """Show the progress of a run of Snakemake in place of its messages, which its file in ``.snakemake/log`` keeps.

    They stay with ``--verbose``, ``--printshellcmds`` and ``--dry-run``; ``--quiet all`` shows neither.
    """
    settings, logger = workflow.output_settings, logging.getLogger("snakemake.logging")
    full = settings.verbose or settings.printshellcmds or settings.dryrun
    silent = any(one.name == "ALL" for one in settings.quiet or ())
    streams = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    if workflow.is_main_process and streams and not full and not silent:
        lines = ProgressLines()
        for handler in streams:
            handler.filters.insert(0, lambda record: not lines.replaces(record))
        logger.addHandler(lines)


# Explanations of failed workflow jobs, one line each, from the logs of Snakemake, SLURM and the job.
#
# A killed job leaves no message: the last line of its log is not an error. The cause is the exit status in Snakemake's
# log, SLURM's state of the job, or a line of ``slurmstepd``.

BLOCK = r":\n((?:\1 {4}.*\n)+)"
STARTED = re.compile(r"^( *)(?:local)?(?:rule|checkpoint) (\S+)" + BLOCK, re.MULTILINE)
FAILED = re.compile(r"^()Error in rule (\S+)" + BLOCK, re.MULTILINE)
FAILED_GROUP = re.compile(r"^()    message: Error in group (\S+)\n((?: {4}.*\n)+)", re.MULTILINE)
FINISHED = re.compile(r"^Finished jobid: (\S+)", re.MULTILINE)
SHOWN_LOG = re.compile(r"^ *Logfile .+:\n *(=+)\n(?:.*\n)*? *\1\n", re.MULTILINE)
EXIT = re.compile(
    r"^Command '((?:.*\n)*?.*)' (?:returned non-zero exit status (\d+)|died with <Signals\.\w+: (\d+)>)", re.M
)
STATE = re.compile(r"SLURM status is: '(\w+)")
REFUSED = re.compile(r"sbatch failed\. The error message was '(.*)'")
SLURM_ERROR = re.compile(
    r"^(?:srun|sbatch|slurmstepd\S*): (?:error|fatal): (?!.*Exited with exit code)(.+)$", re.MULTILINE
)
OUT_OF_MEMORY = re.compile(r"oom.kill|exceeded (?:job )?memory limit", re.IGNORECASE)
USED = re.compile(r"exceeded memory limit \((\d+) > \d+\)")
CANCELLED = re.compile(r"CANCELLED AT \S+(?: DUE TO ([A-Z ]*[A-Z]))?")
KILLED, TERMINATED = 9, 15
CHECK = " (check log file(s) for error details)"
AGAIN = "repeat the command to resume"


@dataclass
class FailedJob:
    """A job, or a group of jobs, that failed and did not succeed when repeated.

    `message` is Snakemake's, which holds SLURM's state; `asked` are the requested ``mem_mb`` and ``runtime`` (minutes);
    `text` is Snakemake's log and the SLURM job's, which contain the exit statuses.
    """

    name: str  # The rule and its wildcards
    rule: str  # The rule, or the group
    message: str = ""  # Snakemake's, which holds SLURM's state
    log: str = ""  # The job's own log, and that of its SLURM job; empty if there is none
    slurm_log: str = ""  # The job's own log, and that of its SLURM job; empty if there is none
    slurm_id: str = ""  # Of the SLURM job; empty for a job of this computer
    # Requested resources: ``mem_mb`` and ``runtime`` (minutes), where known
    asked: Mapping[str, int] = field(default_factory=dict)
    text: str = ""  # Where exit statuses are noted: Snakemake's log, and that of the SLURM job

    @property
    def signal_or_status(self) -> tuple[int | None, int | None]:
        """The signal that ended the job's command, and its exit status; None where unknown."""
        for command, status, signal in reversed(EXIT.findall(self.text)):
            if not self.log or self.log in command:
                code = int(status or 0)
                number = int(signal or 0) or (code - 128 if code > 128 else 0)
                return number or None, code or None
        return None, None


def explain_failures(logs: Iterable[PathLike]) -> list[str]:
    """Return a line for each failed job: its cause, its requested resources, its log, and the remedy."""
    jobs = list(read_failures("".join(_read(path) for path in logs)))
    used = _peaks([job.slurm_id for job in jobs if job.slurm_id])
    lines = [line for job in jobs for line in _lines(job, used.get(job.slurm_id))]
    return list(dict.fromkeys(lines))


def read_failures(text: str) -> "Iterator[FailedJob]":
    """Yield the jobs listed in Snakemake's log as finally failed."""
    text = SHOWN_LOG.sub("", text)  # a shown log of SLURM holds another Snakemake's blocks
    started = {}
    for found in STARTED.finditer(text):
        fields = _fields(found[3])
        started[fields.get("jobid", "")] = fields
    finished = {found[1]: found.start() for found in FINISHED.finditer(text)}
    last = {}
    for found in FAILED.finditer(text):
        fields = _fields(found[3])
        job = fields.get("jobid", "")
        if finished.get(job, -1) < found.start():
            last[job] = _failed_job(found[2], {**started.get(job, {}), **fields}, text)
    yield from last.values()
    for found in FAILED_GROUP.finditer(text):
        ids = re.findall(r"^ +jobid: (\S+)$", found[3], re.MULTILINE)
        if not all(finished.get(job, -1) > found.start() for job in ids):
            yield from _failed_jobs_of_group(found[2], _fields(found[3]))


def _failed_job(rule: str, fields: Mapping[str, str], text: str) -> "FailedJob":
    """Return the job described by a block of the log."""
    values = re.findall(r"\w+=([^,]+)", fields.get("wildcards", ""))
    logs = fields.get("log", "").removesuffix(CHECK).split(", ")
    slurm_id = fields.get("external_jobid", "")
    slurm_log = _found_log(logs.pop()) if slurm_id else ""
    return FailedJob(
        f"{rule} ({', '.join(values)})" if values else rule,
        rule,
        message=fields.get("message", ""),
        log=logs[0] if logs else "",
        slurm_log=slurm_log,
        slurm_id=slurm_id,
        asked={name: int(n) for name, n in re.findall(r"\b(mem_mb|runtime)=(\d+)", fields.get("resources", ""))},
        text=_read(slurm_log) if slurm_id else text,
    )


def _failed_jobs_of_group(group: str, fields: Mapping[str, str]) -> "list[FailedJob]":
    """Return the failed jobs of a group from the log of their SLURM job; if none is found, the group."""
    path = _relative(fields.get("log", "").removesuffix(CHECK))
    text = _read(path)
    jobs = {} if CANCELLED.search(text) else {job.log: job for job in read_failures(text)}
    slurm_id = Path(path).stem
    for job in jobs.values():
        job.slurm_log, job.slurm_id, job.text = path, slurm_id, text
    return list(jobs.values()) or [FailedJob(f"group {group}", group, slurm_log=path, slurm_id=slurm_id, text=text)]


def _lines(job: "FailedJob", peak: int | None) -> list[str]:
    """Return the lines to print for a job, with its peak memory (MB) if known."""
    killed = _why_killed(job, peak)
    if killed:
        cause, remedy = killed
        return [f"{job.name}: {cause}; {remedy}; log: {job.slurm_log or job.log}"]
    own = _read(job.log).rstrip().splitlines()
    if own and own[-1].startswith("seqkern"):
        return [own[-1]]  # a message of ours names the file, the record and the remedy
    _, status = job.signal_or_status
    code = f" with exit code {status}" if status else ""
    errors = SLURM_ERROR.findall(job.text) if job.slurm_log else []
    last = errors[-1] if errors else own[-1] if own else "no message"
    return [f"{job.name}: failed{code}: {last}; log: {job.slurm_log or job.log}"]


def _why_killed(job: "FailedJob", peak: int | None) -> tuple[str, str] | None:
    """Return the reason why a job was killed from outside and the remedy; None if it was not killed."""
    found, refused = STATE.search(job.message), REFUSED.search(job.message)
    state = found[1] if found else ""
    slurm = job.text if job.slurm_log else ""
    cancelled = CANCELLED.search(slurm)
    reason = (cancelled[1] or "") if cancelled else ""
    signal, _ = job.signal_or_status
    if refused:
        return f"not submitted: {refused[1]}", "check partition and account in the profile"
    if state == "OUT_OF_MEMORY" or OUT_OF_MEMORY.search(slurm):
        return f"killed, out of memory{_memory(job, peak)}", _more(job, "mem_mb")
    if state in {"TIMEOUT", "DEADLINE"} or reason == "TIME LIMIT":
        asked = job.asked.get("runtime")
        return f"killed, out of time{f' ({asked} min asked)' if asked else ''}", _more(job, "runtime")
    if state in {"NODE_FAIL", "BOOT_FAIL"} or reason == "NODE FAILURE":
        return "lost with its node", AGAIN
    if state == "CANCELLED" or cancelled:
        return f"killed by {reason.lower() or 'scancel'}{_memory(job, peak)}", AGAIN
    if signal is None:
        return None
    name = f"signal {signal} ({_signal_name(signal)}, exit code {128 + signal})"
    if signal == KILLED:
        remedy = _more(job, "mem_mb") if job.slurm_id else f"{AGAIN}, with fewer jobs at once (--cores)"
        return f"killed by {name}, most likely for memory{_memory(job, peak)}", remedy
    if signal == TERMINATED:
        return f"terminated by {name}: cancelled or out of time", AGAIN
    return f"ended by {name}", AGAIN


def _memory(job: "FailedJob", peak: int | None) -> str:
    """Return the requested and used memory of a job in parentheses, if known."""
    seen = USED.search(job.text) if job.slurm_log else None
    used = peak if peak is not None else int(seen[1]) // 10**6 if seen else None
    asked = job.asked.get("mem_mb")
    parts = [f"{n} MB {word}" for n, word in ((asked, "asked"), (used, "used")) if n is not None]
    return f" ({', '.join(parts)})" if parts else ""


def _more(job: "FailedJob", resource: str) -> str:
    """Return the remedy for a job that needs more of a resource."""
    asked = job.asked.get(resource)
    return f"repeat with --set-resources {job.rule}:{resource}={2 * asked}" if asked else f"ask for more {resource}"


def _signal_name(number: int) -> str:
    """Return the name of a signal number."""
    try:
        return Signals(number).name
    except ValueError:
        return "unknown"


def _fields(block: str) -> dict[str, str]:
    """Return the ``name: value`` lines of a block as a dict, the first of each name."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"^ +([\w-]+): (.*)$", block, re.MULTILINE):
        found.setdefault(name, value)
    return found


def _found_log(path: str) -> str:
    """Return the actual path of a SLURM log: array jobs log one folder above the named path."""
    above = Path(path).parent.parent / Path(path).name
    return _relative(str(above) if not Path(path).is_file() and above.is_file() else path)


def _relative(path: str) -> str:
    """Return a path relative to the current folder where it lies below."""
    return str(Path(path).relative_to(Path.cwd())) if Path(path).is_relative_to(Path.cwd()) else path


def _read(path: PathLike) -> str:
    """Return the text of a log; empty if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _peaks(ids: list[str]) -> dict[str, int]:
    """Return the peak memory (MB) of SLURM jobs, where the cluster keeps accounts."""
    command = ["sacct", "--noheader", "--parsable2", "--units=M", "--format=JobID,MaxRSS", "--jobs", ",".join(ids)]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout if ids else ""
    except (OSError, subprocess.SubprocessError):
        return {}
    peaks: dict[str, int] = {}
    for name, used in re.findall(r"^([^|.]+)[^|]*\|([\d.]+)M", text, re.MULTILINE):
        peaks[name] = max(peaks.get(name, 0), round(float(used)))
    return peaks


# The locks left in ``.snakemake/locks`` by a killed Snakemake, removed once nothing of that run is alive.
#
# Snakemake does not record the owner of its locks, so the Snakefile does: a run writes the files of its locks to
# ``.snakemake/seqkern/TOKEN.json``, and locks this record as long as it lives. Its jobs have the token in their
# environment.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TOKEN = "SEQKERN_RUN"
"""The environment variable of a run's jobs."""

_held: list[IO[str]] = []  # locked until this process ends


def name_run() -> None:
    """Give this run a token, which its jobs inherit."""
    os.environ[TOKEN] = uuid.uuid4().hex


def record_locks(locks: Iterable[PathLike], results: str, folder: PathLike, *, local: bool = True) -> None:
    """Record which Snakemake locks belong to this run, if files can be locked.

    `results` is the output folder, which identifies the study, `folder` is where the record is written, and `local` is
    whether the jobs run on this host.

    >>> record_locks([], "results/demo", ".snakemake/seqkern")
    """
    with contextlib.suppress(OSError):  # without a record, Snakemake's own message stays
        stamps = {os.fspath(lock): _stamp(lock) for lock in locks}
        if not stamps or fcntl is None:
            return
        token = os.environ[TOKEN]
        path, hidden = Path(folder) / f"{token}.json", Path(folder) / f".{token}"
        Path(folder).mkdir(parents=True, exist_ok=True)
        file = hidden.open("w", encoding="utf-8")
        _held.append(file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place = {"host": platform.node(), "processes": _processes_seen()}
        json.dump({**place, "token": token, "results": results, "local": local, "locks": stamps}, file)
        file.flush()
        hidden.replace(path)  # visible only when locked and complete
        atexit.register(path.unlink, missing_ok=True)


def remove_dead_locks(results: str, folder: PathLike) -> str | None:
    """Remove the locks of killed runs on this host that have no jobs left.

    Return advice in one line if a killed run of this study keeps its locks because it may have living jobs, else None.

    >>> remove_dead_locks("results/demo", "missing/seqkern") is None
    True
    """
    said = None
    for path in sorted(Path(folder).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError), _owner_gone(path) as record:
            locks = [lock for lock, stamp in record["locks"].items() if _is(lock, stamp)]
            jobs = _living_jobs(record) if locks else None
            if jobs is None:
                for lock in locks:
                    os.unlink(lock)
                path.unlink()
            elif record["results"] == results:
                said = jobs
    return said


@contextlib.contextmanager
def _owner_gone(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a run's record, locked against other starting runs; raise BlockingIOError if it is in use."""
    with path.open(encoding="utf-8") as file:
        if fcntl is None:
            raise BlockingIOError
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_ino != path.stat().st_ino:
            raise BlockingIOError
        yield json.load(file)


def _living_jobs(record: dict[str, Any]) -> str | None:
    """Return advice on possibly living jobs of a killed run; None if there are none."""
    unlock = "then add --unlock once"
    if (record["host"], record["processes"]) != (platform.node(), _processes_seen()):
        where = f"on host {record['host']}" if record["host"] != platform.node() else "in another container"
        return f"a run {where} has not released this study; if it was killed, stop its jobs, {unlock}"
    if not record["local"]:
        return f"a killed run may have jobs in the queue; cancel them (on SLURM: squeue --me, scancel), {unlock}"
    try:
        jobs = _processes_of(record["token"])
    except ImportError:
        return f"a run was killed; stop its jobs, {unlock}"
    if not jobs:
        return None
    return (
        f"a killed run has left jobs that still work; wait for them, or end them with: kill {' '.join(map(str, jobs))}"
    )


def _processes_seen() -> str:
    """Return this process's PID namespace on Linux; processes in others, such as containers, are invisible."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _processes_of(token: str) -> list[int]:
    """Return the living processes started by a run."""
    import psutil  # comes with Snakemake

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(TOKEN) == token and process.pid != os.getpid():
                found.append(process.pid)
    return found


def _stamp(lock: PathLike) -> list[int]:
    """Return the inode and modification time, which distinguish a lock from a later one of the same name."""
    found = os.stat(lock)
    return [found.st_ino, found.st_mtime_ns]


def _is(lock: str, stamp: list[int]) -> bool:
    """Return whether a lock is the recorded one."""
    try:
        return _stamp(lock) == stamp
    except FileNotFoundError:
        return False


def free_study(results: str, folder: PathLike) -> None:
    """Begin a workflow run by removing dead locks.

    It exits with one line of advice if a killed run may have living jobs.

    >>> free_study("results/demo", "missing/seqkern")
    """
    name_run()
    said = remove_dead_locks(results, folder)
    if said is not None and "--unlock" not in sys.argv:
        sys.exit(f"seqkern: {said}")
