"""Durations as users write them: ``90s``, ``10m``, ``2h``."""

import re

from seqkern.core.errors import ParameterError

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*")


def parse_duration(text: str | float) -> float:
    """Return a duration in seconds.

    Parameters
    ----------
    text : str or float
        A number with the unit s, m or h; seconds without.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If it is not a positive duration.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration(90)
    (600.0, 90.0)
    """
    found = _DURATION.fullmatch(str(text))
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if seconds <= 0:
        raise ParameterError(f"{text!r} is not a duration", remedy="write it as 90s, 10m or 2h")
    return seconds
