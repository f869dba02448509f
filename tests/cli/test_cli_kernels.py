"""The listing of kernels."""

import pytest

from seqkern.cli.main import main
from seqkern.gram.transforms import TRANSFORMS
from seqkern.kernels import KERNELS


def test_lists_every_kernel_and_transform_with_every_parameter(capsys):
    assert main(["kernels"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 110
    entries = {entry.split("\n")[0]: " ".join(entry.split()) for entry in text.split("\n\n")}
    for cls in (*KERNELS.classes.values(), *TRANSFORMS.classes.values()):
        for name in cls.parameter_names():
            assert f" {name}" in entries[cls.name]
    assert "k=3" in entries["spectrum"]
    assert "input: sequences; positive semi-definite parameters" in entries["spectrum"]
    assert "input: features, or sequences with a view; positive semi-definite parameters" in entries["linear"]
    assert "not positive semi-definite" in entries["sigmoid"]
    assert "positive semi-definite; fitted on the training set parameters: base=none," in entries["pairwise"]
    for name in ("sum", "gapped_kmer"):
        assert "positive semi-definite for some parameters only" in entries[name]


@pytest.mark.parametrize("name", ["spectrum", "rbf", "repair"])
def test_shows_one_in_full(name, capsys):
    assert main(["kernels", name]) == 0
    text = capsys.readouterr().out
    cls = {**KERNELS.classes, **TRANSFORMS.classes}[name]
    assert text.startswith(f"{name} ({cls.__name__})")
    for parameter in cls.parameter_names():
        assert f"\n{parameter}" in text


def test_an_unknown_kernel_is_one_line_with_the_nearest_name(capsys):
    assert main(["kernels", "spectum"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("seqkern: unknown kernel 'spectum'; did you mean 'spectrum'?")
    assert shown.err.count("\n") == 1
