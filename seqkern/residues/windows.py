"""Windows around every residue, the ends of the chain included."""

import numpy as np

from seqkern.residues.residues import STATES, Residues, check_window
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet


def residue_units(chains, window):
    """Return every residue of each chain as a unit: its window, and where it stands.

    Parameters
    ----------
    chains : SequenceSet
        With the track ``states``, where states are known, and with profiles, where there are any.
    window : int
        Letters of a window, an odd number; the residue is in the middle.

    Returns
    -------
    windows : SequenceSet
        As `residue_windows` cuts them; without the states, which no kernel is to see.
    residues : Residues
        With whole chains and their states, without profiles.

    Raises
    ------
    ParameterError
        If `window` is even.
    """
    check_window(window)
    seen = {name: track for name, track in chains.tracks.items() if name != STATES}
    known = {name: track for name, track in chains.tracks.items() if name == STATES}
    windows = residue_windows(chains.replace(tracks=seen), window // 2)
    return windows, Residues.of_chains(chains.replace(tracks=known), window)


def residue_windows(X, half):
    """Return one window for each residue of each record, with its tracks.

    Parameters
    ----------
    X : SequenceSet
    half : int
        Residues before and after the one in the middle.

    Returns
    -------
    SequenceSet
        Windows of 2·half + 1 letters, record after record, named ``id:position``, positions from 1. Beyond the ends of
        a chain letters are masked and tracks 0. The windows are views: they share one copy of the letters and tracks.
    """
    lengths = X.lengths
    # every record is followed by `half` masked letters, which also stand before the next one
    starts = half + np.concatenate(([0], np.cumsum(lengths + half)))[:-1]
    places = np.repeat(starts, lengths) + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    positions, total = X.positions(), half + int(np.sum(lengths + half))
    codes = np.full(total, MASK, dtype=np.uint8)
    codes[places] = X.codes[positions]
    tracks = {}
    for name, track in X.tracks.items():
        tracks[name] = np.zeros((total, *track.shape[1:]), dtype=track.dtype)
        tracks[name][places] = track[positions]
    numbers = places - np.repeat(starts, lengths) + 1
    ids = [f"{X.ids[i]}:{number}" for i, number in zip(np.repeat(np.arange(len(X)), lengths), numbers, strict=True)]
    return SequenceSet(codes, places - half, places + half + 1, ids, X.alphabet, tracks, X.counts)
