"""Kernels of k-mers: exact, with mismatches, gaps, wildcards or substitutions, of pairs, at positions, of profiles."""
