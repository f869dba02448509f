"""Files with weights of k-mers, as gkmpredict gives and deltaSVM reads them."""

import gzip

import numpy as np
import pytest

from seqkern.core.errors import FileError, ModelError, ParameterError
from seqkern.methods.loading import load_kmer_tables
from seqkern.methods.table_model import KmerTables, is_kmer_weights, read_kmer_weights, write_kmer_weights
from seqkern.sequences.alphabets import DNA, PROTEIN

LETTERS = "ACGT"
ALL = [a + b for a in LETTERS for b in LETTERS]
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def other(kmer):
    return kmer.translate(COMPLEMENT)[::-1]


def symmetric(length=2, seed=0):
    """Return weights that are the same for both strands."""
    kmers = ALL if length == 2 else [a + b for a in ALL for b in LETTERS]
    rng = np.random.default_rng(seed)
    values = {}
    for kmer in kmers:
        values[kmer] = values.get(other(kmer), float(rng.normal()))
    return np.array([values[kmer] for kmer in kmers])


@pytest.mark.parametrize("name", ["w.txt", "w.txt.gz"])
@pytest.mark.parametrize("length", [2, 3])
def test_what_is_written_is_read(name, length, tmp_path):
    weights = symmetric(length)
    write_kmer_weights(KmerTables(DNA, {length: weights}, 0.5, True, True), tmp_path / name)
    read = load_kmer_tables(tmp_path / name)
    np.testing.assert_array_equal(read.tables[length], weights)
    assert (read.constant, read.normalised, read.both_strands) == (0.0, False, True)
    content = (tmp_path / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith("gz") else content).decode()
    assert len(text.splitlines()) == {2: 10, 3: 32}[length]


def test_weights_of_one_strand(tmp_path):
    weights = np.arange(16.0)
    write_kmer_weights(KmerTables(DNA, {2: weights}, 0.0, False, False), tmp_path / "w.txt")
    read = read_kmer_weights(tmp_path / "w.txt")
    np.testing.assert_array_equal(read.tables[2], weights)
    assert not read.both_strands


def test_either_of_a_pair_suffices_in_any_order(tmp_path):
    weights = symmetric()
    lines = [f"{other(kmer).lower()} {value!r}" for kmer, value in zip(ALL, weights.tolist(), strict=True)]
    chosen = [line for kmer, line in zip(ALL, lines, strict=True) if kmer <= other(kmer)]
    (tmp_path / "w.txt").write_text("\n".join(reversed(chosen)))
    np.testing.assert_array_equal(read_kmer_weights(tmp_path / "w.txt").tables[2], weights)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda lines: lines[:-1], "has no weight of TA: 1 of 16 k-mers of 2 bases are missing"),
        (lambda lines: [*lines, lines[3]], "has AT more than once"),
        (lambda lines: [*lines, "ACG\t1"], "line 11 has 'ACG', not a k-mer of 2 bases"),
        (lambda lines: [*lines[:-1], "GN\t1"], "line 10: 'GN' is not DNA"),
        (lambda lines: [*lines[:-1], "GC\tx"], "line 10: the weight of GC is 'x', not a number"),
        (lambda lines: [*lines[:-1], "GC\tinf"], "line 10: the weight of GC is 'inf', not a number"),
        (lambda lines: [*lines, "GG"], "is not a table of weights"),
        (lambda lines: [*lines[:-1], "G\u00e9\t1"], "line 10 has 'G\u00e9', not a k-mer"),
    ],
)
def test_other_files_are_refused(change, problem, tmp_path):
    path = tmp_path / "w.txt"
    write_kmer_weights(KmerTables(DNA, {2: symmetric()}, 0.0, False, True), path)
    lines = change(path.read_text().splitlines())
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ModelError, match=problem) as caught:
        read_kmer_weights(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_are_recognised_by_their_first_line(tmp_path):
    for text, expected in [
        ("ACGT\t-1.5e-3\n", True),
        ("acgt 2\n", True),
        (">ACGT\nACGT\n", False),
        ("svm_type c_svc\n", False),
        ("ACGT\n", False),
    ]:
        (tmp_path / "some.txt").write_text(text)
        assert is_kmer_weights(tmp_path / "some.txt") == expected
    assert not is_kmer_weights(tmp_path / "none.txt")
    with pytest.raises(FileError):
        load_kmer_tables(tmp_path / "none.txt")


def test_only_dna_of_one_length_is_written(tmp_path):
    for alphabet, tables in [(PROTEIN, {1: np.zeros(20)}), (DNA, {1: np.zeros(4), 2: np.zeros(16)})]:
        with pytest.raises(ParameterError, match="k-mers of DNA of one length"):
            write_kmer_weights(KmerTables(alphabet, tables, 0.0, False, False), tmp_path / "w.txt")
    assert not list(tmp_path.iterdir())
