"""Baselines on explicit features, for comparison with kernel methods."""
