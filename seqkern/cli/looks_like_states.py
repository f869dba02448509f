"""Notice that a file of sequences holds states of residues: H, E and C are amino acids as well."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from seqkern.models.residue_model import ResidueModel
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet

SHORTEST = 20
"""Letters, less of which may be a peptide that happens to be written with the letters of states."""


class LooksLikeStates:
    """Watches the chains that a model of residues is applied to.

    Parameters
    ----------
    file : str
        What the chains are read from, for the warnings.
    model : ResidueModel
        Only one of proteins is watched: their alphabet holds many letters that are not states.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from seqkern.sequences.alphabets import DNA, PROTEIN
    >>> [LooksLikeStates("new.fasta", SimpleNamespace(alphabet=alphabet)).watches for alphabet in (PROTEIN, DNA)]
    [True, False]
    """

    def __init__(self, file: str, model: ResidueModel) -> None:
        # loaded when a verb runs: its help needs none of it
        from seqkern.residues.states import DSSP, OF_PROTEINS

        self.file, letters = file, cast("Alphabet", model.alphabet).letters
        self.watches = set(letters) >= OF_PROTEINS
        self._states = [code for code, letter in enumerate(letters) if letter in DSSP]
        self._total, self._others, self._told = 0, 0, False
        self._first: str | None = None

    def see(self, chains: SequenceSet) -> None:
        """Look at some chains; warn of the first one whose second half looks like the states of the first half.

        Parameters
        ----------
        chains : SequenceSet
            In the alphabet of the model.
        """
        # loaded when a verb runs: its help needs none of it
        import numpy as np

        # loaded when the verb runs: its help needs none of it
        from seqkern.sequences.alphabets import MASK

        if not self.watches:
            return
        for i, name in enumerate(chains.ids):
            codes = chains.codes[chains.starts[i] : chains.stops[i]]
            other = ~np.isin(codes, [*self._states, MASK])
            half, odd = divmod(len(codes), 2)
            if not (odd or self._told) and half >= SHORTEST and other[:half].any() and not other[half:].any():
                self._told = True
                _warn(
                    f"{self.file}: the second half of record {name!r} looks like the states of the first: if the file "
                    "holds letters and states together, name it as --states too, or give the letters alone"
                )
            self._first = name if self._first is None else self._first
            self._total += len(codes)
            self._others += int(other.sum())

    def end(self) -> None:
        """Warn if all that was seen are letters of states."""
        if self.watches and not self._others and self._total >= SHORTEST:
            _warn(
                f"{self.file}: all records, from {self._first!r} on, hold only letters of states (H, E, C, …): is this "
                "a file of states instead of sequences? it was read as amino acids"
            )


def _warn(text: str) -> None:
    """Print a warning on standard error."""
    print(f"seqkern: warning: {text}", file=sys.stderr)
