"""Approximations by explicit features: Nyström and random Fourier features, against their definitions."""

import pickle

import numpy as np
import pytest
from naive_profiles import random_profiles
from naive_windows import nystroem

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.formats import residue_windows
from seqkern.formats.profile_sources import ProfileSearch
from seqkern.kernels import NystroemKernel, RandomFourierKernel, build_kernel, kernel_from_state
from seqkern.kernels.feature_transforms import PCATransform
from seqkern.kernels.feature_transforms.transformed import with_transforms
from seqkern.kernels.vectors.approximation import CHUNK_ROWS, centres, draw_waves, inverse_root
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable

ON_VECTORS = (
    "window:gamma=0.08",
    "window:encoding=BLOSUM62,gamma=scale,position_weights=gaussian",
    "window:vector_kernel=polynomial,gamma=0.2,degree=3",
    "window:vector_kernel=linear",
    "pssm_window:gamma=0.02,position_weights=triangle",
    "pssm_window:scaling=both,scale=3,gamma=scale",
    "rbf:gamma=0.05,base=(window:vector_kernel=linear)",
    "rbf:gamma=0.05,base=(pssm_window:vector_kernel=linear + 0.3*window:vector_kernel=linear)",
    "polynomial:degree=2,gamma=0.1,base=(pssm_window:vector_kernel=linear)",
)
ON_UNITS = ("spectrum:k=1,short=zero,zero_diagonal=zero", "window:vector_kernel=polynomial,normalize=true")
TABLES = ("rbf:gamma=0.3", "rbf:gamma=scale", "polynomial:degree=2", "linear", "sigmoid:gamma=0.1,coef0=0")
APPROXIMATE = (
    "nystroem:base=(window:gamma=0.08),n_components=50",
    "nystroem:base=(window:gamma=0.08),n_components=30,landmarks=kmeans,normalize=true",
    "nystroem:base=(spectrum:k=1,short=zero,zero_diagonal=zero),n_components=15",
    "random_fourier:base=(pssm_window:gamma=0.02),n_components=90",
    "random_fourier:base=(window:gamma=0.1),n_components=64,orthogonal=false",
)


def windows(lengths=(30, 1, 60), half=3, seed=1):
    """Return the windows around every residue of random proteins with random PSSMs; some letters are masked."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY*"))
    return residue_windows(random_profiles(["".join(rng.choice(letters, n)) for n in lengths], "protein", seed), half)


def table(n=40, seed=1):
    """Return a table of random numbers."""
    return FeatureTable(np.random.default_rng(seed).standard_normal((n, 6)))


def units(spec):
    """Return training units and others, of the kind that a kernel takes."""
    return (table(), table(9, seed=2)) if spec in TABLES else (windows(), windows((12, 3), seed=2))


@pytest.mark.parametrize(
    "spec",
    [*ON_VECTORS, *TABLES[:3], "property:form=covariance,lag=2,normalize=false", "property:scales=[charge]"],
)
def test_widths_are_those_of_the_vectors(spec):
    train, new = units(spec)
    kernel = build_kernel(spec).fit(train)
    form = kernel._vector_form()
    assert form.width(new) == form.vectors(new).width


def test_the_width_of_transformed_features_is_known_after_the_fit():
    kernel = with_transforms(build_kernel("linear"), [PCATransform(n_components=3)])
    kernel.normalize = False
    assert kernel._vector_form().width(table()) > 0
    assert kernel.fit(table())._vector_form().width(table()) == 3


@pytest.mark.parametrize("spec", ["nystroem:n_components=3", "random_fourier:n_components=4"])
def test_plans_search_for_no_profiles(spec, monkeypatch):
    X = windows((4,)).replace(tracks={})
    name, _, options = spec.partition(":")
    kernel = build_kernel(f"{name}:base=(pssm_window:search=training,iterations=1),{options}")
    before = kernel.plan(X)
    K = kernel.fit(X)(X)
    assert np.isfinite(K).all()
    monkeypatch.setattr(ProfileSearch, "add_to", None)
    # once fitted, the base kernel knows what it searches in, and the plan counts the searches
    searches = kernel.bases[0].search_seconds(X)
    assert kernel.plan(X).seconds == pytest.approx(before.seconds + searches)
    assert searches > 0


def test_plans_of_nystroem_count_the_landmarks():
    """A spectrum kernel's values with them, and the inverse root of their matrix."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice([*"ACGT"], 60)) for _ in range(600)]
    base = build_kernel("spectrum:k=5")
    few, many = (NystroemKernel(base, n_components=m) for m in (30, 500))
    assert few.plan(X).seconds > base.plan(X, X[:30]).seconds
    assert many.plan(X).seconds > base.plan(X, X[:500]).seconds + 500**3 * 1e-10
    assert NystroemKernel(base, n_components=10**6).plan(X) == NystroemKernel(base, n_components=600).plan(X)


# ---- Nyström ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*ON_VECTORS, *ON_UNITS, *TABLES])
def test_nystroem_equals_its_definition(spec):
    train, new = units(spec)
    kernel = NystroemKernel(build_kernel(spec), n_components=25, seed=3, tolerance=1e-4).fit(train)
    base = build_kernel(spec).fit(train)
    Z = train.take(np.sort(np.random.default_rng(3).choice(len(train), 25, replace=False)))
    wanted = nystroem(base(new, Z), base(Z, train), base(Z), 1e-4)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(kernel(new, train), wanted, atol=2e-5 * scale)
    assert kernel.learned()["landmarks"] == 25


@pytest.mark.parametrize("spec", [*ON_VECTORS, *ON_UNITS, *TABLES[:4]])
def test_with_all_units_as_landmarks_it_is_the_kernel(spec):
    train, new = units(spec)
    kernel = NystroemKernel(build_kernel(spec), n_components=1000, tolerance=1e-7).fit(train)
    wanted = build_kernel(spec).fit(train)(new, train)
    np.testing.assert_allclose(kernel(new, train), wanted, atol=2e-4 * np.abs(wanted).max())


def test_numbers_far_from_zero_lose_nothing():
    values = np.round(table().values, 2)
    near, far = FeatureTable(values), FeatureTable(values + 1000)
    kernel = NystroemKernel(build_kernel("rbf:gamma=0.3"))
    np.testing.assert_allclose(kernel.fit(far)(far), kernel.fit(near)(near), atol=1e-3)


def test_kernels_of_vectors_are_known_as_such():
    for spec in (*ON_VECTORS, *TABLES[:4]):
        assert isinstance(NystroemKernel(build_kernel(spec)).fit(units(spec)[0]).landmarks_, np.ndarray)
    for spec in (*ON_UNITS, TABLES[4]):
        assert not isinstance(NystroemKernel(build_kernel(spec)).fit(units(spec)[0]).landmarks_, np.ndarray)


@pytest.mark.parametrize(("width", "tolerance"), [(200, 1e-6), (5, 1e-6), (200, 0.02)])
def test_the_map_is_a_rotation_of_the_inverse_root_with_zeros_above_its_diagonal(width, tolerance):
    points = np.random.default_rng(1).normal(size=(150, width)) / np.sqrt(width)
    K = np.exp(-((points[:, None] - points) ** 2).sum(-1))
    values, vectors = np.linalg.eigh(K)
    kept = values > tolerance * values[-1]
    expected = vectors[:, kept] / values[kept] @ vectors[:, kept].T
    root = inverse_root(K, tolerance)
    assert root.shape == (150, kept.sum())
    assert not np.triu(root, 1).any()
    np.testing.assert_allclose(K @ root @ root.T @ K, K @ expected @ K, atol=3e-6 * np.abs(K).sum(axis=0).max())


def test_equal_landmarks_are_one_component():
    X = windows((10,)).take([2, 5, 2, 5, 5, 2])
    kernel = NystroemKernel(build_kernel("window")).fit(X)
    assert kernel.learned() == {"landmarks": 6, "components": 2}
    np.testing.assert_allclose(kernel(X), build_kernel("window")(X), atol=1e-6)


def test_another_seed_draws_other_landmarks():
    X = windows()
    drawn = [NystroemKernel(build_kernel("window"), n_components=9, seed=seed).fit(X).landmarks_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_centres_of_records_without_letters(kernel):
    X = SequenceSet.from_strings(["", "", ""], "protein")
    base = build_kernel(f"window:gamma=0.1,vector_kernel={kernel}")
    fitted = NystroemKernel(base, n_components=2, landmarks="kmeans").fit(X)
    np.testing.assert_allclose(fitted(X), base(X), atol=1e-6)


def test_centres_are_means_of_clusters():
    rng = np.random.default_rng(1)
    middles = 20 * rng.standard_normal((4, 5))
    clusters = [middle + rng.standard_normal((30, 5)) for middle in middles]
    found = centres(np.concatenate(clusters).astype(np.float32), 4, seed=1)
    wanted = np.array([cluster.mean(axis=0) for cluster in clusters])
    order = [np.argmin(((found - mean) ** 2).sum(axis=1)) for mean in wanted]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(found[order], wanted, atol=0.3)  # of random batches


def test_centres_approximate_better_than_random_landmarks():
    X = windows((200,), half=1)
    K = build_kernel("window")(X)
    errors = []
    for landmarks in ("random", "kmeans"):
        made = [NystroemKernel(build_kernel("window"), n_components=20, landmarks=landmarks, seed=s) for s in range(5)]
        errors.append(np.mean([np.linalg.norm(kernel.fit(X)(X) - K) for kernel in made]))
    assert errors[1] < errors[0]


# ---- random Fourier features -----------------------------------------------------------------------------


def test_waves_are_those_of_the_definition():
    X = windows()
    kernel = RandomFourierKernel(build_kernel("window:gamma=0.2"), n_components=10, seed=4)
    linear = build_kernel("window:vector_kernel=linear").features(X)
    angles = linear @ draw_waves(linear.shape[1], 0.2, 10, True, 4).astype(np.float64)
    wanted = np.hstack((np.cos(angles), np.sin(angles))) / np.sqrt(5)
    np.testing.assert_allclose(kernel.features(X), wanted, atol=1e-5)
    np.testing.assert_allclose(kernel.diagonal(X), 1, atol=1e-6)


def test_a_few_orthogonal_waves_of_long_vectors_need_no_square_matrix():
    waves = draw_waves(200_000, 0.5, 6, True, 1).astype(np.float64)  # its square would have 320 GB
    products = waves.T @ waves
    np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-2)
    np.testing.assert_allclose(np.diagonal(products), 200_000, rtol=0.02)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_waves_have_the_distribution_of_the_kernel(orthogonal):
    waves = draw_waves(12, 0.5, 40_000, orthogonal, 1)
    assert waves.shape == (12, 20_000)
    np.testing.assert_allclose(np.cov(waves), np.eye(12), atol=0.05)
    np.testing.assert_allclose((waves.astype(np.float64) ** 4).mean(), 3, atol=0.1)  # as of normal numbers
    if orthogonal:
        square = waves[:, :12].astype(np.float64)
        products = square.T @ square
        np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-5)


def test_the_mean_over_seeds_is_the_kernel_and_orthogonal_waves_err_less():
    X = windows((40,))
    K = build_kernel("window:gamma=0.02")(X)
    errors = []
    for orthogonal in (False, True):
        made = [
            RandomFourierKernel(build_kernel("window:gamma=0.02"), n_components=300, orthogonal=orthogonal, seed=s)(X)
            for s in range(40)
        ]
        np.testing.assert_allclose(np.mean(made, axis=0), K, atol=6 / np.sqrt(300 * 40))
        errors.append(np.std(made, axis=0).mean())
    assert errors[0] < 1 / np.sqrt(300)
    assert errors[1] < errors[0]


# ---- features ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", APPROXIMATE)
def test_features_of_a_unit_do_not_depend_on_others_nor_on_threads(spec):
    X = windows((700, 340))
    kernel = build_kernel(spec).fit(X)
    assert len(X) > 2 * CHUNK_ROWS
    whole = kernel.features.blocks(X).block(0, len(X))
    assert whole.dtype == np.float32
    rng = np.random.default_rng(5)
    for n_threads in (1, 3):
        kernel.set_params(n_threads=n_threads)
        for rows in (rng.permutation(len(X)), rng.permutation(len(X))[:77], [1030]):
            one_by_one = kernel.features.blocks(X).take(rows)
            np.testing.assert_array_equal(one_by_one.block(0, len(rows)), whole[rows])
            again = kernel.features.blocks(X.take(rows)).block(0, len(rows))
            np.testing.assert_array_equal(again, whole[rows])
    pieces = [block for _, block in kernel.features.blocks(X).blocks(100)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    np.testing.assert_allclose(kernel.features.normalised(X.take([3, 0])), whole[[3, 0]], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("spec", APPROXIMATE)
def test_features_times_weights(spec):
    X = windows((500, 40))
    kernel = build_kernel(spec).fit(X)
    blocks = kernel.features.blocks(X)
    weights = np.random.default_rng(1).standard_normal((blocks.shape[1], 3))
    found = blocks.times(weights)
    wanted = blocks.block(0, len(X)).astype(np.float64) @ weights
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    rows = [510, 3, 77]
    np.testing.assert_array_equal(blocks.take(rows).times(weights), found[rows])


@pytest.mark.parametrize("spec", [*APPROXIMATE, f"spectrum:k=1,short=zero,zero_diagonal=zero+({APPROXIMATE[2]})"])
def test_products_with_the_matrix_need_only_the_features(spec):
    X = windows((500, 40))
    kernel = build_kernel(spec).fit(X)
    operator, coefficients = kernel.operator(X), np.random.default_rng(1).standard_normal(len(X))
    K = kernel(X)
    np.testing.assert_allclose(operator.times(coefficients), K @ coefficients, atol=1e-5 * np.abs(K).sum(axis=0).max())
    np.testing.assert_allclose(operator.squares, np.diagonal(K), rtol=1e-5)
    rows, sparse = [510, 3, 77], np.where(np.arange(len(X)) % 3, 0.0, coefficients)
    weights = operator.take(np.arange(100)).weights(sparse[:100])
    found = operator.take(rows).dots(weights)
    np.testing.assert_allclose(found, K[rows, :100] @ sparse[:100], atol=1e-5 * np.abs(K).sum(axis=0).max())
    np.testing.assert_array_equal(operator.dots(weights, rows=np.array(rows)), found)


@pytest.mark.parametrize("spec", APPROXIMATE)
def test_the_predicted_size_is_that_of_the_features(spec):
    X = windows((2000, 40))
    kernel = build_kernel(spec)
    assert kernel.operator.bytes(X) == kernel.features.bytes(X)
    added = kernel.features.bytes(X) - kernel.features.bytes(X.take(slice(0, 1040)))
    features = kernel.fit(X).features.blocks(X)
    assert 4 * 1000 * features.shape[1] <= added <= 1.3 * 4 * 1000 * kernel.n_components
    assert kernel.features.making(X) < kernel.plan(X).seconds


@pytest.mark.parametrize("spec", APPROXIMATE)
def test_a_stored_kernel_gives_the_same_bits(spec, tmp_path):
    X = windows()
    kernel = build_kernel(spec).fit(X)
    wanted = kernel.features(X)
    save_archive(tmp_path / "kernel.npz", *kernel.state())
    for again in (kernel_from_state(*load_archive(tmp_path / "kernel.npz")), pickle.loads(pickle.dumps(kernel))):
        np.testing.assert_array_equal(again.features(X), wanted)


def test_landmarks_are_kept_without_the_units_they_were_drawn_from():
    X = windows((400,))
    kernel = build_kernel("nystroem:base=(spectrum:k=1,short=zero,zero_diagonal=zero),n_components=3").fit(X)
    _, arrays = kernel.state()
    assert sum(array.size for array in arrays.values() if array.ndim < 3) < 100
    assert not any("track" in name for name in arrays)
    profiles = build_kernel("nystroem:base=(pssm_window:normalize=true,vector_kernel=polynomial),n_components=3").fit(X)
    assert [array.shape for name, array in profiles.state()[1].items() if "track" in name] == [(21, 20)]


# ---- mistakes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("nystroem:base=(window),n_components=0", "n_components"),
        ("nystroem:base=(window),landmarks=grid", "landmarks"),
        ("nystroem:base=(window),tolerance=1", "tolerance"),
        ("nystroem:base=(window),seed=-1", "seed"),
        (
            "nystroem:base=(spectrum:k=2),landmarks=kmeans",
            "not dense vectors: no cluster centres; choose landmarks=random",
        ),
        ("nystroem:base=(precomputed)", "precomputed similarities have no landmarks"),
        ("random_fourier:base=(window),n_components=7", "choose 8"),
        ("random_fourier:base=(window),seed=-1", "seed"),
        ("random_fourier:base=(window:vector_kernel=linear)", "not a radial basis function"),
        ("random_fourier:base=(rbf:base=(spectrum:k=2))", "not a radial basis function"),
    ],
)
def test_wrong_parameters(text, match):
    with pytest.raises(ParameterError, match=match):
        build_kernel(text)


@pytest.mark.parametrize("spec", ["nystroem:base=(window)", "random_fourier:base=(window)"])
def test_windows_of_another_length(spec):
    X = windows()
    kernel = build_kernel(spec).fit(X)
    with pytest.raises(SequenceError, match=r"record '1:1': has 105 numbers, .* 147; trim all windows"):
        kernel(windows(half=2), X)


def test_nothing_to_draw_from():
    with pytest.raises(SequenceError, match="no samples to draw landmarks from"):
        build_kernel("nystroem:base=(window)").fit(windows().take([]))


@pytest.mark.parametrize(("base", "most"), [("spectrum:k=3", 1e-6), ("smith_waterman:matrix=NUC.4.4", 1e-6)])
def test_nystroem_is_the_base_between_landmarks_up_to_rounding(base, most):
    X = ["".join(text) for text in np.random.default_rng(3).choice(list("ACGT"), (40, 20))]
    K = build_kernel(base)(X)
    found = build_kernel(f"nystroem:base=({base})").fit(X)(X)
    np.testing.assert_allclose(found, K, atol=most * np.abs(K).max())


def test_nystroem_of_an_indefinite_base_is_its_positive_part_between_landmarks():
    X = np.random.default_rng(3).normal(size=(30, 4))
    K = build_kernel("sigmoid:gamma=1")(X)
    found = build_kernel("nystroem:base=(sigmoid:gamma=1)").fit(X)(X)
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose(found, vectors * np.maximum(values, 0) @ vectors.T, atol=1e-4 * values[-1])
    assert np.abs(found - K).max() >= -values[0] / len(K) > 0.01
