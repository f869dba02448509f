"""Values at the limits of numbers and names: used, or refused with one line."""

import os

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError, FoldError
from seqkern.evaluation import read_folds
from seqkern.gram.stored_matrix import read_spectrum
from seqkern.kernels import GenericStringKernel
from seqkern.sequences.labels import natural_key
from seqkern.study.plan import DatasetPlan

SEQUENCES = ["ACGTACGTAC", "CCGTACGTAA", "GGGTACTTAC", "TTGTACGTAG"]


@pytest.fixture
def fasta(tmp_path):
    """A file of four labelled sequences."""
    path = tmp_path / "d.fasta"
    path.write_text("".join(f">s{i} label={'01'[i % 2]}\n{text}\n" for i, text in enumerate(SEQUENCES)))
    return path


def train(fasta, output):
    """Return the exit code of training."""
    return main(
        ["train", str(fasta), "--labels", "header", "--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "-o", output]
    )


def test_a_model_is_written_to_a_device(fasta):
    assert train(fasta, os.devnull) == 0


@pytest.mark.parametrize("name", ["m" * 254, "m" * 255, "é" * 127])
def test_the_longest_names_of_files_are_written(fasta, tmp_path, name):
    assert train(fasta, str(tmp_path / name)) == 0
    assert (tmp_path / name).exists()
    with atomic_write(tmp_path / name, "w") as file:
        file.write("again")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["d.fasta", name])


def test_a_name_that_is_too_long_is_one_line(fasta, tmp_path, capsys):
    assert train(fasta, str(tmp_path / ("m" * 256))) == 1
    error = capsys.readouterr().err
    assert error.endswith("cannot be written: the name is too long; choose a shorter name\n")
    assert error.count("\n") == 1


@pytest.mark.parametrize("sigma", [1e155, 1e300, 1e308])
def test_a_width_beyond_all_numbers_is_infinite(sigma):
    np.testing.assert_allclose(
        GenericStringKernel(sigma_p=sigma)(SEQUENCES), GenericStringKernel(sigma_p=None)(SEQUENCES), rtol=1e-12
    )
    assert np.isfinite(GenericStringKernel(sigma_c=sigma)(SEQUENCES)).all()


def test_groups_of_many_digits(tmp_path):
    names = ["a" + "1" * 5000, "a²", "a10", "a9", "a010", "a" + "1" * 30]
    assert sorted(names, key=natural_key)[:2] == ["a9", "a10"]
    assert sorted(names, key=natural_key)[-2:] == ["a" + "1" * 5000, "a²"]
    for group in ("1" * 30, "1" * 5000, "9" * 19):
        (tmp_path / "f.tsv").write_text(f"id\tgroup\t1\na\t{group}\ttrain\nb\t1\ttest\n")
        with pytest.raises(FoldError, match=r"f\.tsv: record 'a': has a group .* that is not a number"):
            read_folds(tmp_path / "f.tsv", ["a", "b"])


@pytest.mark.parametrize("value", ["inf", "", "1" * 5000, "x"])
def test_a_damaged_spectrum_is_one_error(tmp_path, value):
    path = tmp_path / "gram.spectrum.tsv"
    path.write_text(f"n\tsmallest\n{value}\t{value}\n")
    with pytest.raises(FileError, match="is not a spectrum of a Gram matrix"):
        read_spectrum(path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100_000, "\udcff", '{"grams": {"a": {"seconds": "1", "bytes": 2}}, "methods": {}}'],
)
def test_a_damaged_plan_is_one_error(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FileError, match=r"plan\.json: is not a plan"):
        DatasetPlan.load(path)
