"""``seqkern report``: the HTML report and the tables of a study."""

from __future__ import annotations

import argparse

from seqkern.cli.output import add_spreadsheet_safe

EXAMPLE = "seqkern report results/demo -o results/demo/report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern report``."""
    parser.add_argument("results", help="results folder of a study, such as results/demo")
    parser.add_argument(
        "--study",
        help="the study's configuration: a file or JSON (default: config.yaml in the results folder or its report/)",
    )
    parser.add_argument("-o", "--output", help="output folder (default: report/ in the results folder)")
    add_spreadsheet_safe(parser)


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern report``."""
    # imported here to keep --help fast
    import json
    import os
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.errors import ConfigError
    from seqkern.report.page import build_report
    from seqkern.study.study import Study

    config = None
    if args.study is not None and os.path.isfile(args.study):
        config = Study.load(args.study).settings_of("report")
    elif args.study is not None:
        try:
            config = json.loads(args.study)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"--study is not JSON: {error}", remedy="quote the argument in the shell, or remove it"
            ) from error
    print(build_report(args.results, args.output or Path(args.results) / "report", config))
