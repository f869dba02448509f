"""Whatever a loader raises is one error with file and remedy; claimed sizes are compared with the file's."""

import io
import json
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from seqkern.core.archive import load_archive, read_entries, save_archive
from seqkern.core.errors import FileError, ModelError, SequenceError, damaged
from seqkern.core.file_kinds import ANY

RAISED = [KeyError("kind"), TypeError("no"), IndexError(3), ValueError(), OverflowError(), AttributeError("x")]
RAISED += [
    RecursionError(),
    struct.error("unpack"),
    zlib.error("bits"),
    zipfile.BadZipFile(),
    EOFError(),
    OSError("no"),
]
RAISED += [UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), ZeroDivisionError(), RuntimeError("encrypted")]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_is_one_error(error):
    with pytest.raises(FileError) as found, damaged("x.npz"):
        raise error
    assert str(found.value) == "x.npz: is not a seqkern file, or is corrupted; create it again"


def test_errors_that_name_a_file_pass_and_others_get_one():
    with pytest.raises(SequenceError, match=r"^donors\.fa: is empty$"), damaged("x.npz"):
        raise SequenceError("is empty", file="donors.fa")
    with pytest.raises(ModelError) as found, damaged("x.model", "is not usable", "train again", ModelError):
        raise SequenceError("is empty", record="d17")
    assert str(found.value) == "x.model: is not usable: record 'd17' is empty; train again"
    with pytest.raises(FileError, match="is corrupted: 3 parts, but 2 are there; create"), damaged("x.npz"):
        raise ValueError("3 parts, but 2 are there")


def test_files_that_cannot_be_read_are_not_called_corrupted(tmp_path):
    for path, problem in ((tmp_path / "x.json", "no such file"), (tmp_path, "cannot be read: Is a directory")):
        with pytest.raises(FileError, match=problem):
            ANY.load_json(path)
    with pytest.raises(FileError, match="needs more memory than there is"), damaged("x.npz"):
        raise MemoryError
    with pytest.raises(ImportError), damaged("x.npz"):
        raise ImportError("h5py")


def test_deep_json_is_one_error(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    with pytest.raises(FileError, match="is corrupted"):
        ANY.load_json(tmp_path / "x.json")


def archive(path, entries, **options):
    """Write a zip file of bytes by name, without any check."""
    with zipfile.ZipFile(path, "w", **options) as file:
        for name, content in entries:
            file.writestr(name, content)


def npy(array, **header):
    """Return the bytes of an .npy file whose header claims something else."""
    file = io.BytesIO()
    given = np.lib.format.header_data_from_array_1_0(array) | header
    np.lib.format.write_array_header_1_0(file, given)
    return file.getvalue() + array.tobytes()


JSON = ("json.npy", npy(np.frombuffer(b"{}", np.uint8)))
CODES = np.arange(4)
CLAIMS = {
    "larger": npy(CODES, shape=(1 << 60,)),
    "product that overflows": npy(CODES, shape=(1 << 32, 1 << 32)),
    "smaller": npy(CODES, shape=(3,)),
    "negative": npy(CODES, shape=(-2, -2)),
    "nothing, often": npy(CODES[:0], shape=(0, 1 << 62)),
    "values without bytes": npy(CODES[:0], shape=(1 << 62,), descr="<U0"),
    "objects": npy(CODES, descr="|O"),
    "records": npy(CODES, descr=[("a", "<i8")]),
    "text that does not exist": npy(np.full(4, 0x7FFFFFFF, np.uint32), descr="<U1"),
    "not a shape": npy(CODES, shape="abc"),
    "cut": npy(CODES)[:-1],
    "cut in the header": npy(CODES)[:20],
    "empty": b"",
}


@pytest.mark.parametrize("content", CLAIMS.values(), ids=CLAIMS)
def test_a_header_that_claims_another_size_is_refused_before_memory_is_taken(tmp_path, content):
    archive(tmp_path / "x.npz", [JSON, ("codes.npy", content)])
    tracemalloc.start()
    with pytest.raises(FileError, match="is corrupted"):
        load_archive(tmp_path / "x.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_compressed_and_repeated_entries_are_refused(tmp_path):
    bomb = npy(np.zeros(1 << 20))
    archive(tmp_path / "bomb.npz", [JSON, ("codes.npy", bomb)], compression=zipfile.ZIP_DEFLATED)
    assert (tmp_path / "bomb.npz").stat().st_size < 20_000
    with pytest.raises(ValueError, match="compressed"):
        read_entries(tmp_path / "bomb.npz")
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(tmp_path / "twice.npz", [JSON, ("codes.npy", npy(CODES)), ("codes.npy", npy(CODES))])
    with pytest.raises(ValueError, match="two entries"):
        read_entries(tmp_path / "twice.npz")


def test_a_changed_bit_is_found_by_the_checksum(tmp_path):
    path = tmp_path / "x.npz"
    save_archive(path, {"alphabet": "dna"}, {"codes": np.full(4, 77_777_777)})
    content = path.read_bytes()
    place = content.index(np.int64(77_777_777).tobytes())
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(FileError, match="is corrupted"):
        load_archive(path)


def test_every_array_that_is_saved_is_read(tmp_path):
    arrays = {
        "empty": np.zeros((0, 5)),
        "scalar": np.float64(3.0),
        "text": np.array(["dé", "", "\U0010ffff"]),
        "wide": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "foreign": np.arange(3, dtype=">i4"),
        "truth": np.array([True]),
        "bytes": np.array([b"ab"]),
    }
    save_archive(tmp_path / "x.npz", {"n": 1}, arrays)
    header, read = load_archive(tmp_path / "x.npz")
    assert header == json.loads('{"n": 1}')
    assert list(read) == sorted(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
    assert all(array.dtype.isnative for array in read.values())
