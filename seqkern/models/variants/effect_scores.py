"""How well rankings of variants find those with a known effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.evaluation.ranking import average_precision, roc_auc
from seqkern.evaluation.top import top_precision
from seqkern.models.variants.held_out import HeldOutEffects

Floats = npt.NDArray[np.float64]

RANKINGS = {
    "model": "|delta| of the model",
    "composition": "|change| of the log-odds of 3-mers",
    "distance": "nearness to the middle of a positive sample",
}
"""Names of the rankings, with what they rank by."""
TOP = (10, 25, 50)
COLUMNS = (
    "chromosome", "position", "id", "ref", "alt", "split", "reference", "alternative", "delta", "score",
    "composition_score", "distance",
)  # fmt: skip


def rank_scores(effects: HeldOutEffects, distance: Floats) -> dict[str, Floats]:
    """Return what variants are ranked by, highest first.

    Parameters
    ----------
    effects : HeldOutEffects
        Of n alleles, scored by ``model`` and ``composition``.
    distance : ndarray of float64, shape (n,)
        To the middle of the nearest positive sample.

    Returns
    -------
    dict of str to ndarray of float64, shape (n,)
        By the names of `RANKINGS`; ``distance`` only if some distance is known.
    """
    found = {name: effects.rank_score(name) for name in ("model", "composition")}
    return found | ({"distance": -distance} if np.isfinite(distance).any() else {})


def effect_scores(effects: HeldOutEffects, distance: Floats, threshold: float = 0.0) -> dict[str, Any]:
    """Return how well each ranking finds the variants with a known effect.

    Parameters
    ----------
    effects, distance
        As for `rank_scores`.
    threshold : float
        True are alleles with a known effect above ±`threshold`, whether sites are destroyed or created; alleles
        without a known effect are left out.

    Returns
    -------
    dict
        JSON: ``n`` and ``true`` (alleles), ``rankings`` (each with ``ap``, ``auc`` and ``top``), and ``signs``: how
        many true alleles have a delta of the sign of their effect (None unless known effects have both signs).
    """
    truth, delta = effects.variants.truth, effects.delta("model")
    known = ~np.isnan(truth) & ~np.isnan(delta)
    true = np.abs(truth[known]) > threshold
    n, count = len(true), int(true.sum())
    out: dict[str, Any] = {"n": n, "true": count, "rankings": {}, "signs": None}
    if not 0 < count < n:
        return out
    numbers = sorted({min(number, n) for number in (*TOP, count)})
    for name, values in rank_scores(effects, distance).items():
        own = values[known]
        top = [top_precision(true, own, number)._asdict() for number in numbers]
        out["rankings"][name] = {"ap": average_precision(true, own), "auc": roc_auc(true, own), "top": top}
    signs = np.sign(truth[known][true])
    if len(np.unique(signs)) > 1:
        out["signs"] = {"agree": int(np.count_nonzero(signs == np.sign(delta[known][true]))), "of": count}
    return out


def write_effects(
    path: PathLike, effects: HeldOutEffects, distance: Floats, splits: list[str], threshold: float | None
) -> None:
    """Write the table of variants, in the order of the file.

    Parameters
    ----------
    path : path-like
        The file.
    effects, distance
        As for `rank_scores`.
    splits : list of str
        Names of the splits.
    threshold : float or None
        As for `effect_scores`; None without known effects.
    """
    variants = effects.variants
    columns: list[Any] = [variants.chromosomes, variants.positions, variants.ids, variants.refs, variants.alts]
    columns.append([splits[number] if number >= 0 else "" for number in effects.split.tolist()])
    columns += [effects.reference["model"], effects.alternative["model"], effects.delta("model")]
    scores = [effects.rank_score("model"), effects.rank_score("composition")]
    scores.append(np.where(np.isinf(distance), np.nan, distance))
    names = list(COLUMNS)
    if threshold is not None:
        names += ["effect", "true"]
        known = ~np.isnan(variants.truth)
        scores += [variants.truth, np.where(known, np.abs(variants.truth) > threshold, np.nan)]
    write_tsv(path, names, zip(*columns, *scores, strict=True))
