# Read, check and encode each data set once.


rule datasets:
    output:
        data=f"{RESULTS}/datasets/{{dataset}}/data.npz",
        units=f"{RESULTS}/datasets/{{dataset}}/units.tsv",
        summary=f"{RESULTS}/datasets/{{dataset}}/summary.json",
    params:
        entry=lambda wildcards: as_json(STUDY["datasets"][wildcards.dataset]),
        seed=STUDY["seed"],
        data_dir=STUDY["data_dir"] or "",
        build=BUILD,
    log:
        f"{LOGS}/datasets/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/datasets/{{dataset}}.tsv"
    conda:
        "../envs/seqkern.yaml"
    shell:
        "seqkern datasets --name {wildcards.dataset} --entry {params.entry:q} --seed {params.seed}"
        " --data-dir {params.data_dir:q} -o $(dirname {output.data:q}) > {log:q} 2>&1"
