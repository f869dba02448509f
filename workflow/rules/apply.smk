# Trained models, applied to many files: each output is made by several jobs, which keep their parts in a folder beside it,
# and joined by one more. How many there are is no content: their flags are temporary, and the one that the last job reads has
# the same name for any number of them.
import re
import shlex
import sys
from pathlib import Path

from seqkern.core.package_files import build_digest
from seqkern.core.errors import SeqkernError
from seqkern.core.parts import JOINED
from seqkern.study.apply_entries import Applications
from seqkern.study.schema import check_written


def load_applications():
    """Return the Applications of --configfile or of a module's config."""
    try:
        check_written(workflow.configfiles)
        found = Applications.parse(config, file=workflow.configfiles)
        found.check_files(file=workflow.configfiles)
        return found
    except SeqkernError as error:
        sys.exit(f"seqkern: {error}")  # for an exception Snakemake would also print lines of this file


APPLIED = load_applications()
RESULTS = f"results/{APPLIED.name}"
LOGS = f"logs/{APPLIED.name}"
BUILD = build_digest()
OUTPUT = f"{RESULTS}/{{entry}}/{{model}}/{{file}}"


def forget_removed_parts():
    """Remove the flags of parts that a killed run had begun to remove, and whose output Snakemake has removed."""
    for job in APPLIED.jobs.values():
        folder = Path(RESULTS, job.entry, job.model)
        parts = folder / f"{job.name}.parts"
        gone = not parts.exists() or (parts / JOINED).exists()
        if gone and not all((folder / name).exists() for name in job.outputs):
            (folder / f"{job.name}.parts-made").unlink(missing_ok=True)


forget_removed_parts()


def names(attribute, *by_strand):
    """Return the regular expression of entries, models or output files."""
    found = dict.fromkeys(getattr(job, attribute) for job in APPLIED.jobs.values() if job.by_strand in by_strand)
    return "|".join(map(re.escape, found)) or "(?!)"


def applied(wildcards):
    """Return the Application of a job."""
    return APPLIED.jobs[wildcards.entry, wildcards.model, wildcards.file]


def command(wildcards):
    """Return the command of a job, without output and part."""
    return shlex.join(applied(wildcards).words)


def parts_of(wildcards):
    """Return the number of parts of an output; of a finished one the number that it was made of, so that a changed
    division reruns nothing: Snakemake compares the inputs of all jobs with those of the last run."""
    job = applied(wildcards)
    folder = f"{wildcards.entry}/{wildcards.model}"
    kept = Path(f"{LOGS}/{folder}/{job.name}.parts")
    if kept.is_file() and all(Path(f"{RESULTS}/{folder}/{name}").is_file() for name in job.outputs):
        return int(kept.read_text())
    return job.parts()


def flags_of(wildcards):
    """Return the flags of the parts of an output."""
    of = parts_of(wildcards)
    start = OUTPUT.format(**wildcards)
    return [f"{start}.part-{number}-of-{of}" for number in range(1, of + 1)]


def name_of_strands(wildcards):
    """Return the name, without a strand, of an output for each strand."""
    return f"{wildcards.stem}{wildcards.ending}"


wildcard_constraints:
    entry=names("entry", False, True),
    model=names("model", False, True),
    file=names("name", False, True),
    number=r"\d+",
    of=r"\d+",


localrules:
    apply,
    apply_parts,


rule apply:
    input:
        [f"{RESULTS}/{job.entry}/{job.model}/{name}" for job in APPLIED.jobs.values() for name in job.outputs],


rule apply_part:
    input:
        lambda wildcards: applied(wildcards).inputs,
    output:
        temp(touch(f"{OUTPUT}.part-{{number}}-of-{{of}}")),
    log:
        f"{LOGS}/{{entry}}/{{model}}/{{file}}-{{number}}-of-{{of}}.log",
    conda:
        "../envs/seqkern.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: attempt * applied(wildcards).megabytes(),
    params:
        command=command,
        output=OUTPUT,
        build=BUILD,
    shell:
        "seqkern {params.command} --threads {threads} --part {wildcards.number}/{wildcards.of} -o {params.output:q}"
        " > {log:q} 2>&1"


rule apply_parts:
    input:
        flags_of,
    output:
        temp(touch(f"{OUTPUT}.parts-made")),
    log:
        f"{LOGS}/{{entry}}/{{model}}/{{file}}.parts",
    params:
        number=lambda wildcards, input: len(input),
    shell:
        "echo {params.number} > {log:q}"


rule apply_gather:
    input:
        lambda wildcards: applied(wildcards).inputs,
        made=f"{OUTPUT}.parts-made",
    output:
        OUTPUT,
    log:
        f"{LOGS}/{{entry}}/{{model}}/{{file}}.log",
    wildcard_constraints:
        file=names("name", False),
    conda:
        "../envs/seqkern.yaml"
    params:
        command=command,
        build=BUILD,
    shell:
        "seqkern {params.command} --gather -o {output:q} > {log:q} 2>&1"


rule apply_gather_strands:
    input:
        lambda wildcards: APPLIED.jobs[wildcards.entry, wildcards.model, name_of_strands(wildcards)].inputs,
        made=f"{RESULTS}/{{entry}}/{{model}}/{{stem}}{{ending}}.parts-made",
    output:
        plus=f"{RESULTS}/{{entry}}/{{model}}/{{stem}}.plus{{ending}}",
        minus=f"{RESULTS}/{{entry}}/{{model}}/{{stem}}.minus{{ending}}",
    log:
        f"{LOGS}/{{entry}}/{{model}}/{{stem}}{{ending}}.log",
    wildcard_constraints:
        stem=r"[^/]+",
        ending=r"\.(bw|bedgraph|bedgraph\.gz)",
    conda:
        "../envs/seqkern.yaml"
    params:
        command=lambda wildcards: shlex.join(
            APPLIED.jobs[wildcards.entry, wildcards.model, name_of_strands(wildcards)].words
        ),
        output=f"{RESULTS}/{{entry}}/{{model}}/{{stem}}{{ending}}",
        build=BUILD,
    shell:
        "seqkern {params.command} --gather -o {params.output:q} > {log:q} 2>&1"
