"""A trained predictor of residue states: a model of windows, and layers after it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.core.archive import nest, save_archive, unnest
from seqkern.core.errors import ModelError
from seqkern.core.types import Array, Floats
from seqkern.formats.residues import Residues, check_window, confidence, residue_samples
from seqkern.kernels.kernel import Kernel
from seqkern.methods.model import Model, check_finite
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.layers.chain import Decided, Layers, as_columns


@dataclass(frozen=True, eq=False)
class ResidueModel:
    """A predictor of states for whole chains.

    Attributes
    ----------
    windows : Model
        Classifies the window around a residue.
    window : int
        Residues of the window, an odd number.
    layers : Layers, optional
        The layers after it.

    Examples
    --------
    Helix and coil, from the composition of a window of five residues:

    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.formats import residue_samples
    >>> from seqkern.sequences.labels import make_labels
    >>> chains = SequenceSet.from_strings(["GSAEELLAKAGPSG", "PGEELLKALGNGSG"], "protein")
    >>> windows, residues = residue_samples(chains, 5)
    >>> labels = make_labels(windows.ids, list("CCHHHHHHHHCCCC" "CCHHHHHHHCCCCC"))
    >>> model = train_model(windows, labels, SpectrumKernel(1), "csvc:C=10", residues=residues)
    >>> residues, decided = model.decide(SequenceSet.from_strings(["GSAELLKKGSP"], "protein"))
    >>> "".join(model.classes[code] for code in decided.predicted)
    'CCHHHHHCCCC'
    """

    windows: Model
    window: int
    layers: Layers | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """The states, tuple of str."""
        return self.windows.classes

    @property
    def kind(self) -> str:
        """The kind of labels, ``"binary"`` or ``"multiclass"``."""
        return self.windows.kind

    @property
    def kernel(self) -> Kernel:
        """The Kernel of windows, fitted."""
        return self.windows.kernel

    @property
    def alphabet(self) -> Alphabet | None:
        """The Alphabet of the chains."""
        return self.windows.alphabet

    @property
    def policies(self) -> dict[str, str]:
        """The policies for reading the chains in training."""
        return self.windows.policies

    @property
    def record(self) -> dict[str, Any]:
        """The record of the training."""
        return self.windows.record

    def decide(self, chains: SequenceSet, *, n_threads: int | None = None) -> tuple[Residues, Decided]:
        """Return the predictions for every residue.

        Parameters
        ----------
        chains : SequenceSet
            Whole chains, with the profiles that the kernel reads.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        residues : Residues
            All n residues, chain by chain.
        decided : Decided
            ``scores`` (n, classes), ``predicted`` and, if there are any, ``probabilities``.

        Raises
        ------
        ModelError, SequenceError
            As for `Model.decision`.
        """
        windows, residues = residue_samples(chains, self.window)
        if self.layers is not None:
            decided = self.layers.decide(self.windows.decision(windows, n_threads=n_threads), residues)
            check_finite(decided.scores, windows.ids)
            return residues, decided
        decisions, predicted, probabilities, _ = self.windows.decide(windows, n_threads=n_threads)
        if probabilities is not None:
            probabilities = np.column_stack([1 - probabilities, probabilities])
        return residues, Decided(as_columns(decisions), predicted, probabilities)

    @staticmethod
    def confidence(decided: Decided) -> Floats | None:
        """Return the confidence of each prediction; None without probabilities.

        Margins of decision values have no scale independent of other residues; see
        `seqkern.formats.residues`.

        Parameters
        ----------
        decided : Decided
            For n residues, as from `decide`.

        Returns
        -------
        ndarray of float64, shape (n,), or None
            From 0 to 1.
        """
        if decided.probabilities is None:
            return None
        return confidence(decided.probabilities, decided.predicted, probabilities=True)

    def save(self, path: str | Path) -> None:
        """Write the model to one file.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If it cannot be written.
        """
        save_archive(path, *self.state())

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the content of the model file, like `Model.state`."""
        header: dict[str, Any] = {"window": int(self.window), "layers": None}
        arrays: dict[str, Array] = {}
        if self.layers is not None:
            header["layers"], own = self.layers.state()
            arrays = nest("layers", own)
        return self.windows.state(residues=(header, arrays))

    @classmethod
    def from_state(cls, windows: Model, header: dict[str, Any], arrays: dict[str, Array]) -> "ResidueModel":
        """Return the model from the parts that `save` wrote beside the Model of windows.

        Parameters
        ----------
        windows : Model
            The model of windows from the same file.
        header : dict
            The JSON part.
        arrays : dict of str to ndarray
            The arrays by name in the file.

        Returns
        -------
        ResidueModel

        Raises
        ------
        ModelError, ParameterError
            If the parts are inconsistent.
        """
        check_window(header["window"])
        made = cls(windows, header["window"])
        X = windows.support
        if not isinstance(X, SequenceSet) or np.any(X.lengths != made.window):
            raise ModelError("window lengths differ")
        if header["layers"] is None:
            return made
        layers = Layers.from_state(header["layers"], unnest("layers", arrays))
        if any(layer.classes_ != windows.classes for layer in layers.layers_):
            raise ModelError("the layers have different classes")
        # detects weights that are not finite, or of another shape, before prediction
        nothing = Residues.of_chains(X.take(slice(0, 0)), made.window)
        layers.decide(np.zeros((0, len(windows.classes))), nothing)
        if not all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f"):
            raise ModelError("the layers contain numbers that are not finite")
        return cls(windows, header["window"], layers)
