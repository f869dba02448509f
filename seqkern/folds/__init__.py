"""Splits into training and test parts, and what leaks across them.

`foldset` makes splits and keeps them as files, `methods` names the ways to divide (pure functions in
`splitters`), `leakage` reports sequences that are alike in both parts (found by `overlaps`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
