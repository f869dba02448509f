"""Residue tasks: every residue of a chain is a unit, and has a state.

`residues` tells which residue each unit is, `windows` cuts the window around each that kernels compare.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
