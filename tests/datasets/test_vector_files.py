"""Files of vectors: every format, and files that are damaged, hostile or do not fit."""

import builtins
import contextlib
import importlib
import pickle
import zipfile

import numpy as np
import pytest

from seqkern.core.errors import FileError, SeqkernError, SequenceError
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.vectors import View, ViewOptions, open_vectors

IDS = ["b", "a", "c"]
VALUES = np.array([[1, 2], [3, 4.5], [5, 6]], dtype=np.float32)
X = SequenceSet.from_strings(["MKV", "GKVA"], "protein", ids=["a", "b"])


def npy(path, values=VALUES, ids=IDS, ending=".ids"):
    np.save(path / "v.npy", values)
    (path / f"v{ending}").write_text("".join(f"{name}\n" for name in ids))
    return path / "v.npy"


def npz_table(path, values=VALUES, ids=IDS):
    np.savez_compressed(path / "v.npz", ids=ids, values=values)
    return path / "v.npz"


def npz_arrays(path, values=VALUES, ids=IDS):
    np.savez(path / "v.npz", **dict(zip(ids, values, strict=True)))
    return path / "v.npz"


def hdf5_arrays(path, values=VALUES, ids=IDS):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "v.h5", "w") as file:
        for name, vector in zip(ids, values, strict=True):
            file[name] = vector
    return path / "v.h5"


def hdf5_numbered(path, values=VALUES, ids=IDS):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "v.h5", "w") as file:
        for number, (name, vector) in enumerate(zip(ids, values, strict=True)):
            file[str(number)] = vector
            file[str(number)].attrs["original_id"] = np.bytes_(name) if number else name
    return path / "v.h5"


def hdf5_table(path, values=VALUES, ids=IDS):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "v.h5", "w") as file:
        file["ids"], file["values"] = list(ids), values
    return path / "v.h5"


def parquet(path, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    importlib.import_module("pyarrow.parquet").write_table(pyarrow.table(columns), path / "v.parquet")
    return path / "v.parquet"


def parquet_lists(path, values=VALUES, ids=IDS):
    return parquet(path, name=["x"] * len(ids), id=ids, esm=list(values))


def parquet_columns(path, values=VALUES, ids=IDS):
    return parquet(path, id=ids, **{f"d{j}": column for j, column in enumerate(values.T)})


def tsv(path, values=VALUES, ids=IDS):
    rows = "".join(
        f"{name}\t" + "\t".join(map(str, row)) + "\n" for name, row in zip(ids, values.tolist(), strict=True)
    )
    (path / "v.tsv").write_text("id\td1\td2\n" + rows)
    return path / "v.tsv"


FORMATS = (
    *(npy, npz_table, npz_arrays, hdf5_arrays, hdf5_numbered, hdf5_table),
    *(parquet_lists, parquet_columns, tsv),
)
ONE_ARRAY_EACH = (npz_arrays, hdf5_arrays, hdf5_numbered)


def view(file, ids=None):
    return View(ViewOptions("esm", str(file), ids))


def added(file):
    return view(file).add_to(X).views["esm"].rows()


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_the_same_vectors(tmp_path, write):
    file = write(tmp_path)
    assert sorted(open_vectors(file).keys) == ["a", "b", "c"]
    np.testing.assert_array_equal(added(file), VALUES[[1, 0]])
    assert added(file).dtype == (np.float64 if write is tsv else np.float32)
    assert view(file).unused(X.ids) == 1


@pytest.mark.parametrize("write", FORMATS)
def test_names_of_files_do_not_matter(tmp_path, write):
    file = write(tmp_path)
    if write is npy:
        (tmp_path / "other.ids").write_bytes((tmp_path / "v.ids").read_bytes())
        assert len(open_vectors(file.rename(tmp_path / "other.npy")).keys) == 3
    else:
        assert len(open_vectors(file.rename(tmp_path / "other")).keys) == 3


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_must_be_finite(tmp_path, write, value):
    values = VALUES.copy()
    values[0, 1] = value
    with pytest.raises(SequenceError, match=r"v\.\w+: record 'b': .*not a finite number"):
        added(write(tmp_path, values))


@pytest.mark.parametrize("write", FORMATS)
def test_a_sequence_without_a_vector(tmp_path, write):
    file = write(tmp_path, VALUES[1:], IDS[1:])
    with pytest.raises(SequenceError, match=r"v\.\w+: record 'b': has no vector in the view 'esm' \(1 of 2 sequences"):
        added(file)


@pytest.mark.parametrize("write", [npy, npz_table, hdf5_table, hdf5_numbered, parquet_lists, parquet_columns, tsv])
def test_an_id_with_two_vectors(tmp_path, write):
    with pytest.raises(SequenceError, match=r"v\.\w+: record 'b': .*(two vectors|duplicate id)"):
        added(write(tmp_path, VALUES, ["b", "a", "b"]))


@pytest.mark.parametrize("write", [write for write in FORMATS if write is not tsv])
def test_no_vectors(tmp_path, write):
    with pytest.raises(SequenceError, match=r"v\.\w+: contains no vectors"):
        open_vectors(write(tmp_path, VALUES[:0], []))


@pytest.mark.parametrize("write", ONE_ARRAY_EACH)
def test_rows_of_residues_are_averaged(tmp_path, write):
    rows = {"a": np.arange(6.0).reshape(3, 2), "b": np.ones((4, 2), np.float16), "c": VALUES[0]}
    file = write(tmp_path, list(rows.values()), list(rows))
    np.testing.assert_array_equal(added(file), [[2, 3], [1, 1]])
    chains = X.replace(ids=["a", "b"])
    with_track = view(file).add_to_residues(chains)
    np.testing.assert_array_equal(with_track.tracks["esm"], np.vstack([rows["a"], rows["b"]]))
    assert with_track.tracks["esm"].dtype == np.float32
    with pytest.raises(SequenceError, match="record 'c': has one vector in the view 'esm', but residues are the sam"):
        view(file).add_to_residues(X.replace(ids=["a", "c"]))


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (
            {"a": np.ones((5, 2))},
            "has 5 rows in the view 'esm', but the sequence has length 3; .* start and end tokens",
        ),
        ({"a": np.ones(3)}, "record 'b': has 2 numbers, the first vector has 3 in the view 'esm'"),
        ({"a": np.ones((2, 3, 4))}, "record 'a': has 3 dimensions"),
        ({"a": np.float64(3)}, "record 'a': has 0 dimensions"),
        ({"a": np.ones(0)}, "record 'a': has an empty vector"),
        ({"a": np.ones((0, 2))}, "has 0 rows in the view 'esm', but the sequence has length 3"),
        ({"a": np.array(["x", "y"])}, "record 'a': has values of type <U1; store them as numbers"),
        ({"a": np.ones(2, dtype=complex)}, "record 'a': has values of type complex128"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, arrays, problem):
    np.savez(tmp_path / "v.npz", **({"b": np.ones(2)} | arrays))
    with pytest.raises(SequenceError, match=problem):
        added(tmp_path / "v.npz")


def test_one_row_is_one_vector(tmp_path):
    np.savez(tmp_path / "v.npz", a=np.ones((1, 2)), b=np.ones(2))
    np.testing.assert_array_equal(added(tmp_path / "v.npz"), np.ones((2, 2)))


def test_ids_of_a_table(tmp_path):
    assert len(open_vectors(npy(tmp_path, ending=".ids.txt")).keys) == 3
    (tmp_path / "v.ids.txt").rename(tmp_path / "names")
    with pytest.raises(FileError, match=r"v\.npy: has no ids; write the id of each row to v\.ids"):
        open_vectors(tmp_path / "v.npy")
    assert len(open_vectors(tmp_path / "v.npy", tmp_path / "names").keys) == 3
    with pytest.raises(FileError, match="missing: no such file"):
        open_vectors(tmp_path / "v.npy", tmp_path / "missing")
    with pytest.raises(FileError, match="holds its own ids"):
        open_vectors(npz_table(tmp_path), tmp_path / "names")
    with pytest.raises(SequenceError, match=r"has 3 rows, but there are 2 ids in .*v\.ids"):
        open_vectors(npy(tmp_path, ids=["a", "b"]))
    with pytest.raises(SequenceError, match="has 3 rows, but there are 2 ids"):
        open_vectors(npz_table(tmp_path, ids=["a", "b"]))
    with pytest.raises(SequenceError, match="has the shape 3; give a table"):
        open_vectors(npy(tmp_path, VALUES[:, 0]))
    with pytest.raises(SequenceError, match="its ids have 2 dimensions"):
        open_vectors(npz_table(tmp_path, ids=[["a"], ["b"], ["c"]]))


class Harmful:
    """It would leave a trace when unpickled."""

    def __reduce__(self):
        return builtins.print, ("unpickled",)


def test_nothing_is_unpickled(tmp_path, capsys):
    objects = np.array([Harmful(), 2.0, 3.0], dtype=object)
    for write in (
        lambda: npy(tmp_path, objects),
        lambda: npz_table(tmp_path, ids=objects),
        lambda: npz_table(tmp_path, values=objects),
        lambda: npz_arrays(tmp_path, [objects, objects, objects]),
    ):
        with pytest.raises(FileError, match=r"v\.np[yz]: contains Python objects, which are not read; store numbers"):
            added(write())
    (tmp_path / "v.pt").write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(SeqkernError, match=r"v\.pt: "):
        open_vectors(tmp_path / "v.pt")
    assert "unpickled" not in capsys.readouterr().out


@pytest.mark.parametrize("write", FORMATS)
def test_a_damaged_file_is_one_line(tmp_path, write):
    file = write(tmp_path)
    whole = file.read_bytes()
    rng = np.random.default_rng(1)
    damaged = [whole[: len(whole) // 2], whole[:9], whole[:-1]]
    for _ in range(40):
        changed = bytearray(whole)
        for place in rng.integers(6, len(whole), 8):
            changed[place] = rng.integers(256)
        damaged.append(bytes(changed))
    for content in damaged:
        file.write_bytes(content)
        with contextlib.suppress(SeqkernError):  # what changes only numbers cannot be noticed
            added(file)


def test_other_files(tmp_path):
    with pytest.raises(FileError, match=r"missing\.npz: no such file"):
        open_vectors(tmp_path / "missing.npz")
    with pytest.raises(FileError, match="cannot be read"):
        open_vectors(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(SequenceError, match="empty: is empty"):
        open_vectors(tmp_path / "empty")
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(SeqkernError, match=r"v\.zip: "):
        added(tmp_path / "v.zip")


def test_hdf5_reads_no_other_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    secret = hdf5_arrays(tmp_path).rename(tmp_path / "secret.h5")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["a"] = VALUES[0]
        file["b"] = h5py.ExternalLink(str(secret), "b")
    with pytest.raises(SequenceError, match="record 'b': has no vector"):
        added(tmp_path / "v.h5")
    (tmp_path / "raw").write_bytes(b"x" * 16)
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_dataset("a", (2,), "f8", external=[(str(tmp_path / "raw"), 0, 16)])
    with pytest.raises(SequenceError, match="record 'a': is stored in another file"):
        open_vectors(tmp_path / "v.h5")
    layout = h5py.VirtualLayout((2,), "f4")
    layout[:] = h5py.VirtualSource(str(secret), "b", (2,))
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_virtual_dataset("a", layout)
    with pytest.raises(SequenceError, match="record 'a': is stored in another file"):
        open_vectors(tmp_path / "v.h5")


def test_ids_with_slashes_are_groups_of_hdf5(tmp_path):
    file = hdf5_arrays(tmp_path, VALUES, ["d/b", "d/a", "c"])
    assert sorted(open_vectors(file).keys) == ["c", "d/a", "d/b"]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"name": ["a"], "d1": [1.0]}, "has no column 'id'; name the column of ids id; columns: name, d1"),
        ({"id": ["a"]}, "has no column of numbers"),
        ({"id": ["a", None], "d1": [1.0, 2.0]}, "row 2 has no id"),
        ({"id": ["a"], "d1": [1.0], "note": ["x"]}, "its column 'note' does not consist of numbers"),
        ({"id": ["a"], "x": [[1.0]], "y": [[1.0]]}, "has 2 columns of lists: x, y; keep one of them"),
        ({"id": ["a", "b"], "x": [[1.0], [1.0, 2.0]]}, "record 'b': has 2 numbers, the first vector has 1"),
        ({"id": ["a", "b"], "x": [[1.0], None]}, "record 'b': has no vector"),
        ({"id": ["a"], "x": [["text"]]}, "its lists do not consist of numbers"),
    ],
)
def test_columns_of_parquet(tmp_path, columns, problem):
    with pytest.raises(SequenceError, match=rf"v\.parquet: .*{problem}"):
        open_vectors(parquet(tmp_path, **columns))


@pytest.mark.parametrize(("write", "package"), [(hdf5_arrays, "h5py"), (parquet_lists, "pyarrow")])
def test_a_missing_library(tmp_path, write, package, monkeypatch):
    file = write(tmp_path)
    found = importlib.import_module

    def without(name, *more):
        if name.startswith(package):
            raise ImportError(name)
        return found(name, *more)

    monkeypatch.setattr(importlib, "import_module", without)
    problem = rf'v\.\w+: needs the package {package}; install it: pip install "seqkern\[embeddings\]", or store the'
    with pytest.raises(FileError, match=problem):
        open_vectors(file)
