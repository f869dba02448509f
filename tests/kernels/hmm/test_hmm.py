"""Profile HMMs and Markov chains: forward and backward recursions, building, reading."""

import bz2
import gzip
import lzma
import math
import os
from pathlib import Path

import naive_hmm
import numpy as np
import pytest
from naive import encode

from seqkern.core.errors import FileError, SequenceError
from seqkern.kernels.models import _forward_backward as loops
from seqkern.kernels.models.fisher import MarkovChain
from seqkern.kernels.models.profile_hmm import ProfileHMM, background, build_profile, read_profiles
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN, RNA
from seqkern.sequences.sequence_set import SequenceSet

pyhmmer = pytest.importorskip("pyhmmer")

PFAM = Path(os.environ.get("SEQKERN_DATA", "../shared/data")) / "pfam"
LENGTHS = [1, 2, 7, 8, 9, 20]


def random_model(length, size=4, seed=1, shape=0.7):
    rng = np.random.default_rng([seed, length, size])
    numbers = (rng.gamma(shape, size=wanted) for wanted in ((length, size), (length, 7), size))
    return ProfileHMM.of(*(values + 0.01 for values in numbers))


def naive_of(model):
    return naive_hmm.Model(model.emissions.tolist(), model.steps.tolist(), model.background.tolist())


def sequence_set(records, alphabet=DNA):
    offsets = np.cumsum([0, *map(len, records)])
    codes = np.concatenate([np.zeros(0, np.uint8), *records]).astype(np.uint8)
    return SequenceSet.from_offsets(codes, offsets, [f"s{i}" for i in range(len(records))], alphabet)


def random_records(lengths=(0, 1, 3, 9, 17, 40), size=4, seed=1):
    """One letter in five is masked; one record is all masked, one has one letter only."""
    rng = np.random.default_rng(seed)
    records = [rng.integers(0, size + 1, size=n) for n in lengths]
    return [*(np.where(x == size, MASK, x) for x in records), np.full(5, MASK), np.full(12, size - 1)]


def letters(codes):
    return [None if code == MASK else int(code) for code in codes]


@pytest.fixture(params=range(loops.level() + 1))
def level(request):
    loops.set_level(request.param)
    yield request.param
    loops.set_level(2)


# ---- the recursions ------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "size"), [*((length, 4) for length in LENGTHS), (5, 20)])
def test_scores_are_those_computed_in_logarithms(length, size):
    model, records = random_model(length, size), random_records(size=size)
    scores, odds = model.score(sequence_set(records, DNA if size == 4 else PROTEIN), True)
    for codes, own, value in zip(records, scores, odds, strict=True):
        naive, x = naive_of(model), letters(codes)
        expected = np.array(naive_hmm.fisher_scores(naive, x))
        assert value == pytest.approx(naive_hmm.forward(naive, x)[1], rel=1e-11)
        np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_every_level_and_any_number_of_kept_rows_give_the_same_bits(level):
    for length in (3, 8, 21):
        model, X = random_model(length), sequence_set(random_records())
        loops.set_level(0)
        scores, odds = model.score(X, True)
        loops.set_level(level)
        for kept in (0, 1, 8, 16):
            again, same_odds = model.score(X, True, kept_rows=kept)
            np.testing.assert_array_equal(again, scores)
            np.testing.assert_array_equal(same_odds, odds)
            alone, _ = model.score(X, False, kept_rows=kept)
            np.testing.assert_array_equal(alone, scores[:, : model.emissions.size])


@pytest.mark.parametrize("length", [1, 2, 3])
def test_likelihood_is_the_sum_over_all_paths(length):
    model = random_model(length)
    for x in ([], [0], [3, 1], [2, None, 0], [1, 1, 1, 0]):
        _, odds = model.score(sequence_set([np.array([MASK if a is None else a for a in x], np.uint8)]))
        assert odds[0] == pytest.approx(naive_hmm.odds_by_paths(naive_of(model), x), rel=1e-11)


def test_scores_are_the_slopes_of_the_likelihood():
    model, codes = random_model(3), np.array([2, 0, MASK, 1, 1, 3, 0])
    scores, _ = model.score(sequence_set([codes]), True)

    def likelihood(which, place, step):
        changed = {"emissions": model.emissions.copy(), "steps": model.steps.copy()}
        changed[which][place] += step
        again = ProfileHMM.of(changed["emissions"], changed["steps"], model.background)  # θ_s sums to 1 again
        return naive_hmm.forward(naive_of(again), letters(codes))[1]

    slopes = []
    for which in ("emissions", "steps"):
        for place, value in np.ndenumerate(getattr(model, which)):
            step = 1e-4 * value
            difference = likelihood(which, place, step) - likelihood(which, place, -step)
            slopes.append(difference / (2 * step) if value > 0 else 0.0)
    np.testing.assert_allclose(scores[0], slopes, rtol=1e-6, atol=1e-6)


def test_threads_and_neighbours_change_nothing():
    rng = np.random.default_rng(2)
    model = random_model(30)
    X = sequence_set([rng.integers(0, 4, size=n) for n in rng.integers(0, 60, size=40)])
    scores, odds = model.score(X, True, n_threads=1)
    for n_threads in (2, 3):
        again, same = model.score(X, True, n_threads=n_threads)
        np.testing.assert_array_equal(again, scores)
        np.testing.assert_array_equal(same, odds)
    np.testing.assert_array_equal(model.score(X.take([7, 0, 3]), True)[0], scores[[7, 0, 3]])
    assert model.score(X.take([]))[0].shape == (0, 120)


def consensus_model(length, delete=0.3, seed=3):
    """A model that likes one letter in each column, and the letters."""
    word = np.random.default_rng(seed).integers(0, 4, size=length)
    steps = np.tile([0.98, 0.01, 0.01, 0.6, 0.4, 1 - delete, delete], (length, 1))
    return ProfileHMM.of(0.01 + 0.96 * np.eye(4)[word], steps, np.full(4, 0.25)), word


@pytest.mark.parametrize("length", [40, 700])
def test_of_two_copies_each_has_half_however_far_they_are_from_the_range_of_doubles(length):
    model, word = consensus_model(length)
    between = np.random.default_rng(4).integers(0, 4, size=50)
    codes = np.concatenate((word, between, word)).astype(np.uint8)
    # Odds of 3.88 in each column; delete states alone have 0.3, so that forward values span 700·(ln 3.88 − ln 0.3).
    chances = model.posteriors(codes)
    first, second = chances[:length], chances[-length:]
    np.testing.assert_allclose(np.diagonal(first), 0.5, atol=0.02)
    np.testing.assert_allclose(first, second, atol=1e-3)
    assert chances[length:-length].max() < 0.1
    one_path = length * math.log(0.97 / 0.25) + (length - 1) * math.log(0.98) + math.log(0.98 / 0.99)
    outside = (len(codes) - length) * math.log(350 / 351) + 2 * math.log(1 / 351)
    _, odds = model.score(sequence_set([codes]))
    assert odds[0] == pytest.approx(math.log(2) + one_path + outside, abs=0.1)


def test_long_sequences_are_scored_in_little_memory_to_the_same_bits():
    model, word = consensus_model(12)
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, size=35_000)
    codes[20_000:20_012] = word
    X = sequence_set([codes])
    scores, odds = model.score(X, True)
    again, same = model.score(X, True, kept_rows=35_001)
    np.testing.assert_array_equal(scores, again)
    assert odds == same
    assert np.isfinite(scores).all()
    assert model.posteriors(codes.astype(np.uint8))[20_003, 3] > 0.9


def test_probabilities_of_zero_are_no_parameters_and_make_no_nan():
    emissions = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4])
    steps = np.array([[1, 0, 0, 0, 0, 0, 0], [0.5, 0.5, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 0, 0]])
    model = ProfileHMM.of(emissions, steps, [0.4, 0.3, 0.2, 0.1])
    records = [np.array(x) for x in ([0, 1, 2], [2, 2, 0, 3, 1, 3, 3], [0, 0], [2, 3, 2, 3, 3], [])]
    scores, odds = model.score(sequence_set(records), True)
    assert np.isfinite(scores).all()
    assert np.isfinite(odds).tolist() == [True, True, False, False, False]
    assert not scores[2:].any()
    zero = np.concatenate((model.emissions.reshape(-1), model.steps.reshape(-1))) == 0
    assert not scores[:, zero].any()
    for codes, own in zip(records[:2], scores, strict=False):
        np.testing.assert_allclose(own, naive_hmm.fisher_scores(naive_of(model), letters(codes)), atol=1e-12)
    assert np.isfinite(model.information(True)).all()
    assert not model.information(True)[zero].any()


def test_information_is_that_of_the_visits_of_a_walk_through_the_model():
    model = random_model(4)
    naive = naive_of(model)
    places = {state: i for i, state in enumerate(naive.order())}
    steps = np.zeros((len(places), len(places)))
    for a, b, chance in naive.moves():
        if a[0] != "N" and b != ("E", 0):
            steps[places[a], places[b]] = chance
    visits = np.linalg.inv(np.eye(len(places)) - steps)[places["B", 0]]
    expected = []
    for k in range(4):
        expected += [visits[places["M", k + 1]] * (1 - p) / p for p in model.emissions[k]]
    for k in range(4):
        states = [("M", k) if k else ("B", 0), ("I", k), ("D", k)]
        for state, group in zip(states, (slice(0, 3), slice(3, 5), slice(5, 7)), strict=True):
            own = visits[places[state]] if state in places else 0.0
            expected += [own * (1 - p) / p if p > 0 else 0.0 for p in model.steps[k][group]]
    np.testing.assert_allclose(model.information(True), expected, rtol=1e-12)


# ---- building ------------------------------------------------------------------------------------


def test_a_model_of_related_sequences_has_their_letters():
    model = build_profile(encode(["ACGTTACG", "ACGTACG", "ACGTTACC", "GGACGTTACG"], DNA))
    assert "".join("ACGT"[a] for a in model.emissions.argmax(axis=1)) == "ACGTTACG"
    again = build_profile(encode(["ACGTTACG", "ACGTACG", "ACGTTACC", "GGACGTTACG"], DNA))
    np.testing.assert_array_equal(model.emissions, again.emissions)
    np.testing.assert_array_equal(model.steps, again.steps)
    np.testing.assert_allclose(model.emissions.sum(axis=1), 1)
    assert model.steps[0, [1, 3, 4, 5, 6]].tolist() == [0, 0, 0, 0, 0]


def test_columns_that_few_sequences_have_are_no_columns_of_the_model():
    word, long = "MKVLWAETRHGFDNCYPQIS", "GFDEKLNRSTWYHVIAQMPC" * 2
    strings = [word[:i] + "A" + word[i + 1 :] for i in range(10)] + [long + word] * 2
    assert build_profile(encode(strings, PROTEIN)).length == len(word)


def test_rna_has_the_model_of_dna():
    dna = build_profile(encode(["ACGTTACG", "ACGTACG"], DNA))
    rna = build_profile(encode(["ACGUUACG", "ACGUACG"], RNA))
    np.testing.assert_array_equal(dna.emissions, rna.emissions)


def test_few_sequences_or_none_have_a_model_too():
    assert build_profile(encode(["MKVLW"], PROTEIN)).length == 5
    assert build_profile(encode(["A", "C"], DNA)).length == 1
    for strings in ([], ["", "***"]):
        model = build_profile(encode(strings, DNA))
        np.testing.assert_allclose(model.emissions, 0.25)
        assert model.length == 1


def test_other_alphabets_have_no_profile_hmm():
    with pytest.raises(SequenceError, match="alphabet HEC; choose model=markov"):
        build_profile(encode(["HHEC"], "HEC"))


# ---- reading -------------------------------------------------------------------------------------


def write_models(path, *builds):
    """Write models of (name, strings, alphabet) as HMMER3 files are, and return pyhmmer's own."""
    models = []
    for name, strings, alphabet in builds:
        kind = getattr(pyhmmer.easel.Alphabet, alphabet)()
        rows = [pyhmmer.easel.TextSequence(name=b"%d" % i, sequence=text) for i, text in enumerate(strings)]
        alignment = pyhmmer.easel.TextMSA(name=name, sequences=rows).digitize(kind)
        models.append(pyhmmer.plan7.Builder(kind).build_msa(alignment, pyhmmer.plan7.Background(kind))[0])
    with open(path, "wb") as file:
        for model in models:
            model.write(file)
    return models


@pytest.mark.parametrize(("kind", "alphabet"), [("dna", DNA), ("rna", RNA), ("amino", PROTEIN)])
def test_models_of_a_file_are_those_that_hmmer_reads(tmp_path, kind, alphabet):
    strings = ["ACGACGA", "ACCACGA", "AC-ACGA"]
    write_models(tmp_path / "two.hmm", (b"one", strings, kind), (b"two", strings[:2], kind))
    models, found = read_profiles(tmp_path / "two.hmm")
    assert found == alphabet
    with pyhmmer.plan7.HMMFile(tmp_path / "two.hmm") as file:
        originals = list(file)
    for model, original in zip(models, originals, strict=True):
        assert model.length == original.M
        np.testing.assert_allclose(model.emissions, np.asarray(original.match_emissions)[1:], atol=1e-5)
        steps = np.asarray(original.transition_probabilities)[:-1]
        np.testing.assert_allclose(model.steps[1:], steps[1:], atol=1e-5)
        np.testing.assert_allclose(model.steps[0, [0, 2]], steps[0, [0, 2]] / (1 - steps[0, 1]), atol=1e-5)
    np.testing.assert_allclose(models[0].background, background(alphabet), rtol=1e-6)


def test_files_that_are_no_models_are_errors_that_name_them(tmp_path):
    good = tmp_path / "good.hmm"
    write_models(good, (b"one", ["ACGACGA", "ACCACGA"], "dna"))
    text = good.read_text()
    write_models(tmp_path / "protein.hmm", (b"two", ["MKV", "MKI"], "amino"))
    contents = {
        "": "empty",
        "a text\n": "not a HMMER file",
        text[: len(text) // 2]: "HMM 1",
        text + text[: len(text) // 2]: "HMM 2",
        text + (tmp_path / "protein.hmm").read_text(): "different alphabets",
    }
    for number, (content, message) in enumerate(contents.items()):
        bad = tmp_path / f"bad{number}.hmm"
        bad.write_text(content)
        with pytest.raises(FileError, match=message) as error:
            read_profiles(bad)
        assert str(bad) in str(error.value)
    with pytest.raises(FileError, match="no such file"):
        read_profiles(tmp_path / "missing.hmm")


def test_a_model_that_is_cut_off_anywhere_is_an_error_packed_or_not(tmp_path):
    path = tmp_path / "two.hmm"
    write_models(path, (b"one", ["ACGACGA"], "dna"), (b"two", ["ACCACGA"], "dna"))
    text, last = path.read_bytes(), path.read_bytes().rindex(b"HMMER3/")
    for place in [*range(last + 1, len(text) - 2, 7), len(text) - 2]:
        for content in (text[:place], gzip.compress(text[:place])):
            path.write_bytes(content)
            with pytest.raises(FileError, match="record 'HMM 2'") as error:
                read_profiles(path)
            assert str(path) in str(error.value)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_and_truncated_ones_refused(tmp_path, pack):
    plain, packed = tmp_path / "plain.hmm", tmp_path / "packed.hmm"
    write_models(plain, (b"one", ["ACGACGA", "ACCACGA"], "dna"))
    packed.write_bytes(pack(plain.read_bytes()))
    np.testing.assert_array_equal(read_profiles(packed)[0][0].emissions, read_profiles(plain)[0][0].emissions)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"packed\.hmm: is truncated"):
        read_profiles(packed)


def test_the_name_of_a_file_is_no_command_and_leads_to_no_other_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a;touch PWNED;b.gz", "$(touch PWNED).gz", "x.hmm"):
        write_models(name, (b"one", ["ACGACGA"], "dna"))
        assert read_profiles(name)[0][0].length == 7
    # What hmmpress makes is beside it, of another model.
    write_models("y.hmm", (b"two", ["ACGACGACG"], "dna"))
    with pyhmmer.plan7.HMMFile("y.hmm") as file:
        pyhmmer.hmmer.hmmpress(file, "x.hmm")
    assert Path("x.hmm.h3m").exists()
    assert read_profiles("x.hmm")[0][0].length == 7
    assert not Path("PWNED").exists()


@pytest.mark.skipif(not PFAM.is_dir(), reason="needs the public data")
def test_globins_score_as_in_hmmsearch():
    models, alphabet = read_profiles(PFAM / "globins4.hmm")
    texts = [
        record.split("\n", 1)[1].replace("\n", "") for record in (PFAM / "globins45.fa").read_text().split(">")[1:]
    ]
    rng = np.random.default_rng(1)
    texts += ["".join(rng.permutation([*text])) for text in texts[:10]]
    _, odds = models[0].score(encode(texts, alphabet))
    kind = pyhmmer.easel.Alphabet.amino()
    records = [pyhmmer.easel.TextSequence(name=b"%d" % i, sequence=text) for i, text in enumerate(texts)]
    with pyhmmer.plan7.HMMFile(PFAM / "globins4.hmm") as file:
        block = pyhmmer.easel.DigitalSequenceBlock(kind, [record.digitize(kind) for record in records])
        hits = pyhmmer.plan7.Pipeline(kind, bias_filter=False, F1=1, F2=1, F3=1, E=1e9).search_hmm(next(file), block)
    theirs = {int(hit.name): hit.pre_score for hit in hits}
    assert odds[:45].min() > odds[45:].max() + 20
    common = [i for i in range(45) if i in theirs]
    assert len(common) == 45
    bits = odds[common] / math.log(2)
    assert np.corrcoef(bits, [theirs[i] for i in common])[0, 1] > 0.9


# ---- Markov chains -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, 2])
def test_scores_of_a_markov_chain_are_counted_words(order):
    strings, train = ["HEC", "", "HHHHHH", "HE*CCEH", "***", "CCEEH*H"], ["HEHCC", "EE", "H*CEC"]
    chain = MarkovChain.learn(encode(train, "HEC"), order, 0.5)
    scores, logs = chain.score(encode(strings, "HEC"))
    expected = naive_hmm.markov_scores(strings, train, "HEC", order, 0.5)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    words = [word.split("*") for word in strings]
    table = dict(zip(np.ndindex(*[3] * (order + 1)), chain.chances.reshape(-1), strict=True))
    for parts, value in zip(words, logs, strict=True):
        codes = [["HEC".index(letter) for letter in part] for part in parts]
        total = sum(math.log(table[tuple(c[i : i + order + 1])]) for c in codes for i in range(len(c) - order))
        assert value == pytest.approx(total)


def test_words_are_counted_alike_in_pieces(monkeypatch):
    X = encode(["HEC", "", "HHHHHH", "HE*CCEH"], "HEC")
    chain = MarkovChain.learn(X, 1, 1.0)
    whole = chain.score(X)[0]
    monkeypatch.setattr("seqkern.kernels.models.fisher.CHUNK_ENTRIES", 1)
    np.testing.assert_array_equal(chain.score(X)[0], whole)
    np.testing.assert_array_equal(MarkovChain.learn(X, 1, 1.0).chances, chain.chances)
    np.testing.assert_allclose(chain.visits.sum(), (11 + 9) / 4)
