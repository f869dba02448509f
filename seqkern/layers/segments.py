"""Smoothing along the chain by segments with minimum lengths."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.parameters import integer, numbers_by_name, real
from seqkern.layers.layer import Layer
from seqkern.layers.multinomial import fit_multinomial, log_probabilities
from seqkern.layers.segment_model import SegmentModel, Steps, best_path, class_probabilities
from seqkern.layers.true_segments import TrueSegments
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)
ARRAYS = ("weights", "intercepts", "context_weights", "context_intercepts", "shares")
LONGEST = 100  # of the shortest lengths
LEAST = np.log(1e-12)
"""Lower bound of probabilities, so that a single residue does not exclude a class."""


class SegmentLayer(Layer):
    """Best path through segments with minimum lengths and learned transitions.

    Scores become probabilities by multinomial logistic regression. Divided by the classes' shares, these are the
    evidence of a hidden Markov model over segments, whose transitions are counted in the true states: it gives
    probabilities of the classes at each residue over all paths. A second regression on both makes the probabilities P
    whose logarithms `transform` gives. `predict` gives the path s of greatest
    Σ log P(s_i) + w · (log P(s) − Σ log share(s_i)) (Viterbi), with P(s) by the model and w the weight: no segment of
    it is shorter than its class allows, but where a chain is shorter than any.

    Attributes
    ----------
    model_ : SegmentModel
    weight_ : float
    weights_, intercepts_, context_weights_, context_intercepts_, shares_ : ndarray of float64
        Of the regressions, and the logarithms of the classes' shares.

    Notes
    -----
    Missing residues within a chain count as residues without information.

    References
    ----------
    Kabsch, Sander: Dictionary of protein secondary structure. Biopolymers 22:2577, 1983.
    Schmidler, Liu, Brutlag: Bayesian segmentation of protein secondary structure. J. Comput. Biol. 7:233, 2000.
    Bourlard, Morgan: Connectionist speech recognition: a hybrid approach. Kluwer 1994.

    Examples
    --------
    A residue within a helix scores as coil; no training helix is shorter than six residues:

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.layers import SegmentLayer
    >>> from seqkern.residues import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = SegmentLayer().fit(scores, residues, states, classes=["H", "C"])
    >>> layer.model_.shortest
    array([6, 2])
    >>> "".join("HC"[state] for state in scores.argmax(axis=1)[:12])
    'CCHHHCHHCCCC'
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "segments"
    summary = "Chooses the states of a chain together, so that no segment is shorter than in the training set."
    calibrated = True
    decides = True

    shortest: dict[str, int] | str | None = numbers_by_name(
        value=integer(low=1, high=LONGEST),
        default=None,
        text=True,
        doc="Shortest segment of each class, in residues, by name or as text such as ``H:3 E:2``; "
        "other classes have 1. By default the shortest true segment, ignoring fewer than 1 % of a "
        "class.",
    )
    weight: float | None = real(
        default=None,
        low=0,
        high=1,
        doc="w, below 1 because the probabilities already reflect the neighbours. By default the "
        "value, among several, with the most residues correct.",
    )

    def _check_parameters(self) -> None:
        for name, length in (read_lengths(self.shortest) or {}).items():
            check_integer(f"shortest {name}", length, 1, LONGEST)

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raise ParameterError if `shortest` names an unknown class."""
        for name in read_lengths(self.shortest) or {}:
            if name not in classes:
                raise ParameterError(
                    f"layer 'segments': shortest names {name!r}, which is not a class",
                    remedy=f"classes are: {', '.join(classes)}",
                )

    def lengths(self, true: TrueSegments) -> npt.NDArray[np.int64]:
        """Return the shortest length of each class.

        Parameters
        ----------
        true : TrueSegments
            Source of the lengths if `shortest` is None.

        Returns
        -------
        ndarray of int64, shape (k,)
            In residues.
        """
        named = read_lengths(self.shortest)
        if named is None:
            return true.shortest(len(self.classes_), LONGEST)
        return np.array([named.get(name, 1) for name in self.classes_], dtype=np.int64)

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn the regressions, the transitions, and their weight."""
        k, steps, known = len(self.classes_), Steps.of(chains), np.flatnonzero(y != UNLABELLED)
        y = y[known]
        self.weights_, self.intercepts_, converged = fit_multinomial(scores[known], y)
        self.shares_ = np.log(np.bincount(y, minlength=k) / len(y))
        true = TrueSegments.of(chains.take(known), y)
        self.model_ = true.model(self.lengths(true))
        context = self._context(scores, steps)
        self.context_weights_, self.context_intercepts_, also = fit_multinomial(context[known], y, k)
        self.not_converged_ = (not converged) + (not also)
        found = log_probabilities(context, self.context_weights_, self.context_intercepts_)
        right = {
            weight: np.count_nonzero(self._path(found, steps, weight)[known] == y)
            for weight in (WEIGHTS if self.weight is None else (float(self.weight),))
        }
        self.weight_ = max(right, key=right.__getitem__)

    def _context(self, scores: npt.NDArray[np.float64], steps: Steps) -> npt.NDArray[np.float64]:
        """Return logarithms of probabilities of the classes by residues alone, and over all paths, side by side."""
        alone = np.maximum(log_probabilities(scores, self.weights_, self.intercepts_), LEAST)
        over_paths = class_probabilities(self.model_, alone - self.shares_, steps)
        return np.column_stack([alone, np.log(np.maximum(over_paths, np.exp(LEAST)))])

    def _path(self, found: npt.NDArray[np.float64], steps: Steps, weight: float) -> npt.NDArray[np.int64]:
        """Return the best path, by logarithms of probabilities."""
        model = self.model_._replace(weight=weight)
        return best_path(model, np.maximum(found, LEAST) - weight * self.shares_, steps)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        context = self._context(np.asarray(scores, dtype=np.float64), Steps.of(chains))
        return log_probabilities(context, self.context_weights_, self.context_intercepts_)

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.int64]:
        """Return the classes on the best path of each chain, int64 (n,)."""
        return self._path(self.transform(scores, chains), Steps.of(chains), self.weight_)

    def learned(self) -> dict[str, Any]:
        """Return the shortest lengths and the weight, unless they were given."""
        lengths = zip(self.classes_, self.model_.shortest.tolist(), strict=True)
        found = {f"shortest {name}": length for name, length in lengths} if self.shortest is None else {}
        return found | ({"weight": self.weight_} if self.weight is None else {})

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        model = self.model_._asdict()
        del model["weight"]  # 1, as it is counted
        return {"weight": self.weight_}, model | {name: getattr(self, f"{name}_") for name in ARRAYS}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.weight_, k = float(header["weight"]), len(self.classes_)
        shapes = ((k, k), (k,), (2 * k, k), (k,), (k,))
        for name, shape in zip(ARRAYS, shapes, strict=True):
            setattr(self, f"{name}_", self._stored(arrays, name, *shape))
        fields = {"shortest": (k,), "start": (k,), "stay": (k,), "follow": (k, k)}
        parts: dict[str, Any] = {name: self._stored(arrays, name, *shape) for name, shape in fields.items()}
        model = SegmentModel(**parts)
        if model.shortest.dtype != np.int64 or not np.all((model.shortest >= 1) & (model.shortest <= LONGEST)):
            raise ModelError(
                "not the state of layer 'segments': its lengths are damaged",
                remedy="the model file is corrupted; train the model again",
            )
        self.model_ = model


def read_lengths(shortest: dict[str, int] | str | None) -> dict[str, int] | None:
    """Return shortest lengths by name of class.

    Parameters
    ----------
    shortest : dict, str or None
        The lengths, or text such as ``H:3 E:2``.

    Returns
    -------
    dict of str to int, or None for None

    Raises
    ------
    ParameterError
        If the text cannot be read.
    """
    if shortest is None or isinstance(shortest, dict):
        return shortest
    found = re.findall(r"(\S+?):(\d+)", str(shortest))
    if " ".join(f"{name}:{length}" for name, length in found) != str(shortest).strip():
        raise ParameterError(
            f"shortest={shortest!r} is not possible", remedy="write it as {H: 3, E: 2}, or as text H:3 E:2"
        )
    return {name: int(length) for name, length in found}
