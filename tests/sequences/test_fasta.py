"""Reading FASTA: forms of the text, policies, streaming, and everything that can be wrong."""

import bz2
import gzip
import io
import lzma
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern import read_fasta
from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.sequences.fasta import STOPS, RecordNumbers, iter_fasta, read_records

PACKERS = {"fa": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def write(folder, text, name="in.fasta"):
    """Write text or bytes to a file and return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def naive_fasta(text):
    """Parse FASTA letter by letter: a list of (header, sequence)."""
    records = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith(">"):
            records.append([line[1:].rstrip(), ""])
        elif records:
            records[-1][1] += "".join(letter for letter in line if letter not in " \t").upper()
    return [tuple(record) for record in records]


# ---- forms of the text -----------------------------------------------------------------------------------


@st.composite
def fasta_texts(draw):
    """Draw FASTA with any line width, line end, blank lines, case and description."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [""] * draw(st.integers(0, 2))
    for i in range(draw(st.integers(1, 6))):
        lines.append(f">r{i}" + draw(st.sampled_from(["", " a description", "\ttab > more", " label=1"])))
        string = draw(st.text("ACGTacgt", min_size=1, max_size=20))
        width = draw(st.integers(1, 20))
        lines += [string[j : j + width] for j in range(0, len(string), width)]
        lines += [""] * draw(st.integers(0, 2))
    return end.join(lines) + draw(st.sampled_from(["", end]))


@given(fasta_texts())
def test_equals_naive_parser(text):
    reading = read_records(io.BytesIO(text.encode()))
    expected = naive_fasta(text)
    assert reading.headers == [header for header, _ in expected]
    assert reading.sequences.strings() == [string for _, string in expected]
    assert reading.sequences.ids == [header.split()[0] for header, _ in expected]
    lower = sum(c.islower() for line in text.splitlines() if not line.startswith(">") for c in line)
    assert reading.sequences.counts.get("lower-case letters", 0) == lower


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("name", ["plain.fa", "wrong.gz", "none"])
def test_compression_is_told_by_content(tmp_path, packer, name):
    path = write(tmp_path, PACKERS[packer](b">a\nAC\nGT\n>b\nTT\n"), name)
    X = read_fasta(path)
    assert X.strings() == ["ACGT", "TT"]
    assert X.alphabet.name == "dna"


@pytest.mark.parametrize("packer", PACKERS)
def test_standard_input(monkeypatch, packer):
    stream = io.TextIOWrapper(io.BytesIO(PACKERS[packer](b">a\nACGT\n")))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_fasta("-").strings() == ["ACGT"]
    assert not stream.buffer.closed


def test_handles_stay_open():
    for handle in (
        io.StringIO(">a\nACGT\n"),
        io.BytesIO(b">a\nACGT\n"),
        io.BytesIO(gzip.compress(b">a\nACGT\n")),
    ):
        assert read_fasta(handle).strings() == ["ACGT"]
        assert not handle.closed


def test_members_of_a_joined_gzip_are_read(tmp_path):
    path = write(tmp_path, gzip.compress(b">a\nAC\n") + gzip.compress(b">b\nGT\n"))
    assert read_fasta(path).ids == ["a", "b"]


def test_byte_order_mark_and_other_encodings(tmp_path):
    text = b"\xef\xbb\xbf>caf\xc3\xa9 x\nAC\n>caf\xe9 y\nGT\n"
    assert read_fasta(write(tmp_path, text)).ids == ["café", "caf\\xe9"]


def test_several_files_are_one_set(tmp_path):
    paths = [write(tmp_path, ">a\nAC\n>b\nGG\n", "1.fa"), write(tmp_path, ">c\nTT\n", "2.fa")]
    reading = read_records(paths)
    assert reading.sequences.ids == ["a", "b", "c"]
    assert reading.sources.tolist() == [0, 0, 1]
    assert read_fasta(paths, ids="number").ids == ["1", "2", "3"]
    with pytest.raises(SequenceError, match=r"3\.fa: header 1 has no id"):
        read_fasta([*paths, write(tmp_path, ">\nTT\n", "3.fa")])
    with pytest.raises(SequenceError, match=r"1\.fa, .*2\.fa: record 'a': duplicate id"):
        read_fasta([paths[0], write(tmp_path, ">a\nAC\n", "2.fa")])


def test_alphabet_is_guessed_over_all_files(tmp_path):
    paths = [write(tmp_path, ">a\nAC\n", "1.fa"), write(tmp_path, ">b\nMKVL\n", "2.fa")]
    assert read_fasta(paths).alphabet.name == "protein"


# ---- policies --------------------------------------------------------------------------------------------

ODD = ">a x\nACNT\n>b\nACGT\n>c\nRR\n>b again\nGG\n"


def test_unknown_mask(tmp_path):
    X = read_fasta(write(tmp_path, ODD), "dna", unknown="mask", ids="number")
    assert X.strings() == ["AC*T", "ACGT", "**", "GG"]
    assert X.counts == {"masked letters": 3, "masked N": 1, "masked R": 2, "repeated ids": 1}
    assert X.ids == ["1", "2", "3", "4"]


def test_unknown_skip_keeps_numbers_and_headers(tmp_path):
    reading = read_records(write(tmp_path, ODD), "dna", unknown="skip", ids="number")
    assert reading.sequences.strings() == ["ACGT", "GG"]
    assert reading.sequences.ids == ["2", "4"]
    assert reading.headers == ["b", "b again"]
    assert reading.left_out == ["1", "3"]
    assert reading.sequences.counts == {"records with unknown letters left out": 2, "repeated ids": 1}


def test_ids_suffix(tmp_path):
    X = read_fasta(write(tmp_path, ODD), "dna", unknown="mask", ids="suffix")
    assert X.ids == ["a", "b", "c", "b.2"]
    assert X.counts["repeated ids"] == 1


def test_headers_of_only_a_label(tmp_path):
    path = write(tmp_path, ">1\nAC\n>1\nGG\n> 0 label=-1\nTT\n>\nTT\n")
    reading = read_records(path, ids="number")
    assert reading.sequences.ids == ["1", "2", "3", "4"]
    assert reading.headers == ["1", "1", " 0 label=-1", ""]


def test_empty_skip(tmp_path):
    X = read_fasta(write(tmp_path, ">a\n>b\n\n>c\nAC\n>d\n"), empty="skip")
    assert X.ids == ["c"]
    assert X.counts == {"records without sequence left out": 3}


@pytest.mark.parametrize("policy", [{"unknown": "drop"}, {"ids": "names"}, {"empty": "mask"}])
def test_policies_are_checked(policy):
    with pytest.raises(ParameterError, match="is not possible; choose"):
        read_fasta(io.BytesIO(b">a\nAC\n"), **policy)


def test_everything_left_out(tmp_path):
    with pytest.raises(SequenceError, match=r"in\.fasta: every record was left out"):
        read_fasta(write(tmp_path, ">a\nNN\n"), "dna", unknown="skip")


# ---- streaming -------------------------------------------------------------------------------------------


@given(fasta_texts(), st.integers(1, 400))
def test_chunks_make_up_the_whole(text, chunk):
    whole = read_fasta(io.BytesIO(text.encode()), "dna")
    parts = list(iter_fasta(io.BytesIO(text.encode()), "dna", chunk=chunk))
    assert [string for part in parts for string in part.strings()] == whole.strings()
    assert [name for part in parts for name in part.ids] == whole.ids
    counts = sum(part.counts.get("lower-case letters", 0) for part in parts)
    assert counts == whole.counts.get("lower-case letters", 0)


def test_chunks_are_bounded_and_lazy():
    def lines():
        for i in range(10_000):
            yield f">r{i}\n"
            yield "ACGT" * 10 + "\n"
        raise AssertionError("read further than asked")

    class Endless(io.StringIO):
        def __iter__(self):
            return lines()

    stream = iter_fasta(Endless(), "dna", chunk=2_000)
    for _ in range(3):
        part = next(stream)
        assert 2_000 <= part.lengths.sum() + 64 * len(part) < 2_000 + 40 + 64


def test_stream_policies():
    text = b">a\nAC\n>x\nNN\n>\nGG\n>b\n"
    parts = list(iter_fasta(io.BytesIO(text), "dna", unknown="skip", ids="number", empty="skip", chunk=1))
    assert [part.ids for part in parts] == [["1"], [], ["3"], []]
    assert parts[1].counts == {"records with unknown letters left out": 1}
    assert parts[3].counts == {"records without sequence left out": 1}
    with pytest.raises(ParameterError, match="ids='suffix'"):
        next(iter_fasta(io.BytesIO(text), "dna", ids="suffix"))


# ---- what can be wrong -----------------------------------------------------------------------------------

GOOD = b"".join(b">r%d\n%s\n" % (i, b"ACGT" * 50) for i in range(200))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", SequenceError, "is empty"),
        (b"\n\r\n  \n", SequenceError, "is empty"),
        (gzip.compress(b"", mtime=0), SequenceError, "is empty"),
        (b">a\nAC\n>b\n>c\nGG\n", SequenceError, "record 'b': has no sequence; .*--empty skip"),
        (b">a\nAC\n>b\n", SequenceError, "record 'b': has no sequence"),
        (
            b">a\nACGT\n>b\nAC1T\n",
            SequenceError,
            "record 'b': letter '1' at position 3 .* dna; .*--unknown mask_all or skip",
        ),
        (b">a\nAC\n>a\nGG\n", SequenceError, "record 'a': duplicate id .*--ids number"),
        (b">a\nAC\n>\nGG\n", SequenceError, "header 2 has no id; .*--ids number"),
        (b"ACGT\nACGT\n", SequenceError, "is not FASTA: its first line is 'ACGT'; .*'>id'"),
        (b"id\tlabel\na\t1\n", SequenceError, "is not FASTA"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", FileError, "is a binary file"),
        (b"PK\x03\x04\x14\x00", FileError, "is a zip archive, not text; unpack it"),
        (">a\nAC\n".encode("utf-16"), FileError, "is text in UTF-16 .*save it as UTF-8"),
        (gzip.compress(b"\x89PNG\r\n\x1a\n\x00\x00", mtime=0), FileError, "is a binary file"),
        (gzip.compress(GOOD, mtime=0)[:-40], FileError, "is truncated; copy or download"),
        (bz2.compress(GOOD)[:-40], FileError, "is truncated"),
        (lzma.compress(GOOD)[:-40], FileError, "is truncated"),
        (gzip.compress(GOOD, mtime=0)[:14], FileError, "is truncated"),
        (gzip.compress(GOOD, mtime=0)[:-8] + b"\0" * 8, FileError, "is corrupted"),
        (gzip.compress(GOOD, mtime=0)[:12] + b"\xff" * 200, FileError, "is corrupted"),
        (lzma.compress(GOOD)[:30] + b"\xff" * 200, FileError, "is corrupted"),
    ],
)
def test_bad_input_is_one_line(tmp_path, content, error, message):
    path = write(tmp_path, content)
    with pytest.raises(error, match=message) as caught:
        read_fasta(path, "dna")
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "; " in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "alphabet", "masked"),
    [
        (">a\nACGTNRYK\n>b\nACGTn\n", "dna", {"N": 2, "R": 1, "Y": 1, "K": 1}),
        (">a\nACGUNNX\n", "rna", {"N": 2, "X": 1}),
        (">a\nMKVLAAGBZJXUO\n", "protein", dict.fromkeys("BJOUXZ", 1)),
        (">a\nHECXH\n", "HEC", {"X": 1}),
    ],
)
def test_ambiguity_codes_are_masked_and_counted_by_default(tmp_path, text, alphabet, masked):
    path = write(tmp_path, text)
    X = read_fasta(path, alphabet)
    assert {letter: X.counts.get(f"masked {letter}") for letter in masked} == masked
    assert X.counts["masked letters"] == sum(masked.values()) == sum(string.count("*") for string in X.strings())
    with pytest.raises(SequenceError, match="--unknown mask"):
        read_fasta(path, alphabet, unknown="error")


@pytest.mark.parametrize(
    ("text", "alphabet", "words"),
    [
        (">a\nACGT\n>b\nACN#\n", "dna", "record 'b': letter '#' at position 4"),
        (">a\nMKVLAAGIV\n", "dna", "record 'a': letter 'L' at position 4 .*does the file hold protein"),
        (">a\nMKVDMKVDMKVD\n", "dna", "record 'a': letter 'M' at position 1 .*does the file hold protein"),
        (">a\nMK*V\n", "protein", "stop codon .*, or add --unknown mask_all"),
        (">a\nMKV**\n", "protein", "letter .* at position 4"),
    ],
)
def test_other_characters_and_other_alphabets_are_refused_by_default(tmp_path, text, alphabet, words):
    path = write(tmp_path, text)
    with pytest.raises(SequenceError, match=words):
        read_fasta(path, alphabet)
    assert len(read_fasta(path, alphabet, unknown="mask_all"))


@pytest.mark.parametrize(
    ("text", "alphabet", "strings", "counts"),
    [
        (">a\nACGu\n", "dna", ["ACGT"], {"lower-case letters": 1, "letters U read as T": 1}),
        (">a\nATT\n", "rna", ["AUU"], {"letters T read as U": 2}),
        (">a\nACGT\n>b\nACGTAU\n", None, ["ACGT", "ACGTAT"], {"letters U read as T": 1}),
        (">a\nACGU\n>b\nUUT\n", None, ["ACGU", "UUU"], {"letters T read as U": 1}),
        (">a\nMKV*\n>b\nMK\n", None, ["MKV", "MK"], {STOPS: 1}),
        (">a\nAB*\n", "AB*", ["AB*"], {}),
    ],
)
def test_other_bases_are_converted_and_terminal_stops_removed(tmp_path, text, alphabet, strings, counts):
    X = read_fasta(write(tmp_path, text), alphabet)
    assert (X.strings(), dict(X.counts)) == (strings, counts)
    for part in iter_fasta(write(tmp_path, text), X.alphabet):
        assert (part.strings(), dict(part.counts)) == (strings, counts)


def test_the_policy_error_converts_no_bases(tmp_path):
    with pytest.raises(SequenceError, match="convert U to T"):
        read_fasta(write(tmp_path, ">a\nACGU\n"), "dna", unknown="error")


def test_zstd(tmp_path, monkeypatch):
    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    records = (b">r%d\n%s\n" % (i, random.Random(i).randbytes(40).hex().encode()) for i in range(999))
    packed = zstd.compress(b"".join(records), options={zstd.CompressionParameter.checksum_flag: 1})
    assert len(read_fasta(write(tmp_path, packed), "0123456789ABCDEF")) == 999
    with pytest.raises(FileError, match=r"in\.fasta: is truncated"):
        read_fasta(write(tmp_path, packed[:-100]), "0123456789ABCDEF")
    with pytest.raises(FileError, match=r"in\.fasta: is corrupted"):
        read_fasta(write(tmp_path, packed[:-1] + b"?"), "0123456789ABCDEF")
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(FileError, match=r"in\.fasta: is compressed by zstd, which needs the package .*zstd -d FILE"):
        read_fasta(write(tmp_path, packed))


def test_damaged_bzip2(tmp_path):
    damaged = bytearray(bz2.compress(GOOD))
    damaged[20] ^= 255
    with pytest.raises(FileError, match=r"in\.fasta: (is corrupted|cannot be read: Invalid data stream)"):
        read_fasta(write(tmp_path, bytes(damaged)))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.fa: no such file; check the path"):
        read_fasta(tmp_path / "nothing.fa")
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        read_fasta(tmp_path)


def test_wrong_letter_of_a_later_chunk_has_its_place(tmp_path):
    records = [f">r{i}\n{'ACGT' * 25}\n" for i in range(60_000)]
    records[55_555] = ">r55555 odd\n" + "ACGT" * 10 + "\nACZ\n"
    with pytest.raises(SequenceError, match="record 'r55555': letter 'Z' at position 43"):
        read_fasta(write(tmp_path, "".join(records)), "dna")


def test_codes_are_compact(tmp_path):
    X = read_fasta(write(tmp_path, ">a\nACGT\n>b\nNA\n>c\nGG\n"), "dna", unknown="skip")
    assert X.codes.tolist() == [0, 1, 2, 3, 2, 2]
    assert X.codes.dtype == np.uint8
    assert X.starts.tolist() == [0, 4]


def test_real_files(shared_data):
    X = read_fasta(shared_data / "tfbs" / "CTCF.train.fasta", ids="number")
    assert (len(X), X.alphabet.name) == (2000, "dna")
    assert (X.lengths == 100).all()
    X = read_fasta(shared_data / "scop_families" / "1.34.train.fasta", ids="number")
    assert (len(X), X.alphabet.name) == (2075, "protein")
    assert X.counts["masked letters"] > 0
    with pytest.raises(SequenceError, match="ambiguity code"):
        read_fasta(shared_data / "scop_families" / "1.34.train.fasta", ids="number", unknown="error")


def test_numbers_as_ids_need_no_memory():
    X = read_fasta(io.StringIO(">a\nAC\n>b\nCC\n>a\nGG\n"), "dna", ids="number")
    assert isinstance(X.ids, RecordNumbers)
    assert X.ids == ["1", "2", "3"]
    assert X.take([2, 0]).ids == ["3", "1"]
    assert X.take(slice(1, 3)).ids == ["2", "3"]
    left_out = read_fasta(io.StringIO(">a\nAC\n>b\n\n>a\nGG\n"), "dna", ids="number", empty="skip")
    assert list(left_out.ids) == ["1", "3"]
