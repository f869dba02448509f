"""The section of the report of the tutorial in CONTRIBUTING.md."""

from typing import Any

from seqkern.report.view import View, section


@section("lengths", "Lengths")
def lengths_section(view: View) -> dict[str, Any] | None:
    """Find the median length; None, for no section, without a summary."""
    summary = view.dataset.summary
    return None if summary is None else {"median": summary["length"]["median"]}
