"""Views: vectors that go with the records, wherever these go."""

import numpy as np
import pytest

from seqkern.core.errors import SequenceError
from seqkern.formats import residue_samples
from seqkern.sequences.joining import check_widths, vectors_of, view_width
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.views import Vectors
from seqkern.sequences.windows import Window, cut_windows, make_sites

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture(name="X")
def sequences():
    return SequenceSet.from_strings(["ACGTA", "CCCGT", "GATTA", "TTTAA"], "dna").replace(views={"esm": VALUES})


def rows(X):
    return X.views["esm"].rows()


def test_vectors_go_with_their_records(X):
    np.testing.assert_array_equal(rows(X.take([2, 0])), VALUES[[2, 0]])
    np.testing.assert_array_equal(rows(X.take([2, 0]).take([True, False])), VALUES[[2]])
    np.testing.assert_array_equal(rows(X[X.lengths > 9]), VALUES[:0])
    np.testing.assert_array_equal(rows(X.windows([3, 3, 1], [1, 2, 2], 1, 1)), VALUES[[3, 3, 1]])
    for same in (X.part(1, 3), X.compact(), X.packed(), X.reverse_complement(), X.replace(ids=list("abcd"))):
        np.testing.assert_array_equal(rows(same), VALUES)
    np.testing.assert_array_equal(rows(X.take([3, 1]).reverse_complement()), VALUES[[3, 1]])
    assert X.take([1]).views["esm"].values is X.views["esm"].values  # not copied
    assert len(X.take([1]).compact().views["esm"].values) == 1
    assert X.replace(views={}).views == {}


def test_windows_of_residues_keep_the_vectors_of_their_chains(X):
    windows, _ = residue_samples(X, 3)
    np.testing.assert_array_equal(rows(windows), np.repeat(VALUES, 5, axis=0))


def test_windows_around_sites_keep_the_vectors_of_their_records(X):
    for strand in "+-":
        cut = cut_windows(X, make_sites(["4", "1"], [2, 3], ["+", strand]), Window(1, 1, ""))
        np.testing.assert_array_equal(rows(cut.windows), VALUES[[3, 0]])


def test_digest_and_state(X):
    plain = X.replace(views={})
    other = X.replace(views={"esm": VALUES + np.eye(4, 3, dtype=np.float32)})
    assert len({Y.digest() for Y in (X, plain, other, X.replace(views={"t5": VALUES}), X.take([1, 0, 2, 3]))}) == 5
    assert "views" not in plain.state()[0]  # as before there were views
    for Y in (X, X.take([2, 1]), X.windows([0, 0], [1, 2], 1, 1)):
        again = SequenceSet.from_state(*Y.state())
        assert again.digest() == Y.digest()
        np.testing.assert_array_equal(rows(again), rows(Y))
        assert rows(again).dtype == np.float32


def test_a_damaged_state_is_refused(X):
    header, arrays = X.state()
    with pytest.raises(SequenceError, match="the view 'esm' has 3 vectors, but there are 4 records"):
        SequenceSet.from_state(header, arrays | {"view/esm": VALUES[:3]})


@pytest.mark.parametrize(
    ("dtype", "stored"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.int8, np.float64)],
)
def test_precision(dtype, stored):
    vectors = Vectors.of(np.ones((2, 3), dtype=dtype))
    assert vectors.values.dtype == stored
    with pytest.raises(ValueError, match="read-only"):
        vectors.values[0, 0] = 2


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (VALUES[:3], "has 3 vectors, but there are 4 records"),
        (np.ones(4), r"expected one row of numbers for each record, got shape \(4,\)"),
        (np.array([["a"]] * 4), "expected one row of numbers"),
        (np.ones((4, 2), dtype=complex), "expected one row of numbers"),
    ],
)
def test_what_is_not_a_vector_for_each_record(X, values, problem):
    with pytest.raises(SequenceError, match=problem):
        X.replace(views={"esm": values})


def test_numbers_must_be_finite(X):
    values = VALUES.copy()
    values[2, 1] = np.nan
    with pytest.raises(SequenceError, match=r"record '3': has a number that is not finite .* in the view 'esm'"):
        vectors_of(X.replace(views={"esm": values}), "esm")


def test_a_residue_has_its_own_row_of_a_track(X):
    track = np.arange(40, dtype=np.float32).reshape(20, 2)
    chains = X.replace(views={}, tracks={"esm": track})
    windows, _ = residue_samples(chains, 5)
    np.testing.assert_array_equal(vectors_of(windows, "esm"), track)
    np.testing.assert_array_equal(vectors_of(windows.take([7, 3]), "esm"), track[[7, 3]])
    letters = X.replace(tracks={"states": np.zeros(20, dtype=np.uint8)})
    assert [view_width(Y, "esm") for Y in (X, windows, X.replace(views={}))] == [3, 2, None]
    assert view_width(letters, "states") is None
    with pytest.raises(SequenceError, match="'esm' have 2 numbers, those of the training sequences 3"):
        check_widths(windows, X, ["esm"])
