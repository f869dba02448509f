"""Fixtures that all tests share."""

import os
import zlib
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# a process that a test starts in this folder imports the installed package, not the sources beside it
os.environ["PYTHONSAFEPATH"] = "1"

# the workers of pytest -n share the cores: more threads of linear algebra would only wait for each other
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    share = max(1, (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    os.environ |= {"OMP_NUM_THREADS": str(share), "OPENBLAS_NUM_THREADS": str(share)}

# no deadline: a busy machine is not a failure
settings.register_profile("day", deadline=None, max_examples=25)
settings.register_profile("night", deadline=None, max_examples=100)


def pytest_addoption(parser):
    """Add the option of the nightly run."""
    parser.addoption("--all-cases", action="store_true", help="run every combination and example, and what is nightly")


def pytest_configure(config):
    """Choose how many random examples a test has whose settings do not say it."""
    settings.load_profile("night" if config.option.all_cases else "day")


def pytest_collection_modifyitems(config, items):
    """Keep as many cases of each function as give each value of each parameter once, without nightly functions."""
    if config.option.all_cases:
        return
    functions = defaultdict(list)
    for item in items:
        if item.get_closest_marker("nightly"):
            continue
        functions[item.nodeid.partition("[")[0]].append(item)
    kept = {case for cases in functions.values() for case in covering(cases)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def covering(cases):
    """Return cases of a function that hold each value of each parameter; which is the first depends on its name."""
    first = zlib.crc32(cases[0].originalname.encode()) % len(cases)
    values = {case: parameters(case) for case in cases[first:] + cases[:first]}
    missing = set().union(*values.values())
    chosen = [] if missing else cases
    while missing:
        chosen.append(max(values, key=lambda case: len(values[case] & missing)))
        missing -= values[chosen[-1]]
    return chosen


def parameters(case):
    """Return the values of a case: one for each decorator, one for each fixture, two of a check of scikit-learn."""
    if not hasattr(case, "callspec"):
        return set()
    params = case.callspec.params
    marks = [mark.args[0] for mark in case.iter_markers("parametrize") if mark.args[0] != "estimator, check"]
    groups = [names.replace(" ", "").split(",") if isinstance(names, str) else list(names) for names in marks]
    groups += [[name] for name in params if not any(name in names for names in groups)]
    classes = case.get_closest_marker("contract") is not None
    return {(*names, *(branch(name, params[name], classes) for name in names)) for names in groups}


def branch(name, value, classes):
    """Return what a parameter's value stands for: itself, its class where examples take turns, a check's function."""
    if classes and hasattr(value, "get_params"):
        return type(value)
    return value.func if name == "check" and hasattr(value, "func") else id(value)


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of the public data sets; skip where there is none."""
    folder = Path(os.environ.get("SEQKERN_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no folder of public data sets (set SEQKERN_DATA)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Keep what is cached out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _remedies_exist():
    """Check each error that a test provokes on the command line: the verb has the options that the remedy names."""
    from remedy_texts import missing_options

    from seqkern.cli import main

    refused = main._refused

    def checked(error, verb=""):
        missing = missing_options(error.remedy or "", verb) if verb else ()
        assert not missing, f"seqkern {verb} has no {', '.join(missing)}: {error}"
        return refused(error, verb)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main, "_refused", checked)
        yield
