"""Solvers by linear algebra on a Gram matrix: least squares, discriminants, kernel PCA, sphered SVM."""
