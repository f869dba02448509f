"""``seqkern importance`` and what the report makes of it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report_sample import KERNELS, SOLVERS, Shape, write_study
from test_explain import read_table

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FileError
from seqkern.methods.loading import load_model
from seqkern.methods.poim import Importance, Positions, load_positions
from seqkern.report import build_report
from seqkern.sequences.alphabets import DNA
from seqkern.study import dataset_entries
from seqkern.study.study import Study

DONORS = {"simulate": {"kind": "donor", "n_positive": 60, "n_decoy": 90}}


def make_dataset(folder, entry, folds=("--method", "stratified", "--k", "2")):
    """Write a data set and its folds; return what the verb starts with."""
    data, splits = folder / "data", folder / "folds"
    assert main(["datasets", "--name", "set", "--entry", json.dumps(entry), "-o", str(data)]) == 0
    assert main(["folds", str(data), "-o", str(splits), *folds]) == 0
    return ["importance", str(data), "--folds", str(splits), "-o", str(folder / "out")]


@pytest.fixture(scope="module")
def donors(tmp_path_factory):
    return make_dataset(tmp_path_factory.mktemp("donors"), DONORS)


def run(line, *more):
    assert main([*line, *more]) == 0
    folder = Path(line[-1])
    return json.loads((folder / "importance.json").read_text()), read_table(folder / "importance.tsv")


WD = ("--kernel", "weighted_degree:degree=4")


def test_the_site_of_donors_matters(donors, capsys):
    summary, rows = run(
        donors, *WD, "--solver", "csvc:C=[0.1,1]", "--site", "31", "--inner-folds", "2", "--section=-5:6"
    )
    assert capsys.readouterr().out.strip().endswith("importance.svg")
    assert summary["n"] == 150
    assert summary["part"] is None
    assert load_positions(Path(donors[-1], "importance.npz")).section == (-5, 6)
    assert summary["search"] == {"metric": "auc", "folds": 2}
    assert summary["solver"]["C"] in (0.1, 1)
    strongest = max((row for row in rows if row["order"] == "1"), key=lambda row: abs(float(row["value"])))
    assert int(strongest["offset"]) == int(strongest["position"]) - 31
    assert -3 <= int(strongest["offset"]) <= 5
    assert {row["order"] for row in rows} == {"1", "2", "3"}
    model = load_model(f"{donors[-1]}/model.seqkern")
    assert len(model.decision(model.support)) == len(model.support)


def test_other_kernels_show_the_contributions_of_letters(donors):
    summary, rows = run(donors, "--kernel", "spectrum:k=2,part=25:40", "--solver", "csvc:C=1", "--section=20:45")
    assert summary["search"] is None
    assert {row["order"] for row in rows} == {"1"}
    assert {row["offset"] for row in rows} == {""}
    assert {int(row["position"]) for row in rows if float(row["value"])} <= set(range(26, 41))
    assert Path(donors[-1], "logo-section.svg").exists()


def test_of_a_single_split_the_training_part_alone_is_used(tmp_path):
    fasta, rng, records = tmp_path / "w.fa", np.random.default_rng(0), []
    for i in range(40):
        text = "".join(rng.choice(list("ACGT"), 9))
        place = f"chromosome={'I' if i < 30 else 'II'} position={100 * i} strand=+"
        records.append(f">w{i} label={'01'[i % 2]} {place}\n{text}\n")
    fasta.write_text("".join(records))
    labels = {"from": "header", "label": "label"} | {name: name for name in ("chromosome", "position", "strand")}
    options = json.dumps({"method": "locus", "train": ["I"], "test": ["II"]})
    line = make_dataset(tmp_path, {"fasta": str(fasta), "labels": labels}, ("--options", options))
    summary, _ = run(line, *WD, "--solver", "csvc:C=1")
    assert summary["n"] == 30
    assert summary["part"] in read_table(tmp_path / "folds/all.tsv")[0]


def test_several_classes_need_a_pair(tmp_path, capsys):
    fasta, rng = tmp_path / "w.fa", np.random.default_rng(0)
    text = [f">w{i} label={'xyz'[i % 3]}\n{''.join(rng.choice(list('ACGT'), 12))}\n" for i in range(60)]
    fasta.write_text("".join(text))
    line = make_dataset(tmp_path, {"fasta": str(fasta), "labels": {"from": "header", "label": "label"}})
    assert main([*line, *WD, "--solver", "csvc:C=1"]) == 1
    assert "--pair" in capsys.readouterr().err
    summary, _ = run(line, *WD, "--solver", "csvc:C=1", "--pair", "y:x")
    assert summary["pair"] == "y:x"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--site", "61"], "site=61 is outside the windows; give 1 to 60"),
        (["--section=70:80"], "the section 70 to 80 is outside the windows"),
        (["--order", "4"], "order=4"),
        (["--solver", "csvc:C=-1"], "C=-1"),
        (["--solver", "primal_svc"], "solver 'primal_svc' decides by features"),
        (["--solver", "kernel_neighbors"], "solver 'kernel_neighbors' decides not by weighted sums"),
    ],
)
def test_wrong_options_are_one_line(donors, more, said, capsys):
    solver = [] if "--solver" in more else ["--solver", "csvc:C=1"]
    assert main([*donors, *WD, *solver, *more]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_section_is_two_positions(donors, capsys):
    assert main([*donors, *WD, "--solver", "csvc:C=1", "--section=9:1"]) == 2
    assert "is not A:B" in capsys.readouterr().err


def test_positions_of_unequal_sequences_do_not_compare(tmp_path, capsys):
    fasta = tmp_path / "w.fa"
    fasta.write_text("".join(f">w{i} label={'01'[i % 2]}\nACGTACG{'A' * (i // 4)}\n" for i in range(8)))
    line = make_dataset(tmp_path, {"fasta": str(fasta), "labels": {"from": "header", "label": "label"}})
    capsys.readouterr()
    assert main([*line, "--kernel", "spectrum:k=2", "--solver", "csvc:C=1"]) == 1
    assert "all must have one length" in capsys.readouterr().err


# ---- the configuration ------------------------------------------------------------------------------------------


STUDY = {
    "study": "s",
    "datasets": {"d": {**DONORS, "importance": {"kernel": "k", "solver": "s"}}},
    "kernels": {
        "k": {"kernel": "weighted_degree"},
        "both": {"choose": ["k", "spectrum"]},
        "spectrum": {"kernel": "spectrum"},
        "linear": {"kernel": "linear"},
    },
    "solvers": {"s": {"solver": "csvc"}},
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kernel": "q"}, "datasets.d.importance.kernel: 'q' is not defined"),
        ({"solver": "q"}, "datasets.d.importance.solver: 'q' is not defined"),
        ({"kernel": "both"}, "'both' stands for several kernels; choose one of k, spectrum"),
        ({"kernel": "linear"}, "datasets.d.importance.kernel"),
        ({"order": 4}, "datasets.d.importance.order"),
        ({"section": [5, 1]}, "datasets.d.importance.section: [5, 1] is empty"),
        ({"sections": [1, 5]}, "unknown key 'sections'"),
    ],
)
def test_the_configuration_is_checked(changed, said):
    assert Study.parse(STUDY).datasets["d"].importance == dataset_entries.Importance("k", "s")
    entry = {**DONORS, "importance": STUDY["datasets"]["d"]["importance"] | changed}
    with pytest.raises(ConfigError) as caught:
        Study.parse(STUDY | {"datasets": {"d": entry}})
    assert said in str(caught.value)


def test_families_have_no_one_machine():
    entry = {"simulate": {"kind": "superfamilies"}, "tasks": "families", "importance": {"kernel": "k", "solver": "s"}}
    with pytest.raises(ConfigError, match="single task"):
        Study.parse(STUDY | {"datasets": {"d": entry}})


# ---- the report -------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Text and ids of a page."""

    def __init__(self, page):
        super().__init__()
        self.text, self.ids = "", []
        self.feed(page)
        self.text = " ".join(self.text.split())

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]


@pytest.fixture
def study(tmp_path):
    entry = {"simulate": {"kind": "donor"}, "importance": {"kernel": "spectrum3", "solver": "svm"}}
    shapes = {"one": Shape(n=40, entry=entry), "two": Shape(n=40)}
    return write_study(tmp_path / "s", shapes, {"spectrum3": KERNELS["spectrum3"]}, {"svm": SOLVERS["svm"]})


def write_importance(study, part=None):
    rng = np.random.default_rng(0)
    matrices = {m: rng.normal(size=(31 - m, 4**m)) for m in (1, 2)}
    found = Positions(
        Importance(DNA, 30, matrices, np.full(4, 0.25)),
        rng.integers(1, 9, size=(30, 4)),
        "30 windows of class donor",
        ("decoy", "donor"),
        -9,
        (-5, 5),
    )
    folder = study / "importance" / "one"
    folder.mkdir(parents=True)
    summary = {"n": 120, "part": part, "solver": {"solver": "csvc", "C": 10}, "search": {"metric": "auc", "folds": 3}}
    (folder / "importance.json").write_text(json.dumps(summary))
    found.save(folder / "importance.npz")
    return folder


def test_the_report_shows_it_where_it_was_asked_for(study):
    write_importance(study)
    page = build_report(study, study / "report").read_text()
    found = Page(page)
    assert "A model of spectrum3 with svm was trained on all windows of the data set (120 windows)" in found.text
    assert "with C = 10, the best AUC in 3 folds" in found.text
    assert "upward supports donor, downward decoy" in found.text
    assert "d1-importance" in found.ids
    assert "d2-importance" not in found.ids
    assert 'href="#d1-importance"' in page
    assert len(found.ids) == len(set(found.ids))
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', page))
    assert used <= set(found.ids)


def test_the_report_names_the_training_part(study):
    write_importance(study, part="chromosome 2")
    text = Page(build_report(study, study / "report").read_text()).text
    assert "was trained on the training set of the split chromosome 2" in text


def test_what_is_missing_is_said_and_what_is_damaged_is_an_error(study):
    assert "No results on the importance of positions were found" in build_report(study, study / "report").read_text()
    folder = write_importance(study)
    (folder / "importance.npz").write_bytes(b"PK")
    with pytest.raises(FileError, match=r"importance\.npz"):
        build_report(study, study / "report")


def test_positions_around_residues_go_from_the_middle(tmp_path):
    entry = {"simulate": {"kind": "secondary_structure", "n_chains": 4, "mean_length": 30}, "residues": {"window": 5}}
    line = make_dataset(tmp_path, entry, ("--method", "grouped", "--k", "2"))
    solver = "pairwise_voting:binary=(csvc:C=1)"
    _, rows = run(line, "--kernel", "weighted_degree:degree=2", "--solver", solver, "--pair", "H:E")
    assert {row["offset"] for row in rows if row["order"] == "1"} == set(map(str, range(-2, 3)))
