"""Pages: the report of a study, explanations, audits; figures."""

import logging

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

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
