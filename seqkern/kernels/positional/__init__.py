"""Positional kernels: weighted degree, locality-improved, Salzberg, generic string, LOCK."""
