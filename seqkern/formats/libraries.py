"""Optional libraries of the extra ``genome``, imported only when needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from seqkern.core.errors import SeqkernError


def pysam() -> Any:
    """Return the module pysam (indexed FASTA, VCF, BCF, bgzip)."""
    return _library("pysam")


def py_big_wig() -> Any:
    """Return the module pyBigWig."""
    return _library("pyBigWig")


def _library(name: str) -> Any:
    """Return an imported module; raise an error with a one-line remedy if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SeqkernError(
            f"files of genomes need the package {name}", remedy='install it: pip install "seqkern[genome]"'
        ) from error
