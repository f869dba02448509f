"""The report's section on residues: numbers against naive ones, a chain's track, letters that matter."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from naive_states import naive_sov
from residue_sample import write_residue_study
from scipy.stats import t, wilcoxon
from test_report import Page

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.evaluation.residue_results import ChainShares, read_states
from seqkern.evaluation.single_task_tests import PairedDecisions
from seqkern.methods import compared as decision_tables
from seqkern.methods.compared import read_paired_decisions
from seqkern.methods.study_results import Method, StudyResults, read_table
from seqkern.report import build_report
from seqkern.report.markup import Markup, escape, text_of
from seqkern.report.residue_data import (
    chosen_chain,
    judged_residues,
    letter_order,
    weights_by_position,
)
from seqkern.report.sections.curves_and_errors import reliability_section, shown_bins
from seqkern.report.sections.data_sections import dataset_summary_section, folds_section
from seqkern.report.sections.features import features_section
from seqkern.report.sections.findings import caveats
from seqkern.report.sections.residues import importance_parts, residues_section, track_parts
from seqkern.report.view import View

BLOSUM, WINDOW = Method("blosum", "svm"), Method("window", "svm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_residue_study(tmp_path_factory.mktemp("residues") / "study")


@pytest.fixture(scope="module")
def page(folder):
    return build_report(folder, folder / "report").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def dataset(folder):
    return StudyResults(folder).datasets[0]


@pytest.fixture(scope="module")
def judged(dataset):
    return judged_residues(dataset, [BLOSUM, WINDOW])


def section(folder):
    return residues_section(View(StudyResults(folder).datasets[0], "d1"))


def small_study(folder, **what):
    """Return the View of a study of few chains, and its judged residues."""
    view = View(StudyResults(write_residue_study(folder, chains=4, **what)).datasets[0], "d1")
    return view, judged_residues(view.dataset, [BLOSUM])


def test_page_is_well_formed_and_has_the_section(page):
    Page(page)
    assert 'id="d1-residues"' in page
    assert 'href="#d1-residues"' in page
    assert "SOV'94 is often ten points higher" in text_of(Markup(page))


def test_methods_are_ranked_by_the_share_of_right_residues(dataset, page):
    view = View(dataset, "d1")
    assert view.ranking.metric == "q3"
    assert view.ranking.order == [BLOSUM, WINDOW]
    assert "residues, a window of 15 around each" in page
    assert "esidues of the same chain are not independent" in page
    assert "q:H" not in text_of(Markup(page))
    assert "SOV'99 of a state" in text_of(Markup(page))


def test_scores_are_pooled_over_all_chains(folder, judged):
    for method, one in judged.items():
        chains = read_states(folder / "evaluate" / "chains" / method.kernel / "svm" / "states.txt")
        lines = [[[None if s == "?" else s for s in line] for line in (c.true, c.predicted)] for c in chains]
        pairs = [(a, b) for true, predicted in lines for a, b in zip(true, predicted, strict=True) if a is not None]
        assert one.scores["q3"] == pytest.approx(np.mean([a == b for a, b in pairs]), rel=1e-12)
        assert one.scores["sov99"] == pytest.approx(naive_sov(lines, "99"), rel=1e-12)
        assert one.scores["sov94"] == pytest.approx(naive_sov(lines, "94"), rel=1e-12)
        assert one.scores["sov99:E"] == pytest.approx(naive_sov(lines, "99", "E"), rel=1e-12)


def test_verdicts_rest_on_chains(dataset, judged, page):
    """One difference for each chain decides, in the section on residues and where every pair is compared."""
    view = View(dataset, "d1")
    compared = view.comparisons["q3"]
    (one,) = compared.found
    differences = judged[BLOSUM].right - judged[WINDOW].right
    assert one.test.tasks == len(judged[BLOSUM].chains) == 12
    assert one.test.p == pytest.approx(wilcoxon(differences, method="exact").pvalue)
    assert (one.test.wins, one.test.losses) == ((differences > 0).sum(), (differences < 0).sum())
    text = text_of(Markup(page))
    assert "McNemar" not in text
    assert f"better in {one.test.wins} of 12 chains" in text
    assert "esidues of the same chain are not independent" in text


def test_intervals_are_by_chain(folder, dataset, judged, page):
    """The standard error is that of a ratio over chains, the same from decisions and from states."""
    rows = [row for row in read_tsv(folder / "report" / "intervals.tsv") if row["kernel"] == "blosum"]
    assert [(row["metric"], row["how"]) for row in rows] == [("q3", "chains")]
    one = judged[BLOSUM]
    n = np.bincount(one.chain)
    share = np.mean(one.true == one.predicted)
    se = np.sqrt(12 / 11 * np.sum((n * (one.right - share)) ** 2)) / n.sum()
    assert float(rows[0]["value"]) == pytest.approx(share)
    assert float(rows[0]["se"]) == pytest.approx(se)
    assert float(rows[0]["high"]) == pytest.approx(share + t.ppf(0.975, 11) * se)
    assert one.interval == pytest.approx([float(rows[0][key]) for key in ("value", "se", "low", "high")])


def test_compare_is_by_chain(folder, capsys):
    for words, fails in (((), 0), (("--metric", "accuracy"), 0), (("--metric", "auc"), 1)):
        assert main(["compare", str(folder), *words]) == fails
        out, err = capsys.readouterr()
        assert "McNemar" not in out
        assert ("2 methods on 12 chains" in out) != bool(fails)
        assert ("metric to compare chains by" in err) == bool(fails)
    folders = [str(folder / "evaluate" / "chains" / kernel / "svm") for kernel in ("blosum", "window")]
    assert main(["compare", *folders, "--format", "tsv"]) == 0
    assert "\twilcoxon\t" in capsys.readouterr().out


def test_a_chain_in_several_test_parts_is_one():
    """Its residues of all parts count together; a chain that a method lacks has no share."""
    ids = np.array(["a:x:1", "a:x:2", "b:1", "a:x:1"])
    labels = np.array([0, 1, 1, 0])
    paired = PairedDecisions(
        "multiclass", ids, np.array(["1", "1", "2", "2"]), labels, {}, {"m": np.array([0, 0, -1, 0])}, {}
    )
    shares = ChainShares(paired)
    assert shares.names == ["a:x", "b"]
    np.testing.assert_array_equal(shares.shares(["m"])["m"], [2 / 3, np.nan])
    np.testing.assert_array_equal(shares.interval("m"), [2 / 3, np.nan, np.nan, np.nan])


def test_chains_are_counted(tmp_path):
    """Few chains are told of, however many residues they have, and layers learned from less than 50 of them."""
    folder = write_residue_study(tmp_path / "study", chains=30)
    view = View(StudyResults(folder).datasets[0], "d1")
    tested = [one.name for one in read_states(folder / "evaluate" / "chains" / "blosum" / "svm" / "states.txt")]
    assert sum(one["test"] for one in view.chain_counts.values()) == len(tested) == 30
    assert all(one["test"] + one["train"] == 30 for one in view.chain_counts.values())
    least = min(one["test"] for one in view.chain_counts.values())
    told = [text_of(sentence) for sentence in caveats(view)]
    (few,) = [one for one in told if "the test set has fewer than 10 chains" in one]
    assert f"as few as {least} chains" in few
    assert not any("layers" in one for one in told)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config["solvers"]["svm"]["layers"] = ["structure"]
    view = View(StudyResults(folder, config).datasets[0], "d1")
    told = [text_of(sentence) for sentence in caveats(view)]
    (layers,) = [one for one in told if "the layers of blosum with svm and window with svm" in one]
    assert "in 3 of 3 splits the training set has fewer than 50 chains" in layers
    assert "30 chains of" in text_of(dataset_summary_section(view))
    text = text_of(folds_section(view))
    assert "Training: chains" in text
    assert "Test: chains" in text


def test_without_tables_of_folds_no_chains_are_counted(tmp_path):
    folder = write_residue_study(tmp_path / "study", chains=4)
    (folder / "folds" / "chains" / "all.tsv").unlink()
    view = View(StudyResults(folder).datasets[0], "d1")
    assert view.chain_counts == {}
    assert "Training: chains" not in text_of(folds_section(view))
    assert not any("chains (" in text_of(sentence) for sentence in caveats(view))


def test_no_best_sov94_is_marked(page):
    """It rewards helices that are cut to pieces; SOV'99 has its star."""
    cut = page[page.index('id="d1-residues"') :]
    first = cut[cut.index("<tbody>") : cut.index("</tr>", cut.index("<tbody>"))]
    cells = first.split("<td")[1:]
    assert ["★" in cell for cell in cells[:5]] == [True, False, False, True, True]


def test_shares_of_residues_have_no_intervals_of_independent_units():
    positive, p = np.arange(40) % 3 > 0, np.linspace(0, 1, 40)
    for residues in (True, False):
        bins = shown_bins(SimpleNamespace(residues=residues), positive, p)
        assert all((one.low == one.observed == one.high) == residues for one in bins if 0 < one.observed < 1)
        assert any(0 < one.observed < 1 for one in bins)


def test_coefficients_with_intervals(tmp_path):
    folder = write_residue_study(tmp_path / "study", chains=6)
    columns = ["task", "split", "class", "feature", "column", "selected", "weight", "low", "high"]
    columns += ["full_weight", "full_low", "full_high"]
    rows = [
        ("all", split, state, letter, 1, int(split == "1" or letter == "A"), w, w - 1, w + 1, 0.0, -2.0, 2.0)
        for split, w in (("1", 0.5), ("2", 1.0))
        for state in "HEC"
        for letter in "AC"
    ]
    rows = [row if row[5] else (*row[:6], "", "", "", *row[9:]) for row in rows]
    write_tsv(folder / "evaluate" / "chains" / "window" / "svm" / "intervals.tsv", columns, rows)
    view = View(StudyResults(folder).datasets[0], "d1")
    (parts,) = [text_of(features_section(view))]
    assert "Coefficients of window with svm" in parts
    assert "too narrow" in parts
    assert "means over 2 folds" in parts


def test_chosen_chain(judged):
    one = judged[BLOSUM]
    assert one.chains[chosen_chain(one, "1abc3")].name == "1abc3"
    assert chosen_chain(one, "nowhere") is None
    middle = chosen_chain(one)
    among = one.right[(one.lengths >= 60) & (one.lengths <= 200)]
    assert one.right[middle] == np.sort(among)[(len(among) - 1) // 2]


def test_track_of_the_configured_chain(tmp_path):
    view, judged = small_study(tmp_path / "a", track="1abc2")
    text = escape(track_parts(view, judged))
    assert "One chain: 1abc2:" in text
    assert "the median" not in text
    view, judged = small_study(tmp_path / "b", track="<9xyz>")
    missing = escape(track_parts(view, judged))
    assert "&lt;9xyz&gt;" in missing
    assert "was not tested" in text_of(missing)


def test_weights_by_position(dataset):
    found = weights_by_position(dataset.features, "HEC")
    assert found.values.shape == (3, 21, 15)
    assert found.letters == [*"IVLFCMAGTSWYPHDENQKR", "end"]
    assert found.places.tolist() == list(range(-7, 8))
    rows = dataset.features
    own = {}
    for row in rows[(rows["class"] == "E") & rows["feature"].str.startswith("2:")].itertuples():
        own.setdefault(row.feature[2:], []).append(float(row.weight))
    means = {letter: np.mean(values) for letter, values in own.items()}
    expected = means["K"] - np.mean(list(means.values()))
    assert found.values[1, found.letters.index("K"), 9] == pytest.approx(expected)
    other = dataset.features.assign(feature="CA")
    assert weights_by_position(other, "HEC") is None


def test_no_importance_without_weights(tmp_path):
    view, judged = small_study(tmp_path / "study", weights=False)
    assert importance_parts(view, judged) is None
    assert "the confidence, 0 to 9: decile of the margin" in text_of(escape(track_parts(view, judged)))
    assert letter_order(["end", "R", "x", "I"]) == ["I", "R", "x", "end"]


def test_eight_states(tmp_path):
    text = section(write_residue_study(tmp_path / "study", chains=6, classes="HGIEBTSC", masked=False))
    Page(text)
    assert "Q8" in text
    assert "Scores of each of 8 states" in text
    assert "3-10 helix (G)" in text
    assert "without label" not in text


def test_probabilities_of_each_state(tmp_path):
    folder = write_residue_study(tmp_path / "study", chains=6, probabilities=True)
    view = View(StudyResults(folder).datasets[0], "d1")
    text = reliability_section(view)
    assert text.count("<svg") == 2
    table = view.dataset.decisions(BLOSUM)
    shares = table[[f"probability:{state}" for state in "HEC"]].to_numpy()
    truth = np.array([["H", "E", "C"]]) == table["label"].to_numpy()[:, None]
    assert f"Brier {((shares - truth) ** 2).sum(axis=1).mean():.3f}" in text_of(text)
    constant = 1 - (truth.mean(axis=0) ** 2).sum()
    assert f"(constant {constant:.3f})" in text_of(text)
    one = read_states(folder / "evaluate" / "chains" / "blosum" / "svm" / "states.txt")[0]
    row = table[table["id"] == f"{one.name}:1"].iloc[0]
    margin = np.sort([row[f"probability:{state}"] for state in "HEC"])
    assert int(one.confidence[0]) == int(10 * (margin[2] - margin[1]))


def test_equal_tables_are_read_as_unequal_ones(folder, dataset, monkeypatch):
    fast = read_paired_decisions(dataset)
    monkeypatch.setattr(decision_tables, "_all_alike", lambda tables: False)
    slow = read_paired_decisions(dataset)
    for name in ("ids", "splits", "labels"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name))
    for method in (BLOSUM, WINDOW):
        assert np.array_equal(fast.predicted[method], slow.predicted[method])


def test_numbers_of_a_table_with_gaps(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tdecision\n1\t0.5\n2\t\n3\tnone\n")
    table = read_table(path, ["id"], ("decision",))
    assert table["id"].tolist() == ["1", "2", "3"]
    assert np.array_equal(table["decision"], [0.5, np.nan, np.nan], equal_nan=True)


def test_other_data_sets_have_no_section(tmp_path, folder):
    for path in (folder / "evaluate").rglob("states.txt"):
        copy = tmp_path / "evaluate" / path.relative_to(folder / "evaluate")
        copy.parent.mkdir(parents=True)
        (copy.parent / "metrics.tsv").write_bytes((path.parent / "metrics.tsv").read_bytes())
        copy.write_text(path.read_text().split("\n")[0] + "\n")
    (tmp_path / "datasets").symlink_to(folder / "datasets")
    (tmp_path / "config.yaml").write_bytes((folder / "config.yaml").read_bytes())
    assert section(tmp_path) is None


def test_gaps_are_told(page):
    assert "Residues without a label are not scored" in page


def test_methods_that_take_all_features_select_none(dataset):
    assert features_section(View(dataset, "d1")) is None
