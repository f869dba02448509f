"""Sections of details, folded when the page is opened, each with a line that says what is inside."""

from seqkern.core.markup import Markup, tag

INSIDE = {
    "folds": "how many samples each training and test set holds",
    "comparisons": "every pair of methods: difference, p value, correction for the number of pairs",
    "units": "the score of each method on each test set",
    "choices": "what the inner cross-validation searched, and what it chose",
    "weights": "how much each kernel of a combination counts",
    "selection-bias": "scores that result from selecting features on the test data",
    "fits": "convergence, iterations and support vectors",
    "gram": "values of each kernel between all samples, as pictures",
    "eigenvalues": "which kernel matrices are positive semi-definite",
}
"""What is inside, by the name of the section."""


def folded_part(heading: Markup, inside: str, *content: object) -> Markup:
    """Return a part of the page that opens on a click on its heading.

    Parameters
    ----------
    heading : Markup
        An ``<h2>`` or ``<h3>``.
    inside : str
        What the part holds.
    *content : object
        What `tag` takes.

    Returns
    -------
    Markup
    """
    summary = tag("summary", heading, " ", tag("span", inside, class_="inside"))
    return tag("details", summary, content, class_="part")
