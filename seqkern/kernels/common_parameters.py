"""Declarations of parameters that many kernels have, worded for each."""

from typing import Any

from seqkern.core.parameters import changed, choice

SUMMED = (
    "With several (``3+4`` in text, ``{sum: [3, 4]}`` in a study, a list in Python), K is the weighted sum of the "
    "kernels of each k"
)


def algorithm_choice(*algorithms: str, doc: str) -> Any:
    """Declare the choice of an algorithm, one of `algorithms` or ``"auto"``; `doc` describes them."""
    choices = ("auto", *algorithms)
    return choice(default="auto", choices=choices, execution=True, doc=f"Algorithm{doc}; results are identical.")


def short_rule(least: str, missing: str) -> Any:
    """Declare what happens to sequences shorter than `least`, which have no `missing`."""
    return choice(
        default="error",
        doc=f"What to do with sequences shorter than {least}: raise an error, or treat them as having {missing}.",
    )


def zero_rule(record: str) -> Any:
    """Redeclare `zero_diagonal` of a kernel with K(x, x) = 0 for `record`."""
    return changed(default="error", doc=f"When normalising, what to do with {record}: raise an error, or return zeros.")
