"""Readers of models, data sets and matrices, which seqkern writes itself or which LS-GKM writes."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from fuzz_reader import Reader

from seqkern import SequenceSet
from seqkern.core.archive import load_archive
from seqkern.formats import residue_samples
from seqkern.genomics.gene_learning import SITES, GeneModel, load_gene_model
from seqkern.genomics.genes import CURVES, Content, Grammar, Limits
from seqkern.genomics.splice import SpliceModel, load_splice_model, splice_scores
from seqkern.genomics.variants import read_scorer
from seqkern.gram import compute_gram, open_gram
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel, WeightedDegreeKernel
from seqkern.methods.loading import load_kmer_tables, load_model, pack_folder, read_pack
from seqkern.methods.model import Model
from seqkern.methods.poim import Importance, Positions, load_positions
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.labels import make_labels
from seqkern.study import load_dataset, make_dataset, save_dataset

LSGKM = (
    b"svm_type c_svc\nkernel_type gkm_esttrunc\nL 4\nk 3\nd 1\nnorc 0\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\n"
    b"nr_sv 1 1\nSV\n0.8 ACGTTGCA\n-0.8 AAAATTTC\n",
    b"svm_type c_svc\nkernel_type wgkmrbf\nL 4\nk 3\nd 1\nM 50\nH 50\ngamma 1\nnr_class 2\ntotal_sv 2\nrho 0.1\n"
    b"label 1 -1\nnr_sv 1 1\nSV\n0.8 ACGTTGCA\n-0.8 AAAANTTC\n",
)
OF_DATASETS = ("folds", "check", "plan", "baseline", "evaluate", "importance", "discover", "effects")
WEIGHTS = (b"A\t1.5\nC\t-0.5\n", b"AA 1\nAC 2\nAG 3\nAT 4\nCA 5\nCC 6\nCG 7\nGA 8\nGC 9\nTA 1e3\n")
X = SequenceSet.from_strings(["ACGTTGCA", "CCGTTGCT", "AAAATTTC", "TAAATTTA"], "dna", ids=list("abcd"))
LABELS = make_labels(X.ids, ["x", "x", "y", "y"])


def _written(write: Callable[[Path], object], name: str = "file") -> bytes:
    """Return the bytes that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


@cache
def _models() -> tuple[bytes, ...]:
    made = [
        train_model(X, LABELS, WeightedDegreeKernel(2), "csvc:C=1"),
        train_model(X, LABELS, SpectrumKernel(2), "csvc:C=1", transforms=[build_transform("centre")]),
        train_model(X, LABELS, SpectrumKernel(1), "primal_svc:C=1"),
        train_model(X, LABELS, SpectrumKernel(2), "kernel_neighbors:n_neighbors=1"),
    ]
    return tuple(_written(model.save) for model in made)


@cache
def _gene_models() -> tuple[bytes, ...]:
    sites = SequenceSet.from_strings(["AAGGTAAG", "CAGGTGAG", "TTGGTCCA", "ACTGTTCA"], "dna", ids=list("abcd"))
    notes = {"window": {"left": 3, "right": 4, "site": ""}}
    classifier = train_model(sites, LABELS, WeightedDegreeKernel(1), "csvc:C=1", notes=notes)
    grammar = Grammar(Limits(3, 60, 20, 80), {name: np.array([-1.0, 0.0, 1.0]) for name in CURVES})
    model = GeneModel(
        dict.fromkeys(SITES, classifier),
        Content(np.zeros((3, 4)), np.zeros(4)),
        grammar,
        np.ones(grammar.n_weights),
        {},
    )
    return (_written(model.save),)


@cache
def _splice_models() -> tuple[bytes, ...]:
    sites = SequenceSet.from_strings(["AAGGTAAG", "CAGGTGAG", "TTGGTCCA", "ACTGTTCA"], "dna", ids=list("abcd"))
    notes = {"window": {"left": 3, "right": 4, "site": ""}}
    classifier = train_model(sites, LABELS, WeightedDegreeKernel(1), "csvc:C=1", notes=notes)
    edges, scores = np.array([-0.5, 0.5]), np.array([-9, 0, 9])
    names = ("donor GT", "acceptor AG")
    model = SpliceModel(
        dict.fromkeys(SITES, classifier), dict.fromkeys(names, edges), dict.fromkeys(names, scores), {"prior": 0.01}
    )
    return (_written(model.save),)


@cache
def _residue_models() -> tuple[bytes, ...]:
    chains = SequenceSet.from_strings(["GSAEELLAKAGPSG", "PGEELLKALGNGSG"], "protein")
    windows, residues = residue_samples(chains, 5)
    labels = make_labels(windows.ids, list("CCHHHHHHHHCCCCCCHHHHHHHCCCCC"))
    plain = train_model(windows, labels, SpectrumKernel(1), "csvc:C=10", residues=residues)
    return (_written(plain.save),)


@cache
def _datasets() -> tuple[bytes, ...]:
    def simulated(folder: Path) -> None:
        save_dataset(make_dataset("a", {"simulate": {"kind": "donor", "n_positive": 3, "n_decoy": 4}}), folder)

    def chains(folder: Path) -> None:
        entry = {
            "simulate": {"kind": "secondary_structure", "n_chains": 2, "mean_length": 20},
            "residues": {"window": 5},
        }
        save_dataset(make_dataset("b", entry), folder)

    found = []
    for write in (simulated, chains):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            found.append((Path(folder) / "data.npz").read_bytes())
    return tuple(found)


@cache
def _gram() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gram.npy"
        compute_gram(SpectrumKernel(2), X, path=path)
        return path.read_bytes(), path.with_suffix(".json").read_bytes()


@cache
def _positions() -> tuple[bytes, ...]:
    importance = Importance(DNA, 3, {1: np.ones((3, 4)), 2: np.ones((2, 16))}, None)
    return (_written(Positions(importance, None, "a", ("x", "y"), 0).save),)


@cache
def _packs() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        models, pack = Path(folder) / "models", Path(folder) / "pack.seqkern"
        models.mkdir()
        for number, content in enumerate(_models()):
            (models / f"{number}.seqkern").write_bytes(content)
        pack_folder(models, pack)
        return (pack.read_bytes(),)


def _packed(path: Path) -> None:
    for one in read_pack(path):
        _predict(f"{path}:{one.name}")


def _predict(path: Path | str) -> None:
    model = load_model(path)
    if isinstance(model, Model) and model.alphabet == DNA:
        model.decide(X)


def _splices(path: Path) -> None:
    genome = path.with_suffix(".fa")
    genome.write_bytes(b">a\n" + b"AAGGTAAGTTCAGACCA" * 3 + b"\n")
    list(splice_scores(load_splice_model(path), genome))


def _genes(path: Path) -> None:
    load_gene_model(path).find(DNA.encode(b"ACATGAAGGTAAGTCCCCCCCCCCCCCCCCCCCCAGGAATAACC" * 3), n_threads=1)


def _residues(path: Path) -> None:
    model = load_model(path)
    if not isinstance(model, Model) and model.alphabet == PROTEIN:
        model.decide(SequenceSet.from_strings(["GSAELLKKGSP"], "protein"))


def _dataset(path: Path) -> None:
    found = load_dataset(path.parent)
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as folder:
        save_dataset(found, folder)


def _beside(name: str, content: Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content())


READERS = (
    Reader("ls-gkm models", load_model, lambda: LSGKM, (), ".txt"),
    Reader("weights of k-mers", lambda path: read_scorer(path), lambda: WEIGHTS, ("variants --model",), ".txt"),
    Reader(
        "models",
        _predict,
        _models,
        ("predict model", "explain model", "motifs model", "suggest model"),
        ".seqkern",
        form="zip",
        weight=2.5,
    ),
    Reader("packed models", _packed, _packs, ("models source",), ".seqkern", form="zip"),
    Reader("models of splice sites", _splices, _splice_models, ("splice-scores model",), ".seqkern", form="zip"),
    Reader("models of genes", _genes, _gene_models, ("genes model",), ".seqkern", form="zip", weight=2.5),
    Reader("models of residues", _residues, _residue_models, suffix=".seqkern", form="zip", slow=True, weight=2.5),
    Reader("k-mer tables of models", load_kmer_tables, _models, suffix=".seqkern", form="zip"),
    Reader(
        "data sets",
        _dataset,
        _datasets,
        ("--dataset", *(f"{verb} dataset" for verb in OF_DATASETS)),
        file="data.npz",
        form="zip",
        weight=2.5,
    ),
    Reader("positional importance", load_positions, _positions, suffix=".npz", form="zip"),
    Reader("archives", load_archive, _positions, suffix=".npz", form="zip"),
    Reader(
        "gram, values",
        open_gram,
        lambda: _gram()[:1],
        ("--gram", "--extend"),
        ".npy",
        _beside("input.json", lambda: _gram()[1]),
    ),
    Reader(
        "gram, header",
        lambda path: open_gram(path.with_suffix(".npy")),
        lambda: _gram()[1:],
        (),
        ".json",
        _beside("input.npy", lambda: _gram()[0]),
    ),
)
