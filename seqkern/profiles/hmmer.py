"""Profiles from profile HMMs: the emissions of the match states, one for each residue.

Such HMMs are what jackhmmer, phmmer and ``hmmbuild`` on a single sequence make: every residue of the query is a match
state. An HMM of a family (Pfam) has its own length, and is no profile of one sequence.
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
    from pyhmmer.plan7 import HMM  # costs start-up

REMEDY = "give HMMs of proteins that HMMER 3 wrote, as jackhmmer --chkhmm does"


def parse_hmmer(text: str, name: str) -> Iterator[tuple[str, str, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Read the profiles of a file of HMMER.

    Parameters
    ----------
    text : str
        The whole file.
    name : str
        Of the file, for messages.

    Yields
    ------
    name : str
        Of the HMM.
    consensus : str
        The likeliest residue of each match state, upper case; empty where the file has none.
    pssm, profile : ndarray of float32, shape (match states, 20)
        As of `Profile`.

    Raises
    ------
    FileError
        If it is of another format, of another alphabet, damaged, or cut off.
    """
    for hmm in parse_hmms(text, name, REMEDY):
        if not hmm.alphabet.is_amino():
            raise FileError(
                f"the HMM {hmm.name!r} is of {hmm.alphabet.type}, not of proteins", file=name, remedy=REMEDY
            )
        yield hmm.name, (hmm.consensus or "").upper(), *of_hmm(hmm)


def of_hmm(hmm: HMM) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the profile that a profile HMM holds.

    Parameters
    ----------
    hmm : pyhmmer.plan7.HMM
        Of proteins.

    Returns
    -------
    pssm, profile : ndarray of float32, shape (match states, 20)
        As of `Profile`.
    """
    from pyhmmer.plan7 import Background  # loaded only where there is an HMM: costs start-up

    matches = hmm.match_emissions  # type: ignore[attr-defined]  # pyhmmer's stubs leave it out
    emissions = np.asarray(matches)[1:, : PROTEIN.size]  # the first row is not a match state
    profile = normalised(emissions)
    return to_scores(profile, np.asarray(Background(hmm.alphabet).residue_frequencies, dtype=np.float64)), profile
