"""The test samples that the best method finds hardest, with their sequences."""

from collections.abc import Callable

from seqkern.core.markup import Markup, tag
from seqkern.explain.positions import load_positions
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.dataset_results import Method
from seqkern.report.hard_sequences import sequence_cell, stored_sequences
from seqkern.report.outcomes import HardCase, hard_cases
from seqkern.report.view import View, method_name, paragraph

HARD = {
    "binary": (
        "Misordered: the share of opposite-class samples in the same test set that are ranked on the wrong side of "
        "this one.",
        "Decision value",
        "Share of the opposite class misordered",
    ),
    "multiclass": (
        "The margin is the decision value of the predicted class minus that of the true class.",
        "Predicted",
        "Margin",
    ),
    "real": ("They have the largest differences between predicted and true value.", "Predicted", "Difference"),
}


def hard_section(view: View) -> Markup:
    """Return the samples that the best method finds hardest, and where all predictions are.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    method = next((m for m in view.ranking.best if m in view.outcomes), next(iter(view.outcomes), None))
    decisions = None if method is None else view.dataset.decisions(method)
    if method is None or decisions is None:
        text = "No predictions were found."
        return view.section("predictions", "Predictions", paragraph(text, class_="missing"))
    where = paragraph("All predictions are in the tables ", tag("code", "decisions.tsv"), _files_link(), ".")
    cases = hard_cases(view.dataset, decisions)
    if not cases:
        done = "predicted" if view.dataset.kind == "multiclass" else "ranked"
        right = paragraph(method_name(method), f" {done} no test {view.sample_text('sequence')} wrongly.")
        return view.section("predictions", "Hard cases", right, where)
    intro = paragraph(
        "Hard cases are often mislabelled, unusual, or beyond what the kernel can see. ",
        view.sample_text(HARD[view.dataset.kind][0]),
    )
    return view.section("predictions", "Hard cases", intro, *_cases(view, method, cases), where)


def _files_link() -> Markup:
    """Return a link to the list of files."""
    return Markup(f" ({tag('a', 'all files', href='#files')})")


def _cases(view: View, method: Method, cases: list[HardCase]) -> list[Markup | None]:
    """Return the table of hard cases, and what shades in its sequences mean."""
    kind = view.dataset.kind
    sequences = stored_sequences(view.dataset, (case[1] for case in cases))
    cell, legend = _shading(view)
    rows = []
    for unit, name, label, value, wrong in cases:
        shown = [value if isinstance(value, str) else number(value)]
        shown.append(Markup(f"{number(100 * wrong, 1)} %") if kind == "binary" else number(wrong))
        sequence = [cell(sequences[name]) if name in sequences else number(None)] if sequences else []
        rows.append([name, label, unit, *shown, *sequence])
    columns: list[Column | str] = [
        Column(view.sample_text("Sequence") if not sequences else "Name", False),
        Column("True value" if kind == "real" else "True class", False),
        Column(view.word.capitalize(), False),
        Column(HARD[kind][1], kind != "multiclass"),
        Column(HARD[kind][2]),
    ]
    if sequences:
        columns.append(Column("Window" if view.dataset.residues else "Sequence", False))
    caption = ["Hardest for ", method_name(method), ", each predicted when it was in the test set"]
    return [table(caption, columns, rows, class_="ids"), legend if sequences else None]


def _shading(view: View) -> tuple[Callable[[str], Markup], Markup | None]:
    """Return how a sequence becomes a cell, and what shades mean where the results hold the importance of positions."""
    path, entry = view.dataset.folder("importance") / "importance.npz", view.dataset.entry.importance
    if entry is None or not path.exists():
        return sequence_cell, None
    positions = load_positions(path)
    importance = positions.importance
    matrix, letters = importance.matrices[1], importance.alphabet.letters
    largest, centre = float(abs(matrix).max()), 1 - positions.first if positions.has_site else None

    def shaded(sequence: str) -> Markup:
        if len(sequence) != importance.length:
            return sequence_cell(sequence)
        places = [letters.find(letter) for letter in sequence]
        weights = [float(row[code]) if code >= 0 else 0.0 for row, code in zip(matrix, places, strict=True)]
        return sequence_cell(sequence, weights, largest, centre)

    model = method_name((entry.kernel, entry.solver))
    sides = positions.classes or ("a smaller value", "a larger value")
    blue, orange = tag("i", "blue", class_="for"), tag("i", "orange", class_="against")
    signs = [blue, f" speaks for {sides[1]}, ", orange, f" for {sides[0]}"]
    link = view.link("importance of positions", "importance")
    return shaded, paragraph("Shades: ", link, " in the model of ", model, "; ", signs, ".", class_="note shades")
