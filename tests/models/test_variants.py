"""Effects of variants: sums of weights of k-mers, windows, sites, motifs, random variants; against plain Python."""

import itertools
from collections import Counter

import numpy as np
import pytest
from naive_delta import around, delta, total, turned

from seqkern.core.errors import ModelError, ParameterError
from seqkern.formats.alleles import PlacedAlleles
from seqkern.genomics.variant_run import PSEUDOCOUNT, MotifChanges, Piece, p_values, quotas, saturate
from seqkern.genomics.variants import (
    Panel,
    SiteScorer,
    TableScorer,
    TableStore,
    WindowScorer,
    model_scorer,
    read_scorer,
    single_kmer_weights,
)
from seqkern.kernels import build_kernel
from seqkern.kernels.kmer.kmers import first_of_pairs, unfold
from seqkern.kernels.models.patterns import SCALE, Matrix
from seqkern.methods.scan import Scanner
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.windows import Window

GAPPED = "gapped_kmer:l=5,k=3,reverse_complement=true"
ALLELES = [("A", "G"), ("AC", "GT"), ("A", "ACCG"), ("GATTA", "G"), ("TT", "CAC")]


def strings(n=24, length=30, seed=0):
    return ["".join(row) for row in np.random.default_rng(seed).choice(list("ACGT"), size=(n, length))]


def trained(kernel, sequences=None, **more):
    X = as_sequences(sequences or strings(), "dna")
    return train_model(
        X, make_labels(X.ids, [f"c{i % 2}" for i in range(len(X))]), build_kernel(kernel), "csvc:C=1", **more
    )


def chromosome(seed=5, length=400):
    return strings(1, length, seed)[0]


def alleles_in(text, variants):
    """The alleles at positions that count from 1; `text` is the chromosome."""
    refs, alts = ([row[i].encode() for row in variants] for i in (1, 2))
    bases = np.frombuffer(text.encode() + b".", dtype=np.uint8)
    places = np.array([row[0] - 1 for row in variants])
    snv = np.array([len(ref) == len(alt) == 1 for ref, alt in zip(refs, alts, strict=True)])
    return PlacedAlleles(bases, places, refs, alts, snv, np.arange(len(refs)))


def variants_of(text, n=60, seed=2):
    """Variants of all kinds, also at both ends."""
    rng, out = np.random.default_rng(seed), []
    for position in [1, 2, len(text) - 4, len(text), *rng.integers(1, len(text) - 5, n).tolist()]:
        ref, alt = ALLELES[rng.integers(len(ALLELES))] if position < len(text) - 4 else ALLELES[0]
        ref = text[position - 1 : position - 1 + len(ref)]
        alt = next(base for base in "ACGT" if base != ref) if len(ref) == len(alt) == 1 else alt
        out.append((position, ref, alt))
    return out


def by_letters(table, length):
    return {"".join(kmer): float(table[i]) for i, kmer in enumerate(itertools.product("ACGT", repeat=length))}


def test_sums_are_those_of_plain_python():
    text = chromosome()
    text = text[:100] + "N" + text[101:]
    variants = [row for row in variants_of(text) if "N" not in row[1]]
    rng = np.random.default_rng(1)
    tables = {3: rng.standard_normal(4**3), 5: rng.standard_normal(4**5)}
    scorer = TableScorer(tables, DNA)
    for n_threads in (1, 3):
        found = scorer.score(alleles_in(text, variants), n_threads)
        for i, (position, ref, alt) in enumerate(variants):
            sums = np.zeros(2)
            for length, table in tables.items():
                weights = by_letters(table, length)
                pair = around(text, position, ref, alt, length - 1)
                sums += [sum(weights.get(s[j : j + length], 0.0) for j in range(len(s) - length + 1)) for s in pair]
            assert (found["reference"][i], found["alternative"][i]) == pytest.approx(tuple(sums), abs=1e-12)
    assert np.array_equal(found["delta"], found["alternative"] - found["reference"])


def test_the_kmer_that_changes_most_is_named():
    text, variants = chromosome(), [(50, chromosome()[49], "ACGT"["TGCA".index(chromosome()[49])])]
    table = np.random.default_rng(3).standard_normal(4**5)
    weights, scorer = by_letters(table, 5), TableScorer({5: table}, DNA)
    found = scorer.score(alleles_in(text, variants))
    ref, alt = around(text, *variants[0], 4)
    pairs = [(ref[i : i + 5], alt[i : i + 5]) for i in range(5)]
    best = max(pairs, key=lambda pair: abs(weights[pair[1]] - weights[pair[0]]))
    assert (found["ref_kmer"][0].decode(), found["alt_kmer"][0].decode()) == best


def test_differences_of_predicted_decisions_without_normalisation():
    model, text = trained(f"{GAPPED},normalize=false"), chromosome()
    variants = variants_of(text)
    scorer = model_scorer(model)
    assert isinstance(scorer, TableScorer)
    found = scorer.score(alleles_in(text, variants))["delta"]
    for i, row in enumerate(variants):
        ref, alt = model.decision([*around(text, *row, 20)])
        assert found[i] == pytest.approx(alt - ref, abs=1e-9)


@pytest.mark.parametrize("kernel", [GAPPED, "gapped_kmer:l=4,k=2", "wildcard:k=4,m=1", "mismatch:k=4,m=1"])
def test_weights_of_normalised_kernels_are_decisions_about_kmers(kernel):
    model = trained(kernel)
    weights = single_kmer_weights(model)
    ((length, table),) = weights.tables.items()
    kmers = ["".join(kmer) for kmer in itertools.product("ACGT", repeat=length)]
    assert table + weights.constant == pytest.approx(model.decision(kmers), abs=1e-9)


def test_deltasvm_on_weights_of_gkmpredict_to_their_printed_digits():
    model, text = trained(GAPPED), chromosome()
    weights = single_kmer_weights(model)
    printed = {kmer: float(f"{value:.6f}") for kmer, value in by_letters(weights.tables[5], 5).items()}
    file = {kmer: value for kmer, value in printed.items() if kmer <= turned(kmer)}
    scorer = TableScorer({5: np.array(list(printed.values()))}, DNA)
    variants = variants_of(text)
    found = scorer.score(alleles_in(text, variants))["delta"]
    expected = [delta(file, text, *row, 5) for row in variants]
    assert [f"{value + 0.0:.6f}" for value in found.round(6)] == [
        f"{value + 0.0:.6f}" for value in np.round(expected, 6)
    ]
    pairs = [around(text, *row, 4) for row in variants]
    for side, column in enumerate(zip(*pairs, strict=True)):
        sums = scorer.sums(as_sequences(list(column), "dna"))
        assert sums == pytest.approx([total(file, pairs[i][side], 5) for i in range(len(pairs))], abs=1e-12)


def test_windows_are_those_of_plain_python():
    model, text, width = trained("weighted_degree:degree=3"), chromosome(), 30
    scorer = model_scorer(model)
    assert isinstance(scorer, WindowScorer)
    assert scorer.window == width
    variants = variants_of(text)
    found = scorer.score(alleles_in(text, variants))
    left, scored = (width - 1) // 2, 0
    for i, (position, ref, alt) in enumerate(variants):
        start = position - 1 - left
        if start < 0:
            assert np.isnan(found["delta"][i])
            continue
        pair = [(text[start : position - 1] + a + text[position - 1 + len(ref) :])[:width] for a in (ref, alt)]
        if min(map(len, pair)) < width:
            assert np.isnan(found["delta"][i])
            continue
        values = model.decision(pair)
        assert (found["reference"][i], found["alternative"][i]) == pytest.approx(tuple(values), abs=1e-12)
        scored += 1
    assert scored > 40


@pytest.mark.parametrize(("kernel", "window"), [(GAPPED, 3), ("weighted_degree:degree=3", 29)])
def test_windows_that_the_model_does_not_take_are_refused(kernel, window):
    with pytest.raises(ParameterError, match=f"does not take windows of {window} bases"):
        model_scorer(trained(kernel), window)


def test_a_given_window_is_used_for_models_with_a_table():
    scorer = model_scorer(trained(GAPPED), window=21)
    assert isinstance(scorer, WindowScorer)
    assert scorer.window == 21


@pytest.mark.parametrize("kernel", ["weighted_degree:degree=3", "spectrum:k=2"])
def test_best_sites_near_a_variant_are_those_of_a_scan(kernel):
    window = Window(6, 8, "GT")
    sequences = [one[:6] + "GT" + one[8:15] for one in strings(20, 15)]
    model = trained(kernel, sequences, notes={"window": window.record()})
    text, around_it = chromosome(), 12
    scorer = SiteScorer(model, around_it)
    variants = variants_of(text)
    found = scorer.score(alleles_in(text, variants))
    scanner = Scanner(model, "GT")
    for i, (position, ref, alt) in enumerate(variants):
        for allele, name in ((ref, "ref"), (alt, "alt")):
            changed = text[: position - 1] + allele + text[position - 1 + len(ref) :]
            best, place = np.nan, ""
            candidates = []
            for piece in scanner.scan(fasta(changed)):
                rows = zip(piece.positions.tolist(), piece.reverse.tolist(), piece.decisions.tolist(), strict=True)
                candidates += [row for row in rows if -around_it <= row[0] - position < len(allele) + around_it]
            if candidates:
                where, reverse, best = max(candidates, key=lambda row: (row[2], -row[1], -row[0]))
                place = f"{where - position:+d}:{'+-'[reverse]}"
            column = "reference" if name == "ref" else "alternative"
            assert found[column][i] == pytest.approx(best, nan_ok=True, abs=1e-9)
            assert found[f"{name}_site"][i].decode() == place


def fasta(text):
    import io

    return io.StringIO(f">c\n{text}\n")


def test_loss_and_gain_of_sites():
    window = Window(3, 4, "GT")
    sequences = ["CAGGTAAG" if i % 2 else "TTCGTCCT" for i in range(20)]
    model = trained("weighted_degree:degree=2", sequences, notes={"window": window.record()})
    text = "C" * 30 + "CAGGTAAG" + "C" * 30
    scorer = SiteScorer(model, 20)
    lost = scorer.score(alleles_in(text, [(34, "G", "C"), (5, "C", "G")]))
    assert lost["effect"].tolist() == [b"loss", b""]
    broken = text[:33] + "C" + text[34:]
    assert scorer.score(alleles_in(broken, [(34, "C", "G")]))["effect"].tolist() == [b"gain"]


def test_motifs_are_those_of_plain_python():
    rng, text = np.random.default_rng(7), chromosome()
    matrices = [
        Matrix.checked(f"m{i}", rng.integers(0, 20, (width, 4)) + 0.1, "ACGT") for i, width in enumerate((4, 7))
    ]
    variants = variants_of(text)
    found = MotifChanges(matrices).score(alleles_in(text, variants), 2)
    for i, (position, ref, alt) in enumerate(variants):
        bests = []
        for matrix in matrices:
            scores, width = matrix.scores(DNA, PSEUDOCOUNT), len(matrix.counts)
            pair = []
            for sequence in around(text, position, ref, alt, width - 1):
                words = [sequence[j : j + width] for j in range(len(sequence) - width + 1)]
                words += [turned(word) for word in words]
                sums = [sum(scores[j, "ACGT".index(base)] for j, base in enumerate(word)) for word in words]
                pair.append(max([0, *sums]) / SCALE)
            bests.append(pair)
        number = max(range(2), key=lambda j: abs(bests[j][1] - bests[j][0]))
        if bests[number][0] == bests[number][1]:
            assert found["motif"][i] == -1
            continue
        assert found["motif"][i] == number
        assert [found["ref_motif"][i], found["alt_motif"][i]] == pytest.approx(bests[number])


def test_quotas_sum_to_what_is_wanted():
    counts = np.random.default_rng(1).integers(0, 50, 96)
    for n in (1, 10, 12345):
        found = quotas(counts, n)
        assert found.sum() == n
        assert np.all(np.abs(found - counts * n / counts.sum()) < 1)


def test_p_values_are_uniform_without_an_effect_and_never_zero():
    rng = np.random.default_rng(2)
    p = p_values(rng.standard_normal(5000), rng.standard_normal(5000))
    assert np.abs(np.quantile(p, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.03
    assert p_values(np.array([100.0]), rng.standard_normal(99)).tolist() == [0.01]


@pytest.mark.parametrize("window", [None, 30])
def test_decisions_that_are_not_finite_are_refused(window, tmp_path):
    """They would be written as empty scores, as where an allele has no k-mer."""
    model, text = trained(f"{GAPPED},normalize=false"), chromosome()
    model.solver.dual_coef_ = np.copysign(1e308, model.solver.dual_coef_)
    model.save(tmp_path / "m.seqkern")
    with pytest.raises(ModelError, match=r"the decision is (nan|-?inf): the|m\.seqkern: the weights .* too large"):
        read_scorer(tmp_path / "m.seqkern", window).score(alleles_in(text, variants_of(text)))


def test_weights_whose_sums_are_not_finite_are_refused(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{a}{b}\t1e308\n" for a in "ACGT" for b in "ACGT"))
    with pytest.raises(ModelError, match=r"weights\.txt: the weights of k-mers are too large"):
        read_scorer(path)


def test_decisions_about_sites_that_are_not_finite_are_refused():
    windows = [f"{a[:10]}AG{a[10:]}" for a in strings(length=20)]
    for kernel in ("weighted_degree:degree=3", "spectrum:k=3"):
        model = trained(kernel, windows, notes={"window": {"left": 10, "right": 11, "site": "AG"}})
        model.solver.dual_coef_ = np.full(len(model.solver.dual_coef_), 1e308)
        text = chromosome()
        with pytest.raises(ModelError, match=r"the decision is (nan|-?inf)"):
            SiteScorer(model).score(alleles_in(text, variants_of(text)))


def test_all_variants_of_a_sequence():
    model = trained(GAPPED)
    scorer, text = model_scorer(model), chromosome()
    found = saturate(scorer, Piece("c", 21, text, 20, 10))
    rows = [(21 + place, text[20 + place], "ACGT"[code]) for place, code in found.variants()]
    assert Counter(position for position, *_ in rows) == Counter({21 + place: 3 for place in range(10)})
    expected = scorer.score(alleles_in(text, rows))["delta"]
    assert [found.delta[place, code] for place, code in found.variants()] == expected.tolist()
    assert np.isnan(found.delta[np.arange(10), found.codes]).all()


def equal_to_alone(scorers, text, store=None):
    """Score variants by a panel, and compare it to the last bit with each scorer alone."""
    alleles, panel = alleles_in(text, variants_of(text)), Panel(several=True, store=store)
    for name, scorer in scorers.items():
        panel.add(name, scorer)
    found = panel.score(alleles, 3)
    assert set(found) == {f"{name}/{column}" for name in scorers for column in ("reference", "delta")}
    for name, scorer in scorers.items():
        alone = scorer.score(alleles, 1)
        for column in ("reference", "delta"):
            np.testing.assert_array_equal(found[f"{name}/{column}"], alone[column])


def test_models_score_together_as_alone():
    text, rng = chromosome(), np.random.default_rng(4)
    text = text[:100] + "NN" + text[102:]
    folded = {length: unfold(rng.standard_normal(len(first_of_pairs(DNA, length))), DNA, length) for length in (4, 5)}
    tables = [
        {5: rng.standard_normal(4**5)},
        {5: folded[5]},
        {5: 2 * folded[5]},
        {3: rng.standard_normal(64), **folded},
    ]
    scorers = {str(i): TableScorer(one, DNA) for i, one in enumerate(tables)}
    scorers |= {"gapped": model_scorer(trained(GAPPED)), "degree": model_scorer(trained("weighted_degree:degree=3"))}
    scorers |= {"other": model_scorer(trained("weighted_degree:degree=2")), "window": model_scorer(trained(GAPPED), 21)}
    scorers |= {"long": model_scorer(trained("weighted_degree:degree=2", strings(length=31)))}
    equal_to_alone(scorers, text)


def test_weights_of_both_strands_are_kept_once():
    store = TableStore()
    panel = Panel(several=True, store=store)
    for kernel in (GAPPED, "gapped_kmer:l=5,k=3"):
        panel.add(kernel, model_scorer(trained(kernel)))
    assert store.in_memory == 8 * (4**5 // 2 + 4**5)


def test_weights_that_do_not_fit_into_memory_are_read_from_a_file(tmp_path):
    rng = np.random.default_rng(5)
    scorers = {str(i): TableScorer({5: rng.standard_normal(4**5)}, DNA) for i in range(4)}
    store = TableStore(room=2 * 8 * 4**5, folder=tmp_path)
    equal_to_alone(scorers, chromosome(), store)
    assert store.in_memory == store.in_file == 2 * 8 * 4**5
    assert not list(tmp_path.iterdir())
