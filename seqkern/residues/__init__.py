"""Residue tasks: every residue of a chain is a sample, and has a state.

`residues` says which residue each sample is, `windows` cuts the window around each that kernels compare.
"""

from seqkern.residues.residues import STATES, WINDOW, Residues, check_window
from seqkern.residues.windows import residue_units, residue_windows

__all__ = ["STATES", "WINDOW", "Residues", "check_window", "residue_units", "residue_windows"]
