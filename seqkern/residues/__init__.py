"""Residue tasks: every residue of a chain is a sample, and has a state.

`residues` maps samples to residues, `windows` cuts the window around each that kernels compare.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
