"""Gram matrices, in memory or on disk: compute one, in one go or tile by tile, and open it again.

Who calls whom::

    compute_gram ─▶ GramJob ─┬─▶ in memory: every tile is computed in its place
                             └─▶ on disk: missing tiles ─▶ TileGrid.write … TileGrid.assemble ─▶ open_gram

`matrix` holds `GramMatrix`, the result; `job` the work; `tiles` how it is cut; `transforms` what is fitted on the
training part of a matrix: centring, normalising, repair.
"""

from seqkern.gram.compute import assemble, compute_gram, compute_tile, count_tiles
from seqkern.gram.matrix import GramMatrix, open_gram

__all__ = ["GramMatrix", "assemble", "compute_gram", "compute_tile", "count_tiles", "open_gram"]
