"""Kernels that compare position by position: weighted degree, locality-improved, Salzberg, generic string."""
