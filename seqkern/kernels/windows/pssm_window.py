"""The PSSM window kernel: rows of a PSSM around a residue as a vector (Kim & Park, Protein Engineering 16, 2003)."""

from dataclasses import dataclass, replace

import numpy as np

from seqkern.core.parameters import check_choice, check_real
from seqkern.kernels.windows.window_vectors import END, WindowVectorKernel
from seqkern.profiles.profile import check_tracks
from seqkern.profiles.searching import ProfileTracks
from seqkern.sequences.alphabets import MASK

SCALINGS = ("logistic", "raw", "both")


class PSSMWindowKernel(ProfileTracks, WindowVectorKernel):
    """Kernel between windows of PSSM rows: K(x, y) = k(φ(x), φ(y)), k a kernel of vectors.

    Sequences are windows of one length around a residue. The key ``residues`` of a data set cuts one around every
    residue of its chains; the keys ``window`` and ``sites`` cut them around listed residues, where they do not run past
    an end of the chain.

    φ(x) has for each position the 20 scores s of the track ``pssm`` (as many as the alphabet has letters), scaled, and
    one more number that is 1 where there is no residue: beyond the ends of the chain, and where a letter is masked;
    there the others are 0.

    Parameters
    ----------
    scaling : {"logistic", "raw", "both"}
        1 / (1 + exp(−s / scale)), between 0 and 1; s / scale; or 1 / (1 + exp(−s / scale)) and s / (3·scale) side by
        side, which vary about as much.
    scale : float > 0
        What the scores are divided by. With ``"both"`` about 3 is good.
    vector_kernel : {"rbf", "polynomial", "linear"}
        k: exp(−γ·‖φ(x) − φ(y)‖²), (γ·φ(x)·φ(y) + coef0)^degree, or φ(x)·φ(y). Only ``"linear"`` has features.
    gamma : float > 0 or "scale"
        γ; ``"scale"``, of ``"rbf"`` only, is 1 / the total variance of the training vectors.
    degree : int
    coef0 : float
    position_weights : {"flat", "triangle", "gaussian"} or list of float
        Weight w of each position in products and squared distances, Σ_p w_p·φ_p(x)·φ_p(y): 1; largest in the centre,
        in proportion to 1 − d / (h + 1) or exp(−(2·d / h)²) with the distance d to the centre and that of the ends, h,
        1 on average; or one's own.
    search : {None, "training"}
        Where PSSMs come from: tracks of the sequences, or a search of the training sequences: of windows, then, which
        are too short to find much.
    iterations : int
        Searches of one sequence at most.
    inclusion : float
        E-value up to which what is found counts as a relative.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)); of ``"rbf"`` that changes nothing.
    alphabet : str, optional
        The alphabet that sequences must have.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a window whose K(x, x) is zero.
    n_threads : int, optional
        By default all cores.

    References
    ----------
    Kim, Park: Protein secondary structure prediction based on an improved support vector machines approach. Protein
    Engineering 16, 2003.

    Jones: Protein secondary structure prediction based on position-specific scoring matrices. Journal of Molecular
    Biology 292, 1999 (the logistic scaling).
    """

    name = "pssm_window"
    plain = "Compares, position by position, which letters the families of two proteins have around a residue."
    profile_tracks = ("pssm",)

    def __init__(
        self,
        *,
        scaling="logistic",
        scale=1.0,
        vector_kernel="rbf",
        gamma=0.05,
        degree=2,
        coef0=1.0,
        position_weights="flat",
        search=None,
        iterations=3,
        inclusion=0.001,
        normalize=False,
        alphabet=None,
        zero_diagonal="error",
        n_threads=None,
    ):
        self.scaling = scaling
        self.scale = scale
        self.vector_kernel = vector_kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.position_weights = position_weights
        self.search = search
        self.iterations = iterations
        self.inclusion = inclusion
        self.normalize = normalize
        self.alphabet = alphabet
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(vector_kernel="polynomial", gamma=0.02, degree=3, normalize=True),
            cls(scaling="raw", vector_kernel="linear", normalize=True, zero_diagonal="zero"),
            cls(scaling="raw", gamma="scale", alphabet="protein"),
            cls(scaling="both", scale=3.0, vector_kernel="linear", position_weights="gaussian"),
        ]

    @property
    def data_dependent(self):
        """Whether gamma is learned, or the training sequences are kept to be searched."""
        return self.search is not None or WindowVectorKernel.data_dependent.fget(self)

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("scaling", self.scaling, SCALINGS)
        check_real("scale", self.scale, 0, open_low=True)

    @property
    def coding(self):
        """What knows the numbers of a position."""
        return ScoreCoding(self.scaling, self.scale)

    def _seen(self, X):
        return X if self.search is None else self.with_profiles(X)

    def plan(self, X, Y=None):
        """Return the Plan for this kernel on `X` (against `Y`), searches included."""
        products = super().plan(X, Y)
        searches = self.search_seconds(*(self.coerce(Z) for Z in (X, Y) if Z is not None))
        return replace(products, seconds=products.seconds + searches)


@dataclass(frozen=True)
class ScoreCoding:
    """The numbers of a position: its row of the track ``pssm``, scaled.

    Attributes
    ----------
    scaling : {"logistic", "raw", "both"}
    scale : float
    """

    scaling: str
    scale: float

    def vectors(self, X, positions):
        """Return the numbers at positions of ``X.codes``, float64 (p, columns).

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

    def columns(self, alphabet):
        """Return the names of the numbers, one str each; raw scores beside scaled ones as ``A raw``."""
        beside = [f"{letter} raw" for letter in alphabet.letters] if self.scaling == "both" else []
        return [*alphabet.letters, *beside, END]


def logistic(scores):
    """Return 1 / (1 + exp(−s)) of scores s."""
    return 1.0 / (1.0 + np.exp(-scores))
