"""The threshold that is set without being asked for, and predictions that agree with probabilities."""

import numpy as np
import pytest

from seqkern.core.errors import FoldError
from seqkern.evaluation.calibration import METHODS
from seqkern.kernels import SpectrumKernel
from seqkern.methods import fitted as postprocessing
from seqkern.methods.fitted import Search
from seqkern.methods.loading import load_model
from seqkern.methods.method import Method
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import Free

SEARCH = Search(folds=4, seed=2)


def data(n, positives, seed=0):
    """Return sequences of which the first are positives, a little richer in G."""
    rng = np.random.default_rng(seed)
    shares = [(0.2, 0.2, 0.4, 0.2), (0.25, 0.25, 0.25, 0.25)]
    strings = ["".join(rng.choice(list("ACGT"), 40, p=shares[i >= positives])) for i in range(n)]
    X = SequenceSet.from_strings(strings, "dna")
    return X, make_labels(X.ids, ["yes" if i < positives else "no" for i in range(n)], positive="yes")


def fitted(solver, n=120, positives=24, **options):
    X, labels = data(n, positives)
    method = Method(SpectrumKernel(2), solver, search=options.pop("search", SEARCH), **options)
    return method.fit(method.data(X, labels))


@pytest.mark.parametrize("solver", ["csvc:C=0.1", "psvc", "lssvc:C=0.01", "psvc:epsilon=[0.1,0.3]"])
def test_unequal_classes_get_a_threshold(tmp_path, solver):
    found = fitted(solver)
    assert found.threshold.rule == "balanced_accuracy"
    plain = fitted(solver, threshold="none")
    assert plain.threshold is None
    # the decisions, and with them all rankings, are the same
    X, labels = data(200, 60, seed=7)
    model, other = found.model(), plain.model()
    np.testing.assert_array_equal(model.decision(X), other.decision(X))
    assert np.array_equal(model.predict(X) == "yes", model.decision(X) > found.threshold.value)
    assert np.array_equal(other.predict(X) == "yes", other.decision(X) > 0)
    yes = labels.y == 1

    def balanced(predicted):
        return (np.mean(predicted[yes] == "yes") + np.mean(predicted[~yes] == "no")) / 2

    assert balanced(model.predict(X)) > balanced(other.predict(X))
    model.save(tmp_path / "m")
    assert np.array_equal(load_model(tmp_path / "m").predict(X), model.predict(X))


def test_equal_classes_keep_zero():
    assert fitted("csvc", positives=50).threshold is None
    assert fitted("csvc", positives=100).threshold is not None


@pytest.mark.parametrize("solver", ["one_class_svm", "weighted_threshold:binary=csvc,false_negative=5"])
def test_solvers_with_a_threshold_of_their_own_keep_it(solver):
    assert fitted(solver).threshold is None


def test_weights_of_classes_say_what_errors_cost():
    assert fitted({"solver": "csvc", "class_weight": {"yes": 9, "no": 1}}).threshold is None
    assert fitted("csvc:class_weight=balanced").threshold is not None


def test_the_metric_of_the_search_is_that_of_the_threshold():
    for metric in ("accuracy", "mcc", "balanced_accuracy"):
        search = Search(folds=4, metric=metric)
        assert fitted("csvc:C=[0.1,1]", search=search).threshold.rule == metric
    assert fitted("csvc:C=[0.1,1]", search=Search(metric="roc50")).threshold.rule == "balanced_accuracy"


def test_too_few_samples_are_no_new_error():
    found = fitted("csvc", n=12, positives=1)
    assert found.threshold is None
    assert "only one sample" in found.postprocessing.unset
    assert found.model().record["threshold_unset"] == found.postprocessing.unset
    with pytest.raises(FoldError):
        fitted("csvc", n=12, positives=1, threshold="balanced_accuracy")


def test_decisions_of_the_inner_loop_are_used_again(monkeypatch):
    monkeypatch.setattr(postprocessing, "held_out_decisions", lambda *args, **options: pytest.fail("fitted again"))
    found = fitted("csvc:C=[0.1,1]")
    assert found.inner.n == 8
    monkeypatch.undo()
    alone = fitted(f"csvc:C={found.choice.spec['C']}")
    assert alone.inner.n == 4
    assert alone.threshold == found.threshold


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("positives", [12, 60, 100])
@pytest.mark.parametrize("solver", ["csvc", "psvc"])
def test_predictions_agree_with_probabilities(tmp_path, method, positives, solver):
    found = fitted(solver, positives=positives, calibration=method)
    X, _ = data(150, 75, seed=3)
    found.model().save(tmp_path / "m")
    for model in (found.model(), load_model(tmp_path / "m")):
        decided = model.decide(X)
        assert np.array_equal(decided.predicted == 1, decided.probabilities > 0.5)
        assert np.array_equal(model.predict(X) == "yes", decided.probabilities > 0.5)
    # a rule that was asked for wins
    asked = fitted(solver, positives=positives, calibration=method, threshold="sensitivity=0.9").model()
    assert np.array_equal(asked.predict(X) == "yes", asked.decision(X) > asked.threshold.value)
    zero = fitted(solver, positives=positives, calibration=method, threshold="none").model()
    assert np.array_equal(zero.predict(X) == "yes", zero.decision(X) > 0)


def test_models_of_earlier_versions_predict_as_they_did():
    model = fitted("csvc", calibration="platt").model()
    del model.record["predicted_by"]
    X, _ = data(50, 25, seed=3)
    assert np.array_equal(model.predict(X) == "yes", model.decision(X) > 0)


def test_no_weights_are_tried_for_unequal_classes_only():
    for positives, tried in ((24, {None, "balanced"}), (60, {"balanced"})):
        X, labels = data(120, positives)
        free = Free.of("csvc")
        model = train_model(X, labels, SpectrumKernel(2), "csvc:C=[0.1,1]", free=Free((), free.class_weight))
        specs = model.record["search"]["specs"]
        assert {spec.get("class_weight") for spec in specs} == tried
        assert len(specs) == 2 * len(tried)
