"""What the demo's kernels gain over the best reference method, as a Markdown table over seeds.

Run: ``python benchmarks/demo_gains.py --seeds 10``, about 17 CPU seconds a seed. Each seed draws data and folds anew.
The kernel of each data set is named here, not picked by its score; the best reference method is picked, by its mean
AUC over the test sets of each seed.
"""

import argparse
import contextlib
import io
import os
import tempfile
from pathlib import Path

import pandas as pd
import yaml

from seqkern.cli.main import main
from seqkern.methods.baselines import BASELINES
from seqkern.study import Study

KERNELS = {"donors": "site_and_flanks", "homologs": "local_alignment", "peaks": "gapped10"}
SOLVERS = {"csvc": "C-SVM", "psvc": "P-SVM"}
CONFIG = Path(__file__).resolve().parent.parent / "config" / "config.yaml"


def run(*words):
    """Run a verb without its output."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(list(map(str, words)))
    if code:
        raise SystemExit(said.getvalue())


def areas(config, name):
    """Return the mean AUCs of a data set's methods and baselines, by name."""
    study, data, folds = Study.parse(config), Path("data", name), Path("folds", name)
    simulated = study.datasets[name].simulated
    if simulated:
        run("simulate", "peaks", *simulated.words(study.seed), "-o", f"results/{study.name}/simulated/{name}")
    run("datasets", "study.yaml", "--name", name, "-o", data)
    run("folds", data, "--config", "study.yaml", "-o", folds)
    run("baseline", data, "--folds", folds, "-o", f"baseline/{name}")
    table = pd.read_csv(f"baseline/{name}/metrics.tsv", sep="\t")
    found = table.groupby("baseline")["auc"].mean().to_dict()
    for solver in SOLVERS:
        method = "--kernel", KERNELS[name], "--solver", solver
        run("evaluate", data, "--folds", folds, "--study", "study.yaml", *method, "-o", f"{name}/{solver}")
        found[solver] = pd.read_csv(f"{name}/{solver}/metrics.tsv", sep="\t")["auc"].mean()
    return found


def spread(values):
    """Return mean ± standard deviation."""
    return f"{values.mean():.3f} ± {values.std():.3f}"


def print_table(rows):
    """Print the table of all seeds so far."""
    print("| data | method | AUC | best reference method (seeds) | AUC | gain | least to largest | seeds ahead |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kernel in KERNELS.items():
        table = pd.DataFrame([own[name] for own in rows])
        names = [name for name in table if name in BASELINES and not BASELINES[name].trivial]
        best, which = table[names].max(axis=1), table[names].idxmax(axis=1).value_counts()
        references = ", ".join(f"{BASELINES[one].title} ({count})" for one, count in which.items())
        for solver, title in SOLVERS.items():
            gain = table[solver] - best
            cells = f"{name} | `{kernel}`, {title} | {spread(table[solver])} | {references} | {spread(best)}"
            ends = f"{gain.min():+.3f} to {gain.max():+.3f}"
            print(f"| {cells} | **{gain.mean():+.3f}** ± {gain.std():.3f} | {ends} | {sum(gain > 0)} of {len(gain)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="seeds 1 to N")
    seeds = parser.parse_args().seeds
    demo = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    rows = []
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            config = demo | {"seed": seed}
            Path("study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
            rows.append({name: areas(config, name) for name in KERNELS})
            os.chdir("/")
    print_table(rows)
