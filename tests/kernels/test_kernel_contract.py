"""What every kernel must do. A new kernel is found by its name and tested on its `examples`.

Checks run on data that fit the kernel: a dozen related sequences of unequal lengths with a masked letter
(DNA, or the kernel's own alphabet; of one length where the kernel needs that), a table of features, or a
table of similarities. The first eight units are the training set of kernels that learn.
"""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import KERNELS, EachViewKernel, ViewKernel, blocks, build_kernel, kernel_from_state
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.composite import CompositeKernel
from seqkern.kernels.kernel import Kernel, algorithms, files
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.sequences.views import Segments

N, N_TRAIN = 13, 8
EQUAL_LENGTH = 24  # letters, where a kernel needs sequences of one length; its examples may have so many weights
TRAIN, TEST = slice(0, N_TRAIN), slice(N_TRAIN, N)
pytestmark = pytest.mark.contract
EXAMPLES = {
    f"{name}-{number}": kernel for name, cls in KERNELS.classes.items() for number, kernel in enumerate(cls.examples())
}


def where(condition):
    """Return a mark that runs a test on the examples for which `condition` holds."""
    chosen = {key: kernel for key, kernel in EXAMPLES.items() if condition(kernel)}
    return pytest.mark.parametrize("kernel", chosen.values(), ids=chosen, indirect=True)


def with_parameter(name):
    """Return a mark that runs a test on the examples that have a parameter `name`."""
    return where(lambda kernel: name in kernel.parameter_names())


OF_SEVERAL = (ViewKernel, EachViewKernel)  # kernels of samples with several sequences, which no string has
of_sequences = where(lambda kernel: kernel.traits.accepts == "sequences")


def random_sequences(kernel, alphabet=None, seed=1):
    """Return N sequences evolved from three ancestors, the third with a masked letter."""
    rng = np.random.default_rng(seed)
    alphabet = as_alphabet(alphabet or kernel.alphabet or "dna")
    ancestors = rng.integers(alphabet.size, size=(3, 30))
    records = []
    for i in range(N):
        codes = ancestors[i % 3].copy()
        hit = rng.random(30) < 0.3
        codes[hit] = rng.integers(alphabet.size, size=hit.sum())
        records.append(codes[: EQUAL_LENGTH if kernel.traits.equal_lengths else rng.integers(16, 31)])
    records[2][5] = MASK
    return sequence_set(records, alphabet, kernel.traits.tracks)


def sequence_set(records, alphabet, tracks=()):
    """Return a SequenceSet of arrays of codes, of two sequences each; a track has letters 0 and 1, or a profile."""
    codes = np.concatenate([np.zeros(0, np.uint8), *records]).astype(np.uint8)
    offsets = np.concatenate(([0], np.cumsum([len(codes) for codes in records])))
    ids = [f"s{i}" for i in range(len(records))]
    profiles = profile_tracks(codes, alphabet.size)
    lengths = np.diff(offsets)
    left = Segments(np.stack([0 * lengths, lengths // 2], axis=1), alphabet)
    right = Segments(np.stack([lengths // 2, lengths], axis=1), alphabet)
    made = {track: profiles.get(track, np.arange(len(codes), dtype=np.uint8) % 2) for track in tracks}
    return SequenceSet.from_offsets(codes, offsets, ids, alphabet, made, views={"left": left, "right": right})


def profile_tracks(codes, size):
    """Return the tracks of profiles: at each letter mostly itself, the rest shared as its place has it.

    float32 (letters, size) each: probabilities above 0 that sum to 1, and their log-odds in half bits.
    """
    places = np.arange(len(codes))[:, None]
    shares = 1.0 + (7 * places + 3 * np.arange(size)) % 5
    own = codes[:, None] == np.arange(size)
    shares += own * 2 * shares.sum(axis=1, keepdims=True)
    profile = shares / shares.sum(axis=1, keepdims=True)
    return {"profile": profile.astype(np.float32), "pssm": (2 * np.log2(profile * size)).astype(np.float32)}


def data_for(kernel, seed=1):
    """Return N units of the kind that `kernel` accepts."""
    rng = np.random.default_rng(seed)
    if kernel.traits.accepts == "sequences":
        return random_sequences(kernel, seed=seed)
    values = rng.standard_normal((N, 5))
    if kernel.traits.accepts == "features":
        return FeatureTable(values)
    return SimilarityTable((values + 3) @ (values + 3).T + np.diag(rng.random(N)))


def with_nothing(X):
    """Return `X` with the last unit emptied of all that a kernel could compare."""
    if isinstance(X, SequenceSet):
        records = [X.codes[start:stop].copy() for start, stop in zip(X.starts, X.stops, strict=True)]
        records[-1][:] = MASK
        return sequence_set(records, X.alphabet, X.tracks)
    values = X.values.copy()
    values[-1] = 0
    if isinstance(X, FeatureTable):
        return FeatureTable(values)
    values[:, -1] = 0
    return SimilarityTable(values)


def set_everywhere(kernel, **params):
    """Set those of the parameters that it has, in the kernel and in all kernels inside it."""
    known = {key: value for key, value in params.items() if key in kernel.parameter_names()}
    kernel.set_params(**known)
    for value in kernel.get_params(deep=False).values():
        for inner in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(inner, Kernel):
                set_everywhere(inner, **params)
    return kernel


def state_bytes(kernel):
    """Return a kernel's state as something that can be compared."""
    header, arrays = kernel.state()
    return json.dumps(header, sort_keys=True), {key: array.tobytes() for key, array in arrays.items()}


@pytest.fixture(params=EXAMPLES.values(), ids=EXAMPLES)
def kernel(request):
    """One example of one kernel class, unfitted."""
    return copy.deepcopy(request.param)


@pytest.fixture(name="X")
def _data(kernel):
    return data_for(kernel)


def learn(kernel, X):
    """Fit a kernel to units of two classes, and return it."""
    return kernel.fit(X, np.where(np.arange(len(X)) % 2, 1, -1))


@pytest.fixture
def fitted(kernel, X):
    return learn(copy.deepcopy(kernel), X.take(TRAIN))


# ---- derivatives ---------------------------------------------------------------------------------


def difference(value, low, high, compute):
    """Return the numerical derivative of a matrix, at second order, without leaving the domain."""
    h = 1e-4 * (abs(value) or 1)
    if low <= value - h and value + h <= high:
        return (compute(value + h) - compute(value - h)) / (2 * h)
    h = h if value + 2 * h <= high else -h
    return (4 * compute(value + h) - compute(value + 2 * h) - 3 * compute(value)) / (2 * h)


@where(lambda kernel: bool(kernel.gradient))
def test_derivatives_agree_with_differences(fitted, X):
    fitted = set_everywhere(fitted, precision="double")
    X = X.take(TRAIN)
    gradient, bounds = fitted.gradient(X), fitted.gradient.bounds()
    assert gradient.names == list(fitted.gradient.tunable())
    np.testing.assert_allclose(gradient.matrix, fitted(X), rtol=1e-9, atol=1e-12)
    for name, value in fitted.gradient.tunable().items():
        wanted = difference(value, *bounds[name], lambda changed, name=name: gradient.at({name: changed}).matrix)
        found = gradient.derivative(name)
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * max(np.abs(wanted).max(), 1e-3))
        same = fitted.gradient.with_values({name: value * 0.99})
        np.testing.assert_allclose(same(X), gradient.at({name: value * 0.99}).matrix, rtol=1e-9, atol=1e-12)


# ---- the matrix ----------------------------------------------------------------------------------


def test_matrix_is_finite_symmetric_to_the_bit_and_semidefinite_where_declared(fitted, X):
    K = fitted(X)
    assert K.shape == (N, N)
    assert K.dtype == np.float64
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K, K.T)
    assert len(np.unique(K)) > N
    np.testing.assert_array_equal(fitted.diagonal(X), np.diagonal(K))
    eigenvalues = np.linalg.eigvalsh(K)
    if fitted.traits.positive_semidefinite:
        assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]


def test_blocks_and_rectangles_equal_the_whole_to_the_bit(fitted, X):
    K = fitted(X)
    whole = fitted.prepare(X)
    for rows in (slice(0, N), slice(0, 1), slice(3, 9), slice(12, 13), slice(4, 4)):
        for cols in (slice(0, N), slice(0, 5), slice(3, 9), slice(7, 13)):
            part = fitted.block(whole.rows(rows.start, rows.stop), whole.rows(cols.start, cols.stop))
            np.testing.assert_array_equal(part, K[rows, cols])
    np.testing.assert_array_equal(fitted(X.take(TEST), X.take(TRAIN)), K[TEST, TRAIN])
    np.testing.assert_array_equal(fitted(X.take([7, 0, 3])), K[np.ix_([7, 0, 3], [7, 0, 3])])
    np.testing.assert_array_equal(fitted(X, X), K)


def test_no_rows_and_no_columns_give_empty_matrices(fitted, X):
    nothing = X.take([])
    assert fitted(nothing, X).shape == (0, N)
    assert fitted(X, nothing).shape == (N, 0)
    assert fitted(nothing, nothing).shape == (0, 0)
    assert fitted(nothing).shape == (0, 0)
    assert fitted.diagonal(nothing).shape == (0,)


def test_thread_counts_give_the_same_bits(fitted, X, monkeypatch):
    whole, rectangle = fitted(X), fitted(X.take(TEST), X.take(TRAIN))
    spans = lambda n_rows, *_: [(start, min(start + 2, n_rows)) for start in range(0, n_rows, 2)]  # noqa: E731
    monkeypatch.setattr(blocks, "row_blocks", spans)
    for n_threads in (1, 2, 4):
        np.testing.assert_array_equal(fitted(X, n_threads=n_threads), whole)
        part = fitted(X.take(TEST), X.take(TRAIN), n_threads=n_threads)
        np.testing.assert_array_equal(part, rectangle)


def test_float32_is_near_float64(fitted, X):
    single = fitted(X, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, single.T)
    np.testing.assert_allclose(single, fitted(X), rtol=1e-6)


@where(lambda kernel: algorithms(kernel))
def test_each_algorithm_gives_the_same_numbers(kernel, fitted, X):
    K, rectangle = fitted(X), fitted(X.take(TEST), X.take(TRAIN))
    ran = 0
    for algorithm in algorithms(fitted):
        fitted.set_params(algorithm=algorithm)
        try:
            same = fitted(X)
        except ParameterError as error:  # not with these parameters, or for this alphabet
            assert "choose algorithm=" in error.remedy  # noqa: PT017
            continue
        np.testing.assert_array_equal(same, K)
        np.testing.assert_array_equal(fitted(X.take(TEST), X.take(TRAIN)), rectangle)
        ran += 1
    assert ran >= 2


def test_plan_names_an_algorithm_and_its_cost(fitted, X):
    for plan in (fitted.plan(X), fitted.plan(X.take(TEST), X.take(TRAIN))):
        assert plan.algorithm
        assert plan.seconds >= 0
        assert plan.bytes >= 0


# ---- policies ------------------------------------------------------------------------------------


@with_parameter("normalize")
def test_normalised_diagonal_is_one(kernel, X):
    learn(kernel.set_params(normalize=True), X.take(TRAIN))
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(N))
    np.testing.assert_array_equal(np.diagonal(kernel(X)), np.ones(N))


@with_parameter("zero_diagonal")
def test_zero_diagonal_is_an_error_that_names_the_record_or_a_row_of_zeros(kernel, X):
    empty = with_nothing(X)
    learn(set_everywhere(kernel, normalize=False), empty.take(TRAIN))
    if kernel.diagonal(empty)[-1] != 0:
        pytest.skip("no unit has a zero diagonal under this kernel")
    learn(set_everywhere(kernel, normalize=True, zero_diagonal="error"), empty.take(TRAIN))
    with pytest.raises(SequenceError, match="zero_diagonal=zero") as error:
        kernel(empty)
    assert error.value.record == empty.ids[-1]
    learn(set_everywhere(kernel, zero_diagonal="zero"), empty.take(TRAIN))
    K = kernel(empty)
    assert kernel.prepare(empty).counts["zero diagonals"] >= 1
    assert "zero diagonals" not in kernel.prepare(empty.take(TRAIN)).counts
    assert not K[-1].any()
    assert not K[:, -1].any()
    np.testing.assert_array_equal(np.diagonal(K)[:-1], 1.0)
    np.testing.assert_array_equal(kernel.diagonal(empty), np.diagonal(K))


@with_parameter("short")
def test_short_sequences_are_an_error_that_names_the_record_or_empty(kernel, X):
    records = [X.codes[start:stop] for start, stop in zip(X.starts, X.stops, strict=True)]
    short = sequence_set([*records, np.zeros(0, np.uint8)], X.alphabet, X.tracks)
    with pytest.raises(SequenceError, match="short=zero") as error:
        learn(kernel, X.take(TRAIN))(short)
    assert error.value.record == short.ids[-1]
    kernel.set_params(short="zero", zero_diagonal="zero")
    if kernel._min_length():
        least = kernel._min_length()
        residues = "residue" if least == 1 else "residues"
        assert kernel.prepare(short).counts[f"sequences with fewer than {least} {residues}"] == 1
    K = kernel(short)
    assert not K[-1].any()
    np.testing.assert_array_equal(K[:-1, :-1], kernel(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [("zero_diagonal", "ignore"), ("short", "ignore"), ("algorithm", "magic"), ("n_threads", 0)],
)
def test_unknown_policies_and_threads_are_parameter_errors(name, value):
    for example in EXAMPLES.values():
        if name in example.parameter_names():
            with pytest.raises(ParameterError, match=name):
                learn(copy.deepcopy(example).set_params(**{name: value}), data_for(example))


# ---- wrong data ----------------------------------------------------------------------------------


def test_another_kind_of_data_is_a_sequence_error(kernel, X):
    others = {"sequences": FeatureTable(np.eye(3)), "features": ["ACGT"], "similarities": ["ACGT"]}
    with pytest.raises(SequenceError, match="expected"):
        kernel.fit(others[kernel.traits.accepts])


@of_sequences
def test_another_alphabet_is_a_sequence_error(kernel, X):
    other = random_sequences(kernel, alphabet="protein" if X.alphabet.name != "protein" else "dna")
    learn(kernel, X.take(TRAIN))
    with pytest.raises(SequenceError, match="alphabet"):
        kernel(other, X)
    if "alphabet" in kernel.parameter_names():
        with pytest.raises(SequenceError, match="alphabet"):
            kernel.set_params(alphabet=X.alphabet.name)(other)


@where(
    lambda kernel: (
        kernel.traits.accepts == "sequences" and not kernel.traits.tracks and not isinstance(kernel, OF_SEVERAL)
    )
)
def test_strings_are_encoded(kernel, X):
    clean = X.take(slice(3, N))
    learn(kernel, clean)
    K = kernel(clean)
    np.testing.assert_array_equal(kernel(clean.strings()), K)
    np.testing.assert_array_equal(kernel(clean.strings()[:2], clean.strings()[2:]), K[:2, 2:])


def test_what_the_policies_of_parts_touch_is_counted():
    kernel = build_kernel("spectrum:k=2,normalize=true,short=zero,zero_diagonal=zero+spectrum:k=1")
    assert kernel.prepare(["ACGT", "A", "ACGTA"]).counts["zero diagonals"] == 1


class PositionsKernel(Kernel):
    """A kernel that needs a track and equal lengths, for the two checks below where no real one does yet."""

    name = "positions"
    traits = Traits(tracks=("states",), equal_lengths=True)


NEEDING_TRACKS = [kernel for kernel in (*EXAMPLES.values(), PositionsKernel()) if kernel.traits.tracks]
NEEDING_EQUAL_LENGTHS = [kernel for kernel in (*EXAMPLES.values(), PositionsKernel()) if kernel.traits.equal_lengths]


@pytest.mark.parametrize("kernel", NEEDING_TRACKS, ids=repr)
def test_a_missing_track_is_a_sequence_error(kernel):
    X = data_for(kernel)
    for track in kernel.traits.tracks:
        tracks = {name: values for name, values in X.tracks.items() if name != track}
        bare = SequenceSet(X.codes, X.starts, X.stops, X.ids, X.alphabet, tracks)
        with pytest.raises(SequenceError, match=track):
            kernel.fit(bare)


@pytest.mark.parametrize("kernel", NEEDING_EQUAL_LENGTHS, ids=repr)
def test_unequal_lengths_are_a_sequence_error_where_they_matter(kernel):
    X = data_for(kernel)
    stops = X.stops.copy()
    stops[4] -= 1
    with pytest.raises(SequenceError, match="one length") as error:
        kernel.fit(SequenceSet(X.codes, X.starts, stops, X.ids, X.alphabet, X.tracks))
    assert error.value.record == X.ids[4]


# ---- parameters, identity, state -----------------------------------------------------------------


def test_examples_are_of_the_class():
    for cls in KERNELS.classes.values():
        assert cls.examples()
        assert all(type(example) is cls for example in cls.examples())


def test_every_parameter_is_documented():
    for cls in KERNELS.classes.values():
        lines = [line.strip() for line in cls.__doc__.splitlines()]
        assert lines[0].endswith("."), cls
        named = {name for line in lines if " : " in line for name in line.split(" : ")[0].split(", ")}
        assert set(cls.parameter_names()) <= named, cls


def test_parameters_and_clone_as_scikit_learn_has_them(kernel, fitted, X):
    before = {name: pickle.dumps(value) for name, value in kernel.get_params(deep=False).items()}
    params = fitted.get_params(deep=False)
    assert {name: pickle.dumps(value) for name, value in params.items()} == before
    assert list(params) == fitted.parameter_names()
    assert fitted.set_params(**params) is fitted
    with pytest.raises(ParameterError, match="colour"):
        fitted.set_params(colour=1)
    copied = clone(fitted)
    assert copied is not fitted
    assert copied.spec() == fitted.spec()
    assert not copied._fitted
    np.testing.assert_array_equal(learn(copied, X.take(TRAIN))(X), fitted(X))


def test_pickle_keeps_what_was_given_and_what_was_learned(kernel, fitted, X):
    assert pickle.loads(pickle.dumps(kernel)).spec() == kernel.spec()
    again = pickle.loads(pickle.dumps(fitted))
    assert again.identity() == fitted.identity()
    np.testing.assert_array_equal(again(X), fitted(X))


def test_spec_and_state_build_the_same_unfitted_kernel(kernel):
    spec = json.loads(json.dumps(kernel.spec()))
    again = build_kernel(spec)
    assert type(again) is type(kernel)
    assert again.spec() == kernel.spec()
    assert again.identity() == kernel.identity()
    restored = kernel_from_state(*kernel.state())
    assert restored.spec() == kernel.spec()
    assert not restored._fitted


def test_identity_is_of_the_numbers_not_of_their_computation(kernel, fitted, X):
    assert fitted.identity() == learn(copy.deepcopy(kernel), X.take(TRAIN)).identity()
    before = kernel.identity()
    set_everywhere(kernel, n_threads=3)
    assert kernel.identity() == before
    for algorithm in algorithms(kernel):
        assert kernel.set_params(algorithm=algorithm).identity() == before
    if "normalize" in kernel.parameter_names():
        assert kernel.set_params(normalize=not kernel.normalize).identity() != before


def test_state_gives_the_same_numbers(fitted, X, tmp_path):
    save_archive(tmp_path / "kernel.npz", *fitted.state())
    again = kernel_from_state(*load_archive(tmp_path / "kernel.npz"))
    assert again.identity() == fitted.identity()
    assert state_bytes(again) == state_bytes(fitted)
    np.testing.assert_array_equal(again(X), fitted(X))


@with_parameter("alphabet")
def test_an_alphabet_has_one_name_in_specs(kernel):
    same = {"dna": ("DNA", DNA), "protein": ("Protein", PROTEIN), "HEC": (Alphabet("states", "HEC"),)}
    for name, others in same.items():
        expected = kernel.set_params(alphabet=name).spec()
        assert expected["alphabet"] == name
        identity = kernel.identity()
        for other in others:
            assert kernel.set_params(alphabet=other).spec() == expected
            assert kernel.identity() == identity
            assert build_kernel(json.loads(json.dumps(kernel.spec()))).identity() == identity


# ---- files ---------------------------------------------------------------------------------------

SCORES = " A C G T\nA 5 -4 -4 -4\nC -4 5 -4 -4\nG -4 -4 5 -4\nT -4 -4 -4 {}\n"
SCALES = "letter\tsize\nA\t1\nC\t2\nG\t{}\n"
FILES = {
    "smith_waterman": ("matrix", SCORES, (5, 7)),
    "local_alignment": ("matrix", SCORES, (5, 7)),
    "motif": ("motifs", "A-C\nG-x-{}\n", ("T", "A")),
    "property": ("scales", SCALES, (3, 4)),
    "generic_string": ("descriptors", SCALES, (3, 4)),
}
COMPOSITES = [name for name, cls in KERNELS.classes.items() if issubclass(cls, CompositeKernel)]


def made_of(name, part):
    """Return kernels of a class, made of a kernel: parts, or the base of each of the examples that can have it."""
    cls = KERNELS.classes[name]
    if "parts" in cls.parameter_names():
        return [cls([part]), cls([build_kernel("spectrum:k=2"), part])]
    others = [kernel.get_params(deep=False) for kernel in cls.examples()]
    return [kernel for kernel in (cls(**{**params, "base": part}) for params in others) if is_possible(kernel)]


def is_possible(kernel):
    """Tell whether a kernel's parameters go together."""
    try:
        kernel.check_parameters()
    except ParameterError:
        return False
    return True


@pytest.mark.parametrize("composite", [None, *COMPOSITES])
@pytest.mark.parametrize("name", FILES)
def test_identity_and_state_are_of_the_content_of_files(name, composite, tmp_path):
    parameter, text, values = FILES[name]
    file = tmp_path / "file"
    made = []
    for value in values:
        file.write_text(text.format(value))
        part = build_kernel({"kernel": name, parameter: str(file)})
        kernels = [part] if composite is None else made_of(composite, part)
        made.append([(kernel.identity(), kernel.state()) for kernel in kernels])
        assert all(files(kernel) == (str(file),) for kernel in kernels)
        if not kernels:
            pytest.skip("is made of other kernels")
    file.unlink()
    for (first, state), (second, _) in zip(*made, strict=True):
        assert first != second
        again = kernel_from_state(*state)
        assert again.identity() == first
        assert not again._fitted


# ---- learning from data --------------------------------------------------------------------------


@pytest.mark.nightly
def test_only_kernels_that_learn_have_anything_learned(kernel, fitted, X):
    assert fitted._fitted == kernel.traits.data_dependent
    if not kernel.traits.data_dependent:
        assert fitted.fitted_state() == ({}, {})
        return
    with pytest.raises(ParameterError, match="is not fitted; call fit"):
        kernel(X)
    other = learn(copy.deepcopy(kernel), X.take(slice(2, N)))
    assert other.identity() != fitted.identity()


def test_no_test_unit_reaches_fit(kernel, X, monkeypatch):
    seen = set()
    real = Kernel.fit

    def spy(self, data, y=None):
        seen.update(data.ids)
        return real(self, data, y)

    monkeypatch.setattr(Kernel, "fit", spy)
    train, test = X.take(TRAIN), X.take(TEST)
    learn(kernel, train)
    assert seen == set(train.ids)
    seen.clear()
    before = state_bytes(kernel)
    kernel(test, train)
    kernel(test)
    kernel.diagonal(test)
    kernel.plan(test, train)
    assert state_bytes(kernel) == before
    if kernel.traits.data_dependent:
        # Kernels of vectors, made inside for the references' sake, may be fitted; on references only.
        assert seen <= set(train.ids)


# ---- any sequences -------------------------------------------------------------------------------


@of_sequences
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_sequences_give_a_symmetric_matrix_semidefinite_where_declared(kernel, data):
    set_everywhere(kernel, short="zero", zero_diagonal="zero")
    alphabet = as_alphabet(kernel.alphabet or "dna")
    letter = st.sampled_from([*range(min(alphabet.size, 3)), MASK])
    low, high = (EQUAL_LENGTH, EQUAL_LENGTH) if kernel.traits.equal_lengths else (0, 20)
    records = data.draw(st.lists(st.lists(letter, min_size=low, max_size=high), min_size=1, max_size=6))
    X = sequence_set([np.array(record, dtype=np.uint8) for record in records], alphabet, kernel.traits.tracks)
    # The first record again, for it takes two to be of two classes.
    K = learn(kernel, X.take([*range(len(X)), 0]))(X)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), kernel.diagonal(X))
    if kernel.traits.positive_semidefinite:
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] >= -1e-9 * max(eigenvalues[-1], 1e-300)
