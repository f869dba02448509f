"""Exemplars of solvers with prototypes: in a fold's tables, in the model, and in the report."""

import numpy as np
import pytest
from report_sample import HOSTILE, Shape, write_study

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.evaluation import Split
from seqkern.evaluation.fold_tables import EXEMPLAR_COLUMNS, FEATURE_COLUMNS, write_results
from seqkern.kernels import SpectrumKernel, WindowKernel
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.loading import load_model
from seqkern.methods.method import Method
from seqkern.methods.training import train_model
from seqkern.report import build_report
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet


def repeats(n=12, seed=0):
    """Return sequences of two repeats, with some noise, and their labels."""
    rng = np.random.default_rng(seed)
    names, strings = [], []
    for i in range(2 * n):
        letters = list(("AC" if i < n else "GT") * 5)
        for place in rng.integers(0, 10, size=i % 4):
            letters[place] = "ACGT"[rng.integers(4)]
        names.append(f"r{i}")
        strings.append("".join(letters))
    X = SequenceSet.from_strings(strings, "dna", ids=names)
    return X, make_labels(names, ["site"] * n + ["decoy"] * n)


@pytest.mark.parametrize("solver", ["nearest_prototype", "relational_glvq:n_prototypes=2", "glvq", "gmlvq"])
def test_exemplars_of_a_fold_are_training_samples_of_their_class(solver, tmp_path):
    X, labels = repeats()
    method = Method(SpectrumKernel(2), solver)
    data = method.data(X, labels)
    train = np.r_[0:9, 12:21]
    result = evaluate_fold(method, data, Split("1", train, np.setdiff1d(np.arange(24), train)))
    write_results(tmp_path, [result])
    rows = read_tsv(tmp_path / "exemplars.tsv")
    assert {row["class"] for row in rows} == {"site", "decoy"}
    of_class = dict(zip(X.ids, labels.names(), strict=True))
    for row in rows:
        assert of_class[row["id"]] == row["class"]
        assert list(X.ids).index(row["id"]) in train
    assert [row["rank"] for row in rows[:5]] == ["1", "2", "3", "4", "5"]
    features = read_tsv(tmp_path / "features.tsv")
    assert bool(features) == (solver == "gmlvq")
    if features:
        weights = [float(row["weight"]) for row in features]
        assert sum(weights) == pytest.approx(1.0)
        assert weights == sorted(weights, reverse=True)


def test_other_solvers_have_none(tmp_path):
    X, labels = repeats()
    method = Method(SpectrumKernel(2), "csvc:C=1")
    train = np.r_[0:9, 12:21]
    result = evaluate_fold(method, method.data(X, labels), Split("1", train, np.setdiff1d(np.arange(24), train)))
    assert result.exemplars == []
    write_results(tmp_path, [result])
    assert read_tsv(tmp_path / "exemplars.tsv") == []


def test_a_model_names_its_exemplars(tmp_path):
    X, labels = repeats()
    model = train_model(X, labels, SpectrumKernel(2), "relational_glvq")
    model.save(tmp_path / "m")
    found = load_model(tmp_path / "m").record["exemplars"]
    assert [(row["class"], row["rank"]) for row in found] == [(c, r) for c in labels.classes for r in range(1, 6)]
    assert found == model.record["exemplars"]
    assert "exemplars" not in train_model(X, labels, SpectrumKernel(2), "csvc:C=1").record


def test_relevances_of_windows_have_places():
    rng = np.random.default_rng(2)
    strings = ["".join(rng.choice(list("ACGT"), 7)) for _ in range(60)]
    X = SequenceSet.from_strings(strings, "dna")
    labels = make_labels(X.ids, ["site" if s[3] == "A" else "decoy" for s in strings])
    method = Method(WindowKernel(vector_kernel="linear"), "gmlvq")
    result = evaluate_fold(method, method.data(X, labels), Split("1", np.arange(50), np.arange(50, 60)))
    assert result.features[0]["feature"] == "0:A"
    assert result.features[0]["weight"] > 0.5


# ---- the report ------------------------------------------------------------------------------------------

SOLVERS = {"typical": {"solver": "gmlvq"}}


@pytest.fixture
def study(tmp_path):
    """Return the folder of a study with exemplars and relevances of three folds, and that method's folder."""
    folder = write_study(
        tmp_path / "s", {"donor": Shape(splits=("1", "2", "3"))}, {"k": {"kernel": "spectrum", "k": 3}}, SOLVERS
    )
    method = folder / "evaluate" / "donor" / "k" / "typical"
    place = [{"task": "all", "split": split} for split in "123"]
    rows = [
        at | {"class": c, "prototype": 1, "members": 9, "rank": rank, "id": name, "distance": rank / 4}
        for at in place
        for c, names in {"decoy": ["d1", "d2"], "donor": ["p1", HOSTILE[0] if at["split"] == "1" else "p2"]}.items()
        for rank, name in enumerate(names, start=1)
    ]
    write_tsv(method / "exemplars.tsv", EXEMPLAR_COLUMNS, rows)
    weights = {"-1:A": 0.125, "0:G": 0.5, "1:T": 0.375}
    features = [
        at | {"feature": name, "column": 1, "rank": 1, "weight": value, "class": None}
        for at in place
        for name, value in weights.items()
    ]
    write_tsv(method / "features.tsv", FEATURE_COLUMNS, features)
    return folder


def test_report_shows_exemplars_and_relevances(study):
    page = build_report(study, study / "report").read_text()
    assert "Typical sequences" in page
    assert "3 of 3" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "relevance of letters by position" in page
    assert page.index("0:G") < page.index("1:T") < page.index("-1:A")
    assert "0.500 to 0.500" in page
    assert "Selected features" not in page  # nothing was selected


def test_report_without_exemplars_has_no_section(tmp_path):
    folder = write_study(tmp_path / "s", {"donor": Shape(splits=("1", "2"))}, {"k": {"kernel": "spectrum", "k": 3}})
    assert "Typical sequences" not in build_report(folder, folder / "report").read_text()
