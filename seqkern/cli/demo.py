"""``seqkern demo``: run the demo in an empty folder, from simulated sequences to the report."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

EXAMPLE = "seqkern demo demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "folder",
        nargs="?",
        default="seqkern-demo",
        help="new or empty folder, or that of a stopped demo (default: seqkern-demo)",
    )
    parser.add_argument("--cores", default="all", help="number of cores for Snakemake (default: all)")


def run(args: argparse.Namespace) -> int:
    """Run ``seqkern demo``."""
    # imported here to keep --help fast
    from seqkern.core.checkpoint import note_kept
    from seqkern.study.workflow import is_demo, write_workflow

    if not is_demo(args.folder):  # else one that was stopped goes on
        write_workflow(args.folder)
    command = [sys.executable, "-m", "snakemake", "--cores", args.cores, "--quiet", "rules"]
    # the rules call the seqkern command installed beside this Python
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    with subprocess.Popen(command, cwd=args.folder, env={**os.environ, "PATH": path}) as snakemake:
        try:
            return snakemake.wait()
        except KeyboardInterrupt:
            note_kept()
            snakemake.terminate()  # lets it end the jobs that are running, and remove its locks
            snakemake.wait()
            raise
