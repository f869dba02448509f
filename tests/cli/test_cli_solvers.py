"""The listing of solvers, selectors and the scaler."""

import pytest

from seqkern.cli.main import main
from seqkern.solvers import SOLVERS
from seqkern.solvers.selection.selectors import SELECTORS, ExpressionScaler

CLASSES = {**SOLVERS.classes, **SELECTORS.classes, "scaler": ExpressionScaler}


def test_no_name_is_used_twice():
    assert len(CLASSES) == len(SOLVERS.classes) + len(SELECTORS.classes) + 1


def test_lists_every_solver_selector_and_the_scaler_with_every_parameter(capsys):
    assert main(["solvers"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 110
    entries = {entry.split("\n")[0]: " ".join(entry.split()) for entry in text.strip().split("\n\n")}
    for name, cls in CLASSES.items():
        for parameter in cls.parameter_names():
            assert f" {parameter}" in entries[name]
    assert "input: a Gram matrix; labels: binary" in entries["csvc"]
    assert "input: the features of a kernel; labels: binary, multiclass" in entries["primal_svc"]
    assert "input: as for its base solver; labels: multiclass" in entries["one_against_rest"]
    assert "input: a Gram matrix or the features of a kernel; labels: binary" in entries["psvc"]
    assert text.index("Feature selectors") < text.index("\ngolub\n") < text.index("\nscaler\n")


@pytest.mark.parametrize("name", ["csvc", "golub", "psvm", "scaler"])
def test_shows_one_in_full(name, capsys):
    assert main(["solvers", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{name} ({CLASSES[name].__name__})")
    for parameter in CLASSES[name].parameter_names():
        assert f"\n{parameter}" in text
    assert ("; labels: " in text.splitlines()[-1]) == (name == "csvc")


def test_an_unknown_name_is_one_line_with_the_nearest(capsys):
    assert main(["solvers", "golup"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("seqkern: unknown solver 'golup'; did you mean 'golub'?")
    assert told.count("\n") == 1
