"""The window kernel against its definition: codings, weights of positions, features and their names."""

import numpy as np
import pytest
from naive_windows import matrix_row, one_hot, values, vectors

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.formats import residue_windows
from seqkern.kernels import LikelihoodKernel, RBFKernel, WindowKernel, kernel_from_state
from seqkern.kernels.vectors.windows import WindowTable, position_weights
from seqkern.sequences.sequence_set import SequenceSet

CHAINS = ["MKVLAAGWYCARND", "WWWWWW", "M", "AC*DEF"]
ALPHABETS = {"protein": CHAINS, "dna": ["ACGTTGCA", "AAAA", "C"], "rna": ["ACGUUG", "UU"], "HEC": ["HHHEEC", "C*H"]}
CODINGS = {"one_hot": one_hot, "BLOSUM62": matrix_row("BLOSUM62"), "PAM250": matrix_row("PAM250")}


def windows(half, alphabet="protein"):
    """Return the windows around every residue of some chains; they share letters, and have masked ends."""
    return residue_windows(SequenceSet.from_strings(ALPHABETS[alphabet], alphabet, unknown="mask_all"), half)


@pytest.mark.parametrize("name", ["linear", "polynomial", "rbf", "tanimoto"])
@pytest.mark.parametrize("encoding", CODINGS)
@pytest.mark.parametrize("half", [0, 3])
def test_equals_the_definition(name, encoding, half):
    X, Y = windows(half), windows(half).take([3, 17, 0])
    weights = np.linspace(0.5, 2, 2 * half + 1).tolist()
    options = {"gamma": 0.07, "degree": 3, "coef0": 0.5}
    for given in ("flat", weights):
        kernel = WindowKernel(encoding=encoding, vector_kernel=name, position_weights=given, **options)
        a, b = (vectors(Z, CODINGS[encoding], None if given == "flat" else weights) for Z in (X, Y))
        np.testing.assert_allclose(kernel(X, Y), values(a, b, name, **options), rtol=1e-10, atol=1e-13)
        kernel.set_params(normalize=True)
        wanted = values(a, b, name, **options)
        wanted /= np.sqrt(
            np.outer(np.diagonal(values(a, a, name, **options)), np.diagonal(values(b, b, name, **options)))
        )
        np.testing.assert_allclose(kernel(X, Y), wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_a_distance_is_twice_the_positions_that_differ(alphabet):
    X = windows(2, alphabet)
    strings = X.strings()
    differ = np.array([[sum(a != b for a, b in zip(s, t, strict=True)) for t in strings] for s in strings])
    np.testing.assert_allclose(WindowKernel(gamma=0.3)(X), np.exp(-0.6 * differ), rtol=1e-12)
    np.testing.assert_array_equal(WindowKernel(vector_kernel="linear")(X), 5 - differ)


def test_tanimoto_of_letters_is_the_share_of_positions_that_agree():
    X = SequenceSet.from_strings(["MKVLA", "MKILA", "GGSGP"], "protein")
    K = WindowKernel(vector_kernel="tanimoto")(X)
    np.testing.assert_array_equal(K, [[1, 4 / 6, 0], [4 / 6, 1, 0], [0, 0, 1]])
    nothing = WindowKernel(vector_kernel="tanimoto", position_weights=[0, 0, 0, 0, 1])(X)
    np.testing.assert_array_equal(nothing, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_likelihood_learns_the_width():
    X = SequenceSet.from_strings(["MKVLA", "MKILA", "GGSGP", "GKSLP", "MGVGA", "MKSGA", "GKVLP", "MGILP"], "protein")
    y = [0.1, 0.2, 2.0, 1.1, 0.9, 1.0, 0.8, 1.2]
    window = LikelihoodKernel(WindowKernel(gamma=0.3), starts=1).fit(X, y)
    known = LikelihoodKernel(RBFKernel(gamma=0.3, base=WindowKernel(vector_kernel="linear")), starts=1).fit(X, y)
    assert window.values_["gamma"] == pytest.approx(known.values_["gamma"], rel=1e-6)


def test_gamma_is_learned_from_the_training_windows():
    X = windows(3)
    kernel = WindowKernel(gamma="scale", encoding="BLOSUM62").fit(X)
    a = vectors(X, CODINGS["BLOSUM62"])
    assert kernel.learned()["gamma"] == pytest.approx(1 / ((a - a.mean(axis=0)) ** 2).sum(axis=1).mean(), rel=1e-12)
    np.testing.assert_array_equal(kernel_from_state(*kernel.state())(X), kernel(X))
    same = X.take([5, 5])
    assert WindowKernel(gamma="scale").fit(same).learned() == {"gamma": 1.0}


@pytest.mark.parametrize("shape", ["flat", "triangle", "gaussian"])
@pytest.mark.parametrize("length", [1, 2, 5, 6, 15])
def test_shapes_are_symmetric_and_strongest_in_the_centre(shape, length):
    weights = position_weights(shape, length)
    assert weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(weights, weights[::-1])
    steps = np.diff(weights[: (length + 1) // 2])
    assert (steps > 0).all() if shape != "flat" else not steps.any()
    h = (length - 1) / 2
    d = [abs(i - h) for i in range(length)]
    if shape == "triangle":
        np.testing.assert_allclose(weights / weights.max(), [(h + 1 - x) / (h + 1 - min(d)) for x in d])
    if shape == "gaussian" and length > 2:
        np.testing.assert_allclose(weights[0] / weights[length // 2], np.exp(-4 + 4 * (min(d) / h) ** 2))


def test_features_and_their_names():
    X = windows(1)
    kernel = WindowKernel(vector_kernel="linear", position_weights="triangle")
    found = kernel.features(X)
    np.testing.assert_allclose(found, vectors(X, one_hot, [0.75, 1.5, 0.75]), rtol=1e-12)
    assert kernel.features.blocks(X).shape == (27, 63)
    first = found[0]  # the end, M, K
    names = kernel.features.named(X, np.flatnonzero(first))
    assert names == ["-1:end", "0:M", "1:K"]
    with pytest.raises(ParameterError, match="vector_kernel=linear, or approximate it"):
        WindowKernel().features(X)


def test_a_table_has_the_positions_that_are_used_once():
    X = windows(2)
    few = X.take([12, 11, 0, 20])
    positions, starts = few.used_positions()
    wanted = np.unique(np.concatenate([np.arange(a, b) for a, b in zip(few.starts, few.stops, strict=True)]))
    np.testing.assert_array_equal(positions, wanted)
    np.testing.assert_array_equal(positions[starts], few.starts)
    table = WindowTable.of(few, WindowKernel().coding, np.ones(5), np.float32)
    assert table.values.shape == (len(wanted), 21)
    for rows in (slice(None), slice(1, 3), np.array([3, 0, 0]), slice(0, 0)):
        found = table.gather(rows)
        assert found.flags.c_contiguous
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, vectors(few, one_hot)[rows])
    assert WindowTable.of(few.take([]), WindowKernel().coding, np.ones(0)).gather().shape == (0, 0)


def test_wrong_parameters_and_windows():
    X = windows(2)
    wrong = (
        {"encoding": "BLOSUM63"},
        {"position_weights": "box"},
        {"position_weights": [1, -1, 1, 1, 1]},
        {"position_weights": [0, 0]},
        {"position_weights": [1, 1]},
        {"position_weights": 3},
        {"gamma": "auto"},
        {"gamma": "scale", "vector_kernel": "polynomial"},
        {"degree": 0, "vector_kernel": "polynomial"},
        {"coef0": -1, "vector_kernel": "polynomial"},
        {"vector_kernel": "sigmoid"},
    )
    for options in wrong:
        with pytest.raises(ParameterError, match=next(iter(options))):
            WindowKernel(**options)(X)
    with pytest.raises(ParameterError, match="no scores for the alphabet"):
        WindowKernel(encoding="BLOSUM62")(SequenceSet.from_strings(["OUO"], "OU"))
    with pytest.raises(SequenceError, match="is a window of 3 residues, others have 5"):
        WindowKernel()(windows(1), X)
