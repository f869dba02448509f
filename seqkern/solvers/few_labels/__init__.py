"""Solvers for few labels: they learn from unlabelled samples too."""
