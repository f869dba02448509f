"""Kernels of l-mers that depend on the Hamming distance only, and their algorithms."""
