"""Ψ, the loss and the structural SVM, against their definitions on short sequences."""

import itertools

import numpy as np
import pytest
from naive_genes import EXONS, INTRONS, all_genes, random_text
from scipy.optimize import minimize

from seqkern.genomics.gene_learning import BASES, Piece, augmented, learn_weights
from seqkern.genomics.genes import CURVES, Content, Gene, Grammar, Limits, decode, find_boundaries, path_score
from seqkern.sequences.alphabets import DNA


def random_piece(rng, n=50):
    """Return a sequence with candidates of random decision values, all its genes, and a grammar."""
    text = random_text(rng, n)
    content = Content(rng.normal(size=(3, 16)), rng.normal(size=16))
    sites = dict.fromkeys(("donor", "acceptor"), lambda codes, places: rng.normal(size=len(places)))
    knots = {name: np.cumsum(rng.uniform(0.3, 1, size=3)) - 1 for name in CURVES}
    grammar = Grammar(Limits(*EXONS, *INTRONS), knots)
    return find_boundaries(DNA.encode(text.encode()), sites, content), all_genes(text, EXONS, INTRONS), grammar


def gene_pieces(rng, count, n=50):
    """Return pieces each with one of its legal genes as annotated, all other sets of genes, and one grammar."""
    pieces, others, grammar = [], [], None
    while len(pieces) < count:
        found, genes, own = random_piece(rng, n)
        grammar = grammar or own
        if len(genes) < 2:
            continue
        piece = Piece.of(found, [Gene(*genes[0])], 0, n)
        pieces.append(piece)
        others.append(list(sets_of(genes)))
    return pieces, others, grammar


def sets_of(genes):
    """Yield the sets of at most two genes without overlap."""
    yield []
    for gene in genes:
        yield [gene]
    for left, right in itertools.permutations(genes, 2):
        if left[1][-1][1] <= right[1][0][0]:
            yield [left, right]


def rows_in(piece, genes):
    """Return the rows of genes."""
    return Piece.of(piece.boundaries, [Gene(*gene) for gene in genes], piece.start, piece.stop).rows


def loss_of(piece, genes):
    """Return Δ by its definition."""

    def edges(some):
        return {(reverse, *edge) for reverse, parts in some for edge in Gene(reverse, parts).edges()}

    def labels(some):
        found = dict.fromkeys(range(piece.start, piece.stop), 0)
        for reverse, parts in some:
            found |= {i: 1 + reverse for start, stop in parts for i in range(start, stop)}
        return found

    true = [(gene.reverse, gene.parts) for gene in piece.genes]
    wrong = sum(labels(true)[i] != label for i, label in labels(genes).items())
    return len(edges(true) ^ edges(genes)) + wrong / BASES


def test_score_is_product_of_weights_and_vector():
    rng = np.random.default_rng(1)
    tried = 0
    while tried < 30:
        found, genes, grammar = random_piece(rng)
        weights = rng.normal(size=grammar.n_weights)
        scores = grammar.scores(found, weights)
        for gene in genes[:3]:
            rows = Piece.of(found, [Gene(*gene)], 0, 50).rows
            assert weights @ grammar.vector(found, rows) == pytest.approx(path_score(found, rows[0], scores), abs=1e-9)
            tried += 1


def test_loss_is_the_sum_of_its_parts():
    rng = np.random.default_rng(2)
    pieces, others, grammar = gene_pieces(rng, 10)
    for piece, sets in zip(pieces, others, strict=True):
        constant, boundary, coding = piece.loss()
        scores = augmented(grammar.scores(piece.boundaries, np.zeros(grammar.n_weights)), boundary, coding)
        for genes in sets:
            rows = rows_in(piece, genes)
            total = constant + sum(path_score(piece.boundaries, own, scores) for own in rows)
            assert total == pytest.approx(loss_of(piece, genes), abs=1e-9)
        total, _ = decode(piece.boundaries, scores, grammar.limits)
        assert total + constant == pytest.approx(max(loss_of(piece, genes) for genes in sets), abs=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_minimum_of_the_structural_svm(C):
    rng = np.random.default_rng(4)
    pieces, others, grammar = gene_pieces(rng, 6)
    start = rng.normal(size=grammar.n_weights) / 10
    learned = learn_weights(pieces, grammar, start, C, passes=500)
    rows, right = [], []  # weights and slacks fulfil rows @ (w, slacks) >= right
    for i, (piece, sets) in enumerate(zip(pieces, others, strict=True)):
        true = grammar.vector(piece.boundaries, piece.rows)
        for genes in sets:
            difference = true - grammar.vector(piece.boundaries, rows_in(piece, genes))
            rows.append([*difference, *np.eye(len(pieces))[i]])
            right.append(loss_of(piece, genes))
    rows, right, n = np.array(rows), np.array(right), grammar.n_weights
    exact = minimize(
        lambda x: ((x[:n] - start) ** 2).sum() / 2 + C * x[n:].sum(),
        np.concatenate((start, np.full(len(pieces), 100.0))),
        jac=lambda x: np.concatenate((x[:n] - start, np.full(len(pieces), C))),
        constraints={"type": "ineq", "fun": lambda x: rows @ x - right, "jac": lambda x: rows},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert exact.success
    assert learned.converged
    assert learned.objective == pytest.approx(exact.fun, rel=0.011)
    assert learned.objective - learned.gap <= exact.fun * (1 + 1e-6)
    assert np.linalg.norm(learned.weights - exact.x[:n]) <= np.sqrt(2 * max(0.0, learned.gap)) + 1e-4
    assert learn_weights(pieces, grammar, start, C, passes=500).weights.tolist() == learned.weights.tolist()


def test_not_converged_is_told():
    pieces, _, grammar = gene_pieces(np.random.default_rng(4), 6)
    learned = learn_weights(pieces, grammar, np.zeros(grammar.n_weights), 100.0, passes=1)
    assert (learned.passes, learned.converged) == (1, False)
    assert learned.gap > 0.01 * learned.objective


def test_content_of_a_markov_chain():
    rng = np.random.default_rng(1)
    coding = [(rng.integers(0, 4, 300).astype(np.uint8), 2)]
    content = Content.learn(coding, [], [], order=1)
    counts = np.zeros((3, 4, 4))
    for i in range(1, 300):
        counts[(i + 2) % 3, coding[0][0][i - 1], coding[0][0][i]] += 1
    for place in range(3):
        lower = (counts[place].sum(axis=0) + 10 * 0.25) / (counts[place].sum() + 10)
        shares = (counts[place] + 10 * lower) / (counts[place].sum(axis=1, keepdims=True) + 10)
        np.testing.assert_allclose(content.coding[place], np.log(shares / 0.25).ravel(), rtol=1e-12)
    assert not content.intron.any()
    lengths = (0, 599, 2399, 2400, 10**6)
    orders = [Content.learn([(np.zeros(n, dtype=np.uint8), 0)], [], []).order for n in lengths]
    assert orders == [0, 0, 0, 1, 5]
