"""Kernels of vectors and of other kernels, approximations by explicit features, learned combinations."""
