"""A machine's decision as one weighted sum of kernel values: solver and Gram transforms worked into the weights.

f(x) = Σ_j c_j K(x, z_j) / r(x) + b, where K is the kernel before all transforms, z_j are the model's units, and r(x) is
the root of K(x, x) where the transform ``normalise`` is among the transforms, else 1.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.kernels.additive import attributions, fold


@dataclass(frozen=True)
class AffineForm:
    """The decision function of one machine.

    Attributes
    ----------
    kernel : Kernel
    support : SequenceSet or FeatureTable, m units
    coefficients : ndarray of float64, shape (m,)
        c_j.
    constant : float
        b, the bias.
    dividing : list of GramTransform
        The transforms up to the last that divides rows, in order; often none.
    """

    kernel: object
    support: object
    coefficients: np.ndarray
    constant: float
    dividing: list

    def fold(self, columns):
        """Return ``decide(rows)`` for Prepared rows, float64 (n,), without the kernel matrix; None by the matrix."""
        folded = fold(self.kernel, columns, self.coefficients)
        if folded is None:
            return None
        return lambda rows: self.divided(folded(rows), rows.diagonal) + self.constant

    def attributions(self, X):
        """Return what each letter of `X` contributes to f(x) − b, float64 (letters,), record after record.

        Raises
        ------
        ParameterError
            If the kernel cannot be taken apart letter by letter.
        """
        shares = attributions(self.kernel, X, self.support, self.coefficients)
        if not self.dividing:
            return shares
        diagonal = self.kernel.prepare(X, like=self.kernel.prepare(self.support)).diagonal
        factors = self.divided(np.ones(len(X)), diagonal)
        return shares * np.repeat(factors, X.lengths)

    def divided(self, values, diagonal):
        """Return values / r(x), 0 where that is 0; `diagonal` is K(x, x)."""
        for transform in self.dividing:
            root, diagonal = transform.divide_rows(diagonal)
            if root is not None:
                values = np.divide(values, root, out=np.zeros_like(values), where=root > 0)
        return values


def affine_form(kernel, support, solver, transforms):
    """Return the AffineForm of a fitted solver behind fitted transforms.

    Parameters
    ----------
    kernel : Kernel
    support : SequenceSet or FeatureTable
        The columns.
    solver : Solver
        Of one machine.
    transforms : list of GramTransform

    Raises
    ------
    ParameterError
        If the decision is no such sum.
    """
    linear = solver.linear()
    if linear is None:
        raise ParameterError(
            f"the decisions of solver {solver.name!r} are no weighted sums of kernel values",
            remedy="choose a solver whose are, such as csvc or psvc",
        )
    coefficients, constant = linear
    dividing = [number for number, transform in enumerate(transforms) if transform.divides]
    before = transforms[: dividing[-1] + 1] if dividing else []
    if any(transform.needs_all() for transform in before):
        raise ParameterError(
            f"the transform {before[-1].name!r} divides by what depends on all columns: no weighted sum of kernel "
            "values is left",
            remedy="normalise first, or in the kernel (normalize=true), and use an empirical map with normalize=false",
        )
    for transform in reversed(transforms):
        coefficients, more = transform.pull_back(coefficients)
        constant += more
    return AffineForm(kernel, support, coefficients, float(constant), before)
