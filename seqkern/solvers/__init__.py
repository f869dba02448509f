"""Solvers: scikit-learn estimators that learn from a Gram matrix, a feature matrix or an Implicit.

What every solver does stands here: `base.py` names the base classes (`contract.py` the contract, `kinds.py` solvers by
what they learn, `checking.py` the checks of input, `stored.py` state and restriction, `estimator.py` scikit-learn's
protocol), `solver_specs.py` leads from a config to a solver and from a model file back to one, `expansion.py` has what
decisions that are linear in K share, `linear_algebra.py` factors of matrices, `feature_rows.py` rows of features,
`thresholds.py` thresholds by what errors cost, and `filtered.py` a one-class SVM before a binary solver.

The solvers stand in folders: `psvm` the P-SVM (with its engine in `potential`), `svm` SVMs on a Gram matrix (LIBSVM's)
and without one, `least_squares` the solvers by linear algebra, `baselines` nearest neighbours and the solvers of
features, `multiclass` what makes several classes of binary solvers, and `selection` feature selection before a solver.
`solver_table.py` names the classes, and the stub ``__init__.pyi`` says where they are imported from on first use:
``from seqkern.solvers import PSVC``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
