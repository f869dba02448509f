"""docs/reference/files.md names the columns of the tables that seqkern writes."""

import re

import pytest
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.gram.transforms.gram_transform import TRANSFORMS
from seqkern.kernels.feature_transforms.transforms import FEATURE_TRANSFORMS
from seqkern.solvers.costs import BOUNDS

ROWS = dict(
    re.findall(r"^\| `([^`]+)` \| (.*) \|$", (ROOT / "docs/reference/files.md").read_text("utf-8"), re.MULTILINE)
)
COMMANDS = """
simulate donor --n-positive 40 --n-decoy 40 -o donors
datasets --entry {"simulate":{"kind":"donor","n_positive":40,"n_decoy":40}} --name donors -o data
folds data --k 2 -o folds
evaluate data --folds folds --kernel spectrum:k=2 --solver linear_svc:C=[0.1,1] --inner-folds 2 -o evaluated
train donors.fasta --labels header --positive donor --kernel weighted_degree:degree=3 --solver csvc:C=1 -o model.seqkern
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


# tables under other names than the page's
ROW_OF = {"donors.tsv": "PREFIX.tsv", "units.tsv": "datasets/NAME/units.tsv", "all.tsv": "folds/NAME/TASK.tsv"}


def test_columns_are_those_of_the_page(written):
    seen, unknown = 0, []
    for path in sorted(written.rglob("*.tsv")):
        name = path.relative_to(written)
        keys = (ROW_OF.get(path.name), f"folds/NAME/{path.name}", str(name), path.name)
        row = next(ROWS[key] for key in keys if key in ROWS)
        named = {*re.findall(r"`([a-z_0-9]+)`", row), "all", "1", "2"}  # a task, and its splits
        header = path.read_text(encoding="utf-8").splitlines()[0].split("\t")
        unknown += [f"{name}: {column}" for column in header if column not in named]
        seen += 1
    assert seen >= 15
    assert unknown == []


def test_explain_writes_exactly_the_columns_of_the_page(written):
    tables = sorted((written / "explained").glob("*.tsv"))
    assert sorted(f"explained/{path.name}" for path in tables) == sorted(
        name for name in ROWS if name.startswith("explained/") and name.endswith(".tsv")
    )
    for path in tables:
        always = ROWS[f"explained/{path.name}"].split(";")[0]  # the rest is for some models
        header, *_ = path.read_text(encoding="utf-8").splitlines()
        assert list(dict.fromkeys(re.findall(r"`([a-z_]+)`", always))) == header.split("\t"), path.name


def test_decisions_of_explain_are_what_the_page_says(written):
    contributions = {}
    for row in read_tsv(written / "explained/letters.tsv"):
        contributions.setdefault(row["id"], []).append(float(row["contribution"]))
    decisions = read_tsv(written / "explained/decisions.tsv")
    assert len(decisions) == 80
    for row in decisions:
        own = contributions[row["id"]]
        assert int(row["letters"]) == len(own)
        assert float(row["decision"]) == pytest.approx(float(row["bias"]) + sum(own), abs=1e-9)


def test_every_table_of_a_method_is_on_the_page(written):
    assert sorted(path.name for path in (written / "evaluated").glob("*.tsv") if path.name not in ROWS) == []


def test_the_configuration_tells_of_every_transform_and_inner_metric():
    rows = (ROOT / "config" / "README.md").read_text(encoding="utf-8").splitlines()
    kinds = [row.split(" | ")[0] for row in rows if " | features | " in row or " | Gram matrix | " in row]
    assert sorted(re.findall(r"`(\w+)`", " ".join(kinds))) == sorted([*FEATURE_TRANSFORMS.names, *TRANSFORMS.names])
    (metrics,) = [row for row in rows if row.startswith("| `inner.metric`")]
    assert [name for name in BOUNDS if f"`{name}`" not in metrics] == []
