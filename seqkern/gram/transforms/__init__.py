"""Transforms of a Gram matrix: centring, normalising, repair of its spectrum, the empirical kernel map.

A transform is fitted on the training set's square and then applied to it and to the rows of new samples (their
kernel values against the training samples), so that new samples never influence the fit. Transforms are
applied in order; each passes on the matrix and the diagonal, K(x, x) of the rows::

    fit(K_train, diagonal) ─▶ transform_train() ─▶ (K_train', diagonal')
                              transform(K_new, diagonal) ─▶ (K_new', diagonal')

All sums use one order, row by row: a row has the same bits in every batch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
