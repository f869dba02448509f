"""A combination of kernels rather than one that is hardly better: it depends less on which kernel seemed best."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.candidates import Candidate
from seqkern.evaluation.selection import Choice, MakeSolver, Pair, select, standard_error
from seqkern.evaluation.small_samples import hanley_mcneil_variance
from seqkern.sequences.labels import Labels


def hedged(
    choice: Choice,
    combinations: Collection[str],
    pairs: Mapping[str, Pair],
    labels: Labels,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    **options: Any,
) -> Choice:
    """Return the choice, or that of a combination of kernels within one standard error of it.

    Which of several kernels is best within one standard error is a matter of the folds. Their combination contains
    them all, and so the one that is best on new samples.

    Parameters
    ----------
    choice : Choice
        Made on the same samples with the same options.
    combinations : collection of str
        Names of the kernels that combine others.
    pairs, labels, candidates, make_solver : object
        As for `select`.
    **options : object
        Further options of `select`.

    Returns
    -------
    Choice
        With all candidates of `choice`.

    Raises
    ------
    ParameterError, FoldError
        As for `select`.
    """
    if choice.kernel in combinations or not choice.scores.shape[1]:
        return choice
    usable = ~np.isnan(choice.scores).any(axis=0)
    means = choice.scores[:, usable].mean(axis=1)
    places = [place for place, (kernel, _) in enumerate(choice.candidates) if kernel in combinations]
    best = max(places, key=lambda place: means[place], default=None)
    error = _error(choice.scores[choice.place, usable], choice.score, labels)
    if best is None or means[best] < choice.score - error:
        return choice
    kernel = choice.candidates[best][0]
    own = [one for one in candidates if one[0] == kernel]
    second = select({kernel: pairs[kernel]}, labels, own, make_solver, **options)
    if second.scores.shape[1] != choice.scores.shape[1]:  # a single candidate, or folds that it cannot be scored on
        return choice
    new = [place for place, one in enumerate(second.candidates) if one not in choice.candidates]
    tried = [*choice.candidates, *(second.candidates[place] for place in new)]
    return replace(
        second,
        candidates=tried,
        scores=np.vstack((choice.scores, second.scores[new])),
        not_converged=choice.not_converged + second.not_converged,
        n_fits=choice.n_fits + second.n_fits,
        worst_gap=max((gap for gap in (choice.worst_gap, second.worst_gap) if gap is not None), default=None),
        tied=[tried.index(second.candidates[place]) for place in second.tied],
    )


def _error(scores: npt.NDArray[np.float64], mean: float, labels: Labels) -> float:
    """Return the standard error of a score: that over the folds, or if larger that of an AUC of as many samples.

    Three folds may agree by chance; their standard error alone would then be too small.
    """
    over_folds = standard_error(scores)
    if labels.kind != "binary" or not 0 <= mean <= 1:
        return over_folds
    positives = int(np.sum(labels.y == 1))
    return max(over_folds, float(np.sqrt(hanley_mcneil_variance(mean, positives, len(labels) - positives))))
