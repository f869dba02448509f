"""Gram matrices larger than the memory limit: read by rows with the same results, or refused before the work."""

import numpy as np
import pytest
from given import inputs

from seqkern.cli.main import main
from seqkern.core.errors import GramError
from seqkern.gram import compute_gram
from seqkern.gram.matrix import GramRows
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel, kernel_specs
from seqkern.methods import sources as room_module
from seqkern.methods.method import Method
from seqkern.methods.sources import FittedKernel, MemoryBudget, StoredGram
from seqkern.methods.training import collect_training_data
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import build_solver
from seqkern.study.study import Study

BOUNDS = ("span", "xi_alpha", "radius_margin")
TABLES = ("decisions.tsv", "metrics.tsv", "choices.tsv", "fits.tsv", "inner_scores.tsv")


def write_fasta(path, n, seed):
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for i in range(n):
            bases = rng.choice(list("ACGT"), 40)
            if i % 2 and rng.random() < 0.8:
                bases[10:16] = list("GATAAG")
            file.write(f">s{i} label={'bound' if i % 2 else 'free'}\n{''.join(bases)}\n")
    return str(path)


@pytest.fixture
def dataset(tmp_path):
    """Return the arguments of ``seqkern evaluate`` on a data set with a stored matrix, without solver and output."""
    fasta = write_fasta(tmp_path / "s.fa", 120, 1)
    entry = f'{{"fasta": "{fasta}", "labels": {{"from": "header", "positive": "bound"}}}}'
    data, folds, gram = (str(tmp_path / name) for name in ("data", "folds", "gram.npy"))
    assert main(["datasets", "--entry", entry, "--name", "s", "-o", data]) == 0
    assert main(["folds", data, "--method", "stratified", "--k", "3", "--allow-similar", "-o", folds]) == 0
    assert main(["gram", "--dataset", data, "--kernel", "spectrum:k=3", "--dtype", "float32", "-o", gram]) == 0
    return ["evaluate", data, "--folds", folds, "--kernel", "spectrum:k=3", "--gram", gram]


@pytest.fixture
def parts(monkeypatch):
    """Return a list that gets an item for each GramRows."""
    made, init = [], GramRows.__init__

    def counted(self, *given, **options):
        made.append(self)
        init(self, *given, **options)

    monkeypatch.setattr(GramRows, "__init__", counted)
    return made


@pytest.fixture
def little_memory(monkeypatch):
    """Let 100 kB be available."""
    monkeypatch.setattr(room_module, "available_memory", lambda: 100_000)


@pytest.mark.parametrize("solver", ["csvc:C=1", "csvc:C=[0.1,1,10]"])
def test_rows_and_slices_give_the_same_tables(tmp_path, dataset, parts, solver):
    assert main([*dataset, "--solver", solver, "-o", str(tmp_path / "slices")]) == 0
    assert not parts
    assert main([*dataset, "--solver", solver, "--memory", "20kB", "-o", str(tmp_path / "rows")]) == 0
    assert parts
    for name in TABLES:
        rows, slices = ((tmp_path / one / name).read_text().splitlines() for one in ("rows", "slices"))
        if name == "fits.tsv":  # bounds of the leave-one-out error need the matrix
            rows, slices = without_bounds(rows), without_bounds(slices)
        assert rows == slices, name


def test_a_choice_among_many_kernels_is_made_within_the_limit(tmp_path, dataset, capsys):
    """Though no matrix is stored; refused before the first fit."""
    auto = [
        *dataset[:4],
        "--kernel",
        '{"kernel": "auto", "time": "1s"}',
        "--solver",
        "csvc:C=1",
        "-o",
        str(tmp_path / "a"),
    ]
    assert main([*auto, "--memory", "1kB"]) == 1
    assert "of memory, but the limit is 1 kB; raise it to " in capsys.readouterr().err
    assert main([*auto, "--memory", "100MB"]) == 0


def without_bounds(lines):
    """Return the lines of fits.tsv without three columns."""
    cells = [line.split("\t") for line in lines]
    dropped = {cells[0].index(name) for name in BOUNDS}
    return [[cell for place, cell in enumerate(line) if place not in dropped] for line in cells]


def test_a_solver_that_needs_the_matrix_is_refused_before_the_work(tmp_path, dataset, little_memory, capsys):
    out = tmp_path / "out"
    assert main([*dataset, "--solver", "lssvc", "-o", str(out)]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("seqkern: ")]
    assert "80 training and 40 test samples" in line
    assert "csvc" in line
    assert not any(path.is_file() for path in out.rglob("*"))
    assert main([*dataset, "--solver", "csvc", "-o", str(out)]) == 0  # the remedy


def test_transforms_need_the_matrix(tmp_path, little_memory):
    X = SequenceSet.from_strings(["ACGT" * 5, "GGTA" * 5] * 100, "dna")
    gram = compute_gram(SpectrumKernel(2), X, path=tmp_path / "gram.npy")
    rows = np.arange(150)
    whole = StoredGram(gram, memory_budget=MemoryBudget.of(None, accepts_rows=True))
    assert isinstance(inputs(whole, rows, rows[:2])[0], GramRows)
    with pytest.raises(GramError, match="without transforms and repair"):
        inputs(
            StoredGram(gram, [build_transform("centre")], memory_budget=MemoryBudget.of(None, accepts_rows=True)),
            rows,
            rows[:2],
        )


REMEDIES = ("linear_svc", "gp_inducing")


@pytest.mark.parametrize(
    ("solver", "remedies"),
    [
        ("csvc", {"linear_svc"}),
        ("gp_classification", {"linear_svc"}),
        ("one_against_rest:binary=(csvc:C=1)", {"linear_svc"}),
        ("gp_regression", {"gp_inducing"}),
        ("gp_inducing", set()),
        ("svr", set()),
        ("kernel_pca", set()),
        ("one_class_svm", set()),
    ],
)
def test_a_fitted_kernel_is_refused_before_the_work_with_what_the_solver_suggests(little_memory, solver, remedies):
    X = SequenceSet.from_strings(["ACGT" * 5] * 200, "dna")
    method = Method({"kernel": SpectrumKernel(2)}, solver)
    memory_budget = MemoryBudget.of(None, accepts_rows=False, beside=method.gram_bytes, without=method.without_matrix)
    with pytest.raises(GramError, match="train on fewer samples") as raised:
        FittedKernel(SpectrumKernel(2), X, memory_budget=memory_budget).check_memory(190, 10)
    assert {name for name in REMEDIES if name in str(raised.value)} == remedies


@pytest.mark.parametrize(("solver", "remedies"), [("csvc", {"linear_svc"}), ("gp_regression", {"gp_inducing"})])
def test_a_matrix_without_room_is_refused_with_what_the_solver_suggests(solver, remedies):
    X = SequenceSet.from_strings(["ACGT" * 5, "GGTA" * 5] * 10, "dna")
    labels = make_labels(X.ids, [i % 2 for i in range(20)], kind="binary" if solver == "csvc" else "real")
    with pytest.raises(GramError, match=r"write it to a file \(path\)") as raised:
        collect_training_data(Method(SpectrumKernel(2), solver), X, labels, memory_limit="1kB")
    assert {name for name in REMEDIES if name in str(raised.value)} == remedies


def test_what_solvers_need_besides_the_matrix():
    assert build_solver("csvc").gram_bytes(1000) == 4 * 1000**2
    assert build_solver("csvc").gram_bytes(50_000) == 200 * 2**20
    assert build_solver("kernel_fisher").gram_bytes(1000) == 2 * 8 * 1000**2
    memory_budget = MemoryBudget(10**9, 10**9, accepts_rows=True, beside=build_solver("csvc").gram_bytes)
    assert memory_budget.slice_bytes(1000, 100) == 8 * 1000 * 1100 + 4 * 1000**2
    assert memory_budget.row_bytes(50_000) < 1.1 * 10**9


@pytest.fixture
def train(tmp_path):
    """Return the arguments of ``seqkern train``, without output."""
    fasta = write_fasta(tmp_path / "t.fa", 80, 2)
    method = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=1"]
    return ["train", fasta, "--labels", "header", "--positive", "bound", *method]


def test_a_model_does_not_depend_on_where_its_matrix_is(tmp_path, train, parts):
    gram = str(tmp_path / "gram.npy")
    assert main([*train, "-o", str(tmp_path / "memory")]) == 0
    assert main([*train, "--gram", gram, "-o", str(tmp_path / "made")]) == 0
    made = (tmp_path / "gram.npy").stat().st_mtime_ns
    assert not parts
    assert main([*train, "--gram", gram, "--memory", "30kB", "-o", str(tmp_path / "used")]) == 0
    assert parts
    assert (tmp_path / "gram.npy").stat().st_mtime_ns == made
    for name in ("made", "used"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "memory").read_bytes()


def test_a_stored_matrix_replaces_products(tmp_path, train, parts, monkeypatch):
    monkeypatch.setattr(kernel_specs, "LARGEST_GRAM", 1000)
    assert main([*train, "--gram", str(tmp_path / "gram.npy"), "-o", str(tmp_path / "model")]) == 0
    assert (tmp_path / "gram.npy").exists()


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"spectrum:k=3": "spectrum:k=4"}, "another kernel"),
        ({"csvc:C=1": "linear_svc"}, "no Gram matrix to store"),
        ({"spectrum:k=3": "spectrum:k=3|4"}, "1 file for 2 Gram matrices"),
    ],
)
def test_a_matrix_that_does_not_belong_here_is_left_alone(tmp_path, train, changed, text, capsys):
    gram = tmp_path / "gram.npy"
    assert main([*train, "--gram", str(gram), "-o", str(tmp_path / "model")]) == 0
    before = gram.read_bytes()
    capsys.readouterr()
    other = [changed.get(word, word) for word in train]
    assert main([*other, "--gram", str(gram), "-o", str(tmp_path / "other")]) == 1
    assert text in capsys.readouterr().err
    assert gram.read_bytes() == before
    assert not (tmp_path / "other").exists()


def test_cross_validation_on_a_stored_matrix(tmp_path, train, parts, capsys):
    told, stored = [], ["--gram", str(tmp_path / "gram.npy")]
    for more in ([], stored, [*stored, "--memory", "30kB"]):
        capsys.readouterr()
        assert main(["cv", *train[1:], "--folds", "3", *more]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] == told[2]
    assert parts


def test_a_study_says_the_numbers_of_its_matrices():
    config = {
        "study": "s",
        "datasets": {"donors": {"simulate": {"kind": "donor"}}},
        "kernels": {"three": {"kernel": "spectrum", "k": 3}},
        "solvers": {"svm": {"solver": "csvc"}},
    }
    assert Study.parse(config).dtype == "float64"
    assert Study.parse(config | {"dtype": "float32"}).dtype == "float32"
