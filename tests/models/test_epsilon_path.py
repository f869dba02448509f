"""The ε-path of a study's P-SVM, and scores against references as features: values, names."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.evaluation import Split
from seqkern.kernels import PairwiseKernel, SpectrumKernel
from seqkern.methods import crossval
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.method import Method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import PSVC

ROWS = np.arange(30)


@pytest.fixture(scope="module")
def sequences():
    """Return 30 sequences and labels: of class b those with many Gs."""
    rng = np.random.default_rng(5)
    shares = np.where(ROWS % 2 == 0, 0.25, 0.5)
    texts = ["".join(rng.choice(list("GACT"), 20, p=[s, *[(1 - s) / 3] * 3])) for s in shares]
    ids = [f"r{i}" for i in ROWS]
    return SequenceSet.from_strings(texts, ids=ids), make_labels(ids, ["ab"[i % 2] for i in ROWS])


def fold(sequences, kernel, solver, **more):
    X, labels = sequences
    method = Method(kernel, solver)
    return evaluate_fold(method, method.data(X, labels), Split("1", ROWS[:24], ROWS[24:]), **more)


@pytest.mark.parametrize("scale", ["max", "absolute"])
def test_a_path_has_the_weights_of_single_fits(sequences, scale):
    X, labels = sequences
    result = fold(
        sequences, SpectrumKernel(2), f"psvc:kernel=features,C=inf,epsilon=0.2,epsilon_scale={scale}", path=True
    )
    features = np.asarray(SpectrumKernel(2, normalize=True).features(X.take(ROWS[:24])).toarray())
    features /= np.linalg.norm(features, axis=1)[:, None]
    rows = result.path
    shares = list(dict.fromkeys(row["epsilon"] for row in rows))
    assert len(shares) == crossval.N_EPSILONS
    assert shares[0] == pytest.approx(1)
    names = SpectrumKernel(2).features.names(X.alphabet)
    for share in shares[::6]:
        fitted = PSVC(kernel="features", C=np.inf, epsilon=share).fit(features, labels.y[:24])
        own = {row["column"] - 1: row["weight"] for row in rows if row["epsilon"] == share}
        expected = dict.fromkeys(own, 0.0) | dict(zip(fitted.support_.tolist(), fitted.alpha_.tolist(), strict=True))
        assert own == pytest.approx(expected, abs=1e-4)
        assert {row["feature"] for row in rows} == {names[j] for j in own}
    used = rows[0]["used"]
    chosen = PSVC(kernel="features", C=np.inf, epsilon=used).fit(features, labels.y[:24])
    assert {row["column"] - 1 for row in result.features} == set(chosen.support_)


def test_of_a_gram_matrix_the_columns_are_training_samples(sequences):
    rows = fold(sequences, SpectrumKernel(2), "psvc:C=1,epsilon=0.3", path=True).path
    assert {row["feature"] for row in rows} <= {f"r{i}" for i in ROWS[:24]}
    assert all(row["feature"] == f"r{row['column'] - 1}" for row in rows)
    assert rows[0]["used"] == pytest.approx(0.3)


@pytest.mark.parametrize("solver", ["csvc", "linear_svc"])
def test_other_solvers_have_no_path(sequences, solver):
    assert fold(sequences, SpectrumKernel(2), solver, path=True).path == []


def test_a_wide_matrix_has_no_path(sequences, monkeypatch):
    monkeypatch.setattr(crossval, "MOST_COLUMNS", 15)
    assert fold(sequences, SpectrumKernel(2), "psvc:kernel=features", path=True).path == []
    assert fold(sequences, SpectrumKernel(2), "psvc:kernel=features").path == []


# ---- references ------------------------------------------------------------------------------------------


def test_scores_against_references_are_features(sequences):
    X, _ = sequences
    base = SpectrumKernel(2, normalize=False)
    kernel = PairwiseKernel(base, normalize=False).fit(X.take(ROWS[:24]))
    features = kernel.features(X)
    np.testing.assert_array_equal(features, base(X, X.take(ROWS[:24])))
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-12)
    assert kernel.features.names() == [f"r{i}" for i in ROWS[:24]]
    assert kernel.features.bytes(X) == features.nbytes


def test_the_p_svm_selects_references_of_the_training_set(sequences):
    X, labels = sequences
    kernel = PairwiseKernel(SpectrumKernel(2, normalize=False), normalize=False)
    result = fold(sequences, kernel, "psvc:kernel=features,C=inf,epsilon=0.3")
    scores = SpectrumKernel(2, normalize=False)(X.take(ROWS[:24]))
    expected = PSVC(kernel="features", C=np.inf, epsilon=0.3).fit(scores, labels.y[:24]).support_
    assert {row["feature"] for row in result.features} == {f"r{j}" for j in expected}
    assert len(expected) < 12


def test_an_rbf_of_scores_has_no_features(sequences):
    kernel = PairwiseKernel(SpectrumKernel(2), vector_kernel="rbf")
    with pytest.raises(ParameterError, match="vector_kernel=rbf has no explicit features; choose vector_kernel=linear"):
        fold(sequences, kernel, "psvc:kernel=features")
