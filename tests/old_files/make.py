"""Frozen files of every kind that seqkern writes to read again, and what they must give.

``python tests/old_files/make.py`` writes ``tests/old_files/RELEASE``, for the release that is installed: one file (or
folder) for each of `FILES`, and ``expected.json``, what its reader returns. Run it once for each release, before it is
published; files of former releases are never made again.
"""

import hashlib
import json
import tempfile
from dataclasses import asdict, astuple
from functools import partial
from pathlib import Path

import numpy as np

from seqkern import __version__
from seqkern.evaluation import Split, make_folds, read_folds, write_folds
from seqkern.evaluation.pooled import InnerFile, stored_loop, write_inner_loops
from seqkern.evaluation.selection import Choice
from seqkern.formats import residue_samples
from seqkern.genomics.gene_learning import GeneModel, load_gene_model
from seqkern.genomics.genes import CURVES, Content, Grammar, Limits
from seqkern.genomics.splice import SpliceModel, load_splice_model, splice_scores
from seqkern.gram import compute_gram, open_gram
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model, pack_folder, read_pack
from seqkern.methods.poim import Importance, Positions, load_positions
from seqkern.methods.table_model import tabulated
from seqkern.methods.training import train_model
from seqkern.report.page import config_text
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.joining import join_views
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable
from seqkern.study import Dataset, Study, Task, load_dataset, save_dataset
from seqkern.study.plan import Cost, DatasetPlan, MethodCost

HERE = Path(__file__).resolve().parent
PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
MODELS = {
    "csvc": ("spectrum:k=2", "csvc:C=1", {"calibration": "platt"}),
    "psvm": ("spectrum:k=2", "psvc", {"threshold": "mcc"}),
    "several_classes": ("mismatch:k=3,m=1", "one_against_rest:binary=(csvc:C=1)", {}),
    "gaussian_process": ("rbf:base=(spectrum:k=2),gamma=0.1", "gp_regression:noise=0.1,scale=1", {}),
    "transforms": (
        "weighted_degree:degree=2",
        "csvc:C=1",
        {"transforms": ("normalise", "centre", "repair:method=flip")},
    ),
    "table": ("gapped_kmer:l=3,k=2", "csvc:C=1", {}),
    "landmarks": ("nystroem:base=(oligo:k=2),n_components=3", "primal_svc", {}),
    "selected": ("spectrum:k=2", "selected:selector=(golub),predictor=(csvc:C=1),n_features=4", {}),
    "views": ("each_view:base=(spectrum:k=2)", "csvc:C=1", {}),
    "features": ("rbf:gamma=0.5", "csvc:C=1", {}),
}
"""Kernel, solver and options of the models, by name."""


def strings(n, length, word, letters="ACGT"):
    """Return n texts that depend on a word alone, in every release of Python and NumPy."""
    digest = hashlib.shake_128(word.encode()).digest(n * length)
    text = "".join(letters[byte % len(letters)] for byte in digest)
    return [text[i * length : (i + 1) * length] for i in range(n)]


def numbers(n, word):
    """Return n numbers from 0 to 1."""
    return np.frombuffer(hashlib.shake_128(word.encode()).digest(n), dtype=np.uint8) / 255


def samples(name, n, word):
    """Return samples as a model of this name takes them."""
    if name == "features":
        return FeatureTable(numbers(3 * n, word).reshape(n, 3), [f"s{i}" for i in range(n)], ("a", "b", "c"))
    if name == "views":
        return join_views({"left": strings(n, 8, word), "right": strings(n, 6, f"{word} right")}, "dna")
    return as_sequences(strings(n, 14, word), "dna")


def trained(name):
    """Return a model of `MODELS`."""
    kernel, solver, options = MODELS[name]
    X = samples(name, 18, "training")
    y = [round(value, 3) for value in numbers(18, "y").tolist()]
    if name != "gaussian_process":
        y = list(("abc" if name == "several_classes" else "ab") * 9)[:18]
    kind = "real" if name == "gaussian_process" else None
    transforms = [build_transform(spec) for spec in options.get("transforms", ())]
    labels = make_labels(X.ids, y, kind=kind)
    options = {**options, "transforms": transforms, "folds": 3, "n_threads": 1, "allow_similar": True}
    model = train_model(X, labels, build_kernel(kernel), solver, **options)
    return tabulated(model) if name == "table" else model


def decided(path, name=None):
    """Return the decisions of a model on new samples, with what its solver says beside them."""
    model, X = load_model(path), samples(name or path.stem, 5, "new")
    decisions, predicted, probabilities, variances = model.decide(X, n_threads=1)
    variances = None if variances is None else astuple(variances)[:3]  # without the tail, which came later
    return plain([type(model).__name__, model.classes, decisions, predicted, probabilities, variances])


def plain(value):
    """Return a value as JSON."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def save_residues(path):
    """Write a model of residues with a layer."""
    chains = strings(6, 16, "training", PROTEIN)
    states = np.frombuffer("".join(chains).encode(), dtype=np.uint8)
    states = np.where(np.isin(states, list(b"AEKLMQR")), ord("H"), ord("C")).astype(np.uint8)
    X = SequenceSet.from_strings(chains, "protein").replace(tracks={"states": states})
    windows, of = residue_samples(X, 3)
    labels = make_labels(windows.ids, list(bytes(states).decode()))
    options = {"residues": of, "layers": ["structure:window=3,n_components=3", "segments"], "folds": 3, "n_threads": 1}
    train_model(windows, labels, build_kernel("spectrum:k=1"), "csvc:C=1", **options).save(path)


def read_residues(path):
    """Return the decisions of a model of residues."""
    chains = SequenceSet.from_strings(strings(2, 24, "new", PROTEIN), "protein")
    made = load_model(path).decide(chains, n_threads=1)[1]
    return plain([made.scores, made.predicted, made.probabilities])


def write_pack(path):
    """Write two models to one file."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("csvc", "psvm"):
            trained(name).save(Path(folder) / name)
        pack_folder(folder, path)


def packed(path):
    """Return what a file of several models says of them, and their decisions."""
    return [[*astuple(one), decided(f"{path}:{one.name}", one.name)] for one in read_pack(path)]


def site_models():
    """Return classifiers of drawn windows around sites."""
    sites = {}
    for kind, motif in (("donor", "GT"), ("acceptor", "AG")):
        windows = [f"{one[:3]}{motif}{one[3:]}" for one in strings(12, 6, kind)]
        X = as_sequences(windows, "dna")
        notes = {"window": {"left": 3, "right": 4, "site": ""}}
        labels = make_labels(X.ids, ["no", "yes"] * 6, positive="yes")
        options = {"notes": notes, "n_threads": 1, "allow_similar": True}
        sites[kind] = train_model(X, labels, build_kernel("weighted_degree:degree=2"), "csvc:C=1", **options)
    return sites


def save_genes(path):
    """Write a model of genes: classifiers of drawn windows, content and weights of drawn numbers."""
    content = Content(numbers(48, "coding").reshape(3, 16) - 0.3, numbers(16, "intron") - 0.5)
    grammar = Grammar(Limits(3, 200, 6, 100), {name: np.array([0.0, 1.0, 2.0]) for name in CURVES})
    GeneModel(site_models(), content, grammar, numbers(grammar.n_weights, "weights"), {"seed": 1}).save(path)


def found_genes(path):
    """Return the genes in a chromosome."""
    codes = DNA.encode("".join(strings(1, 600, "chromosome")).encode())
    return plain([[one.reverse, one.parts, one.score] for one in load_gene_model(path).find(codes, n_threads=1)])


def save_splice(path):
    """Write a model of splice sites with scores of three steps."""
    edges, scores = np.array([-0.5, 0.5]), np.array([-6, 0, 9])
    names = ("donor GT", "acceptor AG")
    SpliceModel(site_models(), dict.fromkeys(names, edges), dict.fromkeys(names, scores), {"prior": 0.01}).save(path)


def splice_lines(path):
    """Return the scores of a chromosome."""
    with tempfile.TemporaryDirectory() as folder:
        genome = Path(folder) / "genome.fa"
        genome.write_text(f">a\n{''.join(strings(1, 200, 'chromosome'))}\n")
        return list(splice_scores(load_splice_model(path), genome, n_threads=1))


def gram(kind, path):
    """Return a stored matrix: of all samples, or of some against others."""
    X, Y = samples("gram", 5, "rows"), samples("gram", 4, "columns") if kind == "rectangle" else None
    opened = open_gram(path / "gram.npy", X, Y, build_kernel("spectrum:k=2"))
    return plain([opened.values, opened.row_diagonal, opened.col_diagonal])


def compute(kind, path):
    """Store a matrix."""
    X, Y = samples("gram", 5, "rows"), samples("gram", 4, "columns") if kind == "rectangle" else None
    compute_gram(build_kernel("spectrum:k=2"), X, Y, path=path / "gram.npy", n_threads=1)


def dataset(kind):
    """Return a data set with a task: sequences, or features."""
    X = samples(kind, 8, "data")
    labels = make_labels(X.ids, list("abababab"), groups=list("11223344"))
    roles = np.repeat(["train", "dev", "test", "train"], 2)
    return Dataset(kind, kind, X, {"all": Task("all", labels, roles)}, {"sources": []})


def in_dataset(path):
    """Return what is in the folder of a data set."""
    made = load_dataset(path)
    task = made.task()
    held = made.X.strings() if made.kind == "sequences" else made.X.values
    return plain([made.name, made.X.ids, held, task.labels.names(), task.labels.groups, task.split, made.X.digest()])


def save_folds(path):
    """Write folds, with groups and a development part."""
    made = dataset("sequences")
    task = made.task()
    write_folds(path, make_folds(task.labels, made.X, "predefined", roles=task.split))


def in_folds(path):
    """Return the sets in a file of folds."""
    folds = read_folds(path, samples("sequences", 8, "data").ids)
    return plain([[one.name, one.train, one.test] for one in folds] + [folds.groups, folds.dev])


def save_inner(path):
    """Write the inner loop of a training set."""
    X = samples("sequences", 8, "data")
    candidates = [("spectrum", {"solver": "csvc", "C": C}) for C in (0.1, 1)]
    choice = Choice(*candidates[1], 0.75, candidates, np.array([[0.5, 0.5], [1.0, 0.5]]))
    split = Split("1", np.arange(6), np.arange(6, 8))
    labels = make_labels(X.ids, list("abababab"))
    write_inner_loops(path, "d", X, candidates, [stored_loop("all", split, "key", labels, choice)])


def in_inner(path):
    """Return a file of inner loops."""
    read = InnerFile.read(path)
    return plain([read.dataset, read.data, read.candidates, read.samples, [asdict(one) for one in read.loops]])


def save_positions(path):
    """Write an importance of positions."""
    matrices = {m: numbers((6 - m) * 4**m, f"order {m}").reshape(6 - m, -1) for m in (1, 2)}
    importance = Importance(DNA, 5, matrices, np.full(4, 0.25))
    Positions(importance, np.arange(20).reshape(5, 4), "9 windows", ("no", "yes"), -2, (-1, 1)).save(path)


def in_positions(path):
    """Return an importance of positions."""
    made = load_positions(path)
    return plain([list(made.rows()), made.counts, made.windows, made.classes, made.section])


def write_plan(path):
    """Write the plan of a data set."""
    DatasetPlan(
        {"three": Cost(2.5, 10**8)}, {"three": {"svm": MethodCost(10**7, [20.0, 40.5], 2.0, [1.0, 1.0])}}
    ).write(path)


def write_config(path):
    """Write the configuration of a study as its report does."""
    config = {
        "study": "kept",
        "datasets": {
            "donors": {
                "simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 20},
                "folds": {"method": "stratified", "k": 3},
            }
        },
        "kernels": {
            "pairs": {"kernel": "spectrum", "k": 2},
            "wide": {"kernel": "rbf", "gamma": 0.5, "base": {"kernel": "oligo", "k": 2}},
        },
        "solvers": {"svm": {"solver": "csvc", "C": [0.1, 1]}, "psvm": {"solver": "psvc"}},
        "inner": {"folds": 4},
        "seed": 7,
    }
    path.write_text(config_text(Study.parse(config)), encoding="utf-8")


def in_config(path):
    """Return the methods of a study."""
    study = Study.load(path)
    kernels = [[name, entry.kernel.identity()] for name, entry in study.kernels.items()]
    solvers = [[name, entry.candidates([None])] for name, entry in study.solvers.items()]
    return plain([study.name, list(study.datasets), kernels, solvers, study.inner.folds, study.seed])


FILES = {
    **{f"{name}.model": (lambda path: trained(path.stem).save(path), decided) for name in MODELS},
    "residues.model": (save_residues, read_residues),
    "pack.seqkern": (write_pack, packed),
    "genes.model": (save_genes, found_genes),
    "splice.model": (save_splice, splice_lines),
    "gram_square": (partial(compute, "square"), partial(gram, "square")),
    "gram_rectangle": (partial(compute, "rectangle"), partial(gram, "rectangle")),
    "dataset_sequences": (lambda path: save_dataset(dataset("sequences"), path), in_dataset),
    "dataset_features": (lambda path: save_dataset(dataset("features"), path), in_dataset),
    "folds.tsv": (save_folds, in_folds),
    "inner.json": (save_inner, in_inner),
    "importance.npz": (save_positions, in_positions),
    "config.yaml": (write_config, in_config),
    "plan.json": (write_plan, lambda path: plain(asdict(DatasetPlan.load(path)))),
}
"""How each file or folder is written, and how its content is read, as JSON."""


def main():
    """Write the files of this release."""
    folder = HERE / __version__
    folder.mkdir()  # files of a former release stay as they are
    for name, (write, _) in FILES.items():
        write(folder / name)
    expected = {name: read(folder / name) for name, (_, read) in FILES.items()}
    (folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
