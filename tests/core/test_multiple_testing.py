"""Corrections for many tests: by hand, against the step-down procedure and against scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from seqkern.core.statistics import benjamini_hochberg, holm


def test_holm_by_hand():
    # 4 · .01, 3 · .013, 2 · .03, 1 · .04 with the maximum carried on: .04, .04 (not .039), .06, .06 (not .04)
    assert holm([0.03, 0.01, 0.04, 0.013]) == pytest.approx([0.06, 0.04, 0.06, 0.04])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert list(holm([])) == []


def test_a_test_that_was_not_made_does_not_count():
    assert holm([0.02, math.nan, 0.5]) == pytest.approx([0.04, math.nan, 0.5], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_procedure_rejects(p):
    corrected = holm(p)
    for level in (0.01, 0.05, 0.3):
        rejected, order = set(), np.argsort(p, kind="stable")
        for step, i in enumerate(order):
            if p[i] * (len(p) - step) > level:
                break
            rejected.add(i)
        assert {i for i, value in enumerate(corrected) if value <= level} == rejected


def test_benjamini_hochberg():
    rng = np.random.default_rng(0)
    p = np.round(rng.uniform(size=50) ** 2, 2)
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p))
    assert len(benjamini_hochberg([])) == 0
