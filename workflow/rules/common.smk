# What the rules share: the checked configuration, the grid of methods, and parameters as JSON for the command line.
import json
import os
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parent.parent
# Snakemake looks for modules beside the Snakefile first: an installed seqkern must not be hidden by its own source.
if not any((ROOT / "seqkern" / "kernels").glob("_blocks.*.*")):
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]

from seqkern.core.build import build_digest
from seqkern.study.config import check_config, check_study_files, load_config
from seqkern.study.methods import dataset_methods, kernel_candidates, needs_gram, split_layers, split_transforms
from seqkern.datasets import entry_files, is_residue_entry
from seqkern.core.public_files import is_public
from seqkern.core.errors import SeqkernError
from seqkern.study.feasible import checked_methods
from seqkern.kernels import build_kernel
from seqkern.study.stored_grams import gram_homes
from snakemake.utils import update_config

DEMO = ROOT / "config" / "config.yaml"


def load_study():
    """Return the checked configuration: what was given with --configfile, or else the demo; --config changes keys."""
    files = workflow.configfiles
    try:
        given = config
        if not files:
            given = load_config(DEMO)
            update_config(given, config)
        file = files[-1] if files else DEMO
        study = check_config(given, file=file)
        check_study_files(study, file=file)
        return study
    except SeqkernError as error:
        sys.exit(f"seqkern: {error}")  # of an exception Snakemake would print the lines of this file too


STUDY = load_study()
RESULTS = f"results/{STUDY['study']}"
LOGS = f"logs/{STUDY['study']}"
BENCHMARKS = f"{RESULTS}/benchmarks"
BUILD = build_digest()
if STUDY["data_dir"]:
    os.environ.setdefault("SEQKERN_DATA", STUDY["data_dir"])  # where kernels look for public files
METHODS = [(dataset, *method) for dataset in STUDY["datasets"] for method in dataset_methods(STUDY, dataset)]
KERNELS = {
    name: build_kernel(split_transforms(spec)[0]) for name, spec in STUDY["kernels"].items() if "choose" not in spec
}
# of an entry: what is run on data and shown of it, not the data
METHOD_KEYS = ("kernels", "solvers", "importance", "selection_bias", "track")
STORED = gram_homes(STUDY)
STORED_KERNELS = dict(home for homes in STORED.values() for home in homes)


# What jobs of Gram matrices are to check is no parameter of theirs: other solvers compute no matrix anew.
os.environ.update(
    SEQKERN_METHODS=json.dumps({dataset: checked_methods(STUDY, dataset) for dataset in STUDY["datasets"]})
)


wildcard_constraints:
    dataset="|".join(map(re.escape, STUDY["datasets"])),
    kernel="|".join(map(re.escape, dict.fromkeys([*STUDY["kernels"], *STORED_KERNELS]))),
    solver="|".join(map(re.escape, STUDY["solvers"])),


def as_json(value):
    """Return a part of the configuration as one word of a command line."""
    return json.dumps(value, sort_keys=True)


def option(name, value):
    """Return a command-line option with its value, or nothing where there is no value."""
    values = [value] if isinstance(value, str) else value
    return f"{name} {shlex.join(values)}" if values else ""


def failures(logs):
    """Return the last line of each failed job's log, which tells what is wrong; Snakemake's own logs name the jobs."""
    logs = [logs] if isinstance(logs, str) else logs or []  # Snakemake 8 has one
    text = "".join(Path(log).read_text(errors="replace") for log in logs)
    names = dict.fromkeys(re.findall(r"^ +log: (.+) \(check log file\(s\) for error details\)$", text, re.MULTILINE))
    told = [Path(name).read_text(errors="replace").rstrip().splitlines() for name in names if Path(name).is_file()]
    return list(dict.fromkeys(lines[-1] for lines in told if lines))


def data_entry(dataset):
    """Return what a data set's entry says of the data: which methods run on them reruns none of its jobs."""
    return {key: value for key, value in STUDY["datasets"][dataset].items() if key not in METHOD_KEYS}


def kernel_entry(kernel):
    """Return a kernel entry with the specifications, not the names alone, of the kernels that it chooses among.

    Which solvers run on it is left out: no job is done again for that.
    """
    kernels = {name: {key: spec[key] for key in spec if key != "solvers"} for name, spec in STUDY["kernels"].items()}
    if "choose" not in kernels[kernel]:
        return kernels[kernel]
    return {"choose": [{"name": name, **kernels[name]} for name in kernel_candidates(STUDY, kernel)]}


def learns(kernel):
    """Tell whether a kernel entry holds a kernel, or a transform of its matrix, that is fitted on each training part."""
    names = kernel_candidates(STUDY, kernel)
    return any(KERNELS[name].data_dependent or split_transforms(STUDY["kernels"][name])[1] for name in names)


def searches(dataset):
    """Tell whether the profiles of a data set are built by search."""
    return "search" in STUDY["datasets"][dataset].get("profiles", {})


def stored_grams(dataset, kernel, solver):
    """Return the Gram matrices, over all units of a data set, that serve every fold of a method.

    There is none over all residues of many chains: a solver that takes one is given that of the training part.
    """
    if not needs_gram(STUDY["solvers"][solver]) or is_residue_entry(STUDY["datasets"][dataset]):
        return []
    homes = [home for name in kernel_candidates(STUDY, kernel) for home, _ in STORED.get(name, ())]
    return [f"{RESULTS}/gram/{dataset}/{home}/gram.npy" for home in homes]


def kernel_files(kernel):
    """Return the local files that a kernel entry names: a changed one makes its results anew."""
    return local_files(KERNELS[name] for name in kernel_candidates(STUDY, kernel))


def stored_files(home):
    """Return the local files that the kernel of a stored Gram matrix names."""
    return local_files([build_kernel(STORED_KERNELS[home])])


def local_files(kernels):
    """Return the local files that kernels name, each once."""
    named = [str(path) for kernel in kernels for path in kernel.files()]
    return [path for path in dict.fromkeys(named) if not is_public(path)]


def search_options():
    """Return the options about what the inner loop searches and how it chooses, for the command line."""
    inner = STUDY["inner"]
    words = [f"--inner-draws={inner['draws']}"] if inner["search"] == "random" else []
    return shlex.join([*words, f"--inner-rule={inner['rule']}"])


def afterwards_options(solver):
    """Return the options about probabilities and the threshold, for the command line; none where layers decide."""
    if split_layers(STUDY["solvers"][solver])[1]:
        return ""
    inner = STUDY["inner"]
    return shlex.join(f"--{key}={inner[key]}" for key in ("calibration", "threshold") if inner[key] is not None)


def bias_option(dataset):
    """Return the option to compute what a selection of features with a look at the test parts would seem to reach."""
    return "--selection-bias" if STUDY["datasets"][dataset].get("selection_bias") else ""


def solver_entry(solver):
    """Return a solver entry without the layers that follow it."""
    return split_layers(STUDY["solvers"][solver])[0]


def layers_option(solver):
    """Return the option with the layers that follow a solver, for the command line."""
    layers = split_layers(STUDY["solvers"][solver])[1]
    return option("--layers", as_json(layers)) if layers else ""


def importance_of(dataset):
    """Return a data set's entry about the importance of positions; None where there is none."""
    return STUDY["datasets"][dataset].get("importance")


def importance_options(dataset):
    """Return the options of an entry about the importance of positions, for the command line."""
    entry = importance_of(dataset)
    words = [f"--{key}={entry[key]}" for key in ("order", "background", "site", "pair") if key in entry]
    words += [f"--section={':'.join(map(str, entry['section']))}"] if "section" in entry else []
    return shlex.join(words)
