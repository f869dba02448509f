"""Amounts of memory: as text, the amount available, and messages about too little of it."""

import errno
import math
import re
from pathlib import Path

from seqkern.core.errors import MappingError, ParameterError
from seqkern.core.memory_limits import memory_left

WITHOUT_MATRIX = "train without a matrix (--solver linear_svc, with --kernel spectrum, mismatch or gapped_kmer)"
"""Remedy for solvers of classes where a Gram matrix does not fit."""
LEAST_BARE = 1_000_000
"""Bytes that text without a unit may mean: fewer are meant to be gigabytes."""
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(amount: int | float | str) -> int:
    """Return a number of bytes.

    Parameters
    ----------
    amount : int, float or str
        Bytes, or text with a unit, such as ``"2GB"``, ``"500 MB"`` (powers of 1000) or ``"1.5GiB"`` (powers of 1024).

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ParameterError
        If it is not such an amount, not positive, or text of a small number without a unit.

    Examples
    --------
    >>> parse_bytes("1.5GiB"), parse_bytes("500 MB")
    (1610612736, 500000000)
    """
    text = f"{amount:.0f}" if isinstance(amount, float) else str(amount)
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    size = 0.0
    if match is not None:
        size = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2]]
    if not 1 <= size < math.inf:
        raise ParameterError(f"{amount!r} is not an amount of memory", remedy="write it like 500MB or 2GB")
    if isinstance(amount, str) and amount.strip().replace(".", "").isdigit() and size < LEAST_BARE:
        raise ParameterError(
            f"{amount!r} has no unit", remedy=f"write {amount.strip()}GB, or {amount.strip()}B for bytes"
        )
    return int(size)


def format_bytes(size: float) -> str:
    """Return a number of bytes as readable text.

    Parameters
    ----------
    size : float
        Number of bytes.

    Returns
    -------
    str
        Three digits and a unit, a power of 1000.

    Examples
    --------
    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available_memory() -> int:
    """Return the memory available to this process, in bytes: free on this computer, and within all its limits.

    The limits are those of its control groups (containers, batch systems), of its SLURM job, and of ``ulimit``. What is
    used already counts: that of all processes of a control group, but of a SLURM job without control groups only that
    of this process. Cached files do not count, since the system drops them when memory is needed.

    Returns
    -------
    int
        At least 0.

    Examples
    --------
    >>> available_memory() > 1_000_000
    True
    """
    return memory_left().size


def default_limit_words(limit: object = None) -> str:
    """Return where a limit of half of the available memory comes from, for messages.

    Parameters
    ----------
    limit : object
        The limit that the user gave; None for the default.

    Returns
    -------
    str
        Empty if the user gave the limit.

    Examples
    --------
    >>> default_limit_words("2GB"), default_limit_words().startswith(" (half of the memory left ")
    ('', True)
    """
    return "" if limit is not None else f" (half of the memory left {memory_left().place})"


def more_memory(limit: object = None) -> str:
    """Return how to get a higher limit, for the remedies of messages.

    Parameters
    ----------
    limit : object
        The limit that the user gave; None for the default.

    Returns
    -------
    str

    Examples
    --------
    >>> more_memory("2GB")
    'raise it'
    """
    return "raise it" if limit is not None else memory_left().remedy


def out_of_memory(error: BaseException) -> str:
    """Return a message about a failed allocation: what was needed, what is left, and what to do.

    Parameters
    ----------
    error : MemoryError or OSError
        Of Python, NumPy or the system.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> out_of_memory(MemoryError()).startswith("out of memory: ")
    True
    """
    left = memory_left()
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)  # NumPy gives both
    more = ""
    if shape is not None and dtype is not None:
        more = f"another {format_bytes(math.prod(shape) * dtype.itemsize)} needed, "
    return f"out of memory: {more}{format_bytes(left.size)} left {left.place}; {left.remedy}"


def check_mappable(path: Path, error: BaseException) -> None:
    """Raise MappingError if a file could not be mapped because of ``ulimit -v``; else do nothing.

    Parameters
    ----------
    path : Path
        The file.
    error : BaseException
        What mapping it raised.

    Raises
    ------
    MappingError
        If the system had no addresses left.

    Examples
    --------
    >>> check_mappable(Path("gram.npy"), ValueError("not an array"))
    """
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        left = memory_left()
        need = format_bytes(path.stat().st_size)
        raise MappingError(
            f"mapping it takes {need} of memory addresses, but {format_bytes(left.size)} are left {left.place}",
            file=path,
            remedy=left.remedy,
        ) from None
