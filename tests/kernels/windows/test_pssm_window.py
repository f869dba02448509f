"""The PSSM window kernel against its definition; windows around every residue."""

import numpy as np
import pytest
from naive_profiles import random_profiles

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.formats import residue_windows
from seqkern.kernels import PSSMWindowKernel, kernel_from_state
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

STRINGS = ["MKVLAAGWYC", "WWWMK*LVAR", "ACDEFGHIKL", "**********"]


def vectors(X, scaling):
    """Return φ of each window by its definition, float64 (n, ·)."""
    rows = []
    for start, stop in zip(X.starts, X.stops, strict=True):
        row = []
        for p in range(start, stop):
            if X.codes[p] == MASK:
                row += [0.0] * 20 + [1.0]
            else:
                scores = X.tracks["pssm"][p].astype(np.float64)
                row += [*(1 / (1 + np.exp(-scores)) if scaling == "logistic" else scores), 0.0]
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("scaling", ["logistic", "raw"])
def test_equals_the_definition(scaling):
    X = random_profiles(STRINGS, "protein", seed=1)
    Y = random_profiles(STRINGS[:2], "protein", seed=2)
    a, b = vectors(X, scaling), vectors(Y, scaling)
    dots, squares = a @ b.T, ((a[:, None] - b) ** 2).sum(axis=2)
    expected = {
        "linear": dots,
        "polynomial": (0.01 * dots + 0.5) ** 3,
        "rbf": np.exp(-0.01 * squares),
    }
    for name, values in expected.items():
        kernel = PSSMWindowKernel(scaling=scaling, vector_kernel=name, gamma=0.01, degree=3, coef0=0.5)
        np.testing.assert_allclose(kernel(X, Y), values, rtol=1e-10)
        kernel.set_params(normalize=True)
        np.testing.assert_allclose(np.diagonal(kernel(X)), 1.0, rtol=1e-14)
    kernel = PSSMWindowKernel(scaling=scaling, gamma="scale").fit(X)
    gamma = 1 / ((a - a.mean(axis=0)) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(kernel(X, Y), np.exp(-gamma * squares), rtol=1e-10)
    np.testing.assert_array_equal(kernel_from_state(*kernel.state())(X, Y), kernel(X, Y))


def test_windows_of_another_length_are_named():
    X = random_profiles(STRINGS, "protein")
    short = random_profiles([string[1:-1] for string in STRINGS], "protein")
    with pytest.raises(SequenceError, match="record '1': is a window of 8 residues, others have 10"):
        PSSMWindowKernel()(short, X)
    with pytest.raises(SequenceError, match=r"needs the track 'pssm'; give it .* --profiles PATH"):
        PSSMWindowKernel()(["MKVLAA"])
    for options in ({"scaling": "log"}, {"vector_kernel": "sigmoid"}, {"gamma": 0}, {"gamma": "auto"}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            PSSMWindowKernel(**options)(X)
    odd = X.tracks["pssm"].copy()
    odd[3, 2] = np.nan
    with pytest.raises(SequenceError, match="row 4 of the track 'pssm' is not finite numbers"):
        PSSMWindowKernel()(X.replace(tracks={"pssm": odd}))


def test_the_plan_grows_with_the_pairs():
    X = random_profiles(STRINGS, "protein")
    one, four = PSSMWindowKernel().plan(X), PSSMWindowKernel().plan(X.take([0, 1, 2, 3] * 2))
    assert four.seconds == pytest.approx(4 * one.seconds)
    assert one.bytes == 16 * 4 * 10 * 21


def test_windows_around_every_residue():
    X = random_profiles(["MKV", "", "WYCAR"], "protein").take([0, 1, 2])
    windows = residue_windows(X, 2)
    assert windows.strings()[:3] == ["**MKV", "*MKV*", "MKV**"]
    assert windows.strings()[3:] == ["**WYC", "*WYCA", "WYCAR", "YCAR*", "CAR**"]
    assert windows.ids[:4] == ["1:1", "1:2", "1:3", "3:1"]
    for i, (start, stop) in enumerate(zip(windows.starts, windows.stops, strict=True)):
        np.testing.assert_array_equal(windows.tracks["pssm"][start + 2], X.tracks["pssm"][i])
        masked = windows.codes[start:stop] == MASK
        assert not windows.tracks["pssm"][start:stop][masked].any()
    assert len(residue_windows(X, 0)) == 8
    assert np.isfinite(PSSMWindowKernel()(windows)).all()


def test_gamma_is_learned_from_profiles_that_are_searched_for():
    X = SequenceSet.from_strings(["MKVLAAGWYC", "ACDEFGHIKL", "MKVLAAGWYC"], alphabet="protein")
    searched = PSSMWindowKernel(gamma="scale", search="training", iterations=1).fit(X)
    given = PSSMWindowKernel(gamma="scale").fit(searched.with_profiles(X))
    assert searched.gamma_ == given.gamma_
    np.testing.assert_array_equal(kernel_from_state(*searched.state())(X), searched(X))
