# Studies that make one choice for all tasks: the inner loops of a method on each training set of a data set. Evaluate
# then reads those of all data sets, and chooses by the mean rank.


rule inner:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        plan=after_plan(f"{RESULTS}/inner/{{dataset}}/{{kernel}}/{{solver}}/inner.json"),
        files=lambda wildcards: STUDY.kernels[wildcards.kernel].files(),
        gram=lambda wildcards: stored_grams(wildcards.dataset, wildcards.kernel, wildcards.solver),
        shares=shares_first("inner"),
    output:
        inner=f"{RESULTS}/inner/{{dataset}}/{{kernel}}/{{solver}}/inner.json",
        cost=f"{RESULTS}/inner/{{dataset}}/{{kernel}}/{{solver}}/cost.json",
    log:
        f"{LOGS}/inner/{{dataset}}/{{kernel}}/{{solver}}.log",
    benchmark:
        f"{BENCHMARKS}/inner/{{dataset}}/{{kernel}}/{{solver}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.kernels[wildcards.kernel].learns else 1
    resources:
        mem_mb=memory(of_inner),
        runtime=minutes(of_inner),
        study=STUDY_FILE,
    params:
        settings=settings("inner"),
    shell:
        "seqkern evaluate $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q}"
        " --kernel {wildcards.kernel} --solver {wildcards.solver} --gram {input.gram:q} --inner-only"
        " --threads {threads} -o $(dirname {output.inner:q}) > {log:q} 2>&1"
