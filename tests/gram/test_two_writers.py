"""Two processes that write one matrix at once: the files are those of one of them, and neither loses its work."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from seqkern.core.exclusive_files import LOCK, FolderLock
from seqkern.gram import compute, compute_gram, compute_tile, open_gram, stored_matrix, tiles
from seqkern.gram.compute import GramJob
from seqkern.gram.stored_matrix import spectrum, store_spectrum, tiles_root
from seqkern.kernels import SpectrumKernel
from seqkern.sequences.sequence_set import SequenceSet

N = 60
ROUNDS = 4

WRITER = """
import sys
import test_two_writers as here
from seqkern.gram import compute_gram, tiles
from seqkern.kernels import SpectrumKernel
tiles.TILE_ROWS = 7
X = here.sequences()
print("ready", flush=True)
for line in sys.stdin:
    path, k, n = line.split()
    try:
        gram = compute_gram(SpectrumKernel(k=int(k)), X.take(range(int(n))), path=path, n_threads=1)
        found = str(gram.meta["kernel"]["k"])
    except Exception as error:
        found = f"{type(error).__name__}: {error}".splitlines()[0]
    print(found, flush=True)
"""


def sequences(n=N, seed=1):
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(["".join(rng.choice([*"ACGT"], 25)) for _ in range(n)], "dna")


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_ROWS", 7)


@pytest.fixture(scope="module")
def writers():
    """Two processes that compute a matrix for each line they get."""
    folders = [str(ROOT / "tests" / "gram"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), "PYTHONDONTWRITEBYTECODE": "1"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [one.stdout.readline() for one in both] == ["ready\n", "ready\n"]
    yield both
    for one in both:
        one.stdin.close()
        one.wait(60)


def write_both(writers, path, *tasks):
    """Let each process compute a matrix of (k, n) at `path`; return what they say."""
    for one, (k, n) in zip(writers, tasks, strict=True):
        one.stdin.write(f"{path} {k} {n}\n")
        one.stdin.flush()
    return [one.stdout.readline().strip() for one in writers]


@pytest.mark.parametrize("tasks", [((2, N), (2, N)), ((2, N), (3, N)), ((2, N), (2, N - 9))], ids=str)
def test_the_files_are_those_of_one_of_them(tmp_path, writers, tasks):
    X, path = sequences(), tmp_path / "gram.npy"
    for _ in range(ROUNDS):
        assert write_both(writers, path, *tasks) == [str(k) for k, _ in tasks]
        gram = open_gram(path)
        k, n = gram.meta["kernel"]["k"], len(gram.values)
        assert (k, n) in tasks
        np.testing.assert_array_equal(gram.values, SpectrumKernel(k=k)(X.take(np.arange(n))))
        assert sorted(file.name for file in tmp_path.iterdir()) == ["gram.json", "gram.npy"]
        path.unlink()


def test_tiles_that_another_process_uses_are_no_litter(tmp_path):
    X, path = sequences(), tmp_path / "gram.npy"
    other = GramJob(SpectrumKernel(k=3), X, None, path, "float64", 1, None)
    with other.tiles.in_use():
        other.compute([0, 1])
        unfinished = other.folder / ".rows-000014-000021.npy.abc.tmp"
        unfinished.write_text("half")
        compute_gram(SpectrumKernel(k=2), X, path=path)
        assert other.missing() == [*range(2, 9)]
        mine = GramJob(SpectrumKernel(k=3), X, None, path, "float64", 1, None)
        with mine.tiles.in_use():
            mine.tiles.clear_stale_files()
            mine.tiles.clear()
        assert unfinished.exists()
        assert other.missing() == [*range(2, 9)]
    with mine.tiles.in_use():
        mine.tiles.clear_stale_files()
    assert not unfinished.exists()
    compute_gram(SpectrumKernel(k=2), X.take(np.arange(9)), path=path)
    assert not tiles_root(path).exists()  # nobody uses them any more


def test_the_matrix_changes_while_nobody_else_changes_it(tmp_path, monkeypatch):
    path, write = tmp_path / "gram.npy", compute.write_meta
    alone = []

    def look(target, content):
        if target.parent == tmp_path:
            alone.append(FolderLock(tiles_root(path)).try_exclusive())
        write(target, content)

    monkeypatch.setattr(compute, "write_meta", look)
    compute_gram(SpectrumKernel(k=2), sequences(), path=path)
    assert alone == [False]


def test_without_locks_nothing_of_others_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("seqkern.core.exclusive_files.fcntl", None)
    X, path = sequences(), tmp_path / "gram.npy"
    compute_tile(SpectrumKernel(k=3), X, None, [0], path=path)
    compute_gram(SpectrumKernel(k=2), X, path=path)
    assert len(list(tiles_root(path).glob("*/rows-*"))) == 1
    compute_gram(SpectrumKernel(k=3), X, path=path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gram.json", "gram.npy"]
    open_gram(path, X, kernel=SpectrumKernel(k=3))


def test_opening_waits_for_no_writer_and_mixes_nothing(tmp_path, monkeypatch):
    """A side file of the new matrix with the old values, as a reader may meet it, is read again."""
    X, path = sequences(), tmp_path / "gram.npy"
    compute_gram(SpectrumKernel(k=2), X, path=path)
    read, times = stored_matrix.read_meta, []

    def replaced_first(target):
        if not times:
            times.append(1)
            compute_gram(SpectrumKernel(k=3), X, path=path)
        return read(target)

    monkeypatch.setattr(stored_matrix, "read_meta", replaced_first)
    times.clear()
    gram = open_gram(path)
    np.testing.assert_array_equal(gram.values, SpectrumKernel(k=3)(X))
    assert gram.meta["kernel"]["k"] == 3


def test_eigenvalues_of_a_matrix_that_is_gone_are_not_stored(tmp_path):
    X, path = sequences(), tmp_path / "gram.npy"
    gram = compute_gram(SpectrumKernel(k=2), X, path=path)
    found = spectrum(gram.values)
    assert store_spectrum(path, gram, found)
    compute_gram(SpectrumKernel(k=3), X, path=path)
    assert not store_spectrum(path, gram, found)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gram.json", "gram.npy"]


def test_the_lock_of_a_killed_run_is_removed_with_the_tiles(tmp_path):
    X, path = sequences(9), tmp_path / "gram.npy"
    compute_gram(SpectrumKernel(k=2), X, path=path)
    tiles_root(path).mkdir()
    (tiles_root(path) / LOCK).write_text("")
    compute_gram(SpectrumKernel(k=2), X, path=path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gram.json", "gram.npy"]
