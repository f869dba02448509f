"""A kernel that looks at pairs of sequences, with its loops in Cython."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.parameters import changed, real
from seqkern.kernels import _common_substrings
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.prepared import Plan


@dataclass(frozen=True)
class Substrings:
    """Sequences as the loops read them: one buffer of codes, and where each record starts and stops."""

    codes: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    size: int
    decay: float

    def __len__(self):
        return len(self.starts)

    def rows(self, start, stop):
        """Return sequences `start` to `stop` as a view."""
        return Substrings(self.codes, self.starts[start:stop], self.stops[start:stop], self.size, self.decay)

    def diagonal(self):
        """Return float64 (n,): each sequence with itself."""
        out = np.empty(len(self))
        for i in range(len(self)):
            self.rows(i, i + 1).fill(self.rows(i, i + 1), out[i : i + 1, None])
        return out

    def fill(self, cols, out):
        """Write the kernel of each sequence and each of `cols` to `out`."""
        arrays = self.codes, self.starts, self.stops, cols.codes, cols.starts, cols.stops
        _common_substrings.fill(*arrays, self.size, self.decay**2, out)


class CommonSubstringsKernel(SequenceKernel):
    """K(x, y) = Σ_u λ^(2·|u|)·Φ_u(x)·Φ_u(y), over all strings u, Φ_u(x) how often u occurs in x."""

    name = "toy-common-substrings"
    summary = "Counts the strings of all lengths that two sequences share, long ones less."

    decay = real(default=0.5, low=0, high=1, open_low=True, kw_only=False, doc="λ: what each residue multiplies.")
    normalize = changed(default=True)

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [cls(), cls(0.9, normalize=False), cls(1.0, alphabet="HEC")]

    def _plan(self, X, Y):
        """Return the Plan: one nanosecond for each pair of residues."""
        pairs = float(X.lengths.sum()) * float((X if Y is None else Y).lengths.sum())
        return Plan("pairs", 1e-9 * pairs)

    def _prepare(self, X, like):
        return Substrings(X.codes, X.starts, X.stops, X.alphabet.size, self.decay)

    def _block(self, rows, cols, out):
        rows.fill(cols, out)
