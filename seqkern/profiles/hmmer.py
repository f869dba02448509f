"""Profiles from profile HMMs: the emissions of the match states, one for each residue.

Such HMMs are written by jackhmmer, phmmer and ``hmmbuild`` for a single sequence: every residue of the query is a match
state. An HMM of a family (Pfam) has a length of its own, and is not a profile of one sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError
from seqkern.profiles.hmmer_files import parse_hmms
from seqkern.profiles.profile import normalised, to_scores
from seqkern.sequences.alphabets import PROTEIN

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM  # slow to import

REMEDY = "give protein HMMs in HMMER 3 format, as written by jackhmmer --chkhmm"


def parse_hmmer(text: str, name: str) -> Iterator[tuple[str, str, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Read the profiles of a HMMER file.

    Parameters
    ----------
    text : str
        The content of the file.
    name : str
        Name of the file for messages.

    Yields
    ------
    name : str
        Of the HMM.
    consensus : str
        The most likely residue of each match state, upper case; empty if the file has none.
    pssm, profile : ndarray of float32, shape (match states, 20)
        As in `Profile`.

    Raises
    ------
    FileError
        If it has another format or alphabet, or is corrupted or truncated.
    """
    for hmm in parse_hmms(text, name, REMEDY):
        if not hmm.alphabet.is_amino():
            raise FileError(
                f"the HMM {hmm.name!r} is for {hmm.alphabet.type}, not for proteins", file=name, remedy=REMEDY
            )
        yield hmm.name, (hmm.consensus or "").upper(), *of_hmm(hmm)


def of_hmm(hmm: HMM) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the profile in a profile HMM.

    Parameters
    ----------
    hmm : pyhmmer.plan7.HMM
        A protein HMM.

    Returns
    -------
    pssm, profile : ndarray of float32, shape (match states, 20)
        As in `Profile`.
    """
    from pyhmmer.plan7 import Background  # imported here for fast start-up

    matches = hmm.match_emissions  # type: ignore[attr-defined]  # pyhmmer's stubs leave it out
    emissions = np.asarray(matches)[1:, : PROTEIN.size]  # the first row is not a match state
    profile = normalised(emissions)
    return to_scores(profile, np.asarray(Background(hmm.alphabet).residue_frequencies, dtype=np.float64)), profile
