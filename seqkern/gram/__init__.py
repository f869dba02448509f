"""Gram matrices, in memory or on disk: computing one, at once or tile by tile, and opening it.

The calls::

    compute_gram ─▶ GramJob ─┬─▶ in memory: every tile is computed in place
                             └─▶ on disk: missing tiles ─▶ TileGrid.write … assembly ─▶ open_gram

`matrix` defines `GramMatrix`, the result; `job` does the work; `tiles` divides the matrix; `opening` checks a stored
matrix; `transforms` has transforms fitted on the training set's matrix: centring, normalising, repair.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
