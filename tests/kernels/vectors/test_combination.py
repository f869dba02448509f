"""The kernel whose weights are learned from the training set, in cross-validation, studies and models."""

import json
import warnings

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import inputs
from sklearn.exceptions import ConvergenceWarning

from seqkern.cli.main import main
from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.gram import compute_gram
from seqkern.gram.transforms import build_transform
from seqkern.kernels import CombinationKernel, SpectrumKernel, build_kernel, parse_spec
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.kernels.vectors import combination
from seqkern.methods.loading import load_model
from seqkern.methods.sources import FittedKernel, ImplicitSource, StoredGram
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Dataset, Task, save_dataset
from seqkern.study.study import Study

PARTS = "parts=[(spectrum:k=3),(spectrum:k=2),(spectrum:k=1)]"
ALIGNED = f"combination:{PARTS}"
SPECS = [
    ALIGNED,
    f"combination:{PARTS},alignment=independent,normalize=true",
    f"combination:{PARTS},weights=mkl",
    f"combination:{PARTS},weights=mkl,p=2,scale=none",
    f"combination:{PARTS},weights=uniform",
    "combination:parts=[(pairwise:base=(spectrum:k=2)),(spectrum:k=2)]",
    f"pairwise:base=({ALIGNED}),vector_kernel=rbf",
    f"combination:parts=[({ALIGNED},weights=mkl),(spectrum:k=4)],normalize=true",
]
TRAIN, TEST = np.arange(0, 40, 2), np.arange(1, 40, 2)
INNER = InnerLoop(folds=2)
C_GRID = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1.0}]


def sequences(n=40, seed=0):
    """Return strings of two classes, four by four."""
    rng = np.random.default_rng(seed)
    rich = [(0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4)]
    strings = ["".join(rng.choice(list("ACGT"), 30, p=rich[i // 4 % 2])) for i in range(n)]
    return SequenceSet.from_strings(strings, "dna")


X = sequences()
NAMES = ["1" if i // 4 % 2 else "0" for i in range(40)]
LABELS = make_labels(X.ids, NAMES)
Y = LABELS.signs()


def stored(kernel, X=X, transforms=()):
    form = kernel.stored_form
    return StoredGram([compute_gram(one, X) for one in form.kernels], transforms, form=form, ids=X.ids)


# ---- the kernel ---------------------------------------------------------------------------------


def test_it_is_the_sum_of_its_parts_with_weights_over_scales():
    kernel = build_kernel(ALIGNED).fit(X.take(TRAIN), Y[TRAIN])
    assert kernel.weights_.sum() == pytest.approx(1)
    grams = [part(X) for part in kernel.parts]
    total = sum(w / s * K for w, s, K in zip(kernel.weights_, kernel.scales_, grams, strict=True))
    np.testing.assert_allclose(kernel(X), total, rtol=1e-13)
    centred = [np.trace(K[np.ix_(TRAIN, TRAIN)]) / 20 - K[np.ix_(TRAIN, TRAIN)].mean() for K in grams]
    np.testing.assert_allclose(kernel.scales_, centred, rtol=1e-12)


def test_equal_weights_without_scales_are_the_mean_and_learn_nothing():
    kernel = build_kernel(f"combination:{PARTS},weights=uniform,scale=none")
    assert not kernel.traits.data_dependent
    assert kernel.stored_form.kernels == [kernel]
    np.testing.assert_allclose(kernel(X), np.mean([part(X) for part in kernel.parts], axis=0), rtol=1e-14)


def test_a_part_without_weight_is_not_computed(monkeypatch):
    kernel = build_kernel(ALIGNED).fit(X, Y)
    kernel.weights_ = np.array([0.0, 1.0, 0.0])
    seen = []
    real = SpectrumKernel.prepare
    monkeypatch.setattr(SpectrumKernel, "prepare", lambda self, *a, **k: seen.append(self.k) or real(self, *a, **k))
    K = kernel(X)
    assert seen == [2]
    np.testing.assert_array_equal(K, SpectrumKernel(k=2)(X) * (1.0 / kernel.scales_[1]))


def test_real_labels_and_several_classes():
    real = np.random.default_rng(0).standard_normal(40)
    assert build_kernel(ALIGNED).fit(X, real).weights_.sum() == pytest.approx(1)
    with pytest.raises(LabelError, match="weights=mkl needs class labels, and the labels are numbers"):
        build_kernel(f"{ALIGNED},weights=mkl").fit(X, real)
    for spec in (ALIGNED, f"{ALIGNED},weights=mkl"):
        by_code, by_name = (
            build_kernel(spec).fit(X, y).weights_ for y in (np.arange(40) % 3, np.array(list("abc"))[np.arange(40) % 3])
        )
        np.testing.assert_array_equal(by_code, by_name)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("weights=best", "weights='best'"),
        ("alignment=both", "alignment='both'"),
        ("p=0.5", "p=0.5"),
        ("C=0", "C=0"),
        ("tol=0", "tol=0"),
        ("max_iter=0", "max_iter=0"),
        ("scale=trace", "scale='trace'"),
    ],
)
def test_parameters_outside_their_domains(options, problem):
    with pytest.raises(ParameterError, match=problem):
        build_kernel(f"combination:{PARTS},{options}")


def test_parts_that_are_not_semidefinite_are_refused_by_mkl_only():
    parts = "combination:parts=[(smith_waterman:normalize=true),(spectrum:k=2)]"
    with pytest.raises(ParameterError, match=r"pairwise:base=\(smith_waterman\)"):
        build_kernel(f"{parts},weights=mkl")
    assert not build_kernel(parts).traits.positive_semidefinite
    with pytest.raises(ParameterError, match="different data"):
        build_kernel("combination:parts=[linear,(spectrum:k=2)]")


def test_too_many_units_for_the_memory_are_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(combination, "available_memory", lambda: 1000)
    with pytest.raises(GramError, match="learning the weights of 3 kernels on 40 samples takes"):
        build_kernel(ALIGNED).fit(X, Y)


def test_a_search_that_stops_early_warns():
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        kernel = build_kernel(f"{ALIGNED},weights=mkl,tol=1e-7,max_iter=1").fit(X, Y)
    assert not kernel.report_["converged"]


@pytest.mark.parametrize(
    "text",
    [
        "spectrum:k=3",
        "linear",
        "rbf:gamma=0.5,base=(spectrum:k=1+2,normalize=false)",
        "smith_waterman:gap_open=7.5,gap_extend=1",
        ALIGNED,
    ],
)
def test_the_text_of_a_kernel_is_read_as_that_kernel(text):
    kernel = build_kernel(text)
    assert kernel_text(kernel) == text
    assert build_kernel(parse_spec(kernel_text(kernel))).identity() == kernel.identity()


def test_equal_parts_have_names_of_their_own():
    kernel = build_kernel("combination:parts=[(spectrum:k=2),(spectrum:k=2)]")
    assert list(kernel.fit(X, Y).learned()) == ["weight of spectrum:k=2", "weight of spectrum:k=2 (2)"]


# ---- stored matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("transforms", [(), ("centre",)], ids=str)
def test_stored_matrices_give_what_the_fitted_kernel_gives(spec, transforms):
    kernel, transforms = build_kernel(spec), [build_transform(item) for item in transforms]
    source, fitted = stored(kernel, X, transforms), FittedKernel(kernel, X, transforms)
    assert source.learns
    for got, wanted in zip(inputs(source, TRAIN, TEST, Y[TRAIN]), inputs(fitted, TRAIN, TEST, Y[TRAIN]), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-13)
    first, second = (one.block(TRAIN, TEST, Y[TRAIN]) for one in (source, fitted))
    assert first.learned == pytest.approx(second.learned)
    assert first.learned
    np.testing.assert_allclose(first.test_diagonal, second.test_diagonal, rtol=1e-12)


def test_sums_of_parts_that_learn_nothing_have_the_same_bits():
    kernel = build_kernel(f"{ALIGNED},normalize=true")
    one, other = (inputs(source, TRAIN, TEST, Y[TRAIN]) for source in (stored(kernel), FittedKernel(kernel, X)))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("spec", SPECS)
def test_weights_are_learned_from_the_training_part_alone(spec):
    kernel = build_kernel(spec)
    clean = stored(kernel).block(TRAIN, TEST, Y[TRAIN])
    poisoned = stored(kernel)
    for gram in poisoned.grams:
        gram.values[:, TEST] = np.nan
    again = poisoned.block(TRAIN, TEST, Y[TRAIN])
    assert again.learned == clean.learned
    for name in ("train", "test", "diagonal", "test_diagonal"):
        np.testing.assert_array_equal(getattr(again, name), getattr(clean, name))
    changed = stored(kernel)
    for gram in changed.grams:
        gram.values[TEST[3]] = 7.0
    again = changed.block(TRAIN, TEST, Y[TRAIN])
    assert again.learned == clean.learned
    np.testing.assert_array_equal(again.train, clean.train)
    assert np.flatnonzero((again.test != clean.test).any(axis=1)).tolist() == [3]


def test_a_kernel_with_a_part_that_must_be_fitted_has_no_stored_form():
    assert build_kernel("combination:parts=[(rbf:gamma=scale,base=(spectrum:k=2)),(spectrum:k=2)]").stored_form is None


def test_a_unit_that_cannot_be_normalised_is_named():
    strings = [*X.strings()[:20], "AC"]
    short = SequenceSet.from_strings(strings, "dna", ids=[*map(str, range(20)), "short"])
    parts = "parts=[(spectrum:k=3,normalize=false,short=zero),(spectrum:k=4,normalize=false,short=zero)]"
    source = stored(build_kernel(f"combination:{parts},normalize=true"), short)
    with pytest.raises(GramError, match="record 'short'"):
        inputs(source, np.arange(20), np.array([20]), Y[:20])
    source = stored(build_kernel(f"combination:{parts},normalize=true,zero_diagonal=zero"), short)
    assert not inputs(source, np.arange(20), np.array([20]), Y[:20])[1].any()


def test_studies_keep_one_matrix_for_each_part():
    config = {
        "kernels": {
            "mix": parse_spec("combination:parts=[(spectrum:k=3),(spectrum:k=5),(pairwise:base=(spectrum:k=2))]"),
            "mix.part2": parse_spec("spectrum:k=7"),
            "three": parse_spec("spectrum:k=3"),
            "again": parse_spec("combination:parts=[(spectrum:k=5),(spectrum:k=3)],weights=mkl"),
            "map": parse_spec("pairwise:base=(spectrum:k=2)"),
            "best": {"choose": ["mix", "three"]},
        }
    }
    homes = Study.of_results(config).stored_grams
    assert {name: [home.name for home in own] for name, own in homes.items()} == {
        "mix": ["three", "mix.part2_", "map"],
        "mix.part2": ["mix.part2"],
        "three": ["three"],
        "again": ["mix.part2_", "three"],
        "map": ["map"],
    }
    assert homes["mix"][1].kernel.k == 5
    assert homes["mix"][2].kernel.k == 2


# ---- folds, command line, models ----------------------------------------------------------------


def weights_of(rows):
    return {row["parameter"]: float(row["value"]) for row in rows if row["parameter"].startswith("weight of")}


@pytest.mark.parametrize(
    "grid",
    [C_GRID, [{"solver": "psvc", "epsilon": 0.1}], [{"solver": "kernel_neighbors"}]],
    ids=["csvc", "psvc", "neighbors"],
)
def test_the_weights_of_each_fold_are_told(grid):
    kernel, task = build_kernel(f"{ALIGNED},weights=mkl"), Task("all", LABELS)
    for split in make_folds(LABELS, X, "stratified", k=3, seed=1):
        result = evaluate_fold(task, split, {"k": stored(kernel)}, grid, INNER)
        fitted = build_kernel(f"{ALIGNED},weights=mkl").fit(X.take(split.train), Y[split.train])
        assert weights_of(result.choices) == {f"weight of spectrum:k={3 - i}": w for i, w in enumerate(fitted.weights_)}
        gaps = [row["value"] for row in result.choices if row["parameter"] == "relative gap of weights"]
        assert gaps == [fitted.report_["relative_gap"]]


@pytest.mark.parametrize(
    ("values", "kind", "weights", "solver"),
    [
        ([str(len(s.replace("A", ""))) for s in X.strings()], "real", "alignment", "psvr"),
        (["abc"[i % 3] for i in range(40)], "multiclass", "mkl", "csvc"),
    ],
    ids=["real", "classes"],
)
def test_real_labels_and_classes_in_folds(values, kind, weights, solver):
    labels = make_labels(X.ids, values, kind=kind)
    kernel = build_kernel(f"{ALIGNED},weights={weights}")
    split = next(iter(make_folds(labels, X, "stratified", k=3, seed=1)))
    result = evaluate_fold(Task("all", labels), split, {"k": stored(kernel)}, [{"solver": solver}], INNER)
    fitted = build_kernel(f"{ALIGNED},weights={weights}").fit(X.take(split.train), labels.y[split.train])
    assert weights_of(result.choices) == pytest.approx({k: v for k, v in fitted.learned().items() if "gap" not in k})


def test_it_can_be_chosen_among_kernels(tmp_path):
    save_dataset(Dataset("toy", "sequences", X, {"all": Task("all", LABELS)}), tmp_path / "data")
    assert (
        main(["folds", str(tmp_path / "data"), "--method", "stratified", "--k", "3", "-o", str(tmp_path / "folds")])
        == 0
    )
    mix = {"name": "mix", **parse_spec(ALIGNED)}
    kernels = {"choose": [{"name": "one", "kernel": "spectrum", "k": 1}, mix]}
    argv = ["evaluate", str(tmp_path / "data"), "--folds", str(tmp_path / "folds"), "--kernel", json.dumps(kernels)]
    argv += ["--solver", "csvc:C=[0.1,1]"]
    assert main([*argv, "-o", str(tmp_path / "fitted")]) == 0
    grams = []
    for k in (1, 3, 2, 1):
        grams.append(str(tmp_path / f"{k}.npy"))
        assert main(["gram", "--dataset", str(tmp_path / "data"), "--kernel", f"spectrum:k={k}", "-o", grams[-1]]) == 0
    assert main([*argv, "--gram", *grams, "-o", str(tmp_path / "stored")]) == 0
    tables = [read_tsv(tmp_path / folder / "choices.tsv") for folder in ("fitted", "stored")]
    assert tables[0] == tables[1]
    for split in {row["split"] for row in tables[0]}:
        rows = [row for row in tables[0] if row["split"] == split]
        chosen = next(row["value"] for row in rows if row["parameter"] == "kernel")
        assert bool(weights_of(rows)) == (chosen == "mix")
    assert weights_of(tables[0])
    assert main([*argv, "--gram", *grams[:2], "-o", str(tmp_path / "few")]) != 0


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_keeps_the_weights(spec, tmp_path):
    kernel = build_kernel(spec)
    model = train_model(X, LABELS, kernel, "csvc:C=1")
    model.save(tmp_path / "m.seqkern")
    loaded, new = load_model(tmp_path / "m.seqkern"), sequences(seed=3)
    np.testing.assert_array_equal(loaded.decision(new), model.decision(new))
    fitted = build_kernel(spec).fit(X, Y)
    assert loaded.kernel.learned() == pytest.approx(fitted.learned())
    assert loaded.kernel.learned()
    prepared = loaded.kernel.prepare(new, like=loaded.columns)
    np.testing.assert_allclose(loaded.decision(new), loaded.by_matrix(prepared), atol=1e-9)


def test_training_computes_each_matrix_once(monkeypatch):
    computed, real = [], SpectrumKernel.prepare
    monkeypatch.setattr(SpectrumKernel, "prepare", lambda self, *a, **k: computed.append(self.k) or real(self, *a, **k))
    train_model(X, LABELS, build_kernel(ALIGNED), "csvc:C=[0.1,1]")
    assert sorted(computed) == [1, 2, 3]


def test_weights_are_told_of_solvers_without_a_matrix():
    kernel, task = build_kernel(ALIGNED), Task("all", LABELS)
    split = next(iter(make_folds(LABELS, X, "stratified", k=3, seed=1)))
    result = evaluate_fold(task, split, {"k": ImplicitSource(kernel, X)}, [{"solver": "linear_svc"}], INNER)
    fitted = build_kernel(ALIGNED).fit(X.take(split.train), Y[split.train])
    assert weights_of(result.choices) == fitted.learned()


def test_train_predict_and_explain(tmp_path, capsys):
    files = []
    for name in "10":
        files.append(tmp_path / f"{name}.fasta")
        strings = [s for s, label in zip(X.strings(), NAMES, strict=True) if label == name]
        files[-1].write_text("".join(f">{name}{i}\n{s}\n" for i, s in enumerate(strings)))
    model = str(tmp_path / "m.seqkern")
    argv = [
        "train",
        "--verbose",
        *map(str, files),
        "--kernel",
        f"{ALIGNED},weights=mkl,p=2",
        "--solver",
        "csvc",
        "-o",
        model,
    ]
    assert main(argv) == 0
    assert "weight of spectrum:k=3: 0." in capsys.readouterr().out
    assert main(["predict", model, str(files[0]), "-o", str(tmp_path / "p.tsv")]) == 0
    assert len(read_tsv(tmp_path / "p.tsv")) == 20
    assert main(["explain", model, str(files[0]), "-o", str(tmp_path / "explained")]) == 0
    capsys.readouterr()
    assert main(["kernels", "combination"]) == 0
    out = capsys.readouterr().out
    assert "does not mean that a kernel is uninformative" in " ".join(out.split())


def test_explanations_add_up():
    model = train_model(X, LABELS, build_kernel(ALIGNED), "csvc:C=1")
    columns, coefficients = model.support, np.random.default_rng(0).standard_normal(len(model.support))
    shares = model.kernel._attribute(X, columns, coefficients)
    sums = np.add.reduceat(shares, np.cumsum(X.lengths) - X.lengths)
    np.testing.assert_allclose(sums, model.kernel(X, columns) @ coefficients, rtol=1e-9, atol=1e-12)


def test_without_a_matrix_it_is_trained_by_its_feature_vectors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = train_model(X, LABELS, build_kernel(ALIGNED), "linear_svc")
    assert isinstance(model.kernel, CombinationKernel)
    np.testing.assert_allclose(model.kernel.weights_, build_kernel(ALIGNED).fit(X, Y).weights_)
