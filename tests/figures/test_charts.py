"""Charts: well-formed SVG with a label, nothing outside the figure or where a value is missing, and the same in PDF."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from seqkern.evaluation.calibration import Bin
from seqkern.report import curves, plots
from seqkern.report.drawing import COLOURS, Axis, Panel, Style, axis_scale
from seqkern.report.figure_files import chart, drawn

RNG = np.random.default_rng(0)
LONG = "a name with <b> & more " * 9
BINS = [Bin(*(share if name != "n" else 9 for name in Bin._fields)) for share in (0.1, 0.5, 1.0)]
CURVE = np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.9, 1.0])
LINES = [curves.MethodLines(name, [curves.Line(CURVE, CURVE[::-1])]) for name in (LONG, "b")]
COEFFICIENT = dict.fromkeys(("weight", "low", "high", "full_low", "full_high"), 1.5) | {"chosen": True}
MATRIX = RNG.normal(size=(20, 20))
LETTERS = plots.LetterImportance(RNG.normal(size=(5, 3, 7)), list("HECTS"), ["A", "C", plots.END], np.arange(-3, 4))
CHARTS = {
    "ranks": lambda: plots.rank_figure(["a", LONG[:20], "c"], [1.5, 1.5, 3], [[0, 1]], 9.0, "label"),
    "reliability": lambda: plots.reliability_panel(BINS, "label"),
    "class reliability": lambda: plots.class_reliability_panel([(LONG, BINS), ("b", BINS)], "label"),
    "coverage": lambda: plots.coverage_panel([0.5, 0.9], [0.4, 1.0], "label"),
    "scatter": lambda: plots.scatter_panel(np.array([1.0, 2, 3e5]), np.array([np.nan, -1e5, 2]), "label"),
    "families": lambda: plots.families_figure(
        [(LONG, "svm", *curves.at_least([0.9, 0.95])), ("b", "c", *curves.at_least([]))],
        *("AUC", "families", "label"),
        {(LONG, "svm"): 0, ("b", "c"): 1},
    ),
    "coefficients": lambda: plots.coefficients_figure({s: {LONG: COEFFICIENT} for s in "HECT"}, [LONG], "label"),
    "roc": lambda: curves.roc_panel([CURVE] * 20, CURVE, "label"),
    "class roc": lambda: curves.class_roc_panel([(LONG, CURVE), ("b", CURVE)], "label"),
    "plot": lambda: curves.plot(LINES, "pr", "label"),
    "letters": lambda: plots.letters_figure(LETTERS, "label"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_labelled_and_inside_their_figure(name):
    svg = CHARTS[name]()
    assert svg == CHARTS[name]()
    root = ElementTree.fromstring(svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", "label")
    assert not re.search(r"\b(nan|inf)\b", svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    moved = 80 if name == "plot" else 0  # its axes begin at 0
    for path in root.iter("{*}path"):
        steps = re.findall(r"([MLHV])([-\d.]+)(?: ([-\d.]+))?", path.get("d"))
        across = [float(first) for kind, first, _ in steps if kind != "V"]
        down = [float(first if kind == "V" else second) for kind, first, second in steps if kind != "H"]
        assert -5 <= min(across) <= max(across) <= width + 5 + moved
        assert -5 <= min(down) <= max(down) <= height + 5 + moved


def test_a_line_has_a_gap_where_a_value_is_missing():
    panel = Panel((0, 0, 4, 4), Axis(0, 4), Axis(0, 4))
    panel.line([0, 1, 2, 3, 4], [0, 1, np.nan, 3, np.inf], Style(COLOURS[0], marker="D"))
    drawn = "".join(panel.inside)
    assert re.findall(r'd="([^"]*)" fill="none"', drawn) == ["M0 4L1 3", "M3 1"]
    assert drawn.count("Z") == 0
    assert drawn[drawn.rindex("<path") :].count("M") == 3  # marks


def test_ticks_are_few_round_numbers_with_room_beside_them():
    for low, high in ((0, 1), (-3, 1e6), (0.02, 0.98), (199.5, 200.5), (-1e-9, 1e-9), (5, 5)):
        start, stop, ticks = axis_scale(low, high, 6)
        assert start < stop
        assert 2 <= len(ticks) <= 7
        assert len({name for _, name in ticks}) == len(ticks)
        assert all(start <= value <= stop for value, _ in ticks)


def test_the_pdf_of_a_chart_has_its_size_and_its_texts():
    def as_pdf(label):
        panel = Panel((20, 5, 70, 50), Axis(0, 1, label, [(0, "0"), (1, "1")]), Axis(0, 1))
        return drawn(chart(panel.drawn(), (100.0, 72.0), "label"))

    made = as_pdf("share")
    assert b"/MediaBox [0 0 100 72]" in made.replace(b"[ 0 0 100 72 ]", b"[0 0 100 72]")
    assert b"DejaVuSans" in made
    assert made == as_pdf("share") != as_pdf("other")
