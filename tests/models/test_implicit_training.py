"""Training without a Gram matrix from end to end: models, the fold loop, studies."""

import copy
import json

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, GramError, ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.methods.sources import FittedKernel, ImplicitSource
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Task
from seqkern.study.study import Study

EXACT = "tol=1e-9,max_epochs=100000"
KERNELS = ["spectrum:k=3", "(spectrum:k=2,part=0:12)+(weighted_degree:degree=3)"]


def sequences(n=60, classes=2, seed=1):
    """Return windows of one length, each class with more of a word of its own, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    letters = rng.integers(4, size=(n, 24))
    for code, word in enumerate(([0, 2, 3, 1], [3, 3, 0, 1], [1, 0, 1, 2])[:classes]):
        letters[(y == code) & (rng.random(n) < 0.8), 10:14] = word
    X = SequenceSet.from_strings(["".join("ACGT"[code] for code in row) for row in letters], "dna")
    return X, make_labels(X.ids, [f"class{code}" for code in y])


def gram_twin(solver):
    """Return the text of the solver with a Gram matrix that has the same optimum."""
    return solver.replace("linear_svc", "csvc").replace(EXACT, "tol=1e-8")


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_is_that_of_the_gram_path(text, classes, tmp_path):
    X, labels = sequences(classes=classes)
    new, _ = sequences(n=20, seed=9)
    kernel, solver = build_kernel(text), f"linear_svc:C=0.5,{EXACT}"
    model = train_model(X, labels, kernel, solver)
    other = train_model(X, labels, kernel, gram_twin(solver))
    np.testing.assert_allclose(model.decision(new), other.decision(new), rtol=0, atol=2e-5)
    assert model.record["kernel_counts"] == other.record["kernel_counts"]
    np.testing.assert_allclose(model.diagonal, kernel.prepare(model.support).diagonal, rtol=1e-12)
    model.save(tmp_path / "m.seqkern")
    loaded = load_model(tmp_path / "m.seqkern")
    np.testing.assert_array_equal(loaded.decision(new), model.decision(new))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


def test_a_search_chooses_what_the_gram_path_chooses():
    X, labels = sequences(n=90)
    kernel = build_kernel("spectrum:k=2")
    solver = f"linear_svc:C=[0.01,0.3,10],{EXACT}"
    model = train_model(X, labels, kernel, solver, calibration="platt")
    other = train_model(X, labels, kernel, gram_twin(solver), calibration="platt")
    assert model.record["solver"]["C"] == other.record["solver"]["C"]
    np.testing.assert_allclose(model.record["search"]["scores"], other.record["search"]["scores"], atol=1e-9)
    assert model.record["calibration"]["slope"] == pytest.approx(other.record["calibration"]["slope"], rel=1e-3)


def test_no_gram_matrix_is_made(monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("a Gram matrix was computed")

    monkeypatch.setattr("seqkern.methods.sources.compute_gram", forbidden)
    monkeypatch.setattr("seqkern.kernels.kmer.kmer_kernel.SpectrumKernel._block", forbidden)
    X, labels = sequences()
    assert train_model(X, labels, build_kernel("spectrum:k=3"), "linear_svc:C=[0.1,1]").record["report"]["converged"]


def test_what_cannot_be_is_refused():
    X, labels = sequences()
    kernel = build_kernel("spectrum:k=3")
    with pytest.raises(ParameterError, match="cannot be trained without a Gram matrix"):
        train_model(X, labels, build_kernel("spectrum*spectrum"), "linear_svc")
    with pytest.raises(ParameterError, match="transforms need a Gram matrix"):
        train_model(X, labels, kernel, "linear_svc", transforms=[build_transform("centre")])
    with pytest.raises(ParameterError, match="'csvc' takes a Gram matrix, 'linear_svc' takes feature vectors"):
        train_model(X, labels, kernel, [{"solver": "csvc"}, {"solver": "linear_svc"}])


def test_too_little_memory_is_found_before_the_work(monkeypatch):
    X, labels = sequences()
    kernel = build_kernel("spectrum:k=3")
    monkeypatch.setattr(type(kernel), "_implicit", None)
    with pytest.raises(GramError, match=r"training on 60 samples without a Gram matrix needs .* the limit is 1 kB"):
        train_model(X, labels, kernel, "linear_svc", memory_limit="1kB")


def test_folds_give_what_the_gram_path_gives():
    X, labels = sequences(n=80)
    kernel = build_kernel("spectrum:k=3")
    inner = InnerLoop(folds=3)
    for split in make_folds(labels, X, "stratified", k=3, seed=1):
        implicit, gram = (
            evaluate_fold(Task("all", labels), split, {"k": source}, [{"solver": solver, "C": 0.5}], inner)
            for source, solver in ((ImplicitSource(kernel, X), "linear_svc"), (FittedKernel(kernel, X), "csvc"))
        )
        assert implicit.metrics["auc"] == pytest.approx(gram.metrics["auc"], abs=0.02)


def test_a_source_of_the_wrong_sort_is_refused():
    X, labels = sequences()
    kernel = build_kernel("spectrum:k=3")
    split = next(iter(make_folds(labels, X, "stratified", k=3, seed=1)))
    for source, solver in ((ImplicitSource(kernel, X), "csvc"), (FittedKernel(kernel, X), "linear_svc")):
        with pytest.raises(ParameterError, match="the source gives"):
            evaluate_fold(Task("all", labels), split, {"k": source}, [{"solver": solver}], InnerLoop(folds=2))


# ---- the command line ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Write the sequences of two classes as FASTA, and return their paths."""
    X, labels = sequences()
    for code, name in enumerate(("pos", "neg")):
        rows = np.flatnonzero(labels.y == code)
        text = "".join(f">{name}{i}\n{X.strings()[i]}\n" for i in rows)
        (tmp_path / f"{name}.fa").write_text(text)
    return [str(tmp_path / "pos.fa"), str(tmp_path / "neg.fa")]


def test_train_predict_explain(files, tmp_path, capsys):
    model = str(tmp_path / "m.seqkern")
    argv = ["train", "--verbose", *files, "--kernel", "spectrum:k=3", "--search", "-o", model]
    assert main([*argv, "--solver", "linear_svc:C=[0.1,1]"]) == 0
    assert "converged" in capsys.readouterr().out
    assert main(["predict", model, files[0], "-o", str(tmp_path / "out.tsv")]) == 0
    assert len(read_tsv(tmp_path / "out.tsv")) == 30
    assert main(["explain", model, files[0], "-o", str(tmp_path / "why")]) == 0
    capsys.readouterr()
    assert main([*argv, "--solver", "linear_svc:C=[0.1,1]", "--memory", "2kB"]) == 1
    assert "without a Gram matrix needs" in capsys.readouterr().err


def test_evaluate(files, tmp_path, capsys):
    entry = json.dumps({"fasta": {"positive": files[0], "negative": files[1]}})
    assert main(["datasets", "--name", "toy", "--entry", entry, "-o", str(tmp_path / "data")]) == 0
    folds = ["--method", "stratified", "--k", "3", "-o", str(tmp_path / "folds")]
    assert main(["folds", str(tmp_path / "data"), *folds]) == 0
    argv = ["evaluate", str(tmp_path / "data"), "--folds", str(tmp_path / "folds"), "-o", str(tmp_path / "out")]
    argv += ["--solver", "linear_svc:C=[0.1,1]", "--kernel"]
    assert main([*argv, "spectrum:k=3"]) == 0
    assert len(read_tsv(tmp_path / "out" / "metrics.tsv")) == 3
    capsys.readouterr()
    for kernel, words in (
        ("spectrum*spectrum", "cannot be trained without a Gram matrix"),
        ('{"kernel": "spectrum", "transforms": ["centre"]}', "remove transforms and repair"),
    ):
        assert main([*argv, kernel]) == 1
        assert words in capsys.readouterr().err
    assert main([*argv, "spectrum:k=3", "--gram", "k.npy"]) == 1
    assert "remove --gram" in capsys.readouterr().err


# ---- studies ---------------------------------------------------------------------------------------------

STUDY = {
    "study": "tiny",
    "datasets": {"donors": {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 30}}},
    "kernels": {
        "words": {"kernel": "spectrum", "k": 2},
        "centred": {"kernel": "spectrum", "k": 2, "transforms": ["centre"]},
        "squared": {"kernel": "polynomial", "base": {"kernel": "spectrum", "k": 2}},
        "any": {"choose": ["words", "squared"]},
    },
    "solvers": {"csvc": {"solver": "csvc"}, "linear": {"solver": "linear_svc", "C": [0.1, 1]}},
}


def test_a_study_runs_the_pairs_that_go_together():
    study = Study.parse(STUDY)
    methods = study.method_names("donors")
    assert [kernel for kernel, solver in methods if solver == "csvc"] == list(STUDY["kernels"])
    assert [kernel for kernel, solver in methods if solver == "linear"] == ["words"]
    assert study.solvers["csvc"].needs_gram
    assert not study.solvers["linear"].needs_gram


@pytest.mark.parametrize(
    ("part", "names", "idle"),
    [("kernels", ["squared"], "squared"), ("kernels", ["centred", "words"], "centred"), ("kernels", ["any"], "any")],
)
def test_what_would_never_run_is_refused(part, names, idle):
    study = copy.deepcopy(STUDY)
    study["datasets"]["donors"] |= {part: names, "solvers": ["linear"]}
    with pytest.raises(ConfigError, match=rf"datasets\.donors: {idle} would never run.*add a solver such as csvc"):
        Study.parse(study)
