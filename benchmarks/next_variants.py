"""Which variants to make next: ucb, ei and thompson against random choice, in rounds of one batch.

Run: ``python benchmarks/next_variants.py landscapes`` (NK landscapes with insertions and deletions, whose best sequence
is known, and in the pool) or ``peptides`` (101 antimicrobial peptides with measured activities); about a CPU minute
each. Both print a table and draw docs/next_variants_*.svg. A label is known once its variant was chosen. Kernel and κ
are fixed beforehand; noise and scale of the process are chosen from the labels known.

The peptides are those of Giguère et al. 2015 (PLoS Comput. Biol. 11:e1004074), in the file CAMPS of a package of the
same group, to be copied from URL to SEQKERN_DATA/camps/camps.pickle.
"""

import hashlib
import io
import pickle
import sys
from pathlib import Path

import matplotlib
import numpy as np
from common import DATA

from seqkern.kernels import build_kernel
from seqkern.methods.acquisition import ACQUISITIONS, next_variants
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.simulate import simulate

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "seqkern", "svg.fonttype": "path", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402

DOCS = Path(__file__).resolve().parent.parent / "docs"
URL = (
    "https://raw.githubusercontent.com/a-ro/preimage/5489e8ab34bdd5f1f1f2eb18718425373ede44bb/preimage/datasets/"
    "camps.pickle"
)
SHA256 = "66fa608aaafc77e494e1c91741acfb32d4523943442c586cd0e2d05fd95c2d30"
ARRAYS = {("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("_codecs", "encode"), ("numpy", "dtype")}
KERNEL = "generic_string:length=2,sigma_p=1,sigma_c=0.5"
RULES = (*ACQUISITIONS, "random")
COLOURS = {"ucb": "#b3541e", "ei": "#0b6e99", "thompson": "#4d7c2f", "random": "#777777"}
SEEDS = range(1, 41)


class Arrays(pickle.Unpickler):
    """A reader of arrays and nothing else."""

    def find_class(self, module, name):
        if (module, name) not in ARRAYS:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of an array")
        return super().find_class(module, name)


def landscape(seed):
    """Return variants with indels, their labels with noise, and their true values as shares of the best possible."""
    made = simulate(
        "landscape", seed=seed, n_variants=600, n_positions=8, n_neighbours=1, mutations=4, indels=0.2, optimum=1
    )
    labels, shares = (np.array(made.table[name], dtype=float) for name in ("label", "of_optimum"))
    return made.sequences, labels, shares


def peptides(seed):
    """Return the peptides and their activities, which are both labels and values."""
    path = DATA / "camps" / "camps.pickle"
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{path} is not the file of {URL}")
    found = Arrays(io.BytesIO(content)).load()
    return as_sequences([str(text) for text in found["X"]], "protein"), found["y"], found["y"]


def curve(X, labels, values, rule, seed, first, batch, rounds):
    """Return the best value among the variants made, after each round."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    chosen, best = order[:first].tolist(), []
    for number in range(rounds + 1):
        best.append(values[chosen].max())
        if number == rounds:
            return best
        if rule == "random":
            chosen += [row for row in order if row not in set(chosen)][:batch]
            continue
        known = X.take(np.array(chosen))
        model = train_model(
            known, make_labels(known.ids, labels[chosen], kind="real"), build_kernel(KERNEL), "gp_regression"
        )
        chosen += next_variants(model, [X], batch, acquisition=rule, seed=seed, n_threads=1).rows.tolist()


def main(kind):
    """Print the curves, and draw them."""
    make, first, batch, rounds, axis = {
        "landscapes": (landscape, 20, 10, 8, "best value made / best possible value"),
        "peptides": (peptides, 10, 5, 8, "best activity made"),
    }[kind]
    sizes = [first + batch * number for number in range(rounds + 1)]
    print("choice", *sizes, "best found", sep="\t")
    figure, axes = plt.subplots(figsize=(6, 3.4))
    for rule in RULES:
        problems = {seed: make(seed) for seed in SEEDS}
        found = np.array([curve(*problem, rule, seed, first, batch, rounds) for seed, problem in problems.items()])
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(SEEDS))
        cells = [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors, strict=True)]
        hits = sum(one[-1] == values.max() for one, (_, _, values) in zip(found, problems.values(), strict=True))
        print(rule, *cells, f"{hits} of {len(SEEDS)}", sep="\t", flush=True)
        axes.plot(sizes, means, "o-", color=COLOURS[rule], markersize=4, label=rule)
        axes.fill_between(sizes, means - errors, means + errors, color=COLOURS[rule], alpha=0.15, linewidth=0)
    axes.set(xlabel="variants made", ylabel=axis)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(DOCS / f"next_variants_{kind}.svg", bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
