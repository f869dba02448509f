"""Classify biological sequences with string kernels, SVM and P-SVM.

`seqkern.read_fasta` reads sequences, `seqkern.kernels` holds the kernels, `seqkern.solvers` the classifiers,
`seqkern.evaluation` the scores.
"""

import importlib

__version__ = "0.1.0"
__all__ = ["SequenceSet", "__version__", "read_fasta"]

_HOMES = {"SequenceSet": "sequences.sequence_set", "read_fasta": "sequences.fasta"}


def __getattr__(name):
    """Import the public names on first use: ``seqkern --help`` needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'seqkern' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
