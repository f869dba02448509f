"""``seqkern suggest``, and unlabelled records in ``seqkern train`` and ``seqkern cv``."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.cli.training_input import why_left_out
from seqkern.methods.loading import load_model
from seqkern.sequences.joining import join_views
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import LabelPropagation

MOTIFS = {"pos": "GTTGTT", "neg": "ACACAC", "third": "CCGGCC"}


def records(name, n, seed=0):
    rng = np.random.default_rng([seed, *name.encode()])
    for i in range(n):
        letters = rng.choice(list("ACGT"), 40)
        if rng.random() < 0.7:
            place = rng.integers(0, 34)
            letters[place : place + 6] = list(MOTIFS[name])
        yield f">{name}{seed}.{i}\n{''.join(letters)}\n"


@pytest.fixture
def files(tmp_path):
    for name in MOTIFS:
        (tmp_path / f"{name}.fa").write_text("".join(records(name, 14)))
    pool = [text for name in ("pos", "neg") for text in records(name, 15, seed=1)]
    (tmp_path / "pool.fa").write_text("".join(pool))
    return {name: str(tmp_path / f"{name}.fa") for name in (*MOTIFS, "pool")}


@pytest.fixture
def model(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    assert main(["train", files["pos"], files["neg"], "--kernel", "spectrum:k=3", "--solver", "csvc", "-o", path]) == 0
    capsys.readouterr()
    return path


def table(path):
    with open(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


def ids_of(path):
    return [line[1:].split()[0] for line in Path(path).read_text().splitlines() if line[0] == ">"]


def fails(capsys, *argv):
    capsys.readouterr()
    assert main(list(argv)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_the_table_and_the_rule(model, files, tmp_path, capsys):
    out = tmp_path / "next.tsv"
    assert main(["suggest", model, files["pool"], "-n", "6", "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}\n"
    assert "of 30 records in the pool are within the margin" in said.err
    rows = table(out)
    assert list(rows[0]) == ["rank", "id", "decision", "distance"]
    assert [row["rank"] for row in rows] == list("123456")
    assert rows[0]["distance"] == ""
    assert all(float(row["distance"]) > 0 for row in rows[1:])
    main(["predict", model, files["pool"], "-o", str(tmp_path / "p.tsv")])
    decisions = {row["id"]: float(row["decision"]) for row in table(tmp_path / "p.tsv")}
    assert all(decisions[row["id"]] == float(row["decision"]) for row in rows)
    assert abs(float(rows[0]["decision"])) == min(map(abs, decisions.values()))
    assert main(["suggest", model, files["pool"], "-n", "6"]) == 0
    assert capsys.readouterr().out == out.read_text()


def test_a_pool_of_fewer_records_than_wanted_is_said(model, files, capsys):
    for number, said in (("31", True), ("30", False)):
        assert main(["suggest", model, files["pool"], "-n", number]) == 0
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == 31
        assert ("pool.fa: 30 records chosen, not 31 (-n)" in err) == said


@pytest.mark.parametrize("solver", ["csvc", "label_propagation"])
def test_records_with_a_label_in_training_are_left_out(solver, files, tmp_path, capsys):
    ids = ids_of(files["pool"])
    labels, path = tmp_path / "labels.tsv", str(tmp_path / "few.seqkern")
    labels.write_text("id\tlabel\n" + "".join(f"{name}\t{name[:3] if i % 2 else ''}\n" for i, name in enumerate(ids)))
    train = ["train", files["pool"], "--labels", str(labels), "--kernel", "spectrum:k=3", "--solver", solver]
    assert main([*train, "-o", path]) == 0
    capsys.readouterr()
    pool = tmp_path / "all.fa"  # the same sequences under other ids
    pool.write_text(Path(files["pool"]).read_text().replace(">", ">copy_"))
    for given, prefix in ((files["pool"], ""), (str(pool), "copy_")):
        assert main(["suggest", path, given, "-n", "30", "-o", str(tmp_path / "n.tsv")]) == 0
        said = capsys.readouterr().err
        assert f"seqkern: {given}: 15 records left out, equal to records with a label in training" in said
        assert "15 records in the pool" in said
        assert {row["id"] for row in table(tmp_path / "n.tsv")} == {prefix + name for name in ids[::2]}


def test_several_classes(files, tmp_path, capsys):
    path, three = str(tmp_path / "m3.seqkern"), [files[name] for name in MOTIFS]
    voting = "pairwise_voting:binary=(csvc:C=1)"
    assert main(["train", *three, "--kernel", "spectrum:k=3", "--solver", voting, "-o", path]) == 0
    capsys.readouterr()
    assert main(["suggest", path, files["pool"], "-n", "4", "--diversity", "0", "-o", str(tmp_path / "n.tsv")]) == 0
    rows = table(tmp_path / "n.tsv")
    assert list(rows[0]) == ["rank", "id", "decision:neg", "decision:pos", "decision:third", "gap", "distance"]
    gaps = [float(row["gap"]) for row in rows]
    assert gaps == sorted(gaps)
    best = sorted(float(rows[0][f"decision:{name}"]) for name in MOTIFS)
    assert gaps[0] == pytest.approx(best[-1] - best[-2])


def test_regression_is_refused(files, tmp_path, capsys):
    numbers = tmp_path / "numbers.tsv"
    lines = ids_of(files["pos"])
    numbers.write_text("id\tlabel\n" + "".join(f"{name}\t{i}\n" for i, name in enumerate(lines)))
    path = str(tmp_path / "r.seqkern")
    train = ["train", files["pos"], "--labels", str(numbers), "--kernel", "spectrum:k=2", "--solver", "svr", "-o", path]
    assert main(train) == 0
    line = fails(capsys, "suggest", path, files["pool"], "-o", str(tmp_path / "n.tsv"))
    assert "has no variances: solver 'svr' does not give them; train a model by solver gp_regression" in line
    assert not (tmp_path / "n.tsv").exists()


def test_the_next_variants(files, tmp_path, capsys):
    prefix, path, out = tmp_path / "land", str(tmp_path / "g.seqkern"), tmp_path / "n.tsv"
    assert main(["simulate", "landscape", "--n-variants", "60", "--indels", "0.3", "-o", str(prefix)]) == 0
    records = prefix.with_suffix(".fasta").read_text().split(">")[1:]
    (tmp_path / "made.fa").write_text("".join(f">{text}" for text in records[:20]))
    lines = prefix.with_suffix(".tsv").read_text().splitlines(keepends=True)
    (tmp_path / "made.tsv").write_text("".join(lines[:21]))
    given = [str(tmp_path / "made.fa"), "--labels", str(tmp_path / "made.tsv"), "--kernel", "string:n=2"]
    assert main(["train", *given, "--solver", "gp_regression", "-o", path]) == 0
    capsys.readouterr()
    for rule, best in (("ucb", "--maximize"), ("ei", "--minimize"), ("thompson", "--maximize")):
        suggest = ["suggest", path, f"{prefix}.fasta", "-n", "4", "--acquisition", rule, best, "-o", str(out)]
        assert main(suggest) == 0
        said = capsys.readouterr().err
        assert "20 records left out, equal to records with a label in training" in said
        assert "41 records in the pool; the best mean among the training samples is" in said
        rows = table(out)
        assert list(rows[0]) == ["rank", "id", "mean", "sd", "acquisition"]
        assert [row["rank"] for row in rows] == list("1234")
        assert all(float(row["sd"]) > 0 for row in rows)
        if rule == "ucb":
            first = rows[0]
            bound = float(first["mean"]) + 2 * float(first["sd"])
            assert bound == pytest.approx(float(first["acquisition"]), rel=1e-6)
    tables = []
    for more in ([], ["--acquisition", "ucb"]):
        assert main(["suggest", path, f"{prefix}.fasta", "-n", "4", *more, "-o", str(out)]) == 0
        assert ("chosen by an upper confidence bound (ucb)" in capsys.readouterr().err) == (not more)
        tables.append(out.read_text())
    assert tables[0] == tables[1]
    line = fails(capsys, "suggest", path, f"{prefix}.fasta", "--diversity", "1", "-o", str(out))
    assert "--diversity does not work with a model of numbers; remove --diversity" in line


def test_variants_need_variances(model, files, tmp_path, capsys):
    line = fails(capsys, "suggest", model, files["pool"], "--acquisition", "ei", "-o", str(tmp_path / "n.tsv"))
    assert "m.seqkern: does not predict numbers, so that no variant is best; train a model by solver gp_reg" in line
    assert not (tmp_path / "n.tsv").exists()


@pytest.mark.parametrize("solver", ["label_propagation", "transductive_svc"])
def test_a_file_of_unlabelled_records(solver, files, tmp_path, capsys):
    path = str(tmp_path / "m.seqkern")
    given = ["--unlabelled", files["pool"], "--kernel", "spectrum:k=3", "--solver", solver]
    assert main(["train", "--verbose", files["pos"], files["neg"], *given, "-o", path]) == 0
    said = capsys.readouterr()
    assert f"seqkern: {files['pool']}: 30 records without a label in every training set: " in said.err
    assert "58 sequences (neg: 14, pos: 14, unlabelled: 30)" in said.out
    assert load_model(path).record["unlabelled"] == 30
    assert main(["cv", files["pos"], files["neg"], *given, "--folds", "3"]) == 0
    assert "pos (positive, 14 samples) against neg (14)" in capsys.readouterr().out


@pytest.mark.parametrize("solver", ["label_propagation", "transductive_svc"])
def test_a_remark_where_every_record_has_a_label(solver, files, tmp_path, capsys):
    given = [files["pos"], files["neg"], "--kernel", "spectrum:k=3", "--solver", solver]
    remark = "every training record has a label, but this solver is meant to learn from records without one"
    for more in ([], ["--unlabelled", files["pool"]]):
        assert main(["train", "--verbose", *given, *more, "-o", str(tmp_path / "m.seqkern")]) == 0
        assert capsys.readouterr().out.count(remark) == (not more)
        assert main(["cv", *given, *more, "--folds", "3"]) == 0
        assert (f"remark on 3 of 3 fits, the first: {remark}" in capsys.readouterr().err) == (not more)


def test_three_classes_and_unlabelled_records(files, tmp_path, capsys):
    path, three = str(tmp_path / "m.seqkern"), [files[name] for name in MOTIFS]
    given = ["--unlabelled", files["pool"], "--kernel", "spectrum:k=3", "--solver", "label_propagation"]
    assert main(["train", "--verbose", *three, *given, "-o", path]) == 0
    assert "(neg: 14, pos: 14, third: 14, unlabelled: 30)" in capsys.readouterr().out


def test_empty_labels_are_unlabelled_records(files, tmp_path, capsys):
    ids = ids_of(files["pool"])
    labels = tmp_path / "labels.tsv"
    labels.write_text("id\tlabel\n" + "".join(f"{name}\t{name[:3] if i % 3 else ''}\n" for i, name in enumerate(ids)))
    for solver, words in (("transductive_svc", "in every training set"), ("csvc", "left out")):
        given = [files["pool"], "--labels", str(labels), "--kernel", "spectrum:k=3", "--solver", solver]
        assert main(["train", *given, "-o", str(tmp_path / "m.seqkern")]) == 0
        assert f"10 records without a label {words}" in capsys.readouterr().err


def test_a_word_for_unknown_labels_is_refused(files, tmp_path, capsys):
    ids, labels = ids_of(files["pool"]), tmp_path / "na.tsv"
    labels.write_text("id\tlabel\n" + "".join(f"{name}\t{name[:3] if i % 3 else 'NA'}\n" for i, name in enumerate(ids)))
    train = ["train", files["pool"], "--labels", str(labels), "-o", str(tmp_path / "m.seqkern")]
    for more in ([], ["--positive", "pos"]):
        line = fails(capsys, *train, *more)
        assert "10 labels are 'NA'; leave them empty if the label is unknown, or rename the class" in line


def test_other_solvers_leave_them_out_and_say_so(files, tmp_path, capsys):
    out = str(tmp_path / "m.seqkern")
    both = [
        "train",
        "--verbose",
        files["pos"],
        files["neg"],
        "--unlabelled",
        files["pool"],
        "-o",
        out,
        "--kernel",
        "spectrum:k=3",
    ]
    for solver in (["--solver", "csvc"], []):
        assert main([*both, *solver]) == 0
        said = capsys.readouterr()
        left = f"{files['pool']}: 30 records without a label left out, since solver 'csvc' does not learn from them: "
        assert said.err.count(left) == 1
        assert "trained on 28 sequences (neg: 14, pos: 14)" in said.out
    fitted = SimpleNamespace(solvers=[LabelPropagation()])  # the reason is then the kernel
    assert why_left_out(fitted) == "kernels that are fitted to each training set do not use them"


def test_they_need_files_of_classes(files, tmp_path, capsys):
    out = str(tmp_path / "m.seqkern")
    one = ["train", files["pos"], "--unlabelled", files["pool"], "-o", out, "--solver", "transductive_svc"]
    assert "--unlabelled needs one file for each class" in fails(capsys, *one, "--kernel", "spectrum:k=3")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--acquisition", "ei", "--kappa", "2"],
            "--kappa does not work with --acquisition ei; remove --kappa",
        ),
        (
            ["--acquisition", "thompson", "--kappa", "2"],
            "--kappa does not work with --acquisition thompson; remove --kappa",
        ),
        (["--kappa", "2"], "--kappa needs a model of numbers; remove --kappa"),
        (["--minimize"], "--minimize needs a model of numbers; remove --minimize"),
        (["--positions", "3", "--keep", "3", "--replay"], "pool.fa does not work with --replay; remove "),
        (["--keep", "3"], "--keep needs --positions or --mutations; add --positions or --mutations, or remove --keep"),
        (["--rounds", "3"], "--rounds needs --replay; add --replay, or remove --rounds"),
        (
            ["--acquisition", "ei", "--diversity", "0.5"],
            "--diversity does not work with --acquisition; remove --diversity",
        ),
        (
            ["--acquisition", "ei", "--strategy", "uncertain"],
            "--strategy does not work with --acquisition; remove --strategy",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(model, files, capsys, words, said):
    assert said in fails(capsys, "suggest", model, files["pool"], *words)


@pytest.fixture
def variants(tmp_path, capsys):
    """A table of simulated variants, their parent, and a model of half of them."""
    prefix = tmp_path / "land"
    many = ["--n-variants", "120", "--n-positions", "6", "--mutations", "2", "--n-neighbours", "0", "--noise", "0.01"]
    assert main(["simulate", "landscape", *many, "-o", str(prefix)]) == 0
    sequences = [
        text.split("\n", 1)[1].replace("\n", "") for text in Path(f"{prefix}.fasta").read_text().split(">")[1:]
    ]
    lines = [f"{s},{row['label']}\n" for s, row in zip(sequences, table(f"{prefix}.tsv"), strict=True)]
    (tmp_path / "all.csv").write_text("sequence,value\n" + "".join(lines))
    (tmp_path / "made.csv").write_text("sequence,value\n" + "".join(lines[:60]))
    (tmp_path / "parent.fa").write_text(f">wt\n{sequences[0]}\n")
    (tmp_path / "pool.fa").write_text("".join(f">v{i}\n{one}\n" for i, one in enumerate(sequences)))
    method = ["--kernel", "window:encoding=one_hot,vector_kernel=linear", "--solver", "gp_regression"]
    path = str(tmp_path / "v.seqkern")
    assert main(["train", str(tmp_path / "made.csv"), *method, "-o", path]) == 0
    capsys.readouterr()
    return tmp_path, path, sequences


def test_a_model_of_one_column_applies_to_fasta(variants, capsys):
    folder, path, _ = variants
    assert main(["suggest", path, str(folder / "pool.fa"), "-n", "3"]) == 0
    out, err = capsys.readouterr()
    assert "60 records left out" in err
    assert main(["suggest", path, str(folder / "all.csv"), "-n", "3"]) == 0  # rows are numbered from 1
    places = [int(line.split("\t")[1][1:]) for line in out.splitlines()[1:]]
    assert [str(i + 1) for i in places] == [line.split("\t")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    decisions = []
    for name in ("pool.fa", "all.csv"):
        assert main(["predict", path, str(folder / name)]) == 0
        decisions.append([line.split("\t")[1] for line in capsys.readouterr().out.splitlines()])
    assert decisions[0] == decisions[1]


def test_rows_of_a_table_are_called_by_its_names(variants, capsys):
    folder, path, sequences = variants
    rows = [f"{i % 7},{one},{i},MK{'A' * i}WRKLHPGSTEDN" for i, one in enumerate(sequences[60:90])]
    for column, cells, named in (
        ("Mutant", [f"m{i}" for i in range(30)], True),
        ("clone", [f"A{i}" for i in range(30)], True),
        ("clone", [f"A{i % 29}" for i in range(30)], False),
        ("mutant", ["", *(f"m{i}" for i in range(29))], False),
        ("sd", [str(i / 7) for i in range(30)], False),
    ):
        table = [
            f"plate,sequence,well,whole,{column}",
            *(f"{row},{cell}" for row, cell in zip(rows, cells, strict=True)),
        ]
        (folder / "named.csv").write_text("\n".join(table) + "\n")
        for verb in (["predict", path], ["suggest", path, "-n", "30"]):
            assert main([*verb[:2], str(folder / "named.csv"), *verb[2:]]) == 0
            found = {line.split("\t")[verb[0] == "suggest"] for line in capsys.readouterr().out.splitlines()[1:]}
            assert found == (set(cells) if named else {str(i + 1) for i in range(30)})
    measured = [f"{row},{i % 7},m{i}" for i, row in enumerate(rows)]
    (folder / "named.csv").write_text("\n".join(["plate,sequence,well,whole,value,mutant", *measured]) + "\n")
    argv = ["train", str(folder / "named.csv"), "--kernel", "spectrum:k=1", "--solver", "gp_regression", "-o"]
    assert main([*argv, str(folder / "n.seqkern")]) == 0
    assert load_model(folder / "n.seqkern").support.ids[:2] == ["m0", "m1"]
    assert main(["predict", str(folder / "n.seqkern"), str(folder / "all.csv")]) == 0  # which has no such column


def test_all_variants_at_some_positions(variants, capsys):
    folder, path, sequences = variants
    parent, out = str(folder / "parent.fa"), folder / "plate.tsv"
    argv = ["suggest", path, parent, "--positions", "2,5-6", "--exclude", "CM", "-n", "8", "-o", str(out)]
    assert main([*argv, "--kappa", "0"]) == 0
    err = capsys.readouterr().err
    wild = sequences[0]
    free = [sum(letter not in "CM" and letter != wild[i] for letter in "ACDEFGHIKLMNPQRSTVWY") for i in (1, 4, 5)]
    n = np.prod([k + 1 for k in free]) - 1
    assert (
        f"{n:,} variants of 1 to 3 mutations at 3 positions; {7999 - n:,} others left out, which introduce C or M"
        in err
    )
    rows = table(out)
    assert list(rows[0]) == ["rank", "id", "sequence", "mean", "sd", "acquisition"]
    for row in rows:
        made = row["sequence"]
        assert row["id"] == ":".join(f"{a}{i}{b}" for i, (a, b) in enumerate(zip(wild, made, strict=True), 1) if a != b)
        assert all(made[i] == wild[i] for i in (0, 2, 3))
        assert made not in sequences[:60]
    # an additive model, whose best variant has the best residue at each position
    model = load_model(path)
    best = list(wild)
    for i in (1, 4, 5):
        usable = [letter for letter in "ACDEFGHIKLMNPQRSTVWY" if letter not in "CM" or letter == wild[i]]
        others = [wild[:i] + letter + wild[i + 1 :] for letter in usable]
        best[i] = usable[int(np.argmax(decisions_of(model, others)))]
    assert rows[0]["sequence"] == "".join(best)


def test_a_lone_parent_stands_for_its_single_mutants(variants, capsys):
    folder, path, sequences = variants
    assert main(["suggest", path, str(folder / "parent.fa"), "-n", "400"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines()[1:]]
    assert "one record, the parent of all single mutants; --mutations allows more\n" in err
    assert rows
    for _, name, sequence, *_ in rows:
        differ = [i for i, (a, b) in enumerate(zip(sequence, sequences[0], strict=True)) if a != b]
        assert [f"{sequences[0][i]}{i + 1}{sequence[i]}" for i in differ] == [name]
        assert sequence not in sequences[:60]  # those measured
    assert main(["suggest", path, str(folder / "parent.fa"), "--mutations", "1", "-n", "400"]) == 0
    assert capsys.readouterr().out == out


def decisions_of(model, sequences):
    return model.decision(join_views({"sequence": SequenceSet.from_strings(sequences, "protein")}))


def test_few_mutations_of_the_whole_parent_but_for_a_motif(variants, capsys):
    folder, path, sequences = variants
    argv = ["suggest", path, str(folder / "parent.fa"), "-n", "200"]
    assert main([*argv, "--mutations", "1", "--keep", "1-3"]) == 0
    out, err = capsys.readouterr()
    assert "57 variants of 1 mutation at 3 positions" in err
    names = [line.split("\t")[1] for line in out.splitlines()[1:]]
    known = {s for s in sequences[:60] if sum(a != b for a, b in zip(s, sequences[0], strict=True)) == 1}
    assert len(names) == 57 - sum(s[:3] == sequences[0][:3] for s in known)
    assert all(int(name[1]) > 3 for name in names)
    assert f"{len(names)} records chosen, not 200 (-n)" in err


@pytest.mark.parametrize(
    ("parent", "words", "said"),
    [
        (None, ["--positions", "7"], "--positions: position 7 is not in the parent, which has 6 residues; give pos"),
        (None, ["--positions", "0"], "--positions: position 0 is not in the parent"),
        (None, ["--positions", "3-x"], "'3-x' is not a position; write for example 39-41,54"),
        (None, ["--positions", "3-1"], "'3-1' ends before it begins; write 1-3"),
        (
            None,
            ["--mutations", "6"],
            "63,999,999 variants of 1 to 6 mutations at 6 positions, more than 1,000,000; give --mutations 3",
        ),
        (None, ["--positions", "2", "--keep", "2"], "no variant is left; give more --positions"),
        (None, ["--positions", "2", "--exclude", "J"], "--exclude: 'J' is not a residue of the model; choose among"),
        (">a\nACDEFG\n>b\nACDEFG\n", ["--positions", "2"], "parent.fa: has 2 records; give one record, the parent"),
        (">a\nACDEFGH\n", ["--positions", "2"], "parent.fa: record 'a': has 7 residues, the training sequences have 6"),
        (
            ">a\nACXEFG\n",
            ["--positions", "2"],
            "record 'a': the residue at position 3 is unknown; give the whole parent",
        ),
    ],
)
def test_wrong_parents_and_positions(variants, capsys, parent, words, said):
    folder, path, _ = variants
    if parent is not None:
        (folder / "parent.fa").write_text(parent)
    assert said in fails(capsys, "suggest", path, str(folder / "parent.fa"), *words)


def test_models_of_other_samples_have_no_variants_of_a_parent(variants, tmp_path, capsys):
    folder, _, _ = variants
    rows = "".join(f"r{i}\t{i % 3}\t{i % 7}\t{i}\n" for i in range(20))
    (tmp_path / "features.tsv").write_text(f"id\tf1\tf2\tlabel\n{rows}")
    path = str(tmp_path / "f.seqkern")
    assert (
        main(["train", str(tmp_path / "features.tsv"), "--kernel", "linear", "--solver", "gp_regression", "-o", path])
        == 0
    )
    line = fails(capsys, "suggest", path, str(folder / "parent.fa"), "--positions", "1")
    assert "f.seqkern: is not of single sequences; give the variants as a file, without --positions" in line


def test_the_replay_of_a_campaign(variants, capsys):
    folder, _, _ = variants
    argv = ["suggest", "--replay", str(folder / "all.csv"), "-n", "12", "--start", "20", "--rounds", "3"]
    printed = []
    for _ in range(2):
        assert main([*argv, "--acquisition", "ei", "--threads", "1"]) == 0
        printed.append(capsys.readouterr())
    assert printed[0].out == printed[1].out
    assert "121 variants, of which the best 2 are looked for; means of 5 campaigns" in printed[0].err
    rows = list(csv.DictReader(printed[0].out.splitlines(), delimiter="\t"))
    assert [(row["round"], row["measured"]) for row in rows[::4]] == [("1", "20"), ("2", "32"), ("3", "44")]
    assert [row["strategy"] for row in rows[:4]] == ["model", "greedy", "ridge", "random"]
    assert len({row["best"] for row in rows[:4]}) == 1  # of the same random start
    last = {row["strategy"]: float(row["top_found"]) for row in rows[-4:]}
    assert last["model"] > last["random"]
    assert last["ridge"] == 1  # the landscape is additive
    for name in last:
        best = [float(row["best"]) for row in rows if row["strategy"] == name]
        assert best == sorted(best)
    assert main([*argv, "--minimize"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    assert float(rows[-2]["best"]) < float(rows[0]["best"])


def test_replays_that_cannot_be(variants, capsys):
    folder, path, _ = variants
    table = str(folder / "all.csv")
    capsys.readouterr()

    def last_line(*argv):
        assert main(["suggest", "--replay", *argv]) == 1
        return capsys.readouterr().err.splitlines()[-1]  # after that on the columns

    line = last_line(table, "-n", "40")
    assert (
        "all.csv: 4 rounds would measure 160 variants, but there are 121; give a smaller -n, --start or --rounds"
        in line
    )
    assert "is not a table; give a CSV of measured variants" in last_line(path)
    assert "pool.fa does not work with --replay" in last_line(table, "pool.fa")
    (folder / "unequal.csv").write_text("sequence,value\nACDEF,1.5\nACDE,2.5\nACDA,2.25\n")
    line = last_line(str(folder / "unequal.csv"), "--start", "2", "-n", "1", "--rounds", "2")
    assert "unequal.csv: the variants have 4 to 5 residues; " in line
