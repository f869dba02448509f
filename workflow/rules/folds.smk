# Splits as files, shared by all kernels and solvers, with a check for leakage between training and test sets.


rule folds:
    input:
        rules.datasets.output.data,
    output:
        directory(f"{RESULTS}/folds/{{dataset}}"),
    log:
        f"{LOGS}/folds/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/folds/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    resources:
        mem_mb=memory(of_files(120, 600, 100)),
        runtime=minutes(of_files(120, 600, 100)),
    params:
        options=lambda wildcards: as_json(STUDY.datasets[wildcards.dataset].fold_options()),
        leakage=as_json(STUDY.leakage.to_dict()),
        seed=STUDY.seed,
        build=BUILD,
    shell:
        "seqkern folds $(dirname {input:q}) --options {params.options:q} --leakage {params.leakage:q}"
        " --seed {params.seed} -o {output:q} 2>&1 | tee {log:q}"
