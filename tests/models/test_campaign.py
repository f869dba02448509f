"""All variants of a parent, and the replay of campaigns."""

import csv
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.methods import campaign
from seqkern.methods.campaign import MOST_VARIANTS, MutantPool, replay
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

PGB = Path(os.environ.get("SEQKERN_DATA", "data")) / "pgb" / "fitness_all.csv"


def naive(parent, letters, positions, exclude, most):
    """Return the variants by a filter of all sequences."""
    found = set()
    for made in itertools.product(letters, repeat=len(parent)):
        changed = [i for i, letter in enumerate(made) if letter != parent[i]]
        allowed = all(i in positions and made[i] not in exclude for i in changed)
        if allowed and 1 <= len(changed) <= most:
            found.add("".join(made))
    return found


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize(("positions", "exclude", "most"), [((0, 2, 3), "", 3), ((1, 2, 4), "G", 2), ((0,), "AC", 1)])
def test_every_variant_is_made_once_in_chunks(monkeypatch, step, positions, exclude, most):
    monkeypatch.setattr(campaign, "CHUNK_VARIANTS", step)
    pool = MutantPool.within("GATTC", DNA, positions, exclude, most)
    chunks = list(pool.chunks())
    assert all(len(X) < 2 * step for X in chunks)
    made = [text for X in chunks for text in X.strings()]
    assert len(made) == len(set(made)) == pool.n
    assert set(made) == naive("GATTC", "ACGT", positions, exclude, most)
    assert [pool.sequence(name) for X in chunks for name in X.ids] == made


def test_as_many_mutations_as_the_limit_allows():
    for length, most, n in ((4, 4, 20**4 - 1), (5, 4, 20**5 - 19**5 - 1), (300, 1, 5700)):
        pool = MutantPool.within("A" * length, PROTEIN, range(length))
        assert (pool.most, pool.n) == (most, n)
        assert n <= MOST_VARIANTS
    assert MutantPool.within("A" * 300, PROTEIN, (3, 4), most=5).most == 2
    with pytest.raises(ParameterError, match=r"16,196,550 variants .* give --mutations 1, or fewer --positions"):
        MutantPool.within("A" * 300, PROTEIN, range(300), most=2)


def random_landscape(n=150, seed=2):
    rng = np.random.default_rng(seed)
    X = SequenceSet.from_strings(sorted({"".join(rng.choice(list("ACDEFG"), 5)) for _ in range(n)}), "protein")
    weights = rng.normal(size=(5, 20))
    codes = X.codes.reshape(-1, 5)
    return X, weights[np.arange(5), codes].sum(axis=1)


def test_a_replay_counts_what_was_measured(monkeypatch):
    monkeypatch.setattr(campaign, "REPEATS", 2)
    X, y = random_landscape()
    found = replay(X, y, 10, start=15, rounds=3, n_threads=1)
    orders = [np.random.default_rng([1, repeat]).permutation(len(X)) for repeat in range(2)]
    top = set(np.argsort(-y)[: -(-len(y) // 100)])
    for r in range(3):  # chance is known
        row = next(one for one in found if one.strategy == "random" and one.round == r + 1)
        measured = [order[: 15 + 10 * r] for order in orders]
        assert row.measured == 15 + 10 * r
        assert row.best == pytest.approx(np.mean([y[rows].max() for rows in measured]))
        assert row.top == pytest.approx(np.mean([len(top & set(rows)) / len(top) for rows in measured]))
    last = {row.strategy: row for row in found if row.round == 3}
    assert last["ridge"].best > last["random"].best
    assert replay(X, -y, 10, start=15, rounds=3, minimize=True, n_threads=1) == [
        row._replace(best=-row.best) for row in found
    ]


def test_until_two_values_differ_choices_are_random(monkeypatch):
    monkeypatch.setattr(campaign, "REPEATS", 1)
    X, y = random_landscape()
    flat = np.where(y > np.sort(y)[-3], 1.0, 0.0)
    order = np.random.default_rng([1, 0]).permutation(len(X))
    assert not flat[order[:20]].any()
    found = replay(X, flat, 10, rounds=2, n_threads=1)
    assert len({(row.best, row.top) for row in found if row.round == 2}) == 1


@pytest.mark.skipif(not PGB.exists(), reason="needs the landscape of a protoglobin in $SEQKERN_DATA")
def test_a_measured_landscape():
    rows = list(csv.DictReader(PGB.read_text().splitlines()))
    X = SequenceSet.from_strings([row["Combo"] for row in rows], "protein")
    found = replay(X, np.array([float(row["Diff"]) for row in rows]), 24, rounds=3, n_threads=1)
    last = {row.strategy: row.top for row in found if row.round == 3}
    assert min(last["model"], last["greedy"], last["ridge"]) > 2 * last["random"]
