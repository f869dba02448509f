"""What is predicted to take long is said before it starts, and refused above a limit."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.core.progress import reporting
from seqkern.gram import compute_gram, compute_tile
from seqkern.kernels import FisherKernel, RandomFourierKernel, SmithWatermanKernel
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.kernels.kernel_table import KERNELS
from seqkern.kernels.prepared import Plan
from seqkern.sequences.sequence_set import SequenceSet


def random_set(lengths, size=20, alphabet="protein", seed=0):
    """Return random records."""
    rng = np.random.default_rng(seed)
    letters = "ACDEFGHIKLMNPQRSTVWY" if size == 20 else "ACGT"
    return SequenceSet.from_strings(["".join(rng.choice(list(letters), n)) for n in lengths], alphabet)


class Slow(Kernel):
    """Predicts 200 hours of a common core, and starts at once."""

    def plan(self, X, Y=None):
        return Plan("direct", seconds=360_000.0)

    def _prepare(self, X, like):
        raise AssertionError("started")


@pytest.mark.parametrize("work", [Slow(), lambda X: compute_gram(Slow(), X)])
def test_more_than_a_hundred_hours_are_refused_unless_the_user_allows_them(work, monkeypatch):
    words = r"about 8.3 days of one processor core, more than the limit of 100 hours; .*; or set SEQKERN_MAX_HOURS=202"
    with pytest.raises(ParameterError, match=words):
        work(["ACGT", "GATTACA"])
    monkeypatch.setenv("SEQKERN_MAX_HOURS", "202")
    with pytest.raises(AssertionError, match="started"):
        work(["ACGT", "GATTACA"])


@pytest.mark.parametrize("text", ["soon", "0", "-3", "nan"])
def test_a_limit_that_is_not_a_number_of_hours_is_an_error(text, monkeypatch):
    monkeypatch.setenv("SEQKERN_MAX_HOURS", text)
    with pytest.raises(ParameterError, match=f"SEQKERN_MAX_HOURS={text} is not a number of hours; set it to"):
        Plan("direct").check()


def test_only_the_tiles_of_a_job_count(tmp_path):
    """A job of one of three tiles has a third of the hours."""
    X = ["ACGT"] * 1200
    with pytest.raises(AssertionError, match="started"):
        compute_tile(Slow(), X, None, 2, path=tmp_path / "gram.npy")
    with pytest.raises(ParameterError, match="more than the limit of 100 hours"):
        compute_tile(Slow(), X, None, [0, 1, 2], path=tmp_path / "gram.npy")


def test_commands_say_once_what_takes_longer_than_a_minute(capsys):
    Plan("direct", seconds=500.0).check()
    with reporting():
        Plan("direct", seconds=29.0).check()
        Plan("direct", seconds=2700.0).check()
        Plan("direct", seconds=2700.0).check()
    assert capsys.readouterr().err == "seqkern: about 1.5 hours of one processor core are predicted\n"


@pytest.mark.parametrize("spec", ["smith_waterman", "local_alignment"])
def test_idle_lanes_count(spec):
    """Two records beside each other take as long as a full vector of them."""
    kernel = build_kernel(spec)
    two, many = random_set([2000] * 2), random_set([200] * 20)
    assert kernel.plan(two).seconds > 3 * kernel.plan(many).seconds


def test_long_records_are_planned():
    """What took longer than 35 s was planned as .58 s; on a faster processor it is now 8 s, and planned as such."""
    X = SequenceSet.from_offsets(
        np.zeros(200_000, np.uint8), [0, 100_000, 200_000], ["a", "b"], random_set([1]).alphabet
    )
    assert SmithWatermanKernel().plan(X).seconds > 5
    for kernel in KERNELS.get("local_alignment").examples()[:3]:
        assert kernel.plan(X).seconds > 10


def test_fisher_checks_its_alignment_before_it_starts(monkeypatch):
    monkeypatch.setenv("SEQKERN_MAX_HOURS", "1e-6")
    with pytest.raises(ParameterError, match="more than the limit of 1e-06 hours"):
        FisherKernel().fit(random_set([900, 1000]))
    assert FisherKernel().plan(random_set([2000] * 2)).seconds > 50 * FisherKernel().plan(random_set([200] * 2)).seconds


def test_drawing_waves_is_planned():
    X = random_set([400] * 2)
    few, many = (RandomFourierKernel(build_kernel("window:gamma=0.05"), n_components=n).plan(X) for n in (20, 2000))
    assert many.seconds > 0.1 > few.seconds
    assert many.bytes > 1000 * 20 * 400 * 20  # a thousand waves of 20 letters at 400 positions
