"""Transcripts from GTF, GFF3 and GenBank."""

import gzip
import io

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqFeature import CompoundLocation, SeqFeature, SimpleLocation
from Bio.SeqRecord import SeqRecord

from seqkern.core.errors import SequenceError
from seqkern.formats.annotation import SHORTEST_INTRON, gaps, has_features, read_annotation

GTF = """# a comment
chr1\tx\texon\t101\t200\t.\t-\t.\tgene_id "g; 1"; transcript_id "t1"; exon_number 2;
chr1\tx\tgene\t101\t400\t.\t-\t.\tgene_id "g; 1";
chr1\tx\tCDS\t301\t350\t.\t-\t0\ttranscript_id "t1"; gene_id "g; 1";
chr1\tx\texon\t301\t400\t.\t-\t.\tgene_id "g; 1"; transcript_id "t1"
chr2\tx\texon\t1\t9\t.\t+\t.\tgene_id "g; 1"; transcript_id "t1";
chr2\tx\texon\t21\t29\t.\t.\t.\tgene_id "g2"; transcript_id "t2";
"""
GFF = """##gff-version 3
chr1\tx\texon\t301\t400\t.\t-\t.\tParent=t1,t3
chr1\tx\texon\t101\t200\t.\t-\t.\tID=e1;Parent=t1
chr1\tx\tmRNA\t101\t400\t.\t-\t.\tID=t1;Parent=gene%201
chr1\tx\tCDS\t301\t350\t.\t-\t0\tID=c;Parent=t1
chr1\tx\tgene\t101\t400\t.\t-\t.\tID=gene%201;Name=A
##FASTA
>chr1
ACGT
"""


def test_gtf():
    found = read_annotation(io.StringIO(GTF))
    first, second = found.transcripts
    assert (first.gene, first.name, first.chromosome, first.reverse) == ("g; 1", "t1", "chr1", True)
    assert sorted(first.exons) == [(100, 200), (300, 400)]
    assert first.coding == [(300, 350)]
    assert list(first.introns()) == [(200, 300)]
    assert (second.chromosome, second.exons) == ("chr2", [(0, 9)])  # one name on two chromosomes
    assert found.left_out == {"exon without strand": 1}


def test_gff3_genes_are_the_ancestors_whatever_the_order(tmp_path):
    path = tmp_path / "a.gff3.gz"
    path.write_bytes(gzip.compress(GFF.encode()))
    first, second = read_annotation(path).transcripts
    assert (first.gene, sorted(first.exons), first.coding) == ("gene 1", [(100, 200), (300, 400)], [(300, 350)])
    assert (second.gene, second.exons) == ("t3", [(300, 400)])


def test_features_of_genbank_and_embl(tmp_path):
    joined = CompoundLocation([SimpleLocation(30, 60, -1), SimpleLocation(0, 12, -1)])
    features = [
        SeqFeature(joined, type="CDS", qualifiers={"gene": ["abc"]}),
        SeqFeature(SimpleLocation(0, 50, 1), type="misc_feature"),
    ]
    record = SeqRecord(Seq("ACGTAC" * 20), "X1.1", "X1", "d", features=features, annotations={"molecule_type": "DNA"})
    for form in ("genbank", "embl"):
        path = tmp_path / f"a.{form}"
        SeqIO.write([record], path, form)
        assert has_features(path)
        found = read_annotation(path)
        (transcript,) = found.transcripts
        assert (transcript.gene, transcript.chromosome, transcript.reverse) == ("abc", "X1.1", True)
        assert sorted(transcript.exons) == sorted(transcript.coding) == [(0, 12), (30, 60)]
        assert found.features["misc_feature"] == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("record\tposition\n", "line 1 is not GTF or GFF3: 'record.tposition'; give nine columns"),
        ("chr1\tx\texon\t9\t3\t.\t+\t.\tParent=t\n", "line 1: 9 to 3 is not an interval; positions of GTF and GFF3"),
        ("chr1\tx\texon\t0\t3\t.\t+\t.\tParent=t\n", "line 1: 0 to 3 is not an interval"),
        ("chr1\tx\texon\ta\tb\t.\t+\t.\tParent=t\n", "line 1 is not GTF or GFF3"),
    ],
)
def test_lines_that_are_none(line, words):
    with pytest.raises(SequenceError, match=words):
        read_annotation(io.StringIO(line))


def test_gaps_are_between_the_union_of_intervals():
    assert list(gaps([(50, 60), (0, 30), (10, 20), (30 + SHORTEST_INTRON, 45)])) == [(30, 30 + SHORTEST_INTRON)]
