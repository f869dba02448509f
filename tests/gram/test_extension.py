"""A finished matrix extended by further records: the bytes of a new computation, the cost of the new rows."""

import json
import shutil

import numpy as np
import pytest

from seqkern.core.errors import FileError, GramError
from seqkern.gram import compute_gram, compute_tile, count_tiles, open_gram, tiles
from seqkern.gram.stored_matrix import content_digest
from seqkern.kernels import LinearKernel, RBFKernel, SpectrumKernel, build_kernel
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable

N, OLD = 40, 31


def sequences(n=N, seed=1, length=None):
    """Return random sequences, of one length if one is given."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(12, 40, n) if length is None else np.full(n, length)
    strings = ["".join(rng.choice([*"ACGT"], size)) for size in lengths]
    return SequenceSet.from_strings(strings, "dna", ids=[f"r{i}" for i in range(n)])


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Make tiles of seven rows, and let no known record be computed."""
    monkeypatch.setattr(tiles, "TILE_ROWS", 7)
    monkeypatch.setattr("seqkern.gram.tiles.GAP", 1)


@pytest.fixture
def entries(monkeypatch):
    """Return a list to which the shape of each computed part is added."""
    shapes, original = [], tiles.fill

    def fill(kernel, rows, cols, out, **options):
        shapes.append(out.shape)
        return original(kernel, rows, cols, out, **options)

    monkeypatch.setattr(tiles, "fill", fill)
    return shapes


def files(path):
    """Return the bytes of a matrix and of its side file."""
    return path.read_bytes(), path.with_suffix(".json").read_bytes()


ORDERS = {
    "appended": (np.arange(OLD), np.arange(N)),
    "put before": (np.arange(N - OLD, N), np.arange(N)),
    "mixed in": (np.arange(0, N, 2), np.arange(N)),
    "in another order": (np.arange(OLD)[::-1], np.random.default_rng(3).permutation(N)),
    "some removed": (np.arange(OLD), np.arange(5, N)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extended_matrix_has_the_bytes_of_a_new_one(tmp_path, order, dtype):
    before, after = ORDERS[order]
    X, kernel = sequences(), SpectrumKernel(k=3)
    compute_gram(kernel, X.take(before), path=tmp_path / "old.npy", dtype=dtype)
    compute_gram(kernel, X.take(after), path=tmp_path / "fresh.npy", dtype=dtype)
    compute_gram(kernel, X.take(after), path=tmp_path / "new.npy", dtype=dtype, extend=tmp_path / "old.npy")
    assert files(tmp_path / "new.npy") == files(tmp_path / "fresh.npy")
    inside = compute_gram(kernel, X.take(after), dtype=dtype, extend=tmp_path / "old.npy")
    np.testing.assert_array_equal(inside.values, open_gram(tmp_path / "fresh.npy").values)


@pytest.mark.parametrize(
    "spec",
    [
        "gapped_kmer:l=6,k=4,reverse_complement=true",
        "local_alignment",
        "oligo:k=2",
        "string:n=3,decay=0.7",
        "weighted_degree:degree=6",
    ],
)
def test_block_shapes_change_no_bit(tmp_path, spec):
    kernel = build_kernel(spec)
    X = SequenceSet.from_strings(sequences(length=25).strings(), "protein" if spec == "local_alignment" else "dna")
    compute_gram(kernel, X.take(np.arange(0, N, 3)), path=tmp_path / "old.npy")
    extended = compute_gram(kernel, X, path=tmp_path / "new.npy", extend=tmp_path / "old.npy")
    np.testing.assert_array_equal(extended.values, compute_gram(kernel, X).values)


@pytest.mark.parametrize("kernel", [LinearKernel(), RBFKernel(gamma=0.3)], ids=lambda kernel: kernel.name)
def test_tables_of_features(tmp_path, kernel):
    X = FeatureTable(np.random.default_rng(2).standard_normal((N, 9)))
    compute_gram(kernel, X.take(np.arange(OLD)), path=tmp_path / "old.npy")
    extended = compute_gram(kernel, X, path=tmp_path / "new.npy", extend=tmp_path / "old.npy")
    np.testing.assert_array_equal(extended.values, compute_gram(kernel, X).values)


def test_rectangle_is_extended_on_both_sides(tmp_path, entries):
    X, Y, kernel = sequences(), sequences(20, seed=5), SpectrumKernel(k=2)
    compute_gram(kernel, X.take(np.arange(OLD)), Y.take(np.arange(3, 20)), path=tmp_path / "old.npy")
    compute_gram(kernel, X, Y, path=tmp_path / "fresh.npy")
    entries.clear()
    compute_gram(kernel, X, Y, path=tmp_path / "new.npy", extend=tmp_path / "old.npy")
    assert files(tmp_path / "new.npy") == files(tmp_path / "fresh.npy")
    assert sum(rows * cols for rows, cols in entries) < N * 3 + 16 * 20


def test_only_new_entries_are_computed(tmp_path, entries):
    X, kernel = sequences(), SpectrumKernel(k=2)
    compute_gram(kernel, X.take(np.arange(35)), path=tmp_path / "old.npy")  # five tiles of seven rows
    entries.clear()
    compute_gram(kernel, X, path=tmp_path / "new.npy", extend=tmp_path / "old.npy")
    assert sorted(entries) == [(5, 5), *[(7, 5)] * 5]


def test_tiles_of_an_extension_are_those_of_a_new_matrix(tmp_path, entries):
    X, kernel, old = sequences(), SpectrumKernel(k=2), tmp_path / "old.npy"
    compute_gram(kernel, X.take(np.arange(35)), path=old)
    compute_gram(kernel, X, path=tmp_path / "fresh.npy")
    path = tmp_path / "new.npy"
    compute_tile(kernel, X, None, [0, 2], path=path)
    compute_tile(kernel, X, None, list(range(count_tiles(X) - 1)), path=path, extend=old)
    shutil.move(old, tmp_path / "gone.npy")  # all that it is needed for is done
    entries.clear()
    with pytest.raises(FileError, match="no such Gram matrix"):
        compute_gram(kernel, X, path=path, extend=old)
    compute_gram(kernel, X, path=path)
    assert entries == [(5, 5)]
    assert files(path) == files(tmp_path / "fresh.npy")


def test_a_matrix_can_be_extended_in_its_place(tmp_path):
    X, kernel, path = sequences(), SpectrumKernel(k=2), tmp_path / "gram.npy"
    compute_gram(kernel, X.take(np.arange(OLD)), path=path)
    compute_gram(kernel, X, path=path, extend=path)
    compute_gram(kernel, X, path=tmp_path / "fresh.npy")
    assert files(path) == files(tmp_path / "fresh.npy")


def test_a_side_file_without_digests_of_records_is_recognised_as_a_whole(tmp_path, entries):
    X, kernel, old = sequences(), SpectrumKernel(k=2), tmp_path / "old.npy"
    compute_gram(kernel, X.take(np.arange(35)), path=old)
    side = old.with_suffix(".json")
    content = json.loads(side.read_text())
    del content["row_records"]
    side.write_text(json.dumps(content | {"digest": content_digest(content)}))
    entries.clear()
    compute_gram(kernel, X, path=tmp_path / "new.npy", extend=old)
    assert sum(rows * cols for rows, cols in entries) == 5 * 40
    with pytest.raises(GramError, match="no record of the new matrix"):
        compute_gram(kernel, X.take(np.arange(1, N)), path=tmp_path / "other.npy", extend=old)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kernel": SpectrumKernel(k=3)}, "another kernel"),
        ({"dtype": "float32"}, "another data type"),
        ({"Y": sequences(4)}, "another shape"),
        ({"X": sequences(seed=9)}, "no record of the new matrix"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_matrices_that_cannot_be_extended(tmp_path, options, problem):
    X, kernel = sequences(), SpectrumKernel(k=2)
    compute_gram(kernel, X.take(np.arange(OLD)), path=tmp_path / "old.npy")
    given = {"kernel": kernel, "X": X, "path": tmp_path / "new.npy", "extend": tmp_path / "old.npy"} | options
    with pytest.raises(GramError, match=problem) as caught:
        compute_gram(**given)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new.npy.tiles").exists()


def test_a_record_with_the_same_id_and_another_sequence_is_new(tmp_path):
    X, kernel = sequences(), SpectrumKernel(k=2)
    strings = X.strings()
    strings[4] = strings[5]
    changed = SequenceSet.from_strings(strings, "dna", ids=X.ids)
    compute_gram(kernel, X, path=tmp_path / "old.npy")
    extended = compute_gram(kernel, changed, path=tmp_path / "new.npy", extend=tmp_path / "old.npy")
    np.testing.assert_array_equal(extended.values, compute_gram(kernel, changed).values)
