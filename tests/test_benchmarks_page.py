"""docs/benchmark_protocol.md: commands that exist, and published values that have sources."""

import csv
import re

from conftest import ROOT

from seqkern.study import Study

PAGE = (ROOT / "docs/benchmark_protocol.md").read_text("utf-8")


def test_every_command_names_a_script_and_a_study():
    blocks = "\n".join(re.findall(r"^```\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL))
    for name in re.findall(r"python (\S+\.py)", blocks):
        assert (ROOT / name).is_file(), name
    studies = set(re.findall(r"config/\w+\.yaml", blocks))
    assert {"config/gue_mouse.yaml", "config/immrep22.yaml"} <= studies
    for name, kernels in re.findall(r"(config/\w+\.yaml) --kernels ([\w ]+?)(?: --|$)", blocks, re.MULTILINE):
        assert set(kernels.split()) <= set(Study.load(ROOT / name).kernels)


def test_published_values_have_a_source():
    with open(ROOT / "benchmarks/published.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) > 40
    for row in rows:
        assert row["source"]
        assert 0 < float(row["value"]) <= 1
        assert (ROOT / "config" / f"{row['study']}.yaml").is_file()
