"""docs/reference/files.md names the columns of the tables that seqkern writes."""

import re

import pytest
from conftest import ROOT

from seqkern.cli.main import main

ROWS = dict(
    re.findall(r"^\| `([^`]+)` \| (.*) \|$", (ROOT / "docs/reference/files.md").read_text("utf-8"), re.MULTILINE)
)
COMMANDS = """
simulate donor --n-positive 40 --n-decoy 40 -o donors
datasets --entry {"simulate":{"kind":"donor","n_positive":40,"n_decoy":40}} --name donors -o data
folds data --k 2 -o folds
evaluate data --folds folds --kernel spectrum:k=2 --solver linear_svc:C=[0.1,1] --inner-folds 2 -o evaluated
train donors.fasta --labels header --positive donor --kernel weighted_degree:degree=3 --solver csvc -o model.seqkern
explain model.seqkern donors.fasta -o explained
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in COMMANDS.split("\n")[1:-1]:
            assert main(line.split()) == 0, line
    return folder


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("donors.tsv", "PREFIX.tsv"),
        ("data/units.tsv", "datasets/NAME/units.tsv"),
        ("folds/composition.tsv", "folds/NAME/composition.tsv"),
        ("folds/leakage.tsv", "folds/NAME/leakage.tsv"),
        ("evaluated/choices.tsv", "choices.tsv"),
        ("evaluated/decisions.tsv", "decisions.tsv"),
        ("evaluated/features.tsv", "features.tsv"),
        ("evaluated/fits.tsv", "fits.tsv"),
        ("evaluated/inner_scores.tsv", "inner_scores.tsv"),
        ("evaluated/intervals.tsv", "intervals.tsv"),
        ("evaluated/metrics.tsv", "metrics.tsv"),
        ("evaluated/segments.tsv", "segments.tsv"),
        ("evaluated/selection_bias.tsv", "selection_bias.tsv"),
        ("evaluated/termini.tsv", "termini.tsv"),
        ("explained/decisions.tsv", "explained/decisions.tsv"),
        ("explained/importance.tsv", "explained/importance.tsv"),
        ("explained/letters.tsv", "explained/letters.tsv"),
        ("explained/words.tsv", "explained/words.tsv"),
    ],
)
def test_columns_are_those_of_the_page(written, path, row):
    header = (written / path).read_text(encoding="utf-8").splitlines()[0].split("\t")
    named = re.findall(r"`([a-z_0-9]+)`", ROWS[row])
    task = {"all"}  # the task of a data set with one
    assert [name for name in header if name not in {*named, *task}] == []


def test_every_table_of_a_method_is_on_the_page(written):
    assert sorted(path.name for path in (written / "evaluated").glob("*.tsv") if path.name not in ROWS) == []
