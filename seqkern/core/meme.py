"""The minimal MEME format of motifs, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

MemeMotif: TypeAlias = tuple[str, npt.NDArray[np.float64], int]
"""Name, probabilities of shape (columns, letters), and number of sites."""


def meme_lines(
    motifs: Iterable[MemeMotif], letters: str, background: Sequence[float], *, both_strands: bool
) -> Iterator[str]:
    r"""Yield the lines of a file.

    Parameters
    ----------
    motifs : iterable of (str, ndarray, int)
        Name, probabilities of shape (columns, letters), number of sites.
    letters : str
        The alphabet.
    background : sequence of float
        Frequency of each letter.
    both_strands : bool
        Whether motifs were found on both strands.

    Yields
    ------
    str
        Without line ends.

    Examples
    --------
    >>> import numpy as np
    >>> motif = ("GS", np.array([[0, 0, 1, 0], [0, 0.5, 0.5, 0]]), 8)
    >>> print("\n".join(meme_lines([motif], "ACGT", [0.25] * 4, both_strands=True)))
    MEME version 5
    <BLANKLINE>
    ALPHABET= ACGT
    <BLANKLINE>
    strands: + -
    <BLANKLINE>
    Background letter frequencies
    A 0.25000 C 0.25000 G 0.25000 T 0.25000
    <BLANKLINE>
    MOTIF GS
    letter-probability matrix: alength= 4 w= 2 nsites= 8
     0.000000 0.000000 1.000000 0.000000
     0.000000 0.500000 0.500000 0.000000
    """
    yield from ("MEME version 5", "", f"ALPHABET= {letters}", "")
    if both_strands:
        yield from ("strands: + -", "")
    yield "Background letter frequencies"
    yield " ".join(f"{letter} {share:.5f}" for letter, share in zip(letters, background, strict=True))
    for name, probabilities, sites in motifs:
        yield from ("", f"MOTIF {name}")
        yield f"letter-probability matrix: alength= {len(letters)} w= {len(probabilities)} nsites= {sites}"
        yield from (" " + " ".join(f"{share:.6f}" for share in row) for row in probabilities)
