"""What the page's scripts and files are given: corners of curves, counts at thresholds, sequences, figures."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_sample import HOSTILE, Shape, family_shape, write_study

from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report, drawing
from seqkern.report.curves import SNAP, mean_steps, pr_points, roc_points, seen_corners
from seqkern.report.figure_files import chart, collected_figures, file_name
from seqkern.report.outcomes import MOST_PLACES, MOST_RESIDUES, sequence_cell, thresholds
from seqkern.report.sections.curves_and_errors import curve_lines, hard_section
from seqkern.report.view import View
from seqkern.study import make_dataset, save_dataset

KERNELS = {"spectrum": {"kernel": "spectrum", "k": 3}}
SOLVERS = {"svm": {"solver": "csvc", "C": 1}}


def view_of(folder, shape, **options):
    return View(StudyResults(write_study(folder, {"d": shape}, KERNELS, SOLVERS, **options)).datasets[0], "d1")


# ---- curves ------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.integers(-9, 9)), min_size=2, max_size=80))
def test_corners_that_are_left_out_lie_within_a_pixel_of_the_curve(items):
    positive, decision = (np.array(column) for column in zip(*items, strict=True))
    for x, y in (roc_points(positive, decision.astype(float)), pr_points(positive, decision.astype(float))):
        if x is None:
            return
        kept = seen_corners(x, y)
        assert kept[0] == 0
        assert kept[-1] == len(x) - 1
        assert np.all(np.diff(kept) > 0)
        points = np.column_stack([x, y])
        for i in range(len(x)):
            after = np.searchsorted(kept, i)
            start, stop = points[kept[max(0, after - 1)]], points[kept[after]]
            along = stop - start
            share = np.clip(along @ (points[i] - start) / max(along @ along, 1e-30), 0, 1)
            assert np.linalg.norm(points[i] - start - share * along) < 2.5 / SNAP


def test_many_corners_are_few_to_be_seen():
    rng = np.random.default_rng(0)
    false, true = roc_points(rng.random(20_000) < 0.5, rng.normal(size=20_000))
    assert len(false) > 5000
    assert len(seen_corners(false, true)) < 2 * SNAP


def test_mean_precision_is_that_of_the_steps():
    steps = [(np.array([0, 0.5, 0.5, 1]), np.array([1, 1, 0.5, 0.5])), (np.array([0.0, 1]), np.array([1, 0.25]))]
    recall, precision = mean_steps(steps, grid=5)
    assert recall.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert precision.tolist() == [1, 0.625, 0.625, 0.375, 0.375]


@pytest.mark.parametrize(
    ("kind", "names"), [("binary", ["mean of 3 folds", "fold 1"]), ("multiclass", ["mean of 3 classes", "x"])]
)
def test_lines_are_folds_or_classes(tmp_path, kind, names):
    classes = ("x", "y", "z") if kind == "multiclass" else ("decoy", "donor")
    methods, found = curve_lines(view_of(tmp_path / "s", Shape(kind, splits=("1", "2", "3"), classes=classes)))
    assert found[:2] == names
    assert [len(method.lines) for method in methods] == [4]


def test_with_very_many_families_the_page_keeps_the_means_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("seqkern.report.sections.curves_and_errors.MOST_LINES", 5)
    view = view_of(tmp_path / "s", family_shape(tuple("abcdef"), n=40))
    methods, names = curve_lines(view)
    assert names == ["mean of 6 families"]
    assert len(methods[0].lines) == 1


def test_names_in_json_end_no_script(tmp_path):
    shape = Shape(tasks=tuple(HOSTILE[:3]), n=40, splits=("1",))
    folder = write_study(tmp_path / "s", {"d": shape}, KERNELS, SOLVERS)
    page = build_report(folder, folder / "report").read_text(encoding="utf-8")
    texts = re.findall(r'<script type="application/json">(.*?)</script>', page, flags=re.DOTALL)
    assert texts
    assert not any(set("<>&") & set(text) for text in texts)
    names = [name for text in texts for name in (json.loads(text) if "names" in text else {}).get("names", [])]
    assert any(HOSTILE[0] in name for name in names)


# ---- thresholds --------------------------------------------------------------------------------------------


def test_counts_at_thresholds_are_those_of_the_decisions(tmp_path):
    view = view_of(tmp_path / "s", Shape(n=200))
    table = view.dataset.decisions(view.dataset.done[0])
    found = thresholds(view.dataset, table)
    positive, decision = (table["label"] == "donor").to_numpy(), table["decision"].to_numpy()
    called = (table["predicted"] == "donor").to_numpy()
    assert (found.positives, found.negatives) == (positive.sum(), (~positive).sum())
    assert found.predicted == ((positive & called).sum(), (~positive & called).sum())
    for text, tp, fp in found.places:
        above = decision >= float(text)
        assert (tp, fp) == ((positive & above).sum(), (~positive & above).sum())
    assert found.places[0][1:] == (found.positives, found.negatives)
    assert found.places[-1][1:] == (0, 0)
    assert len(found.places) <= MOST_PLACES + 3


def test_one_class_has_no_thresholds(tmp_path):
    view = view_of(tmp_path / "s", Shape())
    table = view.dataset.decisions(view.dataset.done[0])
    assert thresholds(view.dataset, table[table["label"] == "donor"]) is None
    constant = pd.DataFrame(table).assign(decision=0.5)
    assert [place[1:] for place in thresholds(view.dataset, constant).places][::2][0] == (30, 90)


# ---- sequences ---------------------------------------------------------------------------------------------


def test_hard_cases_show_their_sequences(tmp_path):
    view = view_of(tmp_path / "s", Shape(n=60))
    before = hard_section(view)
    assert 'class="sequence"' not in before
    dataset = make_dataset("d", {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 40}})
    summary = (view.dataset.folder("datasets") / "summary.json").read_text(encoding="utf-8")
    save_dataset(dataset, view.dataset.folder("datasets"))
    (view.dataset.folder("datasets") / "summary.json").write_text(summary, encoding="utf-8")
    decisions = view.dataset.folder("evaluate") / "spectrum/svm/decisions.tsv"
    names = dict(zip([f"d_{i}" for i in range(60)], dataset.X.ids, strict=True))
    text = re.sub(r"d_\d+", lambda found: names[found[0]], decisions.read_text(encoding="utf-8"))
    decisions.write_text(text, encoding="utf-8")
    after = hard_section(view)
    shown = re.findall(r'<th scope="row">(\w+)</th>.*?<code class="sequence">([ACGT]+)</code>', after)
    assert len(shown) > 5
    rows = {name: i for i, name in enumerate(dataset.X.ids)}
    assert all(sequence == dataset.X.string(rows[name]) for name, sequence in shown)


def test_long_sequences_are_cut_and_their_length_is_told():
    cell = sequence_cell("A" * 200)
    assert "A" * MOST_RESIDUES + "…" in cell
    assert "A" * (MOST_RESIDUES + 1) not in cell
    assert "200 residues" in cell


# ---- files -------------------------------------------------------------------------------------------------


@pytest.mark.drawn
def test_figures_are_files_with_the_same_bytes_each_time():
    def drawn():
        parts = [
            drawing.stroke("#333", [(0, 0), (9, 9), (9, 3), (4, 3), (1, 2)], dashes="2 1"),
            drawing.text("é < 蛋", (9, 9), turn=45),
        ]
        parts.append(drawing.pixels(np.full((2, 3, 3), 200, dtype=np.uint8), (20, 20), (9, 9)))
        with collected_figures() as files:
            svg = chart(parts, (40.0, 30.0), 'a <"line">/../x')
        return svg, files

    (svg, files), again = drawn(), drawn()
    assert (svg, files) == again
    assert [re.sub("-[0-9a-f]{6}", "", name) for name in files] == ["a-line-x.svg", "a-line-x.pdf"]
    assert f'data-save="{next(iter(files)).removesuffix(".svg")}"' in svg
    picture, paper = files.values()
    assert picture.startswith(b"<?xml")
    assert paper.startswith(b"%PDF")
    assert b"CreationDate" not in paper
    outside = chart([], (2.0, 2.0), "a line")
    assert "<span" not in outside


@given(st.text())
def test_names_of_figures_are_safe(label):
    assert re.fullmatch("[a-z0-9][a-z0-9-]{0,80}", file_name(label))


def test_no_link_leaves_the_page(tmp_path):
    folder = write_study(tmp_path / "a b", {"d": Shape()}, {"my kernel": KERNELS["spectrum"]}, SOLVERS)
    page = build_report(folder, tmp_path / "out").read_text(encoding="utf-8")
    assert re.findall(r'<a href="(?!#)[^"]*', page) == ['<a href="https://example.org/d.fa']
