"""Named reductions of DSSP's eight states to helix, strand and coil.

DSSP's letters: H α-helix, G 3₁₀-helix, I π-helix, E strand, B isolated bridge, T turn, S bend, P (since DSSP 4) helix
of polyproline, and none (``-`` or C here) for the rest. Methods use different reductions, which change Q3 by
some points (Cuff and Barton, Proteins 34:508, 1999): scores are comparable under one reduction only.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ConfigError, unknown_name
from seqkern.core.types import PathLike

HELIX, STRAND, COIL = (ord(letter) for letter in "HEC")


@dataclass(frozen=True)
class Reduction:
    """A reduction of eight states to three.

    Attributes
    ----------
    name : str
        Its name in configurations.
    helix, strand : str
        The states that become H and E; all others become C.
    shortest : tuple of (int, int)
        Shorter runs of helix, and of strand, become coil afterwards.
    source : str
        Source of the reduction.
    """

    name: str
    helix: str
    strand: str
    source: str
    shortest: tuple[int, int] = (1, 1)


REDUCTIONS = {
    item.name: item
    for item in (
        Reduction(
            "HGI_EB",
            "HGI",
            "EB",
            "the assessment of CASP (Moult and others, Proteins Suppl. 3:2, 1999); the three states of cb513",
        ),
        Reduction(
            "HGI_E",
            "HGI",
            "E",
            "the states of rs126 (Rost and Sander, J. Mol. Biol. 232:584, 1993): isolated bridges are coil",
        ),
        Reduction(
            "HG_EB",
            "HG",
            "EB",
            "method A of Cuff and Barton (Proteins 34:508, 1999); PSIPRED (Jones, J. Mol. Biol. 292:195, 1999)",
        ),
        Reduction(
            "H_EB",
            "H",
            "EB",
            "the states of jpred4 (Drozdetskiy, Cole, Procter, Barton, Nucleic Acids Res. 43:W389, 2015)",
        ),
        Reduction("H_E", "H", "E", "the strictest: α-helix and strand only"),
        Reduction(
            "frishman_argos",
            "H",
            "E",
            "Frishman and Argos (Proteins 27:329, 1997), method B of Cuff and Barton (1999): helices of up to four and "
            "strands of up to two residues are coil too",
            (5, 3),
        ),
    )
}


def find_reduction(name: str) -> Reduction:
    """Return the reduction with a name.

    Parameters
    ----------
    name : str
        One of `REDUCTIONS`.

    Returns
    -------
    Reduction

    Raises
    ------
    ParameterError
        For an unknown name, with the nearest one.
    """
    if name not in REDUCTIONS:
        raise unknown_name("reduction of states", name, REDUCTIONS)
    return REDUCTIONS[name]


def reduce_states(
    states: npt.NDArray[np.uint8],
    stops: npt.ArrayLike,
    name: str,
    file: PathLike | None = None,
    needed: bool = True,
) -> npt.NDArray[np.uint8]:
    """Return states reduced to H, E and C.

    Parameters
    ----------
    states : ndarray of uint8, shape (total,)
        DSSP's letters, chain by chain; 0 for unknown states, which stay 0.
    stops : array_like of int
        End of each chain: runs of one state do not continue in the next chain.
    name : str
        One of `REDUCTIONS`.
    file : path-like, optional
        Used in messages.
    needed : bool
        Whether to reject states that are already H, E and C; else only runs that are too short
        change.

    Returns
    -------
    ndarray of uint8, shape (total,)
        ASCII letters H, E and C; 0 for unknown states.

    Raises
    ------
    ParameterError
        For an unknown reduction.
    ConfigError
        If `needed` and all states are already H, E and C.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.residues.reductions import reduce_states
    >>> states = np.frombuffer(b"SHHHHHTEEBGG", dtype=np.uint8)
    >>> bytes(reduce_states(states, [12], "HGI_EB")).decode()
    'CHHHHHCEEEHH'
    >>> bytes(reduce_states(states, [12], "frishman_argos")).decode()
    'CHHHHHCCCCCC'
    """
    reduction = find_reduction(name)
    eight = np.isin(states, [0, HELIX, STRAND, COIL], invert=True)
    if needed and reduction.shortest == (1, 1) and not eight.any():
        raise ConfigError(
            f"reduction={name!r} has nothing to reduce: the states are H, E and C already",
            file=file,
            remedy="remove reduction, or give DSSP's eight states",
        )
    table = np.full(256, COIL, dtype=np.uint8)
    table[0] = 0
    table[[ord(letter) for letter in reduction.helix]] = HELIX
    table[[ord(letter) for letter in reduction.strand]] = STRAND
    reduced = table[states]
    if reduction.shortest != (1, 1) and len(reduced):
        first = np.concatenate(([True], reduced[1:] != reduced[:-1]))
        first[np.asarray(stops)[:-1]] = True
        begins = np.flatnonzero(first)
        lengths = np.diff(np.append(begins, len(reduced)))
        shortest = np.zeros(256, dtype=np.int64)
        shortest[[HELIX, STRAND]] = reduction.shortest
        reduced[np.repeat(lengths < shortest[reduced[begins]], lengths)] = COIL
    return reduced
