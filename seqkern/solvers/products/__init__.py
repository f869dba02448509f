"""Solvers that train on products with the kernel matrix, without forming the matrix."""
