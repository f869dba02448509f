"""Durations: as users write them (``90s``, ``10m``, ``2h``), and as they read them."""

import re

from seqkern.core.errors import ParameterError

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([smh]?)\s*")


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


def format_duration(seconds: float) -> str:
    """Return a duration as readable text.

    Parameters
    ----------
    seconds : float
        The duration.

    Returns
    -------
    str
        In the two largest units.

    Examples
    --------
    >>> format_duration(8), format_duration(150), format_duration(7380)
    ('8 s', '2 min 30 s', '2 h 3 min')
    """
    whole = round(seconds)
    for large, small, unit, part in ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s")):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"
