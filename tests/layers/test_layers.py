"""Layers after the first machine: what each computes, and what the chain of them learns from."""

import itertools
import json

import naive_layers as naive
import numpy as np
import pytest

from seqkern.core.errors import FoldError, LabelError, ModelError, ParameterError
from seqkern.formats import Residues
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.layers import LAYERS, Layers, as_columns, build_layer, build_layers, layer_from_state
from seqkern.solvers.layers.segments import (
    SegmentModel,
    Steps,
    TrueSegments,
    best_path,
    class_probabilities,
    fit_multinomial,
    log_probabilities,
)
from seqkern.solvers.layers.window_layers import Landmarks, ScoreWindows, feature_blocks

SMALL = {name: {"window": 5, "n_components": 40} for name in ("structure", "crf", "chain_svm")}


def chains_of(lengths, window=5):
    """Return all residues of chains of some lengths."""
    strings = ["A" * length for length in lengths]
    return Residues.of_chains(SequenceSet.from_strings(strings, "protein"), window)


def noisy(lengths, k=3, seed=0, spread=1.0):
    """Return residues, classes in segments of some length, and scores that tell them badly."""
    rng = np.random.default_rng(seed)
    chains = chains_of(lengths)
    y = []
    for length in lengths:
        own = []
        while len(own) < length:
            own += [int(rng.integers(k))] * int(rng.integers(3, 9))
        y += own[:length]
    y = np.array(y)
    scores = spread * rng.standard_normal((len(y), k))
    scores[np.arange(len(y)), y] += 1.5
    return chains, y, scores


def some_model(shortest, seed):
    """Return a model of segments with transitions at random."""
    rng = np.random.default_rng(seed)
    k = len(shortest)
    start = rng.dirichlet(np.ones(k))
    follow = rng.random((k, k)) + 0.1
    np.fill_diagonal(follow, 0.0)
    follow /= follow.sum(axis=1, keepdims=True)
    np.fill_diagonal(follow, 1.0)
    follow = np.log(follow)
    return SegmentModel(
        np.array(shortest), np.log(start), np.log(rng.uniform(0.2, 0.9, k)), follow, (1.0, 0.0, 0.3)[seed % 3]
    )


def layer(name):
    return build_layer({"layer": name, **SMALL.get(name, {})})


# ---- segments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shortest", [(3, 2, 1), (1, 1), (2, 3), (4, 3, 5), (1, 4)])
def test_path_and_probabilities_against_all_paths(shortest):
    rng = np.random.default_rng(len(shortest))
    lengths = [1, 7, 2, 8 if len(shortest) == 2 else 6, 3]
    chains = chains_of(lengths)
    for seed in range(5):
        model = some_model(shortest, seed)
        evidence = 2.0 * rng.standard_normal((len(chains), len(shortest)))
        steps = Steps.of(chains)
        path = best_path(model, evidence, steps)
        p = class_probabilities(model, evidence, steps)
        for _, rows in chains.chain_rows():
            expected, score = naive.best_path(evidence[rows], model)
            assert naive.path_score(path[rows].tolist(), evidence[rows], model) == pytest.approx(score, abs=1e-9)
            assert path[rows].tolist() == expected
            np.testing.assert_allclose(p[rows], naive.class_probabilities(evidence[rows], model), atol=1e-9)


def test_missing_residues_count_as_unknown_ones():
    chains = chains_of([8, 5])
    model = some_model((3, 2, 1), 3)
    evidence = np.random.default_rng(5).standard_normal((13, 3))
    there = np.array([0, 1, 4, 5, 7, 9, 10, 11])
    evidence[[2, 3, 6]] = 0.0
    path = best_path(model, evidence[there], Steps.of(chains.take(there)))
    p = class_probabilities(model, evidence[there], Steps.of(chains.take(there)))
    expected, _ = naive.best_path(evidence[:8], model)
    assert path[:5].tolist() == np.array(expected)[[0, 1, 4, 5, 7]].tolist()
    np.testing.assert_allclose(p[:5], naive.class_probabilities(evidence[:8], model)[[0, 1, 4, 5, 7]], atol=1e-9)
    # the second chain begins and ends with the residues that are there
    assert path[5:].tolist() == naive.best_path(evidence[9:12], model)[0]


def test_rows_in_any_order_give_the_same_bits():
    chains, y, scores = noisy([30, 1, 12, 7])
    order = np.random.default_rng(0).permutation(len(y))
    for name in LAYERS.classes:
        fitted = layer(name).fit(scores, chains, y)
        mixed = fitted.transform(scores[order], chains.take(order))
        if name in SMALL:  # sums of a block by BLAS
            np.testing.assert_allclose(mixed, fitted.transform(scores, chains)[order], rtol=1e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(mixed, fitted.transform(scores, chains)[order])
        alone = chains.record == 2
        np.testing.assert_allclose(
            fitted.transform(scores[alone], chains.take(alone)), fitted.transform(scores, chains)[alone], atol=1e-6
        )


def test_default_lengths_are_those_of_the_true_segments():
    # one strand in five is an isolated bridge, one helix in 150 has three residues, no coil is shorter than two
    cycle = [*"CCHHHHCCE", *"CCHHHHCCEEE" * 4]
    text = "".join(cycle) * 30 + "CCHHHCC"
    y = np.array(["CEH".index(state) for state in text])
    chains = chains_of([len(text)])
    fitted = build_layer("segments:weight=0.1").fit(np.eye(3)[y], chains, y, "CEH")
    assert fitted.learned() == {"shortest C": 2, "shortest E": 1, "shortest H": 4}
    # with one more of a hundred they do occur
    more = np.concatenate([y, y[-7:]])
    assert TrueSegments.of(chains_of([len(more)]), more).shortest(3, 100).tolist() == [2, 1, 3]
    given = build_layer("segments:shortest=H:6,weight=0.1").fit(np.eye(3)[y], chains, y, "CEH")
    assert given.model_.shortest.tolist() == [1, 1, 6]
    assert given.learned() == {}


def test_segments_that_are_cut_do_not_count_as_short():
    chains = chains_of([8, 3])
    y = np.array([0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1])
    found = TrueSegments.of(chains, y)
    assert found.length.tolist() == [3, 2, 3, 3]
    assert found.whole.all()
    assert found.shortest(3, 2).tolist() == [2, 2, 1]
    there = np.array([0, 1, 2, 4, 5, 6, 7, 9, 10])  # the fourth residue is missing, and the first of chain two
    cut = TrueSegments.of(chains.take(there), y[there])
    assert cut.length.tolist() == [3, 1, 3, 2]
    assert cut.whole.tolist() == [False, False, True, False]
    assert cut.shortest(2, 100).tolist() == [3, 1]


def test_no_segment_is_too_short_but_where_the_chain_is():
    lengths = [1, 2, 3, 5, 40, 90, 61]
    chains, y, scores = noisy(lengths, spread=2.0)
    fitted = build_layer("segments:shortest=x:4 y:3 z:2").fit(scores, chains, y, "xyz")
    predicted = fitted.predict(scores, chains)
    least = (4, 3, 2)
    for _, rows in chains.chain_rows():
        for state, length in naive.runs(predicted[rows].tolist()):
            assert length >= least[state] or len(rows) < min(least)
    free = build_layer("segments:shortest=x:1").fit(scores, chains, y, "xyz").predict(scores, chains)
    assert any(length < least[state] for state, length in naive.runs(free.tolist()))


def test_transitions_are_counted_within_chains():
    chains = chains_of([6, 3])
    y = np.array([0, 0, 0, 1, 1, 0, 1, 1, 0])
    model = TrueSegments.of(chains, y).model(np.array([2, 1]))
    np.testing.assert_allclose(np.exp(model.start), [2 / 4, 2 / 4])
    # class 0: one residue stays (of three), once another follows; class 1: two stay, twice another follows
    np.testing.assert_allclose(np.exp(model.stay), [2 / 4, 3 / 6])
    np.testing.assert_allclose(np.exp(model.follow), [[1, 1], [1, 1]])
    gap = TrueSegments.of(chains.take([0, 1, 3, 4]), y[[0, 1, 3, 4]]).model(np.array([2, 1]))
    np.testing.assert_allclose(np.exp(gap.stay), [1 / 2, 2 / 3])


def test_smoothing_helps_where_segments_are_long():
    chains, y, scores = noisy([60] * 30)
    new, truth, other = noisy([60] * 10, seed=1)
    fitted = build_layer("segments").fit(scores, chains, y, "ABC")
    assert (fitted.predict(other, new) == truth).mean() > (other.argmax(axis=1) == truth).mean() + 0.05
    likelihood = fitted.transform(other, new)[np.arange(len(truth)), truth].mean()
    assert (
        likelihood
        > build_layer("probabilities").fit(scores, chains, y).transform(other, new)[np.arange(len(truth)), truth].mean()
    )


# ---- probabilities --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 8])
def test_probabilities_against_scikit_learn(k):
    from sklearn.linear_model import LogisticRegression

    _, y, scores = noisy([200, 150], k=k)
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    weights, intercepts, converged = fit_multinomial(scores, y)
    assert converged
    ours = np.exp(log_probabilities(scores, weights, intercepts))
    if k > 2:
        theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10000).fit(scores, y).predict_proba(scores)
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    np.testing.assert_allclose(ours.sum(axis=1), 1.0)
    # where the likelihood is greatest, probabilities are right on average
    np.testing.assert_allclose(ours.mean(axis=0), np.bincount(y) / len(y), atol=1e-6)


def test_probabilities_of_scores_that_say_nothing_or_everything():
    y = np.array([0, 0, 0, 1, 2, 2])
    chains = chains_of([6])
    fitted = build_layer("probabilities").fit(np.zeros((6, 3)), chains, y)
    np.testing.assert_allclose(np.exp(fitted.transform(np.zeros((6, 3)), chains))[0], [3 / 6, 1 / 6, 2 / 6], atol=1e-6)
    apart = np.eye(3)[y] * 1e6
    p = build_layer("probabilities").fit(apart, chains, y)
    assert p.not_converged_ == 0
    assert np.isfinite(p.transform(apart, chains)).all()
    assert p.predict(apart, chains).tolist() == y.tolist()


# ---- the contract ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(LAYERS.classes))
@pytest.mark.parametrize("k", [2, 3])
def test_state_gives_the_same_layer(name, k):
    chains, y, scores = noisy([25, 14, 30], k=k)
    fitted = layer(name).fit(scores, chains, y)
    header, arrays = fitted.state()
    again = layer_from_state(json.loads(json.dumps(header)), arrays)
    np.testing.assert_array_equal(again.transform(scores, chains), fitted.transform(scores, chains))
    np.testing.assert_array_equal(again.predict(scores, chains), fitted.predict(scores, chains))
    assert again.classes_ == fitted.classes_
    assert again.spec() == fitted.spec()
    assert fitted.transform(scores, chains).shape == (len(y), k)
    assert (layer(name).fit(scores, chains, y).transform(scores, chains) == fitted.transform(scores, chains)).all()


@pytest.mark.parametrize("name", list(LAYERS.classes))
def test_a_damaged_state(name):
    chains, y, scores = noisy([25, 14, 30])
    header, arrays = layer(name).fit(scores, chains, y).state()
    own = [key for key in arrays if not key.startswith("solver/")]
    assert own
    for key in own:
        for damaged in (arrays[key][:-1], np.full_like(arrays[key], -1) if key == "shortest" else arrays[key] * np.nan):
            with pytest.raises(ModelError):
                layer_from_state(header, arrays | {key: damaged})
        with pytest.raises(ModelError):
            layer_from_state(header, {other: array for other, array in arrays.items() if other != key})
    with pytest.raises(ModelError):
        layer_from_state({**header, "classes": ["a", "b"]}, arrays)


@pytest.mark.parametrize("name", list(LAYERS.classes))
def test_what_does_not_fit_is_refused(name):
    chains, y, scores = noisy([9, 7])
    for bad in ((scores[:-1], chains, y), (scores, chains, y[:-1]), (scores[:, :1], chains, y)):
        with pytest.raises(LabelError, match=r"residues, .* labels"):
            layer(name).fit(*bad)
    with pytest.raises(LabelError, match="2 classes for scores"):
        layer(name).fit(scores, chains, y, "ab")
    with pytest.raises(LabelError, match="no residue of class 'c'"):
        layer(name).fit(scores, chains, np.minimum(y, 1), "abc")
    assert LAYERS.get(name).summary
    assert LAYERS.get(name).__doc__


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("structur", "did you mean 'structure'"),
        ("structure:windw=5", "did you mean 'window'"),
        ("structure:window=4", "even"),
        ("structure:features=cubic", "linear"),
        ("structure:position_weights=[1,2]", "position_weights"),
        ("structure:C=0", "C=0"),
        ("segments:weight=2", "weight"),
        ("segments:shortest=H3", "H:3 E:2"),
        ({"layer": "segments", "shortest": {"H": 0}}, "shortest H"),
        ({"window": 5}, "not a layer"),
        ([3], "not a layer"),
        ("[structure", "not JSON"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(ParameterError) as error:
        build_layers(spec)
    assert message in str(error.value)


def test_residues_without_a_class_are_neighbours_only():
    chains, y, scores = noisy([40] * 6)
    hidden = np.random.default_rng(2).random(len(y)) < 0.4
    seen, known = np.where(hidden, -1, y), np.flatnonzero(~hidden)
    found = {name: layer(name).fit(scores, chains, seen) for name in LAYERS.classes}
    alone = build_layer("probabilities").fit(scores[known], chains.take(known), y[known])
    np.testing.assert_array_equal(found["probabilities"].weights_, alone.weights_)
    # the machine learns from windows without a gap, those of the residues that have a class
    structure, windows = found["structure"], found["structure"]._windows(scores, chains)
    blocks = feature_blocks(windows, structure.landmarks_)
    again = structure._new_solver().fit(blocks.take(known), y[known])
    np.testing.assert_allclose(again.decision_function(blocks), structure.transform(scores, chains), atol=1e-5)
    # and paths lead over residues without a class
    segments = found["segments"]
    path = segments.predict(scores, chains)
    for weight in (0.0, 0.2, 0.5):
        other = build_layer(f"segments:weight={weight}").fit(scores, chains, seen).predict(scores, chains)
        assert (path == y)[known].sum() >= (other == y)[known].sum()
    with pytest.raises(LabelError, match="no residue of class"):
        layer("segments").fit(scores, chains, np.full(len(y), -1))


def test_forms_of_specs():
    both = [build_layer("structure:window=5"), build_layer({"layer": "segments", "shortest": {"H": 3}})]
    text = json.dumps([one.spec() for one in both])
    for form in (text, [text], [one.spec() for one in both], ["structure:window=5", both[1]]):
        assert [one.spec() for one in build_layers(form)] == [one.spec() for one in both]
    assert build_layers(None) == []
    with pytest.raises(ParameterError, match="not a class"):
        build_layer("segments:shortest=H:3").check_classes(("A", "B"))
    with pytest.raises(ModelError):
        layer_from_state({"spec": {"layer": "unknown"}}, {})


# ---- chains of layers -----------------------------------------------------------------------------------


def fold_parts(chains, folds=3):
    """Return rows of the training and held-out parts of folds by chain."""
    fold = chains.record % folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(folds)]


class Told:
    """A layer that remembers the rows that it was fitted on and gives, for each row, how often the row was seen."""

    calibrated = decides = False
    name = "told"
    not_converged_ = 0
    fits = ()

    def __init__(self, number):
        self.number = number

    def check_parameters(self):
        pass

    def fit(self, scores, chains, y, classes):
        self.seen = set(zip(chains.record.tolist(), chains.place.tolist(), strict=True))
        type(self).fits += ((self.number, self.seen, scores.copy()),)
        return self

    def transform(self, scores, chains):
        own = zip(chains.record.tolist(), chains.place.tolist(), strict=True)
        return scores + np.array([[one in self.seen] for one in own], dtype=np.float64)


def test_no_layer_learns_from_what_was_fitted_on_the_same_residues():
    chains, y, scores = noisy([8, 7, 9, 6, 5, 10])
    scores[:] = 0.0
    Told.fits = ()
    layers = Layers([])
    layers.layers = [Told(1), Told(2), Told(3)]
    layers.fit(scores, chains, y, fold_parts(chains))
    # nothing that a layer was given had been seen by the copy that made it
    assert all((given == 0).all() for _, _, given in Told.fits)
    numbers = [number for number, _, _ in Told.fits]
    assert numbers == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    whole = [len(seen) for number, seen, _ in Told.fits if len(seen) == len(y)]
    assert len(whole) == 3
    # what is kept was fitted on all: it has seen each of the residues
    assert (layers.decide(scores, chains).scores == 3).all()


def test_residues_without_scores_are_left_out():
    chains, y, scores = noisy([8, 7, 9, 6, 5, 10])
    parts = fold_parts(chains)
    scores[parts[1][1]] = np.nan
    Told.fits = ()
    layers = Layers([])
    layers.layers = [Told(1), Told(2)]
    layers.fit(scores, chains, y, parts)
    without = set(chains.record[parts[1][1]].tolist())
    assert without
    for _, seen, _ in Told.fits:
        assert not without & {record for record, _ in seen}
    with pytest.raises(FoldError, match="no residue has a score"):
        layers.fit(np.full_like(scores, np.nan), chains, y, parts)
    with pytest.raises(FoldError, match="inner folds: layer 'segments': no residue of class"):
        Layers(["segments"]).fit(scores, chains, np.where(np.isnan(scores[:, 0]), y, np.minimum(y, 1)), parts)


SPECS = ["structure:window=5,n_components=40", "segments", "probabilities"]


@pytest.mark.parametrize("k", [2, 3])
def test_a_chain_of_layers(k):
    chains, y, scores = noisy([40] * 9, k=k)
    given = scores if k == 3 else scores[:, 1] - scores[:, 0]
    layers = Layers(SPECS).fit(given, chains, y, fold_parts(chains), "HEC"[:k])
    new, truth, other = noisy([40] * 5, k=k, seed=9)
    found = layers.decide(other if k == 3 else other[:, 1] - other[:, 0], new)
    assert (found.predicted == truth).mean() > (other.argmax(axis=1) == truth).mean()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.exp(found.scores), found.probabilities)
    header, arrays = layers.state()
    again = Layers.from_state(json.loads(json.dumps(header)), arrays)
    for one, two in zip(again.decide(other if k == 3 else other[:, 1] - other[:, 0], new), found, strict=True):
        np.testing.assert_array_equal(one, two)
    assert again.specs() == layers.specs()
    # the path stands, whatever probabilities follow; another machine after it decides anew
    path = Layers(SPECS[:2]).fit(given, chains, y, fold_parts(chains), "HEC"[:k]).decide(as_columns(scores), chains)
    kept = layers.decide(as_columns(scores), chains)
    np.testing.assert_array_equal(path.predicted, kept.predicted)
    for state, length in itertools.chain.from_iterable(
        naive.runs(kept.predicted[rows].tolist()) for _, rows in chains.chain_rows()
    ):
        assert length >= (3, 2, 1)[state]
    anew = Layers([SPECS[1], SPECS[0]]).fit(given, chains, y, fold_parts(chains), "HEC"[:k]).decide(given, chains)
    assert anew.probabilities is None
    np.testing.assert_array_equal(anew.predicted, anew.scores.argmax(axis=1))


def test_windows_of_scores_know_the_ends_of_chains():
    chains, y, scores = noisy([6, 1, 4])
    there = np.array([0, 1, 2, 4, 5, 6, 8, 9, 10])
    part = chains.take(there)
    fitted = build_layer("structure:window=5,features=linear,position_weights=[1,2,3,4,5]").fit(scores, chains, y)
    expected = naive.windows(
        (scores[there] - fitted.mean_) / fitted.scale_, part.record, part.place, np.sqrt([1, 2, 3, 4, 5])
    )
    expected[:, -3:] /= fitted.chain_scale_
    found = fitted._windows(scores[there], part)
    np.testing.assert_allclose(found.take(slice(0, len(there))), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found.take(np.array([3, 1])), found.take(slice(None))[[3, 1]])


def test_features_of_an_rbf_kernel():
    chains, _, scores = noisy([30, 25])
    windows = ScoreWindows(scores, scores, chains, 5, "gaussian")
    vectors = windows.take(slice(None)).astype(np.float64)
    exact = np.exp(-0.1 * ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
    whole = Landmarks.draw(windows, 100, 0.1, 1)  # every window is a landmark
    F = whole.features(windows.take(slice(None))).astype(np.float64)
    np.testing.assert_allclose(F @ F.T, exact, atol=1e-3)
    few = Landmarks.draw(windows, 20, 0.1, 1)
    assert few.map.shape[0] == 20
    rows = np.array([40, 3, 17])
    np.testing.assert_array_equal(few.features(windows.take(rows)), few.features(windows.take(slice(None)))[rows])
