"""The empirical kernel map: a unit is the vector of its kernel values against the training units."""

from typing import Literal

import numpy as np

from seqkern.core.errors import GramError, ParameterError, SequenceError
from seqkern.core.parameters import choice, flag, real
from seqkern.gram.transforms.base import GramTransform
from seqkern.gram.transforms.products import multiply
from seqkern.kernels.additive import over_root
from seqkern.kernels.alignment.pairwise import kernel_of_vectors
from seqkern.kernels.blocks import fill
from seqkern.sequences.tables import FeatureTable


class EmpiricalMapGram(GramTransform):
    """Kernel between vectors of kernel values: K'(x, y) = k(x) · k(y), k(x) = (K(x, z_1), …, K(x, z_l)).

    z_1 … z_l are the training units. The result is positive semi-definite whatever K is (Schölkopf, Mika, Burges,
    Knirsch, Müller, Rätsch, Smola, IEEE Transactions on Neural Networks 10, 1999; for alignment scores Liao & Noble,
    J Comput Biol 10, 2003: the kernel ``pairwise`` is this transform of its base kernel's matrix).
    """

    name = "empirical_map"
    learned = ("square_",)
    semidefinite = True

    vector_kernel: Literal["linear", "rbf"] = choice(default="linear", doc="The kernel between the vectors.")
    gamma: float | str = real(
        default="scale",
        low=0,
        open_low=True,
        words=("scale",),
        doc='Of ``"rbf"``; ``"scale"`` is 1 / the total variance of the training vectors.',
    )
    normalize: bool = flag(
        default=True, doc="Whether to scale the vectors to unit length, before the radial basis function too."
    )
    zero_diagonal: Literal["error", "zero"] = choice(
        default="error", doc="What to do, when normalising, about a unit that no training unit resembles."
    )

    @property
    def divides(self):
        """Whether rows are divided by the lengths of their vectors."""
        return self.vector_kernel == "linear" and bool(self.normalize)

    def _between(self):
        """Return the kernel between vectors, unfitted."""
        return kernel_of_vectors(self.vector_kernel, self.gamma, self.normalize, self.zero_diagonal)

    def needs_all(self):
        """Return True: a vector has one entry for each training unit."""
        return True

    def _fit(self, K, diagonal):
        self.square_, self._columns = K, None
        self.between_ = self._between().fit(FeatureTable(K))

    def _prepared(self, K, like=None):
        """Return the vectors as the kernel between them wants them; GramError for a row that it cannot take."""
        try:
            return self.between_.prepare(FeatureTable(K), like=like)
        except SequenceError as error:
            record = None if error.record is None else int(error.record)
            raise GramError(error.problem, record=record, remedy=error.remedy) from error

    def _references(self):
        """Return the vectors of the training units, prepared once."""
        if self._columns is None:
            self._columns = self._prepared(self.square_)
        return self._columns

    def _apply(self, K, diagonal):
        columns = self._references()
        return self._filled(self._prepared(K, like=columns), columns)

    def _apply_train(self, K, diagonal):
        return self._filled(self._references(), self._references())

    def _filled(self, rows, columns):
        """Return the kernel between vectors, and its diagonal, which no other is needed for."""
        return fill(self.between_, rows, columns, np.empty((len(rows), len(columns)))), rows.diagonal

    def pull_back(self, coefficients):
        """Return (c', 0), c' = Σ_j c_j k(z_j): a sum of products with vectors is the product with their sum."""
        if self.vector_kernel != "linear":
            raise ParameterError(
                f"after the transform {self.name!r} with vector_kernel={self.vector_kernel} no weighted sum of kernel "
                "values is left",
                remedy="choose vector_kernel=linear",
            )
        if self.normalize:
            coefficients = over_root(coefficients, self._references().raw_diagonal)
        return multiply(np.ascontiguousarray(coefficients)[None], self.square_)[0], 0.0

    def restrict(self, rows):
        """Return the same transform for matrices whose columns, all of them, come in the order `rows`."""
        result = super().restrict(rows)
        result.square_ = np.ascontiguousarray(result.square_[:, rows])
        result._columns = None
        return result

    def fitted_state(self):
        """Return (JSON dict, dict of arrays): the training square, and what the kernel between vectors learned."""
        return {"between": self.between_.fitted_state()[0]}, {"square_": self.square_}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned; GramError if the square does not fit."""
        self.square_, self._columns = arrays["square_"], None
        if self.square_.shape != (self.n_columns_, self.n_columns_):
            raise GramError(f"the square of {self.n_columns_} training units has the shape {self.square_.shape}")
        self.between_ = self._between()
        self.between_.restore_fitted(header["between"], {})
