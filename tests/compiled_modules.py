"""A plugin of pytest: writes which compiled modules the tests imported to the file ``SEQKERN_COMPILED``, one a line."""

import os
import sys


def pytest_sessionfinish():
    """Append the names of this process; with pytest-xdist, each worker writes its own."""
    names = [name for name in sys.modules if name.startswith("seqkern.") and name.rpartition(".")[2].startswith("_")]
    compiled = [name for name in names if (getattr(sys.modules[name], "__file__", None) or "").endswith(".so")]
    with open(os.environ["SEQKERN_COMPILED"], "a") as file:
        file.writelines(f"{name}\n" for name in compiled)
