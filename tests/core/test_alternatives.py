"""Alternatives in specs: what they stand for, and where they are refused."""

import pytest

from seqkern.core.errors import ParameterError
from seqkern.core.progress import parse_duration, reporting
from seqkern.core.specs import spec_alternatives
from seqkern.kernels import SpectrumKernel, build_kernel
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.solvers import expand_grid
from seqkern.study.kernel_entries import KernelChoice, read_kernel


def test_every_combination_once_and_in_order():
    found = spec_alternatives("gapped_kmer:l=10|11,k=6,7,d=3")
    assert found == [{"kernel": "gapped_kmer", "l": length, "k": k, "d": 3} for length in (10, 11) for k in (6, 7)]
    assert spec_alternatives("spectrum:k=3|3|4") == [{"kernel": "spectrum", "k": k} for k in (3, 4)]
    assert [one["shift"] for one in spec_alternatives("shifted_weighted_degree:shift=1|2")] == [1, 2]


@pytest.mark.parametrize(
    ("text", "ks"),
    [
        ("spectrum:k=3+4", [[3, 4]]),
        ("spectrum:k=1-3+5", [[1, 2, 3, 5]]),
        ("spectrum:k=[3,4]", [3, 4]),
        ("spectrum:k=3,4", [3, 4]),
        ("spectrum:k=3,4,normalize=false", [3, 4]),
        ("spectrum:k=3-5", [3, 4, 5]),
        ("spectrum:k=[3+4,5]", [[3, 4], 5]),
        ("spectrum:k=3+4|5", [[3, 4], 5]),
        ("spectrum:k=3+4,weights=1,2", [[3, 4]]),
        ('{"kernel": "spectrum", "k": [3, 4]}', [3, 4]),
        ('{"kernel": "spectrum", "k": {"sum": [3, 4]}}', [[3, 4]]),
        ('{"kernel": "spectrum", "k": "3+4"}', [[3, 4]]),
    ],
)
def test_a_list_is_a_grid_and_a_sum_is_written_with_plus(text, ks):
    assert [entry.kernel.k for entry in read_kernel(text).candidates] == ks


@pytest.mark.parametrize("text", ["spectrum:k=3+4*spectrum:k=2", "spectrum:k=3 + 0.5*spectrum:k=2"])
def test_a_weight_after_plus_begins_another_kernel(text):
    assert [part.k for part in build_kernel(text).parts] == [3, 2]


def test_lists_in_python_and_in_specs_are_sums():
    assert build_kernel({"kernel": "spectrum", "k": [3, 4]}).k == [3, 4]
    assert build_kernel(SpectrumKernel(k=[3, 4]).spec()).k == [3, 4]
    assert kernel_text(SpectrumKernel(k=[3, 4])) == "spectrum:k=3+4"


def test_lists_by_nature_are_values():
    texts = ("motif:motifs=TATA,GATA", "shifted_weighted_degree:shift=1,2", "spectrum:k=1+2,weights=1,0.5")
    for text in texts:
        assert len(spec_alternatives(text)) == 1
    found = spec_alternatives("combination:parts=[(spectrum:k=3,4),linear],weights=mkl")
    assert [one["parts"][0]["k"] for one in found] == [3, 4]


def test_a_list_that_was_a_sum_is_told_once(capsys):
    for text, line in (
        ("spectrum:k=[3,4]", "k=[3,4] tries 3 and 4; for one kernel of both write k=3+4"),
        ("spectrum:k=3|4", ""),
        ("spectrum:k=3+4", ""),
    ):
        with reporting():
            read_kernel(text)
        assert capsys.readouterr().err == (line and f"seqkern: {line}\n")


def test_one_meaning_in_text_and_in_a_configuration():
    text = [entry.kernel for entry in read_kernel("rbf:gamma=0.1|1,base=(spectrum:k=2|3)").candidates]
    given = {"kernel": "rbf", "gamma": "0.1|1", "base": {"kernel": "spectrum", "k": "2|3"}}
    assert [kernel.spec() for kernel in text] == [entry.kernel.spec() for entry in read_kernel(given).candidates]
    assert len(text) == 4
    assert (
        expand_grid("csvc:C=0.1|1|10")
        == expand_grid("csvc:C=[0.1,1,10]")
        == expand_grid({"solver": "csvc", "C": "0.1|1|10"})
    )


def test_kernels_with_alternatives_are_a_choice_with_distinct_names():
    choice = read_kernel("mismatch:k=4|5,m=1|2")
    assert isinstance(choice, KernelChoice)
    assert len({entry.name for entry in choice.candidates}) == 4


@pytest.mark.parametrize("text", ["spectrum:k=3|", "spectrum:k=|3", "spectrum:k=3||4"])
def test_an_empty_alternative_is_an_error(text):
    with pytest.raises(ParameterError, match="is empty"):
        spec_alternatives(text)


def test_where_nothing_is_chosen_alternatives_are_refused():
    with pytest.raises(ParameterError, match="alternatives"):
        build_kernel("spectrum:k=3|4")


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), ("1.5m", 90), (30, 30)])
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10 minutes", "-5m", "0", "m"])
def test_what_is_not_a_duration(text):
    with pytest.raises(ParameterError, match="not a duration"):
        parse_duration(text)
