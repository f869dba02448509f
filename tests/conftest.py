"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# a busy machine is no failure
settings.register_profile("seqkern", deadline=None)
settings.load_profile("seqkern")


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of the public data sets; skip where there is none."""
    folder = Path(os.environ.get("SEQKERN_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no folder of public data sets (set SEQKERN_DATA)")
    return folder
