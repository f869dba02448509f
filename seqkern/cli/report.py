"""``seqkern report``: the page and the tables of a study."""

from __future__ import annotations

import argparse

EXAMPLE = "seqkern report results/demo -o results/demo/report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern report``.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("results", help="folder of a study's results, such as results/demo")
    parser.add_argument(
        "--study",
        help="the study's configuration as JSON (default: config.yaml in it or its report/)",
    )
    parser.add_argument("-o", "--output", help="folder for the report (default: report/ in the results folder)")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern report``.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    import json
    from pathlib import Path

    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import ConfigError
    from seqkern.report import build_report

    config = None
    if args.study is not None:
        try:
            config = json.loads(args.study)
        except json.JSONDecodeError as error:
            raise ConfigError(f"--study is not JSON: {error}", remedy="leave it out, or quote it") from error
    print(build_report(args.results, args.output or Path(args.results) / "report", config))
