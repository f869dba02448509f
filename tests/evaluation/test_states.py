"""Scores of states: published examples, and the naive definitions on random chains."""

import math

import numpy as np
import pytest
from naive_states import naive_segments, naive_sov

from seqkern.evaluation.residue_results import run_starts, sov, state_scores

STATES = "HEC"

# Zemla et al. 1999, Table I: prediction, Q3, SOV'94, SOV'99 of CHHHHHHHHHHC, as shares.
TABLE = [
    ("CHCHCHCHCHCC", 0.583, 0.958, 0.125),
    ("CCCHHHHHCCCC", 0.583, 0.882, 0.632),
    ("CHHHCHHHCHHC", 0.833, 1.500, 0.406),
    ("CHHCCHHHHHCC", 0.750, 1.292, 0.523),
    ("CCCHHHHHHCCC", 0.667, 0.889, 0.806),
]


def coded(text):
    return np.array([STATES.index(letter) for letter in text])


def one_chain(text):
    return np.zeros(len(text), dtype=int), np.arange(len(text))


@pytest.mark.parametrize(("predicted", "q3", "sov94", "sov99"), TABLE)
def test_published_table(predicted, q3, sov94, sov99):
    found = state_scores(coded("CHHHHHHHHHHC"), coded(predicted), *one_chain(predicted), STATES)
    assert [round(found[name], 3) for name in ("q3", "sov94", "sov99")] == [q3, sov94, sov99]


def test_published_figure():
    # Zemla et al. 1999, Figure 1: SOV of the strands
    true, predicted = "CCEEECCCCCCEEEEEECCC", "CCCCCCCEEEEECCCEECCC"
    states, _, _ = sov(coded(true), coded(predicted), *one_chain(true), 3)
    assert round(states[STATES.index("E")], 2) == 0.28


def test_published_proteins():
    # Rost et al. 1994, Figure 3b: flavodoxin against a homolog; no segment overlaps two others
    true = "....HHHHHHHHHH...........HHHHHHHHHHH......EEEE...EEEE....EE....................."
    true += "HHHHH....HHHHHHHHHHHH...HHHH...HHHH.....HHHHH....."
    other = "....HHHHHHHHHH...........HHHHHHHHHH.......EEE.....EEE....EE....................."
    other += "HHH........HHHHHHHH.....HHHH.HHHHHH......HHH......"
    rows = [coded(line.replace(".", "C")) for line in (true, other)]
    states, whole, _ = sov(*rows, *one_chain(true), 3, "94")
    assert [round(value, 2) for value in (*states, whole)] == [1.0, 1.0, 0.95, 0.98]


def random_case(rng, n_chains, longest, hidden=0.0):
    """Return rows of random chains and, for the naive twin, lists of states with None where not judged."""
    rows, chains = [], []
    for c in range(n_chains):
        length = int(rng.integers(1, longest))
        true = [STATES[i] for i in np.repeat(rng.integers(0, 3, length), rng.integers(1, 6, length))[:length]]
        predicted = [STATES[rng.integers(3)] if rng.random() < 0.3 else s for s in true]
        shown = rng.random(length) >= hidden
        rows += [(STATES.index(true[i]), STATES.index(predicted[i]), c, i) for i in range(length) if shown[i]]
        chains.append([[s if k else None for s, k in zip(line, shown, strict=True)] for line in (true, predicted)])
    return np.array(rows).reshape(-1, 4).T, chains


@pytest.mark.parametrize("version", ["94", "99"])
@pytest.mark.parametrize("hidden", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(6))
def test_equal_to_naive(seed, hidden, version):
    (true, predicted, chain, place), chains = random_case(np.random.default_rng(seed), 6, 60, hidden)
    states, whole, each = sov(true, predicted, chain, place, 3, version)
    assert whole == pytest.approx(naive_sov(chains, version), rel=1e-12)
    for code, name in enumerate(STATES):
        assert states[code] == pytest.approx(naive_sov(chains, version, name), rel=1e-12, nan_ok=True)
    for c in np.unique(chain):
        assert each[c] == pytest.approx(naive_sov([chains[c]], version), rel=1e-12)


def test_segments_end_at_chains_and_gaps():
    states, chain = np.array([0, 0, 0, 0, 0]), np.array([0, 0, 0, 1, 1])
    assert run_starts(states, chain, np.array([0, 1, 3, 0, 1])).tolist() == [0, 2, 3]
    assert naive_segments(["H", "H", None, "H"]) == [("H", 0, 1), ("H", 3, 3)]


def test_counts_by_hand():
    found = state_scores(coded("HHEEC"), coded("HEEEE"), *one_chain("HHEEC"), STATES)
    assert found["q3"] == 3 / 5
    assert [found[f"q:{s}"] for s in STATES] == [1 / 2, 1.0, 0.0]
    assert [found[f"precision:{s}"] for s in "HE"] == [1.0, 1 / 2]
    assert math.isnan(found["precision:C"])
    assert found["mcc:H"] == pytest.approx((1 * 3 - 0 * 1) / math.sqrt(1 * 2 * 3 * 4))
    assert found["mcc:C"] == 0.0


def test_order_of_rows_does_not_matter():
    (true, predicted, chain, place), _ = random_case(np.random.default_rng(9), 5, 40)
    mixed = np.random.default_rng(0).permutation(len(true))
    ordered = state_scores(true, predicted, chain, place, STATES)
    assert state_scores(true[mixed], predicted[mixed], chain[mixed] * 7 + 3, place[mixed], STATES) == ordered


def test_mean_over_chains_counts_chains_alike():
    true, predicted = coded("HHHHHHHH" + "EE"), coded("HHHHHHHH" + "CC")
    found = state_scores(true, predicted, np.repeat([0, 1], [8, 2]), np.r_[:8, :2], STATES)
    assert found["sov99_chain"] == 0.5
    assert found["sov99"] == 0.8


def test_eight_states_and_none():
    assert "q8" in state_scores([0, 7], [0, 7], [0, 0], [0, 1], "HGIEBTSC")
    empty = state_scores([], [], [], [], STATES)
    assert all(math.isnan(value) for value in empty.values())
    perfect = state_scores([0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 2], STATES)
    assert perfect["sov94"] == perfect["sov99"] == perfect["q3"] == 1.0
    assert math.isnan(perfect["q:C"])
    assert math.isnan(perfect["sov99:C"])
