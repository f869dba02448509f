"""Names of methods and classes as figures and tables show them."""

from collections.abc import Collection

from seqkern.core.markup import clean

TRANSDUCTIVE = "†"
"""The mark of kernels whose profiles were built with the test sequences."""


def short(text: object, length: int = 16) -> str:
    """Return a text cut in its middle where it is too long for a figure."""
    text = clean(text)
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def mark(kernel: str, transductive: Collection[str]) -> str:
    """Return the mark of a kernel that is one of those that are transductive, or nothing."""
    return TRANSDUCTIVE if kernel in transductive else ""
