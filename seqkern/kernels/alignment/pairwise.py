"""The pairwise kernel: sequences as vectors of alignment scores against the training sequences."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.checks import check_choice
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, component
from seqkern.core.types import Arrays, Floats, Header
from seqkern.kernels.capabilities import capability
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, PreparedParts, ThroughKernel, as_parts
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.features import Features
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.prepared import Plan, StoredForm
from seqkern.kernels.vectors.linear import PRODUCT_SECONDS, LinearKernel
from seqkern.kernels.vectors.vector_kernels import VECTOR_GAMMA, VECTOR_KERNEL, RBFKernel
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable

_DATA: dict[str, Any] = {"sequences": SequenceSet, "features": FeatureTable, "similarities": SimilarityTable}


class PairwiseKernel(ThroughKernel, CompositeKernel):
    r"""Pairwise kernel: sequences as vectors of scores against the training sequences.

    It makes any base kernel, even an indefinite one such as Smith-Waterman, usable in an SVM. It suits homologs. `fit`
    keeps the training sequences as references r_1, …, r_R.

    Notes
    -----
    With B the base kernel and φ(x) = (B(x, r_1), …, B(x, r_R)),

    .. math:: K(x, y) = φ(x) · φ(y)  or  K(x, y) = \exp(−γ ‖φ(x) − φ(y)‖^2)

    Complexity: R values of the base kernel per sequence, then O(R) per pair.

    Definiteness: positive semi-definite.

    References
    ----------
    Liao, Noble: Combining pairwise sequence similarity and support vector machines for detecting remote protein
    evolutionary and structural relationships. Journal of Computational Biology 10, 2003.

    Examples
    --------
    >>> from seqkern.kernels import PairwiseKernel, SpectrumKernel
    >>> kernel = PairwiseKernel(SpectrumKernel(k=1, normalize=False), normalize=False).fit(["AAC", "GG"])
    >>> kernel(["ACG"], ["AAC", "GGG"])
    array([[15., 12.]])
    >>> kernel.features(["ACG"])  # against each reference
    array([[3., 2.]])
    """

    name = "pairwise"
    summary = "Describes a sequence by its similarity to every training sequence."
    traits = replace(FROM_PARTS, data_dependent=True, definite=True)

    base: Kernel | None = component(
        "kernel", default=None, kw_only=False, doc="Base kernel; by default Smith-Waterman."
    )
    vector_kernel: Literal["linear", "rbf"] = VECTOR_KERNEL
    gamma: float | str = VECTOR_GAMMA
    normalize: bool = changed(
        default=True, doc="Scale the vectors to unit length, also before the radial basis function."
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence that no reference resembles")

    tested_with = ("pairwise:base=(spectrum:k=2)", "pairwise:vector_kernel=rbf,base=(rbf:gamma=scale)")

    def _given(self) -> list[Kernel]:
        if self.base is None:
            # imported here: slows start-up
            from seqkern.kernels.alignment.smith_waterman import SmithWatermanKernel

            return [SmithWatermanKernel()]
        return as_parts(self.name, [self.base])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._between().check_parameters()

    def _between(self) -> Kernel:
        """Return the kernel between vectors, unfitted and without normalisation."""
        normalize = self.normalize and self.vector_kernel != "linear"
        return kernel_of_vectors(self.vector_kernel, self.gamma, normalize, self.zero_diagonal)

    @property
    def stored_form(self) -> StoredForm | None:
        """Return the base's StoredForm, followed by the empirical map of its matrix."""
        form = self._given()[0].stored_form
        names = ("vector_kernel", "gamma", "normalize", "zero_diagonal")
        step = {"transform": "empirical_map", **{name: getattr(self, name) for name in names}}
        return None if form is None else form.then(step)

    @property  # type: ignore[misc]  # here it follows from the parts
    def alphabet(self) -> str | Alphabet | None:  # type: ignore[override]  # here it follows from the parts
        """The references' alphabet when fitted; before that the base kernel's."""
        return getattr(self.references_, "alphabet", None) if self._fitted else super().alphabet

    @capability
    def features(self) -> Features:
        """The similarities to the training sequences."""
        if self.vector_kernel != "linear":
            raise ParameterError(
                f"kernel {self.name!r} with vector_kernel={self.vector_kernel} has no explicit features",
                remedy="choose vector_kernel=linear",
            )
        return Features(
            self,
            lambda X: np.asarray(self._vectors(X).values),
            lambda X: self.references_.ids,
            lambda X: 8 * len(X) * len(self.references_ if self._fitted else X),
        )

    def _vectors(self, X: Any) -> FeatureTable:
        """Return the table of scores of `X` against the references."""
        names = self.references_.ids
        return FeatureTable(self.bases[0](X, self.references_, n_threads=self.n_threads), X.ids, names)

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        self.references_ = X.compact() if isinstance(X, SequenceSet) else X
        self.between_ = self._between()
        if self.between_.traits.data_dependent:
            self.between_.fit(self._vectors(self.references_))

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the references, and the state of base and vector kernel."""
        header, arrays = super().fitted_state()
        if not self._fitted:
            return header, arrays
        references, own = self.references_.state()
        between, _ = self.between_.fitted_state()
        header = {**header, "references": references, "between": between}
        return header, {**arrays, **nest("references", own)}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "references" not in header:
            return
        self.references_ = _DATA[self.traits.accepts].from_state(header["references"], unnest("references", arrays))
        self.between_ = self._between()
        self.between_.restore_fitted(header["between"], {})

    def _prepare(self, X: Any, like: PreparedParts | None) -> PreparedParts:
        vectors = self.between_.prepare(self._vectors(X), None if like is None else like.parts[0])
        return PreparedParts((vectors,), vectors.diagonal)

    @property
    def _through(self) -> Kernel:
        return self.between_

    def _of_references(self, support: Any, coefficients: Floats) -> Floats:
        """Return the weight of each reference's score in φ(x) · Σ_j c_j φ(z_j), float64 (R,)."""
        if self.vector_kernel != "linear":
            raise ParameterError(
                f"kernel 'pairwise' with vector_kernel={self.vector_kernel} cannot be explained residue by residue",
                remedy="choose vector_kernel=linear, or a kernel based on k-mers such as spectrum",
            )
        return coefficients @ self._vectors(support).values

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        return attributions(self.bases[0], X, self.references_, self._of_references(support, coefficients))

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        return kmer_weights(self.bases[0], X, self.references_, self._of_references(support, coefficients))

    def _plan(self, X: Any, Y: Any) -> Plan:
        """Return the plan of the base kernel against the references, with the products of vectors added."""
        references = self.references_ if self._fitted else X
        plans = [self.bases[0].plan(Z, references) for Z in (X, Y) if Z is not None]
        pairs = len(X) * (len(X) + 1) // 2 if Y is None else len(X) * len(Y)
        units = len(X) if Y is None else len(X) + len(Y)
        return Plan(
            plans[0].algorithm,
            sum(plan.seconds for plan in plans) + PRODUCT_SECONDS * pairs * len(references),
            max(plan.bytes for plan in plans) + 16 * len(references) * units,
            plans[0].reason,
        )


def kernel_of_vectors(
    vector_kernel: str, gamma: float | str, normalize: bool, zero_diagonal: Literal["error", "zero"]
) -> LinearKernel | RBFKernel:
    """Return the kernel between score vectors, unfitted."""
    check_choice("vector_kernel", vector_kernel, ("linear", "rbf"))
    linear = LinearKernel(normalize=normalize, zero_diagonal=zero_diagonal)
    return linear if vector_kernel == "linear" else RBFKernel(gamma=gamma, base=linear)
