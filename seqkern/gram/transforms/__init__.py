"""Transforms of a Gram matrix: centring, normalising, repairing its spectrum, the empirical kernel map.

A transform is fitted on the training part's square and then applied to it and to the rows of new samples (their
kernel values against the training samples), so that no new sample has a part in what is learned. A chain is
applied in order; each hands on the matrix and the diagonal, K(x, x) of the rows::

    fit(K_train, diagonal) ─▶ transform_train() ─▶ (K_train', diagonal')
                              transform(K_new, diagonal) ─▶ (K_new', diagonal')

Everything is summed in one order, row by row: a row has the same bits in every batch.

`base` is the contract; a transform is in the module of its name; `specs` turns a config or a line of text
into one. A class is found by its name, ``from seqkern.gram.transforms import CentreGram``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
