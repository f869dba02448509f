"""The PSSM window kernel: PSSM rows around a residue as a vector (Kim & Park 2003)."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, choice, real
from seqkern.kernels.prepared import Plan
from seqkern.kernels.profile_tracks import ProfileTracks
from seqkern.kernels.windows.window_vectors import END, WindowVectorKernel
from seqkern.profiles.profile import check_tracks
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

SCALINGS = ("logistic", "raw", "both")


class PSSMWindowKernel(ProfileTracks, WindowVectorKernel):
    """PSSM window kernel: the PSSM rows around a residue as a vector.

    It suits the prediction of residue states, such as secondary structure, from profiles. Sequences are windows of one
    length around a residue. The key ``residues`` of a data set cuts one around every residue of its chains; the keys
    ``window`` and ``sites`` cut them around listed residues, where they fit inside the chain.

    Notes
    -----
    φ(x) has for each position the 20 scaled scores of the track ``pssm`` (one for each letter of the alphabet), and one
    more number that is 1 where there is no residue: beyond the ends of the chain, and where a residue is masked; there
    the others are 0. With k the RBF, polynomial or linear kernel of vectors,

    .. math:: K(x, y) = k(φ(x), φ(y))

    Complexity: O(b·L) per pair of windows of length L over an alphabet of b letters.

    Definiteness: positive semi-definite.

    References
    ----------
    Kim, Park: Protein secondary structure prediction based on an improved support vector machines approach. Protein
    Engineering 16, 2003.

    Jones: Protein secondary structure prediction based on position-specific scoring matrices. Journal of Molecular
    Biology 292, 1999 (the logistic scaling).

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import PSSMWindowKernel
    >>> windows = SequenceSet.from_strings(["MKV", "MRV"], "protein")
    >>> scores = np.random.default_rng(1).normal(scale=2, size=(6, 20))  # in place of a search
    >>> windows = windows.replace(tracks={"pssm": scores})
    >>> PSSMWindowKernel()(windows).round(3)
    array([[1.   , 0.601],
           [0.601, 1.   ]])
    """

    name = "pssm_window"
    summary = "Compares the PSSM rows around a central residue, position by position."
    profile_tracks = ("pssm",)

    scaling: str = choice(
        default="logistic",
        choices=SCALINGS,
        doc="``logistic``: 1 / (1 + exp(−s / scale)), between 0 and 1; ``raw``: s / scale; ``both``: "
        "the logistic value and s / (3·scale), which have about the same variance.",
    )
    scale: float = real(
        default=1.0, low=0, open_low=True, doc='Divisor of the scores. For ``"both"``, about 3 works well.'
    )
    search: Literal["training"] | None = changed(
        default=None,
        doc="Source of the PSSMs: tracks of the sequences, or a search against the training "
        "sequences, which finds little because windows are short.",
    )

    @classmethod
    def examples(cls) -> list["PSSMWindowKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(vector_kernel="polynomial", gamma=0.02, degree=3, normalize=True),
            cls(scaling="raw", vector_kernel="linear", normalize=True, zero_diagonal="zero"),
            cls(scaling="raw", gamma="scale", alphabet="protein"),
            cls(scaling="both", scale=3.0, vector_kernel="linear", position_weights="gaussian"),
        ]

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether gamma is learned, or the training sequences are kept for searches."""
        return self.search is not None or self._learns_gamma

    @property
    def coding(self) -> "ScoreCoding":
        """Encoding of a residue as numbers."""
        return ScoreCoding(self.scaling, self.scale)

    def _seen(self, X: SequenceSet) -> SequenceSet:
        return X if self.search is None else self.with_profiles(X)

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`), searches included.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        products = super().plan(X, Y)
        searches = self.search_seconds(*(self.coerce(Z) for Z in (X, Y) if Z is not None))
        return replace(products, seconds=products.seconds + searches)


@dataclass(frozen=True)
class ScoreCoding:
    """Encoding of a residue by its scaled row of the track ``pssm``.

    Attributes
    ----------
    scaling : {"logistic", "raw", "both"}
        As in `PSSMWindowKernel`.
    scale : float
        What the scores are divided by.
    """

    scaling: str
    scale: float

    def vectors(self, X: SequenceSet, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the encoding of some residues.

        Parameters
        ----------
        X : SequenceSet
            The windows, with the track ``pssm``.
        positions : ndarray of int64, shape (p,)
            Indices into ``X.codes``.

        Returns
        -------
        ndarray of float64, shape (p, columns)

        Raises
        ------
        SequenceError
            If a row of the track is not one finite number for each letter.
        """
        track = X.tracks["pssm"]
        if track.ndim != 2 or track.shape[1] != X.alphabet.size or not np.isfinite(track[positions]).all():
            check_tracks(X, ("pssm",))
        known = X.codes[positions] != MASK
        scores = track[positions[known]].astype(np.float64) / self.scale
        parts = {
            "logistic": lambda: (logistic(scores),),
            "raw": lambda: (scores,),
            "both": lambda: (logistic(scores), scores / 3),
        }[self.scaling]()
        vectors = np.zeros((len(positions), len(parts) * X.alphabet.size + 1))
        vectors[known, :-1] = np.hstack(parts)
        vectors[~known, -1] = 1.0
        return vectors

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns; raw scores beside scaled ones as ``A raw``.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        list of str
        """
        beside = [f"{letter} raw" for letter in alphabet.letters] if self.scaling == "both" else []
        return [*alphabet.letters, *beside, END]


def logistic(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 1 / (1 + exp(−s)).

    Parameters
    ----------
    scores : ndarray of float64
        s.

    Returns
    -------
    ndarray of float64
        Of the same shape.

    Examples
    --------
    >>> logistic(np.array([-2.0, 0.0, 2.0])).round(3)
    array([0.119, 0.5  , 0.881])
    """
    return 1.0 / (1.0 + np.exp(-scores))
