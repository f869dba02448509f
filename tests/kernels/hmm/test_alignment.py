"""Multiple alignments: each merge against a naive twin, and what holds for all of them."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from naive import encode

from seqkern.core.errors import SequenceError
from seqkern.kernels.models import _forward_backward, profile_hmm
from seqkern.kernels.models.profile_hmm import align_sequences, build_profile
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA

SCORE = score_table("NUC.4.4", DNA)[:-1, :-1].copy()


def counts_of(rows):
    """Return the columns of an alignment as the loops take them; ``X`` is a masked residue."""
    columns = [[sum(row[j] == letter for row in rows) for j in range(len(rows[0]))] for letter in "ACGT"]
    return np.array([*columns, [sum(row[j] != "-" for row in rows) for j in range(len(rows[0]))]], dtype=float)


def value_of(path, first, second):
    """Return the score of a path: of all pairs of residues, less gaps."""
    a, b, total, last = counts_of(first), counts_of(second), 0.0, None
    i = j = 0
    for state in path:
        if state == 0:
            pairs = itertools.product((row[i] for row in first), (row[j] for row in second))
            total += sum(SCORE["ACGT".index(x), "ACGT".index(z)] for x, z in pairs if {x, z} <= set("ACGT"))
        else:
            residues = a[-1, i] * len(second) if state == 1 else b[-1, j] * len(first)
            total -= residues * (3 if state != last else 1)
        i, j, last = i + (state != 2), j + (state != 1), state
    assert (i, j) == (a.shape[1], b.shape[1])
    return total


def paths(n, m):
    """Yield all alignments of n with m columns."""
    if n == m == 0:
        yield ()
    for state, (i, j) in enumerate(((1, 1), (1, 0), (0, 1))):
        if i <= n and j <= m:
            yield from ((state, *rest) for rest in paths(n - i, m - j))


@pytest.mark.parametrize("seed", range(12))
def test_two_alignments_have_the_best_score_of_all(seed):
    rng = np.random.default_rng(seed)
    first, second = (
        ["".join(rng.choice(list("ACGTX-"), size)) for _ in range(rng.integers(1, 4))] for size in rng.integers(1, 6, 2)
    )
    found = _forward_backward.align(counts_of(first), len(first), counts_of(second), len(second), SCORE, 3, 1)
    best = max(value_of(path, first, second) for path in paths(len(first[0]), len(second[0])))
    assert value_of(found.tolist(), first, second) == best


def rows_of(X):
    letters = X.alphabet.letters + "*-"
    return ["".join(letters[code] for code in row) for row in align_sequences(X)]


def random_family(n, seed, alphabet=PROTEIN):
    rng = np.random.default_rng(seed)
    root = rng.choice(list(alphabet.letters), 40)
    texts = []
    for _ in range(n):
        own = [str(rng.choice([*alphabet.letters, "*"])) if rng.random() < 0.3 else str(one) for one in root]
        texts.append("".join(own[: rng.integers(15, 40)][rng.integers(0, 10) :]))
    return encode(texts, alphabet)


@pytest.mark.parametrize("alphabet", [PROTEIN, DNA, RNA], ids=lambda one: one.name)
def test_rows_are_the_sequences_whatever_their_order_and_memory(alphabet, monkeypatch):
    X = random_family(30, 1, alphabet).take([*range(30), 3, 3, 7])
    rows, order = rows_of(X), np.random.default_rng(2).permutation(len(X))
    assert [row.replace("-", "") for row in rows] == X.strings()
    assert set("".join(column) for column in zip(*rows, strict=True)).isdisjoint({"-" * len(X)})
    assert rows_of(X.take(order)) == [rows[i] for i in order]
    monkeypatch.setattr(profile_hmm, "IN_TREE", 8)
    few = rows_of(X)
    assert [row.replace("-", "") for row in few] == X.strings()
    assert rows_of(X.take(order)) == [few[i] for i in order]


@pytest.mark.parametrize("filling", ["85", "254"])
def test_a_model_does_not_depend_on_what_is_in_memory(filling):
    code = "import test_alignment as t; print(*t.rows_of(t.random_family(20, 5).take([*range(20), 4])))"
    folders = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/twins"), str(ROOT / "tests/kernels/hmm")]
    code = f"import sys; sys.path[:0] = {folders}; {code}"
    environment = {**os.environ, "MALLOC_PERTURB_": filling}  # of the C library of Linux
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == rows_of(random_family(20, 5).take([*range(20), 4])), done.stderr


def test_masked_residues_go_with_any():
    assert rows_of(encode(["ACGUUACG", "ACG*UACG"], RNA)) == ["ACGUUACG", "ACG*UACG"]


def test_sequences_too_long_for_the_memory_are_one_line(monkeypatch):
    monkeypatch.setattr(profile_hmm, "available_memory", lambda: 1000)
    with pytest.raises(SequenceError, match=r"aligning 40 with 40 columns takes .* of memory"):
        build_profile(encode(["ACGT" * 10, "TGCA" * 10], DNA))
