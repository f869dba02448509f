"""The pairwise kernel against its definition."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import (
    PairwiseKernel,
    RBFKernel,
    SigmoidKernel,
    SmithWatermanKernel,
    SpectrumKernel,
    build_kernel,
    kernel_from_state,
)
from seqkern.kernels.alignment.pairwise import PRODUCT_SECONDS
from seqkern.sequences.sequence_set import SequenceSet

TRAIN = ["ACGTACGT", "ACGGGATT", "TTTACGAC", "CCCATACA"]
NEW = ["ACGTTTTA", "GGGATTAC", "CATACATT"]


def vectors(base, strings):
    """Return the scores of each string against each training sequence, one kernel call for each."""
    return np.array([[base([s, t], None)[0, 1] for t in TRAIN] for s in strings])


def test_linear_is_the_product_of_score_vectors():
    base = SpectrumKernel(k=2)
    kernel = PairwiseKernel(base, normalize=False).fit(TRAIN)
    train, new = vectors(base, TRAIN), vectors(base, NEW)
    np.testing.assert_allclose(kernel(TRAIN), train @ train.T, rtol=1e-13)
    np.testing.assert_allclose(kernel(NEW, TRAIN), new @ train.T, rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(NEW), (new**2).sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("gamma", [0.3, "scale"])
def test_rbf_is_between_the_vectors_of_unit_length_if_normalised(normalize, gamma):
    base = SpectrumKernel(k=2)
    kernel = PairwiseKernel(base, vector_kernel="rbf", gamma=gamma, normalize=normalize).fit(TRAIN)
    train, new = vectors(base, TRAIN), vectors(base, NEW)
    if normalize:
        train, new = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (train, new))
    gamma = 1 / train.var(axis=0).sum() if gamma == "scale" else gamma
    squared = ((new[:, None] - train[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel(NEW, TRAIN), np.exp(-gamma * squared), rtol=1e-11)


def test_an_indefinite_base_gives_a_semidefinite_kernel():
    base = SigmoidKernel(gamma=2.0, coef0=-2.0)
    X = np.random.default_rng(1).standard_normal((12, 3))
    assert np.linalg.eigvalsh(base(X))[0] < -0.1
    eigenvalues = np.linalg.eigvalsh(PairwiseKernel(base).fit(X)(X))
    assert eigenvalues[0] > -1e-9 * eigenvalues[-1]


def test_a_base_that_learns_is_fitted_on_the_training_part():
    X = np.random.default_rng(1).standard_normal((12, 3))
    kernel = PairwiseKernel(RBFKernel(gamma="scale"), normalize=False).fit(X[:8])
    base = RBFKernel(gamma="scale").fit(X[:8])
    features = base(X, X[:8])
    np.testing.assert_allclose(kernel(X), features @ features.T, rtol=1e-12)
    assert not kernel.base._fitted


def test_state_holds_the_references_and_no_other_letter():
    whole = SequenceSet.from_strings(TRAIN + NEW, "dna")
    kernel = PairwiseKernel(SpectrumKernel(k=2)).fit(whole.take(slice(0, 4)))
    header, arrays = kernel.state()
    assert len(arrays["references/codes"]) == sum(map(len, TRAIN))
    assert len(kernel.references_.codes) == sum(map(len, TRAIN))
    again = kernel_from_state(header, arrays)
    assert again.references_.strings() == TRAIN
    np.testing.assert_array_equal(again(NEW), kernel(NEW))


def test_other_letters_under_the_same_ids_are_another_kernel():
    fits = [PairwiseKernel(SpectrumKernel(k=2)).fit(strings) for strings in (TRAIN, [*TRAIN[:3], "CCCATACG"])]
    assert fits[0].references_.ids == fits[1].references_.ids
    assert fits[0].identity() != fits[1].identity()


def test_strings_are_encoded_with_the_references_alphabet():
    proteins = ["ACDEFACD", "ACDACDKL", "KLMKLMAC"]
    kernel = PairwiseKernel(SpectrumKernel(k=2)).fit(proteins)
    assert kernel.coerce(["ACACAC"]).alphabet.name == "protein"
    with pytest.raises(SequenceError, match="alphabet"):
        kernel(SequenceSet.from_strings(["ACGT"], "dna"))


def test_a_sequence_like_no_reference_follows_the_policy():
    kernel = PairwiseKernel(SpectrumKernel(k=2)).fit(["AAAA", "CCCC"])
    with pytest.raises(SequenceError, match="zero_diagonal=zero") as error:
        kernel(["AACC", "GGGG"])
    assert error.value.record == "2"
    K = kernel.set_params(zero_diagonal="zero")(["AACC", "GGGG"])
    np.testing.assert_array_equal(K, [[1, 0], [0, 0]])


def test_by_default_the_vectors_hold_smith_waterman_scores():
    proteins = ["ACDEFGHIK", "ACDEGHIK", "WWWLLLKKK", "FGHIKLMN"]
    scores = SmithWatermanKernel()(proteins)
    kernel = PairwiseKernel(normalize=False).fit(proteins)
    np.testing.assert_allclose(kernel(proteins), scores @ scores.T, rtol=1e-13)
    assert kernel.get_params(deep=False)["base"] is None
    assert build_kernel("pairwise").stored_form.kernels[0].name == "smith_waterman"


def test_plan_adds_the_products_of_vectors():
    base = SpectrumKernel(k=2)
    kernel = PairwiseKernel(base).fit(TRAIN)
    extra = kernel.plan(NEW, TRAIN).seconds - base.plan(NEW, TRAIN).seconds - base.plan(TRAIN, TRAIN).seconds
    assert extra == pytest.approx(PRODUCT_SECONDS * 3 * 4 * 4, rel=1e-6)
    extra = kernel.plan(NEW).seconds - base.plan(NEW, TRAIN).seconds
    assert extra == pytest.approx(PRODUCT_SECONDS * 6 * 4, rel=1e-6)


def test_parameters_outside_their_domain():
    with pytest.raises(ParameterError, match="vector_kernel='cubic'"):
        PairwiseKernel(SpectrumKernel(), vector_kernel="cubic").fit(TRAIN)
    with pytest.raises(ParameterError, match="gamma=-1"):
        PairwiseKernel(SpectrumKernel(), vector_kernel="rbf", gamma=-1).fit(TRAIN)
    with pytest.raises(ParameterError, match="is not fitted"):
        PairwiseKernel(SpectrumKernel())(TRAIN)
