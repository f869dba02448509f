"""Naive twins of the kernels between windows: vectors letter by letter, and approximations by their definitions."""

import math

import numpy as np

from seqkern.sequences.alphabets import MASK


def one_hot(X, p):
    """Return the numbers of position p of the codes: one for each letter, and one for none."""
    row = [0.0] * (X.alphabet.size + 1)
    row[X.alphabet.size if X.codes[p] == MASK else X.codes[p]] = 1.0
    return row


def matrix_row(name):
    """Return what gives the numbers of a position, its letter's row of a substitution matrix."""
    from Bio.Align import substitution_matrices

    table = substitution_matrices.load(name)

    def numbers(X, p):
        letters = X.alphabet.letters
        if X.codes[p] == MASK:
            return [0.0] * len(letters) + [1.0]
        scale = math.sqrt(sum(table[a, b] ** 2 for a in letters for b in letters) / len(letters))
        return [table[letters[X.codes[p]], b] / scale for b in letters] + [0.0]

    return numbers


def pssm_row(scaling):
    """Return what gives the numbers of a position, its row of the track ``pssm``."""

    def numbers(X, p):
        if X.codes[p] == MASK:
            return [0.0] * X.alphabet.size + [1.0]
        scores = [float(s) for s in X.tracks["pssm"][p]]
        return [1 / (1 + math.exp(-s)) if scaling == "logistic" else s for s in scores] + [0.0]

    return numbers


def vectors(X, numbers, weights=None):
    """Return φ of each window, float64 (n, ·), positions times the roots of their weights."""
    rows = []
    for start, stop in zip(X.starts.tolist(), X.stops.tolist(), strict=True):
        row = []
        for place, p in enumerate(range(start, stop)):
            factor = 1.0 if weights is None else math.sqrt(weights[place])
            row += [factor * value for value in numbers(X, p)]
        rows.append(row)
    return np.array(rows)


def values(a, b, name, gamma, degree, coef0):
    """Return the kernel of vectors between the rows of a and b."""
    dots, squares = a @ b.T, ((a[:, None] - b) ** 2).sum(axis=2)
    return {
        "linear": dots,
        "polynomial": (gamma * dots + coef0) ** degree,
        "rbf": np.exp(-gamma * squares),
        "tanimoto": dots / (squares + dots),
    }[name]


def nystroem(rows, cols, among, tolerance):
    """Return K(x, Z)·K(Z, Z)⁺·K(Z, y): blocks (n, m), (m, l) and (m, m), small eigenvalues of the last left out."""
    eigenvalues, eigenvectors = np.linalg.eigh(among)
    kept = eigenvalues > tolerance * eigenvalues[-1]
    inverse = eigenvectors[:, kept] / eigenvalues[kept] @ eigenvectors[:, kept].T
    return rows @ inverse @ cols
