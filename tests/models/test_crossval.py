"""The fold loop: what reaches fit, what is written, what a restart redoes."""

import copy
import json
import warnings
from typing import ClassVar

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import inputs

from seqkern.cli.main import main
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds, read_folds
from seqkern.evaluation.fold_tables import write_results
from seqkern.gram import compute_gram, open_gram
from seqkern.gram.transforms import build_transform, repair_transforms
from seqkern.kernels import SpectrumKernel, build_kernel
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel import Kernel
from seqkern.methods import crossval
from seqkern.methods.sources import FittedKernel, Source, StoredGram
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Dataset, Task, save_dataset

GRID = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1.0}]
INNER = InnerLoop(folds=2)


def sequences(n=40, seed=0):
    """Return half A-rich and half T-rich strings."""
    rng = np.random.default_rng(seed)
    rich = [(0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4)]
    strings = ["".join(rng.choice(list("ACGT"), 30, p=rich[i % 2])) for i in range(n)]
    return SequenceSet.from_strings(strings, "dna")


def binary_task(X):
    return Task("all", make_labels(X.ids, ["1" if i % 2 else "0" for i in range(len(X))]))


def run(task, X, source, grid=GRID):
    folds = make_folds(task.labels, X, "stratified", k=4, seed=1)
    return folds, [evaluate_fold(task, split, {"k": source}, grid, INNER) for split in folds]


class SpyKernel(Kernel):
    """A spectrum kernel that pretends to learn, and remembers what it was shown."""

    traits = Traits(data_dependent=True)
    seen: ClassVar = []

    def _fit(self, X, y):
        type(self).seen.append((list(X.ids), None if y is None else list(y)))
        self.inner_ = SpectrumKernel(k=2)

    def prepare(self, X, like=None):
        return self.inner_.prepare(X, like)

    def block(self, rows, cols, out=None):
        return self.inner_.block(rows, cols, out)


def test_no_test_sequence_reaches_fit_in_outer_or_inner_folds():
    X = sequences()
    task = binary_task(X)
    SpyKernel.seen = []
    folds = make_folds(task.labels, X, "stratified", k=4, seed=1)
    signs = dict(zip(X.ids, task.labels.signs(), strict=True))
    for split in folds:
        SpyKernel.seen.clear()
        evaluate_fold(task, split, {"k": FittedKernel(SpyKernel(), X)}, GRID, INNER)
        test = {X.ids[row] for row in split.test}
        train = [X.ids[row] for row in split.train]
        assert len(SpyKernel.seen) == INNER.folds + 1
        for ids, y in SpyKernel.seen:
            assert not test & set(ids)
            assert y == [signs[name] for name in ids]
        *inner, outer = [ids for ids, _ in SpyKernel.seen]
        assert outer == train
        assert all(len(ids) < len(train) for ids in inner)


def test_test_columns_of_the_gram_are_never_read():
    X = sequences()
    task = binary_task(X)
    clean = compute_gram(SpectrumKernel(k=3), X)
    folds, expected = run(task, X, StoredGram(clean))
    for split, result in zip(folds, expected, strict=True):
        poisoned = compute_gram(SpectrumKernel(k=3), X)
        poisoned.values[:, split.test] = np.nan
        again = evaluate_fold(task, split, {"k": StoredGram(poisoned)}, GRID, INNER)
        assert again.decisions == result.decisions
        assert again.choices == result.choices


def test_a_fitted_kernel_gives_what_the_stored_gram_gives():
    X = sequences()
    task = binary_task(X)
    kernel = SpectrumKernel(k=3)
    _, stored = run(task, X, StoredGram(compute_gram(kernel, X)))
    _, fitted = run(task, X, FittedKernel(kernel, X))
    assert [result.decisions for result in stored] == [result.decisions for result in fitted]


@pytest.mark.parametrize("spec", ["spectrum:k=3", "pairwise:base=(spectrum:k=2)", "rbf:base=(spectrum:k=2)"])
def test_a_fitted_kernel_prepares_each_part_once(spec, monkeypatch):
    X, train, test = sequences(), np.arange(30), np.arange(30, 40)
    kernel = build_kernel(spec)
    whole = copy.deepcopy(kernel).fit(X.take(train))
    K_train, K_test = whole(X.take(train)), whole(X.take(test), X.take(train))
    prepared, real = [], type(kernel).prepare

    def spy(self, data, like=None):
        prepared.append(len(data))
        return real(self, data, like)

    monkeypatch.setattr(type(kernel), "prepare", spy)
    pair = inputs(FittedKernel(kernel, X), train, test)
    np.testing.assert_array_equal(pair[0], K_train)
    np.testing.assert_array_equal(pair[1], K_test)
    if not kernel.traits.data_dependent:  # else fit may prepare, too
        assert prepared == [30, 10]


def test_a_transform_is_fitted_on_the_training_part_alone():
    X = sequences()
    gram = compute_gram(SpectrumKernel(k=2), X)
    train, test = np.arange(30), np.arange(30, 40)
    K_train, K_test = inputs(StoredGram(gram, [build_transform("centre")]), train, test)
    K = gram.values
    centre = K[:30, :30].mean(axis=0)
    expected = K[30:, :30] - centre - K[30:, :30].mean(axis=1, keepdims=True) + K[:30, :30].mean()
    np.testing.assert_allclose(K_test, expected, atol=1e-12)
    np.testing.assert_allclose(K_train.sum(axis=0), 0, atol=1e-10)


PAIRWISE = [
    "pairwise:base=(spectrum:k=2)",
    "pairwise:base=(spectrum:k=2),normalize=false",
    "pairwise:base=(spectrum:k=2,normalize=false),vector_kernel=rbf",
    "pairwise:base=(pairwise:base=(spectrum:k=2),normalize=false)",
]


def stored(kernel, X, transforms=()):
    """Return the StoredGram of a kernel's stored form."""
    form = kernel.stored_form
    grams = [compute_gram(one, X) for one in form.kernels]
    return StoredGram(grams, [build_transform(item) for item in transforms], form=form)


@pytest.mark.parametrize("spec", PAIRWISE)
@pytest.mark.parametrize("transforms", [(), ("centre", "normalise")], ids=str)
def test_a_stored_form_gives_what_the_fitted_kernel_gives(spec, transforms):
    X, train, test = sequences(), np.arange(0, 40, 2), np.arange(1, 40, 2)
    kernel = build_kernel(spec)
    source = stored(kernel, X, transforms)
    expected = inputs(FittedKernel(kernel, X, [build_transform(item) for item in transforms]), train, test)
    assert source.learns
    assert [gram.meta["kernel"]["kernel"] for gram in source.grams] == ["spectrum"]
    for got, wanted in zip(inputs(source, train, test), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


def test_a_kernel_that_learns_something_else_has_no_stored_form():
    assert build_kernel("pairwise:base=(rbf:gamma=scale,base=(spectrum:k=2))").stored_form is None
    assert build_kernel("salzberg").stored_form is None
    kernel = build_kernel("spectrum:k=2")
    assert kernel.stored_form.kernels == [kernel]
    assert not kernel.stored_form.learns


@pytest.mark.parametrize("spec", PAIRWISE)
@pytest.mark.parametrize("repair", ["clip", "flip", "shift", "empirical_map"])
def test_nothing_is_learned_from_values_of_test_units(spec, repair):
    X, train, test = sequences(), np.arange(0, 40, 2), np.arange(1, 40, 2)
    kernel, repairs = build_kernel(spec), repair_transforms(repair)
    K_train, K_test = inputs(stored(kernel, X, repairs), train, test)
    poisoned = stored(kernel, X, repairs)
    poisoned.grams[0].values[:, test] = np.nan
    for got, expected in zip(inputs(poisoned, train, test), (K_train, K_test), strict=True):
        np.testing.assert_array_equal(got, expected)
    # The values of one test unit change its own row only.
    changed = stored(kernel, X, repairs)
    changed.grams[0].values[test[3]] = 7.0
    got_train, got_test = inputs(changed, train, test)
    np.testing.assert_array_equal(got_train, K_train)
    assert np.flatnonzero((got_test != K_test).any(axis=1)).tolist() == [3]


def test_eigenvalues_of_each_training_part_are_told_where_it_has_its_own_matrix(tmp_path):
    X = sequences()
    task, kernel = (
        binary_task(X),
        build_kernel("sum:parts=[(pairwise:base=(spectrum:k=2)),(sigmoid:base=(spectrum:k=1))]"),
    )
    folds, results = run(task, X, FittedKernel(kernel, X, [build_transform("repair:method=clip")]))
    write_results(tmp_path, results)
    for split, row in zip(folds, read_tsv(tmp_path / "fits.tsv"), strict=True):
        K = copy.deepcopy(kernel).fit(X.take(split.train))(X.take(split.train))
        values = np.linalg.eigvalsh(K)
        assert values[0] < 0
        assert float(row["smallest_eigenvalue"]) == pytest.approx(values[0], rel=1e-6)
        share = -values[values < -1e-12].sum() / np.abs(values).sum()
        assert float(row["negative_share"]) == pytest.approx(share, rel=1e-6)
        assert row["eigenvalues"] == "all"
    _, results = run(task, X, StoredGram(compute_gram(SpectrumKernel(k=2), X)))
    assert all(result.fit["smallest_eigenvalue"] is None for result in results)
    _, results = run(task, X, stored(build_kernel(PAIRWISE[0]), X))
    assert all(result.fit["smallest_eigenvalue"] >= 0 == result.fit["negative_share"] for result in results)


@pytest.mark.parametrize("kind", ["multiclass", "real"])
def test_other_kinds_of_labels(kind, tmp_path):
    X = sequences(n=45)
    values = [str(i % 3) for i in range(45)]
    task = Task("all", make_labels(X.ids, values, kind="real" if kind == "real" else None))
    grid = [{"solver": "psvr", "C": 1.0}] if kind == "real" else GRID
    _, results = run(task, X, StoredGram(compute_gram(SpectrumKernel(k=3), X)), grid)
    write_results(tmp_path, results)
    metrics = read_tsv(tmp_path / "metrics.tsv")
    decisions = read_tsv(tmp_path / "decisions.tsv")
    assert len(metrics) == 4
    assert len(decisions) == 45
    if kind == "real":
        assert {"rmse", "r2"} <= set(metrics[0])
    else:
        assert {"decision:0", "decision:1", "decision:2"} <= set(decisions[0])
        assert {row["predicted"] for row in decisions} <= {"0", "1", "2"}


@pytest.fixture
def study(tmp_path):
    """Return the arguments of ``seqkern evaluate`` on a small data set."""
    X = sequences()
    save_dataset(Dataset("toy", "sequences", X, {"all": binary_task(X)}), tmp_path / "data")
    assert (
        main(
            [
                "folds",
                str(tmp_path / "data"),
                "--method",
                "stratified",
                "--k",
                "4",
                "-o",
                str(tmp_path / "folds"),
            ]
        )
        == 0
    )
    return [
        "evaluate",
        str(tmp_path / "data"),
        "--folds",
        str(tmp_path / "folds"),
        "--kernel",
        "spectrum:k=3",
        "--solver",
        json.dumps({"solver": "csvc", "C": [0.1, 1]}),
    ]


TABLES = ("decisions.tsv", "metrics.tsv", "choices.tsv", "fits.tsv")


def test_the_verb_writes_the_same_bytes_every_time(study, tmp_path):
    for name in ("one", "two"):
        assert main([*study, "-o", str(tmp_path / name)]) == 0
    for table in TABLES:
        assert (tmp_path / "one" / table).read_bytes() == (tmp_path / "two" / table).read_bytes()
    assert not (tmp_path / "one" / ".finished").exists()
    decided = [row["id"] for row in read_tsv(tmp_path / "one" / "decisions.tsv")]
    assert sorted(decided) == sorted(sequences().ids)


@pytest.mark.parametrize("learner", [stored, FittedKernel])
def test_weights_that_do_not_converge_are_told_for_each_training_part(learner):
    X = sequences()
    text = "combination:parts=[(spectrum:k=2),(spectrum:k=3),(spectrum:k=1)],weights=mkl,tol=1e-9"
    _, results = run(binary_task(X), X, learner(build_kernel(f"{text},max_iter=1"), X), GRID)
    assert [result.fit["weights_converged"] for result in results] == [False] * 4
    # of two inner folds, each with weights of its own
    assert [result.fit["inner_not_converged"] for result in results] == [2] * 4
    assert all(result.fit["converged"] for result in results)
    _, results = run(binary_task(X), X, learner(build_kernel(text.replace("1e-9", "0.5")), X), GRID)
    assert all(result.fit["weights_converged"] is True for result in results)
    assert [result.fit["inner_not_converged"] for result in results] == [0] * 4
    _, results = run(binary_task(X), X, FittedKernel(SpectrumKernel(k=2), X))
    assert all(result.fit["weights_converged"] is None for result in results)


def test_inner_fits_that_do_not_converge_are_counted_of_choice_threshold_and_solver():
    X = sequences()
    task, grid = binary_task(X), [{**spec, "max_iter": 1} for spec in GRID]
    split = next(iter(make_folds(task.labels, X, "stratified", k=4, seed=1)))
    source = {"k": StoredGram(compute_gram(SpectrumKernel(k=2), X))}
    inner = InnerLoop(folds=2, threshold="sensitivity=0.9")
    # two candidates in two folds, whose decisions the threshold uses
    assert evaluate_fold(task, split, source, grid, inner).fit["inner_not_converged"] == 4
    assert evaluate_fold(task, split, source, grid[:1], inner).fit["inner_not_converged"] == 2
    assert evaluate_fold(task, split, source, GRID, inner).fit["inner_not_converged"] == 0


def test_what_did_not_converge_is_written_and_told(study, tmp_path, capsys):
    study[study.index("spectrum:k=3")] = (
        "combination:parts=[(spectrum:k=2),(spectrum:k=3)],weights=mkl,max_iter=1,tol=1e-9"
    )
    study[-1] = json.dumps({"solver": "csvc", "C": [0.1, 1], "max_iter": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main([*study, "-o", str(tmp_path / "o")]) == 0
    rows = read_tsv(tmp_path / "o" / "fits.tsv")
    assert {row["weights_converged"] for row in rows} == {"False"}
    counts = [int(row["inner_not_converged"]) for row in rows]
    told = capsys.readouterr().err
    assert f"the kernel's weights did not converge in {len(rows)} of {len(rows)} training sets" in told
    assert f"{sum(counts)} inner fits did not converge, in {len(rows)} of {len(rows)} training sets" in told


@pytest.mark.parametrize("masked", [(), (3,), (2, 3)])
def test_constant_columns_are_counted_and_told_once(study, tmp_path, capsys, masked):
    X = sequences()
    strings = ["N" * 30 if i in masked else string for i, string in enumerate(X.strings())]
    X = SequenceSet.from_strings(strings, "dna", ids=X.ids, unknown="mask_all")
    save_dataset(Dataset("toy", "sequences", X, {"all": binary_task(X)}), tmp_path / "data")
    assert main(["folds", str(tmp_path / "data"), "--method", "stratified", "--k", "4", "-o", str(study[3])]) == 0
    capsys.readouterr()
    study[study.index("spectrum:k=3")] += ",zero_diagonal=zero"
    study[-1] = json.dumps({"solver": "psvc", "epsilon": [0.1, 0.3]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main([*study, "-o", str(tmp_path / "o")]) == 0
    splits = read_folds(tmp_path / "folds" / "all.tsv", X.ids, binary_task(X).labels).splits
    counts = [len(set(masked) & set(split.train)) for split in splits]
    assert [int(row["constant_columns"]) for row in read_tsv(tmp_path / "o" / "fits.tsv")] == counts
    told = [line for line in capsys.readouterr().err.splitlines() if "constant" in line]
    fits = sum(count > 0 for count in counts)
    text = f"seqkern: P-SVM: up to {max(counts)} of 30 columns were constant and left out, in {fits} of 4 fits"
    assert told == ([text] if masked else [])


@pytest.fixture
def kill_at_third(monkeypatch):
    """Return a function that makes the third fold an interrupt, and returns a list with an item for each fold begun."""

    def arm():
        real, calls = crossval.evaluate_fold, []

        def killed_at_third(*args, **options):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return real(*args, **options)

        monkeypatch.setattr("seqkern.cli.evaluate.evaluate_fold", killed_at_third)
        return calls

    return arm


def test_a_killed_run_goes_on_where_it_was(study, tmp_path, kill_at_third):
    assert main([*study, "-o", str(tmp_path / "whole")]) == 0
    calls = kill_at_third()
    assert main([*study, "-o", str(tmp_path / "cut")]) == 130
    assert not (tmp_path / "cut" / "metrics.tsv").exists()
    assert main([*study, "-o", str(tmp_path / "cut")]) == 0
    assert len(calls) == 3 + 2
    for table in TABLES:
        assert (tmp_path / "whole" / table).read_bytes() == (tmp_path / "cut" / table).read_bytes()


@pytest.mark.parametrize("changed", ["labels", "names", "groups"])
def test_a_killed_run_with_other_labels_or_groups_begins_anew(study, tmp_path, kill_at_third, changed):
    calls = kill_at_third()
    assert main([*study, "-o", str(tmp_path / "out")]) == 130
    X = sequences()
    if changed == "groups":
        table = tmp_path / "folds" / "all.tsv"
        header, *rows = table.read_text().splitlines()
        rows = [f"{row}\t{number // 2}" for number, row in enumerate(rows)]
        table.write_text("\n".join([f"{header}\tgroup", *rows]) + "\n")
    else:
        names = ["yes", "no"] if changed == "names" else ["1", "0"]
        values = [names[i % 2 if changed == "names" else i // 2 % 2] for i in range(len(X))]
        task = Task("all", make_labels(X.ids, values))
        save_dataset(Dataset("toy", "sequences", X, {"all": task}), tmp_path / "data")
    assert main([*study, "-o", str(tmp_path / "out")]) == 0
    assert len(calls) == 3 + 4
    assert main([*study, "-o", str(tmp_path / "whole")]) == 0
    for table in TABLES:
        assert (tmp_path / "whole" / table).read_bytes() == (tmp_path / "out" / table).read_bytes()


def test_groups_of_the_fold_file_stay_together_in_the_inner_folds():
    X = sequences()
    pairs = np.arange(40) // 4
    labels = make_labels(X.ids, ["1" if i % 2 else "0" for i in range(40)], groups=pairs.astype(str))
    folds = make_folds(labels, X, "grouped", k=4, seed=1)
    assert len(set(zip(folds.groups, pairs, strict=True))) == 10
    source, seen = StoredGram(compute_gram(SpectrumKernel(k=3), X)), []

    class Spy(Source):
        def block(self, train, test, y=None):
            seen.append((set(pairs[train]), set(pairs[test])))
            return source.block(train, test, y)

    for split in folds:
        evaluate_fold(Task("all", labels), split, {"k": Spy()}, GRID, INNER, groups=folds.groups)
    assert len(seen) == 4 * 3
    assert not any(train & test for train, test in seen)


def choose(**kernels):
    return json.dumps({"choose": [{"name": name, **spec} for name, spec in kernels.items()]})


CANDIDATES = choose(
    pairs={"kernel": "pairwise", "base": {"kernel": "spectrum", "k": 1}},
    three={"kernel": "spectrum", "k": 3, "transforms": ["centre"]},
    two={"kernel": "spectrum", "k": 2},
)


def of_c(folder):
    """Return the rows of choices on C."""
    return [row for row in read_tsv(folder / "choices.tsv") if row["parameter"] == "C"]


def test_kernels_to_choose_among_give_what_the_chosen_one_gives_alone(study, tmp_path):
    argv = [*study, "-o", str(tmp_path / "all")]
    argv[argv.index("--kernel") + 1] = CANDIDATES
    assert main(argv) == 0
    choices = read_tsv(tmp_path / "all" / "choices.tsv")
    chosen = {row["split"]: row["value"] for row in choices if row["parameter"] == "kernel"}
    assert len(chosen) == 4
    assert set(chosen.values()) <= {"pairs", "three", "two"}
    decided = {}
    for item in json.loads(CANDIDATES)["choose"]:
        name = item.pop("name")
        argv = [*study, "-o", str(tmp_path / name)]
        argv[argv.index("--kernel") + 1] = json.dumps(item)
        assert main(argv) == 0
        decided[name] = read_tsv(tmp_path / name / "decisions.tsv")
        assert {row["parameter"] for row in read_tsv(tmp_path / name / "choices.tsv")} == {"C", "threshold"}
    for row in read_tsv(tmp_path / "all" / "decisions.tsv"):
        assert row in decided[chosen[row["split"]]]
    inner = {name: {row["split"]: float(row["inner_score"]) for row in of_c(tmp_path / name)} for name in decided}
    for row in choices:
        if row["parameter"] == "threshold":
            continue
        assert float(row["inner_score"]) == max(scores[row["split"]] for scores in inner.values())


def test_stored_grams_of_kernels_to_choose_among(study, tmp_path, capsys):
    X, paths = sequences(), []
    for k in (1, 3, 2):
        paths.append(str(tmp_path / f"{k}.npy"))
        compute_gram(SpectrumKernel(k=k), X, path=paths[-1])
    argv = [*study]
    argv[argv.index("--kernel") + 1] = CANDIDATES
    assert main([*argv, "-o", str(tmp_path / "none")]) == 0
    assert main([*argv, "--gram", *paths, "-o", str(tmp_path / "stored")]) == 0
    for table in TABLES:
        assert (tmp_path / "none" / table).read_bytes() == (tmp_path / "stored" / table).read_bytes()
    for wrong, words in (
        (paths[:1], "1 Gram matrices for 3 kernels that need one"),
        (paths[::-1], "another kernel"),
    ):
        capsys.readouterr()
        assert main([*argv, "--gram", *wrong, "-o", str(tmp_path / "out")]) == 1
        assert words in capsys.readouterr().err
    for kernels in (
        '{"choose": []}',
        '{"choose": ["spectrum"]}',
        '{"choose": {"kernel": "spectrum"}}',
        '{"choose": [{"name": 1}]}',
    ):
        argv[argv.index("--kernel") + 1] = kernels
        assert main([*argv, "-o", str(tmp_path / "out")]) == 1
        assert "give a list of kernels, each with a name" in capsys.readouterr().err


def test_checkpoints_of_another_identity_or_half_written_are_not_found(tmp_path):
    first = Checkpoint(tmp_path / "kept", "a")
    first.put("key", [1, 2.5])
    assert first.get("key") == [1, 2.5]
    assert Checkpoint(tmp_path / "kept", "b").get("key") is None
    next((tmp_path / "kept").iterdir()).write_text("[1, 2")
    assert first.get("key") is None
    first.clear()
    assert not (tmp_path / "kept").exists()


def test_a_solver_of_features_takes_those_of_the_kernel(study, tmp_path, capsys):
    argv = [*study, "-o", str(tmp_path / "out"), "--selection-bias"]
    argv[argv.index("--solver") + 1] = "psvc:kernel=features"
    assert main(argv) == 0
    rows = read_tsv(tmp_path / "out" / "features.tsv")
    assert {row["split"] for row in rows} == {row["split"] for row in read_tsv(tmp_path / "out" / "metrics.tsv")}
    assert all(len(row["feature"]) == 3 for row in rows)
    assert len(read_tsv(tmp_path / "out" / "selection_bias.tsv")) == len(read_tsv(tmp_path / "out" / "metrics.tsv"))
    argv[argv.index("--kernel") + 1] = "oligo:k=2,sigma=1"
    assert main(argv) == 1
    assert "features" in capsys.readouterr().err


def test_a_gram_over_all_units_is_refused_for_a_kernel_that_learns(study, tmp_path, capsys):
    spec = "pairwise:base=(rbf:gamma=scale,base=(spectrum:k=2))"
    kernel, path = build_kernel(spec), tmp_path / "gram.npy"
    compute_gram(copy.deepcopy(kernel).fit(sequences()), sequences(), path=path)
    argv = [*study, "--gram", str(path), "-o", str(tmp_path / "out")]
    argv[argv.index("--kernel") + 1] = spec
    capsys.readouterr()
    assert main(argv) == 1
    assert "remove --gram" in capsys.readouterr().err
    for call in (lambda: compute_gram(kernel, sequences()), lambda: open_gram(path, kernel=kernel)):
        with pytest.raises(ParameterError, match="not fitted"):
            call()
