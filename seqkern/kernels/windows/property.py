"""The property kernel: physico-chemical property scales of residues, in windows or as covariances."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, flag, integer, text
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vectors.linear import FUNCTION_SECONDS, PRODUCT_SECONDS
from seqkern.kernels.windows.property_scales import PropertyScales, ScaleParameter
from seqkern.kernels.windows.window_table import LetterCoding
from seqkern.kernels.windows.window_vectors import (
    END,
    WindowTable,
    WindowVectorKernel,
    WindowVectors,
)
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

WINDOW, COVARIANCE = "window", "covariance"
PRODUCT_NS = 1.2  # a product of two values of a sequence, summed
LAG_NS = 1e4  # a distance of a sequence, in addition


class PropertyKernel(ScaleParameter, WindowVectorKernel):
    """Property kernel: physico-chemical properties of the residues.

    It suits proteins whose classes differ in properties, such as hydrophobicity or charge, rather than in residues.
    Scales are standardised to mean 0 and variance 1 over the letters that they list; a masked or unlisted residue has
    no value.

    With the form ``"window"``, for windows of one length, φ(x) has for each position the values of its residue, and one
    more number that is 1 where there is none: beyond the ends of the chain, and where a residue is masked; there the
    others are 0.

    With ``"covariance"``, for sequences of any length L, φ(x) has for each distance g from 1 to `lag` and each pair of
    scales s and t a covariance, 0 if no two residues g apart both have values. With s = t it is the auto-covariance,
    otherwise the cross-covariance, which is not symmetric in s and t.

    Notes
    -----
    With k the RBF, polynomial or linear kernel of vectors,

    .. math:: K(x, y) = k(φ(x), φ(y))

    Each covariance is the mean, over the L − g positions i where both residues have values v, of

    .. math:: (v_s(i) − mean(v_s)) (v_t(i + g) − mean(v_t))

    Complexity: with q scales, O(q·L) per pair of windows of length L. Covariances take O(lag·q²·L) per sequence, then
    O(lag·q²) per pair.

    Definiteness: positive semi-definite.

    References
    ----------
    Wold, Jonsson, Sjöström, Sandberg, Rännar: DNA and peptide sequences and chemical processes multivariately modelled
    by principal component analysis and partial least-squares projections to latent structures. Analytica Chimica Acta
    277, 1993 (auto- and cross-covariances).

    Dong, Zhou, Guan: A new taxonomy-based protein fold recognition approach based on autocross-covariance
    transformation. Bioinformatics 25, 2009.

    Examples
    --------
    >>> from seqkern.kernels import PropertyKernel
    >>> chains = ["MKVLAEDK", "MRILADEK", "GGSGPGSGG"]
    >>> PropertyKernel("covariance", lag=3, alphabet="protein")(chains).round(2)
    array([[1.  , 0.85, 0.24],
           [0.85, 1.  , 0.16],
           [0.24, 0.16, 1.  ]])
    >>> charges = PropertyKernel("covariance", scales=["charge"], lag=3, vector_kernel="linear", alphabet="protein")
    >>> charges.feature_names(), charges.features(chains[:1]).round(2)
    (['charge:lag1', 'charge:lag2', 'charge:lag3'], array([[ 0.  , -0.83,  0.  ]]))
    """

    name = "property"
    summary = "Compares proteins by the properties of their residues, such as charge and size."

    form: str = choice(default=WINDOW, choices=(WINDOW, COVARIANCE), kw_only=False, doc="Content of φ(x), as above.")
    scales: str | list[str] = text(
        default="all",
        several=True,
        doc='``"all"``; a list of ``hydrophobicity``, ``charge``, ``mass``, ``volume``, ``polarity`` '
        "and ``bulkiness``, scales of the amino acids with sources in resources/README.md; or the "
        "path of a file like resources/property_scales.tsv with your own scales, for any "
        "letters.",
    )
    lag: int = integer(default=10, low=1, doc="Largest distance g, for covariances only.")
    cross: bool = flag(default=True, doc="Include cross-covariances, besides auto-covariances.")
    position_weights: str | list[float] = changed(
        default="flat", doc="Weights of the positions of a window, as in the kernel ``window``."
    )

    @classmethod
    def examples(cls) -> list["PropertyKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(alphabet="protein"),
            cls(
                scales=["hydrophobicity", "charge"],
                vector_kernel="linear",
                position_weights="triangle",
                normalize=True,
                alphabet="protein",
                zero_diagonal="zero",
            ),
            cls(COVARIANCE, lag=4, gamma="scale", alphabet="protein"),
            cls(COVARIANCE, lag=3, vector_kernel="linear", normalize=True, alphabet="protein"),
        ]

    @property
    def equal_lengths(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether sequences must have one length, as windows must."""
        return self.form == WINDOW

    def min_length(self) -> int:
        """Return the shortest length with a covariance; 0 for windows."""
        return 2 if self.form == COVARIANCE else 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.files():
            self.property_scales()
        if self.form == COVARIANCE and not (isinstance(self.position_weights, str) and self.position_weights == "flat"):
            raise ParameterError(
                "position_weights do not apply to form=covariance",
                remedy="remove position_weights, or choose form=window",
            )

    def coerce(self, X: Any) -> SequenceSet:
        """Return the sequences, checked.

        Parameters
        ----------
        X : SequenceSet or list of str
            The samples.

        Returns
        -------
        SequenceSet

        Raises
        ------
        ParameterError
            If the scales do not match the alphabet.
        SequenceError
            As `Kernel.coerce`.
        """
        X = super().coerce(X)
        self.property_scales().standardised(X.alphabet)
        return X

    @property
    def coding(self) -> "PropertyCoding":
        """Encoding of a residue as numbers."""
        return PropertyCoding(self.property_scales())

    # ---- covariances, where windows have positions -----------------------------------------------

    def table(self, X: SequenceSet, dtype: npt.DTypeLike = np.float64) -> WindowTable:
        """Return the vectors φ; covariances as windows of one position.

        Parameters
        ----------
        X : SequenceSet
            The samples.
        dtype : {float64, float32}
            Of the vectors.

        Returns
        -------
        WindowTable
        """
        if self.form == WINDOW:
            return super().table(X, dtype)
        return self._covariances().table(X, dtype)

    def width(self, X: Any) -> int:
        """Return the number of coordinates of φ, without its computation.

        Parameters
        ----------
        X : SequenceSet or list of str
            The samples.

        Returns
        -------
        int
        """
        return super().width(X) if self.form == WINDOW else len(self._covariances().names())

    def _linear(self) -> WindowVectors:
        return super()._linear() if self.form == WINDOW else self._covariances()

    def _covariances(self) -> "Covariances":
        """Return the kernel φ(x)·φ(y) of covariances."""
        return Covariances(self.coding, self.lag, self.cross)

    def feature_names(self, alphabet: Alphabet | None = None, length: int | None = None) -> list[str]:
        """Return the names of the features: ``-3:charge``, …, or ``charge:lag1``, ``charge×volume:lag2``, ….

        Parameters
        ----------
        alphabet : Alphabet, optional
            That of the windows.
        length : int, optional
            Of a window, in residues.

        Returns
        -------
        list of str
        """
        if self.form == WINDOW:
            return super().feature_names(alphabet, length)
        self._check_linear()
        return self._covariances().names()

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`).

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        if self.form == WINDOW:
            return super().plan(X, Y)
        self.check_parameters()
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        work = Workload.of(X, Y)
        width = len(self._covariances().names())
        total = work.output(self.n_threads)
        own = (PRODUCT_NS * work.letters * width + LAG_NS * work.records * self.lag) * 1e-9
        own += work.pairs * (PRODUCT_SECONDS * width + FUNCTION_SECONDS * (self.vector_kernel != "linear"))
        return Plan("vectors", total.seconds + own, total.bytes + 16 * width * work.records)


@dataclass(frozen=True)
class PropertyCoding(LetterCoding):
    """Encoding of a residue by its standardised values on some scales.

    Attributes
    ----------
    scales : PropertyScales
        The scales.
    """

    scales: PropertyScales

    def lookup(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the encoding of each letter.

        Parameters
        ----------
        alphabet : Alphabet
            That of the sequences.

        Returns
        -------
        ndarray of float64, shape (size + 1, scales + 1)
            The last row is for masked residues.
        """
        values = self.scales.standardised(alphabet)
        unknown: npt.NDArray[np.bool_] = np.any(np.isnan(values), axis=1)
        return np.column_stack([np.where(unknown[:, None], 0.0, values), unknown])

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns: those of the scales, and ``end``.

        Parameters
        ----------
        alphabet : Alphabet
            Not used.

        Returns
        -------
        list of str
        """
        return [*self.scales.names, END]


class Covariances(WindowVectors):
    """The exact dot product of covariances, the base of the vector kernels of `PropertyKernel`.

    Parameters
    ----------
    coding : PropertyCoding
        Encoding of a residue as values.
    lag : int
        The largest distance.
    cross : bool
        Whether there are cross-covariances, besides auto-covariances.
    """

    coding: PropertyCoding

    def __init__(self, coding: PropertyCoding, lag: int, cross: bool) -> None:
        self.coding = coding
        self.lag = lag
        self.cross = cross

    def names(self) -> list[str]:
        """Return the names of the covariances: distance after distance, all pairs of scales."""
        names = self.coding.scales.names
        pairs = [s if s == t else f"{s}×{t}" for s in names for t in names if self.cross or s == t]
        return [f"{pair}:lag{lag}" for lag in range(1, self.lag + 1) for pair in pairs]

    def table(self, X: SequenceSet, dtype: npt.DTypeLike = np.float64) -> WindowTable:
        """Return the vectors of sequences as those of windows of one position.

        Parameters
        ----------
        X : SequenceSet
            The samples.
        dtype : {float64, float32}
            Of the vectors.

        Returns
        -------
        WindowTable
        """
        size = len(self.coding.scales.names)
        values = np.zeros((len(X), self.lag, size, size) if self.cross else (len(X), self.lag, size))
        pattern = "si,ti->st" if self.cross else "si,si->s"
        for record, (deviations, known) in enumerate(self._deviations(X)):
            for lag in range(1, min(self.lag, len(known) - 1) + 1):
                pairs = np.count_nonzero(known[:-lag] & known[lag:])
                # einsum, not BLAS: bit-identical for any number of threads.
                sums = np.einsum(pattern, deviations[:, :-lag], deviations[:, lag:])
                values[record, lag - 1] = sums / max(pairs, 1)
        return WindowTable(values.reshape(len(X), len(self.names())).astype(dtype), np.arange(len(X)), np.ones(1))

    def _table(self, X: SequenceSet) -> WindowTable:
        return self.table(X)

    def _deviations(self, X: SequenceSet) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
        """Yield the deviations of each sequence from its means, float64 (scales, residues), and which residues
        count.
        """
        lookup = np.ascontiguousarray(self.coding.lookup(X.alphabet).T)
        for start, stop in zip(X.starts, X.stops, strict=True):
            values = lookup[:, np.minimum(X.codes[start:stop], X.alphabet.size)]
            known = values[-1] == 0
            means = values[:-1].sum(axis=1) / max(np.count_nonzero(known), 1)
            yield np.where(known, values[:-1] - means[:, None], 0.0), known

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the product of two deviations equally by their residues, with fixed means."""
        size = len(self.coding.scales.names)
        weights = (coefficients @ self.table(support).gather()).reshape(self.lag, size, -1)
        weights = weights if self.cross else weights * np.eye(size)
        shares = [np.zeros(0)]
        for deviations, known in self._deviations(X):
            total = np.zeros(len(known))
            for lag in range(1, min(self.lag, len(known) - 1) + 1):
                pairs = np.count_nonzero(known[:-lag] & known[lag:])
                weighted = np.einsum("st,si->ti", weights[lag - 1], deviations[:, :-lag])
                products = (weighted * deviations[:, lag:]).sum(axis=0) / max(pairs, 1)
                total[:-lag] += 0.5 * products
                total[lag:] += 0.5 * products
            shares.append(total)
        return np.concatenate(shares)
