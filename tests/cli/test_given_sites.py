"""Models of windows around sites, applied at given sites; what is said where positions are off by one."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.methods.loading import load_model

WINDOW = "-10:+12"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A genome of two records with sites, GT on both strands, and a model of them; the same moved by one letter."""
    folder = tmp_path_factory.mktemp("sites")
    rng = np.random.default_rng(5)
    rows, records = ["record\tposition\tstrand\tlabel"], []
    moved = list(rows)
    for name in ("c1", "c2"):
        letters = rng.choice([*"ACGT"], size=1200)
        for number, start in enumerate(range(40, 1160, 30)):
            positive, reverse = number % 2 == 0, number % 3 == 0
            word = "GTAAGT" if positive else "GT" + "".join(rng.choice([*"ACGT"], size=4))
            if reverse:
                word = word[::-1].translate(str.maketrans("ACGT", "TGCA"))
            letters[start : start + 6] = [*word]
            position = start + 6 if reverse else start + 1
            for table, shift in ((rows, 0), (moved, -1)):
                sign = "-" if reverse else "+"
                table.append(f"{name}\t{position + shift}\t{sign}\t{'site' if positive else 'other'}")
        records.append(f">{name}\n{''.join(letters)}\n")
    (folder / "g.fa").write_text("".join(records))
    (folder / "s.tsv").write_text("\n".join(rows) + "\n")
    (folder / "moved.tsv").write_text("\n".join(moved) + "\n")
    return folder


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def train(sites, model, *more):
    words = ["train", "--verbose", "g.fa", "--sites", sites, "--window", WINDOW, "--positive", "site", *more]
    assert main([*words, "--kernel", "weighted_degree:degree=4", "--solver", "csvc:C=1", "-o", model]) == 0


def test_decisions_at_sites_are_those_of_their_windows(capsys):
    train("s.tsv", "m", "--site", "GT")
    model = load_model("m")
    assert main(["predict", "m", "g.fa", "--sites", "s.tsv", "-o", "d.tsv"]) == 0
    assert main(["predict", "m", "g.fa", "--scan", "GT", "--all", "--format", "tsv", "-o", "scan.tsv"]) == 0
    rows = read_tsv("d.tsv")
    scanned = {f"{row['record']}:{row['position']}:{row['strand']}": row["decision"] for row in read_tsv("scan.tsv")}
    assert len(rows) == 76 > len(model.support)
    for row in rows:
        assert float(row["decision"]) == pytest.approx(float(scanned[row["id"]]), abs=1e-9)
    assert main(["explain", "m", "g.fa", "--sites", "s.tsv", "-o", "e"]) == 0
    told = read_tsv("e/decisions.tsv")
    assert [row["id"] for row in told] == [row["id"] for row in rows]
    for row, other in zip(rows, told, strict=True):
        assert float(row["decision"]) == pytest.approx(float(other["decision"]), abs=1e-9)
    assert "predicted site" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["predict", "m", "g.fa"], ["explain", "m", "g.fa", "-o", "e2"]])
def test_whole_records_are_refused_with_both_ways_out(capsys, verb):
    train("s.tsv", "m")
    assert main(verb) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error == (
        "seqkern: g.fa: record 'c1': has length 1200, but the model was trained on windows -10:+12 of length 23; "
        "add --sites "
        "TABLE for windows around sites, or use predict --scan LETTERS for all candidates"
    )


def test_a_model_of_whole_sequences_has_no_windows(capsys):
    assert main(["simulate", "donor", "-o", "donors"]) == 0
    words = ["--labels", "donors.tsv", "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", "w"]
    assert main(["train", "donors.fasta", *words]) == 0
    assert main(["predict", "w", "g.fa", "--sites", "s.tsv"]) == 1
    assert "w: was not trained on windows around sites" in capsys.readouterr().err


def test_positions_off_by_one_are_noticed_without_the_letters_of_a_site(capsys):
    train("s.tsv", "right")
    said = capsys.readouterr()
    assert "letters at the sites: GT (100% on +), GT (100% on -)" in said.out
    assert "warning: at the sites" not in said.err
    train("moved.tsv", "off")
    said = capsys.readouterr()
    assert "warning: the most frequent letters at the sites are " in said.err
    assert main(["predict", "off", "g.fa", "--scan", "GT", "-o", "found.tsv"]) == 0
    assert "have GT at the site;" in capsys.readouterr().err
    assert main(["predict", "right", "g.fa", "--scan", "GT", "-o", "found.tsv"]) == 0
    assert "at the site;" not in capsys.readouterr().err


def test_the_table_of_sites_is_not_the_table_of_labels(capsys):
    words = f"train g.fa --sites s.tsv --labels s.tsv --window {WINDOW} --kernel spectrum:k=2 --solver csvc -o m"
    assert main(words.split()) == 1
    assert "s.tsv: the labels of sites come from the table of sites; remove --labels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("predict m g.fa --treshold 0", "did you mean --threshold 0?"),
        ("predict m g.fa --formt bed", "did you mean --format bed?"),
    ],
)
def test_the_nearest_option_is_named(capsys, words, hint):
    assert main(words.split()) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert hint in said


def test_a_search_among_one_candidate_says_so(capsys):
    train("s.tsv", "m", "--search")
    assert "not cross-validated: only one candidate" in capsys.readouterr().out
