"""The eigenvalues of a Gram matrix in short: is it positive semi-definite, and if not, by how much not.

A kernel matrix with negative eigenvalues holds the inner products of no points whatever. The share of negative mass,
Σ|λ < 0| / Σ|λ|, tells how far it is from one (Pękalska, Duin: The Dissimilarity Representation for Pattern
Recognition, 2005).
"""

from dataclasses import asdict, dataclass, replace

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from seqkern.core.errors import GramError
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.gram.matrix import SLICE_ROWS

EXACT_ROWS = 4000
"""Of matrices up to this size all eigenvalues are computed: about four CPU seconds and 400 MB at most."""
SAMPLED_ROWS = 2000
LANCZOS_STEPS = 100
SEED = 1


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a symmetric matrix in short. One within rounding of zero counts as zero.

    Attributes
    ----------
    n : int
        Size of the matrix.
    smallest, largest : float
        Eigenvalues.
    negative_share : float
        Σ|λ < 0| / Σ|λ|, from 0 to 1; 0 for a matrix of zeros.
    n_negative : int
        How many eigenvalues are negative.
    exact : bool
        Whether all eigenvalues were computed. If not, the smallest and largest are those that 100 steps of the Lanczos
        method find, between the true ones: a smallest below zero is proof. Share and number are those of a random
        principal sub-matrix, or what follows from the smallest if that is more.
    """

    n: int
    smallest: float
    largest: float
    negative_share: float
    n_negative: int
    exact: bool

    @property
    def indefinite(self):
        """Whether an eigenvalue is negative."""
        return self.smallest < 0

    def __str__(self):
        about = "" if self.exact else "about "
        ends = f"smallest eigenvalue {about}{self.smallest:.4g}, largest {about}{self.largest:.4g}"
        share = f"{about}{100 * self.negative_share:.3g} % of the mass"
        return f"{ends}; {about}{self.n_negative} of {self.n} negative, {share}"


def spectrum(K, *, exact_rows=EXACT_ROWS):
    """Return the Spectrum of a symmetric matrix.

    Parameters
    ----------
    K : ndarray or memmap of float64 or float32, shape (n, n)
        Of what is stored as float32, eigenvalues smaller than that rounding can make are zero.
    exact_rows : int
        Up to this n all eigenvalues are computed. Of larger matrices the memory holds a row block and a sub-matrix of
        this size at most.

    Returns
    -------
    Spectrum
        The same bits at any number of threads.

    Raises
    ------
    GramError
        If `K` is not square and symmetric, or a value is not a finite number.
    """
    # loaded only where used: costs start-up
    from threadpoolctl import threadpool_limits

    K = np.asarray(K) if not isinstance(K, np.ndarray) else K
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise GramError(f"a matrix {K.shape} has no eigenvalues", remedy="give a square one")
    n = len(K)
    with threadpool_limits(limits=1):
        if n <= exact_rows:
            values = _eigenvalues(K)
            return _summary(n, values, values[0] if n else 0.0, values[-1] if n else 0.0, exact=True)
        return _estimated(K, min(SAMPLED_ROWS, exact_rows))


def write_spectrum(path, found):
    """Write a Spectrum as a table of one row; FileError if that cannot be written."""
    write_tsv(path, list(asdict(found)), [asdict(found)])


def read_spectrum(path):
    """Return the Spectrum that `write_spectrum` wrote; FileError if there is none."""
    row = read_tsv(path)[0]
    kinds = Spectrum.__annotations__
    return Spectrum(**{key: row[key] == "True" if kind is bool else kind(row[key]) for key, kind in kinds.items()})


def _eigenvalues(K):
    """Return all eigenvalues of a checked square in memory, ascending, zero where rounding alone may have made them."""
    if not np.isfinite(K).all():
        raise _not_finite()
    if not np.array_equal(K, K.T):
        raise GramError("a matrix is not symmetric: it has no real spectrum", remedy="give units against themselves")
    values = np.linalg.eigvalsh(K.astype(np.float64))
    values[np.abs(values) <= rounding(values, K.dtype)] = 0.0
    return values


def _summary(n, values, smallest, largest, exact):
    """Return the Spectrum of n units, its shares from these eigenvalues."""
    mass = np.abs(values).sum()
    share = float(np.abs(values[values < 0]).sum() / mass) if mass > 0 else 0.0
    n_negative = round(n * int(np.count_nonzero(values < 0)) / max(len(values), 1))
    return Spectrum(n, float(smallest), float(largest), share, n_negative, exact)


def _estimated(K, size):
    """Return the Spectrum of a large matrix, from its ends and a random principal sub-matrix of `size` units."""
    n = len(K)
    smallest, largest = _ends(K)
    rows = np.sort(np.random.default_rng(SEED).choice(n, size, replace=False))
    values = _eigenvalues(np.stack([K[row][rows] for row in rows]))
    smallest, largest = min(smallest, values[0]), max(largest, values[-1])
    found = _summary(n, values, smallest, largest, exact=False)
    if smallest >= 0:
        return found
    # A sample may miss the few that hold all; the sum of all being the trace, this one alone has no less than so much.
    trace = float(np.diagonal(K).sum(dtype=np.float64))
    least = -smallest / (max(trace, 0.0) - 2 * smallest)
    return replace(found, negative_share=max(found.negative_share, least), n_negative=max(found.n_negative, 1))


def _ends(K):
    """Return the smallest and the largest eigenvalue of a symmetric matrix as the Lanczos method finds them.

    Both ends come from one Krylov space of bounded size, kept orthogonal. ARPACK would go on until the smallest is
    exact relative to itself, which next to zero, where it mostly lies, takes forever.
    """
    n = len(K)
    basis, main, beside = np.empty((min(LANCZOS_STEPS, n), n)), [], []
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
            break  # the space holds whole eigenvectors
        beside.append(length)
        vector = image / length
    values = eigvalsh_tridiagonal(np.array(main), np.array(beside[: len(main) - 1]))
    largest = np.abs(values).max()
    values[np.abs(values) <= n * np.finfo(K.dtype).eps * largest] = 0.0
    return values[0], values[-1]


def _times(K, vector):
    """Return K · vector, float64 (n,), by row blocks; GramError if K holds what is no number."""
    out = np.empty(len(K))
    for start in range(0, len(K), SLICE_ROWS):
        out[start : start + SLICE_ROWS] = np.asarray(K[start : start + SLICE_ROWS], dtype=np.float64) @ vector
    if not np.isfinite(out).all():
        raise _not_finite()
    return out


def rounding(values, dtype):
    """Return what rounding alone can make of an eigenvalue that is zero.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        All eigenvalues of a matrix.
    dtype : dtype
        In which its entries are kept.
    """
    allowed = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    if dtype != np.float64:
        # Rounding every entry moves no eigenvalue by more than the length of all that was rounded off.
        allowed += np.finfo(dtype).eps / 2 * float(np.sqrt((values**2).sum()))
    return allowed


def _not_finite():
    """Return the error about a value that is no number."""
    return GramError("a kernel value is not a finite number: there are no eigenvalues", remedy="leave the unit out")
