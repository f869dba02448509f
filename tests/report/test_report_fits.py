"""The report's section about fits: what did not converge, of fits, of kernels' weights and of inner folds."""

import pytest
from report_sample import Shape, write_study
from test_report import Page

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.study_results import StudyResults
from seqkern.report.sections.findings import caveats
from seqkern.report.sections.fitting import fits_section
from seqkern.report.view import View

KERNELS = {"spectrum3": {"kernel": "spectrum", "k": 3}}
SOLVERS = {"svm": {"solver": "csvc", "C": 1}, "other": {"solver": "csvc", "C": 2}}


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a study all of whose fits converged."""
    folder = write_study(tmp_path / "s", {"d": Shape()}, KERNELS, SOLVERS)
    for solver in SOLVERS:
        change(folder, solver, converged=["True"] * 100)
    return folder


def change(folder, solver, **columns):
    """Write new values, or further columns, of a method's fits; return how many fits there are."""
    path = folder / "evaluate/d/spectrum3" / solver / "fits.tsv"
    rows = read_tsv(path)
    for i, row in enumerate(rows):
        row |= {name: values[i] for name, values in columns.items()}
    write_tsv(path, list(rows[0]), rows)
    return len(rows)


def words(section, folder):
    """Return the words of a section of the report."""
    return Page(section(View(StudyResults(folder).datasets[0], "d1"))).text


def sentences(folder):
    """Return the words of the caveats."""
    return " ".join(Page(sentence).text for sentence in caveats(View(StudyResults(folder).datasets[0], "d1")))


def test_columns_are_shown_where_something_failed_only(folder):
    before = words(fits_section, folder)
    assert "Inner fits" not in before
    for solver in SOLVERS:
        change(folder, solver, inner_not_converged=[0] * 100, weights_converged=[""] * 100)
    assert words(fits_section, folder) == before


def test_failures_of_inner_fits_and_weights(folder):
    change(folder, "svm", inner_not_converged=[7, 5] + [0] * 98, weights_converged=["True", "False"] + ["True"] * 98)
    text = words(fits_section, folder)
    assert "Inner fits" in text
    assert "⚠ 12" in text
    assert "Weights" in text
    assert "⚠ 1 of" in text
    assert "⚠ 1 of 5" in text
    assert "the selection is less reliable" in text
    told = sentences(folder)
    assert "12 inner fits did not converge (spectrum3 with svm)" in told
    assert "weights of kernels did not converge in 1 of" in told


def test_the_findings_are_quiet_where_all_converged(folder):
    assert "did not converge" not in sentences(folder)


def test_bounds_of_the_leave_one_out_error(folder):
    path = folder / "evaluate/d/spectrum3/svm/fits.tsv"
    assert "ξα" not in words(fits_section, folder)
    bounds = {"span": "0.123", "xi_alpha": "0.456", "radius_margin": "7.89"}
    rows = [row | bounds for row in read_tsv(path)]
    write_tsv(path, list(rows[0]), rows)
    text = words(fits_section, folder)
    for word in (
        "The span estimate: the share of errors",
        "ignores similar samples",
        "The ξα estimate: an upper bound",
    ):
        assert word in text
    for value in ("0.123", "0.456", "7.89"):
        assert value in text
