"""Studies on a real SLURM, with jobs and nodes that die: the files are those of a run without a cluster.

A plain ``pytest`` leaves them out; ``pytest -m cluster tests/cluster`` runs them, in minutes.
"""

import contextlib
import re
import shutil
import subprocess
import sys
import time

import pytest
import yaml
from conftest import ROOT

pytestmark = pytest.mark.cluster
SMALL = {
    "study": "small",
    "seed": 3,
    "tiles": 2,
    "share_seconds": 0.001,  # each fold a job
    "inner": {"folds": 2},
    "datasets": {
        "donors": {
            "simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 30},
            "folds": {"method": "stratified", "k": 2},
        }
    },
    "kernels": {"spectrum2": {"kernel": "spectrum", "k": 2}},
    "solvers": {"csvc": {"solver": "csvc", "C": [0.1, 1]}},
}
# what was measured differs from run to run, and empty flags of jobs that were killed stay
OTHER = re.compile(r"(^|/)(cost\.json|costs\.tsv|benchmarks/.*|(tile|share)-[^/]*\.done)$")


def snakemake(slurm, folder, *options):
    """Return a started Snakemake; those of clusters ask SLURM every second or two."""
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), *options]
    return subprocess.Popen(
        line, cwd=folder, env=slurm.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def locally(slurm, folder, *options):
    """Run a study without the cluster, and return its files."""
    code, printed = finish(snakemake(slurm, folder, "--cores", "2", *options))
    assert code == 0, printed
    return results(folder)


def on_cluster(slurm, folder, *options):
    """Start a study on the cluster."""
    profile = ["--workflow-profile", str(ROOT / "profiles" / "slurm"), "--latency-wait", "10"]
    return snakemake(slurm, folder, *profile, "--slurm-init-seconds-before-status-checks", "1", *options)


def results(folder):
    """Return the bytes of each file of results that is neither a measurement nor a flag."""
    home = folder / "results"
    files = {path.relative_to(home).as_posix(): path for path in sorted(home.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not OTHER.search(name)}


def running_job(slurm, running, rule, seconds=240):
    """Return id and node of a job of a rule as soon as it runs."""
    end = time.monotonic() + seconds
    while running.poll() is None and time.monotonic() < end:
        for job, state, node, comment in slurm.jobs():
            if state == "RUNNING" and re.match(f"rule_{rule}_wildcards", comment):
                return job, node
        time.sleep(0.3)
    raise AssertionError(f"no job of {rule} was seen\n{running.communicate()[0]}")


def finish(running, seconds=600):
    """Return exit code and output of a started Snakemake."""
    try:
        printed, _ = running.communicate(timeout=seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.kill()
    return running.returncode, printed


def test_a_study_whose_jobs_and_nodes_die_gives_the_files_of_a_local_run(slurm, tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(SMALL))
    options = ["--configfile", str(study)]
    local, folder = tmp_path / "local", tmp_path / "cluster"
    local.mkdir()
    locally(slurm, local, *options, "--until", "folds")
    shutil.copytree(local, folder)  # with the times of files
    target = "results/small/evaluate/donors/spectrum2/csvc/metrics.tsv"

    running = on_cluster(slurm, folder, *options, "--retries", "0", "--", target)
    job, _ = running_job(slurm, running, "gram_tile")
    slurm.run("scancel", job)
    code, printed = finish(running)
    assert code == 1, printed
    told = re.findall(r"^gram_tile \(donors, spectrum2, [12], 2\): (.*)$", printed, re.MULTILINE)
    assert len(told) == 1, printed
    assert re.match(r"killed by scancel \(\d+ MB asked\); repeat the command to resume; log: \.snakemake/", told[0])

    running = on_cluster(slurm, folder, *options, "--", target)
    _, node = running_job(slurm, running, "evaluate")
    slurm.crash(node)
    time.sleep(2)
    slurm.start_node(node)
    code, printed = finish(running)
    assert code == 0, printed
    found = results(folder)
    assert target.removeprefix("results/") in found
    assert found == locally(slurm, local, *options, "--", target)


def test_the_demo_in_groups_gives_the_files_of_a_local_run(slurm, tmp_path):
    local, folder = tmp_path / "local", tmp_path / "cluster"
    local.mkdir()
    folder.mkdir()
    groups = ["--groups", "gram=short", "baseline=short", "evaluate=short", "--group-components", "short=9"]
    running = on_cluster(slurm, folder, *groups, "--jobs", "8")
    code, printed = finish(running, seconds=1800)
    assert code == 0, printed
    assert results(folder) == locally(slurm, local)
