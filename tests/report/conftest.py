"""What the tests of pages share: PDF files of figures are empty."""

import pytest

from seqkern.report import figure_files


@pytest.fixture(autouse=True)
def _figures_are_not_written_as_pdf(request, monkeypatch):
    """Leave PDF files empty, which takes half a page's time, unless a test or a page of the module is about them.

    With ``--all-cases`` all are written.
    """
    if not request.config.option.all_cases and not request.node.get_closest_marker("drawn"):
        monkeypatch.setattr(figure_files, "drawn", lambda _: b"%PDF")
