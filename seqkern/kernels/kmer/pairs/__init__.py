"""Pairs of k-mers at a distance, for the gappy pair and oligo distance kernels."""
