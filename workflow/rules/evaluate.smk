# Train and test over all folds of a method; kernels with fitting are fitted on each training set, and solvers
# without a Gram matrix get feature vectors.


rule evaluate:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        files=lambda wildcards: STUDY.kernels[wildcards.kernel].files(),
        gram=lambda wildcards: stored_grams(wildcards.dataset, wildcards.kernel, wildcards.solver),
    output:
        multiext(
            f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}/",
            decisions="decisions.tsv",
            metrics="metrics.tsv",
            choices="choices.tsv",
            inner_scores="inner_scores.tsv",
            fits="fits.tsv",
            features="features.tsv",
            intervals="intervals.tsv",
            selection_bias="selection_bias.tsv",
            states="states.txt",
            segments="segments.tsv",
            termini="termini.tsv",
            cost="cost.json",
        ),
    log:
        f"{LOGS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.kernels[wildcards.kernel].learns else 1
    params:
        kernel=lambda wildcards: as_json(STUDY.kernels[wildcards.kernel].to_dict()),
        solver=lambda wildcards: as_json(STUDY.solvers[wildcards.solver].spec),
        layers=lambda wildcards: layers_option(wildcards.solver),
        gram=lambda wildcards, input: option("--gram", input.gram),
        folds=STUDY.inner.folds,
        metric=STUDY.inner.metric,
        search=search_options(),
        afterwards=lambda wildcards: afterwards_options(wildcards.solver),
        bias=lambda wildcards: bias_option(wildcards.dataset),
        seed=STUDY.seed,
        build=BUILD,
    shell:
        "seqkern evaluate $(dirname {input.data:q}) --folds {input.folds:q} --kernel {params.kernel:q} {params.gram}"
        " --solver {params.solver:q} {params.layers} --inner-folds {params.folds} --inner-metric {params.metric}"
        " {params.search} {params.afterwards} {params.bias} --seed {params.seed} --threads {threads} -o $(dirname {output.metrics:q}) 2>&1 | tee {log:q}"
