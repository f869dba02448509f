"""The models of ``seqkern variants``, by name."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.models.variants.scorer import Scorer


def scorers_of(paths: list[str], args: argparse.Namespace) -> dict[str, Scorer]:
    """Return the scorers of the models, by the stems of their files.

    Parameters
    ----------
    paths : list of str
        Model files.
    args : Namespace
        With ``window`` and ``around``.

    Returns
    -------
    dict of str to Scorer
        Of several files of one name, the later ones get a number.
    """
    # imported here to keep --help fast
    from seqkern.models.variants.scorer import read_scorer

    out: dict[str, Scorer] = {}
    for path in paths:
        stem = Path(path).name.partition(".")[0] or "model"
        name, number = stem, 1
        while name in out:
            number += 1
            name = f"{stem}_{number}"
        out[name] = read_scorer(path, args.window, args.around)
    return out
