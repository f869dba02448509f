# One self-contained page, and the tables behind it.


rule report:
    input:
        [f"{RESULTS}/datasets/{dataset}/summary.json" for dataset in STUDY["datasets"]],
        [f"{RESULTS}/folds/{dataset}" for dataset in STUDY["datasets"]],
        [f"{RESULTS}/gram/{dataset}/{kernel}/gram.npy" for dataset, kernel in stored_grams()],
        [f"{RESULTS}/evaluate/{dataset}/{kernel}/{solver}/metrics.tsv" for dataset, kernel, solver in methods()],
    output:
        page=f"{RESULTS}/report/index.html",
        summary=f"{RESULTS}/report/summary.tsv",
        families=f"{RESULTS}/report/families.tsv",
        metrics=f"{RESULTS}/report/metrics.tsv",
    params:
        study=as_json(STUDY),
        build=BUILD,
    log:
        f"{LOGS}/report.log",
    conda:
        "../envs/seqkern.yaml"
    shell:
        "seqkern report {RESULTS:q} --study {params.study:q} -o $(dirname {output.page:q}) 2>&1 | tee {log:q}"
