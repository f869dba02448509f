"""A trained predictor of the state of each residue: a model of windows, and layers after it."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ModelError
from seqkern.layers.chain import Decided, Layers, as_columns
from seqkern.models.model import Model
from seqkern.residues import Residues, check_window, residue_units
from seqkern.residues.confidence import confidence


@dataclass(frozen=True, eq=False)
class ResidueModel:
    """A predictor of states, which takes whole chains.

    Attributes
    ----------
    windows : Model
        Decides about the window around a residue.
    window : int
        Its letters, an odd number.
    layers : Layers, optional
        What follows its decisions.
    """

    windows: Model
    window: int
    layers: Layers | None = None

    @property
    def classes(self):
        """Tuple of str: the states."""
        return self.windows.classes

    @property
    def kind(self):
        """``"binary"`` or ``"multiclass"``."""
        return self.windows.kind

    @property
    def kernel(self):
        """The Kernel of windows, fitted."""
        return self.windows.kernel

    @property
    def alphabet(self):
        """The Alphabet of the chains."""
        return self.windows.alphabet

    @property
    def policies(self):
        """How the chains were read that it was trained on."""
        return self.windows.policies

    @property
    def record(self):
        """How the model was made."""
        return self.windows.record

    def decide(self, chains, *, n_threads=None):
        """Return what is predicted of every residue.

        Parameters
        ----------
        chains : SequenceSet
            Whole chains, with the profiles that the kernel reads.
        n_threads : int, optional

        Returns
        -------
        residues : Residues
            All n residues, chain after chain.
        decided : Decided
            ``scores`` (n, classes), ``predicted`` and, if there are any, ``probabilities``.

        Raises
        ------
        ModelError, SequenceError
            As `Model.decision`.
        """
        windows, residues = residue_units(chains, self.window)
        model = self.windows
        decisions = model.decision(windows, n_threads=n_threads)
        if self.layers is not None:
            return residues, self.layers.decide(decisions, residues)
        probabilities = None
        if model.calibration is not None:
            above = model.calibration.probabilities(decisions)
            probabilities = np.column_stack([1 - above, above])
        place = {name: code for code, name in enumerate(self.classes)}
        predicted = np.array([place[name] for name in model.classify(decisions).tolist()], dtype=np.int64)
        return residues, Decided(as_columns(decisions), predicted, probabilities)

    @staticmethod
    def confidence(decided):
        """Return how sure each prediction is, float64 (n,) from 0 to 1; None without probabilities.

        Margins of decisions have no scale that does not depend on the residues beside; see
        `seqkern.residues.confidence`.
        """
        if decided.probabilities is None:
            return None
        return confidence(decided.probabilities, decided.predicted, probabilities=True)

    def save(self, path):
        """Write the model to one file; FileError if that cannot be written."""
        header, arrays = {"window": int(self.window), "layers": None}, {}
        if self.layers is not None:
            header["layers"], own = self.layers.state()
            arrays = nest("layers", own)
        self.windows.save(path, residues=(header, arrays))

    @classmethod
    def from_state(cls, windows, header, arrays):
        """Return the model of what `save` wrote besides the Model of windows.

        Raises
        ------
        ModelError, ParameterError
            If the parts do not fit together.
        """
        check_window(header["window"])
        made = cls(windows, header["window"])
        if len(windows.support) and np.any(windows.support.lengths != made.window):
            raise ModelError("its windows have other lengths")
        if header["layers"] is None:
            return made
        layers = Layers.from_state(header["layers"], unnest("layers", arrays))
        if any(layer.classes_ != windows.classes for layer in layers.layers_):
            raise ModelError("its layers are of other classes")
        # weights that are not finite, or of another shape, are found before they reach a prediction
        nothing = Residues.of_chains(windows.support.take(slice(0, 0)), made.window)
        layers.decide(np.zeros((0, len(windows.classes))), nothing)
        if not all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f"):
            raise ModelError("its layers hold numbers that are not finite")
        return cls(windows, header["window"], layers)
