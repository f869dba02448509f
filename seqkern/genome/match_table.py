"""How well background regions match their peaks: mean, quantiles and the distance of the distributions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from seqkern.genome.composition import Composition

PROPERTIES = {"length": "length", "gc": "GC content", "repeats": "share of repeats"}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
COLUMNS = ("property", "set", "n", "mean", "q05", "q25", "median", "q75", "q95", "ks")


def ks_distance(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Return the Kolmogorov-Smirnov distance: the largest difference of two cumulative distributions.

    Parameters
    ----------
    a, b : ndarray of float64, shapes (n,) and (m,)
        The samples.

    Returns
    -------
    float
        From 0, for equal distributions, to 1.

    Examples
    --------
    >>> import numpy as np
    >>> ks_distance(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    0.5
    """
    values = np.unique(np.concatenate((a, b)))
    shares = [np.searchsorted(np.sort(one), values, side="right") / len(one) for one in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def match_rows(peaks: Composition, background: Composition) -> Iterator[list[object]]:
    """Yield two rows for each property: of the peaks, and of the background with its distance.

    Parameters
    ----------
    peaks, background : Composition
        Of the regions.

    Yields
    ------
    list
        Cells in the order of `COLUMNS`.
    """
    for name in PROPERTIES:
        own, other = getattr(peaks, name), getattr(background, name)
        for what, values, distance in (("peaks", own, None), ("background", other, ks_distance(own, other))):
            quantiles = np.quantile(values, QUANTILES).tolist()
            yield [name, what, len(values), float(values.mean()), *quantiles, distance]


def match_lines(peaks: Composition, background: Composition) -> list[str]:
    """Return the table as aligned text, for a terminal.

    Parameters
    ----------
    peaks, background : Composition
        Of the regions.

    Returns
    -------
    list of str
    """
    rows = [["", "", "mean", "5 %", "25 %", "median", "75 %", "95 %", "KS distance"]]
    for name, what, _, *numbers, distance in match_rows(peaks, background):
        form = ".1f" if name == "length" else ".3f"
        title = PROPERTIES[str(name)] if what == "peaks" else ""
        cells = [format(number, form) for number in numbers]
        rows.append([title, str(what), *cells, "" if distance is None else f"{distance:.4f}"])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
