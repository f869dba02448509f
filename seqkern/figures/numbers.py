"""Numbers as a page shows them, all rounded alike.

The same mean, added up in another order, may be 0.8154999999999999 or 0.8155. Rounded half up after eight digits, both
are 0.816.
"""

import math
from decimal import ROUND_HALF_UP, Decimal

from seqkern.core.markup import Markup, tag

EXACT_DIGITS = 8
"""To which sums in another order agree."""
LARGE = 1e15
"""From which on a float has no digits after the point that are worth rounding."""


def rounded(value: float, digits: int = 3) -> float:
    """Return a number as `number` shows it: rounded half up, away from zero.

    Parameters
    ----------
    value : float
        NaN and infinities stay.
    digits : int, default 3
        After the decimal point.

    Returns
    -------
    float

    Examples
    --------
    >>> rounded(0.8154999999999999), rounded(0.8155), rounded(-0.0005)
    (0.816, 0.816, -0.001)
    """
    if not math.isfinite(value) or abs(value) >= LARGE:
        return float(value)
    exact = Decimal(f"{value:.{max(digits, EXACT_DIGITS)}f}")
    return float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with a fixed count of digits as plain text.

    Parameters
    ----------
    value : float
        The number.
    digits : int, default 3
        After the decimal point.

    Returns
    -------
    str

    Examples
    --------
    >>> fixed(0.8154999999999999), fixed(2.0)
    ('0.816', '2.000')
    """
    return f"{rounded(value, digits):.{digits}f}"


def number(value: float | None, digits: int = 3) -> Markup:
    """Return a number with a fixed count of digits, or a dash that says that there is none.

    Parameters
    ----------
    value : float or None
        NaN is none either.
    digits : int, default 3
        After the decimal point.

    Returns
    -------
    Markup

    Examples
    --------
    >>> number(-0.12345), number(-0.0001)
    ('−0.123', '0.000')
    """
    if value is None or value != value:
        return tag("span", "–", class_="none", title="no value")
    text = f"{rounded(value, digits):,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return Markup(text.replace("-", "\N{MINUS SIGN}").replace(",", "\N{NARROW NO-BREAK SPACE}"))


def spread(mean: float | None, sd: float | None, digits: int = 3) -> Markup:
    """Return ``mean ± sd``; the mean alone where there is no spread.

    Parameters
    ----------
    mean, sd : float or None
        NaN is none either.
    digits : int, default 3
        After the decimal point.

    Returns
    -------
    Markup
    """
    if mean is None or mean != mean or sd is None or sd != sd:
        return number(mean, digits)
    return Markup(f'{number(mean, digits)}<span class="sd"> ± {number(sd, digits)}</span>')


def plural(count: int, word: str, many: str | None = None) -> str:
    """Return a number with what is counted.

    Parameters
    ----------
    count : int
        How many there are.
    word : str
        What one is called.
    many : str, optional
        What several are called; by default with an s.

    Returns
    -------
    str

    Examples
    --------
    >>> plural(3, "fold"), plural(1, "fold"), plural(2, "family", "families")
    ('3 folds', '1 fold', '2 families')
    """
    return f"{number(count, 0)} {word if count == 1 else many or word + 's'}"
