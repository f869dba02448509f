"""What a job imports: no more than it uses, since most jobs of a study are short. Nothing is timed here."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.registry import HOMES
from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS

HEAVY = {"sklearn", "pandas", "matplotlib", "joblib"}
COMMAND = """
import json, sys
from seqkern.cli.main import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def modules_after(code, *argv):
    """Return what a new process prints as JSON in the last line on standard error after `code`."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, argv)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def imported(statement):
    """Return the modules that a statement imports."""
    return set(modules_after(f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"))


def command(*argv):
    """Return the modules that a command imports; it must succeed."""
    status, names = modules_after(COMMAND, *argv)
    assert status == 0
    return set(names)


def modules_of(registry):
    """Return the modules that hold a registry's classes."""
    return {place.partition(":")[0] for place in registry.table.values()}


def write_fasta(path, classes, n=12, length=30):
    """Write random DNA whose headers hold labels."""
    rng = np.random.default_rng(1)
    records = ("".join(rng.choice(list("ACGT"), length)) for _ in range(n))
    path.write_text("".join(f">s{i} label={classes[i % len(classes)]}\n{record}\n" for i, record in enumerate(records)))
    return path


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    """Return a FASTA file of two classes."""
    return write_fasta(tmp_path_factory.mktemp("startup") / "two.fasta", "01")


def test_one_kernel_is_one_kernel():
    through = imported("from seqkern.kernels import SpectrumKernel")
    direct = imported("from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel")
    assert through == direct
    assert through & modules_of(KERNELS) == {"seqkern.kernels.kmer.kmer_kernel"}
    assert not through & (HEAVY | {"scipy", "Bio"})


def test_one_solver_is_one_solver():
    through = imported("from seqkern.solvers import CSVC")
    assert through & modules_of(SOLVERS) == {"seqkern.solvers.svm.svm"}
    assert not through & (HEAVY | {"scipy", "Bio"})


@pytest.mark.parametrize("package", ["", ".kernels", ".solvers", ".solvers.layers", ".gram.transforms", ".evaluation"])
def test_a_package_imports_nothing_by_itself(package):
    loaded = imported(f"import seqkern{package}")
    assert not loaded & (HEAVY | {"numpy", "scipy", "Bio"})


@pytest.mark.parametrize("kind", HOMES)
def test_reading_specs_imports_no_class(kind):
    loaded = imported(f"import {HOMES[kind]}")
    assert not loaded & HEAVY
    assert not loaded & (modules_of(KERNELS) | modules_of(SOLVERS))


def test_help():
    assert not command("kernels", "--help") & (HEAVY | {"numpy", "scipy", "Bio"})
    assert "seqkern.core.declarations" not in imported("import seqkern.cli.main")


def test_list_of_kernels():
    assert not command("kernels") & (HEAVY | {"scipy", "Bio"})


def test_gram(fasta, tmp_path):
    loaded = command("gram", fasta, "--kernel", "spectrum:k=3", "-o", tmp_path / "gram.npy")
    assert not loaded & (HEAVY | {"scipy"})
    assert loaded & modules_of(KERNELS) == {"seqkern.kernels.kmer.kmer_kernel"}
    assert not loaded & modules_of(SOLVERS)


def test_train(fasta, tmp_path):
    options = ["--labels", "header", "--positive", "1", "--kernel", "spectrum:k=3", "--solver", "csvc:C=1"]
    loaded = command("train", fasta, *options, "-o", tmp_path / "model")
    assert not loaded & (HEAVY | {"seqkern.report", "seqkern.simulate", "seqkern.evaluation.pooled"})
    assert loaded & modules_of(KERNELS) == {"seqkern.kernels.kmer.kmer_kernel"}
    assert loaded & modules_of(SOLVERS) == {"seqkern.solvers.svm.svm"}


@pytest.mark.parametrize("solver", ["csvc", "psvc"])
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_predict(solver, classes, fasta, tmp_path):
    training, model = write_fasta(tmp_path / "train.fasta", classes), tmp_path / "model"
    argv = ["--labels", "header", "--label-field", "label", "--kernel", "spectrum:k=3", "--solver", f"{solver}:C=1"]
    argv += ["--positive", "a"] if classes == "ab" else []
    assert main(["train", str(training), *argv, "-o", str(model)]) == 0
    loaded = command("predict", model, fasta, "-o", tmp_path / "decisions.tsv")
    assert not loaded & (HEAVY | {"scipy"})


def test_evaluate_a_psvm(tmp_path):
    entry = {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 20}}
    data, folds = tmp_path / "data", tmp_path / "folds"
    assert main(["datasets", "--entry", json.dumps(entry), "--name", "donors", "-o", str(data)]) == 0
    assert main(["folds", str(data), "--method", "stratified", "--k", "2", "-o", str(folds)]) == 0
    argv = ["--folds", folds, "--kernel", "spectrum:k=2", "--solver", "psvc", "-o", tmp_path / "results"]
    assert not command("evaluate", data, *argv) & HEAVY  # scipy.stats is needed for the interval of the score
