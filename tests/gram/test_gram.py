"""Gram matrices in memory and on disk: the same bits every way, resumed after a kill, strangers refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from seqkern.core.errors import FileError, GramError, ParameterError
from seqkern.core.memory import available_memory, format_bytes, parse_bytes
from seqkern.gram import assemble, compute, compute_gram, compute_tile, count_tiles, open_gram, tiles
from seqkern.gram.compute import GramJob
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.prepared import Plan
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable

ROWS = 7


class Table:
    """A payload: one row of numbers for each record."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def rows(self, start, stop):
        return Table(self.values[start:stop])

    def diagonal(self):
        return np.sum(self.values**2, axis=1)


class LetterKernel(Kernel):
    """Dot product of letter counts."""

    name = "letters"

    def __init__(self, *, normalize=False, n_threads=None):
        self.normalize = normalize
        self.n_threads = n_threads

    def _prepare(self, X, like):
        counts = np.zeros((len(X), X.alphabet.size))
        for i in range(len(X)):
            counts[i] = np.bincount(X.codes[X.starts[i] : X.stops[i]], minlength=X.alphabet.size)
        return Table(counts)

    def _block(self, rows, cols, out):
        out[...] = rows.values @ cols.values.T


class DotKernel(LetterKernel):
    """Dot product of features."""

    name = "dot"
    traits = Traits(accepts="features")

    def _prepare(self, X, like):
        return Table(X.values)


class LookupKernel(LetterKernel):
    """The similarities themselves."""

    name = "lookup"
    traits = Traits(accepts="similarities")

    def _prepare(self, X, like):
        return Selection(X)

    def _block(self, rows, cols, out):
        out[...] = SimilarityTable.block(rows.table, cols.table)


class Selection(Table):
    """A payload: rows of a table of similarities."""

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def rows(self, start, stop):
        return Selection(self.table.take(slice(start, stop)))

    def diagonal(self):
        return self.table.values[self.table.index, self.table.index].copy()


def make_sequences(n, seed=0):
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), size)) for size in rng.integers(5, 30, n)], "dna")


def naive(X, Y=None):
    """The kernel of `LetterKernel`, letter by letter."""
    return np.array(
        [[sum(a.count(x) * b.count(x) for x in "ACGT") for b in (Y or X).strings()] for a in X.strings()],
        float,
    )


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_ROWS", ROWS)


@pytest.fixture
def computed(monkeypatch):
    """Count the tiles that are computed."""
    counted = []
    fill = GramJob._fill
    monkeypatch.setattr(
        GramJob, "_fill", lambda compute, index, out: counted.append(index) or fill(compute, index, out)
    )
    return counted


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# ---- one matrix, every way -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, ROWS, ROWS + 1, 30])
def test_symmetric_matrix_in_memory_and_on_disk(tmp_path, n, dtype):
    X = make_sequences(n)
    inside = compute_gram(LetterKernel(), X, dtype=dtype)
    stored = compute_gram(LetterKernel(), X, path=tmp_path / "gram.npy", dtype=dtype)
    np.testing.assert_array_equal(inside.values, naive(X).astype(dtype))
    for gram in (inside, stored):
        assert gram.values.dtype == dtype
        assert gram.values.tobytes() == inside.values.tobytes()
        np.testing.assert_array_equal(gram.row_diagonal, np.diag(naive(X)))
        np.testing.assert_array_equal(gram.col_diagonal, gram.row_diagonal)
    assert isinstance(stored.values, np.memmap)
    assert stored.meta == inside.meta
    assert sorted(files(tmp_path)) == ["gram.json", "gram.npy"]


class LopsidedKernel(LetterKernel):
    """Not symmetric in its last digits, as sums in different orders may be."""

    def _block(self, rows, cols, out):
        super()._block(rows, cols, out)
        out += 1e-3 * rows.values[:, :1]


def test_symmetric_to_the_bit_whatever_the_kernel_rounds(tmp_path):
    X = make_sequences(30)
    stored = compute_gram(LopsidedKernel(), X, path=tmp_path / "gram.npy")
    np.testing.assert_array_equal(stored.values, stored.values.T)
    assert stored.values.tobytes() == compute_gram(LopsidedKernel(), X).values.tobytes()
    upper = np.triu(naive(X) + 1e-3 * LetterKernel().prepare(X).payload.values[:, :1])
    np.testing.assert_array_equal(np.triu(stored.values), upper)


def test_rectangular_matrix(tmp_path):
    X, Y = make_sequences(20, 1), make_sequences(9, 2)
    inside = compute_gram(LetterKernel(normalize=True), X, Y)
    stored = compute_gram(LetterKernel(normalize=True), X, Y, path=tmp_path / "gram.npy")
    expected = naive(X, Y) / np.sqrt(np.outer(np.diag(naive(X)), np.diag(naive(Y))))
    np.testing.assert_allclose(inside.values, expected, rtol=1e-14)
    assert stored.values.tobytes() == inside.values.tobytes()
    assert len(stored.row_diagonal) == 20
    assert len(stored.col_diagonal) == 9
    strings = compute_gram(LetterKernel(normalize=True), X.strings(), Y.strings())
    assert strings.values.tobytes() == inside.values.tobytes()


def test_diagonals_are_stored_exactly(tmp_path):
    X = FeatureTable(np.random.default_rng(0).normal(size=(11, 3)))
    stored = compute_gram(DotKernel(), X, path=tmp_path / "gram.npy")
    assert stored.row_diagonal.tobytes() == DotKernel().diagonal(X).tobytes()


def test_tables_of_features_and_of_similarities(tmp_path):
    rng = np.random.default_rng(3)
    features = FeatureTable(rng.integers(-5, 5, (20, 4)).astype(float))
    gram = compute_gram(DotKernel(), features, path=tmp_path / "features.npy")
    np.testing.assert_array_equal(gram.values, features.values @ features.values.T)
    table = SimilarityTable(rng.normal(size=(20, 20)))
    left, right = table.take([3, 1, 15]), table.take(slice(4, 14))
    gram = compute_gram(LookupKernel(), left, right, path=tmp_path / "similarities.npy")
    np.testing.assert_array_equal(gram.values, table.values[np.ix_([3, 1, 15], range(4, 14))])
    assert open_gram(tmp_path / "similarities.npy", left, right).shape == (3, 10)


def test_similarities_between_the_same_units_of_another_table_are_strangers(tmp_path):
    values = np.arange(16.0).reshape(4, 4)
    other = values.copy()
    other[0, 3] = 99  # within neither rows nor columns, only between them
    path = tmp_path / "gram.npy"
    mine, theirs = SimilarityTable(values), SimilarityTable(other)
    compute_gram(LookupKernel(), mine.take([0, 1]), mine.take([2, 3]), path=path)
    with pytest.raises(GramError, match="rows belong to other data"):
        open_gram(path, theirs.take([0, 1]), theirs.take([2, 3]))


def test_threads_and_groups_of_tiles_change_no_byte(tmp_path, monkeypatch):
    X = make_sequences(40)
    compute_gram(LetterKernel(normalize=True), X, path=tmp_path / "a" / "gram.npy", n_threads=1)
    monkeypatch.setattr(tiles, "ASSEMBLY_BYTES", 2 * 40 * 8 * 10)  # two tiles at a time
    compute_gram(LetterKernel(normalize=True), X, path=tmp_path / "b" / "gram.npy", n_threads=3)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_tile_by_tile_equals_the_whole(tmp_path, computed):
    X, Y = make_sequences(30), make_sequences(12, 5)
    for columns in (None, Y):
        a, b = tmp_path / f"a{columns is None}", tmp_path / f"b{columns is None}"
        compute_gram(LetterKernel(), X, columns, path=a / "gram.npy")
        count = count_tiles(X, columns)
        assert count == 5
        for index in reversed(range(1, count)):
            compute_tile(LetterKernel(), X, columns, index, path=b / "gram.npy")
        with pytest.raises(GramError, match="1 of 5 tiles are missing, starting with tile 0"):
            assemble(LetterKernel(), X, columns, path=b / "gram.npy")
        compute_tile(LetterKernel(), X, columns, [0, 1], path=b / "gram.npy")
        computed.clear()
        assemble(LetterKernel(), X, columns, path=b / "gram.npy")
        assert computed == []
        assert files(a) == files(b)
        assemble(LetterKernel(), X, columns, path=b / "gram.npy")  # it is there already
        compute_tile(LetterKernel(), X, columns, 0, path=b / "gram.npy")
        assert computed == []
    with pytest.raises(GramError, match="no such tile: 5; choose a tile from 0 to 4"):
        compute_tile(LetterKernel(), X, None, 5, path=tmp_path / "gram.npy")


def test_slice_is_a_copy_in_memory_as_float64(tmp_path):
    X = make_sequences(30)
    gram = compute_gram(LetterKernel(), X, path=tmp_path / "gram.npy", dtype="float32")
    rows, cols = np.array([29, 0, 5]), np.arange(30) % 2 == 0
    part = gram.slice(rows, cols)
    assert part.dtype == np.float64
    assert part.flags.c_contiguous
    assert not isinstance(part, np.memmap)
    np.testing.assert_array_equal(part, naive(X)[np.ix_(rows, np.flatnonzero(cols))])
    np.testing.assert_array_equal(gram.slice(slice(None), slice(2, 4)), naive(X)[:, 2:4])


def test_progress_counts_every_entry_once(tmp_path):
    X, seen = make_sequences(30), []
    compute_gram(LetterKernel(), X, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    compute_tile(LetterKernel(), X, None, [0, 1], path=tmp_path / "gram.npy")
    seen.clear()
    compute_gram(LetterKernel(), X, path=tmp_path / "gram.npy", progress=lambda *now: seen.append(now))
    rest = sum(min(ROWS, 30 - start) * (30 - start) for start in range(2 * ROWS, 30, ROWS))
    assert (rest, rest) in seen
    assert seen[-1] == (900, 900)  # assembled


# ---- killed and started again ----------------------------------------------------------------------------

SCRIPT = """
import os, signal, sys, time
import test_gram
from seqkern.gram import tiles
from seqkern.gram import compute_gram
tiles.TILE_ROWS = test_gram.ROWS
class SlowKernel(test_gram.LetterKernel):
    def _block(self, rows, cols, out):
        time.sleep(0.03)
        super()._block(rows, cols, out)
{patch}
compute_gram(SlowKernel(), test_gram.make_sequences(60), path=sys.argv[1], n_threads=1)
"""
KILL_IN_ASSEMBLY = """
group = tiles._group
tiles.ASSEMBLY_BYTES = 2 * 60 * 8 * test_gram.ROWS
def kill_later(grid, folder, first, *rest):
    if first:
        os.kill(os.getpid(), signal.SIGKILL)
    return group(grid, folder, first, *rest)
tiles._group = kill_later
"""


def start(path, patch=""):
    folders = [
        str(Path(__file__).parent),
        str(ROOT / "tests"),
        os.environ.get("PYTHONPATH", ""),
    ]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(patch=patch), str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
    )


def tile_files(path):
    return sorted(Path(f"{path}.tiles").glob("*/rows-*.npy"))


def test_killed_run_redoes_only_what_is_missing(tmp_path, computed):
    path = tmp_path / "a" / "gram.npy"
    process = start(path)
    deadline = time.monotonic() + 60
    while len(tile_files(path)) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    there = {path.name for path in tile_files(path)}
    assert 3 <= len(there) < 9
    with pytest.raises(GramError, match="unfinished"):
        open_gram(path)
    compute_gram(LetterKernel(), make_sequences(60), path=path)
    assert computed == list(range(len(there), 9))
    compute_gram(LetterKernel(), make_sequences(60), path=tmp_path / "b" / "gram.npy")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_run_killed_while_assembling_redoes_no_tile(tmp_path, computed):
    path = tmp_path / "a" / "gram.npy"
    assert start(path, KILL_IN_ASSEMBLY).wait(60) == -signal.SIGKILL
    assert len(tile_files(path)) == 9
    assert list(path.parent.rglob(".*.tmp"))
    compute_gram(LetterKernel(), make_sequences(60), path=path)
    assert computed == []
    compute_gram(LetterKernel(), make_sequences(60), path=tmp_path / "b" / "gram.npy")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_run_killed_before_the_side_file_is_unfinished(tmp_path, computed, monkeypatch):
    X, path = make_sequences(20), tmp_path / "gram.npy"
    compute_gram(LetterKernel(normalize=True), X, path=path)  # of another kernel; its side file must not stay
    real = compute.write_meta

    def fail(target, content):
        if target.parent == tmp_path:
            raise KeyboardInterrupt
        real(target, content)

    with monkeypatch.context() as patch:
        patch.setattr(compute, "write_meta", fail)
        with pytest.raises(KeyboardInterrupt):
            compute_gram(LetterKernel(), X, path=path)
    with pytest.raises(GramError, match="unfinished"):
        open_gram(path)
    computed.clear()
    gram = compute_gram(LetterKernel(), X, path=path)
    assert computed == []
    np.testing.assert_array_equal(gram.values, naive(X))


def test_finished_matrix_is_not_computed_again(tmp_path, computed):
    X, path = make_sequences(20), tmp_path / "gram.npy"
    compute_gram(LetterKernel(), X, path=path)
    before = path.stat().st_mtime_ns
    computed.clear()
    compute_gram(LetterKernel(n_threads=1), X, path=path)  # the number of threads is no part of the identity
    assert computed == []
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("change", ["kernel", "data", "ids", "dtype", "build", "columns"])
def test_tiles_of_another_matrix_are_not_reused(tmp_path, computed, monkeypatch, change):
    X, path = make_sequences(20), tmp_path / "gram.npy"
    compute_tile(LetterKernel(), X, None, [0, 1, 2], path=path)
    computed.clear()
    kernel, other, columns, dtype = LetterKernel(), X, None, "float64"
    if change == "kernel":
        kernel = LetterKernel(normalize=True)
    elif change == "data":
        other = make_sequences(20, seed=1)
    elif change == "ids":
        other = SequenceSet.from_strings(X.strings(), "dna", [f"s{i}" for i in range(20)])
    elif change == "dtype":
        dtype = "float32"
    elif change == "build":
        monkeypatch.setattr("seqkern.gram.compute.build_digest", lambda: "another build")
    else:
        columns = X
    gram = compute_gram(kernel, other, columns, path=path, dtype=dtype)
    assert computed == [0, 1, 2]
    assert gram.values.tobytes() == compute_gram(kernel, other, columns, dtype=dtype).values.tobytes()
    assert sorted(files(tmp_path)) == ["gram.json", "gram.npy"]


def test_damaged_tile_is_computed_again(tmp_path, computed):
    X, path = make_sequences(30), tmp_path / "gram.npy"
    compute_tile(LetterKernel(), X, None, range(5), path=path)
    first, second = tile_files(path)[:2]
    first.write_bytes(first.read_bytes()[:-8])
    second.write_bytes(b"")
    computed.clear()
    np.testing.assert_array_equal(compute_gram(LetterKernel(), X, path=path).values, naive(X))
    assert computed == [0, 1]


# ---- strangers and damage --------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    """A path with the matrix of ``make_sequences(20)``."""
    compute_gram(LetterKernel(), make_sequences(20), path=tmp_path / "gram.npy")
    return tmp_path / "gram.npy"


def test_open_accepts_its_own(stored):
    X = make_sequences(20)
    assert open_gram(stored, X, kernel=LetterKernel()).shape == (20, 20)
    assert open_gram(stored, X, X).shape == (20, 20)


def test_open_refuses_other_sequences(stored):
    X = make_sequences(20)
    strangers = {
        "order": X.take(np.arange(20)[::-1]),
        "fewer": X.take(slice(0, 19)),
        "letters": make_sequences(20, seed=9),
        "ids": SequenceSet.from_strings(X.strings(), "dna", [f"s{i}" for i in range(20)]),
    }
    for stranger in strangers.values():
        with pytest.raises(GramError, match=r"gram\.npy: the rows belong to other data; compute it again"):
            open_gram(stored, stranger)
    with pytest.raises(GramError, match="the columns belong to other data"):
        open_gram(stored, X, make_sequences(20, seed=9))


def test_open_refuses_another_kernel(stored):
    with pytest.raises(GramError, match=r"computed with another kernel \(kernel=letters, normalize=False\)"):
        open_gram(stored, kernel=LetterKernel(normalize=True))


def test_open_refuses_damage(stored):
    content = stored.read_bytes()
    side = stored.with_suffix(".json")
    text = side.read_text()
    for damaged in (content[:-1], content + b"\0", b"", b"not numpy", content[:50]):
        stored.write_bytes(damaged)
        with pytest.raises(GramError, match="corrupted"):
            open_gram(stored)
    with stored.open("wb") as file:  # the right size in another type
        np.lib.format.write_array(file, np.zeros((20, 20), np.int64))
    with pytest.raises(GramError, match="corrupted"):
        open_gram(stored)
    stored.write_bytes(content)
    foreign = ["", "[]", "{}", text[:-20], json.dumps({**json.loads(text), "format": "seqkern gram 99"})]
    for damaged in foreign:
        side.write_text(damaged)
        with pytest.raises(GramError, match=r"gram\.json: is not the side file of a Gram matrix, or is corrupted"):
            open_gram(stored)
    side.unlink()
    with pytest.raises(GramError, match="unfinished"):
        open_gram(stored)


def test_open_without_a_file(tmp_path):
    with pytest.raises(FileError, match="no such Gram matrix"):
        open_gram(tmp_path / "gram.npy")
    with pytest.raises(ParameterError, match=r"ending in \.npy"):
        open_gram(tmp_path / "gram.txt")


def test_rows_and_columns_of_two_alphabets_are_refused():
    with pytest.raises(GramError, match="rows have the alphabet dna, but the columns have rna"):
        compute_gram(LetterKernel(), make_sequences(3), SequenceSet.from_strings(["ACGU"], "rna"))


# ---- memory and disk -------------------------------------------------------------------------------------


def test_memory_is_predicted_before_the_work(tmp_path, computed):
    X = make_sequences(100)
    with pytest.raises(GramError, match=r"100 × 100 float64 needs 80 kB of memory, but the limit is 79.9 kB; raise it"):
        compute_gram(LetterKernel(), X, memory_limit=79_900)
    assert compute_gram(LetterKernel(), X, memory_limit=80_000).shape == (100, 100)
    computed.clear()
    path = tmp_path / "gram.npy"
    with pytest.raises(
        GramError, match=r"one tile of a matrix .* needs .* kB of memory, but the limit is 5 kB; set the limit"
    ):
        compute_gram(LetterKernel(), X, path=path, memory_limit="5kB")
    with pytest.raises(GramError, match="one tile of"):
        compute_tile(LetterKernel(), X, None, 0, path=path, memory_limit="5kB")
    assert computed == []
    assert not list(tmp_path.iterdir())


def test_disk_without_room_is_refused_before_the_work(tmp_path, computed, monkeypatch):
    usage = os.statvfs(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"total": usage, "free": 10_000}))
    with pytest.raises(GramError, match=r"gram\.npy: the matrix and its tiles need .* kB, but the disk has 10 kB"):
        compute_gram(LetterKernel(), make_sequences(40), path=tmp_path / "gram.npy")
    assert computed == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [1_000, 5_000])  # the first fails at a tile, the second at the matrix
def test_full_disk_is_one_line_and_leaves_nothing_half_written(tmp_path, size):
    script = (
        "import resource, sys, test_gram; from seqkern import gram\n"
        "from seqkern.core import errors; from seqkern.gram import tiles\n"
        "tiles.TILE_ROWS = 3\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "try: gram.compute_gram(test_gram.LetterKernel(), test_gram.make_sequences(30), path=sys.argv[1])\n"
        "except errors.FileError as error: print(error)\n"
    )
    folders = [
        str(Path(__file__).parent),
        str(ROOT / "tests"),
        os.environ.get("PYTHONPATH", ""),
    ]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "gram.npy")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert "cannot be written: File too large; check the path, its permissions and the free space" in done.stdout
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.rglob("*.tmp"))
    assert not (tmp_path / "gram.npy").exists()
    np.testing.assert_array_equal(
        compute_gram(LetterKernel(), make_sequences(30), path=tmp_path / "gram.npy").values,
        naive(make_sequences(30)),
    )


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"gram\.npy: cannot be written: .*; check the path"):
        compute_gram(LetterKernel(), make_sequences(5), path=tmp_path / "file" / "gram.npy")


def test_dtype_is_checked():
    for wrong in ("int64", "float16", None, "nonsense"):
        with pytest.raises(ParameterError, match="choose float64 or float32"):
            compute_gram(LetterKernel(), make_sequences(3), dtype=wrong)


def test_amounts_of_memory():
    good = {
        "2GB": 2 * 10**9,
        "500 MB": 5 * 10**8,
        "1.5GiB": 3 << 29,
        "300m": 3 * 10**8,
        12: 12,
        2e9: 2 * 10**9,
    }
    assert {text: parse_bytes(text) for text in good} == good
    for wrong in ("", "GB", "-1", "0", 0, "2 XB", "1e9999", "nan", None):
        with pytest.raises(ParameterError, match="write it like 500MB or 2GB"):
            parse_bytes(wrong)
    assert [format_bytes(size) for size in (999, 3.2e9, 81e6, 5e15)] == [
        "999 bytes",
        "3.2 GB",
        "81 MB",
        "5e+03 TB",
    ]
    assert 1 << 20 < available_memory() < 1 << 50


def test_work_that_would_take_years_is_refused_before_it_starts():
    class Slow(Kernel):
        def plan(self, X, Y=None):
            return Plan("direct", seconds=1e9)

        def _prepare(self, X, like):
            raise AssertionError("started")

    for work in (Slow(), lambda X: compute_gram(Slow(), X)):
        with pytest.raises(ParameterError, match="about 63 years of one processor core, more than"):
            work(["ACGT", "GATTACA"])
