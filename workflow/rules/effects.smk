# One method, trained on each training set of a data set: effects of variants on the chromosomes held out.


rule effects:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        kernel=kernel_files("variants"),
        variants=lambda wildcards: purpose("variants")(wildcards).file,
        genome=lambda wildcards: purpose("variants")(wildcards).genome,
    output:
        summary=f"{RESULTS}/effects/{{dataset}}/effects.json",
        table=report(
            f"{RESULTS}/effects/{{dataset}}/effects.tsv",
            caption="../report/effects.rst",
            category="Effects of variants",
            labels={"data set": "{dataset}", "content": "table"},
        ),
    log:
        f"{LOGS}/effects/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/effects/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: 1
    resources:
        mem_mb=memory(of_model("variants")),
        runtime=minutes(of_model("variants")),
        study=STUDY_FILE,
    params:
        settings=settings("variants"),
    shell:
        "seqkern effects $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q} --threads {threads}"
        " -o $(dirname {output.summary:q}) > {log:q} 2>&1"
