"""The PSSM window kernel: rows of a PSSM around a residue as a vector (Kim & Park, Protein Engineering 16, 2003)."""

import numpy as np

from ..alphabets import MASK
from ..archive import nest, unnest
from ..errors import SequenceError
from ..parameters import check_choice
from ..profiles.profile import check_tracks
from ..profiles.searching import ProfileTracks
from .additive import attributions, fold
from .base import Kernel, Plan
from .composite import PreparedParts
from .vector import LinearKernel, PolynomialKernel, PreparedVectors, RBFKernel

PRODUCT_SECONDS = 7e-11  # of CPU, for one product of two numbers in `_vector.products`
FUNCTION_SECONDS = 1e-8  # for one exponential or power


class PSSMWindowKernel(ProfileTracks, Kernel):
    """Kernel between windows of PSSM rows: K(x, y) = k(φ(x), φ(y)), k a kernel of vectors.

    Sequences are windows of one length around a residue. `seqkern.residues.residue_windows` cuts one around
    every residue, in Python only: no key of a study and no verb does. The keys ``window`` and ``sites`` of a data set
    cut them around listed residues, where they do not run past an end of the chain.

    φ(x) has for each position the 20 scores s of the track ``pssm`` (as many as the alphabet has letters), scaled, and
    one more number that is 1 where there is no residue: beyond the ends of the chain, and where a letter is masked;
    there the scores count as 0.

    Parameters
    ----------
    scaling : {"logistic", "raw"}
        1 / (1 + exp(−s)), between 0 and 1; or s as it is.
    vector_kernel : {"rbf", "polynomial", "linear"}
        k: exp(−γ·‖φ(x) − φ(y)‖²), (γ·φ(x)·φ(y) + coef0)^degree, or φ(x)·φ(y).
    gamma : float > 0 or "scale"
        γ; ``"scale"``, of ``"rbf"`` only, is 1 / the total variance of the training vectors.
    degree : int
    coef0 : float
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
    equal_lengths = True

    def __init__(
        self,
        *,
        scaling="logistic",
        vector_kernel="rbf",
        gamma=0.05,
        degree=2,
        coef0=1.0,
        search=None,
        iterations=3,
        inclusion=0.001,
        normalize=False,
        alphabet=None,
        zero_diagonal="error",
        n_threads=None,
    ):
        self.scaling = scaling
        self.vector_kernel = vector_kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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
        ]

    @property
    def data_dependent(self):
        """Whether gamma is learned, or the training sequences are kept to be searched."""
        return (self.vector_kernel == "rbf" and self.gamma == "scale") or self.search is not None

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("scaling", self.scaling, ("logistic", "raw"))
        check_choice("vector_kernel", self.vector_kernel, ("rbf", "polynomial", "linear"))
        self._between().check_parameters()

    def _between(self):
        """Return the kernel between windows, unfitted, before the normalisation."""
        vectors = WindowVectors(self.scaling)
        if self.vector_kernel == "rbf":
            return RBFKernel(gamma=self.gamma, base=vectors)
        if self.vector_kernel == "polynomial":
            return PolynomialKernel(degree=self.degree, gamma=self.gamma, coef0=self.coef0, base=vectors)
        return vectors

    @property
    def between(self):
        """The kernel between windows, fitted if this kernel is."""
        return getattr(self, "between_", None) or self._between()

    def _fit(self, X, y):
        super()._fit(X, y)
        between = self._between()
        if between.data_dependent:
            self.between_ = between.fit(self.with_profiles(X))

    def fitted_state(self):
        """Return (JSON dict, dict of arrays): gamma, and the sequences to be searched."""
        header, arrays = super().fitted_state()
        if not hasattr(self, "between_"):
            return header, arrays
        between, own = self.between_.fitted_state()
        return header | {"between": between}, arrays | nest("between", own)

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        super().restore_fitted(header, arrays)
        if "between" in header:
            self.between_ = self._between()
            self.between_.restore_fitted(header["between"], unnest("between", arrays))

    def _prepare(self, X, like):
        windows = self.between.prepare(self.with_profiles(X), None if like is None else like.parts[0])
        return PreparedParts((windows,), windows.diagonal)

    def _block(self, rows, cols, out):
        self.between.block(rows.parts[0], cols.parts[0], out)

    def _fold(self, columns, coefficients):
        values = fold(self.between, columns.parts[0], coefficients)
        return None if values is None else lambda rows: values(rows.parts[0])

    def _attribute(self, X, support, coefficients):
        return attributions(self.between, self.with_profiles(X), self.with_profiles(support), coefficients)

    def plan(self, X, Y=None):
        """Return the Plan for this kernel on `X` (against `Y`): products of vectors, kept as rows and as columns."""
        self.check_parameters()
        sets = [self.coerce(Z) for Z in (X, Y) if Z is not None]
        width = int(max((Z.lengths.max(initial=0) for Z in sets), default=0)) * (sets[0].alphabet.size + 1)
        rows, cols = len(sets[0]), len(sets[-1])
        pairs = rows * cols / (2 if Y is None else 1)
        seconds = pairs * (PRODUCT_SECONDS * width + FUNCTION_SECONDS * (self.vector_kernel != "linear"))
        return Plan("vectors", seconds + self.search_seconds(*sets), 16 * width * sum(map(len, sets)))


class WindowVectors(Kernel):
    """φ(x)·φ(y) of windows of PSSM rows; the part of `PSSMWindowKernel` that makes the vectors."""

    tracks = ("pssm",)

    def __init__(self, scaling):
        self.scaling = scaling

    def _vectors(self, X):
        """Return φ of n windows of L letters, float64 (n, L, columns + 1)."""
        check_tracks(X, self.tracks)
        positions = X.positions()
        known = X.codes[positions] != MASK
        scores = X.tracks["pssm"][positions].astype(np.float64)
        if self.scaling == "logistic":
            scores = 1.0 / (1.0 + np.exp(-scores))
        vectors = np.zeros((len(positions), scores.shape[1] + 1))
        vectors[known, :-1] = scores[known]
        vectors[~known, -1] = 1.0
        return vectors.reshape(len(X), int(X.lengths.max(initial=0)), vectors.shape[1])

    def _prepare(self, X, like):
        vectors = self._vectors(X)
        n, length, columns = vectors.shape
        width = length * columns
        if like is not None:
            wanted = like.values.shape[1]
            if n and len(like) and wanted != width:
                raise SequenceError(
                    f"is a window of {length} letters, others have {wanted // columns}",
                    record=X.ids[0],
                    remedy="cut all windows to one length",
                )
            width = width if n else wanted
        values = vectors.reshape(n, width)
        return PreparedVectors(values, np.ascontiguousarray(values.T), ())

    def _block(self, rows, cols, out):
        if len(cols):  # no windows have no length, either
            LinearKernel._block(self, rows, cols, out)

    _fold = LinearKernel._fold

    def _attribute(self, X, support, coefficients):
        weights = np.tensordot(coefficients, self._vectors(support), axes=1)
        return np.einsum("nlc,lc->nl", self._vectors(X), weights).reshape(-1)
