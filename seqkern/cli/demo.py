"""``seqkern demo``: run the demo in an empty folder, from generated sequences to the report."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

EXAMPLE = "seqkern demo demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("folder", nargs="?", default="seqkern-demo", help="new or empty (default: seqkern-demo)")
    parser.add_argument("--cores", default="all", help="as Snakemake has them (default: all)")


def run(args: argparse.Namespace) -> int:
    """Run ``seqkern demo``.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.

    Returns
    -------
    int
        Snakemake's exit code.
    """
    from seqkern.study.workflow_files import write_workflow  # loaded when the verb runs

    write_workflow(args.folder)
    command = [sys.executable, "-m", "snakemake", "--cores", args.cores, "--quiet", "rules"]
    # the rules call seqkern, which stands beside this Python
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    return subprocess.run(command, cwd=args.folder, env={**os.environ, "PATH": path}, check=False).returncode
