"""A few random cases in every run of the suite; ``run_fuzz_kernels.py`` runs them for hours."""

import os
import time
from collections import Counter

import fuzz_cases
import kernel_cases
import numpy as np
import pytest
import run_fuzz_kernels

from seqkern.kernels import MismatchKernel
from seqkern.sequences.sequence_set import SequenceSet


@pytest.mark.parametrize("number", [*range(20), *(pytest.param(n, marks=pytest.mark.nightly) for n in range(20, 60))])
def test_random_case(number):
    _, outcome, text = fuzz_cases.run_case(19, number)
    assert outcome in ("passed", "refused"), text


def test_most_cases_are_not_refused():
    assert sum(fuzz_cases.run_case(20, number)[1] == "passed" for number in range(30)) >= 15


def test_a_case_that_fails_hangs_or_ends_its_process_is_counted_and_the_others_run(monkeypatch):
    def run_case(seed, number, note):
        note(f"drawn {number}")
        time.sleep(60 if number == 5 else 0.01)
        if number == 3:
            os._exit(7)
        return "kernel", "failed" if number == 2 else "passed", "what it was"

    monkeypatch.setattr(fuzz_cases, "run_case", run_case)
    monkeypatch.setattr(fuzz_cases, "WAITS", 2)
    said = []
    outcomes = fuzz_cases.run_cases(7, 60, last=9, report=said.append)
    assert (outcomes["kernel failed"], outcomes["crashed"], outcomes["hung"]) == (1, 1, 1)
    assert outcomes["kernel passed"] == 6
    assert said[0] == "case 2 of seed 7: what it was"
    assert said[1] == "case 3 of seed 7: crashed, exit status 7: drawn 3"
    assert said[2].startswith("case 5 of seed 7: hung")


def test_products_that_need_too_much_memory_are_not_computed(monkeypatch):
    """The neighbours of 8-mers of proteins with up to 4 mismatches take 84 GB."""
    X = SequenceSet.from_strings(["ACDEFGHIKLMNPQRSTVWY" * 6], "protein")
    kernel = MismatchKernel(k=8, m=4, algorithm="subsets")
    monkeypatch.setattr(MismatchKernel, "_operator", None)
    kernel_cases.compare_products(kernel, X, kernel(X), np.random.default_rng(0))


def test_the_exit_status_tells_whether_anything_failed(monkeypatch, capsys):
    for outcomes, status in ({"kernel passed": 3, "solver refused": 1}, 0), ({"kernel passed": 3, "crashed": 1}, 1):
        monkeypatch.setattr(run_fuzz_kernels, "run_cases", lambda *_, outcomes=outcomes: Counter(outcomes))
        monkeypatch.setattr("sys.argv", ["run_fuzz_kernels.py"])
        assert run_fuzz_kernels.main() == status
        assert "4 cases" in capsys.readouterr().out
