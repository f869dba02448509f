# One method, trained on all samples of a data set: the motifs that it has learned.


rule motifs:
    input:
        data=rules.datasets.output.data,
        kernel=kernel_files("motifs"),
        known=lambda wildcards: purpose("motifs")(wildcards).known or [],
    output:
        multiext(
            f"{RESULTS}/motifs/{{dataset}}/",
            summary="motifs.json",
            motifs="motifs.meme",
            model="model.seqkern",
        ),
        table=report(
            f"{RESULTS}/motifs/{{dataset}}/motifs.tsv",
            caption="../report/motifs.rst",
            category="Motifs",
            labels={"data set": "{dataset}", "content": "table"},
        ),
    log:
        f"{LOGS}/motifs/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/motifs/{{dataset}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: 1
    resources:
        mem_mb=memory(of_model("motifs")),
        runtime=minutes(of_model("motifs")),
        study=STUDY_FILE,
    params:
        settings=settings("motifs"),
    shell:
        "seqkern discover $(dirname {input.data:q}) --study {resources.study:q} --threads {threads}"
        " -o $(dirname {output.summary:q}) > {log:q} 2>&1"
