"""The property kernel: physico-chemical property scales of residues, in windows or as covariances."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import read_number
from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.package_files import resource_path
from seqkern.core.parameters import changed, choice, flag, integer, text
from seqkern.core.text_files import open_lines
from seqkern.core.types import Arrays, Bools, Floats, Header, PathLike
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel import check_files
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vectors.linear import FUNCTION_SECONDS, PRODUCT_SECONDS
from seqkern.kernels.vectors.windows import END, LetterCoding, WindowTable, WindowVectorKernel, WindowVectors
from seqkern.sequences.alphabets import DNA, RNA, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Scales of physicochemical properties: amino acid scales shipped with seqkern, or custom scales from a file.
#
# `resources/property_scales.tsv` has six amino acid scales, and their sources. Custom files have the same
# format: tab-separated; lines that begin with # are comments; the header names the scales from the second
# column on; each further line has a letter and its value on each scale.

if TYPE_CHECKING:
    from seqkern.kernels.kernel import SequenceKernel as _Base
else:
    _Base = object

OWN = "property_scales.tsv"


@dataclass(frozen=True)
class PropertyScales:
    """Values of letters on scales, shape (letters, scales), as published or as in the file.

    >>> charge = amino_acid_scales().choose(["charge"])
    >>> dict(zip(charge.letters, charge.values[:, 0].tolist(), strict=True))["D"]
    -1.0
    """

    names: tuple[str, ...]  # Of the scales
    letters: str  # Letters with values
    values: Floats = field(repr=False)  # shape (letters, scales): As published, or as in the file
    file: str | None = None  # Source file; None for the amino acid scales shipped with seqkern

    def choose(self, names: Sequence[str]) -> "PropertyScales":
        """Return the scales with the given names, in this order."""
        for name in names:
            if name not in self.names:
                raise ParameterError(
                    f"there is no scale {name!r}", remedy=f"choose all, some of {', '.join(self.names)}, or a file"
                )
        if not len(names) or len(set(names)) < len(names):
            raise ParameterError(f"scales={list(names)!r} is not possible", remedy="give each scale once")
        return PropertyScales(tuple(names), self.letters, self.values[:, [self.names.index(name) for name in names]])

    def standardised(self, alphabet: Alphabet) -> Floats:
        """Return the values by letter code, shape (size + 1, scales), each scale standardised over its letters.

        The mean is 0 and the variance 1. Rows of letters without values, and the last row, for masked residues, are
        NaN.
        """
        if self.file is None and alphabet in (DNA, RNA):
            raise ParameterError(
                f"the scales are for amino acids, the alphabet is {alphabet.name}",
                remedy="give a file with your own scales, or protein sequences",
            )
        if not set(alphabet.letters) & set(self.letters):
            raise ParameterError(
                f"no letter of the alphabet {alphabet.name} has a value on the scales",
                file=self.file,
                remedy="give a file with its letters",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            spread = self.values.std(axis=0)
        if not np.isfinite(spread).all():
            raise ParameterError(
                f"the values of the scale {self.names[int(np.argmin(np.isfinite(spread)))]!r} are too large",
                file=self.file,
                remedy="give the scale in another unit",
            )
        if not (spread > 0).all():
            raise ParameterError(
                f"all letters have the same value on the scale {self.names[int(np.argmin(spread > 0))]!r}",
                file=self.file,
                remedy="remove the scale",
            )
        table = np.full((alphabet.size + 1, len(self.names)), np.nan)
        for code, letter in enumerate(alphabet.letters):
            if letter in self.letters:
                place = self.letters.index(letter)
                table[code] = (self.values[place] - self.values.mean(axis=0)) / spread
        return table


@lru_cache(maxsize=1)
def amino_acid_scales() -> "PropertyScales":
    """Return the amino acid scales shipped with seqkern.

    >>> amino_acid_scales().names
    ('hydrophobicity', 'charge', 'mass', 'volume', 'polarity', 'bulkiness')
    """
    names, letters, values = _parse(resource_path(OWN))
    values.flags.writeable = False
    return PropertyScales(names, letters, values)


def read_scales(path: PathLike) -> "PropertyScales":
    """Read scales from a file, compressed or not."""
    return PropertyScales(*_parse(path), str(path))


def _parse(path: PathLike) -> tuple[tuple[str, ...], str, Floats]:
    """Return the names of the scales, the letters, and the values in a file."""
    try:
        with open_lines(path) as (lines, name):
            rows = [(i, line.rstrip("\r\n").split("\t")) for i, line in enumerate(lines, start=1)]
    except SequenceError as error:  # it is empty
        raise FileError(error.problem, file=error.file, remedy=error.remedy) from error
    rows = [(i, row) for i, row in rows if row != [""] and not row[0].startswith("#")]

    def bad(problem: str, remedy: str) -> FileError:
        return FileError(problem, file=name, remedy=remedy)

    names = tuple(cell.strip() for cell in rows[0][1][1:]) if rows else ()
    if not names or not all(names) or len(set(names)) < len(names):
        raise bad("has no header with the names of scales", "give a tab-separated table as in property_scales.tsv")
    letters = ""
    values: list[list[float]] = []
    for number, (letter, *cells) in rows[1:]:
        letter = letter.strip().upper()
        if len(letter) != 1 or letter in letters:
            raise bad(f"line {number}: {letter!r} is not one new letter", "give one line for each letter")
        row = [read_number(cell) for cell in cells]
        if len(row) != len(names) or any(map(math.isnan, row)):
            raise bad(f"line {number} is not a letter and {len(names)} numbers", "give one value for each scale")
        letters += letter
        values.append(row)
    if len(letters) < 2:
        raise bad("has values for fewer than two letters", "give one line for each letter")
    return names, letters, np.array(values)


class ScaleParameter(_Base):
    """Mixin of kernels whose parameter `scale_parameter` names scales; a file is read once.

    Values read from a file are part of the identity of the kernel and of saved models.
    """

    _missing_file_remedy: ClassVar[str] = "check the path, or choose scales such as hydrophobicity"
    scale_parameter: ClassVar[str] = "scales"
    other_choices: ClassVar[tuple[str, ...]] = ()  # values of the parameter that are not scales
    _read: Any = None  # (value of the parameter, PropertyScales), once read from a file

    def property_scales(self) -> "PropertyScales":
        """Return the named scales."""
        chosen = getattr(self, self.scale_parameter)
        if self._files():
            if self._read is None or self._read[0] != chosen:
                check_files(self)
                self._read = chosen, read_scales(chosen)
            return self._read[1]
        known = amino_acid_scales()
        if isinstance(chosen, str):
            return known if chosen == "all" else known.choose([chosen])
        if not isinstance(chosen, (list, tuple)):
            raise ParameterError(
                f"{self.scale_parameter}={chosen!r} is not possible", remedy="give all, a list of scales, or a file"
            )
        return known.choose(list(chosen))

    def _files(self) -> tuple[str, ...]:
        """Return the path of the file of scales, if there is one."""
        chosen = getattr(self, self.scale_parameter)
        own = ("all", *amino_acid_scales().names, *self.other_choices)
        return (chosen,) if isinstance(chosen, str) and chosen not in own else ()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the scales read from a file."""
        header, arrays = super().fitted_state()
        if not self._files():
            return header, arrays
        scales = self.property_scales()
        told = {"names": list(scales.names), "letters": scales.letters}
        return header | {"scales": told}, arrays | {"scales": scales.values}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "scales" in header:
            chosen = getattr(self, self.scale_parameter)
            values = np.array(arrays["scales"], dtype=np.float64)
            told = header["scales"]
            self._read = chosen, PropertyScales(tuple(told["names"]), told["letters"], values, str(chosen))


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
    >>> charges.features.names(), charges.features(chains[:1]).round(2)
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

    tested_with = (
        {"alphabet": "protein"},
        {
            "scales": ["hydrophobicity", "charge"],
            "vector_kernel": "linear",
            "position_weights": "triangle",
            "normalize": True,
            "alphabet": "protein",
            "zero_diagonal": "zero",
        },
        {"form": COVARIANCE, "lag": 4, "gamma": "scale", "alphabet": "protein"},
        {"form": COVARIANCE, "lag": 3, "vector_kernel": "linear", "normalize": True, "alphabet": "protein"},
    )

    def _traits(self, declared: Traits) -> Traits:
        return replace(super()._traits(declared), equal_lengths=self.form == WINDOW)  # as windows must

    def _min_length(self) -> int:
        """Return the shortest length with a covariance; 0 for windows."""
        return 2 if self.form == COVARIANCE else 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._files():
            self.property_scales()
        if self.form == COVARIANCE and not (isinstance(self.position_weights, str) and self.position_weights == "flat"):
            raise ParameterError(
                "position_weights do not apply to form=covariance",
                remedy="remove position_weights, or choose form=window",
            )

    def coerce(self, X: Any) -> SequenceSet:
        """Return the sequences, checked."""
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
            Data type of the vectors.

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

    def _feature_names(self, X: Any) -> list[str]:
        """Return the names of the features: ``-3:charge``, …, or ``charge:lag1``, ``charge×volume:lag2``, …."""
        return super()._feature_names(X) if self.form == WINDOW else self._covariances().names()

    def _plan(self, X: Any, Y: Any) -> Plan:
        if self.form == WINDOW:
            return super()._plan(X, Y)
        work = Workload.of(X, Y)
        width = len(self._covariances().names())
        total = work.output(self.n_threads)
        own = (PRODUCT_NS * work.letters * width + LAG_NS * work.records * self.lag) * 1e-9
        own += work.pairs * (PRODUCT_SECONDS * width + FUNCTION_SECONDS * (self.vector_kernel != "linear"))
        return Plan("vectors", total.seconds + own, total.bytes + 16 * width * work.records)


@dataclass(frozen=True)
class PropertyCoding(LetterCoding):
    """Encoding of a residue by its standardised values on some scales."""

    scales: PropertyScales  # The scales

    def lookup(self, alphabet: Alphabet) -> Floats:
        """Return the encoding of each letter, shape (size + 1, scales + 1); the last row is for masked residues."""
        values = self.scales.standardised(alphabet)
        unknown: Bools = np.any(np.isnan(values), axis=1)
        return np.column_stack([np.where(unknown[:, None], 0.0, values), unknown])

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns: the scales, and ``end``."""
        return [*self.scales.names, END]


class Covariances(WindowVectors):
    """The exact dot product of covariances, base of the vector kernels of `PropertyKernel`.

    `lag` is the largest distance between residues; `cross` adds cross-covariances to the auto-covariances.
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
        """Return the covariance vectors of sequences, in the form of windows of one position."""
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

    def _deviations(self, X: SequenceSet) -> Iterator[tuple[Floats, Bools]]:
        """Yield the deviations of each sequence from its means, float64 (scales, residues).

        The second array tells which residues count.
        """
        lookup = np.ascontiguousarray(self.coding.lookup(X.alphabet).T)
        for start, stop in zip(X.starts, X.stops, strict=True):
            values = lookup[:, np.minimum(X.codes[start:stop], X.alphabet.size)]
            known = values[-1] == 0
            means = values[:-1].sum(axis=1) / max(np.count_nonzero(known), 1)
            yield np.where(known, values[:-1] - means[:, None], 0.0), known

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Return the contributions of residues, with fixed means.

        The product of two deviations is shared equally by their residues.
        """
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
