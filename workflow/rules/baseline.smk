# What any method should beat, on the same folds: the majority class, composition, alignment, 6-mers, position weights.


rule baseline:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
    output:
        multiext(f"{RESULTS}/baseline/{{dataset}}/", metrics="metrics.tsv", decisions="decisions.tsv"),
    log:
        f"{LOGS}/baseline/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/baseline/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    resources:
        mem_mb=memory(of_files(300, 3600, 100)),
        runtime=minutes(of_files(300, 3600, 100)),
    params:
        build=BUILD,
    shell:
        "seqkern baseline $(dirname {input.data:q}) --folds {input.folds:q} -o $(dirname {output.metrics:q})"
        " > {log:q} 2>&1"
