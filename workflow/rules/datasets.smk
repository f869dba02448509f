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
    params:
        entry=lambda wildcards: as_json(STUDY.datasets[wildcards.dataset].to_dict()),
        seed=STUDY.seed,
        data_dir=lambda wildcards: option("--data-dir", STUDY.data_dir),
        build=BUILD,
    shell:
        "seqkern datasets --name {wildcards.dataset} --entry {params.entry:q} --seed {params.seed}"
        " {params.data_dir} --threads {threads} -o $(dirname {output.data:q}) 2>&1 | tee {log:q}"
