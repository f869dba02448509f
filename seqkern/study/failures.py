"""Why jobs of the workflow failed: one line for each, from Snakemake's log, SLURM's and the job's own.

A killed job leaves no message: the last line of its log is not an error. The cause is the exit status in Snakemake's
log, SLURM's state of the job, or a line of ``slurmstepd``.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

from seqkern.core.types import PathLike

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
    """A job, or a group of jobs, that failed and was not repeated with success.

    Attributes
    ----------
    name : str
        The rule and its wildcards.
    rule : str
        The rule, or the group.
    message : str
        Snakemake's, which holds SLURM's state.
    log, slurm_log : str
        The job's own log, and that of its SLURM job; empty if there is none.
    slurm_id : str
        Of the SLURM job; empty for a job of this computer.
    asked : dict of str to int
        Requested resources: ``mem_mb`` and ``runtime`` (minutes), where known.
    text : str
        Where exit statuses are noted: Snakemake's log, and that of the SLURM job.
    """

    name: str
    rule: str
    message: str = ""
    log: str = ""
    slurm_log: str = ""
    slurm_id: str = ""
    asked: Mapping[str, int] = field(default_factory=dict)
    text: str = ""

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
    """Return a line for each failed job: its cause, what it asked for, its log, and what to do.

    Parameters
    ----------
    logs : iterable of path-like
        Snakemake's logs of the run, as ``onerror`` gets them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> text = '''rule gram:
    ...     jobid: 4
    ...     wildcards: dataset=donors, kernel=three
    ...     resources: mem_mb=1000, runtime=60
    ... Error in rule gram:
    ...     message: SLURM-job '27' failed, SLURM status is: 'OUT_OF_MEMORY'.
    ...     jobid: 4
    ...     log: logs/three.log, slurm/27.log (check log file(s) for error details)
    ...     external_jobid: 27
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "snakemake.log")
    ...     _ = path.write_text(text)
    ...     for part in explain_failures([path])[0].split("; "):
    ...         print(part)
    gram (donors, three): killed, out of memory (1000 MB asked)
    repeat with --set-resources gram:mem_mb=2000
    log: slurm/27.log
    """
    jobs = list(read_failures("".join(_read(path) for path in logs)))
    used = _peaks([job.slurm_id for job in jobs if job.slurm_id])
    lines = [line for job in jobs for line in _lines(job, used.get(job.slurm_id))]
    return list(dict.fromkeys(lines))


def read_failures(text: str) -> Iterator[FailedJob]:
    """Yield the jobs that a run's log lists as failed for good.

    Parameters
    ----------
    text : str
        Snakemake's log.

    Yields
    ------
    FailedJob
    """
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
            yield from _of_group(found[2], _fields(found[3]))


def _failed_job(rule: str, fields: Mapping[str, str], text: str) -> FailedJob:
    """Return a job of its block in the log."""
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


def _of_group(group: str, fields: Mapping[str, str]) -> list[FailedJob]:
    """Return the jobs of a group that failed, by the log of their SLURM job; without any, the group."""
    path = _relative(fields.get("log", "").removesuffix(CHECK))
    text = _read(path)
    jobs = {} if CANCELLED.search(text) else {job.log: job for job in read_failures(text)}
    slurm_id = Path(path).stem
    for job in jobs.values():
        job.slurm_log, job.slurm_id, job.text = path, slurm_id, text
    return list(jobs.values()) or [FailedJob(f"group {group}", group, slurm_log=path, slurm_id=slurm_id, text=text)]


def _lines(job: FailedJob, peak: int | None) -> list[str]:
    """Return what to print of a job, with its peak memory (MB) where known."""
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


def _why_killed(job: FailedJob, peak: int | None) -> tuple[str, str] | None:
    """Return how a job was ended by something else than itself, and what to do; None if it was not."""
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


def _memory(job: FailedJob, peak: int | None) -> str:
    """Return the memory that a job asked for and used, in parentheses, where known."""
    seen = USED.search(job.text) if job.slurm_log else None
    used = peak if peak is not None else int(seen[1]) // 10**6 if seen else None
    asked = job.asked.get("mem_mb")
    parts = [f"{n} MB {word}" for n, word in ((asked, "asked"), (used, "used")) if n is not None]
    return f" ({', '.join(parts)})" if parts else ""


def _more(job: FailedJob, resource: str) -> str:
    """Return the remedy for a job that needs more of a resource."""
    asked = job.asked.get(resource)
    return f"repeat with --set-resources {job.rule}:{resource}={2 * asked}" if asked else f"ask for more {resource}"


def _signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return Signals(number).name
    except ValueError:
        return "unknown"


def _fields(block: str) -> dict[str, str]:
    """Return the lines ``name: value`` of a block; the first of each name."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"^ +([\w-]+): (.*)$", block, re.MULTILINE):
        found.setdefault(name, value)
    return found


def _found_log(path: str) -> str:
    """Return where the log of a SLURM job lies: those of array jobs lie a folder above the one that is named."""
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
