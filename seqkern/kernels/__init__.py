"""Kernels: one public module for each family, its compiled twin ``_name.pyx`` beside it.

Who calls whom: `contract` is what a family writes, `kernel` what every kernel does with it, and `blocks` fills
matrices; `spectrum`, `mismatch`, … are families, each in its folder; `composite` is what kernels made of kernels share,
`algebra` adds and multiplies them; `kernel_specs` makes a kernel of a configuration or a line of text; `operators` are
Python's, and `transformer` and `feature_map` make kernels steps of scikit-learn's pipelines. Importing this package
imports none of them: a class is found by its name, ``from seqkern.kernels import SumKernel``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
