"""`train` without a name on measured protein variants: rank correlation and intervals beside three named kernels.

Each set is a folder of ``data.csv`` (columns sequence, value and, of some sets, split) and ``meta.json``, made from the
public files in ``landscapes.tsv``: repository, commit, path, SHA-256. ``ORDER.txt`` lists the sets in an order fixed
before any model was fitted. Designs are justified by the sets whose MD5 of the name begins with an even byte (half 0);
the others (half 1) were looked at once.

    python benchmarks/landscapes.py run SETS rows.jsonl [NAME …]
    python benchmarks/landscapes.py table SETS rows.jsonl
    python benchmarks/landscapes.py sources SETS > benchmarks/landscapes.tsv

`run` adds a row for each training set: 96 and 384 random variants (at most three quarters of a set), of two seeds,
tested on at most 1,000 of the others; the authors' splits that published values used; and, with 384 variants,
positions that no training variant touches, and more mutations than any training variant has. It resumes a file. The
default is what ``seqkern train data.csv`` fits, with intervals calibrated by the folds of that command; `table` prints
their coverage without calibration too. The others are the same Gaussian process on one named kernel. Gaps are masked
(``--unknown mask_all``). Seconds are CPU seconds of one thread, choice included, folds and prediction not.

    python benchmarks/landscapes.py fetch SETS
    python benchmarks/landscapes.py peptides SETS rows.jsonl

`fetch` makes sets of measured peptides on the authors' parts from the public files in ``peptides.tsv``, which it
downloads where SETS/files lacks them; `run` then tests each part once, and `peptides` prints a table beside the values
in ``peptides_published.tsv``. One-hot residues are of peptides filled to one length at the C-terminal end.
"""

import csv
import hashlib
import json
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.core.download import download
from seqkern.core.errors import SeqkernError
from seqkern.core.statistics import half_width
from seqkern.core.text_files import file_sha256
from seqkern.core.threads import given_threads
from seqkern.evaluation import metrics
from seqkern.evaluation.auto import PROCESS, default_metric
from seqkern.evaluation.calibration import VarianceCalibration
from seqkern.evaluation.fold_methods import METHODS, Samples
from seqkern.evaluation.metrics import pearson, predictive_scores, r2
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.selection import Search
from seqkern.methods.crossval import OuterFolds, cross_validate
from seqkern.methods.method import Method
from seqkern.methods.model import Model
from seqkern.methods.training import automatic_method, collect_training_data, group_samples, train_on
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import Free
from seqkern.study.kernel_entries import AutoKernel, KernelEntry

SIZES, SEEDS, MOST_TESTED = (96, 384), (1, 2), 1000
LONGEST_RBF = 200  # residues above which γ is not learned from more than the fewest variants: it takes minutes
ONE_HOT = {"kernel": "window", "encoding": "one_hot"}
ALIGNED: dict[str, dict[str, Any]] = {
    "one-hot": {**ONE_HOT, "vector_kernel": "linear"},
    "Tanimoto": {**ONE_HOT, "vector_kernel": "tanimoto"},
    "RBF": {"kernel": "likelihood", "base": {**ONE_HOT, "vector_kernel": "rbf"}},
}
UNALIGNED: dict[str, dict[str, Any]] = {
    "spectrum": {"kernel": "spectrum", "k": [1, 2], "short": "zero", "zero_diagonal": "zero"},
    "alignment": {"kernel": "local_alignment", "normalize": True, "zero_diagonal": "zero", "repair": "clip"},
    "generic string": {"kernel": "generic_string", "zero_diagonal": "zero"},
}
BY_POSITION = ("psd95_mclaughlin", "if1_kelsic", "gal4_kitzman", "ubiquitin_mavor", "blat_stiffler")
BY_MUTATIONS = ("csn4_stability", "pabp_rrm2", "avgfp")
OFFICIAL = ("cr6261", "p450_t50", "chr_localization", "gvr_absorption", "eh_enantio", "chr_photocurrent")
LEVELS = np.linspace(0.05, 0.95, 19)
NINETY = 17  # the place of 90 % among them
HERE = Path(__file__).resolve().parent
MOLECULES, FEWEST, MOST = 12, 300, 2000  # MHC molecules: the first by name of those with so many peptides
PUBLISHED = "generic string"  # the kernel that was published for these peptides
BINDER = 1 - np.log(500) / np.log(50_000)  # the value of 500 nM


def load(folder: Path) -> tuple[SequenceSet, Labels, list[str], dict[str, Any]]:
    """Return sequences, values, parts of the authors' split (empty if there is none) and the description of a set."""
    with (folder / "data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    X = SequenceSet.from_strings([row["sequence"] for row in rows], "protein", unknown="mask_all")
    labels = make_labels(X.ids, [row["value"] for row in rows], kind="real")
    return X, labels, [row.get("split", "") for row in rows], json.loads((folder / "meta.json").read_text())


def half(name: str) -> int:
    """Return 0 for a set that designs are justified by, 1 for one that was looked at once."""
    return hashlib.md5(name.encode()).digest()[0] & 1


def splits(
    name: str, X: SequenceSet, labels: Labels, parts: list[str], wild_type: str | None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows by the name of the split."""
    found, n = {}, len(X)
    few = min(SIZES[0], 3 * n // 4)
    for size in (few, *(size for size in SIZES[1:] if size <= 3 * n // 4)):
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(n)
            found[f"random {size} {seed}"] = order[:size], order[size : size + MOST_TESTED]
    if name in OFFICIAL:
        part = np.array(parts)
        found["official"] = np.flatnonzero(part == "train"), np.flatnonzero(part == "test")
    method = "position" if name in BY_POSITION else "mutations" if name in BY_MUTATIONS else None
    if method is not None:
        samples = Samples(labels, X, name, None, None)
        for fold, train, test in METHODS[method][0](samples, parent=wild_type):
            for seed in SEEDS if method == "mutations" else SEEDS[:1]:
                rng = np.random.default_rng(seed)
                rows = rng.permutation(train)[: SIZES[-1]], rng.permutation(test)[:MOST_TESTED]
                found[f"{method} {SIZES[-1]} {seed if method == 'mutations' else fold}"] = rows
    return found


def authors_parts(parts: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of the authors' test part, or of each of their folds."""
    part = np.array(parts)
    tested = ["test"] if "test" in parts else sorted(set(parts))
    return {f"part {name}": (np.flatnonzero(part != name), np.flatnonzero(part == name)) for name in tested}


def filled(X: SequenceSet) -> SequenceSet:
    """Return sequences of one length: masked positions follow the last residue."""
    strings = [one.ljust(int(X.lengths.max()), "X") for one in X.strings()]
    return SequenceSet.from_strings(strings, "protein", unknown="mask_all")


def methods(X: SequenceSet) -> dict[str, Method]:
    """Return the default for training sequences, and the named kernels beside it."""
    search = Search(5, default_metric(PROCESS), 1, "best", Free.of(PROCESS))
    found = {"default": automatic_method(X, kind="real", entry=AutoKernel.parse("auto"), search=search)}
    return found | named_methods(ALIGNED if X.lengths.min() == X.lengths.max() else UNALIGNED)


def named_methods(named: dict[str, dict[str, Any]]) -> dict[str, Method]:
    """Return the Gaussian process on each of some named kernels."""
    entries = {name: KernelEntry.parse(spec, name) for name, spec in named.items()}
    return {
        name: Method({name: entry.kernel}, PROCESS, transforms={name: entry.transforms})
        for name, entry in entries.items()
    }


def calibrated(method: Method, X: SequenceSet, labels: Labels) -> dict[str, Any]:
    """Return the calibration of intervals by the outer folds of ``seqkern train``."""
    kept = group_samples(labels, X, n_threads=1)
    data = collect_training_data(method, X, labels, kept=kept, n_threads=1)
    splits = OuterFolds().splits(data.labels, X)
    widths = VarianceCalibration.of_folds(
        cross_validate(method, data, splits, choices=method.choose_for_folds(data, splits))
    )
    return {} if widths is None else {"widths": asdict(widths)}


def fit(
    method: Method, X: SequenceSet, labels: Labels, train: np.ndarray, test: np.ndarray, intervals: bool = False
) -> dict[str, Any]:
    """Return predictions with standard deviations of observations, and how they were made."""
    began = time.process_time()
    try:
        model = train_on(method, collect_training_data(method, X.take(train), labels.take(train), n_threads=1))
        cpu = time.process_time() - began
        widths = calibrated(method, X.take(train), labels.take(train)) if intervals else {}
        assert isinstance(model, Model)
        means, variances = model.decision_and_variances(X.take(test), n_threads=1)
        assert variances is not None
    except SeqkernError as error:
        return {"error": str(error)}
    shown = {"means": means, "deviations": np.sqrt(variances.observed)}
    chosen = {"chosen": model.record["kernel"], "learned": model.kernel.learned(), "cpu": round(cpu, 2)} | widths
    return chosen | {name: [float(f"{one:.6g}") for one in values] for name, values in shown.items()}


def run(folder: Path, output: Path, wanted: list[str]) -> None:
    """Add the rows that a file lacks, a set after the other."""
    rows = map(json.loads, output.read_text().splitlines()) if output.exists() else ()
    done = {(row["set"], row["split"]) for row in rows}
    for name in wanted or (folder / "ORDER.txt").read_text().split():
        X, labels, parts, meta = load(folder / name)
        wild_type = meta.get("wild_type") if name in BY_POSITION + BY_MUTATIONS else None
        peptides = meta["kind"] == "peptides of parts"
        found = authors_parts(parts) if peptides else splits(name, X, labels, parts, wild_type)
        for split, (train, test) in found.items():
            if (name, split) in done:
                continue
            row = {"set": name, "split": split, "n": len(train), "y": labels.y[test].tolist()}
            known = methods(X.take(train))
            if split.split()[0] in METHODS:
                known = dict(list(known.items())[:2])
            if peptides:
                known = {"default": known["default"]} | named_methods({PUBLISHED: UNALIGNED[PUBLISHED]})
            if len(train) > SIZES[0] and X.lengths.max() > LONGEST_RBF:
                known.pop("RBF", None)
            row["methods"] = {
                key: fit(method, X, labels, train, test, key == "default" and not peptides)
                for key, method in known.items()
            }
            if peptides:
                row["mean"] = float(labels.y[train].mean())
                aligned = named_methods({key: ALIGNED[key] for key in ("one-hot", "Tanimoto")})
                row["methods"] |= {key: fit(one, filled(X), labels, train, test) for key, one in aligned.items()}
            with output.open("a") as file:
                file.write(json.dumps(row) + "\n")
            shown = {
                key: f"{spearman(row['y'], one['means']):.3f} {one['cpu']:.0f} s" if "means" in one else one["error"]
                for key, one in row["methods"].items()
            }
            print(name, split, row["methods"]["default"].get("chosen"), shown, file=sys.stderr, flush=True)


def spearman(y: np.ndarray, means: np.ndarray) -> float:
    """Return the rank correlation; 0 if one value is predicted for all samples."""
    return float(np.nan_to_num(metrics.spearman(y, means)))


def paired_error(y: np.ndarray, one: np.ndarray, other: np.ndarray, draws: int = 200) -> float:
    """Return the standard error of the difference of two rank correlations on the same samples, by the bootstrap."""
    rng = np.random.default_rng(1)
    drawn = (rng.integers(len(y), size=len(y)) for _ in range(draws))
    return float(np.std([spearman(y[rows], one[rows]) - spearman(y[rows], other[rows]) for rows in drawn]))


def coverages(y: np.ndarray, means: np.ndarray, deviations: np.ndarray, tail: float) -> np.ndarray:
    """Return the coverage of the central intervals of `LEVELS`."""
    z = np.abs(y - means) / deviations
    return np.array([np.mean(z <= half_width(level, tail)) for level in LEVELS])


def right_area(sizes: list[int], draws: int = 50) -> float:
    """Return the mean miscalibration area of right intervals, which chance alone gives on test parts of these sizes."""
    rng = np.random.default_rng(1)
    found = [coverages(rng.normal(size=n), np.zeros(n), np.ones(n), 0.0) for n in sizes for _ in range(draws)]
    return float(np.abs(found - LEVELS).mean())


def short(kernel: str) -> str:
    """Return the name of a chosen kernel without its parameters.

    >>> short("likelihood:base=(lock)"), short("window:vector_kernel=tanimoto")
    ('lock', 'Tanimoto')
    """
    known = {"base=(lock)": "lock", "=tanimoto": "Tanimoto", "=linear": "one-hot", "mean of": "mean of kernels"}
    return next((name for part, name in known.items() if part in kernel), kernel.partition(":")[0])


def measured(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the scores of the rows of a set that differ in their training sets."""
    names = [name for name in rows[0]["methods"] if all("means" in row["methods"][name] for row in rows)]
    y = [np.array(row["y"]) for row in rows]
    own = {name: [np.array(row["methods"][name]["means"]) for row in rows] for name in names}
    rho = {name: float(np.mean([spearman(*pair) for pair in zip(y, own[name], strict=True)])) for name in names}
    default = [row["methods"]["default"] for row in rows]
    widths = [VarianceCalibration(**one.get("widths", {"factor": 1.0, "folds": 0, "n": 0})) for one in default]
    found: dict[str, Any] = {"rho": rho, "chosen": [short(one["chosen"]) for one in default]}
    best = max(names[1:], key=lambda name: rho[name])
    errors = {
        name: np.sqrt(sum(paired_error(*three) ** 2 for three in zip(y, own["default"], own[name], strict=True)))
        / len(rows)
        for name in names[1:]
    }
    found |= {"best": best, "difference": rho["default"] - rho[best], "error": errors[best], "errors": errors}
    plain = [
        (one_y, means, np.array(one["deviations"]), 0.0)
        for one_y, means, one in zip(y, own["default"], default, strict=True)
    ]
    right = [(*one[:2], one[2] * by.factor, by.tail) for one, by in zip(plain, widths, strict=True)]
    scores = [predictive_scores(*one) for one in right]
    found["sizes"] = list(map(len, y))
    for name, made in (("", right), ("plain ", plain)):
        each = np.array([coverages(*one) for one in made])
        found[name + "levels"] = np.average(each, axis=0, weights=found["sizes"])
        found[name + "area"] = float(np.abs(each - LEVELS).mean())
        found[name + "coverage"] = float(found[name + "levels"][NINETY])
    # of values in units of their standard deviation, so that sets can be compared
    found["nlpd"] = float(np.mean([one["nlpd"] - np.log(np.std(own_y)) for one, own_y in zip(scores, y, strict=True)]))
    found["r2"] = float(np.mean([r2(own_y, means) for own_y, means, *_ in plain]))
    found["cpu"] = float(np.mean([one["cpu"] for one in default]))
    return found


def print_table(folder: Path, rows_file: Path) -> None:
    """Print a table for each kind of split, and how often the default is above and below the named kernels."""
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in map(json.loads, rows_file.read_text().splitlines()):
        kind, *size = row["split"].split()
        small = kind == "random" and int(size[0]) <= SIZES[0]
        title = f"random, {SIZES[0]} variants" if small else ", ".join([kind, *(f"{one} variants" for one in size[:1])])
        rows.setdefault(title, {}).setdefault(row["set"], []).append(row)
    order = (folder / "ORDER.txt").read_text().split()
    for title, sets in rows.items():
        found = {name: measured(sets[name]) for name in order if name in sets}
        hard = title.split(",")[0] in METHODS
        print(f"\n{title}:\n")
        print("| set | half | n | chosen | ρ |" + (" one-hot" if hard else " one-hot | Tanimoto | RBF"), end=" ")
        print("| difference to the best | s.e. | R² | coverage | miscalibration | NLPD | CPU s |")
        print("|---" * (12 if hard else 14) + "|")
        for name, one in found.items():
            counts = {chosen: one["chosen"].count(chosen) for chosen in one["chosen"]}
            names = [f"{chosen} {counts[chosen]}×" if len(counts) > 1 else chosen for chosen in counts]
            unaligned = "spectrum" in one["rho"]
            cells = [name, str(half(name)), str(sets[name][0]["n"]), ", ".join(names)]
            cells += [f"{value:.3f}{'*' * (unaligned and at > 0)}" for at, value in enumerate(one["rho"].values())]
            cells += [""] * (len(cells) < 8 - 2 * hard)
            cells += [f"{one['difference']:+.3f}", f"{one['error']:.3f}", f"{one['r2']:.2f}"]
            cells += [f"{one['coverage']:.1%}", f"{one['area']:.3f}", f"{one['nlpd']:.2f}", f"{one['cpu']:.0f}"]
            print(f"| {' | '.join(cells)} |")
        print()
        for which in (0, 1, None):
            own = [one for name, one in found.items() if which in (None, half(name))]
            if own:
                print(f"{'all' if which is None else f'half {which}'}: {summary(own)}")
                for calibration in ("", "plain "):
                    print(f"  {calibration or 'calibrated '}intervals: {intervals(own, calibration)}")


def intervals(found: list[dict[str, Any]], calibration: str) -> str:
    """Return how the intervals cover, with (empty text) or without (``plain``) calibration."""
    sizes = [size for one in found for size in one["sizes"]]
    covered = np.array([one[calibration + "coverage"] for one in found])
    near = np.abs(covered - 0.9) <= 2 * np.sqrt([0.09 / sum(one["sizes"]) for one in found])
    pooled = np.average(
        [one[calibration + "levels"] for one in found], axis=0, weights=[sum(one["sizes"]) for one in found]
    )
    return (
        f"pooled coverage {pooled[NINETY]:.1%}; mean of sets {covered.mean():.1%}, least {covered.min():.1%}, most "
        f"{covered.max():.1%}, within two standard errors of 90% {near.sum()}; mean miscalibration area "
        f"{np.mean([one[calibration + 'area'] for one in found]):.3f} (right intervals, by chance: "
        f"{right_area(sizes):.3f}); of the pooled levels {np.abs(pooled - LEVELS).mean():.3f}"
    )


def summary(found: list[dict[str, Any]]) -> str:
    """Return how often the default is above and below the named kernels."""
    above = sum(one["difference"] > 0 for one in found)
    clearly = sum(one["difference"] > 1.96 * one["error"] for one in found)
    below = sum(
        any(one["rho"]["default"] - one["rho"][name] < -1.96 * error for name, error in one["errors"].items())
        for one in found
    )
    mean = np.mean([one["difference"] for one in found])
    return (
        f"{len(found)} sets; above all named {above} (by more than the interval {clearly}); below any by more than the "
        f"interval {below}; mean difference to the best {mean:+.4f}"
    )


def fetch(folder: Path) -> None:
    """Make sets of measured peptides on the authors' parts from public files."""
    sets: dict[str, list[tuple[str, float, str]]] = {}
    with (HERE / "peptides.tsv").open(newline="") as file:
        for source in csv.DictReader(file, delimiter="\t"):
            path = folder / "files" / f"{source['set']}_{source['part']}.csv"
            url = "https://raw.githubusercontent.com/{repository}/{commit}/{path}".format(**source)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                download(url, path, source["sha256"], name=path.name, remedy=f"copy the file of {url} to {path}")
            if file_sha256(path) != source["sha256"]:
                raise SystemExit(f"{path} is not the file of {url}")
            with path.open(newline="") as rows:
                for row in csv.DictReader(rows):
                    value = float(row[source["value"]])
                    value = -np.log(value) if source["log"] == "yes" else value
                    name = row[source["molecule"]] if source["molecule"] else source["set"]
                    sets.setdefault(name, []).append((row[source["sequence"]], value, source["part"]))
    many = sorted(name for name, rows in sets.items() if rows[0][2].isdigit() and FEWEST <= len(rows) <= MOST)
    order = [*many[:MOLECULES], *sorted(name for name, rows in sets.items() if not rows[0][2].isdigit())]
    (folder / "ORDER.txt").write_text("\n".join(order) + "\n")
    for name in order:
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "meta.json").write_text(json.dumps({"name": name, "kind": "peptides of parts"}))
        with (folder / name / "data.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("sequence", "value", "split"), *sets[name]])


def pooled(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one row with the test samples of all parts."""
    joined: dict[str, Any] = {"y": [value for row in rows for value in row["y"]], "methods": {}}
    for name in rows[0]["methods"]:
        own = [row["methods"][name] for row in rows]
        joined["methods"][name] = {key: [v for one in own for v in one[key]] for key in ("means", "deviations")}
        joined["methods"][name]["cpu"] = sum(one["cpu"] for one in own)
        joined["methods"][name]["chosen"] = own[0]["chosen"]
    joined["trivial"] = [row["mean"] for row in rows for _ in row["y"]]
    return joined


def print_peptides(folder: Path, rows_file: Path) -> None:
    """Print scores of the pooled test samples of each set beside published ones, and their means over the molecules."""
    with (HERE / "peptides_published.tsv").open(newline="") as file:
        published = list(csv.DictReader(file, delimiter="\t"))
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, rows_file.read_text().splitlines()):
        rows.setdefault(row["set"], []).append(row)
    scores: dict[str, list[list[float]]] = {}
    for name in (folder / "ORDER.txt").read_text().split():
        joined = pooled(rows[name])
        y, found = np.array(joined["y"]), measured([joined])
        others = {line["method"]: line for line in published if line["set"] == name}
        binders = all(line["auc"] for line in others.values())
        own: dict[str, list[float]] = {}
        for method, one in joined["methods"].items():
            own[method] = [roc_auc(np.where(y >= BINDER, 1, -1), one["means"])] if binders else []
            own[method].append(pearson(y, one["means"]))
        if not scores:
            print(
                "| set | n | chosen | ρ | R² | coverage | CPU s |", " | ".join(own), "| published | difference in ρ |"
            )
            print("|---" * (9 + len(own)) + "|")
        counts = [short(row["methods"]["default"]["chosen"]) for row in rows[name]]
        chosen = ", ".join(f"{one} {counts.count(one)}×" for one in dict.fromkeys(counts))
        explained = 1 - np.sum((y - joined["methods"]["default"]["means"]) ** 2) / np.sum((y - joined["trivial"]) ** 2)
        cells = [name, str(len(y)), chosen, f"{found['rho']['default']:.3f}", f"{explained:.2f}"]
        cells += [f"{found['coverage']:.1%}", f"{found['cpu']:.0f}"]
        cells += [" / ".join(f"{value:.3f}" for value in values) for values in own.values()]
        known = {key: [float(one[score]) for score in ("auc", "pcc") if one[score]] for key, one in others.items()}
        cells.append(", ".join(f"{key} {' / '.join(f'{one:.3f}' for one in values)}" for key, values in known.items()))
        cells.append(f"{found['difference']:+.3f} ± {found['error']:.3f} to {found['best']}")
        print(f"| {' | '.join(cells)} |")
        for key, values in (own | known).items() if binders else ():
            scores.setdefault(key, []).append(values)
    means = {key: np.mean(values, axis=0) for key, values in scores.items()}
    print("\nmean AUC / PCC:", "; ".join(f"{key} {auc:.3f} / {pcc:.3f}" for key, (auc, pcc) in means.items()))


def print_sources(folder: Path) -> None:
    """Print the source and checksum of each public file."""
    print("set\thalf\tkind\tn\tlength\trepository\tcommit\tpath\tsha256")
    for name in (folder / "ORDER.txt").read_text().split():
        meta = json.loads((folder / name / "meta.json").read_text())
        length = "-".join(map(str, meta["length"])) if isinstance(meta["length"], list) else meta["length"]
        cells = [name, half(name), meta["kind"], meta["n"], length]
        print(*cells, *(meta[key] for key in ("repository", "commit", "path", "sha256")), sep="\t")


def main() -> None:
    """Run a part of the comparison."""
    what, folder, *others = sys.argv[1:]
    if what == "sources":
        print_sources(Path(folder))
    elif what == "fetch":
        fetch(Path(folder))
    elif what == "peptides":
        print_peptides(Path(folder), Path(others[0]))
    elif what == "table":
        print_table(Path(folder), Path(others[0]))
    else:
        warnings.simplefilter("ignore")
        with given_threads(1):
            run(Path(folder), Path(others[0]), others[1:])


if __name__ == "__main__":
    main()
