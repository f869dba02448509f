"""Kernels as Python and scikit-learn have them: operators, transformers, pipelines, slices of data sets."""

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn import config_context, svm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from seqkern import SequenceSet
from seqkern.core.errors import LetterError, ParameterError, SeqkernError, SequenceError
from seqkern.kernels import FeatureMap, build_kernel, kernel_from_state
from seqkern.kernels.algebra import ProductKernel, SumKernel
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel
from seqkern.kernels.kmer.mismatch import MismatchKernel
from seqkern.kernels.vectors.approximation import NystroemKernel
from seqkern.kernels.vectors.combination import CombinationKernel
from seqkern.kernels.vectors.linear import LinearKernel, PrecomputedKernel
from seqkern.kernels.vectors.vector_kernels import PolynomialKernel, RBFKernel, SigmoidKernel
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.solvers import CSVC, PSVC, LinearSVC

N = 48
Y = np.arange(N) % 2
GROUPS = np.arange(N) // 4


def sample_strings():
    """Return N sequences of bases, every other one rich in G and C."""
    rng = np.random.default_rng(5)
    shares = [0.32, 0.18, 0.18, 0.32], [0.2, 0.3, 0.3, 0.2]
    return ["".join(rng.choice(list("ACGT"), rng.integers(20, 30), p=shares[i % 2])) for i in range(N)]


STRINGS = sample_strings()
SETS = {
    "list": STRINGS,
    "array": np.array(STRINGS),
    "array of objects": np.array(STRINGS, dtype=object),
    "SequenceSet": SequenceSet.from_strings(STRINGS, "dna"),
}
X = SETS["SequenceSet"]
each_form = pytest.mark.parametrize("form", SETS)

A, B, C = SpectrumKernel(k=2), MismatchKernel(k=3, m=1), SpectrumKernel(k=1, normalize=False)
KA, KB, KC = A(X), B(X), C(X)


def one_line(info):
    """Return the text of an error, which is one line with a remedy."""
    assert isinstance(info.value, SeqkernError)
    text = str(info.value)
    assert "\n" not in text
    assert info.value.remedy
    return text


# ---- operators -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (A + B, KA + KB),
        (A + B + C, KA + KB + KC),
        (0.3 * A, 0.3 * KA),
        (A * 0.3, 0.3 * KA),
        (0.3 * A + 0.7 * B, 0.3 * KA + 0.7 * KB),
        (2 * (A + 0.3 * B) + C, 2 * KA + 0.6 * KB + KC),
        (A * B, KA * KB),
        (A * B * C, KA * KB * KC),
        (2 * A * B, 2 * (KA * KB)),
        ((A + B) * C, (KA + KB) * KC),
        (A * B + 0.3 * C, KA * KB + 0.3 * KC),
        (C**1, KC),
        (C**2, KC * KC),
        (C**5, KC * KC * KC * KC * KC),
        ((A + C) ** 3, (KA + KC) * (KA + KC) * (KA + KC)),
        (0 * A + B, KB),
    ],
    ids=lambda value: kernel_text(value) if not isinstance(value, np.ndarray) else "",
)
def test_operators_are_the_algebra_to_the_bit(kernel, expected):
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel(X[:9], X[9:]), expected[:9, 9:])


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (A + B, "a + b"),
        (0.5 * A + B, "0.5*a + b"),
        (0.5 * A + 0.5 * B, "0.5*a + 0.5*b"),
        (2 * A, "2*a"),
        (A * 2, "2*a"),
        (1 * A, "a"),
        (2 * (0.5 * A), "2*0.5*a"),
        (0 * A + B, "0*a + b"),
        (A * B, "a*b"),
        (0.5 * A * B + C, "0.5*a*b + c"),
        (A * 0.5 * B, "0.5*a*b"),
        ((2 * A) * (B * 3), "6*a*b"),
        (2 * (A + B) * 3, "6*a + 6*b"),
        (A + (B + C), "a + b + c"),
        (A * (B * C), "a*b*c"),
        ((A + B) * C, "(a + b)*c"),
        ((A + B) ** 2, "polynomial:degree=2,coef0=0,base=(a + b)"),
        (np.float32(0.5) * A + np.int64(2) * B, "0.5*a + 2*b"),
        (sum([A, B, C]), "a + b + c"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_operators_are_the_text_form(kernel, text):
    for name, one in (("a", A), ("b", B), ("c", C)):
        text = " ".join(text.replace(name, kernel_text(one)) if text == name else text for text in split_names(text))
    read = build_kernel(text)
    assert kernel.spec() == read.spec()
    assert kernel_text(kernel) == kernel_text(read)
    assert repr(kernel) == repr(read)


def split_names(text):
    """Return a text form in pieces, of which the names a, b and c are some."""
    for sign in "*+()":
        text = text.replace(sign, f" {sign} ")
    return text.replace("base= (", "base=(").split()


def test_parts_are_the_kernels_themselves():
    both = A + B
    assert type(both) is SumKernel
    assert both.parts[0] is A
    assert both.parts[1] is B
    assert 1.0 * A is A
    assert A**1 is A
    assert type(A * B) is ProductKernel


def test_what_has_a_parameter_of_its_own_stays_one_part():
    cosine = SumKernel([A, B], normalize=True)
    assert (cosine + C).parts == [cosine, C]
    assert (0.5 * cosine).parts == [cosine]
    product = ProductKernel([A, B], normalize=True)
    assert (product * C).parts == [product, C]
    learned = CombinationKernel([A, B])
    assert (learned + C).parts == [learned, C]


def test_a_power_is_a_product_of_copies():
    np.testing.assert_array_equal((C**4)(X), ProductKernel([C, C, C, C])(X))


def test_products_of_numbers_are_plain_numbers_in_specs():
    weights = (np.float64(0.5) * A + np.int32(2) * B).weights
    assert [type(weight) for weight in weights] == [float, int]


@pytest.mark.parametrize("number", [-1, -0.5, np.inf, np.nan, np.float64(-2)])
def test_a_kernel_is_multiplied_with_numbers_from_zero(number):
    for wrong in (lambda: number * A, lambda: A * number, lambda: number * (A + B)):
        with pytest.raises(ParameterError, match="give a finite number ≥ 0") as info:
            wrong()
        assert "times a kernel" in one_line(info)


@pytest.mark.parametrize("exponent", [0, -1, 0.5, 2.0])
def test_a_kernel_is_raised_to_integers_from_one(exponent):
    with pytest.raises(ParameterError, match="give an integer ≥ 1") as info:
        A**exponent
    one_line(info)


@pytest.mark.parametrize("other", [1, "spectrum", None, True, 1j, [1], np.ones(2), np.eye(N)], ids=repr)
def test_other_types_are_type_errors(other):
    for wrong in (lambda: A + other, lambda: other + A, lambda: A - other, lambda: A**None):
        with pytest.raises(TypeError):
            wrong()
    if not isinstance(other, int) or isinstance(other, bool):
        for wrong in (lambda: A * other, lambda: other * A):
            with pytest.raises(TypeError):
                wrong()


def test_a_malformed_sum_is_a_parameter_error():
    with pytest.raises(ParameterError, match="1 weights for 2 parts"):
        SumKernel([A, B], weights=[1]) + C


def test_the_parameters_of_parts_have_names():
    both = clone(A + B)
    params = both.get_params()
    assert params["parts__0"] is both.parts[0]
    assert (params["parts__0__k"], params["parts__1__k"]) == (2, 3)
    assert "parts__0" not in both.get_params(deep=False)
    both.set_params(parts__1__k=4, weights=[1, 2])
    assert both.spec() == build_kernel("spectrum:k=2 + 2*mismatch:k=4,m=1").spec()
    both.set_params(parts__0__k=3, parts__0=SpectrumKernel(k=1))
    assert [part.k for part in both.parts] == [3, 4]
    assert (A.k, B.k) == (2, 3)
    with pytest.raises(ParameterError, match="unknown part of SumKernel '2'"):
        both.set_params(parts__2__k=1)
    with pytest.raises(ParameterError, match="colour"):
        both.set_params(parts__0__colour=1)
    nested = clone((A + B) * C).set_params(parts__0__parts__1__k=5)
    assert nested.parts[0].parts[1].k == 5


# ---- data sets are sliced as arrays are --------------------------------------------------------------------


def test_slices_of_sequences_keep_ids_and_tracks():
    track = np.arange(len(X.codes), dtype=np.uint8)
    tracked = X.replace(ids=[f"s{i}" for i in range(N)], tracks={"t": track})
    mask = Y == 1
    for rows in ([3, 0], np.array([3, 0]), slice(1, 9, 2), mask, mask.tolist(), [], (np.array([2, 1]), ...)):
        part, places = tracked[rows], np.arange(N)[rows[0] if isinstance(rows, tuple) else rows]
        assert isinstance(part, SequenceSet)
        assert part.ids == [f"s{i}" for i in places]
        assert part.strings() == [STRINGS[i] for i in places]
        assert part.tracks["t"] is not None
        np.testing.assert_array_equal(part.tracks["t"][part.positions()], track[part.positions()])
        assert np.shares_memory(part.codes, tracked.codes)


def test_a_record_is_its_letters():
    assert X[0] == STRINGS[0]
    assert X[np.int64(-1)] == STRINGS[-1]
    assert list(X) == STRINGS
    assert X.shape == (N,)
    for place in (N, -N - 1):
        with pytest.raises(IndexError):
            X[place]


def test_tables_are_sliced():
    values = np.arange(12.0).reshape(4, 3)
    table = FeatureTable(values, columns=["a", "b", "c"])
    assert table.shape == (4, 3)
    assert table[[2, 0]].ids == ["3", "1"]
    np.testing.assert_array_equal(table[1:].values, values[1:])
    np.testing.assert_array_equal(table[-1], values[-1])
    np.testing.assert_array_equal(np.asarray(table), values)
    square = SimilarityTable(values[:, :1] + values[:, 0])
    some = square[[3, 1]]
    assert some.shape == (2, 2)
    np.testing.assert_array_equal(some[0], square.values[3, [3, 1]])


def test_one_data_set_is_not_taken_for_another():
    for kernel, wrong in ((LinearKernel(), X), (PrecomputedKernel(), FeatureTable(np.eye(3)))):
        with pytest.raises(SequenceError, match=f"got a {type(wrong).__name__}"):
            kernel(wrong)
    for wrong, message in ((csr_array(np.eye(3)), "got a sparse matrix"), (np.eye(3) * 1j, "Complex data")):
        with pytest.raises(SequenceError, match=message):
            LinearKernel()(wrong)


@each_form
def test_scikit_learn_splits_sequences(form):
    first, second, y_first, _ = train_test_split(SETS[form], Y, random_state=0, stratify=Y)
    assert type(first) is type(SETS[form])
    assert len(first) == len(y_first) == 36
    assert sorted([*first, *second]) == sorted(STRINGS)


# ---- pipelines ---------------------------------------------------------------------------------------------


def by_gram(kernel, solver, splits):
    """Return scores over folds from slices of one Gram matrix."""
    K = kernel(X)
    return [
        solver.fit(K[np.ix_(train, train)], Y[train]).score(K[np.ix_(test, train)], Y[test]) for train, test in splits
    ]


@each_form
@pytest.mark.parametrize("kernel", [A, A + 0.5 * B, C**2], ids=kernel_text)
def test_cross_validation_is_that_of_a_gram_matrix(form, kernel):
    folds = StratifiedKFold(4)
    scores = cross_val_score(make_pipeline(kernel, CSVC(C=0.5)), SETS[form], Y, cv=folds)
    np.testing.assert_array_equal(scores, by_gram(kernel, CSVC(C=0.5), folds.split(STRINGS, Y)))
    np.testing.assert_array_equal(
        scores, by_gram(kernel, svm.SVC(C=0.5, kernel="precomputed"), folds.split(STRINGS, Y))
    )
    assert len(np.unique(scores)) > 1


@each_form
def test_groups_stay_together(form):
    folds = GroupKFold(3)
    scores = cross_val_score(make_pipeline(A, CSVC()), SETS[form], Y, cv=folds, groups=GROUPS)
    np.testing.assert_array_equal(scores, by_gram(A, CSVC(), folds.split(STRINGS, Y, GROUPS)))


@each_form
def test_a_grid_search_finds_the_parameters_of_kernel_and_solver(form):
    pipeline = Pipeline([("kernel", SpectrumKernel()), ("svc", CSVC())])
    grid = {"kernel__k": [1, 2, 4], "svc__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=StratifiedKFold(3), error_score="raise").fit(SETS[form], Y)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        scores = by_gram(
            SpectrumKernel(k=params["kernel__k"]), CSVC(C=params["svc__C"]), StratifiedKFold(3).split(STRINGS, Y)
        )
        assert score == np.mean(scores)
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1
    best = search.best_params_
    kernel, solver = SpectrumKernel(k=best["kernel__k"]), CSVC(C=best["svc__C"])
    solver.fit(kernel(X), Y)
    np.testing.assert_array_equal(search.decision_function(SETS[form][:7]), solver.decision_function(kernel(X)[:7]))
    assert pipeline["kernel"].k == SpectrumKernel().k


def test_a_grid_may_hold_kernels_and_parameters_of_parts():
    grid = [{"kernel": [A, B]}, {"kernel": [A + B], "kernel__parts__0__k": [1, 3], "kernel__weights": [None, [1, 2]]}]
    search = GridSearchCV(Pipeline([("kernel", A), ("svc", CSVC())]), grid, cv=3, error_score="raise").fit(STRINGS, Y)
    folds = list(StratifiedKFold(3).split(STRINGS, Y))
    tried = [A, B, *(SumKernel([SpectrumKernel(k=k), B], weights=w) for k in (1, 3) for w in (None, [1, 2]))]
    expected = [np.mean(by_gram(kernel, CSVC(), folds)) for kernel in tried]
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert A.k == 2


class SpyKernel(SpectrumKernel):
    """A k-mer kernel that notes what it is fitted on."""

    name = None
    traits = Traits(data_dependent=True)
    seen = ()

    def _fit(self, X, y):
        SpyKernel.seen = (*SpyKernel.seen, (tuple(X.ids), tuple(y)))
        self.size_ = len(X)


@pytest.mark.parametrize("kernel", [SpyKernel(k=2), 2 * SpyKernel(k=2) + A], ids=["alone", "in a sum"])
def test_a_kernel_that_learns_sees_the_training_part_alone(kernel):
    SpyKernel.seen = ()
    folds = list(StratifiedKFold(4).split(X, Y))
    cross_val_score(make_pipeline(kernel, CSVC()), X, Y, cv=folds, error_score="raise")
    expected = [(tuple(X[train].ids), tuple(Y[train])) for train, _ in folds]
    assert list(SpyKernel.seen) == expected


@each_form
def test_a_learned_gamma_is_that_of_the_training_part(form):
    folds = list(StratifiedKFold(4).split(X, Y))
    kernel = RBFKernel(gamma="scale", base=C)
    pipeline = make_pipeline(kernel, CSVC())
    for train, test in folds:
        rows = [STRINGS[i] for i in train] if form == "list" else SETS[form][train]
        new = [STRINGS[i] for i in test] if form == "list" else SETS[form][test]
        fitted = copy.deepcopy(kernel).fit(X[train], Y[train])
        solver = CSVC().fit(fitted(X[train]), Y[train])
        np.testing.assert_array_equal(
            clone(pipeline).fit(rows, Y[train]).decision_function(new),
            solver.decision_function(fitted(X[test], X[train])),
        )


def test_tables_of_numbers_go_through_pipelines():
    values = np.random.default_rng(1).standard_normal((N, 4)) + Y[:, None]
    scores = cross_val_score(make_pipeline(RBFKernel(gamma=0.2), CSVC()), values, Y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(svm.SVC(gamma=0.2), values, Y, cv=3))
    np.testing.assert_array_equal(
        scores, cross_val_score(make_pipeline(RBFKernel(gamma=0.2), CSVC()), FeatureTable(values), Y, cv=3)
    )
    similar = SimilarityTable(values @ values.T)
    np.testing.assert_array_equal(
        cross_val_score(make_pipeline(PrecomputedKernel(), CSVC()), similar, Y, cv=3, error_score="raise"),
        cross_val_score(CSVC(), values @ values.T, Y, cv=3),
    )


def test_metadata_routing_goes_through():
    with config_context(enable_metadata_routing=True):
        routed = cross_val_score(make_pipeline(A, CSVC()), X, Y, cv=3, error_score="raise")
    np.testing.assert_array_equal(routed, cross_val_score(make_pipeline(A, CSVC()), X, Y, cv=3))


# ---- a kernel as a transformer -----------------------------------------------------------------------------


@each_form
def test_transform_compares_with_the_training_units(form):
    kernel = clone(A)
    np.testing.assert_array_equal(kernel.fit_transform(SETS[form], Y), KA)
    np.testing.assert_array_equal(kernel.transform(SETS[form][:5]), KA[:5])
    np.testing.assert_array_equal(clone(A).fit(SETS[form][:9]).transform(SETS[form][9:]), KA[9:, :9])


def test_training_units_are_no_part_of_a_kernel():
    kernel = clone(A)
    identity, state = kernel.identity(), kernel.state()
    kernel.fit(X)
    assert not kernel._fitted
    assert (kernel.identity(), kernel.state(), repr(kernel)) == (identity, state, repr(A))
    assert np.shares_memory(kernel._references.samples.codes, X.codes)
    assert copy.deepcopy(kernel)._references.samples is X
    for other in (clone(kernel), kernel_from_state(*kernel.state()), copy.deepcopy(kernel).forget()):
        with pytest.raises(NotFittedError):
            other.transform(X)


def test_parts_hold_no_training_units():
    kernel = (RBFKernel(gamma="scale", base=C) + A).fit(X)
    assert kernel._references.samples is X
    assert kernel.bases[0]._fitted
    assert all(part._references is None for part in kernel.bases)


def test_a_pickle_holds_the_training_units_and_no_others():
    rng = np.random.default_rng(2)
    genome = SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), 200_000))], "dna")
    windows = genome.windows(np.zeros(20, int), np.arange(100, 2100, 100)[::-1], 9, 10)
    kernel = clone(A).fit(windows)
    stored = pickle.dumps(kernel)
    assert len(stored) < 10_000
    np.testing.assert_array_equal(pickle.loads(stored).transform(windows), A(windows))
    fitted = make_pipeline(A + B, CSVC()).fit(STRINGS, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(STRINGS), fitted.decision_function(STRINGS))


def test_text_is_read_with_the_alphabet_of_the_training_part():
    proteins = ["ACGGTK", "CCATGW", "MKVACG", "GGGACV"]
    kernel = SpectrumKernel(k=1, normalize=False).fit(proteins)
    bases_alone = ["ACG", "GGT"]
    assert SequenceSet.from_strings(bases_alone).alphabet.name == "dna"
    np.testing.assert_array_equal(
        kernel.transform(bases_alone), SpectrumKernel(k=1, normalize=False, alphabet="protein")(bases_alone, proteins)
    )
    features = FeatureMap(SpectrumKernel(k=1)).fit(proteins)
    assert features.transform(bases_alone).shape == (2, 20)


@pytest.mark.parametrize("fitted", [clone(A).fit(["ACGT", "GGCA"]), FeatureMap(A).fit(["ACGT", "GGCA"])], ids=repr)
def test_letters_that_do_not_fit_are_one_line(fitted):
    with pytest.raises(LetterError, match="letter 'E' at position 2 is not in the alphabet dna") as info:
        fitted.transform(["ACG", "AEV"])
    assert "alphabet='protein'" in one_line(info)
    assert info.value.record == "2"
    with pytest.raises(SequenceError, match="alphabet protein, the training sequences have dna") as info:
        fitted.transform(SequenceSet.from_strings(["AKV"]))
    one_line(info)


def test_before_fit_nothing_is_transformed():
    for transformer in (clone(A), FeatureMap(A)):
        for wrong in (lambda t=transformer: t.transform(X), transformer.get_feature_names_out):
            with pytest.raises(NotFittedError, match="not fitted"):
                wrong()
        with pytest.raises(NotFittedError):
            check_is_fitted(transformer)
        check_is_fitted(transformer.fit(X))


def test_the_columns_are_called_as_the_training_units():
    named = X[:3].replace(ids=["x", "y", "z"])
    kernel = clone(A).set_output(transform="pandas")
    frame = kernel.fit_transform(named)
    assert frame.columns.tolist() == kernel.get_feature_names_out().tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(frame.to_numpy(), KA[:3, :3])
    assert clone(kernel).fit(named).transform(X[3:5]).columns.tolist() == ["x", "y", "z"]
    assert isinstance(kernel.set_output(transform="default").transform(named), np.ndarray)
    assert isinstance(kernel.set_output().transform(named), np.ndarray)
    with config_context(transform_output="pandas"):
        assert clone(A).fit_transform(named).columns.tolist() == ["x", "y", "z"]
    with pytest.raises(ParameterError, match="transform='list'"):
        kernel.set_output(transform="list")
    pipeline = make_pipeline(clone(A), CSVC()).set_output(transform="pandas").fit(X, Y)
    np.testing.assert_array_equal(pipeline.predict(X), make_pipeline(clone(A), CSVC()).fit(X, Y).predict(X))


def test_tags_say_what_goes_in():
    for transformer in (A, A + B, FeatureMap(A), make_pipeline(FeatureMap(A), LinearSVC())):
        tags = get_tags(transformer)
        assert not tags.input_tags.pairwise
    for transformer, texts in ((A, True), (A + B, True), (FeatureMap(A), True), (RBFKernel(), False)):
        tags = get_tags(transformer)
        assert (tags.input_tags.string, tags.input_tags.one_d_array) == (texts, texts)
        assert tags.input_tags.two_d_array is not texts
        assert tags.transformer_tags is not None
        assert not tags.target_tags.required


def test_a_notebook_shows_a_pipeline():
    assert "SpectrumKernel" in make_pipeline(A, CSVC())._repr_html_()
    assert "SumKernel(parts=[" in repr(make_pipeline(A + B, CSVC()))


def test_scikit_learn_is_not_imported_for_a_kernel():
    code = (
        "import sys; from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel; "
        "print(SpectrumKernel(k=1).fit(['ACG'])(['ACG', 'CCC']).shape, 'sklearn' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "(2, 2) False\n"


def checks_that_do_not_apply(estimator):
    """Return scikit-learn's checks that a kernel of numbers fails, with reasons."""
    reasons = {
        "check_n_features_in_after_fitting": "the error names the column that is missing, in seqkern's words",
        "check_dtype_object": "what is not a number is a ValueError, as all wrong data are, not a TypeError",
        "check_estimators_empty_data_messages": "of no samples, or no columns, a kernel matrix is empty, or zero",
        "check_fit2d_predict1d": "the error asks for rows and columns, in seqkern's words",
    }
    if isinstance(estimator, NystroemKernel):
        reasons["check_dict_unchanged"] = "keeps its landmarks prepared, which changes no result"
    return reasons


# They are checks of transformers of numbers: for texts scikit-learn has none.
@parametrize_with_checks(
    [
        LinearKernel(),
        RBFKernel(),
        RBFKernel(gamma="scale"),
        PolynomialKernel(),
        SigmoidKernel(),
        NystroemKernel(RBFKernel()),
        LinearKernel() + 0.5 * RBFKernel(),
        LinearKernel() * RBFKernel(),
        LinearKernel() ** 2,
        FeatureMap(LinearKernel()),
        FeatureMap(NystroemKernel(RBFKernel(gamma="scale"))),
    ],
    expected_failed_checks=checks_that_do_not_apply,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


# ---- explicit features -------------------------------------------------------------------------------------

WITH_FEATURES = [
    A,
    C,
    B,
    0.5 * A + 2 * C,
    build_kernel("spectrum:k=2,part=0:10"),
    build_kernel("gappy_pair:k=1,m=2"),
    build_kernel("spectrum:k=2,normalize=true,zero_diagonal=zero,reverse_complement=true"),
    build_kernel("nystroem:base=(spectrum:k=2),n_components=10"),
]


@pytest.mark.parametrize("kernel", WITH_FEATURES, ids=kernel_text)
@each_form
def test_a_feature_map_gives_the_features_of_its_kernel(kernel, form):
    fitted = copy.deepcopy(kernel).fit(X[:30])
    expected = fitted.features.normalised(X)
    features = FeatureMap(kernel).fit(SETS[form][:30], Y[:30])
    found = features.transform(SETS[form])
    assert issparse(found) == issparse(expected)
    assert found.dtype == np.float64
    dense = found.toarray() if issparse(found) else found
    np.testing.assert_array_equal(dense, expected.toarray() if issparse(expected) else expected)
    np.testing.assert_allclose(dense @ dense.T, fitted(X), rtol=0, atol=1e-6)
    names = features.get_feature_names_out()
    assert names.shape == (found.shape[1],)
    assert len(set(names)) == len(names)
    for sparse in (True, False):
        other = clone(features).set_params(sparse_output=sparse).fit(SETS[form][:30]).transform(SETS[form])
        assert issparse(other) is sparse
        np.testing.assert_array_equal(other.toarray() if sparse else other, dense)
    if not fitted.normalize:
        own = fitted.features(X)
        np.testing.assert_array_equal(dense, own.toarray() if issparse(own) else own)


def test_features_are_named_as_the_kernel_names_them():
    features = FeatureMap(C, sparse_output=False).set_output(transform="pandas").fit(STRINGS)
    frame = features.transform(STRINGS[:2])
    assert frame.columns.tolist() == ["A", "C", "G", "T"]
    assert frame.loc[0].tolist() == [STRINGS[0].count(base) for base in "ACGT"]
    assert FeatureMap(A + C).fit(STRINGS).get_feature_names_out()[-1] == "spectrum T"
    assert FeatureMap(NystroemKernel(A)).fit(STRINGS).get_feature_names_out()[0] == "feature 1"


@pytest.mark.parametrize(
    ("solver", "sparse"),
    [
        (svm.LinearSVC(), None),
        (svm.LinearSVC(), False),
        (LinearSVC(), None),
        (PSVC(kernel="features"), None),
        (PSVC(kernel="features"), False),
    ],
)
def test_linear_solvers_learn_from_features(solver, sparse):
    folds = list(StratifiedKFold(3).split(STRINGS, Y))
    pipeline = make_pipeline(FeatureMap(A, sparse_output=sparse), solver)
    scores = cross_val_score(pipeline, STRINGS, Y, cv=folds, error_score="raise")
    vectors = A.features.normalised(X)
    vectors = vectors if sparse is None else vectors.toarray()
    np.testing.assert_array_equal(scores, cross_val_score(solver, vectors, Y, cv=folds))
    assert scores.mean() > 0.6


def test_the_kernel_of_a_feature_map_is_in_the_grid():
    pipeline = Pipeline([("features", FeatureMap(SpectrumKernel())), ("svm", LinearSVC())])
    grid = {"features__kernel__k": [2, 3], "features__kernel": [SpectrumKernel(), MismatchKernel(k=3, m=1)]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_["features"].kernel_.k == search.best_params_["features__kernel__k"]
    assert pipeline["features"].kernel.k == SpectrumKernel().k


def test_a_feature_map_leaves_its_kernel_alone_and_keeps_one_record():
    kernel = NystroemKernel(A, n_components=5)
    features = FeatureMap(kernel).fit(X)
    assert not kernel._fitted
    assert features.kernel_._fitted
    assert features.kernel_._references is None
    assert len(pickle.dumps(FeatureMap(A).fit(X))) < 3000


def test_features_that_do_not_fit_are_one_line():
    for wrong, message in (
        (lambda: FeatureMap(build_kernel("smith_waterman")).fit(STRINGS), "has no explicit features"),
        (lambda: FeatureMap("spectrum").fit(STRINGS), "is not a kernel"),
        (lambda: FeatureMap(A, sparse_output="yes").fit(STRINGS), "sparse_output='yes'"),
        (lambda: FeatureMap(A).fit([]), "no samples"),
        (lambda: FeatureMap(A).fit([1, 2]), "list of str"),
    ):
        with pytest.raises(SeqkernError, match=message) as info:
            wrong()
        one_line(info)


def test_windows_of_another_length_have_other_features():
    features = FeatureMap(build_kernel("window:vector_kernel=linear")).fit(["MKVLA", "GKVLW"])
    assert features.transform(["MKVLW"]).shape == (1, features.get_feature_names_out().size)
    with pytest.raises(SequenceError, match="features, the training samples") as info:
        features.transform(["MKV"])
    one_line(info)
