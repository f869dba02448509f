"""Profile HMMs from sequences that are not aligned: HMMER's builder makes the model of an alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.hmm.alignment import align_sequences
from seqkern.kernels.hmm.profile_hmm import ProfileHMM
from seqkern.sequences.alphabets import ALPHABETS, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    import pyhmmer

SEED = 42


def check_alphabet(alphabet: Alphabet) -> None:
    """Raise SequenceError unless profile HMMs exist for an alphabet.

    Parameters
    ----------
    alphabet : Alphabet
        Alphabet of the sequences.

    Raises
    ------
    SequenceError
        If it is not dna, rna or protein.
    """
    if alphabet not in ALPHABETS.values():
        raise SequenceError(
            f"profile HMMs need dna, rna or protein, and the sequences have the alphabet {alphabet.name}",
            remedy="choose model=markov",
        )


def hmmer_alphabet(alphabet: Alphabet) -> pyhmmer.easel.Alphabet:
    """Return pyhmmer's alphabet for dna, rna or protein; its first letters are ours, in the same order.

    Parameters
    ----------
    alphabet : Alphabet
        dna, rna or protein.

    Returns
    -------
    pyhmmer.easel.Alphabet
    """
    # imported here: slows start-up
    from pyhmmer.easel import Alphabet

    return {"dna": Alphabet.dna, "rna": Alphabet.rna, "protein": Alphabet.amino}[alphabet.name]()


def background(alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return HMMER's background frequencies of the letters, float64 (letters,).

    Parameters
    ----------
    alphabet : Alphabet
        dna, rna or protein.

    Returns
    -------
    ndarray of float64, shape (letters,)
        They sum to 1.
    """
    # imported here: slows start-up
    from pyhmmer.plan7 import Background

    return np.array(Background(hmmer_alphabet(alphabet)).residue_frequencies, dtype=np.float64)


def build_profile(X: SequenceSet) -> ProfileHMM:
    """Return the ProfileHMM of a set of sequences.

    The sequences are aligned by `align_sequences`, and the model is built as hmmbuild does: a column belongs to the
    model if half of the sequences, with Henikoff weights, have a residue in it (if none does, all columns belong);
    mixture Dirichlet priors; as many effective sequences as give a model of HMMER's target information. For a single
    sequence the priors dominate. The result is independent of threads.

    Parameters
    ----------
    X : SequenceSet
        Sequences of masked residues only are left out. Without any other, the model is one column with the background
        frequencies.

    Returns
    -------
    ProfileHMM

    Raises
    ------
    SequenceError
        If the alphabet is not dna, rna or protein.
    ParameterError
        If HMMER cannot build a model.
    """
    check_alphabet(X.alphabet)
    known = X.take([bool(set(text) - {"*"}) for text in X.strings()])
    frequencies = background(X.alphabet)
    if not len(known):
        return ProfileHMM.of([frequencies], [[1, 0, 1, 0, 0, 0, 0]], frequencies)
    letters = X.alphabet.letters + ("X-" if X.alphabet.name == "protein" else "N-")
    aligned = ["".join(letters[code] for code in row) for row in align_sequences(known).tolist()]
    model = _build(aligned, X.alphabet, symfrac=0.5) or _build(aligned, X.alphabet, symfrac=0.0)
    if model is None:
        raise ParameterError(
            "no profile HMM can be built from the positive sequences", remedy="give an HMM with hmm=FILE"
        )
    return from_hmmer(model, frequencies)


def from_hmmer(model: Any, frequencies: npt.ArrayLike) -> ProfileHMM:
    """Return the ProfileHMM of a pyhmmer HMM.

    Parameters
    ----------
    model : pyhmmer.plan7.HMM
        As built, or read from a file.
    frequencies : array_like of float, shape (letters,)
        The background.

    Returns
    -------
    ProfileHMM
    """
    steps = np.asarray(model.transition_probabilities)[:-1]
    return ProfileHMM.of(np.asarray(model.match_emissions)[1:], steps, frequencies)


def _build(aligned: Sequence[str], alphabet: Alphabet, symfrac: float) -> pyhmmer.plan7.HMM | None:
    """Return pyhmmer's HMM of an alignment, or None if no column is part of it, or a sequence passes it by."""
    # imported here: slows start-up
    from pyhmmer.easel import TextMSA, TextSequence
    from pyhmmer.errors import UnexpectedError
    from pyhmmer.plan7 import Background, Builder

    letters = hmmer_alphabet(alphabet)
    rows = [TextSequence(name=b"%d" % i, sequence=row) for i, row in enumerate(aligned)]
    alignment = TextMSA(name=b"positives", sequences=rows).digitize(letters)
    # Short beside a wide alignment they are no fragments: else columns that few sequences have would be counted in.
    builder = Builder(letters, architecture="fast", weighting="pb", symfrac=symfrac, fragthresh=0.0, seed=SEED)
    try:
        return builder.build_msa(alignment, Background(letters))[0]
    except (ValueError, UnexpectedError):
        return None
