"""Bounds of the leave-one-out error beside the test error, and as inner metrics: four public sets.

Half of each set (at most 1,000 sequences) is the training set, the rest the test set; CTCF has its given test set.

"correlation": Spearman correlation with the error of the test set at the decision 0, over a grid of C (0.01 to 1,000)
× kernel parameter, of each bound and of the error in five inner folds; the bound's own mean and the mean test error.
"choice": what each inner metric chooses from that grid, its test AUC and test error, and the CPU seconds of the choice
from given kernel values.

Run: ``SEQKERN_DATA=… python benchmarks/bench_bounds.py`` (about two CPU minutes on one core).
"""

import time
import warnings

import numpy as np
from common import DATA
from scipy.stats import spearmanr
from search_defaults import sequences

from seqkern.evaluation import roc_auc
from seqkern.evaluation.selection import Search, select
from seqkern.gram.matrix import GramMatrix
from seqkern.kernels import build_kernel
from seqkern.methods.sources import FitData, StoredGram
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import build_solver, make_solver
from seqkern.solvers.costs import BOUNDS

COSTS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
SPECTRA = [f"spectrum:k={k}" for k in (2, 3, 4, 5, 6)]
PROTEIN = [f"spectrum:k={k},zero_diagonal=zero,short=zero" for k in (1, 2, 3)]
SETS = {
    "CTCF": [f"gapped_kmer:l={n},k={k}" for n, k in ((6, 4), (8, 5), (10, 6))] + SPECTRA,
    "acceptor": [f"weighted_degree:degree={d}" for d in (1, 2, 3, 5, 8)],
    "cpp_cellppd": PROTEIN + [f"gappy_pair:k=1,m={m},zero_diagonal=zero,short=zero" for m in (1, 4, 8)],
    "hiv_v3": PROTEIN + [f"gappy_pair:k=1,m={m},zero_diagonal=zero,short=zero" for m in (1, 4, 8)],
}


class Prepared:
    """Training and test set, and the matrices of some kernels."""

    def __init__(self, name, specs):
        strings, positive, alphabet = sequences(name)
        order = np.random.default_rng(1).permutation(len(strings))
        size = min(len(strings) // 2, 1000)
        self.train, self.test = np.sort(order[:size]), np.sort(order[size : 3 * size])
        if name == "CTCF":
            records = [r.splitlines() for r in (DATA / "tfbs/CTCF.test.fasta").read_text().split(">")[1:]]
            self.test = np.arange(len(strings), len(strings) + len(records))
            strings += ["".join(r[1:]).upper() for r in records]
            positive += [r[0] == "1" for r in records]
        X = SequenceSet.from_strings(strings, alphabet, unknown="mask")
        self.y = np.where(positive, 1.0, -1.0)
        codes = np.array(positive, dtype=np.int64)[self.train]
        self.labels = Labels([X.ids[i] for i in self.train], codes, "binary", ("negative", "positive"))
        rows = np.concatenate((self.train, self.test))
        self.matrices = {}
        for spec in specs:
            K = np.asarray(build_kernel(spec)(X.take(rows), X.take(self.train), n_threads=1))
            self.matrices[spec] = K[: len(self.train)].copy(), K[len(self.train) :].copy()

    def tested(self, spec, cost):
        """Return bounds, test error and test AUC of one candidate."""
        K, K_test = self.matrices[spec]
        solver = build_solver({"solver": "csvc", "C": cost}).fit(K, self.y[self.train])
        found = solver.leave_one_out(K, self.y[self.train])
        decisions = solver.decision_function(K_test)
        error = np.mean(np.sign(decisions) != self.y[self.test])
        return [*(found.value(name) for name in BOUNDS), error, roc_auc(self.y[self.test] > 0, decisions)]

    def training_set(self):
        """Return the training set with the matrices of all kernels."""
        grams = {spec: GramMatrix(K, np.diag(K), np.diag(K), {}) for spec, (K, _) in self.matrices.items()}
        return FitData(self.labels, {spec: StoredGram(gram) for spec, gram in grams.items()})


def main():
    """Print both tables."""
    warnings.simplefilter("ignore")
    rows = []
    print("| set | n | positive | span | xi_alpha | radius_margin | 5 folds | mean span | mean test error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, specs in SETS.items():
        data = Prepared(name, specs)
        candidates = [(spec, {"solver": "csvc", "C": cost}) for spec in specs for cost in COSTS]
        found = {(spec, own["C"]): data.tested(spec, own["C"]) for spec, own in candidates}
        table = np.array(list(found.values()))
        choices = {}
        for metric in ("auc", "accuracy", *BOUNDS):
            start = time.process_time()
            choices[metric] = (
                select(data.training_set(), candidates, make_solver, Search(folds=5, metric=metric)),
                time.process_time() - start,
            )
        columns = [*table[:, :3].T, -choices["accuracy"][0].scores.mean(axis=1)]
        cells = " | ".join(f"{spearmanr(column, table[:, 3]).statistic:+.2f}" for column in columns)
        share = np.mean(data.labels.y)
        means = f"{table[:, 0].mean():.3f} | {table[:, 3].mean():.3f}"
        print(f"| {name} | {len(data.train)} | {share:.2f} | {cells} | {means} |", flush=True)
        best = table[:, 3].min(), table[:, 4].max()
        for metric, (choice, seconds) in choices.items():
            _, _, _, error, auc = found[choice.kernel, choice.spec["C"]]
            what = f"{choice.kernel.split(',zero')[0]}, C={choice.spec['C']:g}"
            rows.append(f"| {name} | {metric} | {what} | {auc:.4f} | {error:.4f} | {seconds:.1f} |")
        rows.append(f"| {name} | best on test | | {best[1]:.4f} | {best[0]:.4f} | |")
    print("\n| set | inner metric | chosen | test AUC | test error | CPU s |\n|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
