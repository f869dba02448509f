"""Solvers: scikit-learn estimators that learn from a Gram matrix, a feature matrix or an Implicit.

`base.py` names the base classes (`contract.py` the contract, `kinds.py` solvers by what they learn, `checking.py` the
checks of input, `stored.py` state and restriction), `svm.py` the C-SVM, `linear.py` (with `dual_coordinate.py`) the
C-SVM without a Gram matrix, `psvm.py` (with its engine in `potential`) the P-SVM,
`least_squares.py` (with `lagrangian.py`), `discriminant.py`, `kernel_pca.py`, `spherical.py` and `neighbors.py` the
solvers by linear algebra (with `algebra.py`), `expansion.py` what decisions that are linear in K share,
`best_basis.py` (with `basis_*.py`), `gor.py`, `network.py`, `linear_discriminant.py`, `whitened_neighbors.py` and
`lp_machine.py` (with `one_norm.py`) the baselines on features (with `feature_rows.py`), `libsvm.py` what the
machines of LIBSVM share, `machines.py` what the multi-class solvers made of binary machines do (`of_binary.py` what
takes a binary one), `specs.py` the way from a config to a solver and from a model file back to one. `estimator.py` is
scikit-learn's protocol. `solver_table.py` names the classes, and the stub ``__init__.pyi`` says where they are imported
from on first use: ``from seqkern.solvers import PSVC``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
