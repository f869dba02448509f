"""Work shared among threads: every item once, and no more threads than given."""

import threading

import numpy as np
import pytest

from seqkern.core.threads import GIVEN_THREADS, given_threads, in_spans, in_threads
from seqkern.kernels import GappyKernel, SpectrumKernel
from seqkern.kernels.kmer import kmers
from seqkern.kernels.products import product


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("n", "least"), [(0, 1), (1, 1), (7, 3), (100, 3), (1000, 1)])
def test_spans_cover_every_item_once(threads, n, least):
    done = []
    with given_threads(threads):
        in_spans(lambda start, stop: done.append((start, stop)), n, least)
    assert [item for start, stop in sorted(done) for item in range(start, stop)] == list(range(n))
    assert len(done) == 1 or all(stop - start >= least for start, stop in done)
    assert (len(done) == 1) == (threads == 1 or n < 2 * least)


def test_one_thread_is_the_callers():
    assert in_threads([threading.get_ident] * 3, 1) == [threading.get_ident()] * 3


def test_tasks_start_no_threads_of_their_own():
    assert in_threads([GIVEN_THREADS.get] * 4, 2) == [1] * 4


def test_sets_are_prepared_alike_by_any_number_of_threads(monkeypatch):
    for module, name in ((kmers, "LEAST_RECORDS"), (kmers, "LEAST_WINDOWS"), (product, "LEAST_TILES")):
        monkeypatch.setattr(module, name, 1)
    monkeypatch.setattr(product, "bitmaps_are_cheaper", lambda *_: True)
    X = ["".join(row) for row in np.random.default_rng(4).choice([*"ACGT"], (2100, 12))]
    for kernel in (SpectrumKernel(3, reverse_complement=True), GappyKernel(4, 2, algorithm="neighbours")):
        first, second = (kernel.set_params(n_threads=threads).prepare(X).payload.blocks[0] for threads in (1, 3))
        for name in ("start", "feature", "count"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        np.testing.assert_array_equal(first.bitmaps.bounds, second.bitmaps.bounds)
        np.testing.assert_array_equal(first.bitmaps.bits, second.bitmaps.bits)
