"""Baselines on explicit features: what a kernel method has to beat."""
