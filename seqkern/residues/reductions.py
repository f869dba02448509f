"""Named reductions of DSSP's eight states to helix, strand and coil.

DSSP's letters: H α-helix, G 3₁₀-helix, I π-helix, E strand, B isolated bridge, T turn, S bend, P (since DSSP 4) helix
of polyproline, and none (``-`` or C here) for the rest. Methods reduce them in different ways, and Q3 depends on it by
some points (Cuff and Barton, Proteins 34:508, 1999): scores compare under one reduction only.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ConfigError, unknown_name
from seqkern.core.types import PathLike

HELIX, STRAND, COIL = (ord(letter) for letter in "HEC")


@dataclass(frozen=True)
class Reduction:
    """One way to make three states of eight.

    Attributes
    ----------
    name : str
        What configurations call it.
    helix, strand : str
        The letters that become H and E; all others become C.
    shortest : tuple of (int, int)
        Shorter runs of helix, and of strand, become coil after that.
    source : str
        Who reduces like this.
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
        Reduction("H_E", "H", "E", "the strictest: α-helix and strand alone"),
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
    """Return the reduction of a name.

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
        If there is none, with the nearest name.
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
        DSSP's letters, chain after chain; 0 where the state is not known, which it remains.
    stops : array_like of int
        Where each chain stops: runs of one state do not go on in the next chain.
    name : str
        One of `REDUCTIONS`.
    file : path-like, optional
        Named in messages.
    needed : bool
        Whether states that are H, E and C already are refused; else they stay what they are, but for runs that are
        too short.

    Returns
    -------
    ndarray of uint8, shape (total,)
        ASCII letters H, E and C; 0 where the state is not known.

    Raises
    ------
    ParameterError
        If there is no such reduction.
    ConfigError
        If `needed` and there is nothing to reduce: H, E and C are all that occurs.

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
            remedy="leave out reduction, or give the eight states of DSSP",
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
