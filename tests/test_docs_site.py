"""The pages that docs/_ext writes from the code, and the check of the built site's links."""

import importlib
import sys

import pytest
import yaml
from conftest import ROOT

from seqkern.cli.main import VERBS
from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS


@pytest.fixture(scope="module")
def load():
    """Return a function that imports a module of docs/ or docs/_ext."""
    folders = [str(ROOT / "docs" / "_ext"), str(ROOT / "docs")]
    sys.path[:0] = folders
    yield importlib.import_module
    for folder in folders:
        sys.path.remove(folder)


@pytest.fixture(scope="module")
def class_pages(load, tmp_path_factory):
    """Return the folder of the pictures and the pages of kernels, solvers and layers."""
    folder = tmp_path_factory.mktemp("classes")
    return folder, load("class_pages").pages(folder)


def test_notes_are_about_kernels_that_exist():
    notes = yaml.safe_load((ROOT / "docs" / "reference" / "kernels.yaml").read_text(encoding="utf-8"))
    assert sorted(notes) == sorted(KERNELS.names)
    assert all({"use"} <= set(note) <= {"use", "formula", "picture", "data"} for note in notes.values())


def test_pages_say_when_to_use_a_class_and_show_inherited_methods(class_pages):
    _, pages = class_pages
    assert ":See also: :doc:`spectrum <kernel-spectrum>`, :doc:`gapped_kmer" in pages["kernel-mismatch.rst"]
    assert ".. automethod:: __call__" in pages["kernel-mismatch.rst"]
    assert ":When to use: For few support features" in pages["solver-psvc.rst"]
    assert ".. automethod:: fit\n" in pages["solver-psvc.rst"]
    assert "automethod:: variances" in pages["solver-gp_regression.rst"]
    assert "automethod:: variances" not in pages["solver-psvc.rst"]


def test_docstrings_have_lowered_indices_but_names_stay(load):
    indices = load("docstrings").indices
    assert indices("Φ_u(x), Σ_{i≤m} b^k and ε_max") == (
        r"Φ\ :sub:`u`\ (x), Σ\ :sub:`i≤m`\  b\ :sup:`k`\  and ε\ :sub:`max`\ "
    )
    assert indices("n_threads, best_params_ and C_SVM") == "n_threads, best_params_ and C_SVM"


def test_each_kernel_solver_and_layer_has_a_page(class_pages):
    folder, pages = class_pages
    for kind, table in {"kernel": KERNELS, "solver": SOLVERS, "layer": LAYERS}.items():
        assert [name for name in table.classes if f"{kind}-{name}.rst" not in pages] == []
    assert ".. math::" in pages["kernel-spectrum.rst"]
    assert (folder / "kernel-spectrum.svg").is_file()


def test_a_kernel_without_a_note_has_a_page(load, tmp_path):
    cls = KERNELS.get("spectrum")
    page = load("class_pages").kernel_page("spectrum", cls, {}, tmp_path)
    assert "autoclass:: seqkern.kernels.SpectrumKernel" in page
    assert ".. math::" in page, "the first formula of its docstring"


def test_each_verb_and_its_options_have_a_page(load):
    pages = load("cli_pages").pages()
    assert set(pages) == {"cli.rst", *(f"cli-{verb}.rst" for verb in VERBS)}
    assert ".. option:: --kernel KERNEL" in pages["cli-train.rst"]


def test_the_keys_of_the_schema_are_listed(load):
    page = load("config_page").pages()["config-keys.rst"]
    for key in (
        "``inner.metric``",
        "``datasets.NAME.folds.method``",
        "``kernels.NAME.repair``",
        "``solvers.NAME.solver``",
    ):
        assert key in page


def test_a_link_that_leads_nowhere_is_found(load, tmp_path):
    faults = load("check_links").faults
    (tmp_path / "b.html").write_text('<h1 id="here">B</h1>')
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <a href="https://elsewhere.example/">e</a>')
    assert faults(tmp_path) == []
    (tmp_path / "c.html").write_text(
        '<a href="b.html#there"></a><img src="no.png"><script src="https://x.example/x.js">'
    )
    assert faults(tmp_path) == [
        "c.html: loads https://x.example/x.js",
        "c.html: no anchor b.html#there",
        "c.html: no file no.png",
    ]
