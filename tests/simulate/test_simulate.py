"""The generators follow their published figures, and the data they make tell kernels apart."""

import hashlib
import itertools
import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import chi2_contingency, chisquare, rankdata

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FileError, ParameterError
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.simulate import KINDS, SEQUENCE_VIEWS, parameters, simulate, write_simulated
from seqkern.simulate.proteins import MOTIFS, Evolution, wag
from seqkern.simulate.splicing import INTRON, codon_usage, donor_classes, donor_frequencies
from seqkern.study import make_dataset

# The fixed seeds make these tests repeatable; a true deviation gives p-values far below.
SMALLEST_P = 1e-3


def matrix(sequences):
    """Return the codes of sequences of equal length as a matrix."""
    return sequences.compact().codes.reshape(len(sequences), -1)


def auc(scores, positive):
    """Return the area under the ROC curve by the rank sum."""
    ranks, n, p = rankdata(scores), len(scores), positive.sum()
    return (ranks[positive].sum() - p * (p + 1) / 2) / (p * (n - p))


# ---- published figures ---------------------------------------------------------------------------


def test_donor_frequencies_sum_to_one_and_hold_the_consensus():
    frequencies = donor_frequencies()
    assert frequencies.shape == (9, 4)
    np.testing.assert_allclose(frequencies.sum(axis=1), 1)
    assert "".join(DNA.letters[i] for i in frequencies.argmax(axis=1)) == "AAGGTAAGT"
    np.testing.assert_array_equal(frequencies[[0, 7]], [[0.38, 0.31, 0.18, 0.13], [0.11, 0.06, 0.75, 0.08]])


def test_codon_usage_has_the_sense_codons():
    codons, usage = codon_usage()
    words = ["".join(DNA.letters[i] for i in codon) for codon in codons]
    assert len(set(words)) == 61
    assert not {"TAA", "TAG", "TGA"} & set(words)
    assert words[int(usage.argmax())] in {"CTG", "GAG"}
    assert usage[words.index("ATG")] == pytest.approx(0.0220, abs=1e-4)


def test_wag_holds_the_published_values():
    model = wag()
    scaled = model.rates / model.frequencies
    known = {
        "AR": 0.551571,
        "AN": 0.509848,
        "DE": 6.17416,
        "IV": 7.8213,
        "KM": 0.934276,
        "FY": 6.45428,
        "VY": 0.31473,
    }
    at = {pair: tuple(PROTEIN.letters.index(a) for a in pair) for pair in known}
    for pair, value in known.items():
        assert scaled[at[pair]] / scaled[at["AR"]] == pytest.approx(value / known["AR"], rel=1e-12)
    assert model.frequencies[PROTEIN.letters.index("A")] == pytest.approx(0.0866279, rel=1e-6)
    assert model.frequencies.sum() == pytest.approx(1)


def test_wag_is_a_reversible_process_with_unit_rate():
    model = wag()
    np.testing.assert_allclose(model.rates.sum(axis=1), 0, atol=1e-14)
    flow = model.frequencies[:, None] * model.rates
    np.testing.assert_allclose(flow, flow.T, rtol=1e-12)
    assert -np.diagonal(flow).sum() == pytest.approx(1)


@pytest.mark.parametrize("time", [0, 0.1, 2.5])
def test_transition_probabilities_are_the_matrix_exponential(time):
    model = wag()
    rows = model.transition_rows(np.arange(20), np.full(20, float(time)))
    np.testing.assert_allclose(rows, expm(model.rates * time), atol=1e-13)


# ---- donor sites ---------------------------------------------------------------------------------


def pooled_frequencies():
    """Return the frequencies of all classes of sites together."""
    shares, classes = donor_classes()
    return sum(share * one for share, one in zip(shares, classes, strict=True))


@pytest.mark.parametrize("dependence", [1.0, 0.0])
@pytest.mark.parametrize("signal", [1.0, 0.5])
def test_sites_follow_the_position_frequencies(signal, dependence):
    n = 5000
    options = {"left": 5, "right": 8, "signal": signal, "dependence": dependence}
    data = simulate("donor", seed=3, n_positive=n, n_decoy=1, **options)
    codes = matrix(data.sequences)[:n]
    codons, usage = codon_usage()
    exon = np.bincount(codons.ravel(), weights=np.repeat(usage, 3)) / 3
    for i, frequencies in enumerate(pooled_frequencies() if dependence else donor_frequencies()):
        expected = signal * frequencies + (1 - signal) * (exon if i < 3 else INTRON)
        if i in (3, 4):
            expected = frequencies
        seen = np.bincount(codes[:, 2 + i], minlength=4)
        assert (seen[expected == 0] == 0).all()
        if i not in (3, 4):
            assert chisquare(seen, n * expected).pvalue > SMALLEST_P


@pytest.mark.parametrize("dependence", [1.0, 0.5, 0.0])
def test_bases_of_a_site_depend_on_each_other_and_those_of_a_pseudo_site_do_not(dependence):
    n = 20_000
    data = simulate("donor", seed=4, n_positive=n, n_decoy=n, left=3, right=6, dependence=dependence, pseudo_sites=1.0)
    codes = matrix(data.sequences)
    a, g, t = (DNA.letters.index(letter) for letter in "AGT")
    shares, classes = donor_classes()
    for (i, x), (j, y) in (((7, g), (2, g)), ((2, g), (8, t)), ((1, a), (5, a)), ((7, g), (6, a))):
        both, first, second = (classes[:, i, x] * classes[:, j, y], classes[:, i, x], classes[:, j, y])
        covariance = shares @ both - (shares @ first) * (shares @ second)
        site, pseudo = (np.cov(part[:, i] == x, part[:, j] == y)[0, 1] for part in (codes[:n], codes[n:]))
        assert abs(covariance) > 0.01
        if dependence != 0.5:
            assert site == pytest.approx(dependence * covariance, abs=5 * 0.5 / math.sqrt(n) / 2)
        assert pseudo == pytest.approx(0, abs=5 * 0.5 / math.sqrt(n) / 2)
    for i in range(9):  # one position does not tell them apart
        counts = [np.bincount(part[:, i], minlength=4) for part in (codes[:n], codes[n:])]
        seen = np.array(counts)[:, np.sum(counts, axis=0) > 0]
        assert len(seen[0]) == 1 or chi2_contingency(seen).pvalue > SMALLEST_P


def test_independent_sites_are_those_of_earlier_releases():
    data = simulate("donor", seed=3, dependence=0)
    assert hashlib.md5(data.sequences.codes.tobytes()).hexdigest() == "fa16611c5539059c45f3d52250af65b0"


def test_all_windows_carry_the_same_gt():
    data = simulate("donor", left=12, right=9)
    assert {window[12:14] for window in data.sequences.strings()} == {"GT"}
    assert set(data.sequences.lengths) == {21}
    assert data.table["label"] == ["donor"] * 200 + ["decoy"] * 400


def test_exons_are_coding_and_introns_are_not():
    exons = simulate("donor", n_positive=1, n_decoy=500, left=90, exonic_decoys=1.0).sequences.strings()[1:]
    introns = simulate("donor", n_positive=1, n_decoy=500, left=90, exonic_decoys=0.0).sequences.strings()[1:]

    def open_share(windows):
        stops = {"TAA", "TAG", "TGA"}
        frames = [[{w[i : i + 3] for i in range(f, 88, 3)} & stops for f in range(3)] for w in windows]
        return np.mean([any(not stop for stop in window) for window in frames])

    assert open_share(exons) == 1
    assert open_share(introns) < 0.8
    letters = np.bincount(np.array([[DNA.letters.index(c) for c in w[:90]] for w in introns]).ravel())
    assert chisquare(letters, letters.sum() * INTRON).pvalue > SMALLEST_P


def test_without_contrast_the_flanks_are_alike():
    data = simulate("donor", seed=2, n_positive=1000, n_decoy=1000, left=40, right=30, contrast=0.0)
    codes = matrix(data.sequences)
    counts = [np.bincount(part.ravel(), minlength=4) for part in (codes[:, :37], codes[:1000, 46:], codes[1000:, 46:])]
    codons, usage = codon_usage()
    mean = (np.bincount(codons.ravel(), weights=np.repeat(usage, 3)) / 3 + INTRON) / 2
    for count in counts:
        assert chisquare(count, count.sum() * mean).pvalue > SMALLEST_P


def test_less_signal_is_harder():
    background = np.full(4, 0.25)
    weights = np.log((pooled_frequencies() + 1e-3) / background)
    areas = []
    for signal in (1.0, 0.7, 0.4, 0.0):
        data = simulate("donor", seed=5, n_positive=500, n_decoy=1000, signal=signal, contrast=0.0)
        site = matrix(data.sequences)[:, 27:36]
        areas.append(auc(weights[np.arange(9), site].sum(axis=1), np.array(data.table["label"]) == "donor"))
    assert (np.diff(areas) < -0.05).all()
    assert areas[0] > 0.9
    assert areas[-1] == pytest.approx(0.5, abs=0.05)


# ---- superfamilies -------------------------------------------------------------------------------


def expected_identity(time, shape):
    """Return the share of equal letters after `time`, averaged over quantiles of the gamma rates."""
    from scipy.stats import gamma

    model = wag()
    rates = gamma.ppf((np.arange(400) + 0.5) / 400, shape, scale=1 / shape)
    return np.mean([model.frequencies @ np.diagonal(expm(model.rates * time * rate)) for rate in rates])


def test_identities_are_those_of_the_tree():
    data = simulate(
        "superfamilies", seed=4, n_superfamilies=2, n_families=2, n_members=2, length=12000,
        divergence=0.8, member_divergence=0.2, gamma_shape=0.9, indel_rate=0.0,
    )  # fmt: skip
    codes, families = matrix(data.sequences), data.table["family"]
    seen = {"member": [], "family": [], "superfamily": []}
    for i, j in itertools.combinations(range(len(codes)), 2):
        same = families[i] == families[j], data.table["superfamily"][i] == data.table["superfamily"][j]
        level = "member" if same[0] else "family" if same[1] else "superfamily"
        seen[level].append((codes[i] == codes[j]).mean())
    frequencies = wag().frequencies
    np.testing.assert_allclose(seen["member"], expected_identity(0.4, 0.9), atol=0.015)
    np.testing.assert_allclose(seen["family"], expected_identity(2.0, 0.9), atol=0.015)
    np.testing.assert_allclose(seen["superfamily"], frequencies @ frequencies, atol=0.015)
    assert min(seen["member"]) > max(seen["family"]) > min(seen["family"]) > max(seen["superfamily"])


def test_letters_keep_the_stationary_frequencies():
    data = simulate("superfamilies", n_superfamilies=150, n_families=1, n_members=1)
    seen = np.bincount(data.sequences.codes, minlength=20)
    assert chisquare(seen, seen.sum() * wag().frequencies).pvalue > SMALLEST_P


def evolution(seed=1, **params):
    defaults = {"gamma_shape": 0.8, "rate_correlation": 0.0, "indel_rate": 0.05, "indel_length": 3.0}
    return Evolution(np.random.default_rng(seed), **{**defaults, **params})


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_rates_have_mean_shape_and_correlation(correlation):
    rates = evolution(rate_correlation=correlation).site_rates(100_000)
    assert rates.mean() == pytest.approx(1, abs=0.05)
    assert rates.var() == pytest.approx(1 / 0.8, rel=0.1)
    neighbours = np.corrcoef(rankdata(rates)[1:], rankdata(rates)[:-1])[0, 1]
    assert neighbours == pytest.approx(6 / math.pi * math.asin(correlation / 2), abs=0.02)


def test_indels_come_at_their_rate_and_length():
    made = evolution(indel_rate=0.1, indel_length=4.0)
    codes, rates = made.ancestor(2000)
    change = np.array([len(made.branch(codes, rates, 0.2)[0]) - 2000 for _ in range(400)])
    events, success = 0.1 * 0.2 * rates.sum(), 1 / 4
    assert abs(change.mean()) < 4 * change.std() / math.sqrt(len(change))
    assert change.var() == pytest.approx(events * (2 - success) / success**2, rel=0.2)


def test_without_indels_lengths_stay():
    assert set(simulate("superfamilies", indel_rate=0.0, length=50).sequences.lengths) == {50}
    assert len(set(simulate("superfamilies", length=50).sequences.lengths)) > 3


def test_deletions_leave_half_of_a_protein(monkeypatch):
    made = evolution(gamma_shape=5.0, indel_rate=1.0, indel_length=50.0)
    nothing = np.empty(0, dtype=np.int64)
    monkeypatch.setattr(type(made), "_insertions", lambda self, begins: (nothing, nothing, nothing))
    codes, rates = made.ancestor(31)
    assert min(len(made.branch(codes, rates, 20.0)[0]) for _ in range(50)) == 16


def test_ids_and_table_name_the_tree():
    data = simulate("superfamilies", n_superfamilies=2, n_families=2, n_members=3)
    assert len(data.sequences) == 12
    assert data.sequences.ids[4] == "s1.2.2"
    assert data.table["family"][4] == "s1.2"
    assert data.table["superfamily"][4] == "s1"


# ---- the demo shows kernels apart ----------------------------------------------------------------


def counts(strings, places, k):
    """Return the Gram matrix of the counts of k-mers looked at in some of their places only."""
    found = {}
    for row, string in enumerate(strings):
        for start in range(len(string) - k + 1):
            word = "".join(string[start + place] for place in places)
            found.setdefault(word, np.zeros(len(strings)))[row] += 1
    features = np.column_stack(list(found.values()))
    return features @ features.T


def normalised(gram):
    root = np.sqrt(np.diagonal(gram))
    return gram / root / root[:, None]


def spectrum(strings, k):
    return normalised(counts(strings, range(k), k))


def mismatch(strings, k, letters=20):
    """Return the (k, 1)-mismatch kernel from the matches of all places, of k - 1 and of k - 2 of them."""
    two, one = 2, letters - 2 * (k - 1)
    none = 1 + k * (letters - 1) - one * k - two * math.comb(k, 2)
    gram = none * counts(strings, range(k), k)
    for size, weight in ((k - 1, one), (k - 2, two)):
        for places in itertools.combinations(range(k), size):
            gram += weight * counts(strings, places, k)
    return normalised(gram)


def mean_auc(gram, splits):
    """Return the mean AUC of an SVM over splits (training rows, test rows, y)."""
    from sklearn.svm import SVC

    areas = []
    for train, test, y in splits:
        model = SVC(kernel="precomputed", class_weight="balanced").fit(gram[np.ix_(train, train)], y[train])
        areas.append(auc(model.decision_function(gram[np.ix_(test, train)]), y[test]))
    return np.mean(areas)


def test_the_demo_donors_tell_spectrum_kernels_apart():
    data = simulate("donor", seed=1)
    strings, y = data.sequences.strings(), np.array(data.table["label"]) == "donor"
    fold = np.random.default_rng(0).integers(3, size=len(y))
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f), y) for f in range(3)]
    single, triple = mean_auc(spectrum(strings, 1), splits), mean_auc(spectrum(strings, 3), splits)
    parts = mean_auc(sum(spectrum([s[a:b] for s in strings], 3) for a, b in ((0, 30), (30, 60))), splits)
    assert 0.5 < single < triple - 0.05 < parts - 0.1
    assert parts < 0.97


def test_the_demo_families_tell_mismatch_from_spectrum():
    data = simulate("superfamilies", seed=1)
    strings = data.sequences.strings()
    superfamily, family = np.array(data.table["superfamily"]), np.array(data.table["family"])
    number = np.array([name.partition(".")[2] for name in family])
    splits = []
    for name in sorted(set(family)):
        y = superfamily == name.partition(".")[0]
        test = np.where(y, family == name, number == name.partition(".")[2])
        splits.append((np.flatnonzero(~test), np.flatnonzero(test), y))
    exact, inexact = mean_auc(spectrum(strings, 3), splits), mean_auc(mismatch(strings, 5), splits)
    assert 0.6 < exact < inexact - 0.04
    assert inexact < 0.97


# ---- seeds, errors, files ------------------------------------------------------------------------


FEW = {
    "genes": {"n_genes": 5},
    "peaks": {"n_chromosomes": 2, "n_letters": 20_000, "n_peaks": 25, "n_variants": 60},
    "superfamilies": {"n_superfamilies": 2, "length": 40},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_sequences(kind):
    once, again, other = (simulate(kind, seed=seed, **FEW.get(kind, {})) for seed in (7, 7, 8))
    assert once.sequences.digest() == again.sequences.digest()
    assert once.table == again.table
    assert once.sequences.digest() != other.sequences.digest()


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("doner", {}, "did you mean 'donor'"),
        ("donor", {"n_postive": 3}, "did you mean 'n_positive'"),
        ("donor", {"length": 3}, "'donor' has no parameter 'length'"),
        ("donor", {"left": 2}, "left=2"),
        ("donor", {"right": 5}, "right=5"),
        ("donor", {"n_decoy": 0}, "n_decoy=0"),
        ("donor", {"n_positive": 2.5}, "n_positive=2.5"),
        ("donor", {"signal": 1.5}, "signal=1.5"),
        ("donor", {"contrast": float("nan")}, "contrast=nan"),
        ("donor", {"seed": -1}, "seed=-1"),
        ("superfamilies", {"divergence": -1}, "divergence=-1"),
        ("superfamilies", {"gamma_shape": 0}, "gamma_shape=0"),
        ("superfamilies", {"rate_correlation": 1.0}, "rate_correlation=1.0"),
        ("superfamilies", {"indel_length": 0.5}, "indel_length=0.5"),
        ("superfamilies", {"length": True}, "length=True"),
        ("genome", {"n_sites": 0}, "n_sites=0"),
        ("genome", {"n_letters": 29_999}, "n_letters=29999"),
    ],
)
def test_bad_parameters_are_named(kind, params, message):
    with pytest.raises(ParameterError) as caught:
        simulate(kind, **params)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kind", "fields"), [("donor", ["label"]), ("superfamilies", ["superfamily", "family"])])
def test_command_line_writes_what_simulate_returns(kind, fields, tmp_path, capsys):
    option = {"donor": "--right", "superfamilies": "--length"}[kind]
    assert main(["simulate", kind, option, "70", "--seed", "3", "-o", str(tmp_path / "new" / "demo")]) == 0
    fasta, tsv = (tmp_path / "new" / name for name in ("demo.fasta", "demo.tsv"))
    assert capsys.readouterr().out.splitlines() == [str(fasta), str(tsv)]
    data = simulate(kind, seed=3, **{option[2:]: 70})
    rows = list(zip(data.sequences.ids, *(data.table[field] for field in fields), strict=True))
    assert [tuple(line.split("\t")) for line in tsv.read_text().splitlines()] == [("id", *fields), *rows]
    records = [record.split("\n") for record in fasta.read_text()[1:].split("\n>")]
    assert ["".join(record[1:]) for record in records] == data.sequences.strings()
    assert max(len(line) for record in records for line in record[1:]) == 60
    assert records[0][0] == " ".join([rows[0][0], *(f"{f}={v}" for f, v in zip(fields, rows[0][1:], strict=True))])
    again = tmp_path / "again"
    write_simulated(data, again)
    assert again.with_suffix(".fasta").read_bytes() == fasta.read_bytes()


def test_a_genome_has_its_sites_where_the_table_says(tmp_path, capsys):
    options = ["--n-letters", "9000", "--n-sites", "20", "--n-others", "60"]
    assert main(["simulate", "genome", *options, "--seed", "4", "-o", str(tmp_path / "g")]) == 0
    capsys.readouterr()
    entry = {"fasta": "g.fasta", "sites": "g.tsv", "window": "-3:+5", "site": "GT", "labels": {"positive": "donor"}}
    made = make_dataset("d", entry, tmp_path)  # each site is a GT on its strand
    labels = made.task().labels
    assert labels.class_counts() == {"other": 120, "donor": 40}
    assert set(labels.chromosome) == {"chr1", "chr2"}
    assert made.X.ids == sorted(made.X.ids, key=lambda name: (name.split(":")[0], int(name.split(":")[1])))
    donors = made.X.take(labels.y == 1)
    assert {name[-1] for name in donors.ids} == {"+", "-"}
    consensus = (np.array([list(string) for string in donors.strings()]) == list("AAGGTAAGT")).mean(axis=0)
    np.testing.assert_allclose(consensus, donor_frequencies().max(axis=1), atol=0.25)
    data = simulate("genome", 4, n_letters=9000, n_sites=20, n_others=60)
    assert data.of_sites
    assert "".join((tmp_path / "g.fasta").read_text().split("\n")[1:151]) == data.sequences.string(0)
    with pytest.raises(ConfigError, match="'genome' simulates sites on long sequences"):
        make_dataset("d", {"simulate": {"kind": "genome"}})


def test_command_line_lists_all_parameters(capsys):
    assert main(["simulate", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for kind in KINDS:
        for name, default in parameters(kind).items():
            assert any(line.split()[0] == f"{name}={default}" and len(line.split()) > 3 for line in lines)


def test_command_line_errors(tmp_path, capsys):
    assert main(["simulate", "donr", "-o", str(tmp_path / "x")]) == 1
    assert "did you mean 'donor'" in capsys.readouterr().err
    assert main(["simulate", "donor", "--divergence", "1", "-o", str(tmp_path / "x")]) == 1
    assert main(["simulate", "donor"]) == 2
    assert main(["simulate", "donor", "--left", "many", "-o", str(tmp_path / "x")]) == 2
    assert list(tmp_path.iterdir()) == []


def test_unwritable_place_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"file/demo\.fasta"):
        write_simulated(simulate("donor", n_positive=1, n_decoy=1), tmp_path / "file" / "demo")
    (tmp_path / "demo.tsv").mkdir()
    with pytest.raises(FileError, match=r"demo\.tsv"):
        write_simulated(simulate("donor", n_positive=1, n_decoy=1), tmp_path / "demo")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.tsv", "file"]


# ---- receptors -----------------------------------------------------------------------------------


def test_receptors_are_binders_only_with_both_motifs(tmp_path):
    data = simulate("receptors", n_positive=30, n_negative=30, kept=1.0)
    motifs = {name: np.array([MOTIFS[name] in one for one in data.sequences.view(name).strings()]) for name in MOTIFS}
    binders = np.array(data.table["label"]) == "binder"
    np.testing.assert_array_equal(motifs["alpha"] & motifs["beta"], binders)
    assert (motifs["alpha"] & ~binders).sum() == (motifs["beta"] & ~binders).sum() == 10
    paths = write_simulated(data, tmp_path / "r")
    assert [path.name for path in paths] == ["r.tsv", "r.alpha.fasta", "r.beta.fasta"]
    table = {"file": str(paths[0]), "id": "id", "sequences": ["alpha", "beta"]}
    read = make_dataset("r", {"table": table}).X
    made = make_dataset("r", {"simulate": {"kind": "receptors", "n_positive": 30, "n_negative": 30, "kept": 1.0}}).X
    assert read.digest() == made.digest() == data.sequences.digest()
    assert list(read.views) == list(SEQUENCE_VIEWS["receptors"])
