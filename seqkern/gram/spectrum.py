"""The eigenvalues of a Gram matrix, which show whether, and how nearly, it is positive semi-definite.

A matrix with negative eigenvalues is not a matrix of inner products of points. The share of negative mass,
Σ|λ < 0| / Σ|λ|, measures its distance from one (Pękalska, Duin: The Dissimilarity Representation for
Pattern Recognition, 2005).
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError, damaged
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.core.types import PathLike
from seqkern.gram.matrix import SLICE_ROWS

EXACT_ROWS = 4000
"""Maximum size for computing all eigenvalues: about four CPU seconds and 400 MB."""
SAMPLED_ROWS = 2000
LANCZOS_STEPS = 100
SEED = 1


@dataclass(frozen=True)
class Spectrum:
    """Summary of the eigenvalues of a symmetric matrix.

    Eigenvalues within rounding errors of zero count as zero. If not `exact`, the smallest and largest are
    estimates from 100 Lanczos steps that lie between the true ones: a smallest below zero is proof of
    indefiniteness.
    """

    n: int  # Size of the matrix
    smallest: float  # Eigenvalues
    largest: float  # Eigenvalues
    negative_share: float  # Σ|λ < 0| / Σ|λ|, from 0 to 1; 0 for a matrix of zeros
    n_negative: int  # Number of negative eigenvalues
    # Whether all eigenvalues were computed. If not, the smallest and largest are estimates from 100 Lanczos steps,
    # between the true ones: a smallest below zero is proof. Share and number are those of a random principal sub-
    # matrix, or what follows from the smallest if that is more
    exact: bool

    @property
    def indefinite(self) -> bool:
        """Whether the matrix has a negative eigenvalue."""
        return self.smallest < 0

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        ends = f"smallest eigenvalue {about}{self.smallest:.4g}, largest {about}{self.largest:.4g}"
        share = f"{about}{100 * self.negative_share:.3g} % of the mass"
        return f"{ends}; {about}{self.n_negative} of {self.n} negative, {share}"


def spectrum(K: npt.ArrayLike, *, exact_rows: int = EXACT_ROWS) -> Spectrum:
    """Return the Spectrum of a symmetric matrix."""
    K = np.asarray(K) if not isinstance(K, np.ndarray) else K
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise GramError(f"a matrix of shape {K.shape} has no eigenvalues", remedy="give a square matrix")
    n = len(K)
    with threadpool_limits(limits=1):
        if n <= exact_rows:
            values = _eigenvalues(K)
            return _summary(n, values, values[0] if n else 0.0, values[-1] if n else 0.0, exact=True)
        return _estimated(K, min(SAMPLED_ROWS, exact_rows))


def write_spectrum(path: PathLike, found: Spectrum) -> None:
    """Write a Spectrum as a table of one row."""
    write_tsv(path, list(asdict(found)), [asdict(found)])


def read_spectrum(path: PathLike) -> Spectrum:
    """Read a Spectrum written by `write_spectrum`."""
    kinds = Spectrum.__annotations__
    with damaged(path, "is not a spectrum of a Gram matrix", "compute it again"):
        row = read_tsv(path)[0]
        return Spectrum(**{key: row[key] == "True" if kind is bool else kind(row[key]) for key, kind in kinds.items()})


def _eigenvalues(K: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Return all eigenvalues of a checked square matrix in memory, ascending; those within rounding errors are 0."""
    if not np.isfinite(K).all():
        raise _not_finite()
    if not np.array_equal(K, K.T):
        raise GramError(
            "the matrix is not symmetric, so it has no real spectrum",
            remedy="use the same samples for rows and columns",
        )
    values = np.linalg.eigvalsh(K.astype(np.float64))
    values[np.abs(values) <= rounding(values, K.dtype)] = 0.0
    return values


def _summary(n: int, values: npt.NDArray[np.float64], smallest: float, largest: float, exact: bool) -> Spectrum:
    """Return the Spectrum of n samples, with the negative share and number computed from `values`."""
    mass = np.abs(values).sum()
    share = float(np.abs(values[values < 0]).sum() / mass) if mass > 0 else 0.0
    n_negative = round(n * int(np.count_nonzero(values < 0)) / max(len(values), 1))
    return Spectrum(n, float(smallest), float(largest), share, n_negative, exact)


def _estimated(K: npt.NDArray[np.floating[Any]], size: int) -> Spectrum:
    """Return the Spectrum of a large matrix, estimated by Lanczos and a random principal sub-matrix of `size`
    samples.
    """
    n = len(K)
    smallest, largest = _ends(K)
    rows = np.sort(np.random.default_rng(SEED).choice(n, size, replace=False))
    values = _eigenvalues(np.stack([K[row][rows] for row in rows]))
    smallest, largest = min(smallest, values[0]), max(largest, values[-1])
    found = _summary(n, values, smallest, largest, exact=False)
    if smallest >= 0:
        return found
    # A sample may miss the few large ones; since the sum of all is the trace, the smallest alone implies this share.
    trace = float(np.diagonal(K).sum(dtype=np.float64))
    least = -smallest / (max(trace, 0.0) - 2 * smallest)
    return replace(found, negative_share=max(found.negative_share, least), n_negative=max(found.n_negative, 1))


def _ends(K: npt.NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a symmetric matrix by the Lanczos method.

    Both come from one Krylov space of bounded size, kept orthogonal. ARPACK would continue until the relative
    error of the smallest is small, which may never happen if it is near zero, as it mostly is.
    """
    n = len(K)
    basis = np.empty((min(LANCZOS_STEPS, n), n))
    main: list[float] = []
    beside: list[float] = []
    vector = np.random.default_rng(SEED).standard_normal(n)
    vector /= np.linalg.norm(vector)
    for step in range(len(basis)):
        basis[step] = vector
        image = _times(K, vector)
        main.append(float(vector @ image))
        for _ in range(2):
            image -= basis[: step + 1].T @ (basis[: step + 1] @ image)
        length = float(np.linalg.norm(image))
        if length <= n * np.finfo(np.float64).eps * max(map(abs, main + beside)):
            break  # the space contains exact eigenvectors
        beside.append(length)
        vector = image / length
    from scipy.linalg import eigvalsh_tridiagonal  # 0.2 s to import

    values = eigvalsh_tridiagonal(np.array(main), np.array(beside[: len(main) - 1]))
    largest = np.abs(values).max()
    values[np.abs(values) <= n * np.finfo(K.dtype).eps * largest] = 0.0
    return values[0], values[-1]


def _times(K: npt.NDArray[np.floating[Any]], vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return K · vector, shape (n,), computed by row blocks; raise GramError if K has a value that is not finite."""
    out = np.empty(len(K))
    for start in range(0, len(K), SLICE_ROWS):
        out[start : start + SLICE_ROWS] = np.asarray(K[start : start + SLICE_ROWS], dtype=np.float64) @ vector
    if not np.isfinite(out).all():
        raise _not_finite()
    return out


def rounding(values: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> float:
    """Return the largest eigenvalue that can be a zero with rounding errors.

    >>> f"{rounding(np.array([0.5, 1.5]), np.float64):.2g}", f"{rounding(np.array([0.5, 1.5]), np.float32):.2g}"
    ('6.7e-16', '9.4e-08')
    """
    allowed = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    if dtype != np.float64:
        # Rounding the entries moves no eigenvalue by more than the norm of the rounding errors.
        allowed += np.finfo(dtype).eps / 2 * float(np.sqrt((values**2).sum()))
    return allowed


def _not_finite() -> GramError:
    """Return the error for a value that is not a finite number."""
    return GramError("a kernel value is not a finite number, so there are no eigenvalues", remedy="remove the sample")
