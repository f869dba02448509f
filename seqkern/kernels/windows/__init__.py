"""Kernels of windows around residues: residues, PSSM rows, physico-chemical properties."""
