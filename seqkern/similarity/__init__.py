"""Similar sequences: found by shared k-mers, confirmed by alignment, and grouped so that folds do not divide them.

`similar_groups` is the entry. `chance` tells which similarity chance explains, `search` finds the pairs (with compiled
loops in `_search`), `cutting` makes groups of them that are small enough for folds.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
