"""Tables over all l-mers: which are possible, their parts, and the cost of products with them."""

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.planner import Cost

LARGEST_TABLE = 1 << 27
PART_BITS = 16  # 2^16 double precision numbers: half a megabyte, and codes of two bytes
WINDOWS_IN_LIST = 4  # of a record at least, on average, or lists are too short for their overhead
FEWEST_LISTS = 64
# CPU nanoseconds of a product: an l-mer added and looked up, the end of a list, an entry of the table, a letter of it
WINDOW_NS, LIST_NS, TABLE_NS = 2.2, 3.0, 8.0
DNA_NS, REFLECT_NS = 0.55, 0.15


def check_table(size: int, length: int, name: str = "l") -> None:
    """Raise ParameterError if the table of all l-mers would be too large.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    length : int
        Length of the l-mers.
    name : str
        Name of the parameter, for the message.

    Raises
    ------
    ParameterError
        The message names the largest possible length.
    """
    if size**length <= LARGEST_TABLE:
        return
    largest = next(n for n in range(length, -1, -1) if size**n <= LARGEST_TABLE)
    raise ParameterError(
        f"{name}={length} is too large for products without a Gram matrix: {size} letters have {size**length} l-mers",
        remedy=f"choose {name} up to {largest}",
    )


def part_bits(space: int, windows: float) -> int:
    """Return the binary logarithm of the size of the parts of a table.

    Parameters
    ----------
    space : int
        Entries of the table.
    windows : float
        L-mers of a record, on average.

    Returns
    -------
    int
        At least `PART_BITS`.
    """
    bits = PART_BITS
    while space >> bits > max(FEWEST_LISTS, windows / WINDOWS_IN_LIST):
        bits += 1
    return bits


def product_cost(size: int, length: int, lengths: npt.NDArray[np.int64], both_strands: bool, weighted: bool) -> Cost:
    """Return the Cost of a product, and the bytes of a HammingOperator and of three tables.

    Parameters
    ----------
    size, length : int
        Letters of the alphabet, and of the l-mers.
    lengths : ndarray of int64, shape (n,)
        Residues of the records.
    both_strands, weighted : bool
        Whether both strands count, and whether l-mers have weights.

    Returns
    -------
    Cost
    """
    records, windows = len(lengths), int(np.maximum(lengths - length + 1, 0).sum())
    space = size**length
    folded = space // 2 if size == 4 and both_strands and length % 2 else space
    bits = part_bits(folded, windows / max(1, records))
    entries = records * ((folded >> bits) + 1)
    code = 2 if bits <= PART_BITS else 4
    letter = DNA_NS if size == 4 else REFLECT_NS * size
    seconds = windows * WINDOW_NS + entries * LIST_NS + space * (TABLE_NS + length * letter)
    return Cost(seconds * 1e-9, windows * (code + weighted) + 4 * entries + 12 * records + 3 * 8 * space)
