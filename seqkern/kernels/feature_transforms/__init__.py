"""Transforms of feature vectors ahead of a kernel: imputation, principal and independent components.

A transform is fitted on the vectors of the training set only, then applied to these and to new samples, so that new
samples never influence the fit. The kernel `transformed` applies the transforms and stores what they learned in a
model::

    fit(training vectors) ─▶ transform(any vectors)

`feature_transform` is the contract; each transform is in the module of its name. In a configuration they are listed
under ``transforms``, before the Gram matrix's.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
