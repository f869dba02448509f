# Read, check and encode each data set once.


rule datasets:
    output:
        data=f"{RESULTS}/datasets/{{dataset}}/data.npz",
        units=f"{RESULTS}/datasets/{{dataset}}/units.tsv",
        summary=f"{RESULTS}/datasets/{{dataset}}/summary.json",
    params:
        entry=lambda wildcards: as_json(STUDY["datasets"][wildcards.dataset]),
        seed=STUDY["seed"],
        data_dir=option("--data-dir", STUDY["data_dir"]),
        build=BUILD,
    log:
        f"{LOGS}/datasets/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/datasets/{{dataset}}.tsv"
    conda:
        "../envs/seqkern.yaml"
    shell:
        "seqkern datasets --name {wildcards.dataset} --entry {params.entry:q} --seed {params.seed}"
        " {params.data_dir} -o $(dirname {output.data:q}) 2>&1 | tee {log:q}"
