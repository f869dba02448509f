"""What the report says about similar sequences."""

from types import SimpleNamespace

import pandas as pd
import pytest

from seqkern.evaluation.leakage import SIMILAR
from seqkern.report.markup import text_of
from seqkern.report.sections.data_sections import grouping_sentence


def view_of(*rows):
    table = pd.DataFrame([dict(zip(SIMILAR, row, strict=True)) for row in rows], columns=list(SIMILAR))
    return SimpleNamespace(dataset=SimpleNamespace(similar=table), chain_counts={}, data_text=lambda text: text)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], ""),
        ([("all", "20", "0", "0", "1", "0", "", "folds", "")], ""),
        (
            [("all", "4000", "812", "190", "23", "2", "", "folds", "")],
            " 812 of 4,000 sequences are similar to others, in 190 groups (largest 23); each group was kept together "
            "in folds. 2 weak links were removed to split oversized groups.",
        ),
        (
            [("a", "20", "4", "2", "2", "0", "", "", "class 'x' has 1 group")],
            " 4 of 20 sequences are similar to others, in 2 groups (largest 2); they were not kept together. "
            "Exception: class 'x' has 1 group.",
        ),
        (
            [("all", "20", "0", "0", "1", "0", "", "", "variant library: 20 sequences")],
            " No group of similar sequences was kept together (variant library: 20 sequences).",
        ),
    ],
)
def test_sentence(rows, expected):
    assert text_of(grouping_sentence(view_of(*rows))) == expected
