"""Outlines of letters for logos: of capital letters from a table, of other characters by matplotlib.

matplotlib takes a quarter of a second to import, more than all else that `seqkern explain` does for a few sequences.
"""

import csv
from functools import cache, lru_cache

from seqkern.core.resource_files import open_resource


def outline(letter: str) -> str:
    """Return a letter as an SVG path that fills the square from (0, 0) to (1, 1); narrow letters stay narrow.

    Parameters
    ----------
    letter : str
        One character.

    Returns
    -------
    str

    Examples
    --------
    >>> outline("I")
    'M0.266 0.000L0.734 0.000L0.734 1.000L0.266 1.000L0.266 0.000Z'
    """
    return _capitals().get(letter) or drawn_outline(letter)


@cache
def _capitals() -> dict[str, str]:
    """Return the outlines of A to Z."""
    with open_resource("letter_outlines.tsv") as file:
        return {row["letter"]: row["outline"] for row in csv.DictReader(file, delimiter="\t")}


@lru_cache
def drawn_outline(letter: str) -> str:
    """Return the outline of any character, in bold DejaVu Sans.

    Parameters
    ----------
    letter : str
        One character.

    Returns
    -------
    str
    """
    # imported here: the table mostly has the letters
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), letter, size=100, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    box = path.get_extents()
    middle, width, height = (box.x0 + box.x1) / 2, max(box.width, 0.55 * box.height), box.height
    commands = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
    text = []
    for vertices, code in path.iter_segments(simplify=False):
        points = vertices.reshape(-1, 2)
        places = [((x - middle) / width + 0.5, (y - box.y1) / -height) for x, y in points]
        numbers = "" if code == Path.CLOSEPOLY else " ".join(f"{x + 0.0:.3f} {y + 0.0:.3f}" for x, y in places)
        text.append(commands[code] + numbers)
    return "".join(text)
