"""Kernels: one public module for each family, with its compiled twin ``_name.pyx`` next to it.

`kernel` has the interface that a family implements, and what every kernel does with it; `blocks` fills matrices.
Families stand in folders: k-mers, alignments, positions, subsequences, models, vectors. `composite` is the base of
kernels built from kernels, `algebra` adds and multiplies them, `kernel_specs` builds one from a configuration or text;
`transformer` and `feature_map` make kernels steps of scikit-learn pipelines. Importing this package imports none of
them: classes are loaded by name, ``from seqkern.kernels import SumKernel``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
