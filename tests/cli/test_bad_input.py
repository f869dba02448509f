"""Bad input, on the command line and in a study: one line that names file, record and remedy, and nothing left behind.

Each case is the files it needs, a command, and the words its one line must hold. In a command IN/ is the folder of
those files, GOOD/ a folder of sound inputs (`good`), and OUT/ where the output goes.
"""

import bz2
import gzip
import json
import lzma
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from seqkern.cli.main import main

SPECTRUM = "spectrum:k=3"
LONG = b"".join(b">r%d\n%s\n" % (i, b"ACGTTGCA" * 20) for i in range(200))
SKIP = ("--unknown", "skip", "--alphabet", "dna")
PROTEIN = ">p1\nMKVLAWGIDERS\n>p2\nMKVLAWHIDERS\n"
TWO = ">a\nACGTA\n>b\nCCGTA\n"
LABELLED = ">a label=1\nACGTA\n>b label=0\nCCGTA\n>c label=0\nCCGTT\n"
LONG_DNA = {"in.fa": ">a\n" + "ACGTTGCA" * 6 + "\n"}
FASTA = {"fasta": {"positive": "GOOD/pos.fa", "negative": "GOOD/neg.fa"}}
STUDY = {
    "study": "s",
    "datasets": {"d": FASTA},
    "kernels": {"k": {"kernel": "spectrum", "k": 2}},
    "solvers": {"c": {"solver": "csvc", "C": 1}},
}


# ---- commands --------------------------------------------------------------------------------------------------------


def gram(*fasta, kernel=SPECTRUM, more=(), output="OUT/gram.npy"):
    return ["gram", *fasta, "--kernel", kernel, "-o", output, *more]


def kernel_of(text):
    return gram("GOOD/pos.fa", kernel=text)


def datasets(*more, **entry):
    return ["datasets", "--name", "d", "--entry", json.dumps(entry), "-o", "OUT/d", *more]


def by_header(file, **entry):
    return datasets(fasta=file, labels={"from": "header"}, **entry)


def by_table(**labels):
    return datasets(fasta="IN/in.fa", labels={"from": "tsv", "file": "IN/labels.tsv", **labels})


def folds(*more, data="GOOD/data"):
    return ["folds", data, "-o", "OUT/folds", *more]


def evaluate(*more, data="GOOD/data", fold_files="GOOD/folds", kernel="spectrum:k=2", solver="csvc:C=1"):
    return [
        *("evaluate", data, "--folds", fold_files, "--kernel", kernel, "--solver", solver),
        *("-o", "OUT/evaluate", *more),
    ]


def train(*fasta, more=(), kernel="spectrum:k=2", solver="csvc:C=1", output="OUT/m.seqkern"):
    fasta = fasta or ("GOOD/pos.fa", "GOOD/neg.fa")
    return ["train", *fasta, "--kernel", kernel, "--solver", solver, "-o", output, *more]


def predict(fasta="GOOD/new.fa", *more, model="GOOD/m.seqkern"):
    return ["predict", model, fasta, "-o", "OUT/p.tsv", *more]


def report(*more, results="GOOD/results"):
    return ["report", results, "-o", "OUT/report", *more]


def simulate(*more, output="OUT/sim"):
    return ["simulate", *more, "-o", output]


READ_STUDY = ["datasets", "IN/study.yaml", "--name", "d", "-o", "OUT/d"]


@dataclass(frozen=True)
class Case:
    """One mistake: what is called, what the one line must hold, the files that are needed, the exit code."""

    name: str
    argv: list
    words: tuple
    files: dict = field(default_factory=dict)
    code: int = 1


def reading(name, content, *words, command=gram, file="in.fa"):
    """Return the case of one FASTA file with this content."""
    return Case(name, command(f"IN/{file}"), (f"{file}: ", *words), {file: content})


def labels(name, table, *words, fasta=TWO, **options):
    """Return the case of a table of labels."""
    return Case(name, by_table(**options), ("labels.tsv: ", *words), {"in.fa": fasta, "labels.tsv": table})


def table(name, content, *words, kind="features"):
    """Return the case of a table of features, similarities or dissimilarities."""
    return Case(name, datasets(**{kind: "IN/x.tsv"}), ("x.tsv: ", *words), {"x.tsv": content})


def fold_file(name, cells, *words, solver="csvc:C=1"):
    """Return the case of a file of folds for the data set `good`, written by a function of class and number."""
    rows = [f"{letter}{i}\t{cells(letter, i)}\n" for letter in "pn" for i in range(12)]
    files = {"folds/all.tsv": "id\t1\n" + "".join(rows)}
    return Case(name, evaluate(fold_files="IN/folds", solver=solver), words, files)


def study(name, changes, *words):
    """Return the case of a study in which the values at some dotted paths are changed; text is the file itself."""
    if not isinstance(changes, dict):
        return Case(name, READ_STUDY, ("study.yaml: ", *words), {"study.yaml": changes})
    config = json.loads(json.dumps(STUDY))
    for path, value in changes.items():
        *way, last = path.split(".")
        place = config
        for key in way:
            place = place[key]
        place[last] = value
    return Case(name, READ_STUDY, ("study.yaml: ", *words), {"study.yaml": json.dumps(config)})


def usage(name, argv, *words):
    """Return the case of wrong usage."""
    return Case(name, argv, words, code=2)


# ---- the list ------------------------------------------------------------------------------------------------

LISTED = [
    reading("empty file", "", "is empty", "check how"),
    reading("empty file to train on", "", "is empty", command=lambda file: train(file, "GOOD/neg.fa")),
    reading("record without sequence", ">a\nACGT\n>b\n>c\nACGT\n", "record 'b'", "has no sequence", "--empty skip"),
    reading("sequence shorter than k", ">a\nACGTA\n>b\nAC\n", "record 'b'", "2 residues", "k=3", "short=zero"),
    reading("new sequence shorter than k", ">a\nACGT\n>b\nA\n", "record 'b'", "k=2", command=predict),
    reading(
        "letter outside", ">a\nACGT\n>b\n" + "ACGT" * 9 + "!\n", "record 'b'", "'!' at position 37", "--unknown mask"
    ),
    reading("letter of no alphabet", ">a\nACGT\n>b\nA12!\n", "record 'b'", "'!12' match none", "set the alphabet"),
    reading(
        "duplicate id", ">a\nACGT\n>b\nACGT\n>a\nACGA\n", "record 'a'", "duplicate id", "--ids number", "--ids suffix"
    ),
    Case(
        "duplicate id over two files",
        train("GOOD/pos.fa", "GOOD/pos.fa"),
        ("pos.fa: is given twice; give each class its own file",),
    ),
    labels(
        "label without sequence",
        "id\tlabel\na\t1\nb\t0\nx\t1\n",
        "record 'x'",
        "has a label but no sequence",
        "remove it",
    ),
    labels("sequence without label", "id\tlabel\na\t1\n", "record 'b'", "has no label", "add a row"),
    Case(
        "only one class in a fold",
        folds("--method", "predefined", data="GOOD/lopsided"),
        ("lopsided: ", "split 'x'", "no sample of class '0': only one class", "other folds"),
    ),
    fold_file(
        "only one class in a given fold",
        lambda letter, i: "train" if letter == "n" else "test",
        *("all.tsv: ", "training set of split '1'", "class 'positive': only one class", "other folds"),
    ),
    Case("fewer members than folds", folds("--k", "13"), ("data: ", "has 12 samples for 13 folds", "at most 12 folds")),
    reading("truncated gzip", gzip.compress(LONG)[:-20], "is truncated", "again", file="in.fa.gz"),
    reading("truncated bzip2", bz2.compress(LONG)[:-20], "is truncated", "again", file="in.fa.bz2"),
    reading("truncated xz", lzma.compress(LONG)[:-20], "is truncated", "again", command=predict, file="in.fa.xz"),
    reading("binary file", b"\x7fELF\x01\x00" + bytes(100), "is a binary file", "give FASTA"),
    reading("NumPy array", b"\x93NUMPY\x01\x00" + bytes(100), "is a NumPy array", "give sequences"),
    Case(
        "no output",
        ["gram", "GOOD/pos.fa", "--kernel", SPECTRUM],
        ("no output file given for the matrix", "add -o FILE.npy"),
    ),
    Case("unknown kernel", kernel_of("spectrm:k=3"), ("unknown kernel 'spectrm'", "did you mean 'spectrum'?")),
    Case("unknown parameter", kernel_of("mismatch:k=3,wieghts=1"), ("'wieghts'", "did you mean 'weights'?")),
    Case("unknown solver", evaluate(solver="csv:C=1"), ("unknown solver 'csv'", "did you mean 'csvc'?")),
    Case("unknown parameter of a solver", train(solver="psvc:epsilom=1"), ("'epsilom'", "did you mean 'epsilon'?")),
    Case("unwritable place", train(output="GOOD/pos.fa/m"), ("pos.fa/m: cannot be written", "check the path")),
    study("config key misspelt", {"kernls": {}}, "unknown key 'kernls'", "did you mean 'kernels'?"),
]

# ---- further: what is read -------------------------------------------------------------------------------------------

READ = [
    Case("a folder for a file", gram("GOOD"), ("cannot be read: Is a directory", "check the file")),
    reading("only headers", ">a\n>b\n", "record 'a'", "has no sequence"),
    reading("no header", "ACGT\nACGT\n", "is not FASTA", "'ACGT'", "'>id'"),
    reading("UTF-16", TWO.encode("utf-16"), "is text in UTF-16", "save it as UTF-8"),
    reading(
        "NUL bytes late in the file", b">a\n" + b"ACGT" * 2000 + b"\n>b\nA\0A\n", "record 'b'", "'\\x00' at position 2"
    ),
    reading("Latin letters", b">a\n" + b"ACGT" * 9 + b"\xe9\n", "record 'a'", "position 37", "save the file as UTF-8"),
    reading("a very long line of wrong letters", ">a\n" + "ACGTX" * 200_000 + "\n", "record 'a'", "match none"),
    reading("empty id", ">\nACGT\n>b\nACGT\n", "header 1 has no id", "--ids number"),
    reading("markup in an id", "><script>\nAC\n", "record '<script>'", "k=3"),
    reading("tab behind an id", ">naïve\tx\nAC\n", "record 'naïve'", "k=3"),
    reading("nothing left", ">a\nACNT\n", "every record was left out", command=lambda f: gram(f, more=SKIP)),
    labels("rows of a CSV that differ", "id,label\na,1\nb,0,\n", "line 3 has 3 cells", "use commas"),
    labels("two columns of one name", "id\tlabel\tlabel\na\t1\t0\nb\t0\t1\n", "two columns named 'label'", "rename"),
    labels("column that is not there", "id\tkind\na\t1\nb\t0\n", "no column 'label'", "columns: id, kind"),
    labels("two rows for one id", "id\tlabel\na\t1\nb\t0\na\t0\n", "record 'a'", "two rows", "remove one of them"),
    labels("only one class", "id\tlabel\na\t1\nb\t1\n", "only one class: 1", "at least two"),
    labels("no real label", "id\tlabel\na\t\nb\t\n", "no labels", kind="real"),
    labels("position beyond any genome", f"id\tlabel\tp\na\t1\t{10**30}\nb\t0\t1\n", "record 'a'", position="p"),
    table("nan in features", "id\tlabel\tg\na\t1\t0.5\nb\t0\tnan\n", "record 'b'", "column 'g'", "'nan'", "remove"),
    table("features without an id", "id\tlabel\tg\na\t1\t0.5\n\t0\t1\n", "row 2 has no id", "set ids to number"),
    table("not square", "id\tlabel\ta\tb\na\t1\t0\t2\n", "1 rows and 2 columns", "each row", kind="similarities"),
    table(
        "negative dissimilarity",
        "id\tlabel\ta\tb\na\t1\t0\t-2\nb\t0\t-2\t0\n",
        *("record 'a'", "column 'b': -2", "non-negative"),
        kind="dissimilarities",
    ),
    Case(
        "data set that is a file",
        folds(data="GOOD/pos.fa"),
        ("pos.fa", "is a file, not the folder", "seqkern datasets"),
    ),
]


# ---- further: kernels, solvers and numbers ---------------------------------------------------------------------------

PARAMETERS = [
    Case("k of zero", kernel_of("spectrum:k=0"), ("k=0 is not possible", "integer from 1 to 10000")),
    Case("negative k", kernel_of("spectrum:k=-1"), ("k=-1 is not possible", "integer from 1 to 10000")),
    Case("broken k", kernel_of("spectrum:k=3.5"), ("k=3.5 is not possible", "integer from 1 to 10000")),
    Case("k in words", kernel_of("spectrum:k=a"), ("k='a' is not possible", "integer from 1 to 10000")),
    Case("k without end", kernel_of("spectrum:k=1-999999999999"), ("k='1-999999999999'", "integer")),
    Case("a flag in words", kernel_of("spectrum:normalize=no"), ("normalize='no'", "true or false")),
    Case("no kernel", kernel_of(""), ("argument --kernel: is empty", "give a value"), code=2),
    Case("a kernel of a space", kernel_of(" "), ("cannot read ' '", "write name:parameter=value")),
    Case("a sum with one weight as a number", kernel_of("sum:parts=[spectrum],weights=2"), ("weights=2", "a list")),
    Case("a parameter called name", kernel_of("spectrum:name=x"), ("has no parameter 'name'",)),
    Case("nested beyond reading", kernel_of("(" * 5000 + "spectrum"), ("nested too deeply",)),
    Case(
        "kernel of JSON",
        kernel_of('{"kernel": spectrum}'),
        ("is not JSON", 'write it as JSON ({"kernel": "spectrum"})'),
    ),
    Case(
        "part outside", kernel_of("spectrum:k=3,part=90:99"), ("pos.fa: ", "record 'p0'", "part 90:99", "another part")
    ),
    Case("part of a broken place", kernel_of("spectrum:k=3,part=1.5:9"), ("start=1.5 is not possible", "integer")),
    Case(
        "spectrum on features", gram(more=("--dataset", "GOOD/table")), ("table: ", "takes sequences", "are features")
    ),
    Case(
        "spectrum over folds of features", evaluate(data="GOOD/table"), ("table: ", "takes sequences", "are features")
    ),
    Case("features of FASTA", train(kernel="linear"), ("pos.fa", "'linear' takes features", "choose another")),
    Case(
        "reverse complement of a protein",
        gram("IN/in.fa", kernel="spectrum:reverse_complement=true"),
        ("'protein' has no complement", "dna or rna"),
        {"in.fa": PROTEIN},
    ),
    Case("C of zero", train(solver="csvc:C=0"), ("C=0 is not possible", "> 0")),
    Case("negative epsilon", train(solver="psvc:epsilon=-0.1"), ("epsilon=-0.1 is not possible", "≥ 0")),
    Case(
        "weights of other classes",
        train(solver='{"solver": "csvc", "class_weight": {"negative": 2}}'),
        ("class_weight names 'negative'", "classes are: neg, pos"),
    ),
    Case(
        "transforms that are no list",
        evaluate(kernel='{"kernel": "spectrum", "k": 2, "transforms": "centre"}'),
        ("transforms='centre'", "a list"),
    ),
    Case("unknown transform", train(more=("--transform", "centr")), ("'centr'", "did you mean 'centre'?")),
    Case("negative seed of folds", folds("--seed", "-1"), ("seed=-1 is not possible", "at least 0")),
    Case("negative seed of training", train(more=("--seed", "-1")), ("seed=-1 is not possible", "at least 0")),
    Case("negative seed of data", simulate("donor", "--seed", "-1"), ("seed=-1 is not possible", "at least 0")),
    Case("no inner folds", evaluate("--inner-folds", "0"), ("inner folds=0 is not possible", "at least 2")),
    fold_file(
        "inner folds larger than a class",
        lambda letter, i: "train" if i < 11 - 10 * (letter == "p") else "test",
        *("all.tsv: split '1': ", "one sample", "hyperparameters", "give more samples"),
        solver="csvc:C=[1,10]",
    ),
    Case("unknown metric", train(more=("--search", "--metric", "acu")), ("'acu'", "did you mean 'auc'?")),
    Case("folds of the wrong option", folds("--options", '{"gap": 3}'), ("'gap'", "choose from: k, seed")),
    Case("fold method that is a list", folds("--options", '{"method": ["x"]}'), ("unknown fold method ['x']",)),
    Case("JSON broken", folds("--options", "{k: 3}"), ("--options '{k: 3}' is not JSON", "quote the argument")),
    Case("leakage in words", folds("--leakage", '{"keep_together": "yes"}'), ("keep_together='yes'", "true or false")),
    Case("nonsense of memory", gram("GOOD/pos.fa", more=("--memory", "much")), ("'much' is not an amount", "500MB")),
    Case("memory without end", gram("GOOD/pos.fa", more=("--memory", "9" * 400)), ("not an amount of memory",)),
    Case("unknown kind of data", simulate("donr"), ("'donr'", "did you mean 'donor'?")),
]

# ---- further: kernels with gaps and mismatches -----------------------------------------------------------------------


def too_long(name, kernel, *words):
    """Return the case of sequences of 5 and 4 letters, the second shorter than a word of the kernel."""
    return reading(name, ">a\nACGTA\n>b\nACGT\n", *words, command=lambda file: gram(file, kernel=kernel))


LONG_WORDS = [
    too_long(
        f"{kernel}: longer than every sequence", kernel, "record 'a'", "5 residues", needed, f"a smaller {smaller}"
    )
    for kernel, needed, smaller in (
        ("gapped_kmer:l=10,k=6", "l=10", "l"),
        ("wildcard:k=6,m=1", "k=6", "k"),
        ("mismatch:k=6,m=1", "k=6", "k"),
        ("gappy:g=6,k=4", "g=6", "g"),
        ("substitution:k=6", "k=6", "k"),
        ("gappy_pair:k=3,m=1", "needs 6", "k"),
        ("oligo_distance:k=6", "needs 6", "k"),
    )
]

GAPS = [
    *LONG_WORDS,
    Case("l beyond codes", kernel_of("gapped_kmer:l=32,k=6"), ("l=32 is not possible", "from 1 to 31")),
    Case("d beyond l", kernel_of("gapped_kmer:l=8,k=6,d=9"), ("d=9 is not possible", "from 0 to 8")),
    Case("k beyond l", kernel_of("gapped_kmer:l=8,k=9"), ("k=9 is not possible", "from 1 to 8")),
    Case(
        "unknown estimator", kernel_of("gapped_kmer:estimator=ful"), ("estimator='ful'", "count or full or truncated")
    ),
    Case("m of k", kernel_of("mismatch:k=5,m=5"), ("m=5 is not possible", "from 0 to 4")),
    Case("k beyond g", kernel_of("gappy:g=4,k=5"), ("k=5 is not possible", "from 1 to 4")),
    Case("g beyond codes", gram("IN/in.fa", kernel="gappy:g=40,k=4"), ("g=40 is too large", "g up to 31"), LONG_DNA),
    Case("all letters differ", gram("IN/in.fa", kernel="mismatch:k=31,m=30"), ("m=30", "smaller k or m"), LONG_DNA),
    Case(
        "a sigma that lets everything differ",
        gram("IN/in.fa", kernel="substitution:k=20,sigma=500"),
        ("would count for about 1.1e+12 features", "allow fewer differences"),
        LONG_DNA,
    ),
    Case(
        "features without end",
        gram("IN/in.fa", kernel="gappy_pair:k=16,m=3"),
        ("too many features", "choose k up to 15"),
        LONG_DNA,
    ),
    Case(
        "features of a protein without end",
        gram("IN/in.fa", kernel="substitution:k=20,sigma=9"),
        ("k=20 is too large for an alphabet of 20 letters", "choose k up to 14"),
        {"in.fa": ">a\n" + "MKVLAWGIDERS" * 4 + "\n"},
    ),
]

# ---- further: files that do not belong together ----------------------------------------------------------------------

STRANGERS = [
    Case(
        "a model that is text",
        predict(model="GOOD/pos.fa"),
        ("pos.fa: is FASTA, not a model", "the model comes first"),
    ),
    Case(
        "a data set as a model",
        predict(model="GOOD/data/data.npz"),
        ("data.npz: is a data set, not a model", "seqkern train"),
    ),
    reading(
        "another alphabet than the model's",
        PROTEIN,
        "record 'p1'",
        "the model's alphabet",
        "give sequences",
        command=predict,
    ),
    Case("gram of others", evaluate("--gram", "GOOD/gram.npy"), ("gram.npy: the rows belong to other data", "again")),
    Case("gram that is text", evaluate("--gram", "IN/g.npy"), ("g.npy: is unfinished", "to resume"), {"g.npy": "x"}),
    Case(
        "folds of others",
        evaluate(data="GOOD/table", kernel="linear"),
        ("all.tsv: record 'p0': is not in the data set", "create the folds again"),
    ),
    Case("no folds", evaluate(fold_files="GOOD"), ("all.tsv: no such file",)),
    fold_file(
        "folds without a test set", lambda letter, i: "train", "all.tsv: ", "test set", "is empty", "other folds"
    ),
    fold_file("marks of one's own", lambda letter, i: "x", "all.tsv: record 'p0'", "marked 'x'", "train, dev, test"),
    Case(
        "folds with a unit that has no label",
        evaluate(data="GOOD/partial", fold_files="IN"),
        ("all.tsv: record 'c': has no label", "create the folds again"),
        {"all.tsv": "id\t1\na\ttrain\nb\ttrain\nc\ttrain\nd\ttest\n"},
    ),
    Case("no results", report(results="GOOD/nothing"), ("nothing: no such folder", "run the workflow")),
    Case("results without data", report(results="GOOD"), ("holds no data sets", "run the workflow")),
    Case("configuration that is a list", report("--study", "[]"), ("results: the configuration is []", "README")),
    Case("kernels that are a list", report("--study", '{"kernels": ["k"]}'), ("results: kernels is ['k']", "README")),
    Case("configuration of broken JSON", report("--study", "{"), ("--study is not JSON", "remove it")),
    Case(
        "a summary that is none",
        report(results="IN"),
        ("summary.json: is no summary of a data set", "make it again"),
        {"datasets/d/summary.json": '{"tasks": {"all": {"kind": "binary", "classes": [1]}}}'},
    ),
]

# ---- further: places to write to -------------------------------------------------------------------------------------

PLACES = [
    Case("a folder for a matrix", gram("GOOD/pos.fa", output="GOOD/folder.npy"), ("folder.npy: is a directory",)),
    Case("a folder for a side file", gram("GOOD/pos.fa", output="GOOD/taken.npy"), ("taken.json: is a directory",)),
    Case("no .npy", gram("GOOD/pos.fa", output="OUT/gram"), ("for a Gram matrix", "ending in .npy")),
    Case("a folder for a model", train(output="GOOD"), ("is a directory", "give a file name")),
    Case("a file for a folder", [*folds()[:3], "GOOD/pos.fa"], ("pos.fa: is a file, but several files are written",)),
    Case(
        "evaluation into a file",
        [*evaluate()[:9], "GOOD/pos.fa"],
        ("pos.fa: is a file, but several files are written",),
    ),
    Case(
        "data below a file",
        datasets("-o", "GOOD/pos.fa", **FASTA),
        ("pos.fa: is a file, but several files are written",),
    ),
    Case(
        "generated data without a name", simulate("donor", output="GOOD/"), ("is not a file name", "without an ending")
    ),
    Case("generated data into a file", simulate("donor", output="GOOD/pos.fa/x"), ("x.fasta: cannot be written",)),
    Case(
        "costs that cannot be told", gram("GOOD/pos.fa", more=("--cost", "GOOD")), ("is a directory; give a file name",)
    ),
    reading("predictions of a bad record", PROTEIN, "record 'p1'", command=lambda f: predict(f, "-o", "OUT/new/p.tsv")),
]

# ---- further: studies and entries ------------------------------------------------------------------------------------

STUDIES = [
    study("a list in place of keys", "- a\n- b\n", "contains no keys", "config/config.yaml"),
    study("YAML broken", "study: [\n", "is not YAML", "line 2", "correct"),
    study("a list in place of kernels", {"kernels": ["spectrum"]}, "kernels: ['spectrum'] is not a mapping"),
    study("slash in the study's name", {"study": "a/b"}, "study: invalid value 'a/b'", "letters, digits"),
    study(
        "name of a data set with a slash", {"datasets.a/b": FASTA}, "datasets: invalid value 'a/b'", "letters, digits"
    ),
    study(
        "name without a kernel", {"kernels.k": {"kernl": "spectrum"}}, "kernels.k", "missing key 'kernel'", "'kernl'"
    ),
    study("undefined kernel", {"datasets.d": {**FASTA, "kernels": ["kk"]}}, "datasets.d.kernels", "did you mean 'k'?"),
    study(
        "kernel that does not fit",
        {"datasets.d": {"features": "x.tsv", "kernels": ["k"]}},
        *("datasets.d.kernels.k", "takes sequences", "are features"),
    ),
    study(
        "no kernel that fits",
        {"datasets.d": {"features": "x.tsv"}},
        "datasets.d",
        "no kernel accepts",
        "add a suitable one",
    ),
    study("key of labels", {"datasets.d": {**FASTA, "labels": {"postive": 1}}}, "d.labels", "did you mean 'positive'?"),
    study("fold method", {"datasets.d": {**FASTA, "folds": {"method": "stratfied"}}}, "d.folds", "'stratified'?"),
    study(
        "fold option", {"datasets.d": {**FASTA, "folds": {"method": "locus", "gp": 1}}}, "d.folds", "did you mean 'gap'"
    ),
    study("public data set", {"datasets.d": {"public": "globin"}}, "datasets.d", "did you mean 'globins'?"),
    study("transform that is a number", {"kernels.k.transforms": [3]}, "kernels.k: 3 is not a transform", "repair"),
    study("no memory at all", {"memory_limit": "0GB"}, "memory_limit: '0GB' is not an amount", "500MB"),
    study("negative seed", {"seed": -1}, "seed: -1", "minimum of 0", "README"),
    Case(
        "entry with an unknown key",
        datasets(**FASTA, alphabt="dna"),
        ("--entry: datasets.d", "did you mean 'alphabet'"),
    ),
    Case("entry of no path", datasets(features="a\0b"), ("d.features: invalid value 'a\\x00b'", "path of a file")),
    Case("entry of another type", datasets(fasta=3), ("--entry: datasets.d.fasta: 3", "README")),
    Case("entry of broken JSON", ["datasets", "--name", "d", "--entry", "{", "-o", "OUT/d"], ("--entry is not JSON",)),
    Case("entry that says no label", datasets(fasta="GOOD/pos.fa"), ("pos.fa: no labels given", "labels: {")),
]

# ---- further: wrong usage --------------------------------------------------------------------------------------------

USAGE = [
    usage("no threads", gram("GOOD/pos.fa", more=("--threads", "0")), "--threads: threads=0", "an integer at least 1"),
    usage("negative threads", predict("GOOD/new.fa", "--threads", "-1"), "--threads: threads=-1", "at least 1"),
    usage("a share of more than all", gram("GOOD/pos.fa", more=("--tile", "3/2")), "--tile: '3/2'", "for example 3/8"),
    usage("a policy that does not exist", predict("GOOD/new.fa", "--unknown", "x"), "--unknown", "'skip'"),
    usage("a number in words", simulate("donor", "--left", "many"), "--left", "'many'", "seqkern simulate --help"),
    usage("an unknown verb", ["grm"], "'grm'", "did you mean seqkern gram?"),
    usage("an unknown option", folds("--seeed", "1"), "--seeed"),
]

CASES = LISTED + READ + PARAMETERS + GAPS + STRANGERS + PLACES + STUDIES + USAGE


# ---- what is asserted ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return a folder with what a user has who made no mistake so far."""
    folder = tmp_path_factory.mktemp("good")
    rng = np.random.default_rng(0)
    for name, letter, n in (("pos", "p", 12), ("neg", "n", 12), ("new", "q", 4)):
        records = [f">{letter}{i}\n{''.join(rng.choice(list('ACGT'), 30))}\n" for i in range(n)]
        (folder / f"{name}.fa").write_text("".join(records))
    rows = [f"u{i}\t{i % 2}\t{value}\n" for i, value in enumerate(rng.random(12))]
    (folder / "table.tsv").write_text("id\tlabel\tg\n" + "".join(rows))
    records = [f">r{i} label={i // 4} fold={'xy'[i // 4]}\nACGTA\n" for i in range(8)]
    (folder / "lopsided.fa").write_text("".join(records))
    (folder / "partial.fa").write_text(">a\nACGTA\n>b\nCCGTA\n>c\nCCGTT\n>d\nCAGTT\n")
    (folder / "partial.tsv").write_text("id\tlabel\na\t1\nb\t0\nc\t\nd\t1\n")
    partial = {"from": "tsv", "file": "GOOD/partial.tsv"}
    for argv in (
        datasets("-o", "GOOD/data", **FASTA),
        datasets("-o", "GOOD/table", features="GOOD/table.tsv"),
        datasets("-o", "GOOD/lopsided", fasta="GOOD/lopsided.fa", labels={"from": "header", "fold": "fold"}),
        datasets("-o", "GOOD/partial", fasta="GOOD/partial.fa", labels=partial),
        folds("-o", "GOOD/folds", "--k", "3"),
        train(output="GOOD/m.seqkern"),
        gram("GOOD/new.fa", kernel="spectrum:k=2", output="GOOD/gram.npy"),
    ):
        assert main(filled(argv, GOOD=folder)) == 0
    for name in ("folder.npy", "taken.json", "results/datasets/d"):
        (folder / name).mkdir(parents=True)
    return folder


def filled(argv, **folders):
    """Return a command with the names of folders in it replaced."""
    for option in ("-o", "--kernel", "--solver", "--k"):
        while argv.count(option) > 1:  # the last one is meant, that of the case
            first = argv.index(option)
            argv = argv[:first] + argv[first + 2 :]
    for name, folder in folders.items():
        argv = [word.replace(f"{name}/", f"{folder}/") if word != name else str(folder) for word in argv]
    return argv


def tree(folder):
    """Return what is in a folder: each path with its content, None for a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def prepared(case, good, tmp_path, monkeypatch):
    """Write a case's files, and return its command."""
    monkeypatch.chdir(tmp_path)
    folders = {"IN": tmp_path / "in", "GOOD": good, "OUT": tmp_path / "out"}
    for name, content in case.files.items():
        path = folders["IN"] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = filled([content], **folders)[0] if isinstance(content, str) else content
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return filled(case.argv, **folders)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_and_nothing_left_behind(case, good, tmp_path, monkeypatch, capsys):
    argv = prepared(case, good, tmp_path, monkeypatch)
    before = tree(tmp_path), tree(good)
    assert main(argv) == case.code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("seqkern: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err
    assert "; " in err  # the remedy follows
    for word in case.words:
        assert word in err
    assert (tree(tmp_path), tree(good)) == before


def test_every_case_has_a_name_of_its_own():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "argv",
    [
        simulate("donor"),
        datasets(**FASTA),
        folds(),
        gram("GOOD/pos.fa"),
        evaluate(),
        train(),
        predict(),
        report(),
    ],
    ids=lambda argv: argv[0],
)
def test_a_full_disk_leaves_no_file(argv, good, tmp_path, monkeypatch, capsys):
    resource = pytest.importorskip("resource")
    argv = prepared(Case("", argv, ()), good, tmp_path, monkeypatch)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))  # no file may become longer, as on a disk that is full
    try:
        code = main(argv)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith(f"seqkern: {tmp_path}/out")
    assert "cannot be written" in err
    assert "; check the path, its permissions and the free space" in err
    assert err.count("\n") == 1
    # an unfinished matrix may leave the folder in which its tiles are looked for when it is resumed
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


# ---- under the other policies the studies' data are read, and what was touched is told -------------------------------


@pytest.mark.parametrize(
    ("argv", "content", "told"),
    [
        (by_header("IN/in.fa", empty="skip"), LABELLED + ">d label=1\n", "records without sequence left out: 1"),
        (
            by_header("IN/in.fa", unknown="skip"),
            LABELLED + ">d label=1\nACNNA\n",
            "records with unknown letters left out: 1",
        ),
        (by_header("IN/in.fa", unknown="mask"), LABELLED + ">d label=1\nACNNA\n", "masked letters: 2 (N: 2)"),
        (by_header("IN/in.fa", ids="number"), LABELLED + ">a label=1\nACGTC\n", "repeated ids: 1"),
        (by_header("IN/in.fa", ids="suffix"), LABELLED + ">a label=1\nACGTC\n", "repeated ids: 1"),
        (gram("IN/in.fa", more=("--empty", "skip")), TWO + ">c\n", "1 records without sequence left out"),
        (
            gram("IN/in.fa", more=("--unknown", "mask")),
            TWO + ">c\nACGTANN\n",
            "2 letters outside the alphabet (N: 2) are masked; --unknown error refuses them",
        ),
        (gram("IN/in.fa", more=("--ids", "suffix")), TWO + ">a\nACGTA\n", "1 repeated ids"),
        (predict("IN/in.fa", "--unknown", "skip"), TWO + ">c\nACGN\n", "1 records with unknown letters left out"),
    ],
)
def test_other_policies_count_what_they_touch(argv, content, told, good, tmp_path, monkeypatch, capsys):
    assert main(prepared(Case("", argv, (), {"in.fa": content}), good, tmp_path, monkeypatch)) == 0
    assert told in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf" + TWO.encode(), TWO.replace("\n", "\r\n").encode(), b">a\n" + b"ACGT" * 100_000 + b"\n>b\nACGT\n"],
    ids=["byte order mark", "CRLF", "a very long line"],
)
def test_odd_but_sound_files_are_read(content, good, tmp_path, monkeypatch, capsys):
    assert main(prepared(Case("", gram("IN/in.fa"), (), {"in.fa": content}), good, tmp_path, monkeypatch)) == 0
    assert capsys.readouterr().out.endswith("gram.npy: 2 × 2 float64\n")


WORDS = 99_995  # of 6 letters
CENTRES = sum(min(50, math.floor(50 * 2 ** (-abs(i - WORDS // 2) / 50) + 1)) for i in range(WORDS))


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        ("spectrum:k=5", 99_996**2),
        ("gappy_pair:k=2,m=2", sum((100_000 - 3 - m) ** 2 for m in range(3))),
        ("gapped_kmer:l=6,k=4,algorithm=subsets", 15 * WORDS**2),
        ("gapped_kmer:l=6,k=4,center_weighted=true,algorithm=subsets", 15 * CENTRES**2),
    ],
)
def test_one_letter_repeated(kernel, value, good, tmp_path, monkeypatch):
    case = Case("", gram("IN/in.fa", kernel=f"{kernel},normalize=false"), (), {"in.fa": ">a\n" + "A" * 100_000 + "\n"})
    assert main([*prepared(case, good, tmp_path, monkeypatch), "--alphabet", "dna"]) == 0
    assert np.load(tmp_path / "out" / "gram.npy").item() == value
