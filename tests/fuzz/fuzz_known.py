"""Inputs on which readers failed, in small, and what they answer now. A failure that is fixed gets a line here."""

import io
import json
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import fuzz_genome
import fuzz_models
import fuzz_profiles
import fuzz_tables
import fuzz_texts
import numpy as np

from seqkern.core.archive import load_archive, save_archive

LONG = b"7" * 5000


class Known(NamedTuple):
    """An input that once ended in something other than one line."""

    reader: str
    what: str
    make: Callable[[], bytes]
    answer: str = "refused"


def _sheet(old: bytes, new: bytes) -> bytes:
    """Return an Excel file with another text in its sheet."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(fuzz_tables._excel()[0])) as archive, zipfile.ZipFile(out, "w") as copy:
        for name in archive.namelist():
            part = archive.read(name)
            copy.writestr(name, part.replace(old, new) if name.endswith("sheet1.xml") else part)
    return out.getvalue()


def _directory_lost() -> bytes:
    data = bytearray(fuzz_tables._excel()[0])
    data[data.rindex(b"PK\1\2") + 1] ^= 1
    return bytes(data)


def _header(old: bytes, new: bytes) -> bytes:
    """Return an .npy with another header of the same length."""
    data = fuzz_tables._npy()[1]
    assert old in data
    return data.replace(old, new, 1)


def _zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def _huge() -> bytes:
    """Return an .npy without values whose header names 2^40."""
    return _header(b"'shape': (4, 2), }" + b" " * 10, b"'shape': (1099511627776,), }")[:128]


def _dense() -> bytes:
    """Return an .npz whose directory claims more bytes of an entry than there can be."""
    data = bytearray(_zipped("a.npy", fuzz_tables._npy()[1]))
    at = data.rindex(b"PK\1\2") + 24
    data[at : at + 4] = (1 << 31).to_bytes(4, "little")
    return bytes(data)


def _hollow() -> bytes:
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.create_dataset("a", (1 << 40,), chunks=(1 << 10,))
    return out.getvalue()


def _heap() -> bytes:
    content = bytearray(fuzz_tables._hdf5()[0])
    third = content.index(b"GCOL") + 16 + 2 * 24  # a block has 16 bytes, and a text of 8 or fewer
    assert struct.unpack_from("<HHIQ", content, third)[::3] == (3, 1)
    content[third + 8] = 202
    return bytes(content)


def _archive(text: bytes) -> bytes:
    out = io.BytesIO()
    np.save(out, np.frombuffer(text, dtype=np.uint8))
    return _zipped("json.npy", out.getvalue())


def _neighbours(value: float) -> bytes:
    """Return a model whose solver keeps other numbers than it was trained with."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.seqkern"
        path.write_bytes(fuzz_models._models()[-1])
        header, arrays = load_archive(path)
        save_archive(path, header, arrays | {"solver/diagonal": np.full(4, value)})
        return path.read_bytes()


def _nested() -> bytes:
    """Return a model whose kernel is a sum of sums, doubled in each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.seqkern"
        path.write_bytes(fuzz_models._models()[2])
        header, arrays = load_archive(path)
        for _ in range(11):
            header["kernel"]["spec"] = {"kernel": "sum", "parts": [header["kernel"]["spec"]] * 2}
        save_archive(path, header, arrays)
        return path.read_bytes()


def _many() -> bytes:
    """Return an archive of more arrays than are read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.npz"
        save_archive(path, {}, {str(i): [i] for i in range(10_001)})
        return path.read_bytes()


def _doubled() -> bytes:
    """Return YAML in which each anchor stands for the one before twice."""
    lines = (f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 30))
    return fuzz_texts.APPLY + ("a0: &a0 {b: 1}\n" + "".join(lines)).encode()


def _plan(value: object) -> bytes:
    plan = json.loads(fuzz_tables._plan()[0])
    plan["methods"]["three"]["svm"]["inner"] = value
    return json.dumps(plan).encode()


CLUSTAL = b"CLUSTAL W (1.83) multiple sequence alignment\n\n"
SPECTRUM = b"n\tsmallest\n2\t1\n"
MOTIFS = b"motif\tclass\tconsensus\tcolumns\tsites\tshar\npositive_1\tpeak\tAG\t2\t9\t0.5\n"

KNOWN = (
    Known("stockholm, clustal", "Clustal without a block of sequences: Biopython never ended", lambda: CLUSTAL),
    Known("fasta, streamed", "an id of 5000 letters filled the terminal", lambda: b">" + b"A" * 5000 + b"\n\n"),
    Known("sites", "an escape of a terminal in a column's name", lambda: b"record\tpo\x1b[31m\nd1\t4\n"),
    Known("sites", "a first line of separators only", lambda: b",\n"),
    Known("labels, numbers", "a table of separators only", lambda: b";;\n;;\n"),
    Known("residues and states", "a header without an id", lambda: b">\nMC\n>\nMKVHG-\n"),
    Known("genome, indexed", "bytes that are not text", lambda: b">chr1\nACGT\xffACGT\n"),
    Known("index of a genome (.fai)", "lines of another width", lambda: b"chr1\t30\t8\t3\t31\nchr2\t26\t45\t18\t19\n"),
    Known("index of a genome (.fai)", "a length of 5000 digits", lambda: b"chr1\t" + LONG + b"\t8\t30\t31\n"),
    Known("index of a genome (.fai)", "digits that int() does not take", lambda: "chr1\t3²\t8\t30\t31\n".encode()),
    Known("vcf, bgzip; bcf", "BCF cut off after its magic", lambda: b"BCF\2\2"),
    Known("vcf, bgzip; bcf", "gzip cut off", lambda: fuzz_genome._bcf()[0][:60]),
    Known("vcf, bgzip; bcf", "damage in the compressed data", lambda: _damaged(fuzz_genome._bcf()[0], 40)),
    Known(
        "vcf", "a chromosome's length of 5000 digits", lambda: fuzz_genome.VCF.replace(b"=30", b"=" + LONG), "accepted"
    ),
    Known("region", "a position of 5000 digits", lambda: b"chr1:" + LONG + b"-8"),
    Known("folds", "a group of 30 digits", lambda: b"id\tgroup\t1\na\t" + LONG[:30] + b"\ttrain\n"),
    Known("labels in an Excel file", "its directory is damaged", _directory_lost),
    Known("labels in an Excel file", "XML that does not end", lambda: _sheet(b"</sheetData>", b"<")),
    Known("labels in an Excel file", "a cell in the last column", lambda: _sheet(b'r="A4"', b'r="XFD4"')),
    Known(
        "labels in an Excel file",
        "a row of number 2^63",
        lambda: _sheet(b'<row r="2"', b'<row r="9223372036854775808"'),
    ),
    Known(
        "labels in an Excel file",
        "empty rows up to number 1,000,000",
        lambda: _sheet(b'<row r="2"', b'<row r="1000000"'),
    ),
    Known("configuration of applications", "a repeated key: the last was taken", lambda: fuzz_texts.APPLY * 2),
    Known("configuration of applications", "anchors that double in each line", lambda: _doubled()),
    Known("kernel", "a sum of 5,000 kernels", lambda: b"+".join([b"spectrum:k=3"] * 5000)),
    Known("models", "a kernel of sums of sums: minutes", _nested),
    Known("archives", "more arrays than are read", _many),
    Known("vectors, npy", "a header that is an expression", lambda: _header(b"(4, 2)", b"(4*-2)")),
    Known("eigenvalues", "a column is missing", lambda: SPECTRUM),
    Known("eigenvalues", "no row", lambda: b"n\tsmallest\n"),
    Known("motifs of a study", "a column is missing", lambda: MOTIFS),
    Known("plan", "a number in place of a list", lambda: _plan(7)),
    Known("plan", "costs that are not numbers", lambda: _plan(["x", None])),
    Known("plan", "infinite costs", lambda: _plan([1e999])),
    Known(
        "motifs: meme, jaspar, transfac", "a motif of three letters: the file was not named", lambda: _three_letters()
    ),
    Known("property scales", "values whose variance overflows", lambda: b"aa\tx\nA\t1e308\nC\t-1e308\n"),
    Known("property scales", "a constant scale: the file was not named", lambda: b"aa\tx\nA\t1\nC\t1\n"),
    Known("property scales", "no letter of the alphabet: the file was not named", lambda: b"aa\tx\n1\t0\n2\t1\n"),
    Known("part", "a number of 5000 digits", lambda: b"1/" + LONG),
    Known("study, json", "a number of 5000 digits", lambda: b'{"study": ' + LONG + b"}"),
    Known("layers", "a window longer than any array", lambda: b"structure:window=9223372036854775807"),
    Known("kernel", "2^40 combinations", lambda: b"mismatch:k=4|5" + b",m=1h:k=4|5" * 39),
    Known("solver", "thousands of parentheses", lambda: b"csvc:C=[" + b"(" * 3000),
    Known(
        "methods",
        "a number of 60,000 digits: time by its square",
        lambda: b'{"svm": {"solver": "csvc:C=' + b"7" * 60_000 + b'x"}}',
    ),
    Known("methods", "thousands of brackets", lambda: b"[" * 100_000),
    Known("plan", "thousands of brackets", lambda: b"[" * 100_000),
    Known("costs", "thousands of brackets", lambda: b"[" * 100_000),
    Known("configuration of applications", "YAML of thousands of brackets", lambda: b"[" * 3000),
    Known("vectors, npz", "an array of 2^40 numbers in its header", lambda: _zipped("a.npy", _huge())),
    Known("vectors, npz", "an entry that claims to unpack to 2^31 bytes", lambda: _dense()),
    Known("vectors, hdf5", "a data set of 2^40 numbers without one stored", lambda: _hollow()),
    Known("vectors, hdf5", "a block of a heap that ends in another: libhdf5 does not return", lambda: _heap()),
    Known(
        "archives", "the header of an array is Python code", lambda: _zipped("json.npy", _header(b"(4, 2)", b"(4, x)"))
    ),
    Known(
        "archives",
        "a bracket that does not close in an array's header",
        lambda: _zipped("json.npy", _header(b"(4, 2)", b"(4, 2 ")),
    ),
    Known(
        "archives",
        "an invalid escape in the header of an array",
        lambda: _zipped("json.npy", _header(b"(4, 2)", b"('\\s')")),
    ),
    Known("models", "distances of neighbours that are NaN: warnings of NumPy", lambda: _neighbours(float("nan"))),
    Known("models", "distances of neighbours whose sum overflows", lambda: _neighbours(1e308), "accepted"),
    Known("archives", "NaN in JSON", lambda: _archive(b'{"a": NaN}')),
    Known("archives", "an infinite number in JSON", lambda: _archive(b"[1e999]")),
    Known("gram, header", "thousands of brackets", lambda: b"[" * 100_000),
    Known("study, json", "text that is neither JSON nor a path", lambda: b"study: " + b"a" * 5000),
    Known(
        "motifs: meme, jaspar, transfac",
        "a background of 1e-320",
        lambda: fuzz_profiles.MEME.replace(b"G 0.2", b"G 1e-320"),
    ),
    Known("kernel", "a parameter of 5000 digits", lambda: b"spectrum:k=" + LONG),
)


def _damaged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes(255 - one for one in data[at : at + 8]) + data[at + 8 :]


def _three_letters() -> bytes:
    return b"\n".join(line for line in fuzz_profiles.JASPAR[0].split(b"\n")[:5] if not line.startswith(b"A"))
