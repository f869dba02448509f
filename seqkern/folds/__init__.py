"""Splits into training and test sets, and the leakage between them.

`foldset` makes splits and stores them as files, `methods` lists the ways to split (pure functions in
`splitters`), `leakage` reports similar sequences in training and test sets (found by `overlaps`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
