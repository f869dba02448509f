"""Hard negatives: which windows are added, and that positives' own places never are."""

import io

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ModelError
from seqkern.kernels import SpectrumKernel, WeightedDegreeKernel
from seqkern.methods.loading import load_model
from seqkern.methods.scan import Hardest, find_hard_negatives, with_negatives
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.windows import Window

WINDOW = Window(4, 4, "GT")


def sites(n=20, seed=1):
    """Return windows around GT and their labels: positives have AG before and AAG after it."""
    rng = np.random.default_rng(seed)
    draw = ["".join(rng.choice([*"ACGT"], size=9)) for _ in range(2 * n)]
    strings = [f"{s[:2]}AGGTAAG" if i < n else f"{s[:4]}GT{s[6:]}" for i, s in enumerate(draw)]
    X = as_sequences(strings, "dna")
    return X, make_labels(X.ids, ["site"] * n + ["other"] * n, positive="site")


def site_model():
    """Return a model of windows around GT, with its training samples."""
    X, labels = sites()
    return train_model(X, labels, WeightedDegreeKernel(2), "csvc:C=1", notes={"window": WINDOW.record()}), X, labels


def test_candidates_of_a_site_by_brute_force():
    model, X, labels = site_model()
    rng = np.random.default_rng(2)
    text = "".join(rng.choice([*"ACGT"], size=3000)) + "".join(X.strings())
    windows, decisions = find_hard_negatives(model, io.StringIO(f">c\n{text}\n"), X, labels, number=10)
    complement = str.maketrans("ACGT", "TGCA")
    both = [text, text[::-1].translate(complement)]
    every = {s[i - 4 : i + 5] for s in both for i in range(4, len(s) - 4) if s[i : i + 2] == "GT"} - set(X.strings())
    ranked = np.sort(model.decision(sorted(every)))[::-1][:10]
    np.testing.assert_allclose(decisions, ranked)
    np.testing.assert_allclose(model.decision(windows.strings()), decisions)
    assert set(windows.strings()).isdisjoint(X.strings())


def test_places_of_positives_without_a_site():
    """A genome that holds the positives, on both strands: no window overlaps them by 16 bases."""
    rng = np.random.default_rng(3)
    positives = ["".join(rng.choice([*"ACCC"], size=40)) for _ in range(6)]
    negatives = ["".join(rng.choice([*"GGGT"], size=40)) for _ in range(6)]
    X = as_sequences(positives + negatives, "dna")
    labels = make_labels(X.ids, ["peak"] * 6 + ["other"] * 6, positive="peak")
    model = train_model(X, labels, SpectrumKernel(3), "csvc:C=1")
    filler = ["".join(rng.choice([*"ACGT"], size=53)) for _ in range(7)]
    back = str.maketrans("ACGT", "TGCA")
    placed = [one if i % 2 else one[::-1].translate(back) for i, one in enumerate(positives)]
    text = filler[0] + "".join(a + b for a, b in zip(placed, filler[1:], strict=True))
    windows, _ = find_hard_negatives(model, io.StringIO(f">c\n{text}\n"), X, labels, number=500)
    every = {text[i : i + 40] for i in range(0, len(text) - 39, 20)}
    words = {one[i : i + 16] for one in placed for i in range(25)}
    own = {one for one in every if any(one[i : i + 16] in words for i in range(25))}
    assert own
    assert set(windows.strings()) == every - own


def test_pieces_of_any_size_give_the_same(monkeypatch):
    X, labels = sites()
    model = train_model(X, labels, SpectrumKernel(2), "csvc:C=1")  # no window around sites
    rng = np.random.default_rng(4)
    text = "".join(f">r{i}\n{''.join(rng.choice([*'ACGTN'], size=331, p=[0.24] * 4 + [0.04]))}\n" for i in range(3))
    whole, decisions = find_hard_negatives(model, io.StringIO(text), X, labels, number=20)
    from seqkern.sequences import streaming

    pieces = streaming.iter_pieces
    monkeypatch.setattr("seqkern.methods.scan.iter_pieces", lambda source, alphabet: pieces(source, alphabet, block=17))
    again, same = find_hard_negatives(model, io.StringIO(text), X, labels, number=20)
    assert whole.strings() == again.strings()
    np.testing.assert_array_equal(decisions, same)


def test_memory_is_bounded_and_the_seed_breaks_ties():
    rng = np.random.default_rng(0)
    windows = rng.integers(0, 4, (5000, 8), dtype=np.uint8)
    decisions = rng.integers(0, 5, 5000).astype(float)

    def best(seed, order):
        hardest = Hardest(30, {windows[0].tobytes()}, seed)
        for part in np.array_split(order, 7):
            hardest.add(windows[part], decisions[part])
            assert len(hardest._found) <= 4 * 30
        return hardest.ranked()

    first = best(1, np.arange(5000))
    assert first == best(1, rng.permutation(5000))
    assert first != best(2, np.arange(5000))
    assert [decision for _, decision in first] == [4.0] * 30


def test_ids_and_groups_of_added_samples():
    X, labels = sites(3)
    more, marks = with_negatives(X, labels, as_sequences(["ACGTACGTA"] * 2, "dna"), "h")
    assert len(set(more.ids)) == 8
    twice, _ = with_negatives(more, marks, as_sequences(["ACGTACGTA"], "dna"), "h")
    assert len(set(twice.ids)) == 9
    assert marks.y.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_models_of_several_classes_are_refused():
    X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT", "CTCT", "CCTC"], "dna")
    labels = make_labels(X.ids, list("aabbcc"))
    model = train_model(X, labels, SpectrumKernel(2), "csvc")
    with pytest.raises(ModelError, match="two classes"):
        find_hard_negatives(model, io.StringIO(">c\nACGT\n"), X, labels, number=1)


# ---- seqkern train -----------------------------------------------------------------------------------------


def files(tmp_path):
    """Write a simulated genome with its sites, and return the arguments of training."""
    prefix = str(tmp_path / "g")
    main(["simulate", "genome", "-o", prefix, "--n-letters", "8000", "--n-sites", "20", "--n-others", "40"])
    return [
        *("train", f"{prefix}.fasta", "--sites", f"{prefix}.tsv", "--site", "GT", "--window", "-9:+9"),
        *("--positive", "donor", "--kernel", "weighted_degree:degree=3", "--solver", "csvc:C=1"),
        *("-o", str(tmp_path / "m.seqkern")),
    ]


def test_rounds_on_the_command_line(tmp_path, capsys):
    args = files(tmp_path)
    genome = str(tmp_path / "g.fasta")
    main([*args, "--hard-negatives", genome, "--hard-number", "30", "--hard-rounds", "2", "--verbose"])
    out = capsys.readouterr().out
    assert "round 1: 30 windows added" in out
    assert "round 2: 30 windows added" in out
    record = load_model(tmp_path / "m.seqkern").record
    assert [one["added"] for one in record["hard_negatives"]] == [30, 30]
    assert record["n"] == 180


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hard-number", "3"], "--hard-number needs --hard-negatives"),
        (["--hard-negatives", "GENOME", "--cv", "3"], "not part of the cross-validation"),
        (["--hard-negatives", "-"], "cannot be piped"),
        (["--hard-negatives", "GENOME", "--hard-rounds", "0"], "--hard-rounds"),
        (["--hard-negatives", "missing.fa"], "missing.fa"),
    ],
)
def test_refused_before_training(tmp_path, capsys, options, message):
    args = files(tmp_path)
    assert main([*args, *(option.replace("GENOME", str(tmp_path / "g.fasta")) for option in options)]) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m.seqkern").exists()
