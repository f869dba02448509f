"""Profiles from profile HMMs: the emissions of the match states, one for each residue.

Such HMMs are what jackhmmer, phmmer and ``hmmbuild`` on a single sequence make: every residue of the query is a match
state. An HMM of a family (Pfam) has its own length, and is no profile of one sequence.
"""

import numpy as np

from seqkern.core.errors import FileError
from seqkern.profiles.hmmer_files import parse_hmms
from seqkern.profiles.profile import normalised, to_scores
from seqkern.sequences.alphabets import PROTEIN

REMEDY = "give HMMs of proteins that HMMER 3 wrote, as jackhmmer --chkhmm does"


def parse_hmmer(text, name):
    """Yield (name, consensus, pssm, profile) for each HMM of a text.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for messages.

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


def of_hmm(hmm):
    """Return (pssm, profile), float32 (match states, 20) each, of a pyhmmer HMM of proteins."""
    from pyhmmer.plan7 import Background

    emissions = np.asarray(hmm.match_emissions)[1:, : PROTEIN.size]  # the first row is no match state
    profile = normalised(emissions)
    return to_scores(profile, np.asarray(Background(hmm.alphabet).residue_frequencies, dtype=np.float64)), profile
