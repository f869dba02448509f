"""Classify biological sequences with string kernels, SVM and P-SVM.

`seqkern.read_fasta` reads sequences, `seqkern.kernels` holds the kernels, `seqkern.solvers` the classifiers,
`seqkern.evaluation` the scores. The public names of a package stand in its stub ``__init__.pyi``, and are imported on
first use: ``seqkern --help`` needs none of them.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
