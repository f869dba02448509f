"""A SLURM on this computer; tests are skipped where none can be started."""

import pytest
from loopback_slurm import LoopbackSlurm, reason_to_skip


@pytest.fixture(scope="session")
def slurm():
    """Return a running SLURM of two nodes."""
    pytest.importorskip("snakemake")
    reason = reason_to_skip()
    if reason:
        pytest.skip(reason)
    with LoopbackSlurm() as running:
        yield running
