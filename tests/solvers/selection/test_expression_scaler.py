"""The preprocessing of expression values against its definition, and that nothing leaks into it."""

import json
import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import GramError, ParameterError
from seqkern.solvers.selection.selectors import ExpressionScaler, build_scaler
from seqkern.solvers.selection.selectors.scaling import scaler_from_state

pytestmark = pytest.mark.contract
EXAMPLES = [
    ExpressionScaler(),
    ExpressionScaler(normalize="log", floor=20, ceiling=16000, present_above=100, present_share=0.5),
    ExpressionScaler(normalize="quantile"),
    ExpressionScaler(normalize="quantile", floor=50, standardize=False, clip=False),
    ExpressionScaler(clip=False),
    ExpressionScaler(present_p=0.01, present_above=30, present_share=0.4),
]


def each():
    return pytest.mark.parametrize("scaler", [pytest.param(clone(one), id=repr(one)) for one in EXAMPLES])


def values(rows=15, columns=30, seed=0):
    """Return values like those of a chip: many small, some negative, few large, some equal."""
    rng = np.random.default_rng(seed)
    X = np.round(np.exp(rng.normal(4, 2, size=(rows, columns)) * rng.uniform(0.3, 1.5, size=columns)) - 20)
    X[:, 4] = 7.0
    return X


def is_present(scaler, row, value):
    """Return whether a value is above the threshold, and above the background, by the shortest half of the row."""
    if scaler.present_above is not None and not value > scaler.present_above:
        return False
    if scaler.present_p is None:
        return True
    row, half = sorted(row), len(row) // 2
    start = min(range(len(row) - half), key=lambda i: row[i + half] - row[i])
    middle = (row[start] + row[start + half]) / 2
    deviation = 1.4826 * np.median([middle - other for other in row if other <= middle])
    if deviation == 0:
        return value > middle
    return 0.5 * math.erfc((value - middle) / deviation / math.sqrt(2)) <= scaler.present_p


def naive(scaler, train, new):
    """Return new rows scaled, one value at a time."""
    low = -np.inf if scaler.floor is None else scaler.floor
    high = np.inf if scaler.ceiling is None else scaler.ceiling

    def limited(row):
        return [min(max(value, low), high) for value in row]

    reference = np.mean([sorted(limited(row)) for row in train], axis=0)

    def normalized(row):
        row = limited(row)
        if scaler.normalize == "log":
            return [np.log2(value) for value in row]
        if scaler.normalize == "quantile":
            places = sorted(row)
            return [np.mean([reference[rank] for rank in range(len(row)) if places[rank] == value]) for value in row]
        return row

    ready = np.array([normalized(row) for row in train])
    out = np.array([normalized(row) for row in new])
    for j in range(train.shape[1]):
        calls = [is_present(scaler, row, row[j]) for row in train]
        absent = np.mean(calls) < scaler.present_share
        column = ready[:, j]
        constant = scaler.standardize and column.max() - column.min() < 1e-9
        if absent or constant:
            out[:, j] = 0
            continue
        if scaler.standardize:
            mean, deviation = column.mean(), column.std()
            out[:, j] = (out[:, j] - mean) / deviation
            column = (column - mean) / deviation
        if scaler.clip:
            out[:, j] = [min(max(value, column.min()), column.max()) for value in out[:, j]]
    return out


@each()
def test_definition(scaler):
    train, new = values(), 3 * values(6, seed=1)
    scaler.fit(train)
    np.testing.assert_allclose(scaler.transform(new), naive(scaler, train, new), atol=1e-10)
    np.testing.assert_allclose(scaler.transform(train), naive(scaler, train, train), atol=1e-10)


@each()
def test_fit_transform_is_fit_and_transform(scaler):
    train = values()
    once = clone(scaler).fit_transform(train)
    np.testing.assert_array_equal(scaler.fit(train).transform(train), once)


@each()
def test_rows_are_scaled_one_by_one(scaler):
    scaler.fit(values())
    new = values(6, seed=1)
    together = scaler.transform(new)
    np.testing.assert_array_equal(np.concatenate([scaler.transform(row[None]) for row in new]), together)


def test_what_standardisation_gives():
    train = values()
    scaled = ExpressionScaler().fit_transform(train)
    varying = np.arange(30) != 4
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), varying, atol=1e-12)


def test_quantiles_are_the_same_in_every_row():
    X = np.random.default_rng(1).normal(size=(5, 40)) * np.arange(1, 6)[:, None]
    scaled = ExpressionScaler(normalize="quantile", standardize=False).fit_transform(X)
    for row in scaled:
        np.testing.assert_allclose(np.sort(row), np.sort(X, axis=1).mean(axis=0))
    np.testing.assert_array_equal(scaled.argsort(axis=1), X.argsort(axis=1))


def test_new_values_stay_in_the_range_of_the_training_rows():
    train = values()
    scaler = ExpressionScaler(normalize="log", floor=1).fit(train)
    scaled = scaler.transform(train)
    for extreme in (1e300, -1e300):
        new = scaler.transform(np.full((1, 30), extreme))[0]
        assert np.all(new <= scaled.max(axis=0))
        assert np.all(new >= scaled.min(axis=0))


def test_present_call():
    X = np.tile([50.0, 150.0], (10, 1)) + np.arange(10)[:, None]
    X[:3, 0] = 200
    for share, present in ((0.3, [True, True]), (0.31, [False, True])):
        scaler = ExpressionScaler(present_above=100, present_share=share).fit(X)
        np.testing.assert_array_equal(scaler.present_, present)
        np.testing.assert_array_equal(scaler.transform(X).any(axis=0), present)


def test_present_call_by_p_value():
    rng = np.random.default_rng(0)
    X = rng.normal(100, 10, size=(20, 400))
    X[:, :100] += 60  # expressed in all samples
    X[:4, 100] += 200  # in a fifth of them
    for share, few in ((0.15, True), (0.25, False)):
        scaler = ExpressionScaler(present_p=0.001, present_share=share).fit(X)
        np.testing.assert_array_equal(scaler.present_, np.arange(400) < 100 + few)
    flat = np.full((3, 9), 20.0)
    flat[:, 7] = 21  # of a background without any spread, every larger value is above
    np.testing.assert_array_equal(ExpressionScaler(present_p=0.05).fit(flat).present_, np.arange(9) == 7)


@each()
def test_state_and_back(scaler, tmp_path):
    train, new = values(), values(6, seed=1)
    expected = scaler.fit(train).transform(new)
    save_archive(tmp_path / "scaler", *scaler.state())
    other = scaler_from_state(*load_archive(tmp_path / "scaler"))
    assert repr(other) == repr(scaler)
    np.testing.assert_array_equal(other.transform(new), expected)


@each()
def test_restricted_to_columns(scaler):
    train, new = values(), values(6, seed=1)
    columns = np.array([3, 17, 4, 9])
    if scaler.needs_all_columns():
        columns = np.random.default_rng(0).permutation(30)
    expected = scaler.fit(train).transform(new)[:, columns]
    np.testing.assert_array_equal(scaler.restrict(columns).transform(new[:, columns]), expected)


@each()
def test_spec_and_back(scaler):
    spec = json.loads(json.dumps(scaler.spec(), allow_nan=False))
    assert repr(build_scaler(spec)) == repr(scaler)


def test_specs():
    assert build_scaler(None) is None
    assert repr(build_scaler("quantile")) == "ExpressionScaler(normalize='quantile')"
    assert build_scaler({"normalize": "log", "floor": "1e-3"}).floor == 1e-3


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ({"normalise": "log"}, "did you mean 'normalize'"),
        ({"normalize": "loq"}, "normalize=.loq."),
        ("log", "floor=None"),
        ({"normalize": "log", "floor": 0}, "floor=0"),
        ({"floor": 5, "ceiling": 4}, "ceiling=4"),
        ({"present_share": 2}, "present_share=2"),
        ({"clip": 3}, "clip=3"),
        (3, "scaler=3"),
    ],
)
def test_bad_parameters(spec, part):
    with pytest.raises(ParameterError, match=part):
        build_scaler(spec)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(value):
    X = values()
    scaler = ExpressionScaler().fit(X)
    X[2, 5] = value
    for call in (scaler.fit, scaler.transform, scaler.fit_transform):
        with pytest.raises(GramError, match="row 2"):
            call(X)
    with pytest.raises(GramError):
        scaler.fit(values()).transform(values()[:, :-1])


@parametrize_with_checks([ExpressionScaler(), ExpressionScaler(normalize="quantile")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
