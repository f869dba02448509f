"""The Viterbi algorithm of genes, against the enumeration of all legal genes."""

import numpy as np
import pytest
from naive_genes import EXONS, INTRONS, all_genes, best_set, is_gene, random_text, reverse_complement

from seqkern.core.errors import ParameterError
from seqkern.genomics.genes import (
    BEGIN,
    END,
    Content,
    Gene,
    Limits,
    Scores,
    as_genes,
    codon_places,
    decode,
    exon_types,
    find_boundaries,
    path_score,
    rows_of,
)
from seqkern.sequences.alphabets import DNA

LIMITS = Limits(*EXONS, *INTRONS)


def random_boundaries(rng, text):
    """Return the candidates of a sequence, with random content, and random scores."""
    content = Content(rng.normal(size=(3, 16)), rng.normal(size=16))
    sites = dict.fromkeys(("donor", "acceptor"), lambda codes, places: np.zeros(len(places)))
    found = find_boundaries(DNA.encode(text.encode()), sites, content)
    lengths = rng.normal(size=(2, 4, EXONS[1] + 1)), rng.normal(size=INTRONS[1] + 1)
    return found, content, Scores(rng.normal(size=len(found)), found.coding, found.intron, *lengths)


def naive_score(text, content, found, scores, reverse, parts):
    """Return the score of a gene, base by base."""
    total, k, n = 0.0, content.order, len(text)
    strand = reverse_complement(text) if reverse else text
    own = tuple((n - stop, n - start) for start, stop in reversed(parts)) if reverse else parts
    codes = [("ACGT".find(letter)) for letter in strand]

    def base(table, i):
        word = codes[i - k : i + 1] if i >= k else [-1]
        return 0.0 if min(word) < 0 else table[sum(c * 4**j for j, c in enumerate(reversed(word)))]

    done = 0
    for i, (start, stop) in enumerate(own):
        total += sum(base(content.coding[(done + j) % 3], start + j) for j in range(stop - start))
        done += stop - start
        place = len(parts) - 1 - i if reverse else i
        kind = (place == 0) + 2 * (place == len(parts) - 1)
        total += scores.exon_lengths[int(reverse), kind, stop - start]
        if i:
            left = own[i - 1][1]
            total += sum(base(content.intron, j) for j in range(left, start)) + scores.intron_lengths[start - left]
    return total + scores.boundary[rows_of(Gene(reverse, parts), found)].sum()


def test_best_path_is_best_of_all_sets_of_legal_genes():
    rng = np.random.default_rng(3)
    n_genes, n_long, strands = 0, 0, set()
    for _ in range(100):
        text = random_text(rng, 60)
        found, content, scores = random_boundaries(rng, text)
        genes = all_genes(text, EXONS, INTRONS)
        n_genes += len(genes)
        scored = [(naive_score(text, content, found, scores, *gene), gene) for gene in genes]
        expected, best = best_set(scored, len(text))
        score, rows = decode(found, scores, LIMITS)
        assert score == pytest.approx(expected, abs=1e-9)
        predicted = as_genes(found, rows, scores)
        assert [(gene.reverse, gene.parts) for gene in predicted] == best
        assert sum(gene.score for gene in predicted) == pytest.approx(expected, abs=1e-9)
        n_long += sum(len(gene.parts) > 1 for gene in predicted)
        strands |= {gene.reverse for gene in predicted}
    assert n_genes > 200
    assert n_long >= 10
    assert strands == {False, True}


def test_every_legal_gene_can_be_the_best():
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 60:
        text = random_text(rng)
        found, _, _ = random_boundaries(rng, text)
        for reverse, parts in all_genes(text, EXONS, INTRONS)[:3]:
            rows = rows_of(Gene(reverse, parts), found)
            boundary = np.full(len(found), -1.0)
            boundary[rows] = 1.0
            zeros = np.zeros((len(found), 3)), np.zeros(len(found)), np.zeros((2, 4, 15)), np.zeros(13)
            scores = Scores(boundary, *zeros)
            score, genes = decode(found, scores, LIMITS)
            assert (score, genes) == (2 * len(parts), [rows])
            assert path_score(found, rows, scores) == score
            tried += 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("CCATGAAATTTAACC", ()),  # the stop codon is not in frame
        ("CCATGAAATAAACC", ((2, 11),)),
        ("CCATGTAAATAGCC", ((2, 8),)),  # the first stop codon ends it
        ("ATGTGTCCCCAGAATAA", ()),  # ATG T|AA TAA: the intron splits a stop codon
        ("ATGCGTCCCCAGAATAA", ((0, 4), (12, 17))),  # ATG C|AA TAA
        ("ATGTAGTCCCCAGATAA", ((0, 6),)),  # not ATG TA|A TAA
        ("ATGTAGTCCCCAGCTAA", ((0, 5), (13, 17))),  # ATG TA|C TAA
    ],
)
def test_codons_across_introns(text, parts):
    assert bool(parts) == any(gene[1] == parts for gene in all_genes(text, (3, 20), INTRONS))
    limits = Limits(3, 20, *INTRONS)
    sites = dict.fromkeys(("donor", "acceptor"), lambda codes, places: np.zeros(len(places)))
    found = find_boundaries(DNA.encode(text.encode()), sites, Content(np.zeros((3, 4)), np.zeros(4)))
    introns = np.where(found.strand == 1, -10.0, 1.0)
    scores = Scores(introns, found.coding, found.intron, np.zeros((2, 4, 21)), np.zeros(13))
    genes = as_genes(found, decode(found, scores, limits)[1], scores)
    assert tuple(part for gene in genes for part in gene.parts) == parts


def test_no_boundary_and_no_gene():
    found = find_boundaries(DNA.encode(b"CCCC"), {}, Content(np.zeros((3, 4)), np.zeros(4)))
    scores = Scores(np.zeros(0), found.coding, found.intron, np.zeros((2, 4, 15)), np.zeros(13))
    assert len(found) == 0
    assert decode(found, scores, LIMITS) == (0.0, [])
    assert len(find_boundaries(DNA.encode(b""), {}, Content(np.zeros((3, 4)), np.zeros(4)))) == 0


def test_piece_of_a_chromosome_has_its_own_boundaries():
    rng = np.random.default_rng(2)
    text = random_text(rng, 120)
    found, _, _ = random_boundaries(rng, text)
    part = found.between(40, 90)
    assert part.position.min() >= 40
    assert part.position.max() <= 90
    assert not np.any((part.position == 40) & (part.kind != BEGIN))
    assert not np.any((part.position == 90) & (part.kind != END))
    inside = (found.position > 40) & (found.position < 90)
    assert np.isin(found.position[inside], part.position).all()


def test_shapes_are_checked():
    found = find_boundaries(DNA.encode(b"ATGTAA"), {}, Content(np.zeros((3, 4)), np.zeros(4)))
    with pytest.raises(ParameterError, match="exon_lengths has the shape"):
        decode(
            found, Scores(np.zeros(len(found)), found.coding, found.intron, np.zeros((2, 4, 3)), np.zeros(13)), LIMITS
        )


def test_definition_of_the_twin():
    assert is_gene("CCATGAAATAACC", ((2, 11),), EXONS, INTRONS)
    assert not is_gene("CCATGTAATAACC", ((2, 11),), EXONS, INTRONS)
    assert codon_places(np.array([0]), np.array([6])).tolist() == [0]
    assert exon_types(2).tolist() == [1, 2]
