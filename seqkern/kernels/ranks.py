"""The order that decides which sequence of a pair is the row: by length, then by codes."""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt


def order_keys(
    codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> list[tuple[int, bytes]]:
    """Return (length, bytes of the codes) of each record: a list in their order.

    Parameters
    ----------
    codes : ndarray of uint8, shape (total,)
        Of all records.
    starts, stops : ndarray of int64, shape (n,)
        Record i is ``codes[starts[i]:stops[i]]``.

    Returns
    -------
    list of (int, bytes)
    """
    texts = [codes[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
    return [(len(text), text) for text in texts]


def ranks(keys: list[tuple[int, bytes]], among: list[tuple[int, bytes]]) -> npt.NDArray[np.int64]:
    """Return the place of each key among sorted ones, int64 (n,): 2·place + 1 if it is one of them, else even.

    Parameters
    ----------
    keys : list of (int, bytes)
        From `order_keys`.
    among : list of (int, bytes)
        Sorted, each once.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    places = [bisect_left(among, key) for key in keys]
    return np.array(
        [2 * place + (place < len(among) and among[place] == key) for place, key in zip(places, keys, strict=True)],
        dtype=np.int64,
    )
