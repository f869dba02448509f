"""The plan of a data set: as many fits as evaluation makes, the same bytes again, every kind of data."""

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from seqkern.core import threads
from seqkern.core.errors import SeqkernError
from seqkern.core.memory import parse_bytes
from seqkern.core.specs import parse_spec
from seqkern.evaluation import make_folds
from seqkern.evaluation.auto import Member
from seqkern.methods import sources
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.plan_dataset import DatasetPlanner, fold_shapes
from seqkern.methods.sources import FitData
from seqkern.methods.training import automatic_method
from seqkern.solvers import CSVC
from seqkern.solvers.costs import FitWork
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.solvers.svm.margins import bounds_cost
from seqkern.study import kernel_entries, make_dataset
from seqkern.study.study import Study

DONORS = {"simulate": {"kind": "donor", "n_positive": 30, "n_decoy": 60}}
EQUAL = {"simulate": {"kind": "donor", "n_positive": 30, "n_decoy": 30}}
KERNELS = {"two": {"kernel": "spectrum", "k": 2}, "three": {"kernel": "spectrum", "k": 3}}


OBJECTS = 1_000_000
"""Bytes of Python objects of a fit, at most."""


def planner(dataset=DONORS, kernels=KERNELS, solvers=None, inner=None, k=3, limit="2GB"):
    """Return the planner of a study of one data set, and the data set with its folds."""
    config = {"study": "s", "datasets": {"d": dataset}, "kernels": kernels, "inner": inner or {}, "memory_limit": limit}
    study = Study.parse(config | {"solvers": solvers or {"svm": {"solver": "csvc", "C": [1, 10]}}})
    made = make_dataset("d", dataset)
    folds = {name: make_folds(task.labels, k=k, seed=1) for name, task in made.tasks.items()}
    return DatasetPlanner(study, made, folds)


def fits_made(plan, entry):
    """Return the number of fits of each fold, by training as seqkern evaluate does."""
    search = entry.search
    method = Method(
        entry.kernels,
        entry.candidates(),
        transforms=entry.transforms,
        layers=entry.layers.specs(),
        calibration=entry.calibration,
        threshold=entry.threshold,
        search=Search(search.folds, search.metric, entry.seed, search.rule, clusters=search.clusters),
    )
    made = []
    for name, task in plan.dataset.tasks.items():
        groups = plan.fold_sets[name].groups
        labels = task.labels if groups is None else replace(task.labels, groups=groups)
        data = FitData(labels, method.sources(plan.dataset.X))
        for split in plan.fold_sets[name]:
            made.append(method.fit(data, split.train, ahead=split.test).inner.n + 1)
    return made


def choice(**params):
    return {"svm": {"solver": "csvc", **params}}


@pytest.mark.parametrize(
    "given",
    [
        {"solvers": choice(C=[0.1, 1, 10])},
        {"solvers": choice(C=1)},  # unequal classes: a threshold
        {"solvers": choice(C=1), "dataset": EQUAL},
        {"solvers": choice(C=1), "dataset": EQUAL, "inner": {"calibration": "platt"}},
        {"solvers": choice(C=[1, 10]), "inner": {"calibration": "isotonic", "threshold": "mcc"}},
        {"solvers": choice(C=1), "dataset": EQUAL, "inner": {"calibration": "variance"}},  # for numbers only
        {"solvers": choice(C=1), "inner": {"threshold": "none"}},
        {"solvers": choice(C=1, class_weight={"1": 2}), "inner": {"folds": 4}},
        {"solvers": {"svm": {"solver": "csvc", "C": 1, "layers": ["probabilities"]}}},
        {"solvers": choice(C=[1, 10]), "inner": {"search": "random", "draws": 3}},
        {"solvers": choice(C=[1, 10]), "inner": {"clusters": 2}},
        {"kernels": KERNELS | {"best": {"choose": ["two", "three"]}}},
        {"solvers": {"linear": {"solver": "linear_svc", "C": [1, 10]}}},
        {"solvers": {"primal": {"solver": "primal_svc", "C": 1}}},
    ],
)
def test_a_plan_has_the_fits_that_evaluation_makes(given):
    plan = planner(**given)
    shapes = fold_shapes(plan.dataset, plan.fold_sets, plan.study.inner.folds, plan.study.seed)
    for entry in plan.study.methods("d")[-1:]:
        assert [plan.planned(entry).n_fits(shape) for shape in shapes] == fits_made(plan, entry)


@pytest.mark.parametrize(("solver", "more"), [("gp_regression", 3), ("svr", 0)])
def test_a_plan_has_the_fits_that_calibrate_variances(tmp_path, solver, more):
    rng = np.random.default_rng(0)
    records = [f">s{i} value={rng.normal()}\n{''.join(rng.choice(list('ACGT'), 20))}\n" for i in range(30)]
    (tmp_path / "d.fa").write_text("".join(records))
    data = {"fasta": str(tmp_path / "d.fa"), "labels": {"from": "header", "label": "value", "kind": "real"}}
    plan = planner(data, solvers={"gp": {"solver": solver}}, inner={"calibration": "variance"})
    shapes = fold_shapes(plan.dataset, plan.fold_sets, plan.study.inner.folds, plan.study.seed)
    entry = plan.study.methods("d")[0]
    assert [plan.planned(entry).n_fits(shape) for shape in shapes] == fits_made(plan, entry) == [1 + more] * 3


def test_the_inner_loops_of_a_pooled_choice_are_jobs_of_their_own():
    pooled = planner(inner={"pooled": "tasks"}).plan().methods["two"]["svm"]
    alone = planner().plan().methods["two"]["svm"]
    assert len(pooled.inner) == len(pooled.folds) == 3
    assert sum(pooled.inner) < sum(alone.folds) + 1e-9
    assert sum(pooled.folds) < sum(alone.folds)


@pytest.mark.parametrize("metric", ["auc", "span"])
def test_a_plan_counts_the_bounds(metric, monkeypatch):
    """Of the last fit alone, or with a bound as inner metric of each candidate too."""
    plan = planner(inner={"metric": metric})
    shapes = fold_shapes(plan.dataset, plan.fold_sets, plan.study.inner.folds, plan.study.seed)
    entry, seconds = plan.study.methods("d")[0], []
    traits = CSVC.traits.fget
    for bounds in (True, False):
        monkeypatch.setattr(CSVC, "traits", property(lambda one, bounds=bounds: traits(one).but(bounds=bounds)))
        seconds.append(plan.planned(entry).fold(shapes[0]).seconds)
    bounds = bounds_cost(FitWork(shapes[0].train)).seconds
    assert seconds[0] - seconds[1] == pytest.approx(bounds * (3 if metric == "span" else 1))


AUTO = [f"{name}={n}" for name in ("spectrum:k", "weighted_degree:degree") for n in range(1, 8)] + ["salzberg"]
AUTO += ["combination:parts=[(spectrum:k=2),(spectrum:k=3),(weighted_degree:degree=3)],weights=uniform"]


@pytest.mark.parametrize(
    ("solver", "limit", "left_out"), [("csvc", "100MB", 0), ("csvc", "12MB", 1), ("lssvc", "20MB", 0)]
)
def test_a_choice_among_many_kernels_holds_what_is_planned_within_the_limit(solver, limit, left_out, monkeypatch):
    """A matrix of all samples takes 2.9 MB, all fourteen 40 MB, a fit of the combination to all samples 14 MB."""
    members = [Member.of(parse_spec(text, "kernel")) for text in AUTO]
    told = []
    monkeypatch.setattr(kernel_entries, "members_for", lambda *_: members)
    monkeypatch.setattr(sources, "tell", told.append)
    data = {"simulate": {"kind": "donor", "n_positive": 200, "n_decoy": 400}}
    kernels = {"auto": {"kernel": "auto", "time": "60m"}}
    plan = planner(data, kernels, {"svm": {"solver": solver, "C": [1, 10]}}, limit=limit)
    entry = plan.study.methods("d")[0]
    planned = plan.planned(entry)
    shapes = fold_shapes(plan.dataset, plan.fold_sets, plan.study.inner.folds, plan.study.seed)
    expected = planned.once.bytes + max(planned.fold(shape).bytes for shape in shapes)
    how = {"entry": entry.kernel, "solver": entry.solver.spec, "search": Search(entry.search.folds), "n_choices": 3}
    method = automatic_method(plan.dataset.X, **how, memory_limit=limit)
    assert list(planned.inputs) == list(method.kernels)
    assert len(method.kernels) == len(AUTO) - left_out
    assert sum("is left out: it needs" in line for line in told) == 2 * left_out
    split = next(iter(plan.fold_sets["all"].splits))
    tracemalloc.start()
    try:
        made = FitData(
            plan.dataset.tasks["all"].labels, method.sources(plan.dataset.X, memory_limit=limit, n_threads=1)
        )
        before, _ = tracemalloc.get_traced_memory()
        method.fit(made, split.train, ahead=split.test).decide(split.test)
        held = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert 8e6 < held < min(expected, parse_bytes(limit)) + OBJECTS
    assert expected < 1.3 * held


@pytest.mark.parametrize("solver", ["primal_svc", "linear_svc"])
@pytest.mark.parametrize("kernel", ["{}", "gapped_kmer:l=6,k=4,d=2,estimator=truncated+({})"])
def test_approximate_features_take_the_memory_that_is_planned(solver, kernel):
    """Of 2,250 samples 400 features each, 3.6 MB."""
    data = {"simulate": {"kind": "donor", "n_positive": 1000, "n_decoy": 1250}}
    spec = parse_spec(kernel.format("nystroem:base=(rbf:base=(spectrum:k=4)),n_components=400"), "kernel")
    plan = planner(data, {"landmarks": spec}, {"svm": {"solver": solver, "C": 1}}, {"threshold": "none"})
    planned = plan.planned(plan.study.methods("d")[0])
    shapes = fold_shapes(plan.dataset, plan.fold_sets, plan.study.inner.folds, plan.study.seed)
    cost, X = planned.fold(shapes[0]), plan.dataset.X
    method = Method(planned.entry.kernels, planned.candidates, threshold="none")
    split = next(iter(plan.fold_sets["all"].splits))
    tracemalloc.start()
    try:
        made = FitData(plan.dataset.tasks["all"].labels, method.sources(X, n_threads=1))
        method.fit(made, split.train, ahead=split.test).decide(split.test)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held / 1.3 < planned.once.bytes + cost.bytes < 2 * held
    assert cost.seconds > plan.study.kernels["landmarks"].kernel.operator.making(X) > 0


def test_a_plan_has_the_same_bytes_again():
    kernels = KERNELS | {"auto": {"kernel": "auto"}, "fisher": {"kernel": "fisher"}}
    assert planner(kernels=kernels).plan().to_json() == planner(kernels=kernels).plan().to_json()


def test_a_plan_does_not_depend_on_the_cores_of_the_machine(monkeypatch):
    plans = set()
    for cores in (1, 2, 64):
        monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        plans.add(planner().plan().to_json())
    assert len(plans) == 1


def test_the_folds_are_in_the_order_of_tasks_and_splits():
    dataset = {
        "simulate": {"kind": "superfamilies", "n_superfamilies": 2, "n_families": 2, "n_members": 4},
        "tasks": "families",
    }
    plan = planner(dataset, solvers=choice(C=1), k=2)
    assert len(plan.plan().methods["two"]["svm"].folds) == sum(len(one.splits) for one in plan.fold_sets.values()) > 2


def test_larger_training_sets_cost_more():
    plan = planner()
    one = plan.planned(plan.study.methods("d")[0])
    small = fold_shapes(plan.dataset, plan.fold_sets, 3, 1)[0]
    large = replace(small, train=10 * small.train, inner=tuple((10 * a, 10 * b) for a, b in small.inner))
    assert one.fold(large).seconds > one.fold(small).seconds
    assert one.fold(large).bytes > 10 * one.fold(small).bytes


def test_the_cost_of_a_fit_grows_with_its_samples():
    for solver in [one for cls in SOLVERS.classes.values() for one in cls.examples()]:
        features = 50 if solver.input == "features" else None
        costs = [solver.fit_cost(FitWork(n, 3, features, solver.input)) for n in (100, 1000)]
        assert 0 < costs[0].seconds <= costs[1].seconds < np.inf, solver
        assert 0 <= costs[0].bytes <= costs[1].bytes, solver


def test_many_methods_are_planned_in_seconds():
    kernels = {f"k{i}": {"kernel": "spectrum", "k": 1 + i % 6, "normalize": bool(i % 2)} for i in range(40)}
    solvers = {f"s{i}": {"solver": "csvc", "C": [0.1 * (i + 1), 10]} for i in range(30)}
    plan = planner(kernels=kernels, solvers=solvers)
    start = time.process_time()
    assert sum(map(len, plan.plan().methods.values())) == 1200
    assert time.process_time() - start < 4


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"kernel": "pair_hmm"}, "pair_hmm"),
        ({"kernel": "pair_hmm", "gaps": "fit"}, "pair_hmm"),
        ({"kernel": "sum", "parts": [{"kernel": "spectrum"}, {"kernel": "smith_waterman"}]}, "smith_waterman"),
    ],
)
def test_a_matrix_of_another_alphabet_is_refused_before_any_job(spec, name):
    with pytest.raises(SeqkernError) as error:
        planner(kernels={"two": KERNELS["two"], "ours": spec}).plan()
    assert f"kernel {name!r}: matrix BLOSUM62 is a protein matrix, the alphabet is dna" in str(error.value)
    assert "kernels.ours: " in str(error.value) or spec.get("gaps") == "fit"  # which is fitted later
