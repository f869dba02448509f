"""The commands of the tutorials and the how-to pages run, and print what the pages show.

They take minutes, so that a plain ``pytest`` leaves them out; ``pytest -m page`` runs them.
"""

import importlib.util

import pytest
import warm
from conftest import ROOT

spec = importlib.util.spec_from_file_location("run_pages", ROOT / "docs" / "run_pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


@pytest.mark.page
@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.stem)
def test_a_page_runs_and_prints_what_it_shows(path, tmp_path):
    _, compared = pages.run(path.read_text(encoding="utf-8"), tmp_path, str(warm.programs()))
    assert compared
    different = [(shown, printed) for _, shown, printed in compared if not pages.alike(shown, printed)]
    assert different == [], "python docs/run_pages.py --update writes the new output into the pages"


def test_numbers_may_differ_in_their_last_digits_and_words_may_not():
    assert pages.alike("AUC 0.824 of 5 folds", "AUC  0.8243 of 5 folds")
    assert not pages.alike("AUC 0.824 of 5 folds", "AUC 0.624 of 5 folds")
    assert not pages.alike("AUC 0.824 of 5 folds", "AUC 0.824 of 5 parts")
