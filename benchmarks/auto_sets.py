"""`train` without a name beside twelve named kernels, on public sets of DNA, RNA, proteins and peptides.

Each set is a folder of ``train.pos.fa``, ``train.neg.fa``, ``test.pos.fa``, ``test.neg.fa``, ``meta.json``, made from
the public files in ``auto_sets.tsv``: repository, commit, path, SHA-256. The coin of a set is a bit of the MD5 of its
name: the portfolio was designed on the sets with 0, the others were looked at once.

    python benchmarks/auto_sets.py named SETS named.jsonl [NAME …]
    python benchmarks/auto_sets.py auto SETS auto.jsonl [NAME …]
    python benchmarks/auto_sets.py similar SETS similar.jsonl [NAME …]
    python benchmarks/auto_sets.py table SETS named.jsonl auto.jsonl
    python benchmarks/auto_sets.py sources SETS > benchmarks/auto_sets.tsv

The twelve kernels of each kind, listed beforehand, have C searched by three inner folds: 0.01 to 10 by products, 0.1
to 10 with a Gram matrix. `auto` is the command a reader types: ``seqkern train positive.fa negative.fa --memory 3GB``,
with its five outer folds, and `seqkern predict` on the test part; `similar` adds ``--allow-similar``. Seconds are CPU
seconds of the whole command.
"""

import functools
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from seqkern.core.errors import SeqkernError
from seqkern.core.threads import given_threads
from seqkern.evaluation.metrics import matthews_correlation
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.selection import Search
from seqkern.gram.compute import compute_gram
from seqkern.methods.method import Method
from seqkern.methods.training import shared_grams
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.kernel_entries import KernelEntry

LENIENT = {"short": "zero", "zero_diagonal": "zero"}
MASKED = {"zero_diagonal": "zero"}
LONGEST_GRAM = 13_000
DEAREST = 60.0  # predicted CPU seconds of a Gram matrix above which a named kernel is left out


def named(kind: str, equal: bool) -> dict[str, dict]:
    """Return the twelve named kernels of a kind; without the positional ones for sequences of different lengths."""
    if kind in ("dna", "rna"):
        both = {"reverse_complement": kind == "dna", **LENIENT}
        gapped = {"kernel": "gapped_kmer", "d": 3, "estimator": "truncated", **both}
        found = {
            "spectrum4": {"kernel": "spectrum", "k": 4, **both},
            "spectrum6": {"kernel": "spectrum", "k": 6, **both},
            "mismatch6.1": {"kernel": "mismatch", "k": 6, "m": 1, **both},
            "mismatch8.1": {"kernel": "mismatch", "k": 8, "m": 1, **both},
            "gappy3.4": {"kernel": "gappy_pair", "k": 3, "m": 4, **LENIENT},
            "gapped8.5": {"kernel": "gapped_kmer", "l": 8, "k": 5, **both},
            "gapped10.6": {**gapped, "l": 10, "k": 6},
            "gapped11.7": {**gapped, "l": 11, "k": 7},
            "gapped11.7cw": {**gapped, "l": 11, "k": 7, "center_weighted": True},
        }
        positional = {
            "wd10": {"kernel": "weighted_degree", "degree": 10, **MASKED},
            "swd5.3": {"kernel": "shifted_weighted_degree", "degree": 5, "shift": 3, **MASKED},
            "oligo3": {"kernel": "oligo", "k": 3, "sigma": 2.0, **LENIENT},
        }
        return found | (positional if equal else {})
    return {
        "spectrum1": {"kernel": "spectrum", "k": 1, **LENIENT},
        "spectrum1-2": {"kernel": "spectrum", "k": [1, 2], **LENIENT},
        "spectrum3": {"kernel": "spectrum", "k": 3, **LENIENT},
        "mismatch3.1": {"kernel": "mismatch", "k": 3, "m": 1, **LENIENT},
        "mismatch5.1": {"kernel": "mismatch", "k": 5, "m": 1, **LENIENT},
        "gapped5.3": {"kernel": "gapped_kmer", "l": 5, "k": 3, **LENIENT},
        "gapped8.4": {"kernel": "gapped_kmer", "l": 8, "k": 4, **LENIENT},
        "gappy1.3": {"kernel": "gappy_pair", "k": 1, "m": 3, **LENIENT},
        "gappy1.8": {"kernel": "gappy_pair", "k": 1, "m": 8, **LENIENT},
        "string3B": {"kernel": "string", "n": 3, "decay": 0.5, "matching": "BLOSUM62", **LENIENT},
        "generic_string": {"kernel": "generic_string", **MASKED},
        "la": {"kernel": "local_alignment", "normalize": True, "repair": "clip", **MASKED},
    }


def records(path: Path, rna: bool) -> list[str]:
    """Return the sequences of a FASTA file; of RNA with U."""
    parts = (record.partition("\n")[2] for record in path.read_text().split(">")[1:])
    strings = ["".join(part.split()).upper() for part in parts]
    return [one.replace("T", "U") if rna else one for one in strings if one]


def load(folder: Path) -> tuple[list[str], list[str], np.ndarray, dict]:
    """Return sequences, classes, whether each is for training, and the description of a set."""
    meta = json.loads((folder / "meta.json").read_text())
    strings, classes, training = [], [], []
    for part in ("train", "test"):
        for name in ("pos", "neg"):
            own = records(folder / f"{part}.{name}.fa", meta["kind"] == "rna")
            strings += own
            classes += [name] * len(own)
            training += [part == "train"] * len(own)
    return strings, classes, np.array(training), meta


def try_named(folder: Path) -> list[dict]:
    """Return the inner and test scores of each named kernel on a set."""
    strings, classes, training, meta = load(folder)
    kind, (least, _, most) = meta["kind"], meta["lengths"]
    X = SequenceSet.from_strings(strings, kind if kind in ("dna", "rna") else "protein")
    labels, rows = make_labels(X.ids, classes, positive="pos"), []
    train, test = np.flatnonzero(training), np.flatnonzero(~training)
    for name, spec in named(kind, least == most).items():
        entry, began = KernelEntry.parse(spec), time.process_time()
        products = entry.gives("implicit", True) and (kind in ("dna", "rna") or len(X) > 9000)
        solver = (
            {"solver": "linear_svc", "C": [0.01, 0.1, 1, 10]} if products else {"solver": "csvc", "C": [0.1, 1, 10]}
        )
        row = {"set": folder.name, "kernel": name, "n": len(train)}
        method = Method({name: entry.kernel}, solver, transforms={name: entry.transforms}, search=Search(folds=3))
        try:
            seconds = 0.0 if products else entry.kernel.plan(X).seconds
            if seconds > DEAREST or (not products and len(X) > LONGEST_GRAM):
                rows.append(row | {"skip": seconds})
                continue
            grams = None if products else shared_grams(method, X, functools.partial(compute_gram, X=X, n_threads=1))
            fitted = method.fit(method.data(X, labels, grams=grams), train, ahead=test)
            decided = fitted.decide(test)
        except SeqkernError as error:
            rows.append(row | {"error": str(error)})
            continue
        row |= {"inner": fitted.choice.score, "test": float(roc_auc(labels.y[test], decided.decisions))}
        row |= {"mcc": float(matthews_correlation(labels.y[test], decided.predicted > 0))}
        rows.append(row | {"cpu": time.process_time() - began, "decisions": decided.decisions.round(6).tolist()})
    return rows


def try_auto(folder: Path, more: tuple[str, ...] = ()) -> list[dict]:
    """Return what `train` without a name chooses on a set, and its scores."""
    strings, classes, training, _ = load(folder)
    files = {}
    with tempfile.TemporaryDirectory() as place:
        for part, wanted in (("train", True), ("test", False)):
            for name, word in (("pos", "positive"), ("neg", "negative")):
                own = [s for s, c, t in zip(strings, classes, training, strict=True) if c == name and t == wanted]
                files[part, name] = Path(place, f"{'' if wanted else 'test_'}{word}.fa")
                files[part, name].write_text("".join(f">{part}{i}\n{one}\n" for i, one in enumerate(own)))
        inputs = [str(files["train", name]) for name in ("pos", "neg")]
        how = ["--memory", "3GB", "--threads", "1", "--verbose", *more]
        train = ["seqkern", "train", *inputs, "-o", f"{place}/m.seqkern", *how]
        run = subprocess.run(["/usr/bin/time", "-f", "%U %S %M", *train], capture_output=True, text=True, check=False)
        *said, last = run.stderr.splitlines()
        user, system, kilobytes = map(float, last.split())
        row = {"set": folder.name, "n": int(training.sum()), "cpu": user + system, "mb": kilobytes / 1024}
        if run.returncode:
            return [row | {"error": said[-1]}]
        for key in ("kernel", "solver"):
            row[key] = re.search(rf"^  {key} +(.*)$", run.stdout, re.M)[1]
        row["estimate"] = float(re.search(r"^AUC ([\d.]+)", run.stdout, re.M)[1])
        row["left_out"] = [line for line in said if " is left out" in line]
        decisions, predicted, y = [], [], []
        for name in ("pos", "neg"):
            predict = ["seqkern", "predict", f"{place}/m.seqkern", str(files["test", name])]
            header, *lines = subprocess.run(predict, capture_output=True, text=True, check=True).stdout.splitlines()
            cells = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
            decisions += [float(cell["decision"]) for cell in cells]
            predicted += [cell["predicted"] == "positive" for cell in cells]
            y += [name == "pos"] * len(cells)
    row |= {"test": float(roc_auc(np.array(y, int), np.array(decisions)))}
    row |= {"mcc": float(matthews_correlation(np.array(y, int), np.array(predicted))), "decisions": decisions}
    return [row]


def coin(name: str) -> int:
    """Return 0 for a set that the portfolio was designed on, 1 for one that was looked at once."""
    return hashlib.md5(name.encode()).digest()[0] & 1


def paired_error(y: np.ndarray, one: np.ndarray, other: np.ndarray, draws: int = 500) -> float:
    """Return the standard error of the difference of two AUCs on the same samples, by the bootstrap within classes."""
    rng, positive, negative = np.random.default_rng(1), np.flatnonzero(y), np.flatnonzero(y == 0)
    found = []
    for _ in range(draws):
        rows = np.concatenate((rng.choice(positive, len(positive)), rng.choice(negative, len(negative))))
        found.append(roc_auc(y[rows], one[rows]) - roc_auc(y[rows], other[rows]))
    return float(np.std(found))


def half_kept(y: np.ndarray, decisions: list[np.ndarray], draws: int = 200) -> float:
    """Return how often the kernel that is best on one half of the test part is within .01 of the best on the other.

    It is what a choice that sees test labels would get: no choice by training data can be asked for more.
    """
    rng, kept = np.random.default_rng(1), 0
    for _ in range(draws):
        first = np.zeros(len(y), dtype=bool)
        for code in (0, 1):
            own = np.flatnonzero(y == code)
            first[rng.choice(own, len(own) // 2, replace=False)] = True
        seen = [roc_auc(y[first], one[first]) for one in decisions]
        other = [roc_auc(y[~first], one[~first]) for one in decisions]
        kept += other[int(np.argmax(seen))] >= max(other) - 0.01
    return kept / draws


def print_table(folder: Path, named_file: Path, auto_file: Path) -> None:
    """Print a row for each set, and how often `auto` keeps to the bars."""
    kernels: dict[str, dict[str, dict]] = {}
    for row in map(json.loads, named_file.read_text().splitlines()):
        if "test" in row:
            kernels.setdefault(row["set"], {})[row["kernel"]] = row
    print("| set | coin | training samples | chosen | AUC | MCC | best named | AUC | difference | s.e. | CPU s | GB |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    kept: dict[int, list[tuple[float, float, float, int, float]]] = {0: [], 1: []}
    for row in sorted(
        map(json.loads, auto_file.read_text().splitlines()), key=lambda row: (coin(row["set"]), row["set"])
    ):
        name = row["set"]
        if "test" not in row or not kernels.get(name):
            print(f"| {name} | {coin(name)} | {row['n']:,} | {row.get('error', 'no named kernel')} |" + " |" * 8)
            continue
        y = np.array([c == "pos" for c, t in zip(*load(folder / name)[1:3], strict=True) if not t], int)
        best = max(kernels[name].values(), key=lambda one: one["test"])
        error = paired_error(y, np.array(row["decisions"]), np.array(best["decisions"]))
        difference = row["test"] - best["test"]
        by_half = half_kept(y, [np.array(one["decisions"]) for one in kernels[name].values()])
        kept[coin(name)].append((difference, error, row["cpu"], row["n"], by_half))
        chosen = re.sub(r":\S*", "", row["kernel"]) if row["kernel"].startswith("mean") else row["kernel"]
        for common in (",estimator=truncated", ",reverse_complement=true", ", of auto", ",gap_open=11,gap_extend=1"):
            chosen = chosen.replace(common, "")
        cells = [name, str(coin(name)), f"{row['n']:,}", chosen, f"{row['test']:.4f}", f"{row['mcc']:.3f}"]
        cells += [best["kernel"], f"{best['test']:.4f}", f"{difference:+.4f}", f"{error:.4f}"]
        print(f"| {' | '.join(cells)} | {row['cpu']:.0f} | {row['mb'] / 1024:.1f} |")
    print()
    for which, rows in kept.items():
        if rows:
            d, e, cpu, n, by_half = map(np.array, zip(*rows, strict=True))
            small, far = cpu[n <= 5000], int(np.sum((d < -0.02) & (d < -2 * e)))
            print(f"coin {which}: {len(d)} sets; within .01 of the best named or ahead: {np.mean(d >= -0.01):.0%}")
            print(f"the kernel that is best on half of the test part, on the other half: {np.mean(by_half):.0%}")
            print(f"ahead: {np.mean(d > 0):.0%}; below by more than .02 and two standard errors: {far}")
            print(f"mean difference {d.mean():+.4f}; median CPU s up to 5,000 samples: {np.median(small):.0f}")


def print_sources(folder: Path) -> None:
    """Print the source and checksum of each public file."""
    print("set\tkind\tcoin\trepository\tcommit\tpath\tsha256\tsplit")
    for path in sorted(folder.glob("*/meta.json")):
        meta = json.loads(path.read_text())
        for file in meta["files"]:
            cells = [path.parent.name, meta["kind"], str(coin(path.parent.name)), meta["source"], meta["commit"]]
            print("\t".join([*cells, file["path"], file["sha256"], " ".join(meta["split"].split())[:60]]))


def main() -> None:
    """Run a part of the comparison."""
    what, folder, *others = sys.argv[1:]
    if what == "sources":
        print_sources(Path(folder))
        return
    if what == "table":
        print_table(Path(folder), *map(Path, others))
        return
    output, *wanted = others
    done = (
        {json.loads(line)["set"] for line in Path(output).read_text().splitlines()} if Path(output).exists() else set()
    )
    warnings.simplefilter("ignore")
    similar = functools.partial(try_auto, more=("--allow-similar",))
    attempt = {"named": try_named, "auto": try_auto, "similar": similar}[what]
    for name in wanted or sorted(path.parent.name for path in Path(folder).glob("*/meta.json")):
        if name in done:
            continue
        with given_threads(1), Path(output).open("a") as file:
            for row in attempt(Path(folder, name)):
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
