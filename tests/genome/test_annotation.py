"""Transcripts from GTF, GFF3 and GenBank."""

import gzip
import io

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqFeature import BeforePosition, CompoundLocation, SeqFeature, SimpleLocation
from Bio.SeqRecord import SeqRecord

from seqkern.core.errors import SequenceError
from seqkern.formats.annotation import INCOMPLETE, SHORTEST_INTRON, TRANS_SPLICED, gaps, has_features, read_annotation

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


# What each dialect says in its own way: lines of feature, start, end, strand, phase and attributes
DIALECTS = {
    "Ensembl GTF": """gene 1 90 + . gene_id "G"; gene_biotype "protein_coding";
exon 1 30 + . gene_id "G"; transcript_id "T"; gene_biotype "protein_coding";
exon 51 90 + . gene_id "G"; transcript_id "T"; gene_biotype "protein_coding";
CDS 10 30 + 0 gene_id "G"; transcript_id "T"; protein_id "P";
CDS 51 59 + 0 gene_id "G"; transcript_id "T"; protein_id "P";
stop_codon 60 62 + 0 gene_id "G"; transcript_id "T";
exon 1 30 + . gene_id "H"; transcript_id "U"; transcript_biotype "processed_pseudogene";
CDS 1 30 + 0 gene_id "I"; transcript_id "V"; tag "basic"; tag "cds_start_NF";""",
    "StringTie": """transcript 1 90 + . transcript_id "S.1.1"; gene_id "S.1";
exon 1 30 + . transcript_id "S.1.1"; gene_id "S.1";
exon 51 90 . . transcript_id "S.2.1"; gene_id "S.2";""",
    "AUGUSTUS": """gene 1 30 + . g1
transcript 1 30 + . g1.t1
CDS 1 30 + 0 transcript_id "g1.t1"; gene_id "g1";""",
    "NCBI GTF": 'CDS 1 30 + 0 gene_id "b1"; transcript_id ""; protein_id "NP_1"; transl_table "4";',
    "NCBI GFF3": """gene 1 90 - . ID=gene-A;gbkey=Gene
mRNA 1 90 - . ID=rna-A;Parent=gene-A;partial=true;start_range=.,1
exon 1 90 - . ID=exon-1;Parent=rna-A;partial=true
CDS 11 80 - 0 ID=cds-A;Parent=rna-A
CDS 11 40 - 0 ID=cds-B;Parent=gene-B;partial=true
pseudogene 1 9 + . ID=gene-P;pseudo=true
CDS 1 9 + 0 ID=cds-P;Parent=gene-P
gene 1 60 ? . ID=gene-T;exception=trans-splicing
CDS 1 9 + 0 ID=cds-T;Parent=gene-T;exception=trans-splicing;part=1""",
    "NCBI GFF3 of a bacterium": """region 1 100 + . ID=c;Is_circular=true
gene 1 60 + . ID=gene-d
CDS 1 60 + 0 ID=cds-1;Parent=gene-d;transl_table=11
CDS 1 30 + 0 ID=cds-2;Parent=gene-d;exception=ribosomal slippage;transl_table=11
CDS 30 50 + 0 ID=cds-2;Parent=gene-d;exception=ribosomal slippage;transl_table=11
CDS 91 120 + 0 ID=cds-3;Parent=gene-e""",
    "TAIR": """mRNA 1 90 + . ID=A.1;Parent=A
protein 10 60 + . ID=A.1-Protein;Derives_from=A.1
CDS 10 30 + 0 Parent=A.1,A.1-Protein;
CDS 51 60 + 0 Parent=A.1,A.1-Protein;""",
    "FlyBase": """gene 1 90 + . ID=F;Name=mod
CDS 1 30 + 0 Parent=r1,r2
CDS 51 90 - 1 Parent=r2
mRNA 1 30 + . ID=r1;Parent=F
mRNA 1 90 + . ID=r2;Parent=F""",
    "SGD": """gene 1 90 + . ID=YAL1W;Name=YAL1W
mRNA 1 90 + . ID=YAL1W_mRNA;Parent=YAL1W
CDS 1 30 + 0 Parent=YAL1W_mRNA;Name=YAL1W_CDS
intron 31 50 + . Parent=YAL1W_mRNA
CDS 51 90 + 0 Parent=YAL1W_mRNA;Name=YAL1W_CDS""",
    "Prokka": "CDS 1 30 - 0 ID=P_1;gene=abc;locus_tag=P_1;inference=ab initio prediction:Prodigal",
    "a first phase": "CDS 1 30 + 1 Parent=t",
}
FASTA = "##FASTA\n>c\nACGT\n"
EXPECTED = {
    "Ensembl GTF": [("G", 2, 30, ""), ("H", 1, 0, "of pseudogenes"), ("I", 0, 30, INCOMPLETE)],
    "StringTie": [("S.1", 1, 0, "")],
    "AUGUSTUS": [("g1", 0, 30, "")],
    "NCBI GTF": [("b1", 0, 30, "of another genetic code")],
    "NCBI GFF3": [
        ("gene-A", 1, 70, ""),
        ("gene-B", 0, 30, INCOMPLETE),
        ("gene-P", 0, 9, "of pseudogenes"),
        ("gene-T", 0, 9, TRANS_SPLICED),
    ],
    "NCBI GFF3 of a bacterium": [
        ("gene-d", 0, 60, ""),
        ("gene-d", 0, 51, "with ribosomal slippage"),
        ("gene-e", 0, 30, "across the origin"),
    ],
    "TAIR": [("A", 0, 31, "")],
    "FlyBase": [("F", 0, 30, ""), ("F", 0, 30, TRANS_SPLICED), ("F", 0, 40, TRANS_SPLICED)],
    "SGD": [("YAL1W", 0, 70, "")],
    "Prokka": [("P_1", 0, 30, "")],
    "a first phase": [("t", 0, 30, INCOMPLETE)],
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects(name):
    text = ""
    for line in DIALECTS[name].splitlines():
        feature, start, end, strand, phase, attributes = line.split(" ", 5)
        text += "\t".join(["c", "x", feature, start, end, ".", strand, phase, attributes]) + "\n"
    found = read_annotation(io.StringIO(text + FASTA * ("GTF" not in name)))
    rows = [
        (item.gene, len(item.exons), sum(stop - start for start, stop in item.coding), item.fault)
        for item in found.transcripts
    ]
    assert rows == EXPECTED[name]
    assert found.left_out == ({"exon without strand": 1} if name == "StringTie" else {})


def test_what_genbank_says_of_a_coding_part(tmp_path):
    def on(strand, *spans):
        parts = [SimpleLocation(*span, strand) for span in spans]
        return CompoundLocation(parts) if len(parts) > 1 else parts[0]

    mixed = CompoundLocation([SimpleLocation(0, 9, 1), SimpleLocation(30, 39, -1)])
    cases = [
        (on(1, (0, 9), (30, 60)), {}, ""),
        (on(-1, (30, 60), (0, 9)), {"transl_table": ["11"]}, ""),
        (on(1, (90, 120), (0, 9)), {}, "across the origin"),
        (on(1, (BeforePosition(0), 9)), {}, INCOMPLETE),
        (on(1, (0, 10)), {"codon_start": ["2"]}, INCOMPLETE),
        (on(1, (0, 9)), {"pseudo": [""]}, "of pseudogenes"),
        (on(1, (0, 9), (8, 20)), {"ribosomal_slippage": [""]}, "with ribosomal slippage"),
        (on(1, (0, 9)), {"transl_table": ["4"]}, "of another genetic code"),
    ]
    features = [
        SeqFeature(location, type="CDS", qualifiers={"gene": ["abc"], "locus_tag": [f"b{i}"], **own})
        for i, (location, own, _) in enumerate([*cases, (mixed, {"trans_splicing": [""]}, "")])
    ]
    about = {"molecule_type": "DNA", "topology": "circular"}
    record = SeqRecord(Seq("ACGTAC" * 20), "X1.1", "X1", "d", features=features, annotations=about)
    SeqIO.write([record], tmp_path / "a.gb", "genbank")
    found = read_annotation(tmp_path / "a.gb")
    assert [(item.gene, item.fault) for item in found.transcripts] == [
        (f"b{i}", case[2]) for i, case in enumerate(cases)
    ]
    assert found.left_out == {f"CDS {TRANS_SPLICED}": 1}


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
