"""Classification of biological sequences with string kernels, SVMs and the P-SVM.

`seqkern.read_fasta` reads sequences, `seqkern.kernels` holds the kernels, `seqkern.solvers` the classifiers, and
`seqkern.evaluation` the scores. The public names of a package are listed in its stub ``__init__.pyi`` and imported on
first use, because ``seqkern --help`` needs none of them.
"""

import lazy_loader

from seqkern.core import former_names

__version__ = "0.2.0"
former_names.install()

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
