"""Learning genes from an annotated genome: no leak, the model file, and genes that the grammar cannot describe."""

from collections import Counter

import numpy as np
import pytest

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ModelError, SequenceError
from seqkern.formats.annotation import Transcript, gtf_lines, read_annotation
from seqkern.formats.site_tables import bases_at, chromosomes
from seqkern.genomics import gene_learning
from seqkern.genomics.gene_learning import (
    annotated_genes,
    by_chromosome,
    coding_gene,
    fault_of,
    learn_genes,
    load_gene_model,
    true_structures,
)
from seqkern.genomics.genes import Gene, gene_accuracy
from seqkern.sequences.alphabets import DNA
from seqkern.simulate import simulate, write_simulated

COMPLEMENT = str.maketrans("ACGT", "TGCA")
FAST = {"kernel": "weighted_degree:degree=3", "n_threads": 1}


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    """Return a prefix of genome and annotation: two chromosomes of 15 genes of three exons."""
    prefix = tmp_path_factory.mktemp("genome") / "g"
    write_simulated(simulate("genes", 3, n_genes=15, n_exons=3, gc_share=0.05), prefix)
    return prefix


@pytest.fixture(autouse=True, scope="module")
def one_cost():
    """Try a single C, to be fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gene_learning, "COSTS", (0.1,))
        yield


@pytest.fixture(scope="module")
def model(genome):
    """Return a model of the genome."""
    return learn_genes(genome.with_suffix(".fasta"), genome.with_suffix(".gtf"), **FAST)


def test_new_genome(model, tmp_path):
    write_simulated(simulate("genes", 4, n_genes=15, n_exons=3), tmp_path / "new")
    truth = by_chromosome(read_annotation(tmp_path / "new.gtf"))
    found = {}
    for name, codes, genes in model.find_all(tmp_path / "new.fasta", n_threads=1):
        assert all(fault_of(gene, codes, 10**6) is None for gene in genes)
        found[name] = gene_accuracy(true_structures(truth[name], codes), [(g.reverse, g.parts) for g in genes])
    total = {level: found["chr1"][level] + found["chr2"][level] for level in ("base", "exon", "gene")}
    assert total["base"].f1 > 0.9
    assert total["exon"].f1 > 0.6
    assert total["gene"].f1 > 0.3
    assert model.record["fit"]["converged"]


def test_file(model, tmp_path):
    model.save(tmp_path / "m")
    read = load_gene_model(tmp_path / "m")
    codes = DNA.encode(b"ACGTTGCAAGGTAAGT" * 200)
    assert read.find(codes, n_threads=1) == model.find(codes, n_threads=1)
    assert read.record == model.record
    read.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("weights", np.full(3, 1.0)),
        ("weights", None),
        ("coding", np.zeros((3, 5))),
        ("coding", np.zeros((3, 4**9))),
        ("intron", np.full(64, np.nan)),
        ("knots/donor", np.zeros(4)),
        ("limits", {"shortest_exon": 3, "longest_exon": 10**12, "shortest_intron": 20, "longest_intron": 100}),
        ("limits", {"shortest_exon": 0, "longest_exon": 10, "shortest_intron": 20, "longest_intron": 100}),
        ("donor", {}),
        ("version", 99),
        ("format", "seqkern model"),
    ],
)
def test_damaged_file(model, tmp_path, part, value):
    model.save(tmp_path / "m")
    header, arrays = load_archive(tmp_path / "m")
    if part in header:
        header[part] = value
    elif value is None:
        del arrays[part]
    else:
        arrays[part] = value
    save_archive(tmp_path / "damaged", header, arrays)
    with pytest.raises(ModelError, match="damaged"):
        load_gene_model(tmp_path / "damaged")


def test_held_out_candidates_do_not_depend_on_their_own_fold(genome, monkeypatch):
    """Wrong labels in one fold change the weights, but neither classifiers nor content of that fold's candidates."""
    seen = []

    def kept(self, places, classifiers, content, former=gene_learning._Parts.boundaries):
        seen.append(former(self, places, classifiers, content))
        return seen[-1]

    monkeypatch.setattr(gene_learning._Parts, "boundaries", kept)
    fasta, gtf = genome.with_suffix(".fasta"), genome.with_suffix(".gtf")
    learn_genes(fasta, gtf, **FAST)
    first = list(seen)
    learn = gene_learning._Parts.learn

    def poisoned(self, places, former=learn):
        # in the last fold, all sites become decoys and the other way round
        last = (place for place in self.poison)
        spans = [(place.chromosome, place.start, place.stop) for place in last]
        for kind in self.rows:
            self.rows[kind] = [
                (*row[:3], ("decoy" if row[3] == kind else kind) if inside(row, spans) else row[3], *row[4:])
                for row in self.clean[kind]
            ]
        return former(self, places)

    def inside(row, spans):
        return any(name == row[0] and start < row[1] <= stop for name, start, stop in spans)

    folds = gene_learning._folds

    def noted(places, name):
        found = folds(places, name)
        gene_learning._Parts.poison = found[-1]
        return found

    init = gene_learning._Parts.__init__

    def made(self, sequences, rows, *rest):
        init(self, sequences, rows, *rest)
        self.clean = {kind: list(own) for kind, own in rows.items()}

    monkeypatch.setattr(gene_learning, "_folds", noted)
    monkeypatch.setattr(gene_learning._Parts, "poison", [], raising=False)
    monkeypatch.setattr(gene_learning._Parts, "__init__", made)
    monkeypatch.setattr(gene_learning._Parts, "learn", poisoned)
    seen.clear()
    learn_genes(fasta, gtf, **FAST)
    for fold, (before, after) in enumerate(zip(first, seen, strict=True)):
        same = all(np.array_equal(a.decision, b.decision, equal_nan=True) for a, b in zip(before, after, strict=True))
        assert same == (fold == 2)


def transcript(text, parts, reverse=False, **more):
    """Return a transcript with coding parts, and the codes."""
    return Transcript("t", "g", "c", reverse, exons=list(parts), coding=list(parts), **more), DNA.encode(text.encode())


def test_stop_codon_is_added_once():
    text = "CCATGAAATAACC"
    for parts in ([(2, 8)], [(2, 11)]):
        assert coding_gene(*transcript(text, parts)) == Gene(False, ((2, 11),))
    other = "GGTTATTTCATGG"
    for parts in ([(5, 11)], [(2, 11)]):
        assert coding_gene(*transcript(other, parts, reverse=True)) == Gene(True, ((2, 11),))
    assert coding_gene(Transcript("t", "g", "c", False, exons=[(1, 9)]), DNA.encode(b"ACGT")) is None


@pytest.mark.parametrize(
    ("text", "parts", "fault"),
    [
        ("CCATGAAATAACC", [(2, 11)], None),
        ("CCCTGAAATAACC", [(2, 11)], "without a start codon"),
        ("CCATGTAATAACC", [(2, 11)], "with a stop codon in the frame"),
        ("CCATGAAACAACC", [(2, 11)], "beyond the end"),
        ("CCATGAAACAACCAAA", [(2, 11)], "without a stop codon"),
        ("ATGAAAGT" + "C" * 20 + "AGTAA", [(0, 6), (30, 33)], None),
        ("ATGAAAGA" + "C" * 20 + "AGTAA", [(0, 6), (30, 33)], "other than GT–AG"),
        ("ATGAAAGTCCAGTAA", [(0, 6), (12, 15)], "intron outside 20"),
        ("ATGAA" + 2 * f"GT{20 * 'C'}AGA" + "TAA", [(0, 5), (29, 30), (54, 58)], "exon of fewer"),
    ],
)
def test_faults(text, parts, fault):
    gene = coding_gene(*transcript(text, parts))
    found = fault_of(gene, DNA.encode(text.encode()), 100)
    assert found is None if fault is None else fault in found


def test_genes_left_out_are_counted_and_kept_out_of_pieces():
    text = "CC" + "ATGAAATAA" + "C" * 20 + "ATGTAATAA" + "C" * 20 + "ATGCCCTAA" + "C"
    transcripts = [
        Transcript(name, name, "c", False, [(start, start + 9)], [(start, start + 9)])
        for name, start in (("a", 2), ("b", 31), ("c", 60))
    ]
    found = annotated_genes(transcripts, DNA.encode(text.encode()), 100)
    assert [gene.span for gene in found.genes] == [(2, 11), (60, 69)]
    assert found.left_out == {"with a stop codon in the frame": 1}
    pieces = gene_learning._places("c", found, len(text), 5)
    shown = [(place.start, place.stop, place.complete) for place in pieces]
    assert shown == [(0, 21, True), (21, 50, False), (50, 70, True)]
    # a gene of RNA is no unknown gene; of several coding parts the longest is learned; what the annotation says counts
    more = [
        Transcript("r", "r", "c", False, [(0, 70)]),
        Transcript("a2", "a", "c", False, [(0, 12)], [(5, 11)]),
        Transcript("c2", "c", "c", False, [(60, 69)], [(60, 69)], fault="of pseudogenes"),
    ]
    again = annotated_genes(transcripts[:2] + more, DNA.encode(text.encode()), 100)
    assert [gene.span for gene in again.genes] == [(2, 11)]
    assert (again.several, again.spans) == (1, found.spans)
    assert again.left_out == found.left_out + Counter(["without a coding part", "of pseudogenes"])


def bacterium(path, seed, n_genes=40):
    """Write a genome of one-exon genes on both strands behind AGGAGG, a quarter from GTG, and its GFF3."""
    rng, text, lines = np.random.default_rng(seed), "", []
    codons = [a + b + c for a in "GCA" for b in "ACGT" for c in "CG"]
    for i in range(n_genes):
        inside = "".join(rng.choice(codons, size=rng.integers(60, 150)))
        gene = ("GTG" if i % 4 == 3 else "ATG") + inside + "TAA"
        unit = "".join(rng.choice(list("ACGT"), p=[0.35, 0.15, 0.15, 0.35], size=80)) + "AGGAGGATTATT" + gene
        start, strand = len(text) + len(unit) - len(gene), "+"
        if i % 2:
            unit, strand = unit.translate(COMPLEMENT)[::-1], "-"
            start = len(text)
        lines.append(f"c\tProdigal\tCDS\t{start + 1}\t{start + len(gene)}\t.\t{strand}\t0\tID=g{i};locus_tag=g{i}\n")
        text += unit
    path.with_suffix(".fa").write_text(f">c\n{text}\n")
    # pseudogenes in pieces are no introns
    lines += [f"c\tx\tCDS\t{i}\t{i + 9}\t.\t+\t0\tID=p;pseudo=true\n" for i in (1, 50)]
    path.with_suffix(".gff").write_text("".join(lines))


def test_genes_of_a_bacterium(tmp_path):
    for name, seed in (("known", 1), ("new", 2)):
        bacterium(tmp_path / name, seed)
    learn_genes(tmp_path / "known.fa", tmp_path / "known.gff", **FAST).save(tmp_path / "m")
    model = load_gene_model(tmp_path / "m")
    assert set(model.sites) == {"start"}
    ((_, codes, genes),) = model.find_all(tmp_path / "new.fa", n_threads=1)
    truth = true_structures(read_annotation(tmp_path / "new.gff").transcripts, codes)
    assert gene_accuracy(truth, [(gene.reverse, gene.parts) for gene in genes])["gene"].f1 > 0.7
    starts = Counter(bases_at(codes, g.span[1] - 1 if g.reverse else g.span[0], g.reverse, 3) for g in genes)
    assert starts["GTG"] > 4
    assert all(len(gene.parts) == 1 for gene in genes)


def test_written_genes_are_read_again(tmp_path):
    genes = [Gene(False, ((2, 8), (40, 49)), 1.25), Gene(True, ((60, 66), (90, 93), (120, 129)), 3.0)]
    path = tmp_path / "found.gtf"
    path.write_text("".join(gtf_lines("c", [(gene.reverse, gene.parts, gene.score) for gene in genes])))
    codes = np.zeros(200, dtype=np.uint8)
    codes[46:49] = DNA.encode(b"TAA")
    codes[60:63] = DNA.encode(b"TTA")
    transcripts = read_annotation(path).transcripts
    assert [coding_gene(own, codes).parts for own in transcripts] == [gene.parts for gene in genes]
    assert [own.gene for own in transcripts] == ["g1", "g2"]


def test_folds_hold_all_pieces():
    gene = Gene(False, ((0, 9),))
    places = [gene_learning.Place("c", i, i + 1, (gene,) * n, n > 0) for i, n in enumerate((0, 0, 1, 2, 0, 1, 1, 1, 0))]
    folds = gene_learning._folds(places, "f")
    assert [place for fold in folds for place in fold] == places
    assert all(any(place.genes for place in fold) for fold in folds)
    with pytest.raises(SequenceError, match="too few genes without unknown neighbours"):
        gene_learning._folds([gene_learning.Place("c", 0, 1, (gene,) * 6, True)], "f")


def test_too_few_genes(tmp_path):
    write_simulated(simulate("genes", 3, n_genes=4, n_chromosomes=1), tmp_path / "g")
    with pytest.raises(SequenceError, match=r"has 4 genes from ATG to a stop codon .* but 6 are needed"):
        learn_genes(tmp_path / "g.fasta", tmp_path / "g.gtf", **FAST)


def test_simulated_genes_are_legal_at_every_signal(genome, tmp_path):
    write_simulated(simulate("genes", 5, n_genes=20, signal=0.5), tmp_path / "weak")
    for prefix in (genome, tmp_path / "weak"):
        annotation = read_annotation(prefix.with_suffix(".gtf"))
        for name, codes in chromosomes(prefix.with_suffix(".fasta")):
            own = [item for item in annotation.transcripts if item.chromosome == name]
            found = annotated_genes(own, codes, 1000)
            assert len(found.genes) == len({item.gene for item in own})
            assert not found.left_out
