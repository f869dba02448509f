"""Profile HMMs from sequences that are not aligned: FAMSA aligns them, HMMER's builder makes the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.hmm.profile_hmm import ProfileHMM
from seqkern.sequences.alphabets import ALPHABETS, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    import pyhmmer

SEED = 42
MATCH, MISMATCH = 5.0, -4.0


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

    The sequences are aligned by FAMSA without refinement (its PFASUM43 for proteins, 5 for a match and -4 for a
    mismatch of bases; a masked residue scores 0 with any), and the model is built as hmmbuild does: a column belongs to
    the model if half of the sequences, with Henikoff weights, have a residue in it (if none does, all columns belong);
    mixture Dirichlet priors; as many effective sequences as give a model of HMMER's target information. For a single
    sequence the priors dominate. The result is deterministic and independent of threads.

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
    strings = [text for text in X.strings() if set(text) - {"*"}]
    frequencies = background(X.alphabet)
    if not strings:
        return ProfileHMM.of([frequencies], [[1, 0, 1, 0, 0, 0, 0]], frequencies)
    aligned = align(strings, X.alphabet)
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


def align(strings: Sequence[str], alphabet: Alphabet) -> list[str]:
    """Return strings with ``-`` for gaps, all of one length; masked residues are ``X``.

    Parameters
    ----------
    strings : list of str
        Sequences, with ``*`` for masked residues.
    alphabet : Alphabet
        Of the sequences.

    Returns
    -------
    list of str
        One row for each sequence, in the same order.
    """
    # imported here: slows start-up
    from pyfamsa import Aligner, Sequence

    # FAMSA knows amino acids only, and T, not U.
    texts = [text.replace("*", "X").replace("U", "T").encode() for text in strings]
    # Its refinement is not used: the result would depend on the contents of memory.
    aligner = Aligner(threads=1, refine=False, scoring_matrix=_scores(Aligner().scoring_matrix, alphabet))
    result = aligner.align([Sequence(b"%d" % i, text) for i, text in enumerate(texts)])
    rows = {int(row.id): row.sequence.decode() for row in result}
    return [rows[i].replace("T", "U") if "U" in alphabet.letters else rows[i] for i in range(len(strings))]


def _scores(default: Any, alphabet: Alphabet) -> Any:
    """Return the matrix for FAMSA: its own for proteins, of matches for bases; X scores 0."""
    letters = default.alphabet
    table = np.array([list(row) for row in default])
    if alphabet.name != "protein":
        table = np.where(np.eye(len(letters), dtype=bool), MATCH, MISMATCH)
    unknown = letters.index("X")
    table[unknown] = table[:, unknown] = 0.0
    return type(default)(table.tolist(), letters)


def _build(aligned: Sequence[str], alphabet: Alphabet, symfrac: float) -> pyhmmer.plan7.HMM | None:
    """Return pyhmmer's HMM of an alignment, or None if no column is part of it."""
    # imported here: slows start-up
    from pyhmmer.easel import TextMSA, TextSequence
    from pyhmmer.plan7 import Background, Builder

    letters = hmmer_alphabet(alphabet)
    unknown = "X" if alphabet.name == "protein" else "N"
    rows = [TextSequence(name=b"%d" % i, sequence=row.replace("X", unknown)) for i, row in enumerate(aligned)]
    alignment = TextMSA(name=b"positives", sequences=rows).digitize(letters)
    # Short beside a wide alignment they are no fragments: else columns that few sequences have would be counted in.
    builder = Builder(letters, architecture="fast", weighting="pb", symfrac=symfrac, fragthresh=0.0, seed=SEED)
    try:
        return builder.build_msa(alignment, Background(letters))[0]
    except ValueError:
        return None
