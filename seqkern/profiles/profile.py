"""Profiles, and how they become tracks of sequences.

Two tracks belong together, both float32 (residues, size of the alphabet), columns in the order of the alphabet:
``pssm`` holds log-odds scores s in the units of PSI-BLAST, roughly half bits; ``profile`` holds probabilities
including pseudocounts, so that none is zero. They are equivalent: q_a ∝ p_a·exp(λ·s_a), p the background.

λ is 0.3176, that of ungapped BLOSUM62, to which PSI-BLAST scales its scores. Over 16,000 columns of real PSSMs the
sum Σ_a p_a·exp(λ·s_a), which should be 1, is 1.000 on average (1.05 with half bits, λ = ln 2 / 2).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.sequences.alphabets import MASK, PROTEIN, to_bytes
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tracks import PROFILE_TRACKS as TRACKS

# The amino acids of Robinson and Robinson (PNAS 88, 1991), BLAST's background, in the order of the alphabet.
BACKGROUND = np.array(
    [
        *(0.07805, 0.01925, 0.05364, 0.06295, 0.03856, 0.07377, 0.02199, 0.05142, 0.05744, 0.09019),
        *(0.02243, 0.04487, 0.05203, 0.04264, 0.05129, 0.07120, 0.05841, 0.06441, 0.01330, 0.03216),
    ]
)
BACKGROUND /= BACKGROUND.sum()
SCALE = 0.3176  # λ
SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Profile:
    """Residue probabilities and scores at each position of one sequence.

    Attributes
    ----------
    letters : str
        The sequence; letters outside the alphabet match any residue.
    pssm : ndarray of float32, shape (length, size)
        Log-odds of each residue against the background, in the units of PSI-BLAST.
    profile : ndarray of float32, shape (length, size)
        Probability of each residue; all greater than 0, each row sums to 1.
    file : str, optional
        Source of the profile, for messages.

    Raises
    ------
    SequenceError
        If there is not one row for each residue.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.profiles.profile import Profile, from_scores
    >>> pssm = np.full((2, 20), -2.0, dtype=np.float32)
    >>> pssm[0, 8] = pssm[1, 9] = 6.0  # L and M, in the order of the alphabet
    >>> profile = Profile("LM", pssm, from_scores(pssm))
    >>> len(profile), profile.profile.argmax(axis=1).tolist()
    (2, [8, 9])
    """

    letters: str
    pssm: npt.NDArray[np.float32]
    profile: npt.NDArray[np.float32]
    file: str | None = None

    def __post_init__(self) -> None:
        for name in TRACKS:
            values = getattr(self, name)
            if values.ndim != 2 or len(values) != len(self.letters):
                raise SequenceError(
                    f"the {name} has {len(values)} rows, but the sequence has length {len(self.letters)}",
                    file=self.file,
                    remedy="give one row for each residue",
                )

    def __len__(self) -> int:
        return len(self.letters)


def add_profiles(X: SequenceSet, profiles: Iterable[Profile]) -> SequenceSet:
    """Return sequences with the tracks ``pssm`` and ``profile`` added.

    Parameters
    ----------
    X : SequenceSet, n records
        The sequences.
    profiles : iterable of Profile, n
        One for each record, in order; may be a generator.

    Returns
    -------
    SequenceSet

    Raises
    ------
    SequenceError
        If the length of a profile differs from that of its sequence, or a residue differs and neither is masked.
    """
    tracks = {name: np.zeros((len(X.codes), X.alphabet.size), dtype=np.float32) for name in TRACKS}
    for i, profile in zip(range(len(X)), profiles, strict=True):
        check_agreement(X, i, profile)
        for name, track in tracks.items():
            track[X.starts[i] : X.stops[i]] = getattr(profile, name)
    return X.replace(tracks={**X.tracks, **tracks})


def check_agreement(X: SequenceSet, i: int, profile: Profile) -> None:
    """Check that a profile belongs to a record; masked residues match any.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    i : int
        The record, from 0.
    profile : Profile
        The profile to check.

    Raises
    ------
    SequenceError
        If lengths, alphabets or residues differ.
    """
    where = {"file": profile.file, "record": X.ids[i]}
    length = int(X.stops[i] - X.starts[i])
    if len(profile) != length:
        raise SequenceError(
            f"the profile has {len(profile)} positions, but the sequence has length {length}",
            **where,
            remedy="create the profile from this sequence",
        )
    if profile.profile.shape[1] != X.alphabet.size:
        raise SequenceError(
            f"the profile has {profile.profile.shape[1]} columns, but the alphabet {X.alphabet.name} has "
            f"{X.alphabet.size} letters",
            **where,
            remedy="read the sequences with the alphabet of the profile",
        )
    mine, theirs = X.codes[X.starts[i] : X.stops[i]], X.alphabet.encode(to_bytes(profile.letters))
    odd = np.flatnonzero((mine != theirs) & (mine != MASK) & (theirs != MASK))
    if len(odd):
        letters = X.alphabet.letters
        raise SequenceError(
            f"at position {odd[0] + 1} the profile has {letters[theirs[odd[0]]]}, but the sequence has "
            f"{letters[mine[odd[0]]]}",
            **where,
            remedy="create the profile from this sequence",
        )


def check_tracks(X: SequenceSet, names: Iterable[str]) -> None:
    """Check the tracks of profiles: their shapes, finite numbers, probabilities.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    names : iterable of str
        The tracks: ``pssm``, ``profile``.

    Raises
    ------
    SequenceError
        If one of them is invalid.
    """
    used = None  # residues shared by many windows count once
    for name in names:
        track = X.tracks[name]
        if track.ndim != 2 or track.shape[1] != X.alphabet.size:
            columns = 1 if track.ndim == 1 else track.shape[1]
            raise SequenceError(
                f"the track {name!r} has {columns} columns, but the alphabet {X.alphabet.name} has "
                f"{X.alphabet.size} letters",
                remedy="give one column for each letter of the alphabet",
            )
        used = used or X.used_positions()
        positions, starts = used
        values = track[positions]
        good = np.asarray(np.isfinite(values).all(axis=1))
        if name == "profile":
            good &= (values > 0).all(axis=1) & (np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE)
        if not good.all():
            bad = np.concatenate(([0], np.cumsum(~good)))
            record = int(np.argmax(bad[starts + X.lengths] > bad[starts]))
            position = int(np.argmin(good[starts[record] :])) + 1
            place = X.starts[record] + position - 1
            if X.codes[place] == MASK and not track[place].any():
                raise SequenceError(
                    f"at position {position} it extends past the end of its chain, where there is no profile",
                    record=X.ids[record],
                    remedy="choose a kernel that supports the ends of chains, such as pssm_window",
                )
            wanted = "probabilities above 0 that sum to 1" if name == "profile" else "finite numbers"
            raise SequenceError(
                f"row {position} of the track {name!r} is not {wanted}",
                record=X.ids[record],
                remedy="create its profile again",
            )


def from_scores(pssm: npt.ArrayLike, background: npt.NDArray[np.float64] = BACKGROUND) -> npt.NDArray[np.float32]:
    """Return the probabilities q_a ∝ p_a·exp(λ·s_a) of scores s.

    Parameters
    ----------
    pssm : array_like, shape (length, size)
        The scores, in the units of PSI-BLAST.
    background : ndarray of float64, shape (size,)
        The frequencies p of the residues.

    Returns
    -------
    ndarray of float32, shape (length, size)
        Each row sums to 1.
    """
    scores = SCALE * np.asarray(pssm, dtype=np.float64)
    return normalised(background * np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf)))


def to_scores(profile: npt.ArrayLike, background: npt.NDArray[np.float64] = BACKGROUND) -> npt.NDArray[np.float32]:
    """Return the scores ln(q_a / p_a) / λ of probabilities q.

    Parameters
    ----------
    profile : array_like, shape (length, size)
        The probabilities.
    background : ndarray of float64, shape (size,)
        The frequencies p of the residues.

    Returns
    -------
    ndarray of float32, shape (length, size)
        In the units of PSI-BLAST.
    """
    return (np.log(np.asarray(profile, dtype=np.float64) / background) / SCALE).astype(np.float32)


def normalised(weights: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Normalise weights to probabilities.

    Parameters
    ----------
    weights : array_like, shape (length, size)
        Non-negative; the sum of each row is positive.

    Returns
    -------
    ndarray of float32, shape (length, size)
        None below the smallest normal float32.
    """
    given = np.asarray(weights, dtype=np.float64)
    shares = given / given.sum(axis=1, keepdims=True)
    return np.maximum(shares, np.finfo(np.float32).tiny).astype(np.float32)


def protein_only(X: object) -> None:
    """Check that sequences are proteins.

    Parameters
    ----------
    X : SequenceSet
        The data to check; other kinds of data are rejected too.

    Raises
    ------
    SequenceError
        If they are not proteins.
    """
    if not isinstance(X, SequenceSet) or X.alphabet != PROTEIN:
        name = X.alphabet.name if isinstance(X, SequenceSet) else type(X).__name__
        raise SequenceError(f"profiles need proteins, but these are {name}", remedy="use the alphabet protein")
