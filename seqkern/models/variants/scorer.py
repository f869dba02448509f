"""What scores variants: the interface, and the scorer of a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import Arrays, PathLike
from seqkern.kernels.kmer.strands import first_of_pairs, unfold
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.models.kmer_table import KmerTables
    from seqkern.models.model import Model


class Alleles(Protocol):
    """Alleles with the bases around them; see `seqkern.genome.placed_alleles.PlacedAlleles`."""

    @property
    def text(self) -> npt.NDArray[np.uint8]:
        """Bases, upper case; regions end with a dot."""

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Where in `text` the reference alleles begin."""

    @property
    def refs(self) -> list[bytes]:
        """Reference alleles."""

    @property
    def alts(self) -> list[bytes]:
        """Alternative alleles."""

    @property
    def snv(self) -> npt.NDArray[np.bool_]:
        """Whether both are single bases."""


class Scorer(Protocol):
    """What gives alleles their numbers.

    Attributes
    ----------
    flank : int
        Bases needed on each side of a reference allele.
    columns : mapping of str to str
        Names of the arrays that `score` returns, with their meanings.
    alphabet : Alphabet
        Of the model's sequences.
    """

    flank: int
    columns: Mapping[str, str]
    alphabet: Alphabet

    def score(self, alleles: Alleles, n_threads: int | None = None) -> Arrays:
        """Return numbers of alleles.

        Parameters
        ----------
        alleles : Alleles, n
            With the bases around them.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        dict of str to ndarray, shape (n,)
            Among them ``reference``, ``alternative`` and ``delta``, float64, NaN where there is none.
        """

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return the score of whole sequences, float64 (n,).

        Parameters
        ----------
        X : SequenceSet, n sequences
            Of the model's alphabet.
        n_threads : int, optional
            Default: the number of cores.
        """


def read_scorer(path: PathLike, window: int | None = None, around: int = 50) -> Scorer:
    """Return the scorer of a model file, or of a file of weights of k-mers.

    Parameters
    ----------
    path : path-like
        A model of seqkern or of LS-GKM, or weights of k-mers as deltaSVM reads them.
    window : int, optional
        Compare decisions of windows of so many bases.
    around : int
        For models of sites: how far from the variant sites are sought.

    Returns
    -------
    Scorer

    Raises
    ------
    ModelError, FileError
        If the file is not a model, or a model of something else.
    ParameterError
        If a window is given for a model that has none.
    """
    from seqkern.models.kmer_weights import is_kmer_weights, read_kmer_weights  # imported here for fast start-up
    from seqkern.models.loading import load_model
    from seqkern.models.model import Model
    from seqkern.models.variants.tables import TableScorer

    try:
        if is_kmer_weights(path):
            if window is not None:
                raise ParameterError(
                    f"--window needs a model, and {path} has weights of k-mers",
                    remedy="remove --window, or give the model",
                )
            weights = read_kmer_weights(path)
            return TableScorer(weights.tables, weights.alphabet)
        model = load_model(Path(path))
        if not isinstance(model, Model):
            raise ModelError("is a model of residues of chains", remedy="give a model of whole sequences")
        return model_scorer(model, window, around)
    except ModelError as error:
        error.file = path
        raise


def model_scorer(model: Model, window: int | None = None, around: int = 50) -> Scorer:
    """Return the scorer of a model.

    Parameters
    ----------
    model : Model
        With one decision value.
    window, around : int
        As for `read_scorer`.

    Returns
    -------
    Scorer
        Of sites if the model was trained on windows around sites; else of weights of k-mers, or of windows.

    Raises
    ------
    ModelError
        If the model is not one of sequences with one decision value, or the length of its windows is unknown.
    """
    from seqkern.models.variants.sites import SiteScorer  # imported here for fast start-up
    from seqkern.models.variants.tables import TableScorer
    from seqkern.models.variants.windows import WindowScorer

    _check(model)
    if model.window is not None:
        if window is not None and window != model.window.length:
            raise ParameterError(
                f"the model was trained on windows of {model.window.length} bases around sites",
                remedy="remove --window",
            )
        return SiteScorer(model, around)
    if window is None:
        weights = single_kmer_weights(model)
        if weights is not None:
            return TableScorer(weights.tables, weights.alphabet)
        lengths = getattr(model.support, "lengths", np.zeros(0, dtype=np.int64))
        if not len(lengths):
            raise ModelError("does not hold the length of its training sequences", remedy="give --window LENGTH")
        window = int(np.median(lengths))
    return WindowScorer(model, window)


def single_kmer_weights(model: Model) -> KmerTables | None:
    """Return the decision of each k-mer as a sequence of its own, without the constant; None if there is no table.

    Parameters
    ----------
    model : Model
        Of sequences.

    Returns
    -------
    KmerTables or None
        None if decisions are not sums over k-mers, or divided by a norm that several lengths share. Of a normalised
        kernel w(a)/√K(a, a), the score of gkmpredict that deltaSVM sums up.

    Examples
    --------
    >>> from seqkern.kernels import GappedKmerKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACGTTGCA", "CCGTTGCT", "AAAATTTC", "TAAATTTA"], "dna")
    >>> labels = make_labels(X.ids, ["a", "a", "b", "b"], positive="a")
    >>> model = train_model(X, labels, GappedKmerKernel(4, 3, reverse_complement=True), "csvc:C=1")
    >>> weights = single_kmer_weights(model)
    >>> bool(np.isclose(weights.tables[4][0b00011011] + weights.constant, model.decision(["ACGT"])[0]))
    True
    """
    from seqkern.models.kmer_table import KmerTables, kmer_tables  # imported here for fast start-up

    try:
        found = kmer_tables(model)
    except ParameterError:
        return None
    if not found.normalised:
        return found
    if len(found.tables) != 1:
        return None
    ((length, weights),) = found.tables.items()
    apart = _from_reverse_complements(found.alphabet, length)
    kinds, roots = np.flatnonzero(np.bincount(apart)), np.zeros(length + 1)
    strings = [_spelled(found.alphabet, length, int(np.argmax(apart == kind))) for kind in kinds]
    X = SequenceSet.from_strings(strings, found.alphabet)
    roots[kinds] = np.sqrt(np.maximum(model.kernel.prepare(X).raw_diagonal, 0.0))
    own = np.divide(weights, roots[apart], out=np.zeros_like(weights), where=roots[apart] > 0)
    if found.both_strands:  # to the last bit
        own = unfold(own[first_of_pairs(found.alphabet, length)], found.alphabet, length)
    return KmerTables(found.alphabet, {length: own}, found.constant, False, found.both_strands)


def _from_reverse_complements(alphabet: Alphabet, length: int) -> npt.NDArray[np.uint8]:
    """Return the Hamming distance of each k-mer a from its reverse complement: K(a, a) depends on it alone.

    Kernels of k-mers compare these by their Hamming distances. Without complements all are 0.
    """
    apart = np.zeros((alphabet.size,) * length, dtype=np.uint8)
    if alphabet.complement is not None:
        other = alphabet.complement_codes[: alphabet.size]
        differ = (np.arange(alphabet.size)[:, None] != other[None, :]).astype(np.uint8)
        for place in range(length // 2):  # a pair of places agrees in both or in neither
            shape = [alphabet.size if axis in (place, length - 1 - place) else 1 for axis in range(length)]
            apart += 2 * differ.reshape(shape)
        apart += length % 2
    return apart.ravel()


def _spelled(alphabet: Alphabet, length: int, code: int) -> str:
    """Return the k-mer of a code."""
    size = alphabet.size
    return "".join(alphabet.letters[code // size**place % size] for place in range(length - 1, -1, -1))


def _check(model: Model) -> None:
    """Raise ModelError unless a model gives sequences one decision value."""
    if model.alphabet is None:
        raise ModelError("was trained on a feature table", remedy="give a model of sequences")
    if model.projects or model.kind == "multiclass":
        raise ModelError(
            "has several decision values for each sequence",
            remedy="train one class against the rest with --positive",
        )
    if model.kernel.tracks or model.kernel.views or model.sequence_views:
        raise ModelError(
            f"kernel {model.kernel.name!r} needs tracks, views or several sequences, which alleles lack",
            remedy="give a model of sequences alone",
        )
