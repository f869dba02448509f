"""The LOCK kernel against its naive twin, its derivatives and priors, and what `likelihood` learns with it."""

import naive_lock
import numpy as np
import pytest
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import LikelihoodKernel, LOCKKernel, build_kernel, kernel_from_state
from seqkern.kernels.positional import lock
from seqkern.kernels.positional.lock import normalised_matrix
from seqkern.kernels.vectors.marginal_likelihood import Labels, LikelihoodSearch
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.sequence_set import as_sequences

AMINO_ACIDS = PROTEIN.letters
LENGTH = 7
VALUES = {"g": 0.7, "h": 0.4, "h_additive": 1.9, "s": 0.6, "s_additive": 1.3}
NAMES = dict(
    zip(VALUES, ("distance_decay", "local_decay", "additive_decay", "local_scale", "additive_scale"), strict=True)
)
WEIGHTS = [0.5, 2.0, 0.0, 1.0, 1.5, 0.1, 1.0]


def variants(n, length=LENGTH, share=0.4, seed=1, letters=AMINO_ACIDS):
    """Return variants of one protein, as codes of letters."""
    rng = np.random.default_rng(seed)
    codes = np.tile(rng.integers(len(letters), size=length), (n, 1))
    hit = rng.random((n, length)) < share
    codes[hit] = rng.integers(len(letters), size=hit.sum())
    return codes


def as_strings(codes):
    return ["".join(AMINO_ACIDS[code] for code in row) for row in codes]


def landscape(n, length, seed=1, noise=0.1):
    """Return sequences, and a saturating function of a third of their positions with noise."""
    codes = variants(n, length, seed=seed)
    rng = np.random.default_rng(seed + 1000)
    effects = rng.standard_normal((length, 20)) * (np.arange(length) % 3 == 0)[:, None]
    total = effects[np.arange(length), codes].sum(axis=1)
    return as_sequences(as_strings(codes), "protein"), np.tanh(total) + noise * rng.standard_normal(n)


@pytest.mark.parametrize(("letters", "matrix"), [("ACGT", None), (AMINO_ACIDS, "BLOSUM50"), (AMINO_ACIDS, "BLOSUM62")])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_equals_the_naive_twin(letters, matrix, weights, monkeypatch):
    monkeypatch.setattr(lock, "CHUNK_ROWS", 5)
    strings = random_strings(12, LENGTH, LENGTH + 1, letters, masked=0.1, seed=3)
    given = None if matrix == "BLOSUM50" else matrix  # the default for proteins
    kernel = LOCKKernel(
        matrix=given, position_weights=weights, **{NAMES[name]: value for name, value in VALUES.items()}
    )
    B = naive_lock.distances(letters, matrix)
    alphabet = "dna" if letters == "ACGT" else "protein"
    X, Y = encode(strings, alphabet), encode(strings[:4], alphabet)
    wanted = naive_lock.lock(strings, strings[:4], B, weights or [1.0] * LENGTH, **VALUES)
    np.testing.assert_allclose(kernel(X, Y), wanted, rtol=1e-12)
    np.testing.assert_array_equal(kernel(X, Y), kernel(Y, X).T)
    at = kernel.gradient.suited(X).gradient(X)
    np.testing.assert_allclose(at.matrix[:, :4], wanted, rtol=1e-12)


def test_the_matrix_is_normalised():
    B = normalised_matrix(PROTEIN, "BLOSUM50")
    assert np.median(B[:-1, :-1]) == -0.25
    assert not B.diagonal().any()
    np.testing.assert_allclose(normalised_matrix(DNA, None), -0.25 * (1 - np.eye(5)))


@pytest.mark.parametrize("base", ["lock", "0.7*lock+0.2*spectrum:k=1,normalize=false", "product"])
def test_all_derivatives_at_once(base):
    X = as_sequences(as_strings(variants(15)), "protein")
    kernel = build_kernel("lock*rbf:base=(spectrum:k=1)" if base == "product" else base)
    gradient = kernel.gradient.suited(X).gradient(X)
    values = np.exp(0.3 * np.random.default_rng(5).standard_normal(len(gradient.names)))
    gradient = gradient.at(dict(zip(gradient.names, values.tolist(), strict=True)))
    S = np.random.default_rng(6).standard_normal((15, 15))
    S += S.T
    found = gradient.contracted(S, gradient.names)
    assert sum("position_weights__" in name for name in gradient.names) == LENGTH
    assert {name for name in gradient.names if "lock" not in base or "weights" in name} <= set(found)
    for name, value in found.items():
        assert value == pytest.approx(np.vdot(S, gradient.derivative(name)), rel=1e-9, abs=1e-10), name


@pytest.mark.parametrize("classes", [False, True])
def test_derivatives_of_the_likelihood_and_the_priors(classes):
    X, y = landscape(30, LENGTH)
    gradient = LOCKKernel().gradient.suited(X).gradient(X)
    search = LikelihoodSearch(gradient, Labels(np.where(y > 0, "a", "b") if classes else y), gradient.names)
    names = [*gradient.names, *([] if classes else ["noise"])]
    x = np.exp(0.4 * np.random.default_rng(2).standard_normal(len(names)))
    value, slopes = search.value(x, names, {})
    for i, name in enumerate(names):
        step = np.zeros(len(x))
        step[i] = 1e-4 * x[i]
        wanted = (search.value(x + step, names, {})[0] - search.value(x - step, names, {})[0]) / (2 * step[i])
        assert slopes[i] == pytest.approx(wanted, rel=1e-4, abs=1e-5), name
    g, h, additive, s, s_additive, *weights = x[: len(gradient.names)]
    prior = -sum(np.log([g, h, additive]) ** 2) / 2 + np.log(s * s_additive) - 2 * (s + s_additive)
    prior -= sum(np.log(weights) ** 2) / (2 * 0.5**2)
    prior += 0 if classes else np.log(x[-1] / np.var(y)) - 2 * x[-1] / np.var(y)
    likelihood = search._likelihood(dict(zip(names, x.tolist(), strict=True)))[1].value
    assert value == pytest.approx(likelihood + prior, rel=1e-12)


def test_a_kernel_without_priors_has_the_likelihood_alone():
    assert build_kernel("rbf:gamma=1").gradient.log_priors() == {}
    assert build_kernel("rbf:gamma=1").gradient.refining() == {}


def test_position_weights_are_learned_where_the_evidence_is_for_them():
    X, y = landscape(150, 12)
    kernel = LikelihoodKernel(LOCKKernel()).fit(X, y)
    weights = np.array([kernel.values_[f"position_weights__{place}"] for place in range(12)])
    matters = np.arange(12) % 3 == 0
    assert weights[matters].min() > weights[~matters].max()
    equal = LikelihoodKernel(LOCKKernel(), parameters=list(NAMES.values())).fit(X, y)
    assert kernel.report_["log_likelihood"] > equal.report_["log_likelihood"] + 5
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))


@pytest.mark.parametrize("length", [11, 60])
def test_noise_gives_equal_weights_at_24_samples(length):
    for seed in range(6):
        X = as_sequences(as_strings(variants(24, length, seed=seed)), "protein")
        y = np.random.default_rng(seed + 50).standard_normal(24)
        kernel = LikelihoodKernel(LOCKKernel()).fit(X, y)
        assert {kernel.values_[f"position_weights__{place}"] for place in range(length)} == {1.0}
        equal = LikelihoodKernel(LOCKKernel(), parameters=list(NAMES.values())).fit(X, y)
        np.testing.assert_array_equal(kernel(X), equal(X))


def test_a_constant_position_keeps_its_weight():
    X, y = landscape(150, 12)
    strings = [f"{string[:5]}W{string[5:]}" for string in X.strings()]
    values = LikelihoodKernel(LOCKKernel()).fit(as_sequences(strings, "protein"), y).values_
    assert values["position_weights__5"] == 1.0
    assert values["position_weights__4"] != 1.0


@pytest.mark.parametrize(
    "base", ["lock+oligo:k=1,sigma=1", "rbf:base=lock", "0.5*lock+0.5*(spectrum:k=1*lock:matrix=BLOSUM62)"]
)
def test_as_a_part(base):
    X, y = landscape(60, LENGTH)
    kernel = LikelihoodKernel(build_kernel(base), starts=1).fit(X, y)
    assert kernel.report_["log_likelihood"] > kernel.report_["at_start"]
    np.testing.assert_array_equal(kernel_from_state(*kernel.state())(X), kernel(X))
    gradient = kernel.bases[0].gradient
    assert sum("position_weights__" in name for name in gradient.tunable()) == LENGTH * base.count("lock")
    assert gradient.has_scale() == ("rbf" not in base)


def test_parameters_of_0_stay():
    X, y = landscape(60, LENGTH)
    kernel = LikelihoodKernel(LOCKKernel(local_scale=0.0, position_weights=[1.0] * 6 + [0.0]), starts=1).fit(X, y)
    assert not {"local_scale", "position_weights__6"} & set(kernel.values_)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))
    assert again.bases[0].position_weights[6] == 0


def test_what_cannot_be():
    X = as_sequences(["MKV", "MRV"], "protein")
    with pytest.raises(ParameterError, match="with matrix PAM250 the kernel is not positive semi-definite; choose a B"):
        LOCKKernel(matrix="PAM250")(X)
    with pytest.raises(SequenceError, match="has 3 residues, there are position weights for 2; align all"):
        LOCKKernel(position_weights=[1.0, 2.0])(X)
    with pytest.raises(SequenceError, match="has 4 residues, others have 3; align all"):
        LOCKKernel()(as_sequences(["MKVV"], "protein"), X)
    with pytest.raises(ParameterError, match="local_decays"):
        LikelihoodKernel(LOCKKernel(), parameters=["local_decays"]).fit(X, [0.0, 1.0])
