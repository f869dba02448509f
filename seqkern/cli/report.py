"""``seqkern report``: the HTML report and the tables of a study."""

from __future__ import annotations

from seqkern.cli.requests_studies import ReportRequest


def run(args: ReportRequest) -> None:
    """Run ``seqkern report``."""
    # imported here to keep --help fast
    import json
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.errors import ConfigError
    from seqkern.report.page import build_report

    config = None
    if args.study is not None:
        try:
            config = json.loads(args.study)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"--study is not JSON: {error}", remedy="quote the argument in the shell, or remove it"
            ) from error
    print(build_report(args.results, args.output or Path(args.results) / "report", config))
