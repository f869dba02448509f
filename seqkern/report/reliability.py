"""Whether the probabilities of each method are true: reliability diagrams and Brier scores."""

from ..evaluation.metrics import brier
from ..evaluation.reliability import reliability
from . import figures
from .files import numbers
from .markup import number, tag
from .plots import panel, small_multiples
from .positive import positive_class
from .view import method_name, paragraph

INTRO = (
    "Each point is a tenth of the test sequences, those with probabilities near one another: how many of them are "
    "positive (upwards, with a 95 % interval), against the probability that they were given (to the right). On the "
    "diagonal the probabilities are true. They were fitted to decisions about held-out parts of the training data, "
    "never to test sequences. The Brier score is the mean squared error of the probabilities, lower is better; "
    "beside it stands what one constant probability, the share of positives, would reach."
)


def reliability_section(view):
    """Return a reliability diagram for each method with probabilities, the best first; None where there are none."""
    panels = []
    for method in view.outcomes:
        table = view.dataset.decisions(method)
        if "probability" not in table:
            continue
        p = numbers(table["probability"]).to_numpy()
        positive = _positive(view.dataset, table)
        bins = reliability(positive, p)
        share = positive.mean()
        label = f"{view.dataset.name}: reliability of kernel {method.kernel} with solver {method.solver}"
        constant = number(float(share * (1 - share)))
        caption = [method_name(method), tag("br"), "Brier ", number(brier(positive, p)), f" (constant {constant})"]
        panels.append(panel(figures.reliability_panel(bins, label), caption))
    if not panels:
        return None
    return view.section(
        "probabilities", "Probabilities", paragraph(view.said_of_units(INTRO)), small_multiples(panels, "combinations")
    )


def _positive(dataset, table):
    """Return whether each row's label is the positive class of its task."""
    names = {task: positive_class(dataset, rows) for task, rows in table.groupby("task", sort=False)}
    return (table["label"] == table["task"].map(names)).to_numpy()
