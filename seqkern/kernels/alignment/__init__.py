"""Alignment kernels, computed for many pairs at once in vector lanes, and their substitution scores."""
