"""A stored matrix: its files, side file, digests, and how it is opened and replaced."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import xxhash
from threadpoolctl import threadpool_limits

from seqkern.core.archive import atomic_write, canonical_json, unwritable
from seqkern.core.errors import FileError, GramError, ParameterError, damaged, reading
from seqkern.core.exclusive_files import FolderLock, is_named
from seqkern.core.file_kinds import GRAM
from seqkern.core.memory import check_mappable
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.core.types import Floats, PathLike
from seqkern.gram.matrix import SLICE_ROWS, GramMatrix, map_matrix
from seqkern.sequences.tables import Data, SimilarityTable

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


# Digests of a stored matrix: one for each block of rows, one of the side file, and those of the data.
#
# They detect damage by a disk or a copy, and the side file of another matrix. XXH3 does not protect against forgery.

BLOCK_BYTES = 1 << 24
"""Bytes of a block of rows (or of a longer single row); part of the file format."""
CHUNK = 1 << 18
"""Bytes read at a time, few enough to stay in the cache until they are digested."""


def content_digest(content: dict[str, Any]) -> str:
    """Return the digest of the content of a side file, without its entry ``digest``.

    >>> content_digest({"rows": 3, "cols": 4}) == content_digest({"cols": 4, "digest": "?", "rows": 3})
    True
    """
    rest = {key: value for key, value in content.items() if key != "digest"}
    return xxhash.xxh3_128_hexdigest(canonical_json(rest).encode(errors="backslashreplace"))


def data_digests(X: Data, Y: Data | None = None) -> tuple[str, str]:
    """Return the digests of the data of rows and columns.

    For two parts of a similarity table they include the rectangle of similarities.
    """
    if Y is None:
        return X.digest(), X.digest()
    if isinstance(X, SimilarityTable) and isinstance(Y, SimilarityTable):
        between = np.ascontiguousarray(SimilarityTable.block(X, Y))
        return X.digest() + hashlib.blake2b(between.data, digest_size=8).hexdigest(), Y.digest()
    return X.digest(), Y.digest()


class RowDigests:
    """A digest computation for the rows of a matrix, fed from top to bottom in portions of any size."""

    def __init__(self, row_bytes: int) -> None:
        self._block = _block_rows(row_bytes) * row_bytes
        self._left = self._block
        self._current = xxhash.xxh3_128()
        self._found: list[str] = []

    def add(self, view: memoryview) -> None:
        """Add the next bytes of the rows."""
        while len(view):
            part = view[: self._left]
            self._current.update(part)
            self._left -= len(part)
            view = view[len(part) :]
            if not self._left:
                self._end_block()

    def finish(self) -> list[str]:
        """Return the digests, one for each block of rows."""
        if self._left < self._block:
            self._end_block()
        return self._found

    def _end_block(self) -> None:
        """Keep the digest of the current block."""
        self._found.append(self._current.hexdigest())
        self._current.reset()
        self._left = self._block


def damaged_rows(file: int, offset: int, shape: tuple[int, int], itemsize: int, known: Sequence[str]) -> str:
    """Return, as text, the rows of a matrix in a file that differ from their digests; empty if none do."""
    rows, row_bytes = shape[0], shape[1] * itemsize
    buffer = memoryview(bytearray(CHUNK))
    bad: list[tuple[int, int]] = []
    with open(file, "rb", buffering=0, closefd=False) as source:
        source.seek(offset)
        for (start, stop), digest in zip(_blocks(rows, row_bytes), known, strict=True):
            found = xxhash.xxh3_128()
            for part in _read(source, (stop - start) * row_bytes, buffer):
                found.update(part)
            if found.hexdigest() != digest:
                if bad and bad[-1][1] == start:
                    start = bad.pop()[0]
                bad.append((start, stop))
    return " and ".join(f"{start + 1} to {stop}" for start, stop in bad)


def count_blocks(shape: tuple[int, int], itemsize: int) -> int:
    """Return the number of row blocks of a matrix, one for each digest.

    >>> count_blocks((5000, 5000), 8)
    12
    """
    return sum(1 for _ in _blocks(shape[0], shape[1] * itemsize))


def _block_rows(row_bytes: int) -> int:
    """Return the number of rows of a block (the last may have fewer)."""
    return max(1, BLOCK_BYTES // max(row_bytes, 1))


def _blocks(rows: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the last row + 1 of each block."""
    step = _block_rows(row_bytes)
    for start in range(0, rows if row_bytes else 0, step):
        yield start, min(start + step, rows)


def _read(file: FileIO, size: int, buffer: memoryview) -> Iterator[memoryview]:
    """Yield the next `size` bytes of a file, or fewer at its end, in parts that are valid until the next one."""
    while size:
        count = file.readinto(buffer[:size])
        if not count:
            return
        yield buffer[:count]
        size -= count


# File names of a stored matrix, derived from the name of its ``.npy``.


def npy_path(path: PathLike) -> Path:
    """Return the path of a Gram matrix; raise ParameterError if it does not end in ``.npy``."""
    path = Path(path)
    if path.suffix != ".npy":
        raise ParameterError(f"invalid file name {path} for a Gram matrix", remedy="use a name ending in .npy")
    return path


def side_path(path: Path) -> Path:
    """Return the path of the JSON side file.

    >>> side_path(Path("gram.npy")).name
    'gram.json'
    """
    return path.with_suffix(".json")


def spectrum_path(path: PathLike) -> Path:
    """Return the path of the table of a matrix's eigenvalues.

    >>> spectrum_path("gram.npy").name
    'gram.spectrum.tsv'
    """
    return Path(path).with_suffix(".spectrum.tsv")


def tiles_root(path: Path) -> Path:
    """Return the folder of the tiles, which is beside the matrix.

    >>> tiles_root(Path("gram.npy")).name
    'gram.npy.tiles'
    """
    return path.with_name(f"{path.name}.tiles")


# The side file of a stored matrix: its origin, and digests that detect changes.

AGAIN = "delete it and repeat the command that computed it"
_KEYS = {
    "kernel",
    "identity",
    "rows",
    "cols",
    "dtype",
    "symmetric",
    "row_digest",
    "col_digest",
    "row_diagonal",
    "value_digests",
}


def read_meta(path: Path) -> dict[str, Any]:
    """Return the content of the side file; raise GramError if it is missing or invalid."""
    side = side_path(path)
    try:
        meta = GRAM.load_json(side)
    except FileError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise _unfinished(path) from error
        raise
    with GRAM.damaged(side, "is corrupted"):
        keys = _KEYS | (set() if meta["symmetric"] else {"col_diagonal"})
        if not keys <= set(meta) or meta["digest"] != content_digest(meta):
            raise KeyError("digest")
    return cast("dict[str, Any]", meta)


def write_meta(path: Path, content: dict[str, Any]) -> None:
    """Write a side file."""
    with atomic_write(path, "w") as file:
        file.write(canonical_json(content) + "\n")


def check_origin(meta: dict[str, Any], path: Path, X: Data | None, Y: Data | None, kernel: "Kernel | None") -> None:
    """Raise GramError if a matrix belongs to other data or another kernel."""
    if X is not None:
        for what, digest, made in zip(
            ("rows", "columns"), data_digests(X, Y), (meta["row_digest"], meta["col_digest"]), strict=True
        ):
            if digest != made:
                raise GramError(
                    f"the {what} belong to other data",
                    file=path,
                    remedy="compute it again for these sequences, or give the original ones",
                )
    if kernel is not None:
        kernel._check_fitted()
    if kernel is not None and meta["identity"] != kernel.identity():
        made = ", ".join(f"{key}={value}" for key, value in meta["kernel"].items())
        raise GramError(
            f"was computed with another kernel ({made})", file=path, remedy="name another file, or delete this one"
        )


def stored_dtype(path: PathLike) -> str:
    """Return the data type of the entries of a stored matrix."""
    path = npy_path(path)
    if not path.exists():
        raise missing_matrix(path)
    return str(read_meta(path)["dtype"])


def missing_matrix(path: Path) -> GramError | FileError:
    """Return the error for a missing matrix file: a GramError if there are tiles, else a FileError."""
    if tiles_root(path).exists():
        return _unfinished(path)
    return FileError("no such Gram matrix", file=path, remedy="compute it first")


def _unfinished(path: Path) -> GramError:
    """Return the error for an incomplete matrix."""
    return GramError("is unfinished", file=path, remedy="repeat the command that computes it, to resume")


# Opening of a stored matrix, with rejection of one that is damaged or belongs to other data or another kernel.
#
# ``gram.npy`` is the matrix and ``gram.json`` beside it describes it. The latter is written last, so that a
# matrix without it is unfinished. It holds digests of the values and of itself, which are verified.

_ATTEMPTS = 5
"""Attempts to open a matrix that other processes keep replacing."""


def open_gram(
    path: PathLike, X: Data | None = None, Y: Data | None = None, kernel: "Kernel | None" = None
) -> GramMatrix:
    """Open a matrix of `seqkern.gram.compute_gram`, memory-mapped, and verify that its values have not changed.

    Parameters
    ----------
    path : path-like
        The ``.npy``.
    X : SequenceSet or table, optional
        The rows that it must belong to.
    Y : SequenceSet or table, optional
        The columns that it must belong to; default: `X`.
    kernel : Kernel, optional
        The kernel that it must belong to.

    Returns
    -------
    GramMatrix

    Raises
    ------
    ParameterError
        If the kernel needs fitting and is not fitted.
    GramError
        If it belongs to other data or another kernel, is unfinished, or is corrupted.
    FileError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern import SequenceSet
    >>> from seqkern.gram import compute_gram, open_gram
    >>> from seqkern.kernels import SpectrumKernel
    >>> kernel, X = SpectrumKernel(k=2), SequenceSet.from_strings(["GATTACA", "ATTAC"], "dna")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gram.npy"
    ...     made = compute_gram(kernel, X, path=path)
    ...     print(open_gram(path, X, kernel=kernel).values.round(2))
    [[1.   0.82]
     [0.82 1.  ]]
    """
    return _open(npy_path(path), lambda meta, path: check_origin(meta, path, X, Y, kernel), verify=True)


def open_unverified(path: PathLike) -> GramMatrix:
    """Open a matrix like `open_gram`, but without reading it, in the process that has just written it."""
    return _open(npy_path(path), lambda meta, path: None, verify=False)


def _open(path: Path, check: Callable[[dict[str, Any], Path], None], verify: bool) -> GramMatrix:
    """Return a matrix whose origin passes a check, with both files from the same run.

    A process that replaces a matrix removes the side file first. So a side file that is read while `path` still
    names the opened file belongs to this file or to an older one, which the digests detect.
    """
    for _ in range(_ATTEMPTS):
        try:
            with reading(path, "check the file and its permissions"), open(str(path), "rb", buffering=0) as file:
                try:
                    meta = read_meta(path)
                    check(meta, path)
                    values = _map_values(path, file, meta)
                    if verify:
                        _verify(path, file, values, meta)
                    rows = np.array(meta["row_diagonal"], dtype=np.float64)
                    cols = rows if meta["symmetric"] else np.array(meta["col_diagonal"], dtype=np.float64)
                except GramError:
                    if is_named(file.fileno(), path, follow_symlinks=True):
                        raise
                else:
                    if is_named(file.fileno(), path, follow_symlinks=True):
                        about = {key: value for key, value in meta.items() if key not in ("digest", "value_digests")}
                        return GramMatrix(values, rows, cols, about)
        except FileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise missing_matrix(path) from error
            raise
    raise GramError("is being replaced by other processes", file=path, remedy="repeat the command when they have ended")


def _map_values(path: Path, file: IO[bytes], meta: dict[str, Any]) -> np.memmap:
    """Return the matrix memory-mapped; raise GramError if it does not match the side file."""
    try:
        values = map_matrix(file)
        shape = meta["rows"], meta["cols"]
        whole = values.shape == shape and values.dtype == meta["dtype"]
        whole = whole and len(meta["value_digests"]) == count_blocks(values.shape, values.itemsize)
    except (OSError, ValueError, EOFError, TypeError) as error:
        check_mappable(path, error)
        whole = False
    if not whole:
        raise GramError("is corrupted: its size has changed", file=path, remedy=AGAIN)
    return values


def _verify(path: Path, file: IO[bytes], values: np.memmap, meta: dict[str, Any]) -> None:
    """Raise GramError if the values differ from their digests."""
    rows, cols = values.shape
    bad = damaged_rows(file.fileno(), values.offset, (rows, cols), values.itemsize, meta["value_digests"])
    if bad:
        raise GramError(
            f"is corrupted: values have changed in rows {bad} of {rows}",
            file=path,
            remedy=f"{AGAIN}, or restore both it and its .json file",
        )


# Replacement of a stored matrix: its several files change as one for other processes.


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[None]:
    """Wait until no other process writes the matrix, and lock it."""
    lock = FolderLock(tiles_root(path))
    with writing(path):
        lock.acquire()
        try:
            yield
        finally:
            lock.release()


def store_spectrum(path: PathLike, gram: GramMatrix, found: "Spectrum") -> bool:
    """Write the Spectrum of a matrix beside it, and return whether it was written.

    It is not written if another process has replaced the matrix.
    """
    with replacing(Path(path)):
        try:
            if open_unverified(path).meta != gram.meta:
                return False
        except (GramError, FileError):
            return False
        write_spectrum(spectrum_path(path), found)
        return True


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an OSError of the body to a FileError about `path`."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unwritable(path, error) from error


# The eigenvalues of a Gram matrix, which tell whether, and how far from, it is positive semi-definite.
#
# A matrix with negative eigenvalues is not a matrix of inner products of points. The share of negative mass,
# Σ|λ < 0| / Σ|λ|, measures its distance from one (Pękalska, Duin: The Dissimilarity Representation for
# Pattern Recognition, 2005).

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
        share = f"{about}{100 * self.negative_share:.3g}% of the mass"
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


def _eigenvalues(K: npt.NDArray[np.floating[Any]]) -> Floats:
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


def _summary(n: int, values: Floats, smallest: float, largest: float, exact: bool) -> Spectrum:
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


def _times(K: npt.NDArray[np.floating[Any]], vector: Floats) -> Floats:
    """Return K · vector, shape (n,), computed by row blocks; raise GramError if K has a value that is not finite."""
    out = np.empty(len(K))
    for start in range(0, len(K), SLICE_ROWS):
        out[start : start + SLICE_ROWS] = np.asarray(K[start : start + SLICE_ROWS], dtype=np.float64) @ vector
    if not np.isfinite(out).all():
        raise _not_finite()
    return out


def rounding(values: Floats, dtype: npt.DTypeLike) -> float:
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
