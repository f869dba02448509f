# Shared by the rules: the checked configuration, the grid of methods, and parameters as JSON for the command line.
import json
import os
import re
import shlex
import sys
from pathlib import Path

from seqkern.core.package_files import build_digest
from seqkern.core.errors import SeqkernError
from seqkern.study.plan import count_shares
from seqkern.study.schema import check_written, read_config
from seqkern.study.plan import DatasetPlan
from seqkern.study.study import Study
from snakemake.utils import update_config

DEMO = ROOT / "config" / "config.yaml"


def load_study():
    """Return the Study of --configfile or of a module's config, or else the demo; --config changes keys."""
    files, given = workflow.configfiles, config
    try:
        check_written(files)
        if not files and "datasets" not in config:
            files, given = DEMO, read_config(DEMO)
            update_config(given, config)
        study = Study.parse(given, file=files)
        study.check_files(file=files)
        return study
    except SeqkernError as error:
        sys.exit(f"seqkern: {error}")  # for an exception Snakemake would also print lines of this file


STUDY = load_study()
RESULTS = f"results/{STUDY.name}"
LOGS = f"logs/{STUDY.name}"
BENCHMARKS = f"{RESULTS}/benchmarks"
BUILD = build_digest()
if STUDY.data_dir:
    os.environ.setdefault("SEQKERN_DATA", STUDY.data_dir)  # where kernels look for public files
METHODS = [(dataset, *method) for dataset in STUDY.datasets for method in STUDY.method_names(dataset)]


# Checks are not parameters of the Gram matrix jobs: other solvers do not cause a matrix to be recomputed.
CHECKED = {dataset: STUDY.checked_solvers(dataset) for dataset in STUDY.datasets}
os.environ.update(
    SEQKERN_METHODS=json.dumps(
        {dataset: {name: one.to_dict() for name, one in checked.items()} for dataset, checked in CHECKED.items()}
    )
)


def one_of(names):
    """Return the regular expression of a wildcard that is one of some names; of no name one that never matches."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


# Data sets of a simulated genome, whose files are made first.
SIMULATED = {name: entry.simulated for name, entry in STUDY.datasets.items() if entry.simulated}


wildcard_constraints:
    dataset=one_of(STUDY.datasets),
    kernel=one_of([*STUDY.kernels, *STUDY.homes]),
    solver=one_of(STUDY.solvers),


def as_json(value):
    """Return a part of the configuration as one word of a command line."""
    return json.dumps(value, sort_keys=True)


def option(name, value):
    """Return a command-line option with its value, or nothing without a value."""
    values = [value] if isinstance(value, str) else value
    return f"{name} {shlex.join(values)}" if values else ""


def stored_grams(dataset, kernel, solver):
    """Return the Gram matrices, over all samples of a data set, that serve every fold of a method."""
    return [f"{RESULTS}/gram/{dataset}/{home}/gram.npy" for home in STUDY.grams_of(dataset, kernel, solver)]


def is_current(costs, **wildcards):
    """Return whether this build has written a file of costs, and the results beside it."""
    try:
        return json.loads(Path(str(costs).format(**wildcards)).read_text())["build"] == BUILD
    except (OSError, ValueError, KeyError, TypeError):
        return False


def search_options():
    """Return the command-line options for the search of the inner loop."""
    inner = STUDY.inner
    words = [f"--inner-draws={inner.draws}"] if inner.random else []
    return shlex.join([*words, f"--inner-rule={inner.rule}"])


def clusters_option():
    """Return the command-line option for clusters in place of inner folds, or nothing."""
    clusters = STUDY.inner.clusters
    return "" if clusters is None else f"--inner-clusters={clusters}"


def inner_loops(dataset, kernel, solver):
    """Return the inner loops over which a method is chosen; none if each task has its own choice."""
    names = STUDY.pooled_datasets(dataset, kernel, solver)
    return [f"{RESULTS}/inner/{name}/{kernel}/{solver}/inner.json" for name in names]


def postprocessing_options(solver):
    """Return the command-line options for probabilities and the threshold; empty for solvers with layers."""
    return "" if STUDY.solvers[solver].has_layers else shlex.join(after_options())


def after_options():
    """Return the command-line options for probabilities and the threshold."""
    return [f"--{key}={value}" for key, value in STUDY.inner.postprocessing.items()]


def bias_option(dataset):
    """Return the option to report the inflated scores from selecting features on the test data."""
    return "--selection-bias" if STUDY.datasets[dataset].selection_bias else ""


def significance_option(dataset, *solvers):
    """Return the option to test the features that P-SVMs among the solvers select."""
    test = STUDY.datasets[dataset].significance
    tested = test is not None and any(test.suits(STUDY.solvers[solver].specs) for solver in solvers)
    return f"--significance {test.text()}" if tested else ""


def layers_option(solver):
    """Return the command-line option with the layers of a solver."""
    entry = STUDY.solvers[solver]
    return option("--layers", as_json(entry.layer_specs)) if entry.has_layers else ""


# what all rules that evaluate a method tell the command; `build` makes them run again with another one
OF_METHOD = {
    "kernel": lambda wildcards: as_json(STUDY.kernels[wildcards.kernel].to_dict()),
    "gram": lambda wildcards, input: option("--gram", input.gram),
    "folds": STUDY.inner.folds,
    "metric": STUDY.inner.metric,
    "search": search_options(),
    "clusters": clusters_option(),
    "seed": STUDY.seed,
    "build": BUILD,
}


def importance_of(dataset):
    """Return the importance settings of a data set's entry; None without."""
    return STUDY.datasets[dataset].importance


def motifs_of(dataset):
    """Return the settings of a data set's entry for motifs; None without."""
    return STUDY.datasets[dataset].motifs


def variants_of(dataset):
    """Return the settings of a data set's entry for effects of variants; None without."""
    return STUDY.datasets[dataset].variants
