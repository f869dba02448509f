# Read, check and encode each data set once.


rule datasets:
    input:
        lambda wildcards: entry_files(STUDY["datasets"][wildcards.dataset]),
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
    threads: lambda wildcards: 2 if searches(wildcards.dataset) else 1
    params:
        entry=lambda wildcards: as_json(data_entry(wildcards.dataset)),
        seed=STUDY["seed"],
        data_dir=option("--data-dir", STUDY["data_dir"]),
        build=BUILD,
    shell:
        "seqkern datasets --name {wildcards.dataset} --entry {params.entry:q} --seed {params.seed}"
        " {params.data_dir} --threads {threads} -o $(dirname {output.data:q}) 2>&1 | tee {log:q}"
