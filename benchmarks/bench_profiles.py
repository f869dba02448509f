"""Profiles: PSI-BLAST's PSSMs read, the profile kernel on them, profiles built by search.

CPU seconds of the process, one thread, medians after a warm-up. Data: jpred4 (1,348 domains with real PSSMs) and the
3,397 domains of EDD, of which every 85th is searched against all.

Run it: ``python benchmarks/bench_profiles.py [repeats]``, which prints a table.
"""

import sys
import tempfile

from common import DATA, cpu_seconds, start_table

from seqkern import read_fasta
from seqkern.formats import profile_sources
from seqkern.formats.profile_sources import ProfileFiles, ProfileSearch
from seqkern.kernels import ProfileKernel

JOBS = [(5, 7.5), (5, 8.5), (4, 6)]
STEP = 85


def main(repeats):
    """Print the table."""
    X = read_fasta(DATA / "jpred4" / "training_1348.fasta", "protein", unknown="mask")
    files = DATA / "jpred4" / "training_1348_psiblast_profile.tar.xz"
    row = start_table("job", "algorithm", "predicted", "CPU s")
    row("1,348 PSSMs read", "", "", f"{cpu_seconds(lambda: ProfileFiles(files).add_to(X), repeats):.2f}")
    X = ProfileFiles(files).add_to(X)
    for k, sigma in JOBS:
        for algorithm in ("neighbours", "trie"):
            kernel = ProfileKernel(k, sigma, algorithm=algorithm, short="zero", zero_diagonal="zero", n_threads=1)
            seconds = cpu_seconds(lambda kernel=kernel: kernel(X), repeats)
            predicted = kernel.plan(X).seconds
            row(f"`profile:k={k},sigma={sigma}` on them", algorithm, f"{predicted:.2f}", f"{seconds:.2f}")
    row(*_search())


def _search():
    """Return the row of a search."""
    Y = read_fasta(DATA / "edd_homology" / "EDD.fasta", "protein", unknown="mask")
    some = Y.take(slice(None, None, STEP))
    search = ProfileSearch(Y)

    def job():
        profile_sources.MEMORY.clear()
        with tempfile.TemporaryDirectory() as folder:
            search.add_to(some, n_threads=1, cache=profile_sources.ProfileCache(folder))

    seconds = cpu_seconds(job, 1)
    return f"{len(some)} domains searched against 3,397", "", f"{search.seconds(some):.2f}", f"{seconds:.2f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
