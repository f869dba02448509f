"""Detect files of residue states given as sequences: H, E and C are amino acids as well."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from seqkern.models.residue_model import ResidueModel
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet

SHORTEST = 20
"""Minimum number of letters: a shorter peptide may happen to consist of letters of states."""


class LooksLikeStates:
    """Watches the chains that a residue model is applied to.

    Parameters
    ----------
    file : str
        Source of the chains, for the warnings.
    model : ResidueModel
        The model; checks are made for proteins only, whose alphabet has many letters that are not states.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from seqkern.sequences.alphabets import DNA, PROTEIN
    >>> [LooksLikeStates("new.fasta", SimpleNamespace(alphabet=alphabet)).watches for alphabet in (PROTEIN, DNA)]
    [True, False]
    """

    def __init__(self, file: str, model: ResidueModel) -> None:
        # imported here to keep --help fast
        from seqkern.residues.states import DSSP, OF_PROTEINS

        self.file, letters = file, cast("Alphabet", model.alphabet).letters
        self.watches = set(letters) >= OF_PROTEINS
        self._states = [code for code, letter in enumerate(letters) if letter in DSSP]
        self._total, self._others, self._told = 0, 0, False
        self._first: str | None = None

    def see(self, chains: SequenceSet) -> None:
        """Check some chains; warn of the first one whose second half looks like the states of its first half.

        Parameters
        ----------
        chains : SequenceSet
            Chains in the alphabet of the model.
        """
        # imported here to keep --help fast
        import numpy as np

        # imported here to keep --help fast
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
                    f"{self.file}: the second half of record {name!r} looks like the states of its first half; if "
                    "the file holds residues and states, also give it as --states, or remove the states"
                )
            self._first = name if self._first is None else self._first
            self._total += len(codes)
            self._others += int(other.sum())

    def end(self) -> None:
        """Warn if all chains consist of letters of states."""
        if self.watches and not self._others and self._total >= SHORTEST:
            _warn(
                f"{self.file}: all records, from {self._first!r} on, consist of letters of states (H, E, C, …) and "
                "were read as amino acids; give the sequences, not a file of states"
            )


def _warn(text: str) -> None:
    """Print a warning on standard error."""
    print(f"seqkern: warning: {text}", file=sys.stderr)
