"""Transforms of features: against scikit-learn and naive twins; fitted on training samples alone."""

import tracemalloc

import numpy as np
import pytest
from sklearn.decomposition import PCA, FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer, SimpleImputer

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.gram.transforms import KernelPCAGram
from seqkern.kernels import LinearKernel, RBFKernel, SpectrumKernel, TransformedKernel, kernel_from_state
from seqkern.kernels.feature_transforms import (
    FEATURE_TRANSFORMS,
    ICATransform,
    ImputeTransform,
    PCATransform,
    build_feature_transform,
)
from seqkern.kernels.feature_transforms.transformed import with_transforms
from seqkern.kernels.feature_transforms.transforms import feature_transforms
from seqkern.methods.method import Method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import KernelPCA
from seqkern.study.kernel_entries import KernelEntry

NAN = float("nan")
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 6)) @ RNG.normal(size=(6, 6)) + 5.0
NEW = RNG.normal(size=(9, 6)) * 3
GAPS = np.where(RNG.random(X.shape) < 0.15, NAN, X)
SPECS = [
    "pca:n_components=3",
    "pca:n_components=none,whiten=true",
    "ica:n_components=3",
    "impute",
    "impute:method=neighbors",
]


def table(values):
    return FeatureTable(values, missing="keep")


# ---- what all of them do ----------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_state_gives_the_same_numbers_and_a_row_has_the_same_bits_in_every_batch(spec, tmp_path):
    transform = build_feature_transform(spec).fit(X)
    out = transform.transform(NEW)
    save_archive(tmp_path / "state.npz", *transform.fitted_state())
    again = build_feature_transform(transform.spec())
    again.restore_fitted(*load_archive(tmp_path / "state.npz"))
    np.testing.assert_array_equal(again.transform(NEW), out)
    for i in range(len(NEW)):
        np.testing.assert_array_equal(transform.transform(NEW[i : i + 1])[0], out[i])
    assert len(transform.names([f"f{j}" for j in range(6)])) == out.shape[1]


@pytest.mark.parametrize("spec", SPECS)
def test_wrong_vectors_are_refused(spec):
    transform = build_feature_transform(spec).fit(X)
    with pytest.raises(SequenceError, match="fitted on 6 features, got 5"):
        transform.transform(NEW[:, :5])
    bad = NEW.copy()
    bad[3, 2] = np.inf
    with pytest.raises(SequenceError, match="record '4'"):
        transform.transform(bad)


def test_registry_and_specs():
    assert sorted(FEATURE_TRANSFORMS.classes) == ["ica", "impute", "pca"]
    assert build_feature_transform({"transform": "pca", "whiten": True}).whiten
    with pytest.raises(ParameterError, match="did you mean 'pca'"):
        build_feature_transform("pcaa")
    with pytest.raises(ParameterError, match="3 is not a transform"):
        build_feature_transform(3)
    with pytest.raises(ParameterError, match="feature transform 'pca' has no parameter"):
        build_feature_transform("pca:components=3")


@pytest.mark.parametrize(("name", "near"), [("pac", "pca"), ("inpute", "impute"), ("cenre", "centre"), ("icaa", "ica")])
def test_an_unknown_transform_is_compared_with_both_sorts(name, near):
    with pytest.raises(ParameterError) as error:
        KernelEntry.parse({"kernel": "linear", "transforms": [name]})
    assert f"unknown transform {name!r}; did you mean {near!r}? choose from: centre, " in str(error.value)
    assert ", ica, impute, kernel_pca, normalise, pca, repair" in str(error.value)


# ---- against others ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [40, 5])  # by the covariance, or by products of samples
@pytest.mark.parametrize("whiten", [False, True])
def test_principal_components_are_those_of_scikit_learn(rows, whiten):
    ours = PCATransform(n_components=3, whiten=whiten).fit(X[:rows])
    rival = PCA(3, whiten=whiten).fit(X[:rows])
    np.testing.assert_allclose(np.abs(ours.transform(NEW)), np.abs(rival.transform(NEW)), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.variances_, rival.explained_variance_, rtol=1e-10)
    assert (ours.components_[np.abs(ours.components_).argmax(axis=0), range(3)] > 0).all()


def test_components_without_variance_are_left_out():
    flat = np.column_stack([X[:, 0], 2 * X[:, 0], np.full(40, 1e6)])
    assert PCATransform().fit(flat).transform(flat).shape == (40, 1)
    assert not PCATransform().fit(np.ones((5, 3))).transform(NEW[:, :3]).any()
    assert not ICATransform().fit(np.ones((5, 3))).transform(NEW[:, :3]).any()


def test_independent_components_find_the_sources():
    signals = np.column_stack([RNG.uniform(-1, 1, 2000), RNG.laplace(size=2000), RNG.choice([-1.0, 1.0], 2000)])
    mixed = signals @ RNG.normal(size=(3, 3)) + 2
    ours = ICATransform(n_components=3).fit(mixed)
    found = ours.transform(mixed)
    match = np.abs(np.corrcoef(found.T, signals.T)[:3, 3:])
    assert match.max(axis=0).min() > 0.99
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(found.var(axis=0, ddof=1), 1, rtol=1e-8)
    rival = FastICA(3, whiten="unit-variance", random_state=1).fit_transform(mixed)
    assert np.abs(np.corrcoef(found.T, rival.T)[:3, 3:]).max(axis=1).min() > 0.9999
    np.testing.assert_array_equal(ICATransform(n_components=3).fit(mixed).components_, ours.components_)
    with pytest.warns(ConvergenceWarning, match="'ica' stopped after 1 iterations"):
        ICATransform(n_components=3, max_iter=1).fit(mixed)
    with pytest.warns(ConvergenceWarning, match="only 3 features: lower n_components, or raise max_iter or tol"):
        ICATransform(n_components=50, max_iter=1).fit(mixed)


def test_completion_is_that_of_scikit_learn():
    means = ImputeTransform().fit(GAPS).transform(GAPS)
    np.testing.assert_allclose(means, SimpleImputer().fit_transform(GAPS), rtol=1e-12)
    standard = (GAPS - np.nanmean(GAPS, axis=0)) / np.nanstd(GAPS, axis=0)
    rival = KNNImputer(n_neighbors=4).fit_transform(standard) * np.nanstd(GAPS, axis=0) + np.nanmean(GAPS, axis=0)
    ours = ImputeTransform("neighbors", n_neighbors=4).fit(GAPS).transform(GAPS)
    np.testing.assert_allclose(ours, rival, rtol=1e-10)
    np.testing.assert_array_equal(ours[~np.isnan(GAPS)], GAPS[~np.isnan(GAPS)])


def test_degenerate_completion():
    with pytest.raises(ParameterError, match="feature 2 has no value in the training set"):
        ImputeTransform().fit([[1.0, NAN], [2.0, NAN]])
    lonely = ImputeTransform("neighbors").fit([[1.0, NAN], [NAN, 4.0], [3.0, NAN]])
    np.testing.assert_array_equal(lonely.transform([[NAN, NAN], [1.0, NAN]]), [[2.0, 4.0], [1.0, 4.0]])


# ---- in a kernel ------------------------------------------------------------------------------------------


def test_linear_kernel_after_principal_components_is_kernel_pca():
    words = as_sequences(["ACGTACGT", "ACGGT", "TTTACG", "GGGT", "CACACA", "TTGTT"], "dna")
    spectrum = SpectrumKernel(2)
    features = TransformedKernel(spectrum, transforms=["pca:n_components=3"]).fit(words)
    matrix = spectrum(words)
    expected, _ = KernelPCAGram(n_components=3).fit(matrix).transform_train()
    np.testing.assert_allclose(features(words), expected, atol=1e-10)
    projections = KernelPCA(n_components=3).fit(matrix).transform(matrix)
    np.testing.assert_allclose(projections @ projections.T, expected, atol=1e-10)


def test_new_rows_of_kernel_pca_are_those_of_the_solver():
    A = RNG.normal(size=(30, 8))
    K = np.tanh(A @ A.T)
    K = K @ K.T
    pca, solver = KernelPCAGram(n_components=4).fit(K[:20, :20]), KernelPCA(n_components=4).fit(K[:20, :20])
    found, diagonal = pca.transform(K[20:, :20], np.diagonal(K)[20:])
    new, train = solver.transform(K[20:, :20]), solver.transform(K[:20, :20])
    np.testing.assert_allclose(found, new @ train.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(diagonal, (new**2).sum(axis=1), rtol=1e-9)
    coefficients = RNG.normal(size=20)
    pulled, constant = pca.pull_back(coefficients)
    np.testing.assert_allclose(K[20:, :20] @ pulled + constant, found @ coefficients, rtol=1e-8, atol=1e-8)


def test_vectors_under_a_radial_basis_function_are_transformed():
    kernel = with_transforms(RBFKernel(gamma=0.1), [ImputeTransform(), PCATransform(n_components=2)])
    kernel.fit(table(GAPS))
    inner = PCATransform(n_components=2)
    values = inner.fit(ImputeTransform().fit(GAPS).transform(GAPS)).transform(np.nan_to_num(NEW))
    squares = ((values[:, None] - values) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel(table(NEW)), np.exp(-0.1 * squares), rtol=1e-9)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(table(GAPS)), kernel(table(GAPS)))


def test_costs_of_incomplete_tables_are_predicted():
    kernel = with_transforms(RBFKernel(gamma=0.1), [ImputeTransform(), PCATransform(n_components=2)])
    assert kernel.plan(table(GAPS)).seconds > 0
    one = kernel.base
    assert one.plan(table(GAPS)).seconds > 0
    assert one.features.bytes(table(GAPS)) >= 8 * GAPS.size
    assert one.operator.bytes(table(GAPS)) > 0
    assert one.operator.cost(table(GAPS)) > 0


def test_memory_of_principal_components_is_predicted(monkeypatch):
    one = as_sequences(["MKVLAAGIC"], alphabet="protein")
    kernel = TransformedKernel(SpectrumKernel(k=4), transforms=["pca:n_components=4"])
    tracemalloc.start()
    kernel.fit(one)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    for room, refused in ((peak, True), (2 * peak, False)):
        monkeypatch.setattr("seqkern.kernels.feature_transforms.transformed.available_memory", lambda room=room: room)
        if refused:
            with pytest.raises(SequenceError, match=r"160000 features of 1 samples need .* of memory; choose shorter"):
                kernel.fit(one)
        else:
            kernel.fit(one)


def test_missing_values_without_completion_are_refused():
    for kernel in (LinearKernel(), RBFKernel(), with_transforms(LinearKernel(), [PCATransform()])):
        with pytest.raises(SequenceError, match=r"has no value in column 'f\d'.*transforms: \[impute\]"):
            kernel.fit(table(GAPS))(table(GAPS))
    with pytest.raises(SequenceError, match="not a finite number"):
        with_transforms(LinearKernel(), [ImputeTransform()]).fit([[1.0, np.inf], [0.0, 1.0]])


def test_unsuitable_transforms_are_refused_before_any_kernel_is_computed():
    with pytest.raises(ParameterError, match="'pca' of features comes after 'centre'"):
        KernelEntry.parse({"kernel": "linear", "transforms": ["centre", "pca"]})
    with pytest.raises(ParameterError, match="'spectrum' has no missing values"):
        KernelEntry.parse({"kernel": "spectrum", "transforms": ["impute"]})
    with pytest.raises(ParameterError, match="impute stands after another"):
        KernelEntry.parse({"kernel": "linear", "transforms": ["pca", "impute"]})
    with pytest.raises(ParameterError, match="'pca' acts on features, but kernel 'smith_waterman' has no explicit"):
        KernelEntry.parse({"kernel": "smith_waterman", "transforms": ["pca"]})
    entry = KernelEntry.parse({"kernel": "linear", "transforms": ["pca", "kernel_pca", "centre"]})
    assert [one.name for one in entry.transforms] == ["kernel_pca", "centre"]
    assert [one.name for one in feature_transforms(entry.kernel)] == ["pca"]
    assert entry.gives("features") is False  # kernel_pca and centre are of a matrix
    assert KernelEntry.parse({"kernel": "linear", "transforms": ["pca"]}).gives("features")


# ---- no leak ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["csvc", "lp_machine", "quadratic_discriminant", "csvc:slack=squared"])
@pytest.mark.parametrize("steps", [["impute", "pca:n_components=2"], ["impute:method=neighbors", "ica:n_components=2"]])
def test_poisoned_test_rows_change_nothing_that_was_learned(solver, steps):
    """Test rows of huge values, and gaps, leave model and decisions about clean rows as they are."""
    labels = make_labels([str(i) for i in range(1, 41)], np.where(X[:, 0] > np.median(X[:, 0]), "a", "b").tolist())
    train, clean = np.arange(25), np.arange(25, 30)
    entry = KernelEntry.parse({"kernel": "linear", "transforms": steps + (["kernel_pca"] if solver == "csvc" else [])})
    method = Method(entry.kernel, solver, transforms=entry.transforms)
    found = []
    for poison in (1.0, 1e6):
        values = GAPS.copy()
        values[30:] *= poison
        values[30:35, 0] = NAN
        fitted = method.fit(method.data(table(values), labels), train, ahead=np.arange(25, 40))
        found.append((fitted.decide(clean).decisions, fitted.model().decision(table(GAPS[25:30]))))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], found[0][1], rtol=1e-9, atol=1e-12)
