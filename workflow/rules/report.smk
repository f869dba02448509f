# One self-contained page, and the tables behind it.


rule report:
    input:
        [f"{RESULTS}/datasets/{dataset}/summary.json" for dataset in STUDY.datasets],
        [f"{RESULTS}/folds/{dataset}" for dataset in STUDY.datasets],
        list(dict.fromkeys(path for method in METHODS for path in stored_grams(*method))),
        [f"{RESULTS}/evaluate/{dataset}/{kernel}/{solver}/metrics.tsv" for dataset, kernel, solver in METHODS],
        [f"{RESULTS}/baseline/{dataset}/metrics.tsv" for dataset in STUDY.datasets],
        [f"{RESULTS}/audit/{dataset}/findings.tsv" for dataset, entry in STUDY.datasets.items() if entry.audited],
        [
            f"{RESULTS}/importance/{dataset}/importance.npz"
            for dataset, entry in STUDY.datasets.items()
            if entry.importance
        ],
        [f"{RESULTS}/motifs/{dataset}/motifs.json" for dataset, entry in STUDY.datasets.items() if entry.motifs],
        [f"{RESULTS}/effects/{dataset}/effects.json" for dataset, entry in STUDY.datasets.items() if entry.variants],
    output:
        page=report(
            f"{RESULTS}/report/index.html",
            caption="../report/page.rst",
            category="Study",
            labels={"content": "report"},
        ),
        summary=report(
            f"{RESULTS}/report/summary.tsv",
            caption="../report/summary.rst",
            category="Study",
            labels={"content": "summary"},
        ),
        families=f"{RESULTS}/report/families.tsv",
        metrics=report(
            f"{RESULTS}/report/metrics.tsv",
            caption="../report/metrics.rst",
            category="Study",
            labels={"content": "scores"},
        ),
        comparisons=report(
            f"{RESULTS}/report/comparisons.tsv",
            caption="../report/comparisons.rst",
            category="Study",
            labels={"content": "comparisons"},
        ),
        intervals=f"{RESULTS}/report/intervals.tsv",
        roc=f"{RESULTS}/report/roc.tsv",
        pr=f"{RESULTS}/report/pr.tsv",
        costs=report(
            f"{RESULTS}/report/costs.tsv",
            caption="../report/costs.rst",
            category="Study",
            labels={"content": "costs"},
        ),
    log:
        f"{LOGS}/report.log",
    conda:
        "../envs/seqkern.yaml"
    resources:
        mem_mb=memory(of_files(300, 10, 10)),
        runtime=minutes(of_files(300, 10, 10)),
        study=STUDY_FILE,
    params:
        results=lambda wildcards, output: str(Path(output.page).parents[1]),
        settings=settings("report"),
    shell:
        "seqkern report {params.results:q} --study {resources.study:q} -o $(dirname {output.page:q}) > {log:q} 2>&1"
