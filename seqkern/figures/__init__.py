"""What pages show: figures, tables, numbers, one style. The report and the explanation of a model draw with it.

Figures of statistics are matplotlib's (`matplotlib_svg.py` makes them part of a page). Profiles, logos and tracks
repeat a few shapes thousands of times: they are written as SVG directly (`svg.py` says why).
"""

import logging

REMARKS = (
    "mkdir -p failed",
    "%s is not a writable directory",
    "Matplotlib created a temporary cache directory",
    "Matplotlib is building the font cache",
    "Could not save font_manager cache",
)


def _not_about_folders(record: logging.LogRecord) -> bool:
    """Return False for matplotlib's remarks on a home folder that cannot be written: it works without its cache."""
    return not str(record.msg).startswith(REMARKS)


for _name in ("matplotlib", "matplotlib.font_manager"):
    logging.getLogger(_name).addFilter(_not_about_folders)
