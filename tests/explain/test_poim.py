"""Importance matrices against expectations over all sequences, straight from the definitions."""

import itertools

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import (
    CombinationKernel,
    ShiftedWeightedDegreeKernel,
    SpectrumKernel,
    WeightedDegreeKernel,
    build_kernel,
)
from seqkern.kernels.algebra import SumKernel
from seqkern.kernels.decisions import matrix as kernel_matrix
from seqkern.kernels.view_kernels import PartKernel
from seqkern.methods.model import AffineForm, affine_form
from seqkern.methods.poim import LetterMeans, has_poim, letter_chances, poim
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet


def naive_value(x, z, beta, gamma, shifts):
    """Return Σ_k β_k Σ_i γ_i Σ_s δ_s ([x_{i+s}.. = z_i..] + [x_i.. = z_{i+s}..]); a star matches nothing."""
    total = 0.0
    for k, i in itertools.product(range(1, len(beta) + 1), range(len(x))):
        for s in range(shifts[i] + 1):
            if i + s + k > len(x):
                break
            same = ["*" not in a and a == b for a, b in ((x[i + s :][:k], z[i:][:k]), (x[i:][:k], z[i + s :][:k]))]
            total += beta[k - 1] * gamma[i] * sum(same) / (2 * (s + 1))
    return total


def naive_matrix(order, length, value, letters, chance):
    """Return Q of one order from the values of all sequences."""
    every = list(itertools.product(range(len(letters)), repeat=length))
    p = np.array([np.prod(chance[list(x)]) for x in every])
    texts = ["".join(letters[code] for code in x) for x in every]
    f = np.array([value(x) for x in texts])
    out = np.zeros((length - order + 1, len(letters) ** order))
    for i in range(len(out)):
        for column, word in enumerate(itertools.product(letters, repeat=order)):
            here = np.array([x[i : i + order] == "".join(word) for x in texts])
            out[i, column] = p[here] @ f[here] / p[here].sum() - p @ f / p.sum()
    return out


def form_of(kernel, support, coefficients):
    return AffineForm(kernel, support, np.array(coefficients, dtype=float), 0.0, [])


RAW = {"normalize": False, "zero_diagonal": "zero"}
CASES = {
    "degree 1": ("AC", 5, {"degree": 1}),
    "degree 2, three letters": ("ACG", 4, {"degree": 2}),
    "degree of all letters": ("AC", 6, {"degree": 6}),
    "degree beyond all letters": ("AC", 4, {"degree": 9}),
    "four letters": ("ACGT", 4, {"degree": 3}),
    "weights of lengths": ("ACG", 4, {"degree": 3, "weights": [0, 0.5, 2]}),
    "weights of places": ("AC", 6, {"degree": 3, "position_weights": [1, 0, 2, 0.5, 3, 1]}),
    "shift": ("AC", 6, {"degree": 3, "shift": 2}),
    "shift, four letters": ("ACGT", 4, {"degree": 2, "shift": 1}),
    "shift of the length": ("AC", 5, {"degree": 5, "shift": 9}),
    "shifts by place": ("AC", 6, {"degree": 4, "shift": [0, 3, 1, 0, 2, 1]}),
    "all weights": (
        "ACG",
        5,
        {
            "degree": 3,
            "shift": [2, 0, 1, 3, 0],
            "weights": [1, 0.25, 3],
            "position_weights": [0.5, 2, 1, 0, 3],
        },
    ),
}


@pytest.mark.parametrize("masked", [0, 0.2], ids=["whole", "masked"])
@pytest.mark.parametrize("case", CASES)
def test_matrices_are_differences_of_expectations(case, masked):
    letters, length, params = CASES[case]
    rng = np.random.default_rng(len(case))
    strings = ["".join(rng.choice(list(letters), length)) for _ in range(3)]
    strings = ["".join("*" if rng.random() < masked else letter for letter in text) for text in strings]
    coefficients, chance = rng.normal(size=3), rng.uniform(0.5, 1.5, len(letters))
    chance /= chance.sum()
    kernel = (ShiftedWeightedDegreeKernel if "shift" in params else WeightedDegreeKernel)(**params, **RAW)
    support = SequenceSet.from_strings(strings, letters, unknown="mask_all")
    found = poim(form_of(kernel, support, coefficients), background=chance)
    weights = {
        "beta": kernel.length_weights(),
        "gamma": kernel.start_weights(length),
        "shifts": kernel.shifts(length),
    }

    def value(x):
        return sum(c * naive_value(x, z, **weights) for c, z in zip(coefficients, strings, strict=True))

    for order, matrix in found.matrices.items():
        expected = naive_matrix(order, length, value, letters, chance)
        np.testing.assert_allclose(matrix, expected, rtol=1e-10, atol=1e-11)
    assert list(found.matrices) == [1, 2, 3]


def test_sums_and_parts_are_sums_of_their_parts():
    rng = np.random.default_rng(5)
    strings = ["".join(rng.choice(list("ACG"), 7)) for _ in range(4)]
    coefficients, chance = rng.normal(size=4), np.array([0.5, 0.3, 0.2])
    support = SequenceSet.from_strings(strings, "ACG")
    first, second = WeightedDegreeKernel(3, **RAW), ShiftedWeightedDegreeKernel(2, 1, **RAW)
    kernel = SumKernel([PartKernel(first, 1, -2), PartKernel(second, 3, None)], weights=[0.5, 2])
    assert has_poim(kernel)
    assert not has_poim(SumKernel([first, SpectrumKernel(2)]))
    found = poim(form_of(kernel, support, coefficients), background=chance)

    def value(x):
        total = 0.0
        for part, own, weight in ((slice(1, 5), first, 0.5), (slice(3, 7), second, 2)):
            weights = own.length_weights(), own.start_weights(4), own.shifts(4)
            total += weight * sum(
                c * naive_value(x[part], z[part], *weights) for c, z in zip(coefficients, strings, strict=True)
            )
        return total

    for order, matrix in found.matrices.items():
        np.testing.assert_allclose(matrix, naive_matrix(order, 7, value, "ACG", chance), rtol=1e-10, atol=1e-11)
    assert not found.matrices[1][0].any()


def test_combinations_are_sums_with_the_learned_weights_over_their_scales():
    rng = np.random.default_rng(5)
    strings = ["".join(rng.choice(list("ACG"), 6)) for _ in range(8)]
    y, coefficients, chance = np.repeat([1, -1], 4), rng.normal(size=8), np.array([0.5, 0.3, 0.2])
    support = SequenceSet.from_strings(strings, "ACG")
    parts = [WeightedDegreeKernel(3, **RAW), ShiftedWeightedDegreeKernel(2, 1, **RAW), SpectrumKernel(1)]
    for rule, given in (("alignment", parts[:2]), ("uniform", parts[:2]), ("mkl", parts)):
        kernel = CombinationKernel(given, weights=rule).fit(support, y)
        if rule == "mkl":  # a part without a weight needs no matrices
            kernel.weights_ = np.array([0.25, 0.75, 0.0])
        assert has_poim(kernel)
        shares = kernel.weights_[:2] / kernel.scales_[:2]
        found = poim(form_of(kernel, support, coefficients), background=chance)
        same = poim(form_of(SumKernel(parts[:2], weights=shares.tolist()), support, coefficients), background=chance)
        for order, matrix in found.matrices.items():
            np.testing.assert_allclose(matrix, same.matrices[order], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("part", [(None, None), (1, -1)])
@pytest.mark.parametrize("transform", [False, True])
def test_masked_residues_of_support_windows_leave_the_norm_of_random_windows(part, transform):
    strings = ["ACGA", "A*GC", "***A", "CCGA"]
    coefficients, chance = np.array([1.0, -0.5, 0.7, -1.2]), np.array([0.5, 0.3, 0.2])
    support = SequenceSet.from_strings(strings, "ACG", unknown="mask_all")
    kernel = PartKernel(WeightedDegreeKernel(2, normalize=not transform, zero_diagonal="zero"), *part)
    form = AffineForm(kernel, support, coefficients, 0.0, [build_transform("normalise")] if transform else [])
    found = poim(form, order=2, background=chance)

    def value(x):
        one = kernel.coerce(SequenceSet.from_strings([x], "ACG"))
        rows = kernel.prepare(one, like=kernel.prepare(support))
        return form.divided(kernel_matrix(kernel, one, support)[0] @ coefficients, rows.diagonal)[0]

    for order, table in found.matrices.items():
        np.testing.assert_allclose(table, naive_matrix(order, 4, value, "ACG", chance), rtol=1e-10, atol=1e-12)


# ---- trained machines ----------------------------------------------------------------------------------------


def windows(seed=1):
    """Return windows where TC at letters 4 and 5 makes a positive, and their labels."""
    rng = np.random.default_rng(seed)
    strings = ["".join(text) for text in rng.choice(list("ACGT"), p=[0.3, 0.2, 0.1, 0.4], size=(300, 12))]
    X = SequenceSet.from_strings(strings, "dna")
    return X, make_labels(X.ids, ["site" if text[3:5] == "TC" else "other" for text in strings], positive="site")


def random_windows(n, length, chance, seed=2):
    codes = np.random.default_rng(seed).choice(len(chance), p=chance, size=n * length).astype(np.uint8)
    return SequenceSet.from_offsets(codes, np.arange(n + 1) * length, [str(i) for i in range(n)], "dna")


@pytest.mark.parametrize("transforms", [[], ["normalise"], ["centre"]], ids=str)
@pytest.mark.parametrize(
    "kernel",
    [
        "weighted_degree:degree=4",
        "shifted_weighted_degree:degree=3,shift=2",
        "0.5*weighted_degree:degree=2,part=0:6 + 2*weighted_degree:degree=3,part=2:",
    ],
)
def test_the_mean_of_many_decisions_agrees(kernel, transforms):
    X, labels = windows()
    chain = [build_transform(name) for name in transforms]
    built = build_kernel(kernel)
    if transforms:
        built.set_params(normalize=False)
    model = train_model(X, labels, built, "csvc:C=1", transforms=chain)
    found = poim(affine_form(model.kernel, model.support, model.solver, model.transforms))
    new = random_windows(20000, 12, found.background)
    decision, codes = model.decision(new), new.codes.reshape(-1, 12)
    columns = codes[:, 3] * 4 + codes[:, 4]
    means = np.bincount(columns, weights=decision) / np.bincount(columns) - decision.mean()
    # A shifted kernel is normalised by K(x, x) of each window, the matrices by its mean.
    limit = 0.05 if "shift=" not in kernel else 0.1
    np.testing.assert_allclose(found.matrices[2][3], means, atol=limit * np.abs(means).max())
    assert found.words(2)[int(found.matrices[2].max(axis=0).argmax())] == "TC"
    assert found.matrices[2].max(axis=1).argmax() == 3
    assert set(np.argsort(found.position_weights())[-2:]) == {3, 4}


def test_expectations_over_the_background_are_zero():
    X, _ = windows()
    kernel = ShiftedWeightedDegreeKernel(5, 2, normalize=False)
    found = poim(form_of(kernel, X, np.linspace(-1, 1, len(X))))
    assert np.isclose(found.background.sum(), 1)
    for order, matrix in found.matrices.items():
        chance = np.array([np.prod(p) for p in itertools.product(found.background, repeat=order)])
        assert matrix.shape == (13 - order, 4**order)
        np.testing.assert_allclose(matrix @ chance, 0, atol=1e-10 * np.abs(matrix).max())


def test_the_order_is_at_most_the_length():
    X = SequenceSet.from_strings(["AC", "CA"], "dna")
    found = poim(form_of(WeightedDegreeKernel(4, normalize=False), X, [1, -1]))
    assert list(found.matrices) == [1, 2]
    assert found.words(2)[:5] == ["AA", "AC", "AG", "AT", "CA"]


def test_backgrounds():
    X = SequenceSet.from_strings(["AAAC", "ACG*"], "dna", unknown="mask_all")
    np.testing.assert_allclose(letter_chances(X), np.array([5, 3, 2, 1]) / 11)
    np.testing.assert_allclose(letter_chances(X, "uniform"), 0.25)
    np.testing.assert_allclose(letter_chances(X, [2, 1, 1, 4]), [0.25, 0.125, 0.125, 0.5])
    for wrong in ("even", [1, 2], [1, 1, 1, 0], [1, 1, 1, np.inf], [1, 1, 1, "x"]):
        with pytest.raises(ParameterError, match="background"):
            letter_chances(X, wrong)


def test_other_kernels_and_orders_are_refused():
    X, _ = windows()
    assert not has_poim(SpectrumKernel(2))
    with pytest.raises(ParameterError, match="weighted_degree"):
        poim(form_of(SpectrumKernel(2), X, np.ones(len(X))))
    for wrong in (0, 4):
        with pytest.raises(ParameterError, match="order"):
            poim(form_of(WeightedDegreeKernel(2), X, np.ones(len(X))), order=wrong)


# ---- other machines --------------------------------------------------------------------------------------------


def test_letter_means_are_means_over_the_windows_that_carry_a_letter():
    X = SequenceSet.from_strings(["AC", "AG", "C*", "AC"], "dna", unknown="mask_all")
    shares = np.array([1.0, 10, 2, 20, 6, 99, 3, 40])
    whole, pieces = LetterMeans(X.alphabet), LetterMeans(X.alphabet)
    whole.add(X, shares)
    pieces.add(X.take([0]), shares[:2])
    pieces.add(X.take([1, 2, 3]), shares[2:])
    found = whole.importance()
    assert whole.counts.tolist() == pieces.counts.tolist() == [[3, 1, 0, 0], [0, 2, 1, 0]]
    # at letter 1 the mean of all is 3, of A 2, of C 6; at letter 2 of all 70/3, of C 25, of G 20
    np.testing.assert_allclose(found.matrices[1], [[-1, 3, 0, 0], [0, 25 - 70 / 3, 20 - 70 / 3, 0]])
    np.testing.assert_allclose(pieces.importance().matrices[1], found.matrices[1])
