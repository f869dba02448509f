"""The workflow in miniature: dry runs, a whole run, reruns, failures."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from conftest import ROOT

pytest.importorskip("snakemake")

STUDY = {
    "study": "tiny",
    "seed": 3,
    "inner": {"folds": 2},
    "datasets": {
        "donors": {
            "simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 30},
            "folds": {"method": "stratified", "k": 2},
        }
    },
    "kernels": {
        "spectrum2": {"kernel": "spectrum", "k": 2},
        "pairwise": {"kernel": "pairwise", "base": {"kernel": "spectrum", "k": 1}},
    },
    "solvers": {"csvc": {"solver": "csvc", "C": [0.1, 1]}},
}
STABLE = ("decisions.tsv", "metrics.tsv", "choices.tsv", "fits.tsv")


def command(folder, *options):
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    # the tools of this interpreter, on the installed package, from the folder of the study
    line = [
        sys.executable,
        "-P",
        "-m",
        "snakemake",
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--cores",
        "2",
        *options,
    ]
    return {"args": line, "cwd": folder, "env": environment, "capture_output": True, "text": True}


def snakemake(folder, *options):
    return subprocess.run(**command(folder, *options), check=False)


def write_study(folder, **changes):
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}))
    return ["--configfile", str(path)]


def tables(folder):
    found = {}
    for path in sorted((folder / "results" / "tiny").rglob("*.tsv")):
        if path.name in STABLE or "folds" in path.parts or path.parent.name == "report":
            found[path.relative_to(folder)] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of one whole run."""
    folder = tmp_path_factory.mktemp("finished")
    done = snakemake(folder, *write_study(folder))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_default_target_of_the_demo_lists_jobs(tmp_path):
    done = snakemake(tmp_path, "--dry-run", "--quiet", "progress")
    assert done.returncode == 0, done.stderr
    for rule in ("datasets", "folds", "gram", "evaluate", "report"):
        assert rule in done.stdout


def test_a_run_ends_with_the_path_of_the_report(finished):
    page = finished / "results" / "tiny" / "report" / "index.html"
    assert "spectrum2" in page.read_text()
    # only the kernel that learns nothing has a stored matrix
    assert [path.name for path in (finished / "results/tiny/gram/donors").iterdir()] == ["spectrum2"]
    assert (finished / "results/tiny/evaluate/donors/pairwise/csvc/metrics.tsv").exists()


def test_nothing_is_done_twice(finished):
    done = snakemake(finished, *write_study(finished), "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_changed_kernel_reruns_its_own_jobs_only(finished):
    kernels = {**STUDY["kernels"], "spectrum2": {"kernel": "spectrum", "k": 3}}
    done = snakemake(finished, *write_study(finished, kernels=kernels), "--dry-run", "--quiet", "progress")
    counts = dict(line.split()[:2] for line in done.stdout.splitlines() if len(line.split()) == 2)
    assert counts["gram"] == "1"
    assert counts["evaluate"] == "1"
    assert "datasets" not in counts


def test_the_same_study_gives_the_same_bytes(finished, tmp_path):
    assert snakemake(tmp_path, *write_study(tmp_path)).returncode == 0
    first, second = tables(finished), tables(tmp_path)
    assert len(first) >= 8
    assert first == second


def test_a_killed_run_is_taken_up_again(finished, tmp_path):
    options = write_study(tmp_path)
    running = command(tmp_path, *options)
    del running["capture_output"]
    process = subprocess.Popen(
        **running, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    seen = tmp_path / "results" / "tiny" / "gram"
    for _ in range(600):
        if seen.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "results/tiny/report/index.html").exists()
    snakemake(tmp_path, *options, "--unlock")
    assert snakemake(tmp_path, *options).returncode == 0
    assert tables(tmp_path) == tables(finished)


def test_a_failing_job_names_its_input(tmp_path):
    (tmp_path / "bad.fa").write_text(">only one\nACGT!\n")
    datasets = {"mine": {"fasta": {"positive": "bad.fa", "negative": "bad.fa"}, "alphabet": "dna"}}
    done = snakemake(tmp_path, *write_study(tmp_path, datasets=datasets))
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert "bad.fa" in told
    assert "'!'" in told
    assert "Traceback" not in told
    assert not (tmp_path / "results/tiny/datasets/mine/data.npz").exists()


def test_a_misspelt_key_stops_before_any_job(tmp_path):
    done = snakemake(tmp_path, *write_study(tmp_path, kernel={}))
    assert done.returncode == 1
    assert "unknown key 'kernel'" in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
