"""``seqkern init``: put the workflow and a configuration into an empty folder."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

EXAMPLE = "seqkern init mystudy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("folder", help="a new or empty folder")
    parser.add_argument("--demo", action="store_true", help="with the configuration of the demo, which needs no data")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern init``.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    from seqkern.study.workflow_files import STARTER, write_workflow

    name = re.sub(r"[^\w.-]+", "_", Path(args.folder).resolve().name) or "study"
    path = write_workflow(args.folder, config=None if args.demo else STARTER.format(name=name))
    if not args.demo:
        print(f"{path}: name your FASTA files here")
    print(f"then run: cd {shlex.quote(args.folder)} && snakemake --cores all")
