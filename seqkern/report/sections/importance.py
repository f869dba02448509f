"""Importance of positions of a data set's windows, to the method that the configuration names."""

from collections.abc import Mapping
from typing import Any

from seqkern.core.markup import Markup
from seqkern.explain.positions import load_positions
from seqkern.explain.positions_page import positions_content
from seqkern.figures.numbers import number
from seqkern.report.files import read_json
from seqkern.report.trained import chosen_values
from seqkern.report.view import View, method_name, paragraph
from seqkern.study.dataset_entries import Importance


def importance_section(view: View) -> Markup | None:
    """Return the logos and the heat map; None where the study asks for no importance.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None where the configuration names no importance.
    """
    dataset = view.dataset
    folder, entry = dataset.folder("importance"), dataset.entry.importance
    if entry is None:
        return None
    summary = read_json(folder / "importance.json")
    if summary is None:
        text = "No results on the importance of positions were found."
        return view.section("importance", "Importance of positions", paragraph(text, class_="missing"))
    positions = load_positions(folder / "importance.npz")
    content = positions_content(positions, f"{dataset.name}, kernel {entry.kernel}")
    return view.section("importance", "Importance of positions", _trained(entry, summary), *content)


def _trained(entry: Importance, summary: Mapping[str, Any]) -> Markup:
    """Return in words what was trained on what."""
    method = method_name((entry.kernel, entry.solver))
    part, n = summary.get("part"), number(summary.get("n"), 0)
    on = f"the training set of the split {part}" if part else "all windows of the data set"
    how = chosen_values(summary)
    pair = f" For several classes, this is the classifier for {summary['pair']}." if summary.get("pair") else None
    text = " The scores above come from other models, each trained without its test set."
    return paragraph("A model of ", method, f" was trained on {on} (", n, " windows)", how, ".", pair, text)
