"""Readers of tables: labels, folds, features, vectors."""

import io
import tempfile
from pathlib import Path

import numpy as np
from fuzz_reader import Reader

from seqkern.cli.dataset_jobs import plan_table
from seqkern.evaluation import read_folds
from seqkern.evaluation.pooled import InnerFile, StoredLoop, write_inner_loops
from seqkern.evaluation.residue_results import read_states
from seqkern.genomics.motif_tables import read_motifs, write_meme, write_table
from seqkern.genomics.motifs import FoundMotif
from seqkern.gram.stored_matrix import read_spectrum, spectrum, write_spectrum
from seqkern.methods.study_results import read_json, read_laps, read_table, rows_by
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.plan import Cost, DatasetPlan, MethodCost
from seqkern.study.several_sequences import encode_columns, read_table_text
from seqkern.study.tables import TaskTable, columns_of_table, labels_of_columns, read_features, read_similarities
from seqkern.study.vectors import open_vectors

IDS = ["a", "b", "c", "d"]
LABELS = make_labels(IDS, ["donor", "decoy"] * 2)
OF_LABELS = (
    b"id\tlabel\tgene\tchr\tpos\na\tdonor\tg1\t1\t5\nb\tdecoy\tg1\t1\t9\nc\tdonor\tg2\t2\t5\nd\tdecoy\tg2\tX\t7\n",
    b'ID;Class\na;"1; x"\nb;0\nc;0\nd;0\n',
    b"name,y\na,1.5\nb,2\nc,-1e3\nd,0\n",
)
FOLDS = (
    b"id\t1\t2\na\ttrain\ttest\nb\ttrain\ttest\nc\ttest\ttrain\nd\ttest\ttrain\n",
    b"id\tgroup\t1\na\t0\ttrain\nb\t0\ttrain\nc\t1\ttest\nd\t\ttest\n",
)
FEATURES = (b"sample\tlabel\tGC\tlength\na\tdonor\t0.41\t7\nb\tdecoy\t0.58\t9\n", b"id,x\na,1\nb,-2e3\n")
OF_SEQUENCES = (b"id\ta\tb\ty\nr1\tCAV\tCASS\t1\nr2\t\tCAWSX\t0\n", b"id,b,a\nr1,ACGT,MKV\nr2,GGN,\n")
SQUARES = (b"globin\t3\t1\nkinase\t1\t3\n", b"id\tlabel\ta\tb\na\tx\t1\t0.5\nb\ty\t0.5\t1\n", b"0,1\n1,0\n")
TASKS = b"id\ttask\trole\na\tt1\tpositive-train\nb\tt1\tnegative-train\nc\tt1\tpositive-test\nd\tt1\tnegative-test\n"
STATES = b"# chain, task, split; residues, true states, predicted, confidence\n>1abc\tall\t1\nMKV\nCHH\nCHC\n129\n"

DECISIONS = (
    b"task\tsplit\tid\tlabel\tdecision\tpredicted\nall\t1\td1\tdonor\t0.5\tdonor\nall\t2\td2\tdecoy\t-1\tdecoy\n"
)


def _labels(path: Path) -> None:
    options = {"label": "label"}
    labels_of_columns(IDS, columns_of_table(path, IDS, options), options, path)


def _numbers(path: Path) -> None:
    options = {"label": "y", "kind": "real", "id": "name"}
    labels_of_columns(IDS, columns_of_table(path, IDS, options), options, path)


def _grouped(path: Path) -> None:
    options = {"label": "label", "group": "gene", "chromosome": "chr", "position": "pos"}
    labels_of_columns(IDS, columns_of_table(path, IDS, options), options, path)


def _squares(path: Path) -> None:
    read_similarities(path, "dissimilarities" if path.stat().st_size % 2 else "similarities")


def _excel() -> list[bytes]:
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "label"], ["a", "x"], ["b", "y"], ["c", 1.5], ["d", "y"]):
        book.active.append(row)
    book.save(out)
    return [out.getvalue()]


def _npy() -> list[bytes]:
    found = []
    for values in (np.eye(4), np.arange(8, dtype=np.float32).reshape(4, 2)):
        out = io.BytesIO()
        np.save(out, values)
        found.append(out.getvalue())
    return found


def _npz() -> list[bytes]:
    found = []
    for arrays in ({"ids": np.array(IDS), "values": np.eye(4)}, {name: np.arange(3.0) for name in IDS}):
        out = io.BytesIO()
        np.savez(out, **arrays)
        found.append(out.getvalue())
    return found


def _hdf5() -> list[bytes]:
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        for name in IDS:
            file[name] = np.arange(3.0)
            file[name].attrs["original_id"] = name
    return [out.getvalue()]


def _parquet() -> list[bytes]:
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    table = pyarrow.table({"id": IDS, "v": [[1.0, 2.0]] * 4})
    pyarrow.parquet.write_table(table, out)
    return [out.getvalue()]


def _vectors(path: Path) -> None:
    found = open_vectors(path)
    for record in list(found.keys)[:10]:
        found.array(record)


def _spectrum() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gram.spectrum.tsv"
        write_spectrum(path, spectrum([[2.0, 1.0], [1.0, 2.0]]))
        return [path.read_bytes()]


def _plan() -> list[bytes]:
    plan = DatasetPlan({"three": Cost(2.0, 10**8)}, {"three": {"svm": MethodCost(10**8, [20.0, 40.0])}})
    return [plan.to_json().encode()]


def _read_plan(path: Path) -> None:
    plan_table(DatasetPlan.load(path))


def _inner() -> list[bytes]:
    X = SequenceSet.from_strings(["ACGT", "GGCC", "TTAA"], "dna")
    loop = StoredLoop("all", "1", "aa", "binary", [[0.5, 0.7]], [0, 2, 0.0], [0], [1], [2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inner.json"
        write_inner_loops(path, "scop", X, [("csvc", {"C": 1}), ("csvc", {"C": 10})], [loop])
        return [path.read_bytes()]


def _motif_files() -> tuple[bytes, bytes]:
    motif = FoundMotif("positive_1", 1, np.array([[9, 0, 0, 0], [0, 0, 9, 0]]), 9, 0.5, DNA, np.full(4, 0.25))
    with tempfile.TemporaryDirectory() as folder:
        meme, listed = Path(folder) / "motifs.meme", Path(folder) / "motifs.tsv"
        write_meme(meme, [motif])
        write_table(listed, [motif], ["other", "peak"])
        return meme.read_bytes(), listed.read_bytes()


def _tables_of_results(path: Path) -> None:
    found = read_table(path, ["id", "split"], ("decision",))
    if found is not None:
        for _ in rows_by(found, ["split"]):
            pass


def _sequences(path: Path) -> None:
    for missing in ("keep", "skip"):
        encode_columns(read_table_text(path, {"a": "a", "b": "b"}, "id"), {}, missing=missing)


READERS = (
    Reader("labels", _labels, lambda: OF_LABELS, ("--labels", "--label-field"), ".tsv"),
    Reader("labels, numbers", _numbers, lambda: OF_LABELS[2:], suffix=".csv"),
    Reader("labels, groups and places", _grouped, lambda: OF_LABELS[:1], suffix=".tsv"),
    Reader("labels in an Excel file", _labels, _excel, suffix=".xlsx", form="zip", slow=True),
    Reader("folds", lambda path: read_folds(path, IDS, LABELS), lambda: FOLDS, ("--folds",), ".tsv"),
    Reader("tasks", lambda path: TaskTable(path.name).roles(IDS, path.parent), lambda: [TASKS], (), ".tsv"),
    Reader("tables of sequences", _sequences, lambda: OF_SEQUENCES, ("--id-column",), ".tsv"),
    Reader("features", read_features, lambda: FEATURES, ("--features",), ".tsv"),
    Reader("similarities", _squares, lambda: SQUARES, suffix=".tsv"),
    Reader("vectors, tsv", _vectors, lambda: FEATURES[1:], ("--view",), ".tsv"),
    Reader(
        "vectors, npy", _vectors, _npy, (), ".npy", lambda folder: (folder / "input.ids").write_text("\n".join(IDS))
    ),
    Reader("vectors, npz", _vectors, _npz, suffix=".npz", form="zip"),
    Reader("vectors, hdf5", _vectors, _hdf5, suffix=".h5"),
    Reader("vectors, parquet", _vectors, _parquet, suffix=".parquet"),
    Reader("states of a study's chains", read_states, lambda: [STATES], ("report results", "compare results"), ".txt"),
    Reader("decisions, metrics", _tables_of_results, lambda: [DECISIONS], suffix=".tsv"),
    Reader(
        "costs",
        lambda path: read_laps(path, ["stage"]),
        lambda: [b'{"laps": [{"stage": "a", "s": 1.5}]}'],
        suffix=".json",
    ),
    Reader("summary of a data set", read_json, lambda: [b'{"name": "a", "n": 5}'], suffix=".json"),
    Reader("eigenvalues", read_spectrum, _spectrum, suffix=".tsv"),
    Reader(
        "motifs of a study",
        lambda path: read_motifs(path.parent / "motifs.meme", path),
        lambda: [_motif_files()[1]],
        (),
        ".tsv",
        lambda folder: (folder / "motifs.meme").write_bytes(_motif_files()[0]),
    ),
    Reader("plan", _read_plan, _plan, ("--plan",), ".json"),
    Reader("inner loops", InnerFile.read, _inner, ("--pooled",), ".json"),
)
