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
        study=STUDY_FILE,
    params:
        settings=settings("folds"),
    shell:
        "seqkern folds $(dirname {input:q}) --config {resources.study:q} -o {output:q} > {log:q} 2>&1"
