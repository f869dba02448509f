"""Pairs of k-mers at a distance: what gappy pair and oligo-distance kernels share."""
