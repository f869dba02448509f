"""The workflow in miniature: dry runs, a whole run, reruns, failures."""

import html
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import warm
import yaml
from Bio.Align import substitution_matrices
from conftest import ROOT

from seqkern.core.tsv import read_tsv
from seqkern.study.plan import Cost, DatasetPlan, MethodCost

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
        "best": {"choose": ["spectrum2", "pairwise"]},
    },
    "solvers": {"csvc": {"solver": "csvc", "C": [0.1, 1]}},
}
REPORT = "results/tiny/report/index.html"


SNAKEFILE = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]


def command(folder, *options):
    """Return the arguments of a new process, in which nothing is imported yet."""
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    # the tools of this interpreter, on the installed package, from the folder of the study
    line = [sys.executable, "-m", "snakemake", *SNAKEFILE, *options]
    return {"args": line, "cwd": folder, "env": environment, "capture_output": True, "text": True}


def snakemake(folder, *options):
    return warm.snakemake([*SNAKEFILE, *options], folder)


def test_captions_of_the_report_are_there():
    rules = "\n".join(path.read_text() for path in (ROOT / "workflow").rglob("*.smk"))
    named = set(re.findall(r'caption="../report/(\w+\.rst)"', rules))
    assert named | {"workflow.rst"} == {path.name for path in (ROOT / "workflow/report").iterdir()}


def test_the_profile_test_names_a_study():
    profile = yaml.safe_load((ROOT / "profiles/test/config.yaml").read_text())
    assert (ROOT / profile["configfile"]).is_file()


def write_study(folder, **changes):
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}, sort_keys=False))
    return ["--configfile", str(path)]


def tables(folder):
    """Return the bytes of every table of a study but that of run times."""
    found = sorted(path for path in (folder / "results" / "tiny").rglob("*.tsv") if path.name != "costs.tsv")
    return {path.relative_to(folder): path.read_bytes() for path in found}


def jobs(folder, *options):
    """Return how many jobs of each rule a dry run lists; empty where nothing is to be done."""
    done = snakemake(folder, "--dry-run", *options)
    assert done.returncode == 0, done.stderr
    table = re.search(r"^job +count\n[- ]+\n(.*?)\n\n", done.stdout + done.stderr, re.DOTALL | re.MULTILINE)
    counts = {} if table is None else {rule: int(n) for rule, n in map(str.split, table[1].splitlines())}
    counts.pop("total", None)
    return counts


def killed_when_there_is(folder, pattern, *options):
    """Start a run and kill it with all its jobs at once as soon as a file matches `pattern`."""
    running = command(folder, *options)
    del running["capture_output"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(**running, **quiet, start_new_session=True)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline and not any(folder.glob(pattern)):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert any(folder.glob(pattern))
    assert not (folder / REPORT).exists()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of one whole run."""
    folder = tmp_path_factory.mktemp("finished")
    done = snakemake(folder, *write_study(folder))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_demo_lists_its_jobs_and_takes_changed_keys(tmp_path):
    found = jobs(tmp_path, "--config", "seed=2")
    assert found == {
        "simulate": 1,
        "datasets": 3,
        "folds": 3,
        "plan": 3,
        "gram": 9,
        "baseline": 3,
        "evaluate": 18,
        "importance": 1,
        "report": 1,
        "default": 1,
    }


def test_a_simulated_genome_is_made_first_and_its_motifs_and_variants_are_asked_for(tmp_path):
    assert jobs(tmp_path, "--configfile", str(ROOT / "config" / "peaks.yaml")) == {
        "simulate": 1,
        "datasets": 1,
        "folds": 1,
        "plan": 1,
        "gram": 3,
        "baseline": 1,
        "evaluate": 4,
        "motifs": 1,
        "effects": 1,
        "report": 1,
        "default": 1,
    }


def test_a_solver_without_a_gram_matrix_asks_for_none(tmp_path):
    linear = {"linear": {"solver": "linear_svc", "C": [0.1, 1]}}
    kernels = {
        "spectrum2": STUDY["kernels"]["spectrum2"],
        "rbf": {**STUDY["kernels"]["pairwise"], "vector_kernel": "rbf"},
    }
    few = write_study(tmp_path, solvers=linear, kernels=kernels)
    shared = {"datasets": 1, "folds": 1, "plan": 1, "baseline": 1}
    assert jobs(tmp_path, *few) == {**shared, "evaluate": 1, "report": 1, "default": 1}
    both = write_study(tmp_path, solvers=STUDY["solvers"] | linear, kernels=kernels)
    assert jobs(tmp_path, *both) == {**shared, "gram": 2, "evaluate": 3, "report": 1, "default": 1}
    done = snakemake(tmp_path, *write_study(tmp_path, solvers=linear, kernels=kernels))
    assert done.returncode == 0, done.stderr
    assert "linear" in (tmp_path / REPORT).read_text()
    assert not (tmp_path / "results" / "tiny" / "gram").exists()


def test_a_solver_of_features_asks_for_no_gram(tmp_path):
    psvm = {"psvm": {"solver": "psvc", "kernel": "features", "epsilon": 0.5}}
    kernels = {
        "spectrum2": STUDY["kernels"]["spectrum2"],
        "rbf": {**STUDY["kernels"]["pairwise"], "vector_kernel": "rbf"},
    }
    study = write_study(tmp_path, solvers=psvm, kernels=kernels)
    done = snakemake(tmp_path, "--dry-run", "--printshellcmds", *study)
    assert done.returncode == 0, done.stderr
    commands = re.findall(r"seqkern (evaluate|gram) .*", done.stdout + done.stderr)
    assert commands == ["evaluate"]


def test_a_combination_asks_for_one_gram_for_each_part(tmp_path):
    parts = [{"kernel": "spectrum", "k": 2}, {"kernel": "spectrum", "k": 3}, STUDY["kernels"]["pairwise"]]
    kernels = {"spectrum2": STUDY["kernels"]["spectrum2"], "mix": {"kernel": "combination", "parts": parts}}
    done = snakemake(tmp_path, "--dry-run", "--printshellcmds", *write_study(tmp_path, kernels=kernels))
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    folder = "results/tiny/gram/donors"
    grams = [f"{folder}/{home}/gram.npy" for home in ("spectrum2", "mix.part2", "mix.part3")]
    assert sorted(re.findall(r"seqkern gram .* -o (\S+npy)", text)) == sorted(grams)
    assert f"--gram {' '.join(grams)}" in text


def test_a_run_ends_with_the_path_of_the_report(finished):
    page = finished / "results" / "tiny" / "report" / "index.html"
    assert "spectrum2" in page.read_text()
    # of the pairwise kernel the matrix of its base is stored
    stored = finished / "results/tiny/gram/donors"
    assert sorted(path.name for path in stored.iterdir()) == ["pairwise", "spectrum2"]
    assert '"k":1' in (stored / "pairwise" / "gram.json").read_text()
    assert (stored / "pairwise" / "gram.spectrum.tsv").exists()
    assert (finished / "results/tiny/evaluate/donors/pairwise/csvc/metrics.tsv").exists()
    choices = (finished / "results/tiny/evaluate/donors/best/csvc/choices.tsv").read_text()
    assert len(re.findall("\tkernel\t(spectrum2|pairwise)\t", choices)) == 2


def test_only_residues_have_files_of_chains(finished, tmp_path):
    assert not list(finished.rglob("states.txt"))
    assert (finished / "results/tiny/baseline/donors/metrics.tsv").exists()
    chains = {"simulate": {"kind": "secondary_structure", "n_chains": 6, "mean_length": 30}, "residues": {"window": 5}}
    datasets = {"chains": chains | {"folds": {"method": "grouped", "k": 2}}, **STUDY["datasets"]}
    kernels = {"window": {"kernel": "window"}}
    options = write_study(tmp_path, datasets=datasets, kernels=kernels)
    found = jobs(tmp_path, *options)
    assert (found["evaluate"], found["evaluate_residues"], found["baseline"]) == (1, 1, 2)


def test_nothing_is_done_twice(finished):
    assert jobs(finished, *write_study(finished)) == {}


def test_a_changed_kernel_reruns_its_own_jobs_only(finished):
    kernels = {**STUDY["kernels"], "spectrum2": {"kernel": "spectrum", "k": 3}}
    found = jobs(finished, *write_study(finished, kernels=kernels))
    assert found == {"gram": 1, "evaluate": 2, "report": 1, "default": 1}


def test_another_solver_computes_no_gram_matrix_again(finished):
    solvers = {**STUDY["solvers"], "nu": {"solver": "nusvc", "nu": 0.1}}
    found = jobs(finished, *write_study(finished, solvers=solvers))
    assert found == {"plan": 1, "evaluate": len(STUDY["kernels"]), "report": 1, "default": 1}


def test_a_plan_that_is_deleted_or_made_again_reruns_nothing(finished):
    plan = finished / "results/tiny/plan/donors/plan.json"
    text = plan.read_text()
    plan.unlink()
    assert jobs(finished, *write_study(finished)) == {}
    plan.write_text(text)
    assert jobs(finished, *write_study(finished)) == {}


def asked(folder, *options):
    """Return what a dry run asks for: the resources of the jobs of each rule, as texts."""
    done = snakemake(folder, "--dry-run", *write_study(folder), *options)
    assert done.returncode == 0, done.stderr
    found = re.findall(
        r"^(?:rule|checkpoint) (\w+):\n(?:    .*\n)*?    resources: (.*)$", done.stdout + done.stderr, re.M
    )
    return {rule: set(re.findall(r"(?:mem_mb|runtime)=\d+", text)) for rule, text in found}


def test_jobs_ask_for_what_the_plan_predicts(tmp_path):
    guessed = asked(tmp_path)
    assert guessed["folds"] == {"mem_mb=610", "runtime=6"}
    assert guessed["gram"] == guessed["evaluate"] == {"mem_mb=5550", "runtime=180"}
    kernels, method = ("spectrum2", "pairwise", "best"), {"csvc": MethodCost(10**9, [1200.0, 1200.0])}
    grams = {name: Cost(2.0, 200_000_000) for name in kernels}
    folder = tmp_path / "results/tiny/plan/donors"
    folder.mkdir(parents=True)
    DatasetPlan(grams, dict.fromkeys(kernels, method)).write(folder / "plan.json")
    planned = asked(tmp_path)
    assert planned["gram"] == {"mem_mb=610", "runtime=5"}
    assert planned["evaluate"] == {"mem_mb=1650", "runtime=120"}


@pytest.mark.parametrize(
    ("solver", "told"),
    [
        ({"solver": "nusvc", "nu": 1.0}, ("solver 'bad' in split", "nu=1 is infeasible")),
        ({"solver": "svr"}, ("solver 'bad' on task 'all'", "does not learn binary labels")),
    ],
)
def test_labels_that_a_solver_refuses_stop_a_study_before_any_gram_matrix(tmp_path, solver, told):
    done = snakemake(tmp_path, *write_study(tmp_path, solvers={"bad": solver}))
    assert done.returncode != 0
    assert all(words in done.stdout + done.stderr for words in told)
    assert not list(tmp_path.rglob("gram.npy"))


def test_other_kernels_for_a_data_set_do_not_read_it_again(finished):
    datasets = {name: {**entry, "kernels": ["spectrum2"]} for name, entry in STUDY["datasets"].items()}
    assert jobs(finished, *write_study(finished, datasets=datasets)) == {"report": 1, "default": 1}


def test_another_memory_limit_computes_no_kernel_again(finished):
    assert not jobs(finished, *write_study(finished, memory_limit="3GB")).keys() & {"gram", "evaluate"}


def test_changed_input_is_read_again(tmp_path):
    (tmp_path / "mine.fa").write_text("".join(f">s{i}\n{'ACGT' * 5}\n" for i in range(8)))
    (tmp_path / "labels.tsv").write_text("id\tlabel\n" + "".join(f"s{i}\t{'ab'[i % 2]}\n" for i in range(8)))
    labels = {"from": "tsv", "file": "labels.tsv", "positive": "a"}
    options = write_study(tmp_path, datasets={"mine": {"fasta": "mine.fa", "labels": labels}})
    target = "results/tiny/datasets/mine/data.npz"
    assert snakemake(tmp_path, target, *options).returncode == 0
    with (tmp_path / "mine.fa").open("a") as fasta:
        fasta.write("ACGT\n")
    with (tmp_path / "labels.tsv").open("a") as table:
        table.write("s9\ta\n")
    done = snakemake(tmp_path, target, *options, "--dry-run")
    assert re.search("reason: Updated input files:.*mine.fa", done.stdout)
    assert re.search("reason: Updated input files:.*labels.tsv", done.stdout)


def test_a_misspelt_file_stops_a_study_that_has_run_and_another_file_runs_it_again(tmp_path):
    for name in ("first", "second", "other"):
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{'ACGT' * 5}\n" for i in range(8)))

    def study(positive):
        datasets = {"mine": {"fasta": {"positive": positive, "negative": "second.fa"}}}
        return write_study(tmp_path, datasets=datasets)

    target = "results/tiny/datasets/mine/data.npz"
    assert snakemake(tmp_path, target, *study("first.fa")).returncode == 0
    swapped = {"mine": {"fasta": {"negative": "second.fa", "positive": "first.fa"}}}  # the order may decide
    done = snakemake(tmp_path, target, *write_study(tmp_path, datasets=swapped), "--dry-run")
    assert "reason: Params have changed" in done.stdout
    done = snakemake(tmp_path, target, *study("typo.fa"))
    assert done.returncode == 1
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "typo.fa" in line]
    assert len(lines) == 1
    assert "study.yaml: datasets.mine.fasta.positive: no such file: 'typo.fa'; check the path" in lines[0]
    done = snakemake(tmp_path, target, *study("other.fa"), "--dry-run")
    assert re.search("reason:.*Set of input files has changed", done.stdout)


def test_a_study_of_families_tells_methods_apart(tmp_path):
    (tmp_path / "scores.txt").write_text(str(substitution_matrices.load("BLOSUM62")))
    align = {"kernel": "smith_waterman", "matrix": "scores.txt"}
    simulate = {"kind": "superfamilies", "n_superfamilies": 4, "n_families": 2, "n_members": 6, "length": 40}
    labels = {"min_family": 5, "min_rest": 5}
    study = {
        "datasets": {
            "homologs": {
                "simulate": simulate,
                "tasks": "families",
                "labels": labels,
                "folds": {"method": "liao-noble"},
            }
        },
        "kernels": {
            "spectrum3": {"kernel": "spectrum", "k": 3, "solvers": ["csvc"]},
            "raw": align | {"solvers": ["psvc"]},
            "map": align | {"repair": "empirical_map", "solvers": ["csvc"]},
        },
        "solvers": {"csvc": {"solver": "csvc", "C": 1}, "psvc": {"solver": "psvc", "C": 1, "epsilon": 0.1}},
    }
    options = write_study(tmp_path, **study)
    done = snakemake(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / REPORT).read_text()
    assert "Number of families with AUC ≥ x" in page
    assert "Wilcoxon" in page
    report = tmp_path / "results/tiny/report"
    pairs = {frozenset((row["kernel"], row["other_kernel"])) for row in read_tsv(report / "comparisons.tsv")}
    assert len(pairs) == 3
    assert len(read_tsv(report / "families.tsv")) == 8 * 3
    # both alignment kernels have one matrix, and it depends on the file
    (tmp_path / "scores.txt").write_text(str(substitution_matrices.load("BLOSUM80")))
    assert jobs(tmp_path, *options) == {"gram": 1, "evaluate": 2, "report": 1, "default": 1}


@pytest.mark.parametrize(
    "pattern", ["evaluate/donors/*/*/*.tsv", pytest.param("datasets/donors/data.npz", marks=pytest.mark.nightly)]
)
def test_a_killed_run_is_taken_up_again_and_gives_the_same_bytes(finished, tmp_path, pattern):
    options = write_study(tmp_path)
    # in the middle of a job's writing: its first file is there, of the others nobody knows
    killed_when_there_is(tmp_path, f"results/tiny/{pattern}", *options)
    assert any((tmp_path / ".snakemake" / "incomplete").iterdir())
    assert any((tmp_path / ".snakemake" / "locks").iterdir())
    assert snakemake(tmp_path, *options).returncode == 0
    assert len(tables(tmp_path)) >= 8
    assert tables(tmp_path) == tables(finished)


def test_a_divided_study_has_the_same_bytes_and_another_division_reruns_nothing(finished, tmp_path):
    folder = "results/tiny/evaluate/donors/spectrum2/csvc"
    kernels = {"kernels": {"spectrum2": STUDY["kernels"]["spectrum2"]}}
    options = write_study(tmp_path, **kernels, tiles=2, share_seconds=1e-9)
    done = snakemake(tmp_path, f"{folder}/metrics.tsv", *options)
    assert done.returncode == 0, done.stderr
    assert all(
        f": {job} 2 2\n" in done.stderr for job in ("gram_tile donors spectrum2", "share evaluate donors spectrum2")
    )
    gram = "results/tiny/gram/donors/spectrum2/gram.npy"
    assert (tmp_path / gram).read_bytes() == (finished / gram).read_bytes()
    made = {path: data for path, data in tables(finished).items() if str(path).startswith(folder)}
    assert {path: (tmp_path / path).read_bytes() for path in made} == made
    assert not [
        path for path in (tmp_path / "results").rglob("*") if path.suffix == ".done" or path.name == ".finished"
    ]
    assert jobs(tmp_path, f"{folder}/metrics.tsv", *write_study(tmp_path, **kernels, tiles=6)) == {}


def test_a_failing_job_names_its_input(tmp_path):
    (tmp_path / "bad.fa").write_text(">only one\nACGT!\n")
    datasets = {"mine": {"fasta": {"positive": "bad.fa", "negative": "bad.fa"}, "alphabet": "dna"}}
    done = snakemake(tmp_path, *write_study(tmp_path, datasets=datasets))
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert "bad.fa" in told
    assert "'!'" in told
    assert re.search(r"Look above for error messages\nseqkern: bad\.fa: record 'only': .*\nWorkflowError:", told)
    assert "Traceback" not in told
    assert not (tmp_path / "results/tiny/datasets/mine/data.npz").exists()


def test_a_killed_job_is_called_killed(tmp_path):
    # any seqkern dies as if for want of memory, after a line that is not an error
    (tmp_path / "seqkern").write_text("#!/bin/sh\necho nothing refused\nkill -9 $$\n")
    (tmp_path / "seqkern").chmod(0o755)
    run = command(tmp_path, *write_study(tmp_path))
    run["env"]["PATH"] = f"{tmp_path}:{run['env']['PATH']}"
    done = subprocess.run(**run, check=False)
    assert done.returncode == 1
    told = (
        r"^datasets \(donors\): killed by signal 9 \(SIGKILL, exit code 137\), .*; log: logs/tiny/datasets/donors.log$"
    )
    assert re.search(told, done.stderr, re.MULTILINE), done.stderr


def test_a_misspelt_key_stops_before_any_job(tmp_path):
    done = snakemake(tmp_path, *write_study(tmp_path, kernel={}))
    assert done.returncode == 1
    assert re.search("^seqkern: .*study.yaml: top level: unknown key 'kernel'", done.stderr, re.MULTILINE)
    assert "common.smk" not in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()


def test_a_repeated_key_stops_before_any_job(tmp_path):
    options = write_study(tmp_path)
    text = (tmp_path / "study.yaml").read_text()
    (tmp_path / "study.yaml").write_text(f"{text}seed: 4\n")
    first, last = text.splitlines().index("seed: 3") + 1, len(text.splitlines()) + 1
    done = snakemake(tmp_path, *options)
    assert done.returncode == 1
    told = rf"^seqkern: .*study.yaml: repeats the key 'seed' \(lines {first} and {last}\)"
    assert re.search(told, done.stderr, re.MULTILINE), done.stderr
    assert not (tmp_path / "results").exists()


BRACES = "{} {x} {wildcards.dataset} {{y}} <z>"


def test_braces_in_texts_and_folders(tmp_path):
    folder = tmp_path / f"data {BRACES}"
    folder.mkdir()
    entry = STUDY["datasets"]["donors"] | {"title": BRACES}
    few = {"kernels": {"spectrum2": STUDY["kernels"]["spectrum2"]}, "datasets": {"donors": entry}}
    done = snakemake(tmp_path, *write_study(tmp_path, description=BRACES, data_dir=str(folder), **few))
    assert done.returncode == 0, done.stderr
    assert html.escape(BRACES) in (tmp_path / REPORT).read_text()
    assert yaml.safe_load((tmp_path / "results/tiny/report/config.yaml").read_text())["description"] == BRACES


@pytest.mark.parametrize("name", ["a{b}.fa", "a{dataset}.fa", "a{b,[0-9]+}.fa", "a<b>.fa", "a{.fa"])
def test_a_file_whose_name_snakemake_takes_for_a_pattern_is_refused_in_one_line(tmp_path, name):
    for file in (name, "a{.fa"):
        (tmp_path / file).write_text(">a\nACGT\n>b\nAAGT\n")
    entry = {"fasta": {"positive": name, "negative": "a{.fa"}, "folds": {"method": "stratified", "k": 2}}
    done = snakemake(tmp_path, "--dry-run", *write_study(tmp_path, datasets={"mine": entry}))
    if name == "a{.fa":
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    told = rf"^seqkern: line \d+ of .*study.yaml: datasets.mine.fasta.positive: .* '{re.escape(name)}' .*; rename it"
    assert re.search(told, done.stderr, re.MULTILINE), done.stderr


def test_a_study_without_a_name_is_not_the_demo(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in STUDY.items() if key != "study"}))
    done = snakemake(tmp_path, "--configfile", str(path))
    assert done.returncode == 1
    assert "study.yaml: top level: missing key 'study'" in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()


HOMOLOGS = {
    "simulate": {"kind": "superfamilies", "n_superfamilies": 3, "n_families": 2, "n_members": 5},
    "tasks": "families",
    "folds": {"method": "liao-noble"},
    "kernels": ["best"],
}
POOLED = {
    "inner": {"folds": 2, "pooled": "tasks"},
    "datasets": {"homologs": HOMOLOGS},
    "kernels": {**STUDY["kernels"], "pairwise": {"kernel": "spectrum", "k": 1}},
}


def test_a_pooled_study_chooses_over_the_tasks_of_all_data_sets(tmp_path):
    done = snakemake(tmp_path, *write_study(tmp_path, **POOLED))
    assert done.returncode == 0, done.stderr
    choices = read_tsv(tmp_path / "results/tiny/evaluate/homologs/best/csvc/choices.tsv")
    # with one task of each other superfamily: the one whose positives are not negatives of the test set
    pooled = [row for row in choices if row["parameter"] != "threshold"]  # that of each task
    assert {(row["task"], row["pooled_tasks"]) for row in pooled} == {(f"s{s}.{f}", "3") for s in "123" for f in "12"}
    page = " ".join((tmp_path / REPORT).read_text().split())
    assert "those with the best mean rank over 3 tasks were selected" in page
    assert jobs(tmp_path, *write_study(tmp_path, **POOLED)) == {}
    # another data set of the same methods: its inner loops, and every choice again
    second = {"simulate": {**HOMOLOGS["simulate"], "seed": 9}}
    datasets = {"homologs": HOMOLOGS, "others": {**HOMOLOGS, **second}}
    found = jobs(tmp_path, *write_study(tmp_path, **{**POOLED, "datasets": datasets}))
    assert found == {
        **{"datasets": 1, "folds": 1, "plan": 1, "gram": 2, "baseline": 1},
        **{"inner": 1, "evaluate": 2, "report": 1, "default": 1},
    }
    # without pooling, each task chooses for itself
    own = {**POOLED, "inner": {"folds": 2}}
    assert jobs(tmp_path, *write_study(tmp_path, **own)) == {"evaluate": 1, "report": 1, "default": 1}


@pytest.mark.nightly
def test_an_interrupted_pooled_study_goes_on_from_its_finished_inner_loops(tmp_path):
    options = write_study(tmp_path, **POOLED)
    assert snakemake(tmp_path, "results/tiny/inner/homologs/best/csvc/inner.json", *options).returncode == 0
    found = jobs(tmp_path, *options)
    assert "inner" not in found
    assert found["evaluate"] == 1
