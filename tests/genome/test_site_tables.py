"""Sites and decoys from an annotation, against a naive twin on strings."""

import io
import itertools
import random

import numpy as np
import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqFeature import CompoundLocation, SeqFeature, SimpleLocation
from Bio.SeqRecord import SeqRecord

from seqkern.cli.main import main
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.formats.annotation import read_annotation
from seqkern.formats.site_tables import make_site_table
from seqkern.simulate import simulate, write_simulated
from seqkern.study import make_dataset

COMPLEMENT = str.maketrans("ACGT", "TGCA")
MOTIFS = {"donor": {"GT"}, "acceptor": {"AG"}, "start": {"ATG"}, "stop": {"TAA", "TAG", "TGA"}}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("genes")
    write_simulated(simulate("genes", 3, n_genes=12, n_exons=4, gc_share=0.1), folder / "g")
    return folder / "g.fasta", folder / "g.gtf"


def chromosomes(path):
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            found[line[1:].split()[0]] = name = []
        else:
            name.append(line)
    return {name: "".join(lines) for name, lines in found.items()}


def naive_sites(gtf, kind):
    """Return {(chromosome, position from 1, strand): gene} and the span of each gene."""
    exons, coding, spans = {}, {}, {}
    for line in gtf.read_text().splitlines():
        chromosome, _, feature, start, end, _, strand, _, names = line.split("\t")
        gene, transcript = names.split('"')[1::2]
        (exons if feature == "exon" else coding).setdefault((chromosome, strand, gene, transcript), []).append(
            (int(start), int(end))
        )
        low, high = spans.get((chromosome, strand, gene), (10**9, 0))
        spans[chromosome, strand, gene] = min(low, int(start)), max(high, int(end))
    sites = {}
    for (chromosome, strand, gene, _), parts in (exons if kind in ("donor", "acceptor") else coding).items():
        parts.sort()
        if kind in ("donor", "acceptor"):
            at_right = (kind == "donor") == (strand == "+")
            pairs = list(itertools.pairwise(parts))
            if strand == "+":
                places = [left[1] + 1 if at_right else right[0] - 2 for left, right in pairs]
            else:
                places = [left[1] + 2 if at_right else right[0] - 1 for left, right in pairs]
        elif kind == "start":
            places = [parts[0][0] if strand == "+" else parts[-1][1]]
        else:
            places = [parts[-1][1] + 1 if strand == "+" else parts[0][0] - 1]
        sites.update(dict.fromkeys([(chromosome, place, strand) for place in places], gene))
    return sites, spans


def bases(sequence, position, strand, size):
    if strand == "+":
        return sequence[position - 1 : position - 1 + size]
    return sequence[position - size : position].translate(COMPLEMENT)[::-1]


@pytest.mark.parametrize("kind", ["donor", "acceptor", "start", "stop"])
def test_sites_and_decoys_are_those_of_the_twin(files, kind):
    fasta, gtf = files
    genome, (sites, spans) = chromosomes(fasta), naive_sites(gtf, kind)
    size = len(min(MOTIFS[kind]))
    table = make_site_table(fasta, read_annotation(gtf), kind, decoys=3)
    expected = {
        place: gene
        for place, gene in sites.items()
        if bases(genome[place[0]], place[1], place[2], size) in MOTIFS[kind]
    }
    found = {row[:3]: row[4] for row in table.rows if row[3] == kind}
    assert found == expected
    assert len(expected) > 20
    assert table.left_out.total() == len(sites) - len(expected)
    decoys = [row for row in table.rows if row[3] == "decoy"]
    assert len({row[:3] for row in decoys}) == len(decoys) == 3 * len(expected) - table.lacking
    per_gene = {}
    for record, position, strand, _, gene, chromosome, motif in decoys:
        assert chromosome == record
        assert (record, position, strand) not in sites
        low, high = spans[record, strand, gene]
        assert low <= position <= high
        assert bases(genome[record], position, strand, size) == motif
        per_gene.setdefault((gene, motif), []).append(position)
    for (gene, motif), places in per_gene.items():
        own = sum(row[3] == kind and row[4] == gene and row[6] == motif for row in table.rows)
        assert len(places) <= 3 * own
    assert table.rows == sorted(table.rows, key=lambda row: (row[0], row[1], row[2]))


def test_any_motif_gets_decoys_of_its_own(files):
    fasta, gtf = files
    table = make_site_table(fasta, read_annotation(gtf), "donor", decoys=2, motifs=["any"])
    for motif in ("GT", "GC"):
        labels = [row[3] for row in table.rows if row[6] == motif]
        assert labels.count("decoy") == 2 * labels.count("donor") > 0
    assert table.introns["GC–AG"] > 0
    both = make_site_table(fasta, read_annotation(gtf), "donor", decoys=2, motifs=["gt", "GC"])
    assert both.rows == table.rows


def test_the_order_of_the_annotation_does_not_matter_and_the_seed_does(files):
    fasta, gtf = files
    lines = gtf.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    shuffled = read_annotation(io.StringIO("".join(lines)))
    rows = make_site_table(fasta, read_annotation(gtf), decoys=2).rows
    assert make_site_table(fasta, shuffled, decoys=2).rows == rows
    other = make_site_table(fasta, shuffled, decoys=2, seed=2).rows
    assert other != rows
    assert [row for row in other if row[3] == "donor"] == [row for row in rows if row[3] == "donor"]


def changed(gtf, change):
    return read_annotation(io.StringIO("".join(map(change, gtf.read_text().splitlines(keepends=True)))))


def shifted(line, start, end=0):
    cells = line.split("\t")
    return "\t".join([*cells[:3], str(int(cells[3]) + start), str(int(cells[4]) + end), *cells[5:]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda line: line.replace("chr", ""),
            r"calls the chromosome 1 that the genome calls chr1; add the prefix chr: ",
        ),
        (
            lambda line: line.replace("chr", "scaffold"),
            r"none of its chromosomes \(scaffold1, scaffold2\) is in the gen",
        ),
        (
            lambda line: shifted(line, -1),
            r"only \d+ of \d+ donor sites on strand - have GT; one base after it there are ",
        ),
        (lambda line: line.replace("exon", "CDS"), r"has no exon of a transcript .*add --feature CDS"),
        (lambda line: line.replace("transcript_id", "x"), r"has no exon of a transcript \(features: "),
        (lambda line: shifted(line, 37, 37), r"only \d+ of \d+ donor sites have GT; .*another assembly\?"),
        (lambda line: shifted(line, 0).replace("\t.\t+", "00\t.\t+"), r"gene 'gene\d+' ends at \d+, but chr1 has \d+ "),
    ],
)
def test_an_annotation_of_something_else_is_one_line(files, change, words):
    fasta, gtf = files
    with pytest.raises(SequenceError, match=words) as caught:
        make_site_table(fasta, changed(gtf, change))
    assert "\n" not in str(caught.value)


def test_chromosomes_that_the_genome_lacks_are_counted(files):
    fasta, gtf = files
    table = make_site_table(fasta, changed(gtf, lambda line: line.replace("chr2", "chrUn")))
    assert list(table.missing) == ["chrUn"]
    assert {row[0] for row in table.rows} == {"chr1"}


def test_a_motif_that_is_none(files):
    with pytest.raises(ParameterError, match="motif 'GTA' is not 2 bases; give motifs such as GT, or any"):
        make_site_table(files[0], read_annotation(files[1]), motifs=["GTA"])


def test_introns_between_coding_parts(files):
    fasta, gtf = files
    coding = changed(gtf, lambda line: line if "\tCDS\t" in line else "")
    rows = make_site_table(fasta, coding, feature="CDS", decoys=0).rows
    assert rows == make_site_table(fasta, read_annotation(gtf), decoys=0).rows


def test_the_command_writes_a_table_that_training_reads(files, tmp_path, capsys):
    fasta, gtf = map(str, files)
    path = tmp_path / "sites.tsv"
    assert main(["sites", fasta, gtf, "--decoys", "4", "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    rows = read_tsv(path)
    labels = [row["label"] for row in rows]
    assert out.splitlines()[1] == f"  donor      {labels.count('donor')} sites in 24 genes"
    assert "GT–AG" in out
    assert "donor sites without GT" in err
    entry = {
        "fasta": fasta,
        "sites": str(path),
        "window": "-20:+20",
        "site": "GT",
        "labels": {"from": "sites", "group": "gene", "positive": "donor"},
    }
    dataset = make_dataset("d", entry)
    labels = dataset.task().labels
    assert set(labels.groups) == {row["gene"] for row in rows}
    (split,) = make_folds(labels, dataset.X, "locus", train=["chr1"], test=["chr2"])
    assert set(np.asarray(labels.chromosome)[split.test]) == {"chr2"}


def test_what_the_command_refuses(files, tmp_path, capsys):
    fasta, gtf = map(str, files)
    out = tmp_path / "x.tsv"
    for argv, words in (
        ([fasta], "has no annotation; give a GTF or GFF3"),
        ([fasta, "-"], "give files instead of standard input"),
        ([fasta, fasta], "is not GTF or GFF3"),
        (["gone.fa", gtf], "no such file"),
        ([fasta, gtf, "--decoys", "-1"], "decoys=-1"),
    ):
        assert main(["sites", *argv, "-o", str(out)]) == 1
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1
        assert not out.exists()


CODONS = """chr1\tx\tCDS\t4\t9\t.\t+\t0\t{}
chr1\tx\tCDS\t31\t{}\t.\t+\t0\t{}
chr1\tx\texon\t1\t9\t.\t+\t.\t{}
chr1\tx\texon\t31\t{}\t.\t+\t.\t{}
"""
#       ATG at 4, TAA at 34 to 36, TAG after it
GENES = ">chr1\nCCCATGGCC" + "GTAAGTCCCCCCCCCCTTTAG" + "GCCTAATAGCCCCCC\n"


@pytest.mark.parametrize(
    ("form", "last", "end", "more", "position"),
    [
        ("gtf", 33, 45, "", 34),  # the stop codon follows the coding part
        ("gff", 36, 45, "", 34),  # and is its end
        ("gtf", 33, 45, "chr1\tx\tstop_codon\t37\t39\t.\t+\t.\t{}\n", 37),  # what is annotated counts
        ("gtf", 33, 34, "", None),  # it would lie behind the exon: an intron divides it
    ],
)
def test_stop_codons_of_gtf_and_gff3(form, last, end, more, position):
    names = 'gene_id "g"; transcript_id "t";' if form == "gtf" else "Parent=t"
    text = CODONS.format(names, last, names, names, end, names) + more.format(names)
    annotation = read_annotation(io.StringIO(text))
    start = make_site_table(io.StringIO(GENES), annotation, "start", decoys=0)
    assert [row[1] for row in start.rows] == [4]
    if position is None:
        with pytest.raises(SequenceError, match="has no stop site"):
            make_site_table(io.StringIO(GENES), annotation, "stop", decoys=0)
        return
    stop = make_site_table(io.StringIO(GENES), annotation, "stop", decoys=0)
    assert [row[1] for row in stop.rows] == [position]


def test_genome_and_annotation_in_one_file(tmp_path, capsys):
    intron = "GTAAGTCCCCCCCCCCTTTAG"
    joined = CompoundLocation([SimpleLocation(0, 9, 1), SimpleLocation(9 + len(intron), 45, 1)])
    record = SeqRecord(
        Seq(GENES.splitlines()[1]),
        "X1.1",
        features=[SeqFeature(joined, type="CDS", qualifiers={"gene": ["abc"]})],
        annotations={"molecule_type": "DNA"},
    )
    SeqIO.write([record], tmp_path / "g.gb", "genbank")
    for kind, position in (("donor", "10"), ("acceptor", "29")):
        assert main(["sites", str(tmp_path / "g.gb"), "--kind", kind, "--decoys", "0", "-o", str(tmp_path / "s")]) == 0
        (row,) = read_tsv(tmp_path / "s")
        assert (row["record"], row["position"], row["gene"]) == ("X1.1", position, "abc")
