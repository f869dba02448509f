"""Profiles from profile HMMs: the emissions of the match states, one for each residue.

Such HMMs are what jackhmmer, phmmer and ``hmmbuild`` on a single sequence make: every residue of the query is a match
state. An HMM of a family (Pfam) has its own length, and is no profile of one sequence.
"""

import io

import numpy as np

from ..alphabets import PROTEIN
from ..errors import FileError
from .profile import normalised, to_scores

REMEDY = "give HMMs of proteins that HMMER 3 wrote, as jackhmmer --chkhmm does"


def looks_like_hmmer(text):
    """Tell whether a text begins as HMMER's files do."""
    return text.startswith(("HMMER3/", "HMMER2"))


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
        If it is of another format, of another alphabet, or damaged.
    """
    from pyhmmer.plan7 import HMMFile

    try:
        hmms = list(HMMFile(io.BytesIO(text.encode())))
    except (ValueError, OSError, EOFError, RuntimeError) as error:
        raise FileError(f"cannot be read as an HMMER file: {error}", file=name, remedy=REMEDY) from error
    if not hmms:
        raise FileError("holds no HMM", file=name, remedy=REMEDY)
    for hmm in hmms:
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
