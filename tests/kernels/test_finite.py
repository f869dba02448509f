"""Kernel values beyond the range of numbers: the right matrix, or one line with record, kernel and remedy."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import GramError, ParameterError, SequenceError
from seqkern.gram import compute_gram
from seqkern.gram.transforms import TRANSFORMS, fit_chain
from seqkern.kernels import Kernel, LinearKernel, SpectrumKernel, _blocks
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.tables import FeatureTable, SimilarityTable

X = ["GATTACAGATTACA", "CCGGATTACCGGTT", "ACGTACGTACGTAC"]
V = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0], [2.0, 0.1, 0.3]])
OVERFLOWS = [
    ("spectrum:k=2..3,weights=[1e308,1e308]", "give smaller weights"),
    ("spectrum:k=2..3,weights=[1e308,1e308],normalize=false", "give smaller weights"),
    ("weighted_degree:degree=3,weights=[1e308,1e308,1e308]", "give smaller weights"),
    ("1e308*spectrum:k=2+1e308*spectrum:k=3", "give smaller weights"),
    (
        "polynomial:degree=200,base=(spectrum:k=2,normalize=false)",
        "choose a smaller degree or a smaller gamma, or choose normalize=true",
    ),
]
UNDERFLOWS = [
    ("spectrum:k=2..3,weights=[1e-320,1e-320]", "give larger weights"),
    ("weighted_degree:degree=3,weights=[1e-320,1e-320,1e-320],normalize=false", "give larger weights"),
    ("1e-320*spectrum:k=2+1e-320*spectrum:k=3", "give larger weights"),
    ("polynomial:degree=200,gamma=0.001,coef0=0,base=(spectrum:k=2)", "a larger gamma"),
    ("(0.0001*linear)*(1e-320*linear)", "scale the features"),
]


def data(kernel):
    """Return samples of the kind that a kernel takes."""
    return X if kernel.traits.accepts == "sequences" else V


@pytest.mark.parametrize(("spec", "remedy"), OVERFLOWS)
def test_overflow_names_record_kernel_and_remedy(spec, remedy):
    kernel = build_kernel(spec.replace("k=2..3", "k=2+3"))
    with pytest.raises(
        SequenceError, match=f"^record '.': its kernel with itself is inf: kernel '{kernel.name}' "
    ) as e:
        kernel(data(kernel))
    assert remedy in str(e.value)


@pytest.mark.parametrize(("spec", "remedy"), UNDERFLOWS)
def test_underflow_names_record_kernel_and_remedy(spec, remedy):
    kernel = build_kernel(spec.replace("k=2..3", "k=2+3"))
    with pytest.raises(SequenceError, match=r"^record '1': its kernel with itself is .* underflows") as e:
        kernel(data(kernel))
    assert remedy in str(e.value)


@pytest.mark.parametrize("scale", [1e155, 1e200, 1e300, 1e-155, 1e-162, 1e-200, 1e-300])
@pytest.mark.parametrize(
    "spec",
    ["spectrum:k=2+3,weights=[{0},{0}]", "weighted_degree:degree=2,weights=[{0},{0}]", "{0}*spectrum:k=2+0*oligo"],
)
def test_normalised_values_do_not_depend_on_the_size_of_weights(spec, scale):
    """The product of two diagonals overflows or vanishes here, the quotient does not."""
    near, far = (build_kernel(spec.format(weight)).set_params(normalize=True) for weight in (1.0, scale))
    expected = near(X)
    np.testing.assert_allclose(far(X), expected, rtol=1e-14)
    np.testing.assert_allclose(far(X[:2], X[1:]), expected[:2, 1:], rtol=1e-14)
    assert (np.diagonal(far(X)) == 1).all()


@pytest.mark.parametrize("size", [1e155, 1e300, 1e-170, 1e-300])
@pytest.mark.parametrize("spec", ["linear", "linear:normalize=true", "rbf:gamma=1", "polynomial:coef0=0", "sigmoid"])
def test_features_beyond_squares_are_refused(spec, size):
    with pytest.raises(SequenceError, match=r"record '1': its kernel with itself is .*flows; scale the features"):
        build_kernel(spec)(V * size)


def test_features_beyond_squares_are_refused_without_a_matrix():
    for size in (1e200, 1e-200):
        for take in (LinearKernel().implicit, LinearKernel().operator, LinearKernel().features.blocks):
            with pytest.raises(SequenceError, match="scale the features"):
                take(V * size)


def test_vectors_of_zeros_and_narrow_kernels_are_values_like_others():
    assert LinearKernel()(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]
    assert build_kernel("rbf:gamma=1e300")(V).tolist() == np.eye(3).tolist()


class Holes(Kernel):
    """The value of one pair is not a number."""

    odd = (1, 2)
    value = np.nan

    def _prepare(self, X, like):
        return X

    def _block(self, rows, cols, out):
        out[...] = 1.0
        i, j = (np.flatnonzero(part.values[:, 0] == place) for part, place in zip((rows, cols), self.odd, strict=True))
        out[np.ix_(i, j)] = self.value

    traits = Traits(accepts="features")


class Numbered:
    """A payload: the numbers of some records."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def rows(self, start, stop):
        return Numbered(self.values[start:stop])

    def diagonal(self):
        return np.ones(len(self))


@pytest.fixture
def holes(monkeypatch):
    monkeypatch.setattr(Holes, "_prepare", lambda self, X, like: Numbered(X.values))
    return Holes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("pair", [(1, 2), (3, 47), (20, 21), (31, 33), (0, 49)])
@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (1e39, "inf")])
def test_one_bad_pair_is_found_wherever_it_is(holes, dtype, pair, value, text):
    holes.odd, holes.value = pair, value
    table = np.arange(50.0)[:, None]
    if value == 1e39 and dtype == "float64":
        assert holes(table).max() == 1e39
        return
    with pytest.raises(SequenceError) as caught:
        holes(table, dtype=dtype, n_threads=2)
    first, second = (str(place + 1) for place in pair)
    fault = "overflows or is undefined;" if text == "nan" else "overflows;"
    assert f"record {first!r}: its kernel with {second} is {text}: kernel 'Holes' {fault}" in str(caught.value)
    assert ("dtype=float64" in str(caught.value)) == (dtype == "float32" and value == 1e39)
    with pytest.raises(SequenceError, match=f"record {first!r}: its kernel with {pair[1]} "):
        holes(table, table[1:], dtype=dtype)
    with pytest.raises(SequenceError, match=f"record {first!r}: its kernel with {second} "):
        compute_gram(holes, table, dtype=dtype)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 17, 64])
def test_the_largest_value_as_numpy_finds_it(n):
    rng = np.random.default_rng(n)
    block = rng.normal(size=(3, n)) * 10.0 ** rng.integers(-300, 300, (3, n))
    assert _blocks.largest(block) == np.abs(block).max()
    for odd in (np.inf, -np.inf):
        block[1, n // 2] = odd
        assert _blocks.largest(block) == np.inf
    block[2, 0] = np.nan
    assert np.isnan(_blocks.largest(block))
    assert _blocks.largest(block[:0]) == 0


def test_stepwise_normalisation_has_the_bits_of_the_direct_one():
    rng = np.random.default_rng(0)
    rows, cols = 10.0 ** rng.uniform(-20, 20, 12), 10.0 ** rng.uniform(-20, 20, 30)
    block = rng.normal(size=(12, 30)) * np.sqrt(np.outer(rows, cols))
    direct, stepwise = block.copy(), np.hstack([block, np.ones((12, 1))])
    _blocks.normalise(direct, rows, cols)
    assert not _blocks.far_diagonals(rows, cols)
    assert _blocks.far_diagonals(rows, np.append(cols, 1e300))
    largest = _blocks.normalise(stepwise, rows, np.append(cols, 1e300))
    np.testing.assert_array_equal(stepwise[:, :-1], direct)
    assert largest == np.abs(stepwise).max()


def test_gram_on_the_command_line_ends_in_one_line(tmp_path, capsys):
    fasta, out = tmp_path / "my.fa", tmp_path / "gram.npy"
    fasta.write_text("".join(f">d{i}\n{text}\n" for i, text in enumerate(X)))
    assert main(["gram", str(fasta), "--kernel", "spectrum:k=2,weights=[1e308],normalize=false", "-o", str(out)]) != 0
    assert "record 'd0': its kernel with itself is inf: kernel 'spectrum' overflows" in capsys.readouterr().err
    assert not out.exists()


def test_the_matrix_of_moderate_weights_is_unchanged():
    kernel = SpectrumKernel([2, 3], weights=[2.0, 3.0], normalize=False)
    plain = [SpectrumKernel(k, normalize=False)(X) for k in (2, 3)]
    np.testing.assert_array_equal(kernel(X), 2 * plain[0] + 3 * plain[1])


@pytest.mark.parametrize("base", ["linear", "polynomial:degree=2,coef0=0", "rbf:gamma=1"])
@pytest.mark.parametrize("landmarks", ["random", "kmeans"])
@pytest.mark.parametrize("size", [1e-100, 1e-25, 1e25, 1e100])
def test_nystroem_beyond_single_precision_is_one_line_or_right(base, landmarks, size):
    kernel = build_kernel(f"nystroem:base=({base}),landmarks={landmarks}")
    if base == "rbf:gamma=1" and size < 1:  # all samples are alike
        np.testing.assert_allclose(kernel.fit(V * size).kernel(V * size), 1.0, rtol=1e-6)
        return
    with pytest.raises(SequenceError, match=r"single precision; .*scale the features|its kernel with itself is"):
        kernel.fit(V * size).features(V * size)


def test_features_of_new_samples_that_overflow_name_the_record():
    for spec in ("nystroem:base=(linear)", "nystroem:base=(linear),normalize=true"):
        kernel = build_kernel(spec).fit(V)
        new = V.copy()
        new[1] *= 1e45
        with pytest.raises(SequenceError, match=r"^record '2': its features are not finite: kernel 'nystroem'"):
            kernel.features.blocks(new).block(0, 3)
    waves = build_kernel("random_fourier:base=(rbf:gamma=1),n_components=20").fit(V)
    with pytest.raises(SequenceError, match=r"^record '1': its features are not finite: kernel 'random_fourier'"):
        waves.features(V * 1e100)


@pytest.mark.parametrize("spec", ["empirical_map", "empirical_map:vector_kernel=rbf", "repair", "repair:method=flip"])
def test_transforms_of_far_values_are_right_or_one_line(spec):
    square = V @ V.T - 3.0
    name, _, rest = spec.partition(":")
    transform = TRANSFORMS.get(name)(**dict(part.split("=") for part in filter(None, rest.split(","))))
    near = transform.fit(square).transform_train()[0]
    for scale in (2.0**-300, 2.0**300):
        unit = scale if name == "repair" else 1.0  # the empirical map is normalised
        np.testing.assert_allclose(transform.fit(square * scale).transform_train()[0], near * unit, rtol=1e-12)
    with pytest.raises((GramError, SequenceError), match="overflow"):
        fit_chain([transform], square * 1e306, np.diagonal(square) * 1e306)


def test_a_spectrum_with_inf_writes_nothing(tmp_path, capsys):
    fasta, out = tmp_path / "x.fasta", tmp_path / "p.npy"
    fasta.write_text("".join(f">d{i}\n{letters}\n" for i, letters in enumerate(X)))
    spec = "polynomial:degree=200,gamma=1,coef0=1,base=(spectrum:k=2,normalize=false)"
    assert main(["gram", str(fasta), "--kernel", spec, "--spectrum", "-o", str(out)]) != 0
    told = capsys.readouterr().err
    assert "overflows; choose a smaller degree" in told
    assert "Traceback" not in told
    assert not list(tmp_path.glob("p*"))


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e999"])
def test_tables_with_numbers_that_are_not_finite_name_the_row(number):
    for make in (FeatureTable, SimilarityTable):
        values = np.array([[1.0, 0.5], [0.5, 1.0]])
        values[1, 1] = float(number)
        with pytest.raises(SequenceError, match=r"^record '2': has a value that is not a finite number"):
            make(values)


@pytest.mark.parametrize("weights", ["", ",weights=[0.5,2,0.3]", ",weights=[1e37,1e37,1e37]", ",weights=[1e-200,0,0]"])
@pytest.mark.parametrize("spec", ["weighted_degree:degree=3", "shifted_weighted_degree:degree=3,shift=2"])
@pytest.mark.parametrize("normalize", ["true", "false"])
def test_bounds_of_weighted_degree_kernels_hold(spec, weights, normalize):
    kernel = build_kernel(f"{spec}{weights},normalize={normalize}")
    rows = kernel.prepare([*X, X[0].replace("A", "N"), "N" * 13 + "A"])
    out = np.empty((5, 5))
    assert np.abs(kernel.block(rows, rows, out)).max() <= kernel._fill_block(rows, rows, out) < np.inf
    part = rows.rows(3, 5)
    out = np.empty((2, 5))
    assert np.abs(kernel.block(part, rows, out)).max() <= kernel._fill_block(part, rows, out) < np.inf


def test_bounds_of_products_of_vectors_hold_for_ranges_of_rows():
    rows = LinearKernel().prepare(V)
    part = rows.rows(1, 3)
    assert part.payload.largest == 3.0
    assert np.abs(V[1:] @ V.T).max() <= LinearKernel()._fill_block(part, rows, np.empty((2, 3))) < np.inf


def test_neighbourhoods_that_would_not_end_are_predicted_and_refused():
    letters = np.random.default_rng(0).choice(list("ACDEFGHIKLMNPQRSTVWY"), (2, 100))
    records = as_sequences(["".join(row) for row in letters], "protein")
    with pytest.raises(ParameterError, match=r"would count for about .*e\+\d+ features; choose parameters that allow"):
        build_kernel("substitution:k=12,sigma=30").plan(records)
