"""Alternatives in specs: what they stand for, and where they are refused."""

import pytest

from seqkern.core.declarations import alternatives, spec_alternatives
from seqkern.core.errors import ParameterError
from seqkern.core.progress import parse_duration
from seqkern.kernels import build_kernel
from seqkern.solvers import expand_grid
from seqkern.study.kernel_entries import KernelChoice, read_kernel


def test_every_combination_once_and_in_order():
    found = alternatives("gapped_kmer:l=10|11,k=6|7,d=3")
    assert found == [f"gapped_kmer:l={length},k={k},d=3" for length in (10, 11) for k in (6, 7)]
    assert alternatives("spectrum:k=3|3|4") == ["spectrum:k=3", "spectrum:k=4"]


def test_lists_and_ranges_stay_one_kernel():
    for text in ("spectrum:k=[3,4,6]", "spectrum:k=1-3", '{"kernel": "spectrum", "k": [3, 4]}'):
        assert alternatives(text) == [text]
    assert build_kernel("spectrum:k=[3,4,6]").k == [3, 4, 6]


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
