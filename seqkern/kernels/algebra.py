"""Sums and products of kernels."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from seqkern.core.errors import ParameterError, check_known
from seqkern.core.matrices import is_sparse
from seqkern.core.parameters import changed, component, numbers
from seqkern.core.types import Floats
from seqkern.kernels.capabilities import Products, Tables, capability, given
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, PreparedParts, add_counts, as_parts
from seqkern.kernels.decisions import (
    SumOfValues,
    TalliedParts,
    WindowValues,
    attributions,
    fold,
    kmer_weights,
    matrix,
    normalised_tally,
    row_attributions,
)
from seqkern.kernels.features import Features, JoinedTable, VectorForm
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import CombinedImplicit, Implicit, KernelOperator, SummedOperator
from seqkern.kernels.occurrences import KmerWeights, ScansWindows, Tally, merge
from seqkern.sequences.sequence_set import SequenceSet

# Parameters of the kernels in a list, addressed by index: ``parts__0__k``.


class PartParameters:
    """Mixin of kernels with a list `parts`: access to the parameters of each part, for grid search.

    It must precede the base class whose `get_params` and `set_params` it extends.
    """

    parts: Any
    bases: Any

    def _numbered_parts(self) -> dict[str, Any]:
        """Return the parts, fitted if this kernel is, by their names in `set_params`."""
        return {f"parts__{number}": part for number, part in enumerate(self.bases)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also the parts and their parameters, as ``parts__0`` and
        ``parts__0__k``.
        """
        params = super().get_params(deep)  # type: ignore[misc]
        if deep and isinstance(self.parts, (list, tuple)):
            for number, part in enumerate(self.parts):
                params[f"parts__{number}"] = part
                inner = part.get_params() if hasattr(part, "get_params") else {}
                params.update({f"parts__{number}__{key}": value for key, value in inner.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, parameters of parts last, and return self."""
        own = {key: value for key, value in params.items() if not key.startswith("parts__")}
        super().set_params(**own)  # type: ignore[misc]
        for key in sorted(params.keys() - own.keys(), key=lambda key: key.count("__")):
            _, number, *inner = key.split("__", 2)
            places = [str(place) for place in range(len(self.parts))]
            check_known(f"part of {type(self).__name__}", [number], places)
            if inner:
                self.parts[int(number)].set_params(**{inner[0]: params[key]})
            else:
                self.parts = [*self.parts[: int(number)], params[key], *self.parts[int(number) + 1 :]]
        return self


class SumKernel(PartParameters, CompositeKernel):
    r"""Weighted sum of kernels.

    It suits several views of the same samples whose weights are known. To learn the weights, use `combination`.

    Raises
    ------
    ParameterError
        If there is no part, the parts take different kinds of data, or a weight is negative: such a sum would
        not be positive semi-definite.

    Notes
    -----
    With weights w_i ≥ 0, by default 1,

    .. math:: K(x, y) = \sum_i w_i K_i(x, y)

    Complexity: the sum over all parts.

    Definiteness: positive semi-definite if all parts are.

    References
    ----------
    Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis. Cambridge University Press, 2004.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel, SumKernel
    >>> parts = [SpectrumKernel(k=1, normalize=False), SpectrumKernel(k=3, normalize=False)]
    >>> SumKernel(parts, weights=[0.5, 1])(["ACGT"], ["ACGA", "TTTT"])
    array([[3., 2.]])
    """

    name = "sum"
    summary = "Adds several kernels."
    _chains_elementwise = True

    parts: list[Kernel] = component("kernel", several=True, kw_only=False, doc="The kernels to add.")
    weights: list[float] | None = numbers(
        default=None,
        low=0,
        each="weight",
        remedy="give a list, such as [0.5, 0.5]",
        doc="w_i, one for each part; 1 by default.",
    )
    normalize: bool = changed(
        default=False,
        doc="Divide the sum by sqrt(K(x, x)·K(y, y)), in addition to the `normalize` of each part.",
    )

    tested_with: ClassVar[Sequence[Any]] = (
        "sum:parts=[(spectrum:k=3),(spectrum:k=2,part=2:-2)],normalize=true",
        "0.25*linear+2*rbf:gamma=scale+0*linear",
    )

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, self.parts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weights is None:
            return
        if len(self.weights) != len(self.parts):
            raise ParameterError(
                f"{len(self.weights)} weights for {len(self.parts)} parts",
                remedy="give one weight for each part",
            )

    def _weights(self) -> list[float]:
        return [1.0] * len(self.parts) if self.weights is None else [float(weight) for weight in self.weights]

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        total = self._weights()[0] * diagonals[0]
        for weight, diagonal in zip(self._weights()[1:], diagonals[1:], strict=True):
            total += weight * diagonal
        return total

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: Floats) -> None:
        term = np.empty_like(out) if len(self.bases) > 1 else out
        for number, (part, weight) in enumerate(zip(self.bases, self._weights(), strict=True)):
            target = term if number else out
            part.block(rows.parts[number], cols.parts[number], target)
            target *= weight
            if number:
                out += term

    def _own_tunable(self) -> dict[str, float]:
        return {f"weights__{number}": weight for number, weight in enumerate(self._weights())}

    def _nested(self) -> dict[str, Kernel]:
        return self._numbered_parts()

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        return at.parts[int(name.rpartition("__")[2])].copy()

    def _joined(self, parts: Sequence[Square]) -> Square:
        total: Any = sum(weight * part for weight, part in zip(self._weights(), parts, strict=True))
        return total

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return self._weights()[number] * derivative

    def _fold(self, columns: PreparedParts, coefficients: Floats) -> Callable[[PreparedParts], Floats] | None:
        folds = [
            fold(part, prepared, weight * coefficients)
            for part, prepared, weight in zip(self.bases, columns.parts, self._weights(), strict=True)
        ]
        known = [one for one in folds if one is not None]
        if len(known) < len(folds):
            return None

        def values(rows: PreparedParts) -> Floats:
            total: Any = sum(one(part) for one, part in zip(known, rows.parts, strict=True))
            return total

        return values

    @property
    def tables(self) -> Tables:
        """The parts' tables, each normalised as its part; without those that a part lacks."""
        parts = [part.tables for part in self.bases]
        return Tables(
            tally=self._tally,
            tallied=lambda tally, alphabet: TalliedParts(self.bases, [part.tallied(tally, alphabet) for part in parts]),
            by_kmer=self._weights_by_kmer,
            at_positions=self._at_positions if all(part.at_positions for part in parts) else None,
            constant_diagonal=lambda length: all(part.constant_diagonal(length) for part in parts),
        )

    def _weights_by_kmer(self, support: SequenceSet, coefficients: Floats) -> list[tuple[int, Floats]] | None:
        """Return the tables of all parts; None if a part has none, or is normalised by itself."""
        tables = []
        for part, weight in zip(self.bases, self._weights(), strict=True):
            found = None if part.normalize else part.tables.weights(support, weight * coefficients)
            if found is None:
                return None
            tables += found
        return tables

    def _tally(self, support: SequenceSet, coefficients: Floats) -> Tally | None:
        """Return the tallies of all parts, one after the other; None if a part has none."""
        tally: Tally = []
        for part, weight in zip(self.bases, self._weights(), strict=True):
            found = normalised_tally(part, support, weight * coefficients)
            if found is None:
                return None
            tally += found
        return tally

    def _at_positions(self, support: SequenceSet, coefficients: Floats) -> ScansWindows:
        """Return the sum of the parts' weights at positions."""
        parts = zip(self.bases, self._weights(), strict=True)
        return SumOfValues([WindowValues(part, support, weight * coefficients) for part, weight in parts])

    @capability
    def features(self) -> Features:
        """The features of all parts side by side, each times the root of its weight."""
        for part in self._given():
            given(part.features)
        return Features(
            self, self._side_by_side, self._feature_names, lambda X: sum(part.features.bytes(X) for part in self.bases)
        )

    def _side_by_side(self, X: Any) -> Any:
        """Return one matrix of the parts' features, sparse if any of them is sparse."""
        roots = np.sqrt(self._weights())
        found = [part.features.normalised(X) * root for part, root in zip(self.bases, roots, strict=True)]
        if any(map(is_sparse, found)):
            from scipy.sparse import csr_array, hstack  # imported here: loaded already, or not needed

            return csr_array(hstack([csr_array(part) for part in found]))
        return np.hstack(found)

    def _feature_names(self, records: Any) -> list[str] | None:
        """Return the names of the features, after the part's name if there are several; None if a part has none."""
        found = [part.features.known_names(records) for part in self.bases]
        names = [own for own in found if own is not None]
        if len(names) < len(found):
            return None
        if len(names) == 1:
            return names[0]
        return [f"{part.name} {name}" for part, own in zip(self.bases, names, strict=True) for name in own]

    def _vector_form(self) -> VectorForm | None:
        """Return the vectors of all parts side by side; None if one is not linear on vectors, or the sum normalised."""
        found = [part._vector_form() for part in self.bases]
        forms = [form for form in found if form is not None and form.kind == "linear"]
        if self.normalize or len(forms) < len(found):
            return None
        factors = np.sqrt(self._weights())
        return VectorForm(
            "linear",
            lambda X, dtype=np.float32: JoinedTable([form.vectors(X, dtype) for form in forms], factors),
            lambda X: sum(form.width(X) for form in forms),
        )

    @capability
    def implicit(self) -> Products:
        """The weighted sum of the parts' feature vectors."""
        return self._products_of_parts("implicit", self._sum)

    @capability
    def operator(self) -> Products:
        """The weighted sum of the parts' products."""
        return self._products_of_parts("operator", self._sum)

    def _sum(self, parts: list[Products], X: Any) -> KernelOperator:
        made = [part(X) for part in parts]
        implicit = [part for part in made if isinstance(part, Implicit)]
        out: KernelOperator
        if len(implicit) == len(made):
            out = CombinedImplicit(implicit, self._weights())
        else:
            out = SummedOperator(made, self._weights())
        out.counts = add_counts(part.counts for part in made)
        return out

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        total: Any = sum(
            attributions(part, X, support, weight * coefficients)
            for part, weight in zip(self.bases, self._weights(), strict=True)
        )
        return total

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        parts = zip(self.bases, self._weights(), strict=True)
        return merge(kmer_weights(part, X, support, weight * coefficients) for part, weight in parts)


class ProductKernel(PartParameters, CompositeKernel):
    r"""Product of kernels, entry by entry.

    It suits samples that are similar only if all views of them are.

    Raises
    ------
    ParameterError
        If there is no part, or the parts take different kinds of data.

    Notes
    -----
    .. math:: K(x, y) = \prod_i K_i(x, y)

    Complexity: the sum over all parts.

    Definiteness: positive semi-definite if all parts are.

    References
    ----------
    Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis. Cambridge University Press, 2004.

    Examples
    --------
    >>> from seqkern.kernels import ProductKernel, SpectrumKernel
    >>> parts = [SpectrumKernel(k=1, normalize=False), SpectrumKernel(k=3, normalize=False)]
    >>> ProductKernel(parts)(["ACGT"], ["ACGA", "TTTT"])
    array([[4., 0.]])
    """

    name = "product"
    summary = "Multiplies several kernels."
    traits = replace(FROM_PARTS, kmers_vary=True)
    _chains_elementwise = True

    parts: list[Kernel] = component("kernel", several=True, kw_only=False, doc="The kernels to multiply.")
    normalize: bool = changed(
        default=False,
        doc="Divide the product by sqrt(K(x, x)·K(y, y)), in addition to the `normalize` of each part.",
    )

    tested_with = ("spectrum:k=1*spectrum:k=2", "rbf*linear*polynomial:degree=2")

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, self.parts)

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        total = diagonals[0].copy()
        for diagonal in diagonals[1:]:
            total *= diagonal
        return total

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: Floats) -> None:
        factor = np.empty_like(out) if len(self.bases) > 1 else out
        for number, part in enumerate(self.bases):
            part.block(rows.parts[number], cols.parts[number], factor if number else out)
            if number:
                out *= factor

    def _nested(self) -> dict[str, Kernel]:
        return self._numbered_parts()

    def _joined(self, parts: Sequence[Square]) -> Square:
        total = parts[0].copy()
        for part in parts[1:]:
            total *= part
        return total

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return self._joined([derivative, *parts[:number], *parts[number + 1 :]])

    def _shares(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        """Return the coefficients, shape (parts, n, m), that give each part its share of the product."""
        blocks = np.stack([matrix(part, X, support)[0] for part in self.bases])
        others = [np.delete(blocks, number, axis=0).prod(axis=0) for number in range(len(blocks))]
        return coefficients * np.stack(others) / len(blocks)

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        shares = self._shares(X, support, coefficients)
        total: Any = sum(row_attributions(part, X, support, own) for part, own in zip(self.bases, shares, strict=True))
        return total

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        means = self._shares(X, support, coefficients).mean(axis=1)
        return merge(kmer_weights(part, X, support, own) for part, own in zip(self.bases, means, strict=True))
