"""Scores with features selected on the test data; see also tests/models/test_feature_source.py."""

import numpy as np
import pytest

from seqkern.evaluation.estimates import biased_scores
from seqkern.evaluation.metrics import scores
from seqkern.sequences.labels import make_labels
from seqkern.solvers.capabilities import SelectedFeatures

N_TRAIN = 8


class Column:
    """A stub that selects the second feature: it decides by this feature, and predicts by whether it is above 1."""

    def __init__(self, decides):
        self.decides = decides

    def with_chosen_parameters(self):
        return Column(self.decides)

    def without_selection(self, columns):
        return None

    def fit(self, F, y):
        assert F.shape == (len(y), 1 if len(y) == N_TRAIN else 3)
        return self

    def selection(self):
        return SelectedFeatures(np.array([1]))

    def predict(self, F):
        return np.where(F[:, 0] > 1, 1.0, -1.0) if self.decides else F[:, 0]

    def decision_function(self, F):
        assert self.decides, "real labels are predicted"
        return F[:, 0]


@pytest.mark.parametrize("kind", ["real", "binary"])
def test_the_scores_are_those_of_a_solver_on_the_selected_features(kind):
    rng = np.random.default_rng(0)
    F, y, test = rng.normal(size=(28, 3)), rng.normal(size=28), np.arange(N_TRAIN, 28)
    values = y if kind == "real" else np.where(y > 0, "yes", "no").tolist()
    labels = make_labels(
        [str(i) for i in range(28)], values, **({"kind": "real"} if kind == "real" else {"positive": "yes"})
    )
    target = labels.y if kind == "real" else labels.signs()
    found = biased_scores(Column(kind == "binary"), (F[:8], F[8:]), (target[:8], target[8:]), labels, test)
    column = F[8:, 1]
    predicted = column if kind == "real" else (column > 1).astype(int)
    assert found == pytest.approx({"n_features": 1, **scores(kind, labels.y[test], column, predicted)})
