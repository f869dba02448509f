"""The order by which engines of pairs decide which of two sequences is the row: by length, then by the codes."""

from bisect import bisect_left

import numpy as np


def order_keys(codes, starts, stops):
    """Return (length, bytes of the codes) of each record: a list in their order."""
    texts = [codes[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
    return [(len(text), text) for text in texts]


def ranks(keys, among):
    """Return the place of each key among sorted ones, int64 (n,): 2·place + 1 if it is one of them, else even."""
    places = [bisect_left(among, key) for key in keys]
    return np.array(
        [2 * place + (place < len(among) and among[place] == key) for place, key in zip(places, keys, strict=True)],
        dtype=np.int64,
    )
