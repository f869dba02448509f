"""The report's section about eigenvalues."""

import pytest
from report_sample import Shape, write_study
from test_report import Page

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.gram.stored_matrix import Spectrum, write_spectrum
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.sections.findings import caveats
from seqkern.report.sections.fitting import eigenvalues_section
from seqkern.report.view import View

RAW = {"kernel": "smith_waterman"}
KERNELS = {
    "raw": RAW,
    "clipped": {**RAW, "repair": "clip", "transforms": ["normalise"]},
    "mapped": {**RAW, "transforms": ["empirical_map:normalize=false"]},
    "pairwise": {"kernel": "pairwise", "repair": "none"},
    "big": {"kernel": "local_alignment"},
}
SOLVERS = {"svm": {"solver": "csvc", "C": 1}, "psvm": {"solver": "psvc"}}


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a study with eigenvalues of stored matrices and of training sets."""
    folder = write_study(tmp_path / "s", {"d": Shape()}, KERNELS, SOLVERS)
    write_spectrum(folder / "gram/d/raw/gram.spectrum.tsv", Spectrum(120, -3.25678, 40.0, 0.0123, 5, True))
    write_spectrum(folder / "gram/d/big/gram.spectrum.tsv", Spectrum(9000, -0.5, 40.0, 0.25, 50, False))
    for solver in SOLVERS:
        path = folder / "evaluate/d/pairwise" / solver / "fits.tsv"
        rows = read_tsv(path)
        for i, row in enumerate(rows):
            row |= {"smallest_eigenvalue": -1e-7 * i, "negative_share": 1e-9 * i, "eigenvalues": "all"}
        write_tsv(path, list(rows[0]), rows)
    return folder


def words(section, folder):
    """Return the words of a section of the report."""
    return Page(section(View(StudyResults(folder).datasets[0], "d1"))).text


def test_each_kernel_with_its_repair_and_what_runs_without(folder):
    text = words(eigenvalues_section, folder)
    assert "a stationary point" in text
    assert "rawone, of 120 sequences−3.261.23%none" in text
    assert "clippedone, of 120 sequences−3.261.23%clip" in text
    assert "mappedone, of 120 sequences−3.261.23%empirical_map" in text
    assert "pairwise5, one for each training set−4e−074e−07%none" in text
    assert "bigone, of 9,000 sequences≈ −0.5≈ 25%none" in text
    assert "Clip sets negative eigenvalues to zero. The empirical map represents" in text
    exposed = text.split("Trained on an indefinite matrix without repair: ")[1]
    assert exposed == "raw with svm, pairwise with svm and big with svm."


def test_findings_name_what_ran_on_much_negative_mass_and_the_remedy(folder):
    found = [Page(sentence).text for sentence in caveats(View(StudyResults(folder).datasets[0], "d1"))]
    (found,) = [sentence for sentence in found if "indefinite" in sentence]
    assert found.startswith("d: raw with svm and big with svm had an indefinite matrix without repair")
    assert "negative mass up to 25.0%" in found
    assert "repair: clip" in found
    assert "psvc" in found


def test_nothing_is_said_where_nothing_is_known(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, {"spectrum": {"kernel": "spectrum", "k": 3}}, SOLVERS)
    assert eigenvalues_section(View(StudyResults(folder).datasets[0], "d1")) is None


def test_the_page_has_the_section(folder):
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    assert {"href": "#d1-eigenvalues"} in page.all("a")
    assert "eigenvalues of the kernels' matrices" in page.text
