"""The methods text: every kernel and solver has its papers, and the text says what the configuration says."""

import re

import pytest
from report_sample import Shape, demo, write_study

from seqkern.core.package_files import open_resource
from seqkern.core.tsv import write_tsv
from seqkern.kernels.kernel_table import KERNELS
from seqkern.report import build_report
from seqkern.report.methods_text import FOLD_PAPERS, LIBRARIES, TESTS, cited_methods, references, without_tex
from seqkern.solvers.solver_specs import SOLVERS

REQUIRED = {
    "article": {"author", "title", "journal", "volume", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
}


STUDY = {"d": Shape(n=40)}, {"a": {"kernel": "spectrum"}}, {"svm": {"solver": "csvc"}}


@pytest.mark.parametrize(("kind", "registry"), [("kernel", KERNELS), ("solver", SOLVERS)])
def test_every_kernel_and_solver_has_a_reference(kind, registry):
    known = cited_methods()
    assert {name for one, name in known if one == kind} == set(registry.names)
    for name in registry.names:
        title, keys = known[kind, name]
        assert title
        assert keys
        assert set(keys) <= set(references())


def test_every_entry_is_whole_and_cited():
    with open_resource("references.bib") as file:
        text = file.read()
    assert text.count("\n@") + 1 == len(references())
    cited = {key for _, keys in cited_methods().values() for key in keys}
    cited |= {key for keys in FOLD_PAPERS.values() for key in keys} | {key for _, key in TESTS.values()}
    cited |= {key for _, _, key in LIBRARIES} | {"Demsar2006", "Holm1979"}
    assert cited == set(references())
    for key, one in references().items():
        kind = re.match(r"@(\w+)\{", one.bibtex)[1]
        assert one.fields.keys() >= REQUIRED[kind], key
        assert re.fullmatch(r"[A-Za-z]+(19|20)\d\d", key)
        assert key.endswith(one.fields["year"])
        assert not set("{}\\$") & set(one.text), key


def test_first_authors_give_the_keys():
    for key, one in references().items():
        family = re.sub("[^a-z]", "", one.authors[0][0].lower().encode("ascii", "ignore").decode())
        assert set(family) <= set(key.lower()), key


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"Gigu{\`e}re", "Giguère"),
        (r"Fran{\c{c}}ois", "François"),
        (r"Dem{\v{s}}ar", "Demšar"),
        (r"Kre{\ss}el", "Kreßel"),
    ],
)
def test_accents_are_letters(tex, text):
    assert without_tex(tex) == text


def test_references_are_written_as_in_a_paper():
    one = references()["Leslie2002"]
    assert one.short == "Leslie et al., 2002"
    assert one.text == (
        "Leslie C, Eskin E, Noble WS. The spectrum kernel: a string kernel for SVM protein classification. "
        "Pacific Symposium on Biocomputing 7:564–575, 2002."
    )
    assert references()["Liao2003"].short == "Liao and Noble, 2003"
    assert references()["Harris2020"].text.startswith(
        "Harris CR, Millman KJ, van der Walt SJ, et al. Array programming"
    )


def test_the_text_says_what_was_done(tmp_path):
    folder = write_study(tmp_path / "s", demo())
    report = build_report(folder, folder / "report").parent
    text = (report / "methods.txt").read_text(encoding="utf-8")
    for part in (
        "donor: 120 DNA sequences of 40 to 80 bases (median 61) (90 decoy, 30 donor)",
        "donor was evaluated by 5-fold stratified cross-validation.",
        "Each method on donor was tested against chance by the mean and the variance of its score over all "
        "permutations of the labels within test sets.",
        "superfamily was evaluated by remote homology detection, each family held out once (Liao and Noble, 2003).",
        "mismatch: mismatch kernel (Leslie et al., 2004) with k = 5, m = 1.",
        "psvm: P-SVM (Hochreiter and Obermayer, 2006) with C = 1, epsilon = {0.05, 0.1}.",
        "by a grid search with 3-fold cross-validation; test sets were never used.",
        "Holm's method (Holm, 1979)",
    ):
        assert part in text
    bibtex = (report / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),", bibtex, flags=re.MULTILINE)
    assert keys[0] == "seqkern"
    assert len(keys) == len(set(keys))
    assert {"Leslie2002", "Leslie2004", "Hochreiter2006", "Liao2003", "Holm1979"} <= set(keys)
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "the report was made on" not in page


def test_the_text_tells_that_groups_were_blocks(tmp_path):
    folder = write_study(tmp_path / "s", *STUDY)
    write_tsv(folder / "folds" / "d" / "all.tsv", ["id", "group"], [(f"d_{i}", i // 4) for i in range(40)])
    text = (build_report(folder, folder / "report").parent / "methods.txt").read_text(encoding="utf-8")
    assert "within test sets; related samples with one label counted as a block." in text


def test_a_date_is_told_where_one_is_given(tmp_path, monkeypatch):
    folder = write_study(tmp_path / "s", *STUDY)
    build_report(folder, tmp_path / "given", date="2024-02-03")
    assert "made on 2024-02-03" in (tmp_path / "given/methods.txt").read_text(encoding="utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    build_report(folder, tmp_path / "epoch")
    assert "made on 1970-01-02" in (tmp_path / "epoch/methods.txt").read_text(encoding="utf-8")
