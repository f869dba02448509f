"""Gram transforms against their definitions; new rows like training rows; states and restrictions."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import GramError, ParameterError, SequenceError
from seqkern.core.threads import given_threads
from seqkern.gram.transforms import (
    TRANSFORMS,
    CentreGram,
    EmpiricalMapGram,
    NormaliseGram,
    RepairGram,
    build_transform,
    repair_transforms,
    transform_from_state,
)
from seqkern.kernels import PairwiseKernel, SigmoidKernel

SPECS = [
    "centre",
    "normalise",
    "repair",
    "repair:method=flip",
    "empirical_map",
    "empirical_map:normalize=false",
    "empirical_map:vector_kernel=rbf",
    "kernel_pca:n_components=5",
    "repair:method=shift",
    "graph:neighbours=3",
    "graph:neighbours=3,method=random_walk,weighted=false",
]
N_TRAIN = 20


@pytest.fixture(params=SPECS)
def transform(request):
    return build_transform(request.param)


@pytest.fixture(name="K")
def _indefinite():
    """A symmetric matrix of 27 units with negative eigenvalues and a positive diagonal."""
    A = np.random.default_rng(5).standard_normal((27, 27))
    K = A + A.T
    np.fill_diagonal(K, np.arange(27) / 10 + 1)
    return K


def split(K):
    """Return the training square, its diagonal, the rows of new units, and theirs."""
    diagonal = np.diagonal(K).copy()
    return K[:N_TRAIN, :N_TRAIN], diagonal[:N_TRAIN], K[N_TRAIN:, :N_TRAIN], diagonal[N_TRAIN:]


# ---- what all of them do ------------------------------------------------------------------------


@pytest.mark.parametrize("transform", SPECS[:-3], indirect=True)
def test_training_rows_as_new_rows_give_the_training_matrix(transform, K):
    # Not so under shift: it moves a unit against itself only, and no new row holds that. A new row of a graph is the
    # mean of its neighbours' rows.
    square, diagonal, _, _ = split(K)
    K_train, train_diagonal = transform.fit(square, diagonal).transform_train()
    K_new, new_diagonal = transform.transform(square, diagonal)
    np.testing.assert_allclose(K_new, K_train, atol=1e-12)
    np.testing.assert_allclose(new_diagonal, train_diagonal, atol=1e-12)


def test_training_matrix_is_symmetric_to_the_bit_and_carries_its_diagonal(transform, K):
    K_train, diagonal = transform.fit(*split(K)[:2]).transform_train()
    np.testing.assert_array_equal(K_train, K_train.T)
    np.testing.assert_allclose(np.diagonal(K_train), diagonal, atol=1e-12)


def test_a_row_has_the_same_bits_in_every_batch(transform, K):
    square, diagonal, rows, new_diagonal = split(K)
    transform.fit(square, diagonal)
    whole, whole_diagonal = transform.transform(rows, new_diagonal)
    for i in range(len(rows)):
        one, one_diagonal = transform.transform(rows[i : i + 1], new_diagonal[i : i + 1])
        np.testing.assert_array_equal(one[0], whole[i])
        assert one_diagonal[0] == whole_diagonal[i]
    turned, _ = transform.transform(np.asfortranarray(rows), new_diagonal)
    np.testing.assert_array_equal(turned, whole)


def test_threads_change_no_bit(transform):
    A = np.random.default_rng(7).standard_normal((300, 300))
    square = A + A.T + 100 * np.eye(300)
    found = []
    for n_threads in (1, 3):
        with given_threads(n_threads):
            transform.fit(square)
            found.append([*transform.transform_train(), *transform.transform(A[:200] + 1, np.full(200, 9.0))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_is_changed_in_place_and_new_rows_teach_nothing(transform, K):
    square, diagonal, rows, new_diagonal = (part.copy() for part in split(K))
    transform.fit(square, diagonal)
    before = copy.deepcopy(transform.state())
    transform.transform(rows, new_diagonal)
    transform.transform_train()
    for given_, original in zip((square, diagonal, rows, new_diagonal), split(K), strict=True):
        np.testing.assert_array_equal(given_, original)
    assert transform.state()[0] == before[0]
    for name, array in transform.state()[1].items():
        np.testing.assert_array_equal(array, before[1][name])


def test_state_gives_the_same_numbers(transform, K, tmp_path):
    square, diagonal, rows, new_diagonal = split(K)
    transform.fit(square, diagonal)
    save_archive(tmp_path / "transform.npz", *transform.state())
    again = transform_from_state(*load_archive(tmp_path / "transform.npz"))
    assert type(again) is type(transform)
    assert again.get_params() == transform.get_params()
    for got, expected in zip(again.transform(rows, new_diagonal), transform.transform(rows, new_diagonal), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_restricted_to_what_it_requires_it_gives_the_same_columns(transform, K):
    square, diagonal, rows, new_diagonal = split(K)
    transform.fit(square, diagonal)
    support = np.array([11, 2, 7])
    kept = transform.required_rows(support)
    assert set(support) <= set(kept)
    small = transform.restrict(kept)
    places = [list(kept).index(j) for j in support]
    got, got_diagonal = small.transform(rows[:, kept], new_diagonal)
    expected, expected_diagonal = transform.transform(rows, new_diagonal)
    np.testing.assert_allclose(got[:, places], expected[:, support], atol=1e-12)
    np.testing.assert_allclose(got_diagonal, expected_diagonal, atol=1e-12)
    again = transform_from_state(*small.state())
    np.testing.assert_array_equal(again.transform(rows[:, kept], new_diagonal)[0], got)


def test_only_what_needs_all_columns_keeps_them(K):
    square = split(K)[0]
    support = np.array([3, 4])
    for spec in SPECS:
        transform = build_transform(spec).fit(square)
        kept = 2 if spec in ("normalise", "repair:method=shift") else 20
        assert len(transform.required_rows(support)) == kept
        if kept == 20:
            with pytest.raises(GramError, match="needs all 20 training samples, got 2"):
                transform.restrict(support)


def test_wrong_matrices_are_refused(transform, K):
    square, _, rows, new_diagonal = split(K)
    with pytest.raises(GramError, match="not square"):
        transform.fit(rows)
    with pytest.raises(GramError, match="not symmetric"):
        transform.fit(np.triu(square))
    for value in (np.nan, np.inf):
        with pytest.raises(GramError, match="not a finite number"):
            transform.fit(np.where(np.eye(N_TRAIN) > 0, value, square))
    transform.fit(square)
    with pytest.raises(GramError, match="needs 20 columns, got 19"):
        transform.transform(rows[:, 1:], new_diagonal)
    for value in (np.nan, np.inf, -np.inf):
        wrong = rows.copy()
        wrong[1, 3] = value
        with pytest.raises(GramError, match="not a finite number") as error:
            transform.transform(wrong, new_diagonal)
        assert error.value.record == 2


# ---- centring -----------------------------------------------------------------------------------


def test_centring_moves_the_training_mean_to_the_origin():
    rng = np.random.default_rng(2)
    features = rng.standard_normal((15, 4)) + 5
    train, new = features[:10], features[10:]
    transform = CentreGram().fit(train @ train.T)
    centred, moved = train - train.mean(axis=0), new - train.mean(axis=0)
    np.testing.assert_allclose(transform.transform_train()[0], centred @ centred.T, atol=1e-11)
    K, diagonal = transform.transform(new @ train.T, (new**2).sum(axis=1))
    np.testing.assert_allclose(K, moved @ centred.T, atol=1e-11)
    np.testing.assert_allclose(diagonal, (moved**2).sum(axis=1), atol=1e-11)
    assert transform.transform(new @ train.T)[1] is None


# ---- normalising --------------------------------------------------------------------------------


def test_normalising_divides_by_both_lengths(K):
    square, diagonal, rows, new_diagonal = split(K)
    transform = NormaliseGram().fit(square)
    expected = rows / np.sqrt(np.outer(new_diagonal, diagonal))
    K_new, ones = transform.transform(rows, new_diagonal)
    np.testing.assert_allclose(K_new, expected, rtol=1e-14)
    np.testing.assert_array_equal(ones, 1.0)
    np.testing.assert_array_equal(np.diagonal(transform.transform_train()[0]), 1.0)
    with pytest.raises(GramError, match="give the diagonal"):
        transform.transform(rows)


def test_normalising_a_zero_follows_the_policy():
    square = np.array([[4.0, 0, 1], [0, 0, 0], [1, 0, -1]])
    with pytest.raises(GramError, match=r"record '2': K.* cannot be normalised"):
        NormaliseGram().fit(square)
    transform = NormaliseGram(zero_diagonal="zero").fit(square)
    K, diagonal = transform.transform_train()
    np.testing.assert_array_equal(K, np.diag([1.0, 0, 0]))
    np.testing.assert_array_equal(diagonal, [1, 0, 0])


# ---- repairing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("clip", lambda values: np.maximum(values, 0)),
        ("flip", np.abs),
        ("shift", lambda values: values - min(values.min(), 0)),
    ],
)
def test_repair_changes_the_eigenvalues(method, change, K):
    square = split(K)[0]
    values, vectors = np.linalg.eigh(square)
    assert (values < 0).sum() > 5
    repaired, _ = RepairGram(method=method).fit(square).transform_train()
    np.testing.assert_allclose(repaired, (vectors * change(values)) @ vectors.T, atol=1e-11)
    assert np.linalg.eigvalsh(repaired)[0] > -1e-11


@pytest.mark.parametrize(("method", "factor"), [("clip", 0.0), ("flip", -1.0)])
def test_new_rows_follow_by_the_same_linear_map(method, factor, K):
    square, diagonal, rows, new_diagonal = split(K)
    values, vectors = np.linalg.eigh(square)
    P = (vectors * np.where(values >= 0, 1.0, factor)) @ vectors.T
    transform = RepairGram(method=method).fit(square, diagonal)
    np.testing.assert_allclose(transform.transform(rows, new_diagonal)[0], rows @ P, atol=1e-11)


def test_shift_leaves_new_rows_but_not_their_diagonal(K):
    square, diagonal, rows, new_diagonal = split(K)
    transform = RepairGram(method="shift").fit(square, diagonal)
    K_new, shifted = transform.transform(rows, new_diagonal)
    np.testing.assert_array_equal(K_new, rows)
    np.testing.assert_allclose(shifted - new_diagonal, -np.linalg.eigvalsh(square)[0])


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_a_semidefinite_matrix_stays_to_the_bit(method):
    features = np.random.default_rng(0).standard_normal((20, 3))
    K = features @ features.T
    K = (K + K.T) / 2
    transform = RepairGram(method=method).fit(K)
    np.testing.assert_array_equal(transform.transform_train()[0], K)
    np.testing.assert_array_equal(transform.transform(K[:4])[0], K[:4])
    np.testing.assert_array_equal(transform.required_rows([3]), [3])


@given(arrays(np.float64, (6, 6), elements=st.floats(-10, 10)), st.sampled_from(["clip", "flip", "shift"]))
def test_what_was_repaired_needs_no_repair(A, method):
    K, _ = RepairGram(method=method).fit(A + A.T).transform_train()
    scale = max(np.abs(K).max(), 1.0)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * scale


# ---- the empirical kernel map -------------------------------------------------------------------


def test_an_error_between_vectors_needs_no_record(K, monkeypatch):
    transform = EmpiricalMapGram().fit(split(K)[0])

    def prepare(*_, **__):
        raise SequenceError("no good")

    monkeypatch.setattr(transform.between_, "prepare", prepare)
    with pytest.raises(GramError, match="no good") as error:
        transform.transform_train()
    assert error.value.record is None


def unit_rows(values):
    return values / np.linalg.norm(values, axis=1, keepdims=True)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_map_is_the_product_of_rows(normalize, K):
    square, diagonal, rows, _ = split(K)
    transform = EmpiricalMapGram(normalize=normalize).fit(square, diagonal)
    train, new = (unit_rows(part) if normalize else part for part in (square, rows))
    np.testing.assert_allclose(transform.transform_train()[0], train @ train.T, atol=1e-11)
    K_new, new_diagonal = transform.transform(rows)
    np.testing.assert_allclose(K_new, new @ train.T, atol=1e-11)
    np.testing.assert_allclose(new_diagonal, (new**2).sum(axis=1), atol=1e-11)
    eigenvalues = np.linalg.eigvalsh(transform.transform_train()[0])
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]


@pytest.mark.parametrize("gamma", [0.3, "scale"])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_map_with_a_radial_basis_function(normalize, gamma, K):
    square, _, rows, _ = split(K)
    transform = EmpiricalMapGram(vector_kernel="rbf", gamma=gamma, normalize=normalize).fit(square)
    train, new = (unit_rows(part) if normalize else part for part in (square, rows))
    gamma = 1 / train.var(axis=0).sum() if gamma == "scale" else gamma
    squared = ((new[:, None] - train[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(transform.transform(rows)[0], np.exp(-gamma * squared), rtol=1e-10)


@pytest.mark.parametrize(
    "options", [{}, {"normalize": False}, {"vector_kernel": "rbf"}, {"vector_kernel": "rbf", "gamma": 0.1}], ids=str
)
def test_the_map_of_a_base_matrix_is_the_pairwise_kernel(options):
    base = SigmoidKernel(gamma=2.0, coef0=-2.0)
    X = np.random.default_rng(1).standard_normal((27, 3))
    kernel = PairwiseKernel(base, **options).fit(X[:N_TRAIN])
    transform = EmpiricalMapGram(**options).fit(base(X[:N_TRAIN]))
    np.testing.assert_array_equal(transform.transform_train()[0], kernel(X[:N_TRAIN]))
    K_new, diagonal = transform.transform(base(X[N_TRAIN:], X[:N_TRAIN]))
    np.testing.assert_array_equal(K_new, kernel(X[N_TRAIN:], X[:N_TRAIN]))
    np.testing.assert_array_equal(diagonal, kernel.diagonal(X[N_TRAIN:]))


@pytest.mark.parametrize("spec", ["empirical_map", "empirical_map:normalize=false"])
def test_a_sum_of_the_maps_values_is_pulled_back(spec, K):
    square, _, rows, _ = split(K)
    transform = build_transform(spec).fit(square)
    coefficients = np.random.default_rng(0).standard_normal(N_TRAIN)
    pulled, constant = transform.pull_back(coefficients)
    root = np.linalg.norm(rows, axis=1) if transform.divides else 1.0
    np.testing.assert_allclose(transform.transform(rows)[0] @ coefficients, rows @ pulled / root + constant, atol=1e-11)


def test_a_sum_of_radial_functions_cannot_be_pulled_back(K):
    transform = EmpiricalMapGram(vector_kernel="rbf").fit(split(K)[0])
    with pytest.raises(ParameterError, match="vector_kernel=rbf"):
        transform.pull_back(np.ones(N_TRAIN))


def test_a_unit_like_no_training_unit_follows_the_policy():
    square = np.eye(3)
    with pytest.raises(GramError, match=r"record '2': .* zero_diagonal=zero"):
        EmpiricalMapGram().fit(square).transform([[1.0, 0, 0], [0, 0, 0]])
    transform = EmpiricalMapGram(zero_diagonal="zero").fit(square)
    np.testing.assert_array_equal(transform.transform([[2.0, 0, 0], [0, 0, 0]])[0], [[1, 0, 0], [0, 0, 0]])


# ---- by name ------------------------------------------------------------------------------------


def test_built_from_text_config_or_itself():
    names = ["centre", "empirical_map", "graph", "kernel_pca", "normalise", "repair"]
    assert sorted(TRANSFORMS.classes) == names
    assert build_transform("repair:method=flip").method == "flip"
    assert build_transform({"transform": "repair", "method": "shift"}).method == "shift"
    centre = CentreGram()
    assert build_transform(centre) is centre


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("center", "unknown transform 'center'; did you mean 'centre'"),
        ("repair:methd=clip", "did you mean 'method'"),
        ("repair:method=square", "method='square' is not possible; choose clip or flip or shift"),
        ("normalise:zero_diagonal=never", "zero_diagonal='never'"),
        ({"method": "clip"}, "is not a transform"),
        ("empirical_map:vector_kernel=cubic", "vector_kernel='cubic' is not possible; choose linear or rbf"),
        ("empirical_map:vector_kernel=rbf,gamma=-1", "gamma=-1"),
    ],
)
def test_what_cannot_be_built_is_a_parameter_error(spec, message):
    with pytest.raises(ParameterError) as error:
        build_transform(spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("repair", "specs"),
    [
        (None, []),
        ("none", []),
        ("clip", [{"transform": "repair", "method": "clip"}]),
        ({"method": "shift"}, [{"transform": "repair", "method": "shift"}]),
        ("empirical_map", [{"transform": "empirical_map"}]),
        ("empirical_map:normalize=false", [{"transform": "empirical_map", "normalize": False}]),
        ({"method": "empirical_map", "gamma": 2}, [{"transform": "empirical_map", "gamma": 2}]),
    ],
)
def test_a_repair_is_a_transform(repair, specs):
    assert repair_transforms(repair) == specs


@pytest.mark.parametrize(
    ("repair", "message"),
    [
        ("clap", "repair='clap' is not possible; choose none or clip or flip or shift or empirical_map"),
        (3, "repair=3 is not possible"),
        ({"how": "clip"}, "is not possible"),
        ("clip:normalize=false", "repair 'clip' has no option 'normalize'"),
        ("empirical_map:normalise=false", "did you mean 'normalize'"),
    ],
)
def test_what_is_no_repair_is_a_parameter_error(repair, message):
    with pytest.raises(ParameterError) as error:
        repair_transforms(repair)
    assert message in str(error.value)
