"""Kernel of dot products of transformed feature vectors; the transforms are fitted on the training set."""

import copy
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.matrices import is_sparse
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import changed, component
from seqkern.core.types import Arrays, Floats, Header
from seqkern.kernels.capabilities import Products, Traits, capability, given, required
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, PreparedParts, ThroughKernel, as_parts
from seqkern.kernels.feature_transforms.transforms import FeatureTransform, build_feature_transform
from seqkern.kernels.features import DenseTable, Features, VectorForm
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import SparseImplicit
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vectors.linear import PRODUCT_SECONDS, LinearKernel
from seqkern.kernels.vectors.vector_kernels import KernelOfKernel
from seqkern.sequences.tables import FeatureTable


class TransformedKernel(ThroughKernel, CompositeKernel):
    r"""Dot product of the features of another kernel after transforms fitted on the training set.

    In a configuration, transforms of features in ``transforms`` of a kernel make this kernel; for ``rbf``,
    ``polynomial`` and ``sigmoid`` they transform the vectors that these compare.

    Attributes
    ----------
    transforms_ : list of FeatureTransform
        After `fit`: the transforms, fitted on the training set alone.

    Notes
    -----
    With φ the features of the base kernel, and T the transforms one after the other,

    .. math:: K(x, y) = T(φ(x)) · T(φ(y))

    Complexity: as the features', held as a dense matrix, and of the transforms; then O(c) per pair for c features
    after them.

    Definiteness: positive semi-definite.

    References
    ----------
    Jolliffe: Principal Component Analysis. Springer, 2002.

    Examples
    --------
    >>> from seqkern.kernels import TransformedKernel, SpectrumKernel
    >>> kernel = TransformedKernel(SpectrumKernel(k=2, normalize=False), transforms=["pca:n_components=1"])
    >>> kernel.fit(["ACACAC", "CACACA", "GTGTGT"]).features(["ACACAC", "TGTGTG"]).round(1).ravel().tolist()
    [-1.7, 3.2]
    """

    name = "transformed"
    summary = "The dot product of features after principal components, independent components or completion."
    traits = replace(FROM_PARTS, data_dependent=True, definite=True)

    base: Kernel = component("kernel", kw_only=False, doc="The kernel with the features.")
    transforms: list[FeatureTransform] = component(
        "feature_transform", several=True, doc="Transforms in order, such as pca:n_components=5."
    )
    normalize: bool = changed(default=False, doc="Divide by the lengths of the transformed vectors: the cosine.")

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        each = (
            ("spectrum:k=2", ["pca:n_components=4"]),
            ("linear", ["impute", "pca:n_components=2,whiten=true"]),
            ("linear", ["impute:method=neighbors,n_neighbors=2", "ica:n_components=2,contrast=cube"]),
        )
        return [cls(build_kernel(base), transforms=list(map(build_feature_transform, steps))) for base, steps in each]

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    @property
    def steps(self) -> list[FeatureTransform]:
        """Copies of the transforms, not fitted."""
        return [copy.deepcopy(build_feature_transform(one)) for one in self.transforms]

    def _traits(self, declared: Traits) -> Traits:
        completes = bool(self.transforms) and self.steps[0].completes
        return replace(super()._traits(declared), accepts_missing=completes)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        steps = self.steps
        if not steps:
            raise ParameterError("kernel 'transformed' needs a transform", remedy="give one, such as pca")
        for step in steps:
            step.check_parameters()
        required(self.base, "features", f"transform {steps[0].name!r} acts on features")
        if any(step.completes for step in steps[1:]):
            raise ParameterError("impute stands after another transform", remedy="put it first")
        if steps[0].completes and self.base.features.with_gaps is None:
            raise ParameterError(
                f"kernel {self.base.name!r} has no missing values to complete",
                remedy="remove impute; it is for kernels on feature tables: linear, rbf, polynomial, sigmoid",
            )

    def spec(self, *, execution: bool = True) -> dict[str, Any]:
        """Return the kernel in the form of a configuration, with each transform in full."""
        return {**super().spec(execution=execution), "transforms": [step.spec() for step in self.steps]}

    def _raw(self, X: Any) -> Floats:
        """Return the features of the base kernel as a dense array."""
        features = self.bases[0].features
        vectors: Any = cast(Any, features.with_gaps)(X) if self.traits.accepts_missing else features.normalised(X)
        if not is_sparse(vectors):
            return np.ascontiguousarray(vectors, dtype=np.float64)
        # as many copies of rows as principal components take, with means, variances and squares
        need = 8 * (5 * vectors.shape[0] + 3) * vectors.shape[1]
        if need > available_memory():
            raise SequenceError(
                f"{vectors.shape[1]} features of {vectors.shape[0]} samples need {format_bytes(need)} of memory",
                remedy="choose shorter k-mers, or the transform kernel_pca, which needs only the Gram matrix",
            )
        return np.ascontiguousarray(vectors.toarray(), dtype=np.float64)

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        values, fitted = self._raw(X), []
        for step in self.steps:
            fitted.append(step.fit(values))
            values = step.transform(values)
        self.transforms_ = fitted

    @capability
    def features(self) -> Features:
        """The transformed features."""
        given(self.base.features)
        return Features(self, self._transformed, self._feature_names, self._implicit_bytes)

    def _transformed(self, X: Any) -> Floats:
        values = self._raw(X)
        for step in self.transforms_:
            values = step.transform(values)
        return values

    def _feature_names(self, records: Any) -> list[str]:
        """Return the names of the transformed features."""
        first = self.transforms_[0]
        names = self.bases[0].features.known_names(records)
        names = [f"feature {j + 1}" for j in range(first.n_features_)] if names is None else names
        for step in self.transforms_:
            names = step.names(names)
        return names

    @property
    def _through(self) -> LinearKernel:
        return LinearKernel(normalize=False)

    def _prepare(self, X: Any, like: PreparedParts | None) -> PreparedParts:
        vectors = self._through.prepare(FeatureTable(self.features(X), X.ids))
        return PreparedParts((vectors,), vectors.diagonal)

    def _vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of the transformed features; None if it is normalised."""
        if self.normalize:
            return None
        return VectorForm(
            "linear",
            lambda X, dtype=np.float32: DenseTable(self.features(X).astype(dtype)),
            lambda X: self._width(),
        )

    def _width(self) -> int:
        """Return the number of transformed features; an estimate before `fit`."""
        if not self._fitted:
            return 100
        last = self.transforms_[-1]
        return len(last.names([""] * last.n_features_))

    @capability
    def implicit(self) -> Products:
        """The transformed features as compressed rows."""
        return Products(self, lambda X: SparseImplicit.of(self.features(X)), self._implicit_bytes)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the states of the base, and of the transforms, numbered."""
        header, arrays = super().fitted_state()
        if not hasattr(self, "transforms_"):
            return header, arrays
        states = [step.fitted_state() for step in self.transforms_]
        for number, (_, own) in enumerate(states):
            arrays = {**arrays, **nest(f"transforms/{number}", own)}
        return {**header, "transforms": [own for own, _ in states]}, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "transforms" not in header:
            return
        self.transforms_ = self.steps
        for number, (step, own) in enumerate(zip(self.transforms_, header["transforms"], strict=True)):
            step.restore_fitted(own, unnest(f"transforms/{number}", arrays))

    def _implicit_bytes(self, X: Any) -> int:
        """Return the bytes of the features before the transforms, dense, and of rows after them."""
        return 36 * X.values.size if isinstance(X, FeatureTable) else self.bases[0].implicit.bytes(X)

    def _plan(self, X: Any, Y: Any) -> Plan:
        """Return the plan of the products, after the features."""
        n, m = len(X), len(X) if Y is None else len(Y)
        width = self._width()
        return Plan("features", PRODUCT_SECONDS * n * m * width, 16 * width * (n + m))


def with_transforms(kernel: Kernel, steps: list[FeatureTransform]) -> Kernel:
    """Return a kernel after transforms of its features, not fitted yet: the dot product of the features after them.

    For `rbf`, `polynomial` and `sigmoid`, the same kernel of the vectors after them. Raises ParameterError if the
    kernel has no explicit features, or a transform does not suit it.
    """
    if isinstance(kernel, KernelOfKernel):
        inner = with_transforms(kernel._given()[0], steps)
        return type(kernel)(**{**kernel.get_params(deep=False), "base": inner, "view": None})
    if isinstance(kernel, TransformedKernel):
        return type(kernel)(**{**kernel.get_params(deep=False), "transforms": [*kernel.steps, *steps]})
    made = TransformedKernel(kernel, transforms=steps)
    made.check_parameters()
    return made
