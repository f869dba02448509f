"""Views on the command line: train, predict, gram, a study; what is missing or does not fit is one line."""

import json
from pathlib import Path

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError
from seqkern.core.tsv import read_tsv
from seqkern.kernels import MismatchKernel, RBFKernel
from seqkern.methods.loading import load_model
from seqkern.sequences.fasta import read_fasta
from seqkern.study import load_dataset
from seqkern.study.study import Study

BOTH = "spectrum:k=2+rbf:view=esm"


def vectors(ids):
    """Return vectors that depend on the id alone; the class shifts the first two numbers."""
    found = [np.random.default_rng(list(name.encode())).normal(size=5) for name in ids]
    shift = [[2.0 * name.startswith("p")] * 2 + [0] * 3 for name in ids]
    return np.array(found) + shift


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with sequences without signal, and vectors with some."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    every = []
    for name, n in (("pos", 15), ("neg", 15), ("new", 4)):
        ids = [f"{name}{i}" for i in range(n)]
        strings = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 25)) for _ in ids]
        lines = "".join(f">{i}\n{string}\n" for i, string in zip(ids, strings, strict=True))
        (tmp_path / f"{name}.fa").write_text(lines)
        every += ids
    np.savez("esm.npz", ids=every, values=vectors(every))
    np.savez("short.npz", ids=every, values=vectors(every)[:, :3])
    return tmp_path


def train(kernel=BOTH, *more, view="esm=esm.npz", solver="csvc:C=1"):
    given = ["--view", view] if view else []
    argv = ["train", "pos.fa", "neg.fa", "--alphabet", "protein", "--kernel", kernel, "--solver", solver, *given]
    return main([*argv, "-o", "m.seqkern", *more])


def seen(*names):
    X = read_fasta([f"{name}.fa" for name in names], "protein")
    return X.replace(views={"esm": vectors(X.ids)})


@pytest.mark.parametrize(
    ("kernel", "solver"),
    [
        (BOTH, "csvc:C=1"),
        ("rbf:view=esm", "psvc:epsilon=0.1"),
        ("combination:parts=[(spectrum:k=2),(rbf:view=esm)]", "csvc:C=1"),
        ("linear:view=esm", "linear_svc:C=1"),
        ("linear:view=esm,normalize=true", "primal_svc:C=1"),
        ("nystroem:base=(spectrum:k=2+rbf:view=esm),n_components=10", "primal_svc:C=1"),
        ("linear:view=esm", "psvc:kernel=features,C=inf,epsilon=0.1"),
    ],
)
def test_train_and_predict(folder, kernel, solver, capsys):
    assert train(kernel, solver=solver) == 0
    told = capsys.readouterr()
    assert "4 vectors of the view esm without a sequence" in told.err
    model = load_model("m.seqkern")
    assert model.record["views"] == {"esm": {"file": "esm.npz", "width": 5}}
    assert main(["predict", "m.seqkern", "new.fa", "--view", "esm=esm.npz", "-o", "new.tsv"]) == 0
    assert capsys.readouterr().err.startswith("seqkern: 4 records: ")
    decisions = [float(row["decision"]) for row in read_tsv("new.tsv")]
    np.testing.assert_allclose(decisions, model.decision(seen("new")), rtol=1e-9)
    before = (folder / "m.seqkern").read_bytes()
    assert train(kernel, "--threads", "2", solver=solver) == 0
    assert (folder / "m.seqkern").read_bytes() == before


def test_vectors_decide_where_sequences_do_not(folder, capsys):
    assert train("rbf:view=esm") == 0
    assert "next: seqkern predict m.seqkern NEW.fa --view esm=NEW.npz -o" in capsys.readouterr().out
    model = load_model("m.seqkern")
    X = seen("pos", "neg")
    assert np.mean((model.decision(X) > 0) == (np.arange(30) < 15)) > 0.9
    shuffled = X.replace(views={"esm": vectors(X.ids)[::-1]})
    assert np.mean((model.decision(shuffled) > 0) == (np.arange(30) < 15)) < 0.2


def test_gram(folder):
    argv = ["gram", "pos.fa", "--alphabet", "protein", "--kernel", "linear:view=esm", "-o", "K.npy"]
    assert main([*argv, "--view", "esm=esm.npz"]) == 0
    own = seen("pos").views["esm"].rows()
    np.testing.assert_allclose(np.load("K.npy"), own @ own.T, rtol=1e-12)
    argv[-1] = "against.npy"
    assert main([*argv, "--view", "esm=esm.npz", "--against", "neg.fa"]) == 0
    np.testing.assert_allclose(np.load("against.npy"), own @ seen("neg").views["esm"].rows().T, rtol=1e-12)


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ([], "the kernel 'sum' needs the view 'esm'; add --view esm=FILE"),
        (["--view", "esm=short.npz"], "new.fa: the vectors of the view 'esm' have 3 numbers, those of the training s"),
        (["--view", "esm=missing.h5"], "missing.h5: no such file; check the path"),
        (["--view", "esn=esm.npz"], "unknown view of sum 'esn'; did you mean 'esm'"),
        (["--view", "esm=esm.npz", "--view", "esm=esm.npz"], "the view 'esm' is given twice"),
        (
            ["--view", "esm.npz"],
            "'esm.npz' is not NAME=FILE; write the name of the view before the file, such as NAME=embeddings.h5",
        ),
        (["--view", "esm=esm.npz,ids=new.fa"], "esm.npz: holds its own ids"),
    ],
)
@pytest.mark.parametrize("solver", ["csvc:C=1", "primal_svc:C=1"])
def test_predict_refuses_in_one_line(folder, capsys, argv, problem, solver):
    kernel = BOTH if solver == "csvc:C=1" else "spectrum:k=2+linear:view=esm"
    assert train(kernel, solver=solver) == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.fa", *argv]) != 0
    told = capsys.readouterr()
    assert told.out == ""
    assert problem in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("kernel", "view", "problem"),
    [
        (BOTH, None, "the kernel 'sum' needs the view 'esm'; add --view esm=FILE"),
        ("spectrum:k=2", "esm=esm.npz", "reads no view; remove --view esm=…, or name the view in the kernel: rbf:view"),
        (BOTH, "esm=few.npz", "few.npz: record 'pos1': has no vector in the view 'esm' (29 of 30 sequences have none)"),
    ],
)
def test_train_refuses_in_one_line(folder, capsys, kernel, view, problem):
    np.savez("few.npz", ids=["pos0"], values=np.ones((1, 5)))
    assert train(kernel, view=view) != 0
    told = capsys.readouterr()
    assert problem in told.err
    assert told.err.count("\n") == 1


def test_vectors_cannot_be_explained_by_residues(folder, capsys):
    assert train() == 0
    assert main(["explain", "m.seqkern", "new.fa", "--view", "esm=esm.npz", "-o", "e"]) != 0
    assert "kernel 'linear' cannot be explained residue by residue" in capsys.readouterr().err


def test_residues_are_compared_by_their_own_vectors(folder, capsys):
    assert main(["simulate", "secondary_structure", "--n-chains", "8", "-o", "chains"]) == 0
    X = read_fasta("chains.fasta", "protein")
    table = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float16)
    arrays = {name: table[X.codes[a:b]] for name, a, b in zip(X.ids, X.starts, X.stops, strict=True)}
    np.savez("residues.npz", **arrays)
    kernel = "window:vector_kernel=linear+linear:view=esm"
    argv = ["train", "chains.fasta", "--states", "chains.states", "--kernel", kernel, "--solver", "primal_svc"]
    assert main([*argv, "--view", "esm=residues.npz", "-o", "m.seqkern"]) == 0
    assert main(["predict", "m.seqkern", "chains.fasta", "--view", "esm=residues.npz", "-o", "out.tsv"]) == 0
    assert len(read_tsv("out.tsv")) == X.lengths.sum()
    decided = load_model("m.seqkern").decide(X.replace(tracks={"esm": table[X.codes].astype(np.float32)}))[1]
    written = [[float(row[f"decision:{state}"]) for state in "HEC"] for row in read_tsv("out.tsv")]
    np.testing.assert_allclose(written, decided.scores, rtol=1e-6)
    np.savez("means.npz", **{name: rows.mean(axis=0) for name, rows in arrays.items()})
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "chains.fasta", "--view", "esm=means.npz"]) != 0
    assert "record 'chain1': has one vector in the view 'esm', but residues are the samples" in capsys.readouterr().err


CONFIG = {
    "study": "both",
    "datasets": {
        "proteins": {
            "fasta": {"positive": "pos.fa", "negative": "neg.fa"},
            "alphabet": "protein",
            "views": {"esm": "esm.npz"},
            "folds": {"method": "stratified", "k": 3},
        },
        "others": {"simulate": {"kind": "superfamilies"}, "labels": {"label": "superfamily"}},
    },
    "kernels": {
        "string": {"kernel": "mismatch", "k": 3, "m": 1},
        "vectors": {"kernel": "rbf", "view": "esm"},
        "best": {"choose": ["string", "vectors"]},
    },
    "solvers": {"svm": {"solver": "csvc", "C": [0.1, 1]}},
}


def config(*path, value):
    """Return the study with another value in one place."""
    changed = json.loads(json.dumps(CONFIG))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def test_a_kernel_runs_where_its_view_is():
    study = Study.parse(CONFIG)
    assert [kernel for kernel, _ in study.method_names("proteins")] == ["string", "vectors", "best"]
    assert [kernel for kernel, _ in study.method_names("others")] == ["string"]
    assert study.datasets["proteins"].data.files() == ["pos.fa", "neg.fa", "esm.npz"]
    assert list(study.homes) == ["string"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("kernels", "vectors", "view"), "esn", "kernels.vectors: no data set has the view 'esn'; did you mean 'esm'"),
        (("datasets", "others", "kernels"), ["best"], "datasets.others: kernel 'best' needs the view 'esm'"),
        (("datasets", "proteins", "views"), {"esm": {"fil": "x"}}, "datasets.proteins.views"),
        (("datasets", "proteins", "views"), {"../x": "x"}, "datasets.proteins.views"),
        (("datasets", "proteins", "views"), {"pssm": "x"}, "'pssm' is the name of a track"),
        (("datasets", "proteins", "views"), {}, "datasets.proteins.views"),
    ],
)
def test_studies_that_do_not_fit(path, value, problem):
    with pytest.raises(ConfigError) as caught:
        Study.parse(config(*path, value=value))
    assert problem in str(caught.value)


def test_a_feature_table_has_no_views():
    entry = {"features": "t.tsv", "views": {"esm": "esm.npz"}}
    with pytest.raises(ConfigError, match="views need sequences"):
        Study.parse(config("datasets", "proteins", value=entry))


def test_a_study_from_data_to_scores(folder, capsys):
    (folder / "both.yaml").write_text(json.dumps(CONFIG))
    assert main(["datasets", "both.yaml", "--name", "proteins", "-o", "data"]) == 0
    dataset = load_dataset("data")
    np.testing.assert_array_equal(dataset.X.views["esm"].rows(), vectors(dataset.X.ids))
    notes = json.loads((folder / "data" / "summary.json").read_text())
    assert notes["views"] == {"esm": {"file": "esm.npz", "width": 5}}
    assert notes["counts"]["vectors of the view esm without a sequence"] == 4
    assert [source["file"] for source in notes["sources"]] == ["pos.fa", "neg.fa", "esm.npz"]
    assert main(["folds", "data", "--config", "both.yaml", "-o", "folds"]) == 0
    aucs = {}
    for name, kernel in {"string": "mismatch:k=3,m=1", "vectors": "rbf:view=esm", "sum": BOTH}.items():
        for again in ("", "2"):
            argv = ["evaluate", "data", "--folds", "folds", "--kernel", kernel, "--solver", "csvc:C=[0.1,1]"]
            gram = []
            if name == "string":
                assert main(["gram", "--dataset", "data", "--kernel", kernel, "-o", "K.npy"]) == 0
                gram = ["--gram", "K.npy"]
            assert main([*argv, *gram, "-o", name + again]) == 0
        for table in ("metrics.tsv", "decisions.tsv"):
            assert (folder / name / table).read_bytes() == (folder / f"{name}2" / table).read_bytes()
        aucs[name] = np.mean([float(row["auc"]) for row in read_tsv(f"{name}/metrics.tsv")])
    assert aucs["vectors"] > 0.8 > aucs["string"]


def test_evaluation_is_that_of_matrices_by_hand(folder):
    (folder / "both.yaml").write_text(json.dumps(CONFIG))
    assert main(["datasets", "both.yaml", "--name", "proteins", "-o", "data"]) == 0
    X = load_dataset("data").X
    train = np.arange(len(X)) % 3 > 0
    fitted = RBFKernel(view="esm").fit(X[train])
    values = X.views["esm"].rows()
    squares = ((values[:, None] - values[None]) ** 2).sum(axis=2)
    gamma = 1 / values[train].var(axis=0).sum()
    by_hand = MismatchKernel(k=3, m=1)(X) + np.exp(-gamma * squares)
    np.testing.assert_allclose((MismatchKernel(k=3, m=1) + fitted).fit(X[train])(X), by_hand, rtol=1e-9)


def test_candidates_of_a_scan_have_no_vectors(folder, capsys):
    assert train() == 0
    assert main(["predict", "m.seqkern", "new.fa", "--scan", "AC", "--view", "esm=esm.npz"]) != 0
    assert "kernel 'sum' needs the view 'esm', which new windows lack; use a model without" in capsys.readouterr().err


SCORED = "likelihood:base=(lock+linear:view=esm),starts=1"


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Go to a folder with tables of variants, their values, and a score beside them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    sequences = ["".join(row) for row in rng.choice(list("ACDE"), (60, 8))]
    score = rng.normal(size=60).round(3)
    value = score + np.array([s.count("A") for s in sequences]) + 0.1 * rng.normal(size=60)
    rows = list(zip(sequences, value.round(3), score, strict=True))
    text = "sequence,value,esm\n" + "".join(f"{s},{v},{z}\n" for s, v, z in rows)
    (tmp_path / "known.csv").write_text("".join(text.splitlines(keepends=True)[:41]))
    (tmp_path / "pool.csv").write_text("sequence,esm\n" + "".join(f"{s},{z}\n" for s, _, z in rows[40:]))
    (tmp_path / "pool.fa").write_text("".join(f">{i}\n{s}\n" for i, (s, _, _) in enumerate(rows[40:], 1)))
    (tmp_path / "pool.tsv").write_text("id\tesm\n" + "".join(f"{i}\t{z}\n" for i, (_, _, z) in enumerate(rows[40:], 1)))
    return value[40:]


def test_a_column_of_the_table_is_a_view(scored, capsys):
    train = ["train", "known.csv", "--solver", "gp_regression", "--cv", "0", "-o"]
    assert main([*train, "m.seqkern", "--view", "esm", "--kernel", SCORED]) == 0
    told = capsys.readouterr()
    assert "labels in column value" in told.err
    assert "seqkern predict m.seqkern NEW.tsv -o" in told.out
    assert main(["predict", "m.seqkern", "pool.csv", "-o", "new.tsv"]) == 0
    decisions = [float(row["decision"]) for row in read_tsv("new.tsv")]
    assert main([*train, "plain.seqkern", "--kernel", "likelihood:base=lock,starts=1"]) == 0
    assert main(["predict", "plain.seqkern", "pool.csv", "-o", "plain.tsv"]) == 0
    plain = [float(row["decision"]) for row in read_tsv("plain.tsv")]
    assert np.corrcoef(decisions, scored)[0, 1] > 0.95 > np.corrcoef(plain, scored)[0, 1]
    assert main(["predict", "m.seqkern", "pool.fa", "--view", "esm=pool.tsv", "-o", "fasta.tsv"]) == 0
    assert [float(row["decision"]) for row in read_tsv("fasta.tsv")] == decisions
    assert main(["test", "m.seqkern", "known.csv"]) == 0
    assert "m.seqkern on 40 sequences, a number each" in capsys.readouterr().out
    assert main(["suggest", "m.seqkern", "pool.csv", "-n", "3", "-o", "next.tsv"]) == 0
    assert next(row["id"] for row in read_tsv("next.tsv")) == str(1 + int(np.argmax(decisions)))


def test_the_score_takes_part_in_the_choice_of_kernels(scored, capsys):
    assert main(["train", "known.csv", "--view", "esm", "--cv", "0", "-o", "m.seqkern", "--verbose"]) == 0
    assert load_model("m.seqkern").kernel.traits.views == ("esm",)
    assert "likelihood of the sum of lock and linear:view=esm" in capsys.readouterr().out
    head, *rows = [line.split(",") for line in Path("known.csv").read_text().splitlines()]
    for row in rows:
        row[head.index("esm")] = str(sum(map(ord, row[0])) % 7)  # says nothing
    rows.append(rows[0][:])
    rows[-1][head.index("value")] = str(float(rows[0][head.index("value")]) + 1)
    Path("known.csv").write_text("\n".join(map(",".join, [head, *rows])) + "\n")
    assert main(["train", "known.csv", "--view", "esm", "--cv", "0", "-o", "m.seqkern"]) == 0
    told = capsys.readouterr()
    assert "1 sequence has different values in 2 records; their means are used" in told.err
    assert "esm: not used by the chosen kernel" in told.out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--view", "esn"], "known.csv: unknown column 'esn'; did you mean 'esm'?"),
        (["--view", "esm", "--kernel", "rbf:view=plm"], "unknown view of rbf 'esm'; choose from: plm"),
        (["--view", "esm="], "'esm=' is not NAME=FILE; write the name of the view before the file"),
    ],
)
def test_columns_that_are_no_views(scored, argv, message, capsys):
    assert main(["train", "known.csv", *argv, "-o", "m.seqkern"]) in (1, 2)
    assert message in capsys.readouterr().err


def test_scores_that_are_missing(scored, capsys):
    assert main(["train", "pool.fa", "--labels", "pool.tsv", "--view", "esm", "-o", "m.seqkern"]) == 1
    assert "names a column, but the sequences are not in a table; give the file of the view: --view esm=FILE" in (
        capsys.readouterr().err
    )
    with open("known.csv", "a") as file:
        file.write("AAAACCCC,1,NA\n")
    assert main(["train", "known.csv", "--view", "esm", "--kernel", SCORED, "-o", "m.seqkern"]) == 1
    assert "known.csv: record '41': column 'esm': 'NA' is not a finite number; fill it in" in capsys.readouterr().err
