"""Effects of variants on sites: the best site near a variant with either allele, for models of windows around sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Arrays
from seqkern.models.decisions import check_finite
from seqkern.models.scan import position_scorer
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.models.model import Model
    from seqkern.models.variants.scorer import Alleles

AT_ONCE = 1 << 10
LOSS, GAIN = b"loss", b"gain"


class SiteScorer:
    """The best site near a variant.

    Parameters
    ----------
    model : Model
        Trained on windows around sites, with one decision value.
    around : int
        How many bases before and after the variant a site may lie.
    """

    columns: Mapping[str, str] = {
        "reference": "Highest decision value of a site near the variant, with the reference allele",
        "alternative": "The same with the alternative allele",
        "delta": "alternative - reference",
        "ref_site": "Offset of that site's first base from the variant, and its strand, with the reference allele",
        "alt_site": "The same with the alternative allele",
        "effect": "loss or gain: only one allele has a site above the model's threshold",
    }

    def __init__(self, model: Model, around: int = 50) -> None:
        assert model.alphabet is not None
        assert model.window is not None
        self.model, self.around, self.window = model, around, model.window
        self.alphabet: Alphabet = model.alphabet
        self.flank = around + max(self.window.left, self.window.right) + 1
        self.site = self.window.site_codes(self.alphabet)
        self._weights = position_scorer(model)
        self.strands = (0, 1) if self.alphabet.complement is not None else (0,)

    def score(self, alleles: Alleles, n_threads: int | None = None) -> Arrays:
        """Return the best sites with either allele; see `Scorer.score`.

        Parameters
        ----------
        alleles : Alleles, n
            With the bases around them.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        dict of str to ndarray, shape (n,)
            NaN where there is no site.
        """
        n = len(alleles.places)
        best, sites = np.full((2, n), np.nan), np.zeros((2, n), dtype="S16")
        for start in range(0, n, AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, n))
            for number, column in enumerate((alleles.refs, alleles.alts)):
                best[number, rows], sites[number, rows] = self._best(alleles, rows, column, n_threads)
        cut = 0.0 if self.model.threshold is None else self.model.threshold.value
        effect = np.zeros(n, dtype="S4")
        above = best > cut  # NaN is not
        effect[above[0] & ~above[1]], effect[above[1] & ~above[0]] = LOSS, GAIN
        return {
            "reference": best[0],
            "alternative": best[1],
            "delta": best[1] - best[0],
            "ref_site": sites[0],
            "alt_site": sites[1],
            "effect": effect,
        }

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return the decision values of sequences, float64 (n,).

        Parameters
        ----------
        X : SequenceSet, n sequences
            Windows as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.model.decision(X, n_threads=n_threads)

    def _best(
        self, alleles: Alleles, rows: slice, column: list[bytes], n_threads: int | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bytes_]]:
        """Return the highest decision of a site near each variant, NaN if there is none, and where it is."""
        pieces, befores, afters = [], [], []
        reach = self.flank
        for row in range(rows.start, rows.stop):
            place, ref = int(alleles.places[row]), alleles.refs[row]
            left = alleles.text[max(0, place - reach) : place].tobytes().rpartition(b".")[2]
            right = alleles.text[place + len(ref) :][:reach].tobytes().partition(b".")[0]
            pieces.append(left + column[row] + right)
            befores.append(len(left))
            afters.append(len(column[row]))
        length = np.array([len(piece) for piece in pieces], dtype=np.int64)
        starts = np.cumsum(length) - length
        codes = self.alphabet.encode(b"".join(pieces))
        owner = np.repeat(np.arange(len(pieces)), length)
        offset = np.arange(len(codes)) - starts[owner] - np.array(befores)[owner]
        near = (offset >= -self.around) & (offset < np.array(afters)[owner] + self.around)
        best, where = np.full(len(pieces), -np.inf), np.zeros(len(pieces), dtype="S16")
        for strand in self.strands:
            text = codes if strand == 0 else self.alphabet.complement_codes[codes[::-1]]
            first = self._candidates(text, near if strand == 0 else near[::-1], starts, length, strand)
            if not len(first):
                continue
            values = self._decide(text, first - self.window.left, n_threads)
            at = first if strand == 0 else len(codes) - 1 - first
            order = np.lexsort((at, -values, owner[at]))
            top = order[np.unique(owner[at[order]], return_index=True)[1]]
            mine, better = owner[at[top]], values[top] > best[owner[at[top]]]
            best[mine[better]] = values[top][better]
            words = [f"{shift:+d}:{'+-'[strand]}".encode() for shift in offset[at[top][better]].tolist()]
            where[mine[better]] = words
        return np.where(np.isinf(best), np.nan, best), where

    def _candidates(
        self,
        text: npt.NDArray[np.uint8],
        near: npt.NDArray[np.bool_],
        starts: npt.NDArray[np.int64],
        length: npt.NDArray[np.int64],
        strand: int,
    ) -> npt.NDArray[np.int64]:
        """Return where on a strand sites begin whose windows lie in one piece and have no masked base."""
        first = np.flatnonzero(near)
        low = starts if strand == 0 else len(text) - starts - length
        order = np.argsort(low, kind="stable")
        piece = order[np.searchsorted(low[order], first, side="right") - 1]
        begin, end = first - self.window.left, first + self.window.right + 1
        inside = (begin >= low[piece]) & (end <= low[piece] + length[piece])
        masked = np.concatenate(([0], np.cumsum(text == MASK)))
        first, begin, end = first[inside], begin[inside], end[inside]
        good = masked[end] == masked[begin]
        for place, code in enumerate(self.site.tolist()):
            good &= text[np.minimum(first + place, len(text) - 1)] == code
        return first[good]

    def _decide(self, text: npt.NDArray[np.uint8], begins: Any, n_threads: int | None) -> npt.NDArray[np.float64]:
        """Return the decisions about windows."""
        ids = [f"window {i}" for i in range(1, len(begins) + 1)]
        if self._weights is not None:
            found = self._weights(np.ascontiguousarray(text), begins, n_threads)
            check_finite(found, ids)
            return found
        X = SequenceSet(np.ascontiguousarray(text), begins, begins + self.window.length, ids, self.alphabet)
        return self.model.decision(X, n_threads=n_threads)
