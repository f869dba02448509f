"""How large studies divide over the nodes of a cluster: jobs, hours, loads, and what breaks first.

python benchmarks/division.py [NODES]

Predictions: costs per job as measured with Snakemake 9.27 and its executor for SLURM 2.8 on two nodes of one computer,
costs of kernels by their planner, of scanning as in docs/performance.md. Change the constants to those of your cluster.
"""

import sys
from dataclasses import dataclass

from common import random_strings

from seqkern.kernels import build_kernel

CORES = 32
"""Of a node."""
SHARED_CALLS = 50_000
"""Calls a second that a shared file system answers (assumed)."""
SHARED_BYTES = 2e9
"""Bytes a second that a shared file system moves (assumed)."""

SNAKEMAKE_SECONDS, COMMAND_SECONDS = 1.8, 1.9
"""CPU seconds of a Snakemake that runs one job, and of seqkern evaluate on 50 sequences: nearly all imports."""
SNAKEMAKE_CALLS, COMMAND_CALLS = 19_700, 16_400
"""File system calls of the same (counted by strace), nearly all on installed packages."""
SUBMISSION = 0.05
"""Seconds of an sbatch (assumed; 0.005 on the idle SLURM of tests/cluster); the executor sends two at a time."""
GRAPH_SECONDS, GRAPH_BYTES = 2.6e-3, 42e3
"""CPU seconds and bytes of the main Snakemake for each job of a rule (a study of 625 jobs against one of 11)."""
QUEUE = 10_000
"""Jobs that slurmctld keeps (its default MaxJobCount)."""
HOUR = 3600.0


@dataclass
class Division:
    """A study cut into jobs of rules, and those grouped into jobs of SLURM."""

    name: str
    jobs: float
    seconds: float
    """CPU seconds of work, overhead not counted."""
    moved: float
    """Bytes read and written on the shared file system."""
    least_hours: float = 0.0
    """Of the longest job."""
    group: int = 1

    def row(self, nodes):
        """Return the cells of a table; the last names the longest of the times: what breaks first."""
        submitted = self.jobs / self.group
        # a job of SLURM is a Snakemake, which starts another for each of its jobs
        overhead = submitted * SNAKEMAKE_SECONDS + self.jobs * (SNAKEMAKE_SECONDS + COMMAND_SECONDS)
        calls = submitted * SNAKEMAKE_CALLS + self.jobs * (SNAKEMAKE_CALLS + COMMAND_CALLS)
        times = {
            "CPUs": max((self.seconds + overhead) / (nodes * CORES), self.least_hours * HOUR),
            "calls": calls / SHARED_CALLS,
            "bytes": self.moved / SHARED_BYTES,
            "sbatch": submitted * SUBMISSION / 2,
            "graph": self.jobs * GRAPH_SECONDS,
        }
        first = max(times, key=times.get)
        return [
            self.name,
            f"{submitted:,.0f}",
            f"{self.seconds / HOUR:,.1f}",
            f"{overhead / HOUR:,.1f}",
            *(f"{times[name] / HOUR:,.2f}" for name in times),
            f"{self.moved / 1e9:,.0f}",
            f"{self.jobs * GRAPH_BYTES / 1e9:,.1f}",
            first,
        ]


def evaluations(count=1_000_000, seconds=10.0, size=100e6):
    """Yield divisions of many evaluations that read a matrix of `size` bytes each."""
    name = f"{count:,} evaluations of {seconds:g} s"
    yield Division(f"{name}, one job each", count, count * seconds, count * size)
    yield Division(f"{name}, groups of 20", count, count * seconds, count * size, group=20)
    shares = count * seconds / 600  # each reads its matrix once
    yield Division(f"{name}, shares of 10 minutes", shares, count * seconds, shares * size)


def gram(n=1_000_000, length=100):
    """Yield divisions of the Gram matrix of many records, which is written in tiles and read by ten folds."""
    kernel = build_kernel({"kernel": "gapped_kmer", "l": 10, "k": 6})
    few = 4000
    seconds = kernel.plan(random_strings(few, length, "ACGT")).seconds * (n / few) ** 2
    size = 4.0 * n * n
    for tiles in (1000, 20_000):
        name = f"{n:,} records, gapped (10,6), float32 matrix, {tiles:,} tiles"
        yield Division(name, tiles, seconds, size / 2 + size + 10 * size)
    # linear_svc: docs/performance.md, weighted degree 20 on a million windows
    yield Division(f"{n:,} records, linear_svc without a matrix, 10 folds", 10, 10 * 58.0, 10 * 141 * n, 58 / HOUR)


def genome(bases=3.1e9, rate=1.8e6):
    """Yield divisions of scanning a genome on both strands; each job reads the genome up to its region."""
    for what, candidates in (("AG sites", 2 * bases / 16), ("every base", 2 * bases)):
        for name, jobs in (("chromosomes", 24), ("regions of 1 Mb", bases / 1e6)):
            seconds = candidates / rate
            longest = 0.08 if jobs == 24 else 1 / jobs  # chromosome 1
            yield Division(f"genome, {what}, {name}", jobs, seconds, jobs * bases / 2, longest * seconds / HOUR)


def main():
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    names = ["study", "SLURM jobs", "CPU hours of work", "of overhead"]
    names += [f"hours of {what}" for what in ("CPUs", "calls", "bytes", "sbatch", "graph")]
    names += ["GB moved", "GB of graph", "longest"]
    print(f"{nodes} nodes of {CORES} cores")
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for division in (*evaluations(), *gram(), *genome()):
        print(f"| {' | '.join(division.row(nodes))} |")
    print(f"\nAt most {QUEUE:,} jobs are in SLURM's queue; --jobs keeps Snakemake below.")


if __name__ == "__main__":
    main()
