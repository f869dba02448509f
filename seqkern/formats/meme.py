"""The minimal MEME format of motifs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from seqkern.core.types import Floats

MemeMotif: TypeAlias = tuple[str, Floats, int]
"""Name, probabilities of shape (columns, letters), and number of sites."""


def meme_lines(
    motifs: Iterable[MemeMotif], letters: str, background: Sequence[float], *, both_strands: bool
) -> Iterator[str]:
    """Yield the lines of a MEME file, without line ends.

    Each motif is (name, probabilities of shape (columns, letters), number of sites).
    """
    yield from ("MEME version 5", "", f"ALPHABET= {letters}", "")
    if both_strands:
        yield from ("strands: + -", "")
    yield "Background letter frequencies"
    yield " ".join(f"{letter} {share:.5f}" for letter, share in zip(letters, background, strict=True))
    for name, probabilities, sites in motifs:
        yield from ("", f"MOTIF {name}")
        yield f"letter-probability matrix: alength= {len(letters)} w= {len(probabilities)} nsites= {sites}"
        yield from (" " + " ".join(f"{share:.6f}" for share in row) for row in probabilities)
