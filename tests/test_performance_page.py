"""docs/performance.md has only tables that benchmarks/run_all.py can make again."""

import re

from conftest import ROOT

PAGE = (ROOT / "docs/performance.md").read_text("utf-8")


def test_every_command_above_a_table_names_a_script():
    blocks = re.findall(r"^```\n([^`]*?)\n```\n\n<!-- printed", PAGE, re.MULTILINE)
    scripts = re.findall(r"python (\S+\.py)", "\n".join(blocks))
    assert len(scripts) >= 30
    assert [name for name in scripts if not (ROOT / name).is_file()] == []


def test_every_command_has_run():
    assert "not run yet" not in PAGE
    assert PAGE.count("<!-- printed") + PAGE.count("<!-- machine -->") == PAGE.count("<!-- end -->")
