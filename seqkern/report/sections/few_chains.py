"""What to bear in mind where training or test sets of residues have few chains, however many residues they have."""

from collections.abc import Iterator, Sequence

from seqkern.core.markup import Markup
from seqkern.figures.numbers import plural
from seqkern.report.chain_counts import PARTS
from seqkern.report.view import View, method_names

FEW = 10
FEW_FOR_LAYERS = 50
"""Chains of a training set below which a layer after the solver has too little to learn from."""
EFFECTS = {
    "train": "this is little training data, however many residues the chains have",
    "test": "residues of one chain tend to be right or wrong together, so a single chain changes the score a lot",
}


def few_chains(view: View) -> Iterator[Markup]:
    """Yield sentences on test and training sets of few chains, as Markup.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Yields
    ------
    Markup
    """
    counts = view.chain_counts
    for part, name in PARTS.items():
        few = [one[part] for one in counts.values() if one[part] < FEW]
        if few:
            yield _sentence(view, few, name, FEW, f"{EFFECTS[part]}.")
    few = [one["train"] for one in counts.values() if one["train"] < FEW_FOR_LAYERS]
    layered = [m for m in view.dataset.methods if view.dataset.solver(m.solver).has_layers]
    if few and layered:
        effect = Markup(
            f"the layers of {method_names(layered)} learn from decisions on these few chains and may "
            "reduce accuracy. Compare with the same solver without layers."
        )
        yield _sentence(view, few, PARTS["train"], FEW_FOR_LAYERS, effect)


def _sentence(view: View, few: Sequence[int], name: str, limit: int, effect: str) -> Markup:
    """Return the sentence that so many parts have fewer chains than a limit, and what follows."""
    total, least = len(view.chain_counts), plural(min(few), "chain")
    if total == 1:
        return Markup(f"the {name} set has only {view.link(least, 'folds')}: {effect}")
    link = view.link(f"{len(few)} of {total} splits", "folds")
    return Markup(f"in {link} the {name} set has fewer than {limit} chains (as few as {least}): {effect}")
