# What test and training sequences of an official split share; drawn folds keep similar sequences together.


rule audit:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
    output:
        multiext(
            f"{RESULTS}/audit/{{dataset}}/", findings="findings.tsv", overlap="overlap.tsv", clusters="clusters.tsv"
        ),
    log:
        f"{LOGS}/audit/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/audit/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: 1
    resources:
        mem_mb=memory(of_files(60, 60, 100)),
        runtime=minutes(of_files(60, 60, 100)),
    params:
        build=BUILD,
    shell:
        "seqkern audit $(dirname {input.data:q}) --folds {input.folds:q} --threads {threads}"
        " -o $(dirname {output.findings:q}) > {log:q} 2>&1"
