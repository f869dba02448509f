"""Make an input that fails smaller."""

import time

from fuzz_reader import FailureError, Harness

SECONDS = 2


def minimised(harness: Harness, data: bytes, key: str, seconds: float = SECONDS) -> bytes:
    """Return a smaller input that fails for the same cause.

    Parameters
    ----------
    harness : Harness
    data : bytes
        Fails.
    key : str
        `FailureError.key` of that failure.
    seconds : float
        The smallest input found until then is returned.

    Returns
    -------
    bytes
    """
    end = time.monotonic() + seconds
    size = max(1, len(data) // 2)
    while size and time.monotonic() < end:
        at, smaller = 0, False
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if _fails(harness, shorter, key):
                data, smaller = shorter, True
            else:
                at += size
        if not smaller:
            size //= 2
    return data


def _fails(harness: Harness, data: bytes, key: str) -> bool:
    try:
        harness.one(data)
    except FailureError as error:
        return error.key == key
    return False
