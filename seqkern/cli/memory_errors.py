"""Messages about too little memory, with remedies that the verb has."""

from __future__ import annotations

import errno

from seqkern.core.errors import TooLargeError
from seqkern.core.memory import WITHOUT_MATRIX, out_of_memory

WITHOUT = f"for classes {WITHOUT_MATRIX}"
"""Where the solver is not known."""
ON_DISK = "keep the matrix on disk (--gram FILE.npy)"
FEWER = ("or give fewer sequences",)
REMEDIES: dict[str, tuple[str | None, ...]] = {
    "gram": FEWER,
    "train": (ON_DISK, None, *FEWER),
    "cv": (ON_DISK, None, *FEWER),
    "evaluate": (None, "or make folds with smaller training sets (folds: {method: grouped, train_size: …})"),
}
"""Instead of a Gram matrix in memory; None stands for what the solver suggests."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that the system gave no more memory.

    Parameters
    ----------
    error : BaseException
        Of Python, NumPy or the system.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_out_of_memory(OSError(errno.ENOMEM, "Cannot allocate memory")), is_out_of_memory(OSError(errno.ENOENT, ""))
    (True, False)
    """
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, ImportError):  # the message of the dynamic linker
        return any(text in str(error) for text in ("failed to map segment", "cannot allocate memory"))
    if isinstance(error, RuntimeError):
        return "can't start new thread" in str(error)
    return isinstance(error, MemoryError)


def memory_message(error: BaseException, verb: str) -> str:
    """Return the line about an error of `is_out_of_memory`.

    Parameters
    ----------
    error : BaseException
        The error.
    verb : str
        The verb that was called.

    Returns
    -------
    str

    Examples
    --------
    >>> memory_message(MemoryError(), "cv").startswith("out of memory: ")
    True
    """
    return f"{out_of_memory(error)}, {_remedies(verb, None)}"


def _remedies(verb: str, without: str | None) -> str:
    """Return the remedies of a verb, with what the solver suggests; None if it is not known."""
    own = WITHOUT if without is None else without
    return ", ".join(filter(None, (own if text is None else text for text in REMEDIES.get(verb, FEWER))))


def with_remedy(error: TooLargeError, verb: str) -> TooLargeError:
    """Return an error about a Gram matrix that does not fit into memory, with a remedy of this verb.

    Parameters
    ----------
    error : TooLargeError
        Changed in place.
    verb : str
        The verb that was called.

    Returns
    -------
    TooLargeError

    Examples
    --------
    >>> print(with_remedy(TooLargeError("is too large", more="raise the limit"), "gram"))
    is too large; raise the limit, or give fewer sequences
    """
    if verb in REMEDIES:
        error.remedy = f"{error.more}, {_remedies(verb, error.without)}"
    return error
