"""The report of a study: one self-contained HTML page and the tables behind it.

results (what is on disk) ─▶ tables, curves (numbers) ─▶ figures (SVG), sections (HTML) ─▶ page
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
