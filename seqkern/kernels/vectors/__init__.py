"""Kernels of vectors, approximations, learned combinations, and the marginal likelihood of Gaussian processes."""
