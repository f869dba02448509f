"""The kernel parameters that a search tries by default."""

import pytest

from seqkern.evaluation.auto import GRIDS, Traits, kernel_grid
from seqkern.kernels import build_kernel

DNA = Traits("dna", n=40, shortest=60, median=60, longest=60, total=2400)
PROTEIN = Traits("protein", n=40, shortest=60, median=90, longest=300, total=4000)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("traits", [DNA, PROTEIN])
def test_every_point_is_a_different_kernel(name, traits):
    kernels = [build_kernel(spec) for spec in kernel_grid({"kernel": name}, traits)]
    assert len({kernel.identity() for kernel in kernels}) == len(kernels) > 1


def test_given_parameters_are_kept():
    found = kernel_grid({"kernel": "gapped_kmer", "l": 8, "reverse_complement": True}, DNA)
    assert found == [{"kernel": "gapped_kmer", "l": 8, "reverse_complement": True, "k": 5}]
    assert kernel_grid({"kernel": "gapped_kmer", "l": 9}, DNA) == [{"kernel": "gapped_kmer", "l": 9}]
    assert kernel_grid({"kernel": "gapped_kmer", "l": 8, "k": 4}, DNA) == [{"kernel": "gapped_kmer", "l": 8, "k": 4}]


def test_kernels_made_of_kernels_stay_as_given():
    spec = {"kernel": "sum", "parts": [{"kernel": "spectrum"}]}
    assert kernel_grid(spec, DNA) == [spec]
