# Read, check and encode each data set once.


rule datasets:
    input:
        lambda wildcards: STUDY.datasets[wildcards.dataset].data.files(),
    output:
        data=f"{RESULTS}/datasets/{{dataset}}/data.npz",
        units=f"{RESULTS}/datasets/{{dataset}}/units.tsv",
        summary=f"{RESULTS}/datasets/{{dataset}}/summary.json",
    log:
        f"{LOGS}/datasets/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/datasets/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.datasets[wildcards.dataset].searches else 1
    resources:
        mem_mb=memory(of_files(300, 60, 20)),
        runtime=minutes(of_files(300, 60, 20)),
        study=STUDY_FILE,
    params:
        settings=settings("datasets"),
    shell:
        "seqkern datasets {resources.study:q} --name {wildcards.dataset} --threads {threads} -o $(dirname {output.data:q})"
        " > {log:q} 2>&1"
