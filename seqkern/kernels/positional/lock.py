"""The LOCK kernel: aligned variants of one length, compared by a substitution matrix with learned position weights."""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import fixed, integer, numbers, positive, real, text
from seqkern.core.public_files import local_path
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.formats.residues import read_contacts
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.gradients import KernelGradient, Square, log_gamma_prior
from seqkern.kernels.kernel import SequenceKernel, check_files
from seqkern.kernels.prepared import Plan
from seqkern.kernels.substitution_scores import matrix_scores
from seqkern.kernels.vectors import _vector
from seqkern.kernels.vectors.linear import FUNCTION_SECONDS, PRODUCT_SECONDS
from seqkern.sequences.alphabets import PROTEIN, Alphabet
from seqkern.sequences.sequence_set import SequenceSet, code_matrix

MEDIAN = -0.25
"""Median of a normalised matrix."""
INDEFINITE = 1e-9
"""Negative eigenvalue of a normalised matrix that is a rounding error."""
CHUNK_ROWS = 64
"""Rows of a block whose residues are looked up together."""
CHUNK_PAIRS = 1 << 13
"""Pairs of samples whose counts are multiplied together."""
PAIR_MATRICES = 12
"""Number of n × n matrices that learning keeps for pairs of positions, besides those for positions."""
WEIGHT_DEVIATION = 0.5
"""Standard deviation of the logarithm of a position weight, in its prior."""

DECAYS = "distance_decay", "local_decay", "additive_decay", "contact_decay"
SCALES = "local_scale", "additive_scale", "contact_scale"

Letters: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
"""Codes of residues, or of the two residues at pairs of positions."""


class LOCKKernel(SequenceKernel):
    r"""LOCK kernel: locally linear, with a substitution matrix and a weight for each position.

    It suits aligned variants of one protein with a measured property. The second sum is an additive model of the
    positions; the first one is such a model that changes slowly from sequence to sequence, which covers epistasis. Use
    it as ``likelihood:base=lock``: the kernel `likelihood` learns all parameters, position weights only where the
    evidence for them exceeds that of equal weights. By itself `lock` keeps the values given and learns nothing.

    A masked residue, such as a gap or X, is one more letter, as far from all others as the two least similar letters.

    With `contacts` or `neighbours` there is a third sum, a model of pairs of positions: of those in contact in the
    structure, and of those near each other in the sequence. It suits landscapes with epistasis between residues that
    touch. `fit` reads the contacts; in a structure, it aligns the chain that is most similar to the commonest residues
    of the training sequences. Residues are in contact within 8 Å between their Cβ atoms, Cα for glycine.

    Notes
    -----
    With S the substitution matrix, B_ab = c (S_ab − S_aa / 2 − S_bb / 2), where c makes −¼ its median,

    .. math::

        K(x, y) = s \exp\Bigl(g \sum_l e_l B_{x_l y_l}\Bigr) \sum_l \exp(h B_{x_l y_l})
        + s' \sum_l \exp(h' B_{x_l y_l}) + s'' L |P|^{-1} \sum_{(l, m) ∈ P} \exp(h'' (B_{x_l y_l} + B_{x_m y_m}))

    with L the length and P the pairs of positions, without which the third sum is 0. The priors for `likelihood` are
    standard normal distributions of ln g, ln h, ln h' and ln h'', normal distributions with standard deviation ½ of
    ln e_l, and Gamma(2, 2) of s, s', s'' and the noise, in units of the variance of the labels. Positions that do not
    vary in the training set keep their weight.

    Complexity: O(L·b) per pair, with b the number of letters at a position; and as much for each pair of P, with b the
    number of its pairs of letters.

    Definiteness: positive semi-definite; a matrix for which it is not is refused.

    References
    ----------
    Jankowiak, Ordabayev, Tuwani, Ward, Nisonoff, McFarland, Grigoryan: Flexible kernels for protein property
    prediction. ICML 2026.

    Examples
    --------
    Leucine is more like isoleucine than like aspartate:

    >>> from seqkern.kernels import LOCKKernel
    >>> X = ["KLVF", "KIVF", "KDVF"]
    >>> LOCKKernel(alphabet="protein")(X).round(2)
    array([[8.  , 7.5 , 6.48],
           [7.5 , 8.  , 6.48],
           [6.48, 6.48, 8.  ]])
    """

    name = "lock"
    summary = "Compares variants position by position with a substitution matrix; the positions have weights."
    traits = Traits(equal_lengths=True)
    _least_block_rows = 128
    _most_block_columns = 512
    _learning_matrices = 16
    _sized_by_samples = True
    _has_scale = True

    matrix: str | None = text(
        default=None,
        remedy="give a substitution matrix, such as BLOSUM62",
        doc="S, a substitution matrix of Biopython; by default BLOSUM50 for proteins, else 1 for equal letters.",
    )
    distance_decay: float = positive(
        1.0, "g, how fast the local part decreases with the weighted distance of two sequences."
    )
    local_decay: float = positive(1.0, "h, how fast its terms decrease with the distance of two residues.")
    additive_decay: float = real(default=1.0, low=0, open_low=True, doc="h', the same of the additive part.")
    local_scale: float = real(default=1.0, low=0, doc="s, the factor of the local part.")
    additive_scale: float = real(default=1.0, low=0, doc="s', the factor of the additive part.")
    position_weights: list[float] | None = numbers(
        default=None, low=0, each="position weight", doc="e_l, one for each position; 1 by default."
    )
    contacts: str | None = text(
        default=None,
        path=True,
        remedy="give a structure, or a table of pairs of positions",
        doc="File of pairs in P: a structure (.pdb, .ent, .cif, .mmcif, compressed or not), or a table whose first two "
        "columns are positions, counted from 1.",
    )
    neighbours: int = integer(
        default=0, low=0, doc="Largest distance along the sequence of two positions that are a pair in P."
    )
    contact_decay: float = real(default=1.0, low=0, open_low=True, doc="h'', as h', of the sum over P.")
    contact_scale: float = real(default=1.0, low=0, doc="s'', the factor of the sum over P.")
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    tested_with = (
        {},
        {"neighbours": 2, "contact_scale": 0.5, "contact_decay": 2.0},
        {
            "matrix": "BLOSUM62",
            "distance_decay": 0.3,
            "position_weights": [0.5, 1.0, 2.0, 0.0] * 6,
            "alphabet": "protein",
        },
    )

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, data_dependent=self.contacts is not None)

    def _files(self) -> tuple[str, ...]:
        """Return the path of the file of contacts, if there is one."""
        return () if self.contacts is None else (self.contacts,)

    # ---- the pairs of positions --------------------------------------------------------------------------

    def _fit(self, X: SequenceSet, y: Any) -> None:
        if self.contacts is not None:
            check_files(self)
            letters = X.alphabet.letters + "X"
            common = "".join(letters[np.bincount(column).argmax()] for column in position_codes(X).T)
            self.contacts_, self.length_ = read_contacts(local_path(self.contacts), common), len(common)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the length of the sequences, and the pairs in contact."""
        return ({"length": self.length_}, {"contacts": self.contacts_}) if self._fitted else ({}, {})

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        if header:
            self.length_, self.contacts_ = int(header["length"]), arrays["contacts"]

    def _pairs(self, length: int) -> Ints:
        """Return P, int64 (k, 2), positions counted from 0."""
        near = [np.arange(length - step)[:, None] + [0, step] for step in range(1, min(self.neighbours + 1, length))]
        known = self.contacts_ if self._fitted else np.empty((0, 2), dtype=np.int64)
        return np.unique(np.concatenate([known, *near]), axis=0)

    def _pair_distances(self, alphabet: Alphabet) -> Floats:
        """Return B_ab + B_cd by the codes of (a, c) and (b, d); equal sums are equal to the last bit."""
        B = self._distances(alphabet)
        return np.add.outer(B, B).transpose(0, 2, 1, 3).reshape(len(B) ** 2, -1).round(12)

    # ---- the matrix --------------------------------------------------------------------------------------

    def _weights(self, length: int = 0) -> Floats:
        """Return e, float64 (length,)."""
        return np.ones(length) if self.position_weights is None else np.array(self.position_weights, dtype=np.float64)

    def _distances(self, alphabet: Alphabet) -> Floats:
        """Return B by code, float64 (size + 1, size + 1); the last row is for masked residues."""
        return normalised_matrix(alphabet, self.matrix or ("BLOSUM50" if alphabet == PROTEIN else None))

    def _prepare(self, X: SequenceSet, like: "Positions | None") -> "Positions":
        self._check_length(X, None if like is None or not len(like) else like.codes.shape[1])
        self._distances(X.alphabet)  # refuses a matrix that does not suit
        length = int(X.lengths.max(initial=0))
        square = length * self.local_scale + self.additive_scale * length
        made = Positions.of(position_codes(X), X.alphabet, square)
        pairs = self._pairs(length)
        if not len(pairs):
            return made
        codes = pair_codes(made.codes, pairs, X.alphabet.size + 1)
        return replace(made, square=square + self.contact_scale * length, pairs=Positions.of(codes, X.alphabet, 0.0))

    def _check_length(self, X: SequenceSet, others: int | None = None) -> None:
        """Raise SequenceError unless sequences have as many residues as others, and as there are position weights."""
        given = None if self.position_weights is None else len(self.position_weights)
        contacts = self.length_ if self._fitted else None
        sizes = (others, "others have"), (given, "there are position weights for"), (contacts, "the contacts are for")
        for wanted, known in sizes:
            if len(X) and wanted not in (None, X.lengths[0]):
                raise SequenceError(
                    f"has {X.lengths[0]} residues, {known} {wanted}",
                    record=X.ids[0],
                    remedy="align all sequences to one length",
                )

    def _block(self, rows: "Positions", cols: "Positions", out: Floats) -> None:
        if not len(cols):
            return
        B = self._distances(cols.alphabet)
        length = cols.codes.shape[1]
        # exp(2 b) below, so that its bits are those of other radial kernels
        weights = 0.5 * self.distance_decay * self._weights(length)
        tables = np.stack([B, np.exp(self.local_decay * B), np.exp(self.additive_decay * B)])
        nothing = np.zeros(max(len(rows), len(cols)))
        for chunk, (near, local, additive) in sums_over_positions(rows, cols, tables, weights):
            part = out[chunk]
            _vector.radial(near, nothing[: len(part)], nothing[: len(cols)], 1.0)
            np.multiply(near, local, out=part)
            part *= self.local_scale
            part += self.additive_scale * additive
        if rows.pairs is not None and cols.pairs is not None:
            tables = np.exp(self.contact_decay * self._pair_distances(cols.alphabet))[None]
            factor = cols.pairs.codes.shape[1]
            for chunk, (contact,) in sums_over_positions(rows.pairs, cols.pairs, tables):
                out[chunk] += self.contact_scale * (contact / factor * length)

    def _plan(self, X: Any, Y: Any) -> Plan:
        sets = [Z for Z in (X, Y) if Z is not None]
        letters, length = max(
            (len(occurring(position_codes(Z), Z.alphabet.size + 1)[0]), int(Z.lengths.max(initial=1))) for Z in sets
        )
        letters += letters * len(self._pairs(length)) // length
        pairs = len(sets[0]) * len(sets[-1]) / (2 if Y is None else 1)
        return Plan(
            "vectors",
            pairs * (3 * PRODUCT_SECONDS * letters + FUNCTION_SECONDS),
            8 * letters * (self._most_block_columns + 3 * CHUNK_ROWS) + 2 * sum(int(Z.lengths.sum()) for Z in sets),
        )

    # ---- derivatives -------------------------------------------------------------------------------------

    def _suited(self, X: SequenceSet) -> "LOCKKernel":
        self._check_length(X)
        made = copy.copy(self)
        length = int(X.lengths.max(initial=0))
        made.position_weights = self._weights(length).tolist()
        made._learning_matrices += PAIR_MATRICES * (len(self._pairs(length)) > 0)
        return made

    def _with_values(self, values: Mapping[str, float]) -> "LOCKKernel":
        weights = {name: value for name, value in values.items() if name not in DECAYS + SCALES}
        made: LOCKKernel = super()._with_values({name: values[name] for name in values if name not in weights})
        if weights:
            places = [int(name.rpartition("__")[2]) for name in weights]
            every = self._weights(1 + max(places))
            every[places] = list(weights.values())
            made.position_weights = every.tolist()
        return made

    def _own_tunable(self) -> dict[str, float]:
        names = [*DECAYS, *SCALES] if self.neighbours or self.contacts else [*DECAYS[:3], *SCALES[:2]]
        own = {name: float(getattr(self, name)) for name in names}
        return own | {weight_name(place): weight for place, weight in enumerate(self._weights().tolist())}

    def _refining(self) -> dict[str, float]:
        return {weight_name(place): WEIGHT_DEVIATION for place in range(len(self._weights()))}

    def _log_priors(self) -> dict[str, tuple[float, float]]:
        found = {}
        for name, value in self._own_tunable().items():
            if name in SCALES and value > 0:
                found[name] = log_gamma_prior(value)
            elif value > 0:  # a parameter of 0 is not learned
                variance, logarithm = 1.0 if name in DECAYS else WEIGHT_DEVIATION**2, math.log(value)
                found[name] = -(logarithm**2) / (2 * variance), -logarithm / (variance * value)
        return found

    def _terms(self, at: KernelGradient) -> "Terms":
        """Return the matrices that K and its derivatives consist of, those of the latest values kept."""
        weights = self._weights(int(at.X.lengths.max(initial=0)))
        values = (*(float(getattr(self, name)) for name in DECAYS), *weights.tolist())
        if at.shared.get("values") != values:
            B = self._distances(at.X.alphabet)
            if "pairs" not in at.shared:
                codes, pairs = position_codes(at.X), self._pairs(len(weights))
                at.shared["pairs"] = Pairs(codes, B)
                if len(pairs):
                    both = self._pair_distances(at.X.alphabet)
                    at.shared["contacts"] = Counts(pair_codes(codes, pairs, len(B)), both)
            made = Terms.of(at.shared["pairs"], at.shared.get("contacts"), values[:4], weights)
            at.shared.update(values=values, terms=made)
        found: Terms = at.shared["terms"]
        return found

    def _raw_matrix(self, at: KernelGradient) -> Square:
        terms = self._terms(at)
        whole = self.local_scale * terms.near * terms.local + self.additive_scale * terms.additive
        return whole if terms.contact is None else whole + self.contact_scale * terms.contact

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        terms = self._terms(at)
        if name in DECAYS + SCALES:
            return self._slopes(terms)[name]()
        codes, B = position_codes(at.X)[:, int(name.rpartition("__")[2])], self._distances(at.X.alphabet)
        return self.local_scale * self.distance_decay * terms.near * terms.local * B[codes[:, None], codes]

    def _slopes(self, terms: "Terms") -> dict[str, Any]:
        """Return a function for the derivative by each parameter but the position weights."""
        return {
            "distance_decay": lambda: self.local_scale * terms.distance * terms.near * terms.local,
            "local_decay": lambda: self.local_scale * terms.near * terms.local_slope,
            "additive_decay": lambda: self.additive_scale * terms.additive_slope,
            "contact_decay": lambda: self.contact_scale * terms.contact_slope,
            "local_scale": lambda: terms.near * terms.local,
            "additive_scale": lambda: terms.additive.copy(),
            "contact_scale": lambda: terms.contact.copy(),
        }

    def _contracted(self, weights: Square, at: KernelGradient, names: Sequence[str]) -> dict[str, float]:
        terms = self._terms(at)
        found = {name: float(np.vdot(weights, slope())) for name, slope in self._slopes(terms).items() if name in names}
        if len(found) == len(names):
            return found
        product = weights * terms.near
        product *= terms.local
        by_place = self.local_scale * self.distance_decay * at.shared["pairs"].sums(product)
        return found | {weight_name(place): slope for place, slope in enumerate(by_place.tolist())}


def weight_name(place: int) -> str:
    """Return the name of a position weight among the tunable parameters."""
    return f"position_weights__{place}"


def position_codes(X: SequenceSet) -> npt.NDArray[np.uint8]:
    """Return the codes of sequences of one length, uint8 (n, length); a masked residue has the size of the alphabet."""
    return np.minimum(code_matrix(X), np.uint8(X.alphabet.size))


def pair_codes(codes: Letters, pairs: Ints, size: int) -> Letters:
    """Return one code for the two residues at each pair of positions, uint16 (n, pairs)."""
    return codes[:, pairs[:, 0]].astype(np.uint16) * np.uint16(size) + codes[:, pairs[:, 1]]


@lru_cache(maxsize=16)
def normalised_matrix(alphabet: Alphabet, name: str | None) -> Floats:
    """Return B of `LOCKKernel`, float64 (size + 1, size + 1), for a matrix of Biopython or (None) equal letters."""
    scores = np.eye(alphabet.size) if name is None else matrix_scores(alphabet, name)
    halves = scores.diagonal() / 2
    scores = scores - halves[:, None] - halves
    scores *= MEDIAN / (np.median(scores) or scores.min())
    table = np.full((alphabet.size + 1, alphabet.size + 1), scores.min())
    table[:-1, :-1] = scores
    table[-1, -1] = 0.0
    centred = table - table.mean(axis=0)
    if np.linalg.eigvalsh(centred - centred.mean(axis=1, keepdims=True))[0] < -INDEFINITE or table.max() > 0:
        raise ParameterError(
            f"with matrix {name} the kernel is not positive semi-definite", remedy="choose a BLOSUM matrix"
        )
    table.flags.writeable = False
    return table


@dataclass(frozen=True)
class Positions:
    """Payload: the residues at each position, and the letters that occur at each; the same of pairs of positions."""

    codes: Letters  # shape (n, length)
    places: Ints  # shape (k,): Position of each pair of a position and a letter that occurs there
    letters: Letters  # shape (k,)
    alphabet: Alphabet
    square: float  # K(x, x)
    pairs: "Positions | None" = None

    @classmethod
    def of(cls, codes: Letters, alphabet: Alphabet, square: float) -> "Positions":
        """Return the payload of sequences of one length."""
        return cls(codes, *occurring(codes, int(codes.max(initial=0)) + 1), alphabet, square)

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, start: int, stop: int) -> "Positions":
        """Return the records `start` to `stop`, as a view."""
        pairs = None if self.pairs is None else self.pairs.rows(start, stop)
        return replace(self, codes=self.codes[start:stop], pairs=pairs)

    def diagonal(self) -> Floats:
        """Return K(x, x), float64 (n,)."""
        return np.full(len(self), self.square)


def occurring(codes: Letters, size: int) -> tuple[Ints, Letters]:
    """Return (position, letter) of all that occur, by position."""
    n, length = codes.shape
    cells = np.zeros(length * size, dtype=bool)
    for start in range(0, n, CHUNK_PAIRS):
        cells[(np.arange(length) * size + codes[start : start + CHUNK_PAIRS]).reshape(-1)] = True
    found = np.flatnonzero(cells)
    return np.asarray(found // size, dtype=np.int64), (found % size).astype(codes.dtype)


def sums_over_positions(
    rows: Positions, cols: Positions, tables: Floats, weights: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield for some rows the sums over positions of tables of two letters, float64 (tables, rows, columns).

    The first table is multiplied by weights of the positions.
    """
    places, letters = cols.places, cols.letters
    present = np.ascontiguousarray((cols.codes[:, places] == letters).T, dtype=np.float64)
    for start in range(0, len(rows), CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        cells = rows.codes[chunk, places] * np.intp(tables.shape[-1]) + letters
        found = np.take(tables.reshape(len(tables), -1), cells, axis=1)
        if weights is not None:
            found[0] *= weights[places]
        sums = np.empty((found.shape[0] * found.shape[1], len(cols)))
        _vector.products(found.reshape(len(sums), -1), present, sums)
        yield chunk, sums.reshape(len(tables), -1, len(cols))


# The matrices of the training samples while parameters are learned.
#
# Sums over positions with one weight for all need only the numbers of positions at which a pair of samples has each
# value of B, which are counted once. For Σ_l e_l B, c the commonest letter of a position,
# B_ab = B_ac + B_cb + D_ab, where D is 0 unless both letters differ from c: so a sparse product takes one step for each
# residue that differs, instead of one for each pair of samples and position.


class Counts:
    """All pairs of n training samples: sums over positions, or pairs of positions, of functions of B."""

    def __init__(self, codes: Letters, B: Floats) -> None:
        n, length = codes.shape
        varying = np.flatnonzero((codes != codes[:1]).any(axis=0))
        self.values, index = np.unique(B, return_inverse=True)
        index = index.reshape(B.shape)
        rows, cols = np.triu_indices(n)
        self.upper, self.lower = rows * n + cols, cols * n + rows
        self.counts = np.zeros((len(rows), len(self.values)), dtype=np.uint16)
        self.counts[:, np.searchsorted(self.values, 0.0)] = length - len(varying)
        cells, first = self.counts.reshape(-1), np.arange(len(rows)) * len(self.values)
        for place in varying:
            here = codes[:, place]
            cells[first + index[here[rows], here[cols]]] += 1
        self.n, self.length = n, length

    def functions(self, tables: Floats) -> Floats:
        """Return Σ_l f(B) of all pairs, float64 (k, n, n), for functions f given at each of `values`, (k, values)."""
        result = np.empty((len(tables), self.n**2))
        for start in range(0, len(self.counts), CHUNK_PAIRS):
            part = slice(start, start + CHUNK_PAIRS)
            found = tables @ self.counts[part].T.astype(np.float64)
            for row, values in zip(result, found, strict=True):
                row[self.upper[part]] = row[self.lower[part]] = values
        return result.reshape(-1, self.n, self.n)


class Pairs(Counts):
    """All pairs of n training samples: also sums over positions of weights times B."""

    def __init__(self, codes: npt.NDArray[np.uint8], B: Floats) -> None:
        from scipy.sparse import csr_array  # imported here: it slows start-up

        super().__init__(codes, B)
        n, length = codes.shape
        common = np.array([np.bincount(column, minlength=len(B)).argmax() for column in codes.T], dtype=np.intp)
        places, letters = occurring(codes, len(B))
        rare = letters != common[places]
        self.places, letters = places[rare], letters[rare]
        numbers = np.full((length, len(B)), -1)
        numbers[self.places, letters] = np.arange(len(letters))
        found = numbers[np.arange(length), codes]
        ends = np.cumsum((found >= 0).sum(axis=1))
        self.features = csr_array(
            (np.ones(ends[-1]), found[found >= 0], np.concatenate([[0], ends])), shape=(n, len(letters))
        )
        self.transposed = self.features.T.tocsr()
        self.to_common = B[codes, common]
        both = B[codes[:, self.places], letters] - (self.to_common[:, self.places] + B[common[self.places], letters])
        self.beyond = np.ascontiguousarray(both.T)

    def weighted(self, weights: Floats) -> Square:
        """Return Σ_l e_l B of all pairs, float64 (n, n)."""
        features = self.features.copy()
        features.data = weights[self.places[features.indices]]
        alone = self.to_common @ weights
        result = np.asarray(features @ self.beyond)
        result += np.add.outer(alone, alone)
        return result

    def sums(self, products: Square) -> Floats:
        """Return Σ_ij products_ij B of each position, float64 (length,), for a symmetric matrix."""
        beyond = np.einsum("kj,kj->k", self.transposed @ products, self.beyond)
        return 2 * products.sum(axis=1) @ self.to_common + np.bincount(self.places, beyond, minlength=self.length)


@dataclass(frozen=True, eq=False)
class Terms:
    """The parts of K for some decays and position weights, each of shape (n, n)."""

    distance: Square  # Σ_l e_l B
    near: Square  # exp(g Σ_l e_l B)
    local: Square  # Σ_l exp(h B)
    local_slope: Square  # its derivative by h
    additive: Square  # Σ_l exp(h' B)
    additive_slope: Square  # its derivative by h'
    contact: Any = None  # L / |P| Σ_P exp(h'' (B + B)), if there are pairs of positions
    contact_slope: Any = None  # its derivative by h''

    @classmethod
    def of(cls, pairs: Pairs, contacts: Counts | None, decays: Sequence[float], weights: Floats) -> "Terms":
        """Return them for all pairs of the training samples, for g, h, h' and h''."""
        tables = [np.exp(decay * pairs.values) for decay in decays[1:3]]
        tables = [table for one in tables for table in (one, one * pairs.values)]
        equal = len(set(weights[pairs.places].tolist())) == 1
        sums = pairs.functions(np.stack([*tables, pairs.values][: 5 if equal else 4]))
        distance = sums[4] * weights[pairs.places[0]] if equal else pairs.weighted(weights)
        near: list[Square] = []
        if contacts is not None:
            table = pairs.length / contacts.length * np.exp(decays[3] * contacts.values)
            near = list(contacts.functions(np.stack([table, table * contacts.values])))
        return cls(distance, np.exp(decays[0] * distance), *sums[:4], *near)
