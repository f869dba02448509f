# What jobs ask an executor such as SLURM for: memory (mem_mb) and minutes (runtime). Snakemake evaluates the functions
# again when a job is about to be submitted, after its inputs, and so the plan, exist. A retry asks for more. Runs on
# this machine ignore all of it, unless --resources limits it.
import functools
import math
import os

from seqkern.study.plan import DatasetPlan

LEAST_MB, LEAST_MINUTES = 500, 5
MEMORY_FACTOR, TIME_FACTOR = 1.3, 3.0  # a prediction may be this much too low
SNAKEMAKE_MB = 350  # a job of an executor is two Snakemake processes, the second of which runs the verb
GUESS = 3600.0, 4e9  # CPU seconds and bytes of a job without a plan
PLANS = {dataset: f"{RESULTS}/plan/{dataset}/plan.json" for dataset in STUDY.datasets}


@functools.lru_cache
def plan_as_of(path, changed):
    """Return the plan of a data set; `changed` is the time of its file."""
    return DatasetPlan.load(path)


def plan_of(dataset):
    """Return the plan of a data set; None before it is made."""
    try:
        return plan_as_of(PLANS[dataset], os.stat(PLANS[dataset]).st_mtime_ns)
    except (OSError, SeqkernError):
        return None


def after_plan(output):
    """Return the input function of a job that waits for the plan as long as it has no output; it adds no input.

    So a plan that is made again, or deleted, reruns nothing.
    """

    def wait(wildcards):
        if not os.path.exists(output.format(**wildcards)):
            checkpoints.plan.get(dataset=wildcards.dataset)
        return []

    return wait


def megabytes(input):
    """Return the size of the input files that exist, in MB."""
    return sum(os.path.getsize(file) for file in input if os.path.isfile(file)) / 1e6


def of_gram(wildcards, input):
    """Return seconds and bytes of a stored Gram matrix, or of one of its tiles."""
    plan = plan_of(wildcards.dataset)
    cost = plan and plan.grams.get(wildcards.kernel)
    if not cost:
        return GUESS
    return cost.seconds / int(getattr(wildcards, "tiles", 1)), cost.bytes


def of_method(wildcards, input):
    """Return seconds and bytes of the evaluation of a method."""
    return of_names(wildcards.dataset, wildcards.kernel, wildcards.solver)


def of_names(dataset, kernel, solver):
    """Return seconds and bytes of the evaluation of a method that is given by names."""
    plan = plan_of(dataset)
    cost = plan and plan.methods.get(kernel, {}).get(solver)
    return (cost.seconds, cost.bytes) if cost else GUESS


def of_inner(wildcards, input):
    """Return seconds and bytes of the inner loops of a method."""
    plan = plan_of(wildcards.dataset)
    cost = plan and plan.methods.get(wildcards.kernel, {}).get(wildcards.solver)
    return (cost.once + sum(cost.inner), cost.bytes) if cost else GUESS


def of_model(key):
    """Return the function for a model on all samples of a data set: at most what its evaluation costs, twice."""

    def cost(wildcards, input):
        entry = purpose(key)(wildcards)
        seconds, size = of_names(wildcards.dataset, entry.kernel, entry.solver)
        return 600 + 2 * seconds, 2 * size

    return cost


def of_files(seconds, seconds_per_mb, bytes_per_byte):
    """Return the function for a job whose cost grows with its input files."""
    return lambda wildcards, input: (
        seconds + seconds_per_mb * megabytes(input),
        2e8 + bytes_per_byte * 1e6 * megabytes(input),
    )


def memory(cost):
    """Return the function for mem_mb, from one for seconds and bytes."""
    return lambda wildcards, input, attempt: attempt * max(
        LEAST_MB, math.ceil(SNAKEMAKE_MB + MEMORY_FACTOR * cost(wildcards, input)[1] / 1e6)
    )


def minutes(cost):
    """Return the function for runtime, from one for seconds and bytes."""
    return lambda wildcards, input, attempt: attempt * max(
        LEAST_MINUTES, math.ceil(TIME_FACTOR * cost(wildcards, input)[0] / 60)
    )
