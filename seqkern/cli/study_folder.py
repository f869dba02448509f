"""``seqkern init`` and ``seqkern demo``: the folder of a new study, and a demo in one."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


class Init:
    """``seqkern init``: put the workflow and a configuration into an empty folder."""

    EXAMPLE = "seqkern init mystudy"

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.add_argument("folder", help="a new or empty folder for the study")
        parser.add_argument("--demo", action="store_true", help="use the demo's configuration, which needs no data")
        parser.add_argument("--profile", choices=("slurm",), help="also copy this profile of Snakemake, to edit")

    @staticmethod
    def run(args: argparse.Namespace) -> None:
        """Run ``seqkern init``."""
        # imported here to keep --help fast
        from seqkern.study.workflow import STARTER, write_workflow

        name = re.sub(r"[^\w.-]+", "_", Path(args.folder).resolve().name) or "study"
        path = write_workflow(
            args.folder, config=None if args.demo else STARTER.format(name=name), profile=args.profile
        )
        if not args.demo:
            print(f"edit {path}: enter your FASTA files")
        options = "--cores all"
        if args.profile:
            print(f"edit {Path(args.folder, 'profiles', args.profile, 'config.yaml')}: enter partition and account")
            options = f"--workflow-profile profiles/{args.profile}"
        print(f"then run: cd {shlex.quote(args.folder)} && snakemake {options}")


class Demo:
    """``seqkern demo``: run the demo in an empty folder, from simulated sequences to the report."""

    EXAMPLE = "seqkern demo demo"

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.add_argument(
            "folder",
            nargs="?",
            default="seqkern-demo",
            help="new or empty folder, or that of a stopped demo (default: seqkern-demo)",
        )
        parser.add_argument("--cores", default="all", help="number of cores for Snakemake (default: all)")

    @staticmethod
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
