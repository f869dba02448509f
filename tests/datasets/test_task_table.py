"""Tasks from a table of id, task and role."""

import pytest

from seqkern.core.errors import ConfigError, LabelError, ParameterError, SequenceError
from seqkern.study import DataEntry, load_dataset, make_dataset, save_dataset

HEADER = "id\ttask\trole\n"
ROLES = ("positive-train", "negative-train", "positive-test", "negative-test")
GOOD = "".join(f"p{i}\tglobins\t{role}\n" for i, role in enumerate(ROLES))
OTHER = "".join(f"p{i}\tkinases\t{role}\n" for i, role in enumerate(reversed(ROLES), start=1))


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a data set of six proteins from a table of tasks."""
    (tmp_path / "in.fa").write_text("".join(f">p{i} fam=f{i % 2}\nMKVL{'ACDEFG'[i]}\n" for i in range(6)))

    def make(table, **more):
        (tmp_path / "tasks.tsv").write_text(table)
        return make_dataset("d", {"fasta": "in.fa", "tasks": {"file": "tasks.tsv"}, **more}, tmp_path)

    return make


def test_tasks_have_the_roles_of_the_table(made, tmp_path):
    dataset = made(HEADER + GOOD + OTHER + "p5\tglobins\tunused\n")
    assert list(dataset.tasks) == ["globins", "kinases"]
    globins = dataset.tasks["globins"]
    assert globins.split.tolist() == ["train", "train", "test", "test", "", ""]
    assert globins.labels.y[:4].tolist() == [1, 0, 1, 0]
    assert globins.used().tolist() == [0, 1, 2, 3]
    assert globins.labels.classes == ("negative", "positive")
    assert dataset.tasks["kinases"].split.tolist() == ["", "test", "test", "train", "train", ""]
    assert [source["file"] for source in dataset.notes["sources"]] == ["in.fa", "tasks.tsv"]
    save_dataset(dataset, tmp_path / "data")
    again = load_dataset(tmp_path / "data")
    assert again.tasks["kinases"].split.tolist() == dataset.tasks["kinases"].split.tolist()


def test_the_table_may_have_other_columns_and_call_tasks_families(made):
    rows = [line.split("\t") for line in GOOD.splitlines()]
    table = "role\tnote\tid\tfamily\n" + "".join(f"{role}\t?\t{name}\t{task}\n\n" for name, task, role in rows)
    assert list(made(table).tasks) == ["globins"]


def test_labels_only_add_groups(made):
    labels = {"from": "header", "family": "fam"}
    dataset = made(HEADER + GOOD, labels=labels)
    assert dataset.task().labels.groups.tolist() == ["f0", "f1"] * 3
    assert dataset.task().labels.y[:4].tolist() == [1, 0, 1, 0]


def test_records_left_out_by_a_policy_may_have_rows(made, tmp_path):
    text = (tmp_path / "in.fa").read_text()
    (tmp_path / "in.fa").write_text(text + ">p9\nMK9\n>p8\nMKV\n")
    dataset = made(HEADER + GOOD + "p9\tglobins\tnegative-test\n", alphabet="protein", unknown="skip")
    assert "p9" not in dataset.X.ids
    assert len(dataset.task().used()) == 4


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (HEADER, "has a header line but no rows"),
        ("id\ttask\n", "has no column 'role'; give the columns id, task and role"),
        (GOOD, "has no column 'id'"),
        (HEADER + GOOD + "p7\tglobins\tunused\n", "line 6: there is no sequence 'p7'"),
        (HEADER + GOOD + "p5\tglobins\tpositive_test\n", "line 6: unknown role 'positive_test'; .*positive-test"),
        (HEADER + GOOD + "\np5\tglobins\n", "line 7 has 2 cells, the first line has 3"),
        (HEADER + GOOD + "p0\tglobins\tunused\n", "line 6: 'p0' has a role in task 'globins' already, in line 2"),
        (HEADER + GOOD + "p0\t../x\tunused\n", r"line 6: the task '\.\./x' cannot be a file name"),
        (HEADER + GOOD + "p0\tkinases\tpositive-test\n", "task 'kinases' has no sample with the role positive-train"),
    ],
)
def test_rows_that_do_not_fit(made, table, problem):
    with pytest.raises((LabelError, SequenceError), match=rf"tasks\.tsv: {problem}"):
        made(table)


def test_entries_that_do_not_fit(made):
    with pytest.raises(ParameterError, match="unknown key of tasks 'fil'; did you mean 'file'"):
        DataEntry.parse({"fasta": "in.fa", "tasks": {"fil": "t.tsv"}})
    with pytest.raises(ConfigError, match="tasks have no file"):
        DataEntry.parse({"fasta": "in.fa", "tasks": {}})
    assert DataEntry.parse({"fasta": "in.fa", "tasks": {"file": "t.tsv"}}).files() == ["in.fa", "t.tsv"]
