# Train and test over all folds of a method; kernels with fitting are fitted on each training set, and solvers
# without a Gram matrix get feature vectors. Data sets of residues get three more files.

TABLES = {
    **{name: f"{name}.tsv" for name in ("decisions", "metrics", "choices", "inner_scores", "fits", "features")},
    **{name: f"{name}.tsv" for name in ("intervals", "exemplars", "selection_bias", "path")},
    "cost": "cost.json",
}
CHAIN_FILES = {"states": "states.txt", "segments": "segments.tsv", "termini": "termini.tsv"}
OF_RESIDUES = [name for name, entry in STUDY.datasets.items() if entry.of_residues]


rule evaluate:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        plan=after_plan(f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}/metrics.tsv"),
        files=lambda wildcards: STUDY.kernels[wildcards.kernel].files(),
        gram=lambda wildcards: stored_grams(wildcards.dataset, wildcards.kernel, wildcards.solver),
        pooled=lambda wildcards: inner_loops(wildcards.dataset, wildcards.kernel, wildcards.solver),
        shares=shares_first("evaluate"),
    output:
        multiext(f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}/", **TABLES),
    log:
        f"{LOGS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}.jsonl"
    wildcard_constraints:
        dataset=one_of(name for name in STUDY.datasets if name not in OF_RESIDUES),
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.kernels[wildcards.kernel].learns else 1
    resources:
        mem_mb=memory(of_method),
        runtime=minutes(of_method),
        study=STUDY_FILE,
    params:
        settings=settings("evaluate"),
    shell:
        "seqkern evaluate $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q}"
        " --kernel {wildcards.kernel} --solver {wildcards.solver} --gram {input.gram:q} --pooled {input.pooled:q}"
        " --threads {threads} -o $(dirname {output.metrics:q}) > {log:q} 2>&1"


use rule evaluate as evaluate_residues with:
    output:
        multiext(f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}/", **TABLES, **CHAIN_FILES),
    wildcard_constraints:
        dataset=one_of(OF_RESIDUES),
