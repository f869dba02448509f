"""Kernels: one public module for each family, with its compiled twin ``_name.pyx`` next to it.

`contract` is the interface that a family implements, `kernel` what every kernel does with it, and `blocks` fills
matrices. `spectrum`, `mismatch`, … are families, each in its folder. `composite` is the base of kernels built from
kernels, `algebra` adds and multiplies them. `kernel_specs` builds a kernel from a configuration or text; `operators`
has Python's operators; `transformer` and `feature_map` make kernels steps of scikit-learn pipelines. Importing this
package imports none of them: classes are loaded by name, ``from seqkern.kernels import SumKernel``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
