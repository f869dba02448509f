"""A method of a study: a kernel with transforms, a solver and layers."""

from dataclasses import dataclass
from typing import Any

from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.layers import Layers
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.reading import AnyKernel
from seqkern.study.settings import InnerSettings
from seqkern.study.solver_entries import Candidate, SolverEntry


@dataclass(frozen=True, eq=False)
class MethodEntry:
    """A kernel, or a choice of several, with a solver.

    Attributes
    ----------
    kernel : KernelEntry, KernelChoice or AutoKernel
        Its entry in the study.
    solver : SolverEntry
        With the layers after it.
    search : InnerSettings
        How the inner loop chooses, and what is fitted to held-out decision values.
    seed : int
        Seed of the inner folds.

    Examples
    --------
    >>> from seqkern.study.kernel_entries import KernelEntry
    >>> svm = SolverEntry.parse("csvc:C=[1,10]", "svm")
    >>> method = MethodEntry(KernelEntry.parse("spectrum:k=3", "three"), svm, InnerSettings(), seed=1)
    >>> method.names, len(method.candidates()), method.chooses
    (('three', 'svm'), 2, True)
    """

    kernel: AnyKernel
    solver: SolverEntry
    search: InnerSettings
    seed: int = 1

    @property
    def names(self) -> tuple[str, str]:
        """Names of kernel and solver."""
        return self.kernel.name, self.solver.name

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels to choose among, by name."""
        return {entry.name: entry.kernel for entry in self.kernel.candidates}

    @property
    def transforms(self) -> dict[str, tuple[GramTransform, ...]]:
        """The transforms of the matrix of each kernel, by its name."""
        return {entry.name: entry.transforms for entry in self.kernel.candidates}

    @property
    def layers(self) -> Layers:
        """The layers after the solver."""
        return self.solver.layers

    @property
    def calibration(self) -> str | None:
        """The method of calibration; None with layers."""
        return None if self.solver.has_layers else self.search.calibration

    @property
    def threshold(self) -> str | None:
        """The rule for the threshold; None with layers."""
        return None if self.solver.has_layers else self.search.threshold

    @property
    def chooses(self) -> bool:
        """Whether the inner loop has several candidates, counting the ends of a range of values."""
        return isinstance(self.kernel, AutoKernel) or len(self.kernel.candidates) * len(self.solver.specs) > 1

    @property
    def needs_gram(self) -> bool:
        """Whether the solver takes a Gram matrix."""
        return self.solver.needs_gram

    def candidates(self) -> list[Candidate]:
        """Return the candidates of the inner loop: names of kernels with specifications of solvers."""
        return self.solver.candidates(list(self.kernels), self.search.drawn, self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the method in the form for a job."""
        return {"kernel": self.kernel.to_dict(), "solver": self.solver.spec, "layers": list(self.solver.layer_specs)}
