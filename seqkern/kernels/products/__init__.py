"""Dot products of feature vectors, dense, sparse and real, in tiles."""
