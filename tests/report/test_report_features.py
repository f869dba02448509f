"""The report's sections on selected features, and on the bias of a selection outside the folds."""

import re

import pytest
from report_sample import HOSTILE, Shape, write_study

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.sections.features import features_section, selection_bias_section
from seqkern.report.view import View

SPLITS = ("1", "2", "3", "4", "5")
SOLVERS = {"genes": {"solver": "psvc", "kernel": "features"}}
KERNELS = {"spectrum3": {"kernel": "spectrum", "k": 3}}


@pytest.fixture
def study(tmp_path):
    """Return the folder of a study with one method that selects features, and that method's folder."""
    folder = write_study(tmp_path / "sample", {"donor": Shape(splits=SPLITS)}, KERNELS, SOLVERS)
    return folder, folder / "evaluate" / "donor" / "spectrum3" / "genes"


def write_features(path, names):
    """Write features.tsv: of each split the names of what it selected, in order."""
    rows = [
        {"task": "all", "split": split, "feature": name, "column": rank, "rank": rank, "weight": 1 / rank}
        for split, selected in names.items()
        for rank, name in enumerate(selected, start=1)
    ]
    write_tsv(path / "features.tsv", ("task", "split", "feature", "column", "rank", "weight"), rows)


def view_of(folder):
    return View(StudyResults(folder).datasets[0], "d1")


def plain(markup):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", str(markup))).replace(" ,", ",")


def test_features_are_counted_over_splits(study):
    folder, method = study
    write_features(method, {s: ["TATA", "GCGC"] if s < "4" else ["GCGC", f"x{s}"] for s in SPLITS})
    text = plain(features_section(view_of(folder)))
    assert "2 features in the median fold; 4 different ones in all, 1 of them in all 5 folds" in text
    rows = re.findall(r"(GCGC|TATA|x4|x5) (\d) of 5 ([0-9.]+)", text)
    assert rows == [("GCGC", "5", "1.6"), ("TATA", "3", "1.0"), ("x4", "1", "2.0"), ("x5", "1", "2.0")]


def test_corrected_p_values_are_beside_the_features_over_all_splits(study):
    folder, method = study
    columns = ("task", "split", "feature", "column", "rank", "weight", "p", "p_corrected")
    p = {"TATA": [0.001, 0.002, 0.01, 0.003, 0.002], "GCGC": [0.001, 0.001]}  # GCGC is selected in two splits only
    rows = [
        {
            "task": "all",
            "split": split,
            "feature": name,
            "column": 1,
            "rank": 1,
            "weight": 1,
            "p": 0,
            "p_corrected": one,
        }
        for name, values in p.items()
        for split, one in zip(SPLITS, values, strict=False)
    ]
    write_tsv(method / "features.tsv", columns, rows)
    text = plain(features_section(view_of(folder)))
    assert re.findall(r"(TATA|GCGC) (\d) of 5 1.0 1.000 \(.*?\) ([0-9.]+)", text) == [
        ("TATA", "5", "0.0040"),
        ("GCGC", "2", "1.0000"),
    ]
    assert "p is the probability that, with labels in random order," in text
    assert "twice the median over the folds" in text


def test_without_a_method_that_selects_there_is_no_section(study):
    folder, method = study
    view = view_of(folder)
    assert features_section(view) is None
    assert selection_bias_section(view) is None
    write_features(method, {})
    assert features_section(view_of(folder)) is None


def test_of_a_method_that_takes_nearly_all_features_no_list_is_shown(study):
    folder, method = study
    write_features(method, {s: [f"g{j}" for j in range(500)] for s in SPLITS})
    text = plain(features_section(view_of(folder)))
    assert "selects a median of 500 features per fold" in text
    assert "g7" not in text


def test_names_are_escaped(study):
    folder, method = study
    write_features(method, dict.fromkeys(SPLITS, HOSTILE))
    page = build_report(folder, folder / "report").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;alert" in page


def test_biased_scores_are_beside_the_honest_ones_with_a_warning(study):
    folder, method = study
    without = build_report(folder, folder / "without").read_text()
    honest = read_tsv(method / "metrics.tsv")
    biased = [{"task": row["task"], "split": row["split"], "n_features": 7, "auc": 0.999} for row in honest]
    write_tsv(method / "selection_bias.tsv", ("task", "split", "n_features", "auc"), biased)
    text = plain(selection_bias_section(view_of(folder)))
    mean = sum(float(row["auc"]) for row in honest) / len(honest)
    assert "Do not cite these scores" in text
    assert f"{mean:.3f} 0.999 {0.999 - mean:.3f}" in text
    page = build_report(folder, folder / "with").read_text()
    section = str(selection_bias_section(view_of(folder)))
    name = re.search(r'<li><a href="#d1-selection-bias">[^<]*</a></li>\n?', page)[0]
    rest = page.replace(section, "").replace(name, "")
    assert rest == without, "biased numbers stand in their own section alone"
    for table in (folder / "without").glob("*.tsv"):
        assert (folder / "with" / table.name).read_bytes() == table.read_bytes()
