"""Gram matrices, in memory or on disk: compute one, in one go or tile by tile, and open it again.

Who calls whom::

    compute_gram ─▶ GramJob ─┬─▶ in memory: every tile is computed in its place
                             └─▶ on disk: missing tiles ─▶ TileGrid.write … TileGrid.assemble ─▶ open_gram

`matrix` holds `GramMatrix`, the result; `job` the work; `tiles` how it is cut; `transforms` what is fitted on the
training part of a matrix: centring, normalising, repair.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
