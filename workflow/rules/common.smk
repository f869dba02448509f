# What the rules share: the checked configuration, the grid of methods, and parameters as JSON for the command line.
import json
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parent.parent
# Snakemake looks for modules beside the Snakefile first: an installed seqkern must not be hidden by its own source.
if not any((ROOT / "seqkern" / "kernels").glob("_blocks.*.*")):
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]

from seqkern.build import build_digest
from seqkern.config import check_config, load_config, split_transforms
from seqkern.datasets import entry_kind
from seqkern.errors import SeqkernError
from seqkern.kernels import build_kernel

DEMO = ROOT / "config" / "config.yaml"


def load_study():
    """Return the checked configuration: what was given with --configfile, or the demo."""
    try:
        return check_config({**({} if "study" in config else load_config(DEMO)), **config})
    except SeqkernError as error:
        raise WorkflowError(str(error))


STUDY = load_study()
RESULTS = f"results/{STUDY['study']}"
LOGS = f"logs/{STUDY['study']}"
BENCHMARKS = f"benchmarks/results/{STUDY['study']}"
BUILD = build_digest()
KERNELS = {name: build_kernel(split_transforms(spec)[0]) for name, spec in STUDY["kernels"].items()}


wildcard_constraints:
    dataset="|".join(map(re.escape, STUDY["datasets"])),
    kernel="|".join(map(re.escape, STUDY["kernels"])),
    solver="|".join(map(re.escape, STUDY["solvers"])),


def as_json(value):
    """Return a part of the configuration as one word of a command line."""
    return json.dumps(value, sort_keys=True)


def option(name, value):
    """Return a command-line option with its value, or nothing where there is no value."""
    return f"{name} {shlex.quote(str(value))}" if value else ""


def dataset_kernels(dataset):
    """Return the names of the kernels that run on a data set: those it lists, or all that take its kind of data."""
    entry = STUDY["datasets"][dataset]
    kind = entry_kind(entry)
    # dissimilarities are taken by the kernels that accept similarities
    return entry.get("kernels") or [name for name, kernel in KERNELS.items() if kind.endswith(kernel.accepts)]


def dataset_solvers(dataset):
    """Return the names of the solvers that run on a data set."""
    return STUDY["datasets"][dataset].get("solvers") or list(STUDY["solvers"])


def methods():
    """Return all (data set, kernel, solver) of the study."""
    return [
        (dataset, kernel, solver)
        for dataset in STUDY["datasets"]
        for kernel in dataset_kernels(dataset)
        for solver in dataset_solvers(dataset)
    ]


def stored_grams():
    """Return all (data set, kernel) whose Gram matrix serves every fold."""
    pairs = dict.fromkeys((dataset, kernel) for dataset, kernel, _ in methods())
    return [(dataset, kernel) for dataset, kernel in pairs if not KERNELS[kernel].data_dependent]
