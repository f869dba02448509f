"""The audit of a study's official split: the tables, and the section of the report."""

import numpy as np
import pytest
from planted_overlaps import plant_overlaps

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds, write_folds
from seqkern.evaluation.ranking import roc_auc
from seqkern.methods import audited
from seqkern.methods.audited import parts_of
from seqkern.report import audit, build_report
from seqkern.report.audit_page import PLACE, write_tables
from seqkern.study import Study, make_dataset, save_dataset


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set with two tasks of given parts, and its folds."""
    home = tmp_path_factory.mktemp("made")
    train, test, kinds = plant_overlaps("dna", 40, 2)
    texts = [*train, *test]
    (home / "all.fa").write_text("".join(f">s{i}\n{text}\n" for i, text in enumerate(texts)))
    sides = ["train"] * len(train) + ["test"] * len(test)
    roles = [f"{('positive', 'negative')[i % 2]}-{side}" for i, side in enumerate(sides)]
    rows = [(f"s{i}", task, role) for task in "ab" for i, role in enumerate(roles)]
    (home / "tasks.tsv").write_text("id\ttask\trole\n" + "".join("\t".join(row) + "\n" for row in rows))
    data = make_dataset("d", {"fasta": "all.fa", "tasks": {"file": "tasks.tsv"}}, home)
    save_dataset(data, home / "data")
    for name, task in data.tasks.items():
        foldset = make_folds(task.labels, data.X, "predefined", task=name, roles=task.split)
        write_folds(home / "folds" / f"{name}.tsv", foldset)
    return home, data, kinds


def test_every_split_of_a_data_set_is_audited(made, tmp_path, capsys):
    home, _, kinds = made
    assert main(["audit", str(home / "data"), "--folds", str(home / "folds"), "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("10 of 20 test sequences (50%) overlap with training") == 2
    rows = read_tsv(tmp_path / "overlap.tsv")
    assert [row["kind"] for row in rows] == [kind for kind in kinds if kind] * 2
    assert {(row["task"], row["split"]) for row in rows} == {("a", "1"), ("b", "1")}
    assert not (tmp_path / "index.html").exists()


def test_of_many_splits_the_first_ones(made, tmp_path, capsys, monkeypatch):
    home, *_ = made
    monkeypatch.setattr(audited, "MOST_SPLITS", 1)
    assert main(["audit", str(home / "data"), "--folds", str(home / "folds"), "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "d: the first 1 of 2 splits were audited"


def test_a_study_goes_on_where_an_audit_does_not_fit_into_memory(made, tmp_path, capsys):
    home, *_ = made
    words = ["audit", str(home / "data"), "--folds", str(home / "folds"), "-o", str(tmp_path), "--memory", "1kB"]
    assert main(words) == 0
    assert "d: not audited: the audit needs" in capsys.readouterr().out
    assert read_tsv(tmp_path / "findings.tsv") == []


def test_only_official_splits_of_sequences_are_audited():
    entries = {
        "given": {"public": "tfbs_CTCF", "folds": {"method": "predefined"}},
        "drawn": {"public": "tfbs_CTCF", "folds": {"method": "stratified", "k": 5}},
        "residues": {"public": "jpred4", "residues": {"window": 15}, "folds": {"method": "predefined"}},
    }
    config = {
        "study": "s",
        "datasets": entries,
        "kernels": {"k": {"kernel": "spectrum"}},
        "solvers": {"s": {"solver": "csvc"}},
    }
    parsed = Study.parse(config).datasets
    assert [name for name, entry in parsed.items() if entry.audited] == ["given"]


def test_the_report_shows_scores_without_the_overlap(made, tmp_path):
    _, data, _ = made
    folder, rng = tmp_path / "s", np.random.default_rng(1)
    task = data.tasks["a"]
    parts = parts_of(data, task, make_folds(task.labels, data.X, "predefined", task="a", roles=task.split).splits[0])
    found = audit(parts, scores=False, n_threads=1)
    write_tables(folder / "audit" / "d", [(("a", "1"), found)], PLACE)
    names = np.array(parts.names[: parts.n_test])
    decisions = np.where(names == "positive", 1, -1) * found.relations.overlaps + rng.normal(size=parts.n_test)
    method = folder / "evaluate" / "d" / "spectrum" / "svm"
    method.mkdir(parents=True)
    auc = roc_auc(names == "positive", decisions)
    rest = roc_auc((names == "positive")[~found.relations.overlaps], decisions[~found.relations.overlaps])
    (method / "metrics.tsv").write_text(f"task\tsplit\tn_train\tn_test\tauc\na\t1\t40\t20\t{auc}\n")
    lines = ["task\tsplit\tid\tlabel\tdecision\tpredicted"]
    for name, label, value in zip(parts.X.ids, names, decisions.tolist(), strict=False):
        lines.append(f"a\t1\t{name}\t{label}\t{value}\t{'positive' if value > 0 else 'negative'}")
    (method / "decisions.tsv").write_text("\n".join(lines) + "\n")
    for stage in ("folds", "datasets"):
        (folder / stage / "d").mkdir(parents=True)
    composition = ["task\tsplit\tclass\ttrain\ttest", "a\t1\tnegative\t20\t10", "a\t1\tpositive\t20\t10"]
    (folder / "folds" / "d" / "composition.tsv").write_text("\n".join(composition) + "\n")
    text = build_report(folder, folder / "report").read_text()
    assert "10 of 20 test sequences overlap with training" in text
    assert "shared 30-mer" in text
    section = text[text.index('id="d1-audit"') :]
    cells = section[section.index("Mean AUC over splits") :].split("</table>")[0]
    assert f">{auc:.3f}</td>" in cells
    assert f">{rest:.3f}</td>" in cells
