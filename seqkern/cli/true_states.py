"""True states given to ``seqkern predict``: read once, matched with the chains, and scored."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seqkern.core.types import PathLike
    from seqkern.models.residue_model import ResidueModel
    from seqkern.residues import Residues
    from seqkern.sequences.sequence_set import SequenceSet


class TrueStates:
    r"""The file of true states.

    Parameters
    ----------
    file : str
        In a format of ``seqkern train --states``.
    model : ResidueModel
        Provides its states, and how they were reduced in training.
    together : bool
        Whether the chains already carry their states, because one file holds residues and states.

    Examples
    --------
    >>> import tempfile
    >>> from types import SimpleNamespace
    >>> from seqkern import SequenceSet
    >>> model = SimpleNamespace(classes=("C", "H"), record={})
    >>> chains = SequenceSet.from_strings(["MKVLA"], "protein", ids=["1abc"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "true.ss")
    ...     with open(path, "w") as file:
    ...         length = file.write(">1abc\nCHHHC\n")
    ...     true = TrueStates(path, model, together=False)
    >>> true.of(chains).tracks["states"].tobytes()
    b'CHHHC'
    """

    def __init__(self, file: str, model: ResidueModel, together: bool) -> None:
        # imported here to keep --help fast
        from seqkern.residues.states import read_state_records

        self.file, self.together, self.classes = file, together, model.classes
        self.reduction = model.record.get("residues", {}).get("reduction")
        self._records = () if together else read_state_records(file)[0]
        self._left = {record.id for record in self._records}

    def of(self, chains: SequenceSet) -> SequenceSet:
        """Add the track of true states to chains, reduced as in training if necessary.

        Parameters
        ----------
        chains : SequenceSet
            Some of the chains that the model is applied to.

        Returns
        -------
        SequenceSet

        Raises
        ------
        SequenceError, LabelError
            If a chain has no states, or not one for each residue.
        """
        # imported here to keep --help fast
        from seqkern.residues import STATES
        from seqkern.residues.reductions import reduce_states
        from seqkern.residues.states import match_states

        chains = chains.compact()
        if not self.together:
            others = [record.id for record in self._records]  # of chains in other chunks, or absent
            chains = match_states(chains, self._records, self.file, left_out=others, classes=self.classes)
            self._left.difference_update(chains.ids)
        if self.reduction is None:
            return chains
        states = reduce_states(chains.tracks[STATES], chains.stops, self.reduction, self.file, needed=False)
        return chains.replace(tracks={**chains.tracks, STATES: states})

    def counts(self) -> dict[str, int]:
        """Return the number of chains in the file that match no sequence."""
        # imported here to keep --help fast
        from seqkern.residues.states import LEFT_OUT

        return {LEFT_OUT: len(self._left)}


def is_one_file(first: PathLike | None, second: PathLike | None) -> bool:
    """Return whether two paths name the same file.

    Parameters
    ----------
    first, second : path-like or None
        Files, or standard input.

    Returns
    -------
    bool
        False if one is standard input or does not exist.
    """
    if first is None or second is None:
        return False
    return os.path.isfile(first) and os.path.isfile(second) and os.path.samefile(first, second)


def tell_scores(scored: Sequence[tuple[Residues, npt.NDArray[np.int64]]], model: ResidueModel) -> None:
    """Print the scores of the predictions on standard error, one a line.

    Parameters
    ----------
    scored : sequence of (Residues, ndarray of int64)
        Residues with their true states, and the codes of their predicted states.
    model : ResidueModel
        The model that predicted.
    """
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.evaluation.states import state_scores
    from seqkern.report.sentences import metric

    # in a one-against-rest model the other states have no letter of their own
    code = np.full(256, -1 if model.kind == "multiclass" else 0, dtype=np.int64)
    code[0] = -1
    for number, name in enumerate(model.classes):
        if len(name) == 1:
            code[ord(name)] = number
    true, predicted, chain, place, first, others = [], [], [], [], 0, np.zeros(256, dtype=np.int64)
    for residues, codes in scored:
        states = code[residues.states()]
        known = states >= 0
        others += np.bincount(residues.states()[~known], minlength=256)
        true.append(states[known])
        predicted.append(codes[known])
        chain.append(first + residues.record[known])
        place.append(residues.place[known])
        first += len(residues.chains)
    others[0] = 0  # not known
    if others.any():
        names = ", ".join(map(chr, np.flatnonzero(others)))
        print(
            f"seqkern: {others.sum()} residues have states unknown to the model and are not scored: {names}",
            file=sys.stderr,
        )
    parts = [np.concatenate(part) for part in (true, predicted, chain, place)]
    if not len(parts[0]):
        print("seqkern: no residue has a known state", file=sys.stderr)
        return
    n_chains = len(np.unique(parts[2]))
    print(f"seqkern: {len(parts[0])} residues of {n_chains} chains have a known state; scores:", file=sys.stderr)
    found = state_scores(parts[0], parts[1], parts[2], parts[3], model.classes)
    scores = {metric(key): value for key, value in found.items()}
    wide = max(len(words.name) for words in scores)
    for words, value in scores.items():
        text = words.sentence.removesuffix(".").partition(". ")[0]
        print(f"  {words.name:<{wide}} {value:7.4f}  {text}", file=sys.stderr)
