# One method, trained on all windows of a data set (or on the training set of its only split): importance of positions.


rule importance:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        files=kernel_files("importance"),
    output:
        multiext(
            f"{RESULTS}/importance/{{dataset}}/",
            positions="importance.npz",
            summary="importance.json",
            model="model.seqkern",
        ),
        table=report(
            f"{RESULTS}/importance/{{dataset}}/importance.tsv",
            caption="../report/importance.rst",
            category="Importance of positions",
            labels={"data set": "{dataset}", "content": "table"},
        ),
        map=report(
            f"{RESULTS}/importance/{{dataset}}/importance.svg",
            caption="../report/importance.rst",
            category="Importance of positions",
            labels={"data set": "{dataset}", "content": "map"},
        ),
        logo=report(
            f"{RESULTS}/importance/{{dataset}}/logo.svg",
            caption="../report/importance.rst",
            category="Importance of positions",
            labels={"data set": "{dataset}", "content": "logo"},
        ),
    log:
        f"{LOGS}/importance/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/importance/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: 2
    resources:
        mem_mb=memory(of_model("importance")),
        runtime=minutes(of_model("importance")),
        study=STUDY_FILE,
    params:
        settings=settings("importance"),
    shell:
        "seqkern importance $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q} --threads {threads}"
        " -o $(dirname {output.positions:q}) > {log:q} 2>&1"
