"""Feature tables and square tables, in memory and from text."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import FileError, SequenceError
from seqkern.sequences.tables import FeatureTable, SimilarityTable, as_features, as_similarities
from seqkern.study.tables import read_features, read_similarities

finite = st.floats(-1e6, 1e6)


def square(n):
    """Return an n × n table with a different number in each cell."""
    return np.arange(n * n, dtype=float).reshape(n, n)


# ---- features --------------------------------------------------------------------------------------------


@given(arrays(np.float64, (5, 3), elements=finite), st.lists(st.integers(0, 4), max_size=7))
def test_features_take(values, rows):
    X = FeatureTable(values, list("abcde"), ["x", "y", "z"])
    taken = X.take(np.array(rows, dtype=int))
    assert np.array_equal(taken.values, values[np.array(rows, dtype=int)])
    assert taken.ids == [X.ids[i] for i in rows]
    assert taken.columns == ("x", "y", "z")
    assert np.shares_memory(X.take(slice(1, 3)).values, X.values)


def test_features_digest_and_state(tmp_path):
    X = FeatureTable(square(3), list("abc"), ["x", "y", "z"], {"repeated ids": 1})
    others = [
        X.take([1, 0, 2]),
        FeatureTable(square(3), list("abd"), X.columns),
        FeatureTable(square(3), X.ids),
    ]
    assert len({other.digest() for other in [X, *others]}) == 4
    save_archive(tmp_path / "x.npz", *X.state())
    back = FeatureTable.from_state(*load_archive(tmp_path / "x.npz"))
    assert back.digest() == X.digest()
    assert back.counts == X.counts


def test_features_are_checked():
    with pytest.raises(SequenceError, match="record '2': has a value that is not a finite number"):
        FeatureTable([[1.0], [np.nan]])
    with pytest.raises(SequenceError, match="1 dimensions"):
        FeatureTable([1.0, 2.0])
    with pytest.raises(SequenceError, match="2 ids and 1 column names for a table of 1 × 1"):
        FeatureTable([[1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        FeatureTable([[1.0]]).values[0, 0] = 2


def test_as_features_and_as_similarities():
    X = as_features([[1, 2], [3, 4]])
    assert as_features(X) is X
    assert X.ids == ["1", "2"]
    S = as_similarities([[1, 2], [3, 4]])
    assert as_similarities(S) is S
    for convert in (as_features, as_similarities):
        with pytest.raises(SequenceError, match="expected a"):
            convert(["ACGT", "AC"])


# ---- similarities ----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), max_size=8), st.lists(st.integers(0, 5), max_size=8))
def test_block_slices_rows_and_columns(rows, cols):
    values = square(6)
    X = SimilarityTable(values)
    a, b = X.take(np.array(rows, dtype=int)), X.take(np.array(cols, dtype=int))
    assert np.array_equal(SimilarityTable.block(a, b), values[np.array(rows, dtype=int)][:, np.array(cols, dtype=int)])
    assert np.shares_memory(a.values, X.values)
    assert a.ids == [str(i + 1) for i in rows]


def test_take_of_take():
    X = SimilarityTable(square(6)).take([5, 3, 1]).take([True, False, True])
    assert X.ids == ["6", "2"]
    assert np.array_equal(X.block(X, X), square(6)[[5, 1]][:, [5, 1]])


def test_similarities_digest_and_state(tmp_path):
    X = SimilarityTable(square(4), kind="dissimilarities").take([3, 1])
    save_archive(tmp_path / "x.npz", *X.state())
    back = SimilarityTable.from_state(*load_archive(tmp_path / "x.npz"))
    assert back.digest() == X.digest()
    assert back.kind == "dissimilarities"
    assert np.array_equal(back.block(back, back), X.block(X, X))
    digests = {X.digest(), X.take([1, 0]).digest(), SimilarityTable(square(4)).take([3, 1]).digest()}
    assert len(digests) == 3


def test_similarities_are_checked():
    with pytest.raises(SequenceError, match="square table, got 2 × 3"):
        SimilarityTable(np.ones((2, 3)))
    with pytest.raises(SequenceError, match="unknown kind 'distances'"):
        SimilarityTable(np.ones((2, 2)), kind="distances")
    with pytest.raises(SequenceError, match="3 ids for 2 rows"):
        SimilarityTable(np.ones((2, 2)), ids=["a", "b", "c"])
    with pytest.raises(SequenceError, match="record '2': has a value that is not a finite number"):
        SimilarityTable([[1, 2], [np.inf, 1]])
    with pytest.raises(SequenceError, match="rows and columns come from different tables"):
        SimilarityTable.block(SimilarityTable(square(2)), SimilarityTable(np.ones((2, 2))))


# ---- from text -------------------------------------------------------------------------------------------


def write(tmp_path, text, name="in.tsv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_read_features(tmp_path):
    text = "sample\tlabel\tg1\tgroup\tg2\r\ns1\tA\t1\tx\t-2.5\r\n\r\ns2\tB\t1e2\ty\t0\r\n"
    for content in (text, gzip.compress(text.encode())):
        X, columns = read_features(write(tmp_path, content), ("label", "group"))
        assert X.ids == ["s1", "s2"]
        assert X.columns == ("g1", "g2")
        assert X.values.tolist() == [[1.0, -2.5], [100.0, 0.0]]
        assert columns == {"label": ["A", "B"], "group": ["x", "y"]}


def test_read_features_with_another_id_column(tmp_path):
    X, _ = read_features(write(tmp_path, "g1\tname\n1\ta\n2\tb\n"), id_column="name")
    assert X.ids == ["a", "b"]
    assert X.columns == ("g1",)


def test_repeated_rows_are_counted(tmp_path):
    path = write(tmp_path, "id\tg\na\t1\na\t2\n")
    X, _ = read_features(path, ids="suffix")
    assert X.ids == ["a", "a.2"]
    assert X.counts == {"repeated ids": 1}
    with pytest.raises(SequenceError, match=r"in\.tsv: record 'a': duplicate id"):
        read_features(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("id\tg\n", "has a header line but no rows"),
        ("id\tg\tg\na\t1\t2\n", "has two columns named 'g'"),
        ("id\tlabel\na\tx\n", "has no feature columns"),
        ("id\tg\na\t1\nb\n", "line 3 has 1 cells, the first line has 2"),
        ("id\tg\na\t1\nb\tx\n", "record 'b': column 'g': 'x' is not a finite number; .*under labels"),
        ("id\tg\na\t1\nb\tNA\n", "record 'b': column 'g': 'NA' is not"),
        ("id\tg\na\t1\nb\t\n", "record 'b': column 'g': '' is not"),
        ("id\tg\na\tnan\n", "record 'a': column 'g': 'nan' is not"),
    ],
)
def test_feature_tables_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(SequenceError, match=rf"in\.tsv: {message}"):
        read_features(write(tmp_path, text))


def test_feature_table_that_is_binary_or_truncated(tmp_path):
    with pytest.raises(FileError, match="is a NumPy array, such as a Gram matrix, not text"):
        read_features(write(tmp_path, b"\x93NUMPY\x01\x00"))
    packed = gzip.compress(b"id\tg\n" + b"".join(b"r%d\t%d\n" % (i, i * i) for i in range(999)))
    with pytest.raises(FileError, match="is truncated"):
        read_features(write(tmp_path, packed[:-30]))


@pytest.mark.parametrize(
    ("text", "ids", "columns"),
    [
        ("0\t1\n1\t0\n", ["1", "2"], {}),
        ("A\t0\t1\nB\t1\t0\n", ["1", "2"], {"label": ["A", "B"]}),
        ("1\t0\t1\n2\t1\t0\n", ["1", "2"], {"label": ["1", "2"]}),
        ("id\tp\tq\np\t0\t1\nq\t1\t0\n", ["p", "q"], {}),
        ("id\t7\t8\n7\t0\t1\n8\t1\t0\n", ["7", "8"], {}),
        ("id\tlabel\tp\tq\np\tA\t0\t1\nq\tB\t1\t0\n", ["p", "q"], {"label": ["A", "B"]}),
    ],
)
def test_forms_of_square_tables(tmp_path, text, ids, columns):
    X, found = read_similarities(write(tmp_path, text), "dissimilarities")
    assert X.ids == ids
    assert X.kind == "dissimilarities"
    assert X.block(X, X).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert found == columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tp\tq\np\t0\t1\nr\t1\t0\n", "record 'r': column 2 of the square is 'q'"),
        ("id\tp\tq\np\t0\t1\n", "has 1 rows and 2 columns of values"),
        ("id\tp\np\t0\nq\t1\n", "has 2 rows and 1 columns of values"),
        ("id\tp\tq\np\t0\tx\nq\t1\t0\n", "record 'p': column 'q': 'x' is not a finite number"),
        ("A\t0\t1\nB\tx\t0\n", "record '2': column '1': 'x' is not a finite number"),
    ],
)
def test_square_tables_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(SequenceError, match=rf"in\.tsv: {message}"):
        read_similarities(write(tmp_path, text))
