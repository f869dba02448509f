"""Kernels of windows around residues: letters, PSSM rows, physico-chemical properties."""
