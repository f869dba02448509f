"""Models of residues: trained on chains with states, saved, applied to whole chains, drawn."""

import copy
import csv
import io
import re

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.cli.requests_training import REDUCTIONS
from seqkern.core.errors import ModelError
from seqkern.formats import residue_samples
from seqkern.formats import states as reductions
from seqkern.methods.loading import load_model
from seqkern.methods.residue_model import ResidueModel
from seqkern.sequences.fasta import read_fasta
from seqkern.simulate import simulate

LAYERS = ["--layers", "structure:n_components=60,window=7", "segments", "probabilities"]
FEATURES = ["--kernel", "nystroem:base=(window:gamma=0.1),n_components=100", "--solver", "primal_svc:C=1"]
GRAM = ["--kernel", "weighted_degree:degree=2", "--solver", "csvc:C=0.1"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    for name, seed in (("old", 1), ("new", 2)):
        data = ["secondary_structure", "--n-chains", "20", "--mean-length", "60"]
        assert main(["simulate", *data, "--seed", str(seed), "-o", str(folder / name)]) == 0
    return folder


@pytest.fixture(scope="module")
def models(home):
    ways = {
        "layers": [*FEATURES, *LAYERS],
        "gram": GRAM,
        "binary": [*GRAM, "--positive", "H", "--calibration", "platt"],
    }
    for name, way in ways.items():
        assert main([*train(home), *way, "--folds", "3"][: None if name != "gram" else -2] + out(home, name)) == 0
    return {name: load_model(home / f"{name}.seqkern") for name in ways}


def test_train_tells_chains_and_held_out_score(home, capsys):
    capsys.readouterr()
    assert main([*train(home), *FEATURES, "--layers", "probabilities", "--folds", "3", *out(home, "told")]) == 0
    told = capsys.readouterr().out
    assert "residues of 20 chains (H: " in told
    line = r"held out +Q3 (0\.\d{4}) of the first classifier, before the layers; Q3 after them: --cv 5, or seqkern cv\n"
    share = float(re.search(line, told)[1])
    assert 0.4 < share < 1


def test_the_score_after_the_layers_is_the_estimate(home, capsys):
    quick = ["--kernel", "nystroem:base=(window:gamma=0.1),n_components=20", "--solver", "primal_svc:C=1"]
    capsys.readouterr()
    given = [*train(home), *quick, "--layers", "probabilities", "--folds", "2"]
    assert main([*given, "--cv", "2", *out(home, "estimated")]) == 0
    told = capsys.readouterr().out
    assert "before the layers; Q3 after them: the estimate above\n" in told
    train_score, scored = (re.search(r"\n.* Q3 +(0\.\d+) ", told)[1], ["cv", *given[2:-2], "--inner-folds", "2"])
    assert main([*scored, "--folds", "2"]) == 0
    assert re.search(r"\nQ3 +(0\.\d+) ", capsys.readouterr().out)[1] == train_score


def test_q3_is_a_name_of_accuracy(home, capsys):
    scored = []
    for name in ("q3", "accuracy"):
        few = ["--kernel", "nystroem:base=(window:gamma=0.1),n_components=20", "--solver", "primal_svc:C=[0.1,1]"]
        capsys.readouterr()
        assert main([*train(home), *few, "--search", "--folds", "2", "--metric", name, *out(home, "q3")]) == 0
        scored.append(re.search(r"score +best of \d+: .*? (0\.\d+), corrected", capsys.readouterr().out)[1])
    assert scored[0] == scored[1]


def train(home):
    return ["train", "--verbose", str(home / "old.fasta"), "--states", str(home / "old.states"), "--window", "7"]


def out(home, name):
    return ["-o", str(home / f"{name}.seqkern")]


def predicted(capsys, home, name, *more, fasta="new.fasta"):
    capsys.readouterr()
    assert main(["predict", str(home / f"{name}.seqkern"), str(home / fasta), *more]) == 0
    return capsys.readouterr()


def scores(said):
    """Return the scores on standard error by their names."""
    lines = [re.fullmatch(r"  (\S.*?) +(\d\.\d{4})  \S.*", line) for line in said.err.splitlines()]
    return {line[1]: line[2] for line in lines if line}


def refused(capsys, *args):
    capsys.readouterr()
    assert main(list(map(str, args))) in (1, 2)
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_a_saved_model_decides_as_its_parts(home, models):
    chains = read_fasta(home / "new.fasta", "protein")
    model = models["layers"]
    assert isinstance(model, ResidueModel)
    residues, decided = model.decide(chains)
    windows, expected = residue_samples(chains, 7)
    np.testing.assert_array_equal(residues.place, expected.place)
    again = model.layers.decide(model.windows.decision(windows), expected)
    np.testing.assert_array_equal(decided.scores, again.scores)
    np.testing.assert_array_equal(decided.predicted, again.predicted)
    np.testing.assert_allclose(decided.probabilities.sum(axis=1), 1)
    assert {"H", "E", "C"} == set(model.classes)
    residues, decided = models["gram"].decide(chains)
    assert decided.probabilities is None
    np.testing.assert_array_equal(decided.predicted, models["gram"].windows.decision(windows).argmax(axis=1))


def test_scores_that_are_not_finite_are_refused(home, models):
    model = copy.deepcopy(models["layers"])
    decide = model.layers.decide
    model.layers.decide = lambda *given: decide(*given)._replace(scores=np.full((len(given[0]), 3), np.inf))
    with pytest.raises(ModelError, match=r"record '.*': the decision is inf"):
        model.decide(read_fasta(home / "new.fasta", "protein").take([0]))


def test_it_learned_what_was_simulated(home, models):
    chains = read_fasta(home / "new.fasta", "protein")
    true = np.array(list("".join(line for line in (home / "new.states").read_text().split("\n") if line[:1] != ">")))
    for name in ("layers", "gram"):
        found = np.array(models[name].classes)[models[name].decide(chains)[1].predicted]
        usual = max(np.mean(true == state) for state in "HEC")
        assert np.mean(found == true) > usual + 0.1


def test_a_chain_is_decided_alone_as_among_others(home, models):
    chains = read_fasta(home / "new.fasta", "protein")
    for model in models.values():
        residues, together = model.decide(chains)
        _, alone = model.decide(chains.take([3]))
        np.testing.assert_array_equal(alone.scores, together.scores[residues.record == 3])


def test_the_table_has_a_line_for_each_residue(home, models, capsys):
    said = predicted(capsys, home, "layers", "--states", str(home / "new.states"))
    rows = list(csv.DictReader(io.StringIO(said.out), delimiter="\t"))
    chains = read_fasta(home / "new.fasta", "protein")
    assert [(row["id"], int(row["position"]), row["letter"]) for row in rows] == [
        (name, place, letter)
        for name, text in zip(chains.ids, chains.strings(), strict=True)
        for place, letter in enumerate(text, start=1)
    ]
    shares = np.array([[float(row[f"probability:{state}"]) for state in "HEC"] for row in rows])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    right = np.mean([row["true"] == row["predicted"] for row in rows])
    assert scores(said)["Q3"] == f"{right:.4f}"
    assert f"{len(rows)} residues of 20 chains have a known state" in said.err
    plain = predicted(capsys, home, "layers").out
    assert [line.split("\t")[4] for line in said.out.splitlines()] == [
        line.split("\t")[3] for line in plain.splitlines()
    ]
    assert "confidence" not in predicted(capsys, home, "gram").out.splitlines()[0]


def test_one_state_against_the_others(home, models, capsys):
    said = predicted(capsys, home, "binary", "--states", str(home / "new.states"))
    rows = list(csv.DictReader(io.StringIO(said.out), delimiter="\t"))
    assert {row["predicted"] for row in rows} == {"H", "not H"}
    for row in rows:
        assert (row["predicted"] == "H") == (float(row["probability:H"]) > 0.5)
    right = np.mean([(row["true"] == "H") == (row["predicted"] == "H") for row in rows])
    assert scores(said)["Q2"] == f"{right:.4f}"


def test_tracks_show_the_predicted_states(home, models, capsys):
    rows = list(csv.DictReader(io.StringIO(predicted(capsys, home, "layers").out), delimiter="\t"))
    states = "".join(row["predicted"] for row in rows if row["id"] == "chain2")
    text = predicted(capsys, home, "layers", "--chain", "chain2").out
    drawn = [line.split()[1] for line in text.splitlines() if line.startswith("predicted")]
    assert "".join(drawn) == states
    assert predicted(capsys, home, "layers", "--track").out.count(" residues") == 20
    predicted(capsys, home, "layers", "--chain", "chain2", "-o", str(home / "t.svg"))
    assert (home / "t.svg").read_text().startswith("<svg")
    predicted(capsys, home, "layers", "--track", "-o", str(home / "t.html"))
    page = (home / "t.html").read_text()
    assert page.count("<svg") == 20
    assert page.count("<h1>States predicted by layers.seqkern</h1>") == 1
    assert "Confidence is the difference" in page


def test_dssp_states_are_reduced_as_in_training(home, capsys):
    data = simulate("secondary_structure", n_chains=6, mean_length=30)
    chains = data.sequences
    dssp = {ord("H"): "G", ord("E"): "B", ord("C"): "T"}
    states = "".join(
        f">{name}\n{''.join(dssp[code] for code in chains.tracks['states'][a:b].tolist())}\n"
        for name, a, b in zip(chains.ids, chains.starts, chains.stops, strict=True)
    )
    (home / "dssp.fasta").write_text(
        "".join(f">{name}\n{text}\n" for name, text in zip(chains.ids, chains.strings(), strict=True))
    )
    (home / "dssp.states").write_text(states)
    given = ["train", home / "dssp.fasta", "--states", home / "dssp.states", "--reduction", "HGI_EB", *GRAM]
    assert main([*map(str, given), *out(home, "dssp")]) == 0
    assert set(load_model(home / "dssp.seqkern").classes) == {"H", "E", "C"}
    said = predicted(capsys, home, "dssp", "--states", str(home / "dssp.states"), fasta="dssp.fasta")
    assert "Q3" in scores(said)
    assert {row["true"] for row in csv.DictReader(io.StringIO(said.out), delimiter="\t")} == {"H", "E", "C"}
    three = states.translate({ord("G"): "H", ord("B"): "E", ord("T"): "C"})
    (home / "three.states").write_text(three)  # ids are of small letters
    again = predicted(capsys, home, "dssp", "--states", str(home / "three.states"), fasta="dssp.fasta")
    assert (again.out, again.err) == (said.out, said.err)


@pytest.fixture(scope="module")
def together(home):
    """A file of letters and states together, of the new chains."""
    parts = [dict(records(home / f"new.{form}")) for form in ("fasta", "states")]
    text = "".join(f">{name}\n{parts[0][name]}\n{parts[1][name]}\n" for name in parts[0])
    (home / "new.ss3").write_text(text)
    return home / "new.ss3"


def records(path):
    """Yield (id, text) of FASTA."""
    for record in path.read_text().split(">")[1:]:
        head, *lines = record.split("\n")
        yield head.split()[0], "".join(lines)


def test_letters_and_states_together_are_one_file(home, models, together, capsys):
    said = predicted(capsys, home, "layers", "--states", str(together), fasta="new.ss3")
    assert said == predicted(capsys, home, "layers", "--states", str(home / "new.states"))
    for name, files in (("two", ["new.fasta", "new.states"]), ("one", ["new.ss3", "new.ss3"])):
        given = [home / files[0], "--states", home / files[1], "--window", 7, *GRAM]
        assert main(list(map(str, ["train", *given, *out(home, name)]))) == 0
    one, two = (predicted(capsys, home, name) for name in ("one", "two"))
    assert one.out == two.out
    line = refused(capsys, "predict", home / "one.seqkern", together, "--states", home / "new.states")
    assert "residues and states together" in line


def test_states_in_place_of_sequences_are_noticed(home, models, together, capsys):
    warned = predicted(capsys, home, "layers", fasta="new.states").err
    assert "new.states: all records, from 'chain1' on, consist of letters of states" in warned
    warned = predicted(capsys, home, "layers", fasta="new.ss3").err
    assert warned.count("\n") == 1
    assert "new.ss3: the second half of record 'chain1' looks like the states of its first half" in warned
    assert predicted(capsys, home, "layers").err == ""


def test_residues_of_states_that_the_model_lacks_are_not_scored_and_counted(home, models, capsys):
    turns = home / "turns.states"
    turns.write_text((home / "new.states").read_text().replace("EE", "TT"))
    said = predicted(capsys, home, "gram", "--states", str(turns))
    turned = sum(line.count("T") for line in turns.read_text().split("\n") if line[:1] != ">")
    assert f"seqkern: {turned} residues have states unknown to the model and are not scored: T\n" in said.err
    rows = list(csv.DictReader(io.StringIO(said.out), delimiter="\t"))
    right = np.mean([row["true"] == row["predicted"] for row in rows if row["true"] != "T"])
    assert scores(said)["Q3"] == f"{right:.4f}"


def test_states_of_further_chains_are_left_out_and_counted(home, models, capsys):
    more = home / "more.states"
    more.write_text((home / "new.states").read_text() + ">other\nHHH\n>another\nEE\n")
    said, plain = (
        predicted(capsys, home, "gram", "--states", str(home / f"{name}.states")) for name in ("more", "new")
    )
    note = f"seqkern: {more}: 2 chains with states but no sequence left out\n"
    assert (said.out, said.err) == (plain.out, note + plain.err)
    assert main(list(map(str, ["train", home / "new.fasta", "--states", more, *GRAM, *out(home, "more")]))) == 0
    assert ": 2 chains with states but no sequence left out\n" in capsys.readouterr().err


def test_help_names_the_reductions():
    assert list(REDUCTIONS) == list(reductions.REDUCTIONS)


def test_mistakes_are_told_in_one_line(home, models, capsys):
    model, new, old = home / "layers.seqkern", home / "new.fasta", home / "old.fasta"
    assert "no chain 'x'" in refused(capsys, "predict", model, new, "--chain", "x")
    assert "add --track" in refused(capsys, "predict", model, new, "-o", home / "x.svg")
    assert "holds one chain" in refused(capsys, "predict", model, new, "--track", "-o", home / "x.svg")
    assert not (home / "x.svg").exists()
    assert ".png is not an ending of this output; end it in" in refused(
        capsys, "predict", model, new, "--track", "-o", home / "x.png"
    )
    assert "every residue" in refused(capsys, "predict", model, new, "--scan", "AG")
    assert "ghost=…" in refused(capsys, "predict", model, new, "--track", "ghost=x.fa")
    states = home / "short.states"
    others = (home / "new.states").read_text().split(">")[2:]
    states.write_text(">".join(["", "chain1\nHHH\n", *others]))
    assert "3 states" in refused(capsys, "predict", model, new, "--states", states)
    assert "add --states" in refused(capsys, "train", old, *GRAM, "--layers", "segments", "-o", home / "x")
    assert "--states" in refused(capsys, "train", old, *GRAM, "-o", home / "x")
    given = [*train(home), *GRAM, "-o", home / "x"]
    assert "old.states: reduction='HGI_EB' has nothing to" in refused(capsys, *given, "--reduction", "HGI_EB")
    assert "--layers probabilities" in refused(capsys, *given, "--calibration", "platt")
    for joined in (["structure,", "segments"], ["structure:window=9,segments"]):
        assert "separate layers by spaces" in refused(capsys, *given, "--layers", *joined)
    line = refused(capsys, "train", old, "--states", new, *GRAM, "-o", home / "x")
    assert "this looks like a file of sequences" in line
    assert "labels:" not in line
    given = [*train(home), *FEATURES, *LAYERS, "-o", home / "x"]
    assert "probabilities" in refused(capsys, *given, "--positive", "H", "--calibration", "platt")
    assert "--labels" in refused(capsys, *given, "--labels", "header")
    assert "window=8 is even" in refused(capsys, *[("8" if word == "7" else word) for word in given])
    assert "odd number" in refused(capsys, *[("-3:+3" if word == "7" else word) for word in given])
    assert "explain" in refused(capsys, "explain", model, new, "-o", home / "e")
