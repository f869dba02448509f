"""Solvers by linear algebra on a Gram matrix: least squares, discriminants, principal components, sphered SVM."""
