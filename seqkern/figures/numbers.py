"""Numbers as a page shows them."""

from seqkern.core.markup import Markup, tag


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
    text = f"{value:,.{digits}f}"
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
