"""Solvers: scikit-learn estimators that learn from a Gram matrix, a feature matrix or an Implicit.

`solver_specs.py` lists the classes; the stub ``__init__.pyi`` says where each is imported from on first use:
``from seqkern.solvers import PSVC``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
