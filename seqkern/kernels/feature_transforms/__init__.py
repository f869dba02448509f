"""Transforms of feature vectors ahead of a kernel: completion, principal and independent components.

A transform is fitted on the vectors of the training set, and then applied to these and to those of new samples, so that
new samples never influence the fit. The kernel `transformed` applies them, and keeps what they learned in a model::

    fit(training vectors) ─▶ transform(any vectors)

`feature_transform` is the contract; each transform is in the module of its name. In a configuration they stand in
``transforms``, before those of the Gram matrix.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
