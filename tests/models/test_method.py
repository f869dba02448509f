"""One way to train: the model of a training set decides about the test set as the evaluation recorded, to the bit."""

import warnings

import numpy as np
import pytest

from seqkern.core.errors import LabelError, ModelError, ParameterError
from seqkern.evaluation import make_folds
from seqkern.gram import compute_gram
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel, build_kernel
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.loading import load_model
from seqkern.methods.method import Method
from seqkern.methods.sources import Callbacks, FitData, StoredGram
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import make_dataset

RICH = [(0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4), (0.2, 0.4, 0.2, 0.2)]
SEARCH = Search(folds=2, seed=3)
LAYERS = ["structure:window=5,n_components=30", "segments", "probabilities"]
ALIGNED = "combination:parts=[(spectrum:k=2),(spectrum:k=3)],weights=alignment"
LEARNING = "pairwise:base=(spectrum:k=2)"


def labelled(kind, n=42):
    """Return sequences, each class rich in a letter of its own, and their labels."""
    rng = np.random.default_rng(1)
    classes = 3 if kind == "multiclass" else 2
    strings = ["".join(rng.choice(list("ACGT"), 30, p=RICH[i % classes])) for i in range(n)]
    X = SequenceSet.from_strings(strings, "dna")
    if kind == "real":
        return X, make_labels(X.ids, [str(i % 2 + 0.1 * rng.standard_normal()) for i in range(n)], kind="real")
    return X, make_labels(X.ids, ["abc"[i % classes] for i in range(n)])


# name: (kind of labels, kernel, solver, what else a Method has)
METHODS = {
    "gram": ("binary", "spectrum:k=3", "csvc:C=[0.1,1]", {}),
    "probabilities": ("binary", "mismatch:k=3,m=1", "psvc:C=1", {"calibration": "platt", "threshold": "cost=1:2"}),
    "transforms": ("binary", "spectrum:k=2", "csvc:C=1", {"transforms": ["centre", "normalise"]}),
    "repaired": (
        "binary",
        "sigmoid:gamma=2,coef0=-1,base=(spectrum:k=2)",
        "csvc:C=[0.1,1]",
        {"transforms": ["repair:method=flip"], "calibration": "isotonic"},
    ),
    "learning": ("binary", LEARNING, "csvc:C=1", {"transforms": ["centre"]}),
    "aligned": ("binary", ALIGNED, "csvc:C=[0.1,1]", {}),
    "salzberg": ("binary", "salzberg", "csvc:C=1", {"threshold": "sensitivity=0.9"}),
    "implicit": ("binary", "spectrum:k=3", "linear_svc:C=[0.1,1]", {"calibration": "platt"}),
    "implicit_learning": ("binary", ALIGNED, "linear_svc:C=1", {}),
    "features": ("binary", "spectrum:k=2", "psvc:kernel=features,C=inf,epsilon=0.5", {}),
    "blocks": ("multiclass", "nystroem:base=(spectrum:k=2),n_components=9", "primal_svc:C=[0.1,1]", {}),
    "pairs_of_classes": ("multiclass", "spectrum:k=2", "csvc:C=1", {"transforms": ["centre"]}),
    "real": ("real", "spectrum:k=2", "psvr:epsilon=0.1", {}),
}
# what a model computes in another order than a fold: feature vectors that are not stored, and Nyström's map
APART = {"implicit": 1e-12, "implicit_learning": 1e-12, "blocks": 1e-5}


def method_of(name):
    """Return the kind of labels and the Method."""
    kind, kernel, solver, more = METHODS[name]
    transforms = [build_transform(item) for item in more.get("transforms", ())]
    return kind, Method(build_kernel(kernel), solver, **{**more, "transforms": transforms}, search=SEARCH)


def recorded(result, labels):
    """Return decisions and probabilities of a fold's table, and predictions as in a model."""
    several = labels.kind == "multiclass"

    def column(name):
        keys = [f"{name}:{c}" for c in labels.classes] if several else [name]
        values = [[row[key] for key in keys] for row in result.decisions if keys[0] in row]
        return np.array(values) if several else np.array(values).reshape(-1)

    return column("decision"), column("probability"), [row["predicted"] for row in result.decisions]


def check_as_recorded(decided, result, labels):
    """Check that what was decided is what the fold's table holds, to the bit."""
    decisions, probabilities, predicted = recorded(result, labels)
    np.testing.assert_array_equal(decided.decisions, decisions)
    named = decided.predicted.tolist()
    assert (named if labels.kind == "real" else [labels.classes[code] for code in named]) == predicted
    if decided.probabilities is None:
        assert not len(probabilities)
    else:
        np.testing.assert_array_equal(decided.probabilities, probabilities)


def check_same(one, two):
    """Check that two models hold the same bits; what a kernel's policies touched is not known of slices."""
    (header, arrays), (other_header, other_arrays) = one.state(), two.state()
    for made in (header, other_header):
        made["record"] = {key: value for key, value in made["record"].items() if key != "kernel_counts"}
    assert header == other_header
    assert arrays.keys() == other_arrays.keys()
    for key, values in arrays.items():
        np.testing.assert_array_equal(values, other_arrays[key], err_msg=key)


def folds(labels, X, method="stratified"):
    """Return two of three splits."""
    return list(make_folds(labels, X, method, k=3, seed=1))[:2]


def by_matrix(model, X):
    """Return a model's decisions from kernel values with its support, not from sums folded into weights of k-mers."""
    rows = model.kernel.prepare(X, like=model.columns)
    return model.by_matrix(rows)


def trained_on(method, X, labels, **more):
    """Return what `train_model` makes of a method and units."""
    (kernel,) = method.kernels.values()
    how = {"calibration": method.calibration, "threshold": method.threshold, "layers": method.layers, **more}
    search = {"folds": method.search.folds, "seed": method.search.seed}
    return train_model(X, labels, kernel, method.solver, transforms=method.transforms, **how, **search)


@pytest.mark.parametrize("name", METHODS)
def test_a_trained_model_is_the_evaluated_one(name, tmp_path):
    kind, method = method_of(name)
    X, labels = labelled(kind)
    data = method.data(X, labels)
    for split in folds(labels, X):
        result = evaluate_fold(method, data, split)
        fitted = method.fit(data, split.train, ahead=split.test)
        check_as_recorded(fitted.decide(split.test), result, labels)
        model = trained_on(method, X.take(split.train), labels.take(split.train))
        check_same(fitted.model(), model)
        model.save(tmp_path / "model")
        loaded, new = load_model(tmp_path / "model"), X.take(split.test)
        check_same(loaded, model)
        decisions, probabilities, predicted = recorded(result, labels)
        decided = loaded.decide(new)
        np.testing.assert_allclose(decided.decisions, decisions, rtol=0, atol=APART.get(name, 1e-12))
        if name not in APART and method.input == "gram":
            np.testing.assert_array_equal(by_matrix(loaded, new), decisions)
        assert kind == "real" or loaded.classify(decided.decisions).tolist() == predicted
        assert (decided.probabilities is None) == (not len(probabilities))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "implicit_learning"])
def test_rows_that_were_not_named_before_are_decided_alike(name):
    kind, method = method_of(name)
    X, labels = labelled(kind)
    data = method.data(X, labels)
    split = folds(labels, X)[0]
    fitted = method.fit(data, split.train)
    check_as_recorded(fitted.decide(split.test), evaluate_fold(method, data, split), labels)
    whole = fitted.decide(split.test)
    for row in (0, len(split.test) - 1):
        np.testing.assert_array_equal(fitted.decide(split.test[[row]]).decisions, whole.decisions[[row]])


def test_feature_vectors_that_are_computed_together_are_asked_for_ahead():
    kind, method = method_of("implicit_learning")
    X, labels = labelled(kind)
    split = folds(labels, X)[0]
    fitted = method.fit(method.data(X, labels), split.train)
    with pytest.raises(ParameterError, match="when fitting the method"):
        fitted.decide(split.test)


@pytest.mark.parametrize("name", ["gram", "probabilities", "transforms", "learning", "aligned"])
def test_stored_matrices_make_the_same_model_as_sequences(name):
    """To the bit where one stored matrix is sliced; learned weights and vectors are summed in another order."""
    kind, method = method_of(name)
    X, labels = labelled(kind)
    (key, kernel), split = next(iter(method.kernels.items())), folds(labels, X)[0]
    grams = {key: [compute_gram(one, X) for one in kernel.stored_form.kernels]}
    stored = method.data(X, labels, grams=grams)
    assert isinstance(stored.sources[key], StoredGram)
    fitted = method.fit(stored, split.train, ahead=split.test)
    check_as_recorded(fitted.decide(split.test), evaluate_fold(method, stored, split), labels)
    by_sequences = method.fit(method.data(X, labels), split.train)
    if name in ("learning", "aligned"):
        decisions = by_sequences.decide(split.test).decisions
        np.testing.assert_allclose(fitted.decide(split.test).decisions, decisions, atol=1e-10)
    else:
        check_same(fitted.model(), by_sequences.model())


def test_kernels_are_chosen_among_like_solvers():
    X, labels = labelled("binary")
    kernels = {"one": build_kernel("spectrum:k=1"), "three": build_kernel("spectrum:k=3")}
    method = Method(kernels, "csvc:C=[0.1,1]", transforms={"three": [build_transform("centre")]}, search=SEARCH)
    assert [name for name, _ in method.candidates] == ["one", "one", "three", "three"]
    data, split = method.data(X, labels), folds(labels, X)[0]
    fitted = method.fit(data, split.train, ahead=split.test)
    chosen = Method(
        {fitted.choice.kernel: kernels[fitted.choice.kernel]},
        [fitted.choice.spec],
        transforms=method.transforms,
        search=SEARCH,
    )
    alone = chosen.fit(chosen.data(X, labels), split.train)
    np.testing.assert_array_equal(fitted.decide(split.test).decisions, alone.decide(split.test).decisions)
    assert fitted.model().kernel.k == kernels[fitted.choice.kernel].k


ENTRY = {
    "simulate": {"kind": "secondary_structure", "n_chains": 12, "mean_length": 30, "propensity": 5},
    "residues": {"window": 5},
}
RESIDUES = {
    "blocks": ("window:vector_kernel=linear", "primal_svc:C=[0.1,1]", {"layers": LAYERS}),
    "gram": ("window:gamma=0.1", "one_against_rest:binary=(csvc:C=1)", {"layers": LAYERS}),
    "binary": ("window:vector_kernel=linear", "primal_svc:C=1", {"calibration": "platt"}),
    "binary_layers": ("window:gamma=0.1", "csvc:C=1", {"layers": ["segments", "probabilities"]}),
}


@pytest.mark.parametrize("name", RESIDUES)
@pytest.mark.parametrize("hidden", [False, True])
def test_a_predictor_of_residues_is_the_evaluated_one(name, hidden):
    """Also where the states of some residues are not known: layers see the decisions about them."""
    dataset = make_dataset("toy", ENTRY, seed=1)
    labels = dataset.task().labels
    if hidden:
        known = np.random.default_rng(2).random(len(labels)) < 0.7
        labels = make_labels(labels.ids, np.where(known, labels.names(), "").tolist(), groups=labels.groups)
    if name.startswith("binary"):
        labels = make_labels(labels.ids, labels.names(), positive="H", groups=labels.groups)
    kernel, solver, more = RESIDUES[name]
    method = Method(build_kernel(kernel), solver, **more, search=SEARCH)
    data = method.data(dataset.X, labels, dataset.residues)
    split = folds(labels, dataset.X, "grouped")[0]
    result = evaluate_fold(method, data, split)
    fitted = method.fit(data, split.train, ahead=split.test)
    check_as_recorded(fitted.decide(split.test), result, labels)
    check_as_recorded(method.fit(data, split.train).decide(split.test), result, labels)
    chain = dataset.residues.record
    rows = np.flatnonzero(np.isin(chain, chain[split.train]))
    assert (len(rows) > len(split.train)) == hidden
    residues = dataset.residues.take(rows)
    model = trained_on(method, dataset.X.take(rows), labels.take(rows), residues=residues)
    check_same(fitted.model(), model)
    tested = np.unique(chain[split.test])
    found, decided = model.decide(dataset.residues.chains.take(tested))
    place = {(int(tested[c]), int(at)): i for i, (c, at) in enumerate(zip(found.record, found.place, strict=True))}
    own = [place[int(chain[row]), int(dataset.residues.place[row])] for row in split.test]
    _, _, predicted = recorded(result, labels)
    assert [model.classes[code] for code in decided.predicted[own]] == predicted


class Noting(Callbacks):
    """Notes what it hears and sees."""

    def __init__(self):
        self.seen = []

    def lap(self, stage):
        self.seen.append(stage)

    def kernel_values(self, block, learns):
        self.seen.append(("values", block.train.shape, learns))

    def training_matrix(self, K, kernel, transforms, solver):
        self.seen.append(("matrix", K.shape, kernel.name, [one.name for one in transforms], solver.name))


def test_who_looks_on_sees_every_stage():
    _, method = method_of("transforms")
    X, labels = labelled("binary")
    noted = Noting()
    method.fit(method.data(X, labels), np.arange(30), callbacks=noted)
    assert noted.seen == [
        "choose",
        "hold out",
        ("values", (30, 30), False),
        "kernel",
        ("matrix", (30, 30), "spectrum", ["centre", "normalise"], "csvc"),
        "train",
    ]


def test_former_names_of_arguments_warn():
    X, labels = labelled("binary")
    method, noted = Method(SpectrumKernel(2), "csvc:C=1"), Noting()
    data = method.data(X, labels)
    with pytest.warns(DeprecationWarning, match="watch is now callbacks"):
        method.fit(data, np.arange(30), watch=noted)
    assert "train" in noted.seen
    with pytest.raises(TypeError, match="unexpected keyword argument 'watches'"):
        method.fit(data, np.arange(30), watches=noted)


def test_warnings_of_a_fit_are_shown_and_those_of_inner_fits_counted():
    X, labels = labelled("binary")
    method = Method(SpectrumKernel(2), "csvc:C=[0.1,1],max_iter=1", search=SEARCH)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = method.fit(method.data(X, labels), np.arange(30))
    assert ["before it converged" in str(one.message) for one in said] == [True]
    assert fitted.inner.n == fitted.inner.not_converged == fitted.inner_not_converged == 4
    kernel = build_kernel(f"{ALIGNED.replace('alignment', 'mkl')},max_iter=1,tol=1e-9")
    method = Method(kernel, "csvc:C=[0.1,1]", search=SEARCH)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = method.fit(method.data(X, labels), np.arange(30))
    assert len(said) == 1
    assert not fitted.kernel_converged
    assert fitted.inner.weights_not_converged == 2


def test_what_cannot_be_is_refused():
    X, labels = labelled("binary")
    one = Method(SpectrumKernel(2), "csvc:C=[0.1,1]", search=SEARCH)
    with pytest.raises(ParameterError, match="the solver needs implicit, but the source gives gram"):
        Method(SpectrumKernel(2), "linear_svc").fit(one.data(X, labels))
    alone = make_labels(X.ids, [""] * len(X), kind="none")
    with pytest.raises(LabelError, match="one of 2 candidates"):
        Method(SpectrumKernel(2), "one_class_svm:nu=[0.1,0.2]").fit(one.data(X, alone))
    components = Method(SpectrumKernel(2), "kernel_pca:n_components=2").fit(one.data(X, alone), np.arange(30))
    with pytest.raises(ModelError, match="projects on components"):
        components.decide(np.arange(30, 42))
    assert components.model().decision(X.take(slice(0, 3))).shape == (3, 2)
    values = StoredGram(compute_gram(SpectrumKernel(2), X))
    with pytest.raises(ParameterError, match="only kernel values"):
        one.fit(FitData(labels, {"spectrum": values}), np.arange(30)).model()
    layered = Method(SpectrumKernel(2), "primal_svc", layers=["probabilities"], search=SEARCH)
    with pytest.raises(ParameterError, match="predicts residues"):
        layered.fit(layered.data(X, labels), np.arange(30)).model()


@pytest.mark.parametrize("name", ["gram", "learning", "features"])
def test_a_model_of_taken_samples_keeps_these(name):
    kind, method = method_of(name)
    X, labels = labelled(kind)
    data, rows = method.data(X, labels), np.arange(9, 39)
    models = (method.fit(data, rows).model(), method.fit(data.take(rows)).model())
    decisions = [model.decision(X) for model in models]
    assert np.abs(decisions[0] - decisions[1]).max() < 1e-12
