"""Mapping from each sample to its residue, chain and state.

The windows that kernels compare do not contain states; these are stored here, with the whole chains.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.checks import check_integer, whole_number
from seqkern.core.errors import FileError, ParameterError, SeqkernError, SequenceError
from seqkern.core.text_files import PACKED, open_text
from seqkern.core.tsv import read_cells
from seqkern.core.types import Arrays, Codes, Floats, Header, Ints, Rows
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet, frozen, vector_views

STATES = "states"
"""Name of the track of states, ASCII letters; 0 for a residue with unknown state."""
WINDOW = 15
"""Default number of residues of a window."""
LARGEST_WINDOW = 99_999
"""Maximum number of residues of a window, more than any known protein has."""


@dataclass(frozen=True, eq=False)
class Residues:
    """The residues of n samples.

    Attributes
    ----------
    chains : SequenceSet
        Whole chains; the track ``states`` holds the true state of each residue as an ASCII letter (uint8), 0 if
        unknown. Without the track, no state is known.
    record : ndarray of int64, shape (n,)
        The chain of each sample.
    place : ndarray of int64, shape (n,)
        Its residue, from 0.
    window : int
        Residues of the window around each sample, an odd number.

    Raises
    ------
    ParameterError
        If `window` is even.
    SequenceError
        If the arrays differ in length, or a residue lies outside its chain.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["MKVLA", "GIV"], "protein", ids=["1abc", "2xyz"])
    >>> residues = Residues.of_chains(chains, window=3)
    >>> len(residues), residues.to_terminus().tolist()
    (8, [0, 1, 2, 1, 0, 0, 1, 0])
    >>> residues.neighbours(1)[:2].tolist()
    [[-1, 0, 1], [0, 1, 2]]
    """

    chains: SequenceSet
    record: Ints
    place: Ints
    window: int

    def __post_init__(self) -> None:
        check_window(self.window)
        for name in ("record", "place"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        if self.record.shape != self.place.shape or self.record.ndim != 1:
            raise SequenceError("residues need one place for each record", remedy="give arrays of one length")
        # Files must not point outside the chains.
        inside = np.all((self.record >= 0) & (self.record < len(self.chains)))
        if not inside or np.any((self.place < 0) | (self.place >= self.chains.lengths[self.record])):
            raise SequenceError("a residue is outside its chain", remedy="create the file again")

    def __len__(self) -> int:
        return len(self.record)

    @classmethod
    def of_chains(cls, chains: SequenceSet, window: int) -> "Residues":
        """Return all residues of whole chains, chain by chain.

        Parameters
        ----------
        chains : SequenceSet
            The chains, with the track ``states`` if states are known.
        window : int
            Residues of a window, an odd number.

        Returns
        -------
        Residues

        Raises
        ------
        ParameterError
            If `window` is even.
        """
        lengths = chains.lengths
        record = np.repeat(np.arange(len(chains)), lengths)
        place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return cls(chains, record, place, window)

    def take(self, rows: Rows) -> "Residues":
        """Return some of the residues, of the same chains."""
        return Residues(self.chains, self.record[rows], self.place[rows], self.window)

    def positions(self) -> Ints:
        """Return int64 (n,): the place of each residue in the codes and tracks of `chains`."""
        return self.chains.starts[self.record] + self.place

    def states(self) -> Codes:
        """Return uint8 (n,): the true state of each residue as an ASCII letter, 0 if unknown."""
        if STATES not in self.chains.tracks:
            return np.zeros(len(self), dtype=np.uint8)
        return self.chains.tracks[STATES][self.positions()]

    def lengths(self) -> Ints:
        """Return int64 (n,): the length of the chain of each sample."""
        return self.chains.lengths[self.record]

    def to_terminus(self) -> Ints:
        """Return int64 (n,): the number of residues between each residue and the nearer terminus of its chain."""
        return np.minimum(self.place, self.lengths() - 1 - self.place)

    def neighbours(self, half: int) -> Ints:
        """Return the samples around each sample in its chain.

        Parameters
        ----------
        half : int
            Residues before and after it.

        Returns
        -------
        ndarray of int64, shape (n, 2 * half + 1)
            Rows of this view; −1 if there is no such residue, or it is not a sample.

        Raises
        ------
        ParameterError
            If `half` is negative.
        """
        check_integer("half", half, 0)
        chains = self.chains
        # every chain is followed by `half` places without a sample, which also serve as those before the next chain
        first = half + np.concatenate(([0], np.cumsum(chains.lengths + half)))
        row = np.full(first[-1], -1, dtype=np.int64)
        centre = first[self.record] + self.place
        row[centre] = np.arange(len(self))
        return row[centre[:, None] + np.arange(-half, half + 1)]

    def chain_rows(self) -> Iterator[tuple[int, Ints]]:
        """Group the samples by chain.

        Yields
        ------
        chain : int
            Each chain with samples, from 0.
        rows : ndarray of int64
            Its samples, in order.
        """
        order = np.lexsort((self.place, self.record))
        chains, first = np.unique(self.record[order], return_index=True)
        yield from zip(chains.tolist(), np.split(order, first)[1:], strict=True)

    def state(self) -> tuple[Header, Arrays]:
        """Return the input of `from_state`: a JSON dict and a dict of arrays."""
        header, arrays = self.chains.state()
        places = {"record": self.record, "place": self.place}
        return {"chains": header, "window": int(self.window)}, nest("chains", arrays) | places

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> "Residues":
        """Return the residues with this `state`.

        Parameters
        ----------
        header : dict
            The first part of the state.
        arrays : dict of str to ndarray
            The second part.

        Returns
        -------
        Residues

        Raises
        ------
        SequenceError
            If the state is corrupted.
        """
        chains = SequenceSet.from_state(header["chains"], unnest("chains", arrays))
        return cls(chains, arrays["record"], arrays["place"], header["window"])


def check_window(window: int, name: str = "window") -> None:
    """Check that a window has a middle residue.

    Parameters
    ----------
    window : int
        Residues of the window.
    name : str
        Its name in messages.

    Raises
    ------
    ParameterError
        If `window` is not an odd integer, or larger than any protein.

    Examples
    --------
    >>> from seqkern.formats import check_window
    >>> check_window(15)
    >>> check_window(14)
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: window=14 is even, so it has no middle residue; use 13 or 15
    """
    check_integer(name, window, 1, LARGEST_WINDOW)
    if window % 2 == 0:
        problem = f"{name}={window} is even, so it has no middle residue"
        raise ParameterError(problem, remedy=f"use {window - 1} or {window + 1}")


# The confidence of the predicted state of each residue.


def confidence(values: npt.ArrayLike, predicted: npt.ArrayLike, probabilities: bool = False) -> Floats:
    """Return the confidence, from 0 to 1, of each predicted state: its margin over the next state.

    For probabilities this is their difference, 0 if the predicted state does not have the highest. Other decision
    values have no scale: their confidence is the share of the given residues that have a smaller margin.

    >>> from seqkern.formats.residues import confidence
    >>> confidence([[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]], [0, 2], probabilities=True).tolist()
    [0.5, 0.25]
    """
    scores, states = np.asarray(values, dtype=np.float64), np.asarray(predicted, dtype=np.int64)
    if scores.ndim == 1:
        scores = np.column_stack([1 - scores if probabilities else -scores, scores])
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, states] = -np.inf
    margin = scores[rows, states] - others.max(axis=1, initial=-np.inf)
    if probabilities:
        return np.clip(margin, 0.0, 1.0)
    from scipy.stats import rankdata  # imported only for decision values, for fast start-up

    return (rankdata(margin) - 1) / max(len(margin) - 1, 1)


def digits(sure: npt.ArrayLike) -> Codes:
    """Return confidences from 0 to 1 as digits 0 to 9.

    >>> from seqkern.formats.residues import digits
    >>> digits([0.0, 0.55, 1.0]).tolist()
    [0, 5, 9]
    """
    return np.minimum(np.floor(10 * np.asarray(sure)), 9).astype(np.uint8)


# Windows around every residue, also at the ends of a chain.


def residue_samples(chains: SequenceSet, window: int) -> tuple[SequenceSet, Residues]:
    """Return every residue of each chain as a sample: its window and its place.

    Parameters
    ----------
    chains : SequenceSet
        The chains, with the track ``states`` if states are known, and with profiles if there are any.
    window : int
        Residues of a window, an odd number; the sample itself is in the middle.

    Returns
    -------
    windows : SequenceSet
        Windows as from `residue_windows`, without the states, which kernels must not see.
    residues : Residues
        The residues, with whole chains and their states, without profiles.

    Raises
    ------
    ParameterError
        If `window` is even.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.formats import residue_samples
    >>> chains = SequenceSet.from_strings(["MKVLA"], "protein", ids=["1abc"])
    >>> chains = chains.replace(tracks={"states": np.frombuffer(b"CEEEC", dtype=np.uint8)})
    >>> windows, residues = residue_samples(chains, window=3)
    >>> windows.strings(), bytes(residues.states()).decode()
    (['*MK', 'MKV', 'KVL', 'VLA', 'LA*'], 'CEEEC')
    """
    check_window(window)
    seen = {name: track for name, track in chains.tracks.items() if name != STATES}
    known = {name: track for name, track in chains.tracks.items() if name == STATES}
    windows = residue_windows(chains.replace(tracks=seen), window // 2)
    return windows, Residues.of_chains(chains.replace(tracks=known), window)


def residue_windows(X: SequenceSet, half: int) -> SequenceSet:
    """Return one window for each residue of each record, with its tracks.

    Parameters
    ----------
    X : SequenceSet
        Whole chains.
    half : int
        Residues before and after the one in the middle.

    Returns
    -------
    SequenceSet
        Windows of 2·half + 1 residues, record by record, named ``id:position``, positions from 1. Beyond the termini
        of a chain residues are masked and tracks 0. The windows are views: they share one copy of codes and tracks.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.formats import residue_windows
    >>> windows = residue_windows(SequenceSet.from_strings(["MKVLA"], "protein", ids=["1abc"]), half=2)
    >>> windows.ids[:2], windows.strings()[:2]
    (['1abc:1', '1abc:2'], ['**MKV', '*MKVL'])
    """
    lengths = X.lengths
    # every record is followed by `half` masked residues, which also serve as those before the next record
    starts = half + np.concatenate(([0], np.cumsum(lengths + half)))[:-1]
    places = np.repeat(starts, lengths) + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    positions, total = X.positions(), half + int(np.sum(lengths + half))
    codes: Codes = np.full(total, MASK, dtype=np.uint8)
    codes[places] = X.codes[positions]
    tracks: Arrays = {}
    for name, track in X.tracks.items():
        tracks[name] = np.zeros((total, *track.shape[1:]), dtype=track.dtype)
        tracks[name][places] = track[positions]
    numbers, records = places - np.repeat(starts, lengths) + 1, np.repeat(np.arange(len(X)), lengths)
    ids = [f"{X.ids[int(i)]}:{number}" for i, number in zip(records, numbers, strict=True)]
    views = {name: view.take(records) for name, view in vector_views(X).items()}
    return SequenceSet(codes, places - half, places + half + 1, ids, X.alphabet, tracks, X.counts, views)


# Contacts: pairs of positions from a table, or of residues that are near each other in a structure.

CONTACT_DISTANCE = 8.0
"""Largest distance of two residues in contact, in ångström, between Cβ atoms, or Cα where there is none."""
LEAST_IDENTITY = 0.5
"""Least share of equal residues, of the shorter of chain and sequence, for a structure of the sequence."""
PARSERS = {".pdb": "PDBParser", ".ent": "PDBParser", ".cif": "MMCIFParser", ".mmcif": "MMCIFParser"}
"""Parsers of Biopython for structures by the ending of the file, before that of a compression."""


def read_contacts(path: Path, sequence: str) -> Ints:
    """Return the pairs of positions of a sequence that are in contact, counted from 0, increasing, int64 (k, 2)."""
    parser = PARSERS.get((path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower())
    pairs = _listed_contacts(path, len(sequence)) if parser is None else _near_residues(path, parser, sequence)
    if not len(pairs):
        raise FileError("has no pair of positions in contact", file=path, remedy="give some, or remove contacts")
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _listed_contacts(path: Path, length: int) -> Ints:
    """Return the pairs of positions in the first two columns of a table, which counts from 1."""
    pairs = []
    for number, cells in enumerate(read_cells(path), start=1):
        found = [whole_number(cell) for cell in cells[:2]]
        if number == 1 and not any(found):  # a header
            continue
        outside = [cell for cell, place in zip(cells, found, strict=False) if not 1 <= (place or 0) <= length]
        if outside or len(set(found)) < 2:
            raise FileError(
                f"{outside[0]!r} is not a position from 1 to {length}" if outside else "is not a pair of two positions",
                file=path,
                record=f"row {number}",
                remedy="give two different positions of the sequences in each row, counted from 1",
            )
        pairs.append(found)
    return np.array(pairs, dtype=np.int64) - 1


def _near_residues(path: Path, parser: str, sequence: str) -> Ints:
    """Return the pairs of residues within `CONTACT_DISTANCE` in the chain that is most similar to the sequence."""
    # imported here: slows start-up
    from Bio import PDB
    from Bio.Align import PairwiseAligner, substitution_matrices
    from Bio.Data.PDBData import protein_letters_3to1_extended as letters
    from scipy.spatial import cKDTree

    matrix = substitution_matrices.load("BLOSUM62")
    aligner = PairwiseAligner(
        substitution_matrix=matrix, open_gap_score=-11, extend_gap_score=-1, end_gap_score=0, mode="global"
    )

    def known(text: str) -> str:
        return "".join(letter if letter in matrix.alphabet else "X" for letter in text)

    best, length, nearest, pairs = 0, len(sequence), "", np.empty((0, 2), dtype=np.int64)
    try:
        with open_text(path) as (text, _), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = next(iter(getattr(PDB, parser)(QUIET=True).get_structure("", text)))
        for chain in model:
            residues = [one for one in chain if one.get_resname() in letters and "CA" in one]
            if residues:
                own = known("".join(letters[one.get_resname()][0] for one in residues))
                places, rows = aligner.align(known(sequence), own)[0].indices
                both = (places >= 0) & (rows >= 0)
                same = sum(sequence[i] == own[j] for i, j in zip(places[both], rows[both], strict=True))
                if same > best:
                    atoms = [residues[j]["CB" if "CB" in residues[j] else "CA"].coord for j in rows[both]]
                    near = cKDTree(np.array(atoms)).query_pairs(CONTACT_DISTANCE, output_type="ndarray")
                    best, pairs, length = same, places[both][near], len(own)
                    nearest = f"; the most similar one, {chain.id}, has {same} equal residues"
    except SeqkernError:
        raise
    except Exception as error:  # damaged files raise almost anything
        raise FileError("is not a structure that Biopython reads", file=path, remedy="download it again") from error
    if best < LEAST_IDENTITY * min(len(sequence), length):
        raise FileError(
            f"no chain is like the sequences of {len(sequence)} residues{nearest}",
            file=path,
            remedy="give the structure of this protein, or a table of pairs of positions",
        )
    return pairs
