"""Solvers built from a binary solver inherit its input and requirements."""

from seqkern.core.errors import ParameterError
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitCost, FitWork


class MetaSolver:
    """Mixin of solvers with a parameter `binary`, a binary solver that gets the same data."""

    binary: Solver

    @property
    def input(self) -> str:
        """What the binary solver takes."""
        return getattr(self.binary, "input", "gram")

    @property
    def accepts_sparse(self) -> bool:
        """Whether the binary solver takes a sparse matrix of features."""
        return getattr(self.binary, "accepts_sparse", False)

    @property
    def accepts_blocks(self) -> bool:
        """Whether the binary solver takes features in blocks."""
        return getattr(self.binary, "accepts_blocks", False)

    @property
    def accepts_operator(self) -> bool:
        """Whether the binary solver takes products with a kernel matrix."""
        return getattr(self.binary, "accepts_operator", False)

    @property
    def selects(self) -> bool:
        """Whether the binary solver selects features."""
        return getattr(self.binary, "selects", True)

    @property
    def needs_semidefinite(self) -> bool:
        """Whether the binary solver needs a positive semi-definite matrix."""
        return getattr(self.binary, "needs_semidefinite", False)

    @property
    def accepts_asymmetric(self) -> bool:
        """Whether the binary solver takes a matrix that is not symmetric."""
        return getattr(self.binary, "accepts_asymmetric", False)

    @property
    def accepts_groups(self) -> bool:
        """Whether the binary solver takes groups."""
        return getattr(self.binary, "accepts_groups", False)

    def _check_parameters(self) -> None:
        if not isinstance(self.binary, Solver) or "binary" not in self.binary.targets:
            raise ParameterError(f"binary={self.binary!r} is not possible", remedy="give a binary solver")
        self.binary.check_parameters()

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the binary solver on the same samples, for each class but one if there are several."""
        each = self.binary.fit_cost(work.part(work.n))
        return each.times(1 if work.classes < 3 else work.classes)

    def complexity(self) -> tuple[float, ...]:
        """Return that of the binary solver."""
        return self.binary.complexity()
