"""Kernels of vectors and of other kernels' distances, approximations by explicit features, learned combinations."""
