"""Kernels of l-mers that depend on the Hamming distance alone, and the algorithms for them."""
