"""The report of a study: one self-contained HTML page and the tables behind it.

results (what is on disk) ─▶ tables, curves (numbers) ─▶ figures (SVG), sections (HTML) ─▶ page
"""

from seqkern.report.page import build_report

__all__ = ["build_report"]
