"""``seqkern init``: put the workflow and a configuration into an empty folder."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

EXAMPLE = "seqkern init mystudy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("folder", help="a new or empty folder for the study")
    parser.add_argument("--demo", action="store_true", help="use the demo's configuration, which needs no data")
    parser.add_argument("--profile", choices=("slurm",), help="also copy this profile of Snakemake, to edit")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern init``."""
    # imported here to keep --help fast
    from seqkern.study.workflow import STARTER, write_workflow

    name = re.sub(r"[^\w.-]+", "_", Path(args.folder).resolve().name) or "study"
    path = write_workflow(args.folder, config=None if args.demo else STARTER.format(name=name), profile=args.profile)
    if not args.demo:
        print(f"edit {path}: enter your FASTA files")
    options = "--cores all"
    if args.profile:
        print(f"edit {Path(args.folder, 'profiles', args.profile, 'config.yaml')}: enter partition and account")
        options = f"--workflow-profile profiles/{args.profile}"
    print(f"then run: cd {shlex.quote(args.folder)} && snakemake {options}")
