"""VCF and BCF in chunks; alleles in a genome, and what does not fit it."""

import gzip

import numpy as np
import pytest

from seqkern.core.errors import FileError, SequenceError
from seqkern.formats.alleles import ABSENT, BEYOND, LEFT_OUT, MISMATCH, PLACED, Placing
from seqkern.formats.bgzip import BgzipWriter
from seqkern.formats.reference import Genome
from seqkern.formats.vcf import BREAKEND, NONE, OTHER, SEQUENCE, SNV, STAR, SYMBOLIC, VcfReader, is_bcf

pysam = pytest.importorskip("pysam")

HEADER = "##fileformat=VCFv4.2\n##contig=<ID=chr1,length=200>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
KINDS = {
    "G": SNV,
    "AT": SEQUENCE,
    "<DEL>": SYMBOLIC,
    "*": STAR,
    ".": NONE,
    "]chr2:7]A": BREAKEND,
    "A.": BREAKEND,
    "R": OTHER,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("vcf")


@pytest.fixture(scope="module")
def genome(folder):
    letters = np.random.default_rng(1).choice(list("ACGTacgt"), size=(2, 20_000))
    text = "".join(f">{name}\n{''.join(row)}\n" for name, row in zip(("chr1", "chr2"), letters, strict=True))
    (folder / "genome.fa").write_text(text)
    with Genome(folder / "genome.fa") as opened:
        yield opened


def written(folder, rows, header=HEADER, name="v.vcf"):
    path = folder / name
    path.write_text(header + "".join("\t".join(map(str, row)) + "\t.\t.\t.\n" for row in rows))
    return path


def only_chunk(path, size=100):
    with VcfReader(path) as reader:
        (chunk,) = reader.chunks(size)
    return chunk


def base(genome, chromosome, position, length=1):
    return genome.fetch(chromosome, position - 1, position - 1 + length).upper()


def placed(path, genome, flank=5):
    with VcfReader(path) as reader:
        placing = Placing(genome, str(path), reader.lengths)
        chunks = [placing.place(chunk, flank) for chunk in reader.chunks(500)]
        placing.finish()
        return chunks, placing


def test_kinds_of_alleles(folder):
    chunk = only_chunk(written(folder, [("chr1", 7, "x", "A", ",".join(KINDS))]))
    assert chunk.alts == list(KINDS)
    assert chunk.kinds.tolist() == list(KINDS.values())
    assert chunk.rows.tolist() == [0] * len(KINDS)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_chunks_are_the_lines_of_the_file(folder, end, packed):
    rows = [f"chr1\t{i}\t.\tA\tC\t.\t.\tAF=0.5{end}" for i in range(1, 8)]
    content = (HEADER.replace("\n", end) + "".join(rows)).encode()
    path = folder / "lines.vcf"
    path.write_bytes(gzip.compress(content) if packed else content)
    with VcfReader(path) as reader:
        chunks = list(reader.chunks(3))
        assert reader.lengths == {"chr1": 200}
    assert [chunk.positions for chunk in chunks] == [[1, 2, 3], [4, 5, 6], [7]]
    assert [line for chunk in chunks for line in chunk.lines] == [row.rstrip() for row in rows]
    assert [chunk.first_line for chunk in chunks] == [4, 7, 10]


def test_bcf_is_read_as_the_same_vcf(folder):
    path, packed = written(folder, [("chr1", 7, "rs7", "A", "G,AT"), ("chr1", 9, ".", "C", "*")]), folder / "v.bcf"
    with pysam.VariantFile(str(path)) as source, pysam.VariantFile(str(packed), "wb", header=source.header) as out:
        for record in source:
            out.write(record)
    assert is_bcf(packed)
    assert not is_bcf(path)
    first, second = only_chunk(path), only_chunk(packed)
    assert first.lines == second.lines
    assert first.alts == second.alts


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (">d1\nACGT\n", "no line #CHROM"),
        (HEADER + "chr1\t7\tA\n", "line 4 has fewer than 5"),
        (HEADER + "chr1\t7\t.\tA\tC\nchr1\tx\t.\tA\tC\n", "line 5: POS is 'x'"),
    ],
)
def test_what_is_not_vcf_is_refused(folder, text, problem):
    (folder / "bad.vcf").write_text(text)
    with pytest.raises((SequenceError, FileError), match=problem), VcfReader(folder / "bad.vcf") as reader:
        list(reader.chunks())


def test_a_truncated_file_is_one_line(folder):
    content = gzip.compress((HEADER + "chr1\t7\t.\tA\tC\n" * 5000).encode(), mtime=0)
    (folder / "short.vcf.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match="is truncated"), VcfReader(folder / "short.vcf.gz") as reader:
        list(reader.chunks(100))


def test_bases_around_alleles_are_those_of_the_genome(folder, genome):
    rng = np.random.default_rng(3)
    rows = []
    for chromosome in ("chr2", "chr1", "chr2"):  # not sorted
        for position in [1, 20_000, *rng.integers(1, 19_990, 15).tolist()]:
            length = 1 if position == 20_000 else int(rng.integers(1, 4))
            rows.append((chromosome, position, ".", base(genome, chromosome, position, length), "ACGTA"))
    chunks, placing = placed(written(folder, rows), genome, flank=9)
    seen = 0
    for alleles, status in chunks:
        assert (status == PLACED).all()
        for place, ref in zip(alleles.places.tolist(), alleles.refs, strict=True):
            chromosome, position = rows[seen][:2]
            seen += 1
            expected = base(genome, chromosome, max(1, position - 9), min(9, position - 1) + len(ref) + 9)
            start = place - min(9, position - 1)
            found = alleles.text[start : start + len(expected)].tobytes().decode()
            assert found == expected
            assert place + len(ref) + 9 <= len(alleles.text) or b"." in alleles.text[place:].tobytes()
    assert seen == len(rows)
    assert placing.touched == ["chr1", "chr2"]


def test_chromosomes_with_and_without_chr_are_the_same(folder, genome):
    rows = [("1", 7, ".", base(genome, "chr1", 7), "ACGT"), ("GL0001", 7, ".", "A", "C")]
    chunks, placing = placed(written(folder, rows), genome)
    assert chunks[0][1].tolist() == [PLACED, ABSENT]
    assert [line.endswith("names otherwise, such as chr1 for 1") for line in placing.renamed] == [True]


def many(genome, change):
    """300 rows, each as `change` makes it of a position and the bases before, at and after it."""
    positions = np.random.default_rng(4).integers(2, 19_000, 300).tolist()
    return [("chr1", *change(p, *base(genome, "chr1", p - 1, 3))) for p in positions]


def other(letter):
    return "CGTA"["ACGT".index(letter)]


@pytest.mark.parametrize(
    ("change", "header", "cause"),
    [
        (lambda p, b, a, n: (p - 1, ".", a, other(a)), "", "positions count from 0"),
        (lambda p, b, a, n: (p + 1, ".", a, other(a)), "", "one too large"),
        (lambda p, b, a, n: (p, ".", other(a), a), "", "REF and ALT are swapped"),
        (lambda p, b, a, n: (p, ".", "TGCA"["ACGT".index(a)], "N"), "", "other strand"),
        (lambda p, b, a, n: (p, ".", other(a), "N"), "", "genome of the same assembly"),
        (lambda p, b, a, n: (p, ".", other(a), "N"), "##contig=<ID=chr1,length=77>\n", "by its header chr1 has 77"),
    ],
)
def test_a_genome_that_does_not_fit_is_refused_with_the_likely_cause(folder, genome, change, header, cause):
    path = written(folder, many(genome, change), header + HEADER.splitlines(keepends=True)[-1])
    with pytest.raises(SequenceError, match=cause) as raised:
        placed(path, genome)
    assert "REF differs from" in str(raised.value)


def test_few_mismatches_are_left_out_and_counted(folder, genome):
    rows = many(genome, lambda p, b, a, n: (p, ".", a, other(a)))
    rows[120] = ("chr1", rows[120][1], ".", other(rows[120][3]), "N")
    rows[130] = ("chr1", 20_001, ".", "A", "C")
    rows[140] = (*rows[140][:4], "<DUP>")
    chunks, placing = placed(written(folder, rows), genome)
    status = np.concatenate([status for _, status in chunks])
    assert [status[i] for i in (120, 130, 140)] == [MISMATCH, BEYOND, LEFT_OUT]
    assert placing.counts == {PLACED: 297, MISMATCH: 1, BEYOND: 1, LEFT_OUT: 1}


def test_chromosomes_of_another_genome_are_named(folder, genome):
    with pytest.raises(SequenceError, match=r"lacks, such as 'X'; it has 'chr1', 'chr2'"):
        placed(written(folder, [("X", 7, ".", "A", "C")]), genome)


def test_blocks_are_bgzip(folder):
    text = "".join(map(chr, np.random.default_rng(1).integers(32, 127, 200_000).tolist()))
    with open(folder / "text.gz", "wb") as file:
        writer = BgzipWriter(file)
        for start in range(0, len(text), 7001):
            writer.write(text[start : start + 7001])
        writer.finish()
    assert gzip.decompress((folder / "text.gz").read_bytes()).decode() == text
    with pysam.BGZFile(str(folder / "text.gz")) as packed:
        assert packed.read().decode() == text
