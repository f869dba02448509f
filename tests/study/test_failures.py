"""Causes of failed jobs, from excerpts of logs that Snakemake and SLURM wrote."""

import pytest

from seqkern.study import workflow
from seqkern.study.workflow import explain_failures

STARTED = """rule {rule}:
    log: logs/{job}.log
    jobid: {job}
    wildcards: dataset=donors, kernel=three
    resources: tmpdir=<TBD>, mem_mb=1000, mem=1 GB, runtime=60
"""
FAILED = """[Mon Nov 23 01:54:48 2026]
Error in rule {rule}:
    message: {message}
    jobid: {job}
    output: {job}.txt
    log: {logs} (check log file(s) for error details)
    shell:
        seqkern {rule} 2>&1 | tee logs/{job}.log
        (command exited with non-zero exit code)
"""
COMMAND = "Command 'set -euo pipefail;  seqkern {rule} 2>&1 | tee logs/{job}.log' {end}.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with logs of jobs, on a computer without accounts of jobs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflow, "_peaks", lambda ids: {})
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "4.log").write_text("2 solvers, 5 training parts: nothing refused\n")
    return tmp_path


def explained(folder, *texts):
    (folder / "snakemake.log").write_text("".join(texts))
    return explain_failures([folder / "snakemake.log"])


def on_slurm(folder, state, text):
    """Return what is said of job 4, which ran as SLURM job 27 with a log."""
    path = folder / "slurm" / "27.log"
    path.parent.mkdir()
    path.write_text(text)
    message = f"SLURM-job '27' failed, SLURM status is: '{state}'. Detailed failure reason unavailable."
    ids = {"rule": "gram", "job": 4, "message": message, "logs": f"logs/4.log, {path}"}
    return explained(folder, STARTED.format(**ids), FAILED.format(**ids), "    external_jobid: 27\n")


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("returned non-zero exit status 137", "killed by signal 9 (SIGKILL, exit code 137), most likely for memory (1"),
        ("died with <Signals.SIGTERM: 15>", "terminated by signal 15 (SIGTERM, exit code 143): cancelled or out of "),
        ("died with <Signals.SIGSEGV: 11>", "ended by signal 11 (SIGSEGV, exit code 139)"),
        ("returned non-zero exit status 2", "failed with exit code 2: 2 solvers, 5 training parts: nothing refused"),
    ],
)
def test_a_job_of_this_computer_is_explained_by_its_exit_status(folder, end, told):
    ids = {"rule": "gram", "job": 4, "message": "None", "logs": "logs/4.log", "end": end}
    (line,) = explained(folder, STARTED.format(**ids), COMMAND.format(**ids), FAILED.format(**ids))
    assert line.startswith(f"gram (donors, three): {told}")
    assert line.endswith("; log: logs/4.log")
    assert ("; repeat the command to resume" in line) == ("exit status 2" not in end)


def test_a_message_of_ours_is_all_that_is_said(folder):
    (folder / "logs" / "4.log").write_text("seqkern: bad.fa: record 'only': '!' is not a letter\n")
    ids = {"rule": "gram", "job": 4, "message": "None", "logs": "logs/4.log", "end": "returned non-zero exit status 1"}
    lines = explained(folder, STARTED.format(**ids), COMMAND.format(**ids), FAILED.format(**ids))
    assert lines == ["seqkern: bad.fa: record 'only': '!' is not a letter"]


@pytest.mark.parametrize(
    ("state", "text", "told"),
    [
        (
            "CANCELLED",
            "slurmstepd-node1: error: *** STEP 27.0 ON node1 CANCELLED AT 2026-11-23T01:54:35 ***\n"
            + COMMAND.format(rule="gram", job=4, end="died with <Signals.SIGTERM: 15>"),
            "killed by scancel (1000 MB asked); repeat the command to resume",
        ),
        (
            "FAILED",
            "slurmstepd-node2: error: *** JOB 27 ON node2 CANCELLED AT 2026-11-23T01:54:18 ***\n"
            "slurmstepd-node2: error: StepId=27.batch exceeded memory limit (1290000000 > 1048576000), being killed\n",
            "killed, out of memory (1000 MB asked, 1290 MB used); repeat with --set-resources gram:mem_mb=2000",
        ),
        (
            "OUT_OF_MEMORY",
            COMMAND.format(rule="gram", job=4, end="returned non-zero exit status 137"),
            "killed, out of memory (1000 MB asked); repeat with --set-resources gram:mem_mb=2000",
        ),
        (
            "FAILED",
            "slurmstepd-node1: error: *** JOB 27 ON node1 CANCELLED AT 2026-11-23T01:55:37 DUE TO TIME LIMIT ***\n",
            "killed, out of time (60 min asked); repeat with --set-resources gram:runtime=120",
        ),
        ("NODE_FAIL", "", "lost with its node; repeat the command to resume"),
        (
            "FAILED",
            COMMAND.format(rule="gram", job=4, end="returned non-zero exit status 137")
            + "srun: error: node1: task 0: Exited with exit code 1\n",
            "killed by signal 9 (SIGKILL, exit code 137), most likely for memory (1000 MB asked); "
            "repeat with --set-resources gram:mem_mb=2000",
        ),
        (
            "FAILED",
            "srun: error: Unable to create step for job 27: More processors requested than permitted\n",
            "failed: Unable to create step for job 27: More processors requested than permitted",
        ),
    ],
)
def test_a_job_of_slurm_is_explained_by_its_state_and_log(folder, state, text, told):
    assert on_slurm(folder, state, text) == [f"gram (donors, three): {told}; log: slurm/27.log"]


def test_a_refused_submission_names_what_to_check(folder):
    message = "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: none'."
    ids = {"rule": "gram", "job": 4, "message": message, "logs": "logs/4.log"}
    (line,) = explained(folder, STARTED.format(**ids), FAILED.format(**ids))
    assert "not submitted: sbatch: error: invalid partition specified: none; check partition and account" in line


def test_a_job_that_succeeded_when_repeated_has_not_failed(folder):
    ids = {"rule": "gram", "job": 4, "message": "None", "logs": "logs/4.log"}
    assert explained(folder, STARTED.format(**ids), FAILED.format(**ids), "Finished jobid: 4 (Rule: gram)\n") == []


def test_a_shown_log_of_slurm_holds_no_job_of_this_run(folder):
    ids = {
        "rule": "gram",
        "job": 4,
        "message": "None",
        "logs": "logs/4.log",
        "end": "returned non-zero exit status 137",
    }
    inner = FAILED.format(rule="inner", job=0, message="None", logs="logs/0.log")
    shown = f"Logfile slurm/27.log:\n{'=' * 80}\n{inner}{'=' * 80}\n"
    (line,) = explained(folder, STARTED.format(**ids), COMMAND.format(**ids), FAILED.format(**ids), shown)
    assert line.startswith("gram (donors, three): killed")


GROUP = """[Mon Nov 23 01:58:58 2026]
    message: Error in group short
    log: slurm/30.log (check log file(s) for error details)
    jobs:
        rule evaluate:
            jobid: 6
            log: logs/6.log (check log file(s) for error details)
        rule evaluate:
            jobid: 7
            log: logs/7.log (check log file(s) for error details)
"""


def test_of_a_group_the_job_is_named_that_failed(folder):
    (folder / "slurm").mkdir()
    ids = {"rule": "evaluate", "job": 7, "message": "None", "logs": "logs/7.log"}
    end = COMMAND.format(**ids, end="returned non-zero exit status 137")
    (folder / "slurm" / "30.log").write_text(STARTED.format(**ids) + end + FAILED.format(**ids))
    (line,) = explained(folder, GROUP)
    assert line.startswith("evaluate (donors, three): killed by signal 9")
    (folder / "slurm" / "30.log").write_text(
        "slurmstepd: error: *** JOB 30 ON node1 CANCELLED AT 2026-11-23T01:55:37 ***\n" + FAILED.format(**ids)
    )
    assert explained(folder, GROUP) == [
        "group short: killed by scancel; repeat the command to resume; log: slurm/30.log"
    ]


def test_memory_used_comes_from_the_accounts_of_the_cluster(folder, monkeypatch):
    program = folder / "sacct"
    program.write_text("#!/bin/sh\nprintf '27|\\n27.batch|130.5M\\n27.0|1020.00M\\n28.0|\\n'\n")
    program.chmod(0o755)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    (line,) = on_slurm(folder, "OUT_OF_MEMORY", "")
    assert "(1000 MB asked, 1020 MB used)" in line


def test_logs_that_are_missing_or_empty_do_no_harm(folder):
    ids = {"rule": "gram", "job": 9, "message": "None", "logs": "logs/9.log"}
    assert explained(folder, FAILED.format(**ids)) == ["gram: failed: no message; log: logs/9.log"]
    assert explain_failures([folder / "none"]) == []
