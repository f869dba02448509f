"""The commands of the tutorials and the how-to pages run, and print what the pages show.

They take minutes, so that a plain ``pytest`` leaves them out; ``pytest -m page`` runs them as forks of one process, and
``--all-cases`` every command in a process of its own, with the pages whose verbs shorter pages and tests run.
"""

import importlib.util

import pytest
import warm
from conftest import ROOT

spec = importlib.util.spec_from_file_location("run_pages", ROOT / "docs" / "run_pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


# the study of families in test_workflow.py; tutorials/peaks.md and the tests of `background`
LONG = ("tutorials/remote_homologs", "howto/peaks")
NAMES = {path.relative_to(pages.HERE).with_suffix("").as_posix(): path for path in pages.PAGES}


@pytest.mark.page
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name in LONG else name for name in NAMES]
)
def test_a_page_runs_and_prints_what_it_shows(name, tmp_path, request):
    programs = "" if request.config.option.all_cases else str(warm.programs())
    _, compared = pages.run(NAMES[name].read_text(encoding="utf-8"), tmp_path, programs)
    assert compared
    different = [(shown, printed) for _, shown, printed in compared if not pages.alike(shown, printed)]
    assert different == [], "python docs/run_pages.py --update writes the new output into the pages"


def test_numbers_may_differ_in_their_last_digits_and_words_may_not():
    assert pages.alike("AUC 0.824 of 5 folds", "AUC  0.8243 of 5 folds")
    assert not pages.alike("AUC 0.824 of 5 folds", "AUC 0.624 of 5 folds")
    assert not pages.alike("AUC 0.824 of 5 folds", "AUC 0.824 of 5 parts")
