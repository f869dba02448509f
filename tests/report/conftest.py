"""What the tests of pages share: figures that are laid out on a page but not drawn."""

import pytest

from seqkern.report import figure_files


@pytest.fixture(autouse=True)
def _figures_are_not_drawn(request, monkeypatch):
    """Leave figures empty, which takes half a page's time, unless a test or a page of the module is about them.

    Each is still made, with its label and its files. With ``--all-cases`` all are drawn.
    """
    if not request.config.option.all_cases and not request.node.get_closest_marker("drawn"):
        monkeypatch.setattr(figure_files, "saved", lambda *_: b'<svg viewBox="0 0 1 1"></svg>')
