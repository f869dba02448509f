"""A stored matrix whose values or description have changed is never used."""

import json

import numpy as np
import pytest
import xxhash

from seqkern.core.errors import FileError, GramError
from seqkern.gram import compute_gram, compute_tile, open_gram, stored_matrix, tiles
from seqkern.gram.stored_matrix import content_digest
from seqkern.kernels import SpectrumKernel
from seqkern.sequences.sequence_set import SequenceSet

N = 30


def sequences(n=N, seed=1):
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(["".join(rng.choice([*"ACGT"], 25)) for _ in range(n)], "dna")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make tiles of seven rows, and digests of five."""
    monkeypatch.setattr(tiles, "TILE_ROWS", 7)
    monkeypatch.setattr(stored_matrix, "BLOCK_BYTES", 5 * N * 8)
    monkeypatch.setattr(stored_matrix, "CHUNK", 200)


@pytest.fixture
def stored(tmp_path):
    compute_gram(SpectrumKernel(k=2), sequences(), path=tmp_path / "gram.npy")
    return tmp_path / "gram.npy"


def change(path, how):
    """Change the values of a matrix, which keeps its size."""
    values = np.load(path)
    np.save(path, how(values.copy()))


def one_pair(K):
    K[3, 17] = K[17, 3] = 1e6
    return K


def one_entry(K):
    K[12, 4] += 1e-3
    return K


def last_bit(K):
    K[N - 1, N - 1] = np.nextafter(K[N - 1, N - 1], 2)
    return K


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        (lambda K: K[::-1, ::-1], "1 to 30"),
        (one_pair, "1 to 5 and 16 to 20"),
        (one_entry, "11 to 15"),
        (np.zeros_like, "1 to 30"),
        (
            lambda K: np.nextafter(K, 2) * (np.arange(N) == N - 1)[:, None] + K * (np.arange(N) < N - 1)[:, None],
            "26 to 30",
        ),
    ],
    ids=["reversed", "one pair", "one entry", "zeros", "last bit"],
)
def test_changed_values_are_found_with_their_rows(stored, how, rows):
    change(stored, how)
    with pytest.raises(GramError, match=rf"gram\.npy: is corrupted: values have changed in rows {rows} of 30; delete"):
        open_gram(stored, sequences(), kernel=SpectrumKernel(k=2))


def test_every_byte_counts(stored):
    content, values = stored.read_bytes(), np.load(stored)
    refused = 0
    for place in [*range(128), *np.random.default_rng(0).integers(128, len(content), 60)]:
        stored.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            opened = open_gram(stored)
        except GramError:
            refused += 1
        else:
            assert place < 128  # another way to write the same header
            assert opened.values.tobytes() == values.tobytes()
    assert refused >= 60 + 60


def test_the_side_file_of_another_matrix(stored, tmp_path):
    compute_gram(SpectrumKernel(k=3), sequences(), path=tmp_path / "other.npy")
    stored.with_suffix(".json").write_bytes((tmp_path / "other.json").read_bytes())
    with pytest.raises(GramError, match="values have changed in rows 1 to 30 of 30"):
        open_gram(stored)


@pytest.mark.parametrize("key", ["row_diagonal", "kernel", "identity", "row_digest", "value_digests", "counts"])
def test_the_side_file_is_protected_by_its_own_digest(stored, key):
    side = stored.with_suffix(".json")
    content = json.loads(side.read_text())
    content[key] = {"row_diagonal": [2.0] * N, "value_digests": content["value_digests"][::-1]}.get(key, "other")
    side.write_text(json.dumps(content))
    with pytest.raises(GramError, match=r"gram\.json: is corrupted"):
        open_gram(stored)


def test_a_matrix_of_another_release_is_opened(stored):
    side = stored.with_suffix(".json")
    content = json.loads(side.read_text()) | {"made_by": "0.1.7", "build": "0123456789ab"}
    side.write_text(json.dumps(content | {"digest": content_digest(content)}))
    assert open_gram(stored, sequences(), kernel=SpectrumKernel(k=2)).meta["made_by"] == "0.1.7"


def test_a_damaged_matrix_is_computed_again_and_that_is_said(stored, capsys):
    before, side = stored.read_bytes(), stored.with_suffix(".json")
    change(stored, one_pair)
    compute_gram(SpectrumKernel(k=2), sequences(), path=stored)
    assert stored.read_bytes() == before
    open_gram(stored)
    what = "is corrupted: values have changed in rows 1 to 5 and 16 to 20 of 30"
    assert capsys.readouterr().err == f"seqkern: {stored}: {what}; it is computed again\n"
    side.write_text("{}")
    compute_gram(SpectrumKernel(k=2), sequences(), path=stored)
    what = "is not the side file of a Gram matrix, or is corrupted"
    assert capsys.readouterr().err == f"seqkern: {side}: {what}; it is computed again\n"
    side.unlink()  # as a killed run leaves it
    compute_gram(SpectrumKernel(k=2), sequences(), path=stored)
    compute_gram(SpectrumKernel(k=3), sequences(), path=stored)
    assert capsys.readouterr().err == ""


def test_a_damaged_matrix_is_not_extended(stored, tmp_path):
    change(stored, one_pair)
    with pytest.raises(GramError, match="values have changed"):
        compute_gram(SpectrumKernel(k=2), sequences(N + 5), path=tmp_path / "new.npy", extend=stored)


@pytest.mark.parametrize("make", ["float32", "rectangle", "extended", "tiles", "groups", "one block"])
def test_digests_are_those_of_the_rows_however_they_are_made(tmp_path, monkeypatch, make):
    kernel, X, path = SpectrumKernel(k=2), sequences(), tmp_path / "gram.npy"
    if make == "float32":
        compute_gram(kernel, X, path=path, dtype="float32")
    elif make == "rectangle":
        compute_gram(kernel, X, sequences(9, seed=4), path=path)
    elif make == "extended":
        compute_gram(kernel, X.take(np.arange(20)), path=tmp_path / "old.npy")
        compute_gram(kernel, X, path=path, extend=tmp_path / "old.npy")
    elif make == "tiles":
        for index in reversed(range(5)):
            compute_tile(kernel, X, None, index, path=path)
        compute_gram(kernel, X, path=path)
    else:
        if make == "groups":
            monkeypatch.setattr(tiles, "ASSEMBLY_BYTES", 2 * 7 * N * 8)
        else:
            monkeypatch.setattr(stored_matrix, "BLOCK_BYTES", 1 << 24)
        compute_gram(kernel, X, path=path)
    values = np.load(path)
    step = stored_matrix.BLOCK_BYTES // values[0].nbytes
    expected = [xxhash.xxh3_128_hexdigest(values[i : i + step].tobytes()) for i in range(0, len(values), step)]
    content = json.loads(path.with_suffix(".json").read_text())
    assert content["value_digests"] == expected
    assert content["digest"] == content_digest(content)
    open_gram(path)


def test_a_damaged_tile_is_found_where_it_is_used(tmp_path):
    kernel, X, path = SpectrumKernel(k=2), sequences(), tmp_path / "gram.npy"
    compute_tile(kernel, X, None, range(5), path=path)
    tile = sorted(tmp_path.glob("gram.npy.tiles/*/rows-*.npy"))[2]
    content = bytearray(tile.read_bytes())
    content[-100] ^= 1
    tile.write_bytes(content)
    with pytest.raises(FileError, match=r"rows-000014-000021\.npy: is damaged, and has been removed; repeat"):
        compute_gram(kernel, X, path=path)
    np.testing.assert_array_equal(compute_gram(kernel, X, path=path).values, kernel(X))


def test_a_matrix_replaced_while_it_is_in_use(stored):
    gram = open_gram(stored)
    values = gram.values.copy()
    compute_gram(SpectrumKernel(k=3), sequences(), path=stored)
    np.testing.assert_array_equal(gram.values, values)  # the map is of the old file
    with pytest.raises(GramError, match=r"gram\.npy: was replaced by another process while it was in use; repeat"):
        gram.slice([0, 1], [0, 1])
