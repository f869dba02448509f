# Shared by the rules: the checked configuration, the file of it that jobs read, and the grid of methods.
import json
import os
import re
import shlex
import sys
from pathlib import Path

from seqkern.core.package_files import build_digest
from seqkern.core.errors import SeqkernError
from seqkern.core.progress import reporting
from seqkern.study.plan import count_shares
from seqkern.study.schema import check_written, read_config
from seqkern.study.plan import DatasetPlan
from seqkern.study.study import Study
from seqkern.study.workflow import CONFIG, STUDIES
from snakemake.utils import update_config

# Without --configfile: the one beside the Snakefile that was started, or else the demo.
DEFAULTS = Path(workflow.main_snakefile).parent / CONFIG, STUDIES / "config.yaml"


def load_study():
    """Return the Study of --configfile, of a module's config or of the default file; --config changes keys."""
    files, given = workflow.configfiles, config
    try:
        check_written(files)
        if not files and "datasets" not in config:
            files = os.path.relpath(next(filter(Path.exists, DEFAULTS)))
            given = read_config(files)
            update_config(given, config)
            config.update(given)  # the report of Snakemake names the study
        with reporting():
            study = Study.parse(given, file=files)
        study.check_files(file=files)
        return study
    except SeqkernError as error:
        sys.exit(f"seqkern: {error}")  # for an exception Snakemake would also print lines of this file


STUDY = load_study()
RESULTS = STUDY.results
LOGS = f"logs/{RESULTS}".replace("logs/results", "logs", 1)
BENCHMARKS = f"{RESULTS}/benchmarks"
BUILD = build_digest()
# What jobs read, and a resource of theirs: an input or parameter would rerun all of them. Each configuration has its own.
STUDY_FILE = str(STUDY.save(f"{RUNS}/studies"))
METHODS = [(dataset, *method) for dataset in STUDY.datasets for method in STUDY.method_names(dataset)]


def one_of(names):
    """Return the regular expression of a wildcard that is one of some names; of no name one that never matches."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


# Data sets of a simulated genome, whose files are made first.
SIMULATED = {name: entry.simulated for name, entry in STUDY.datasets.items() if entry.simulated}


wildcard_constraints:
    dataset=one_of(STUDY.datasets),
    kernel=one_of([*STUDY.kernels, *STUDY.homes]),
    solver=one_of(STUDY.solvers),
    stage="evaluate|inner",


def settings(job):
    """Return the function for all that a job depends on besides its input: the build, and its part of the study."""
    ordered = job in ("datasets", "plan", "report")  # the first class is positive, matrices have the name of a kernel

    def find(wildcards):
        names = {name: wildcards[name] for name in ("dataset", "kernel", "solver") if name in wildcards.keys()}
        return json.dumps([BUILD, STUDY.settings_of(job, **names)], sort_keys=not ordered)

    return find


def stored_grams(dataset, kernel, solver):
    """Return the Gram matrices, over all samples of a data set, that serve every fold of a method."""
    return [f"{RESULTS}/gram/{dataset}/{home}/gram.npy" for home in STUDY.grams_of(dataset, kernel, solver)]


def is_current(costs, **wildcards):
    """Return whether this build has written a file of costs, and the results beside it."""
    try:
        return json.loads(Path(str(costs).format(**wildcards)).read_text())["build"] == BUILD
    except (OSError, ValueError, KeyError, TypeError):
        return False


def inner_loops(dataset, kernel, solver):
    """Return the inner loops over which a method is chosen; none if each task has its own choice."""
    names = STUDY.pooled_datasets(dataset, kernel, solver)
    return [f"{RESULTS}/inner/{name}/{kernel}/{solver}/inner.json" for name in names]


def purpose(key):
    """Return the function for the settings of a model that an entry asks for; None if it does not."""
    return lambda wildcards: getattr(STUDY.datasets[wildcards.dataset], key)


def kernel_files(key):
    """Return the input function for the local files of the kernel of a model that an entry asks for."""
    return lambda wildcards: STUDY.kernels[purpose(key)(wildcards).kernel].files()


def main_findings():
    """Return the sentence that the report has logged about each data set."""
    lines = Path(f"{LOGS}/report.log").read_text().splitlines()
    return [
        line.removeprefix("seqkern: ")
        for line in lines
        if line.startswith(tuple(f"seqkern: {name}: " for name in STUDY.datasets))
    ]
