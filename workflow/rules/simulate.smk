# A genome with peaks, planted motifs and variants, for data sets that simulate one.


rule simulate:
    output:
        multiext(
            f"{RESULTS}/simulated/{{dataset}}/",
            genome="genome.fa",
            peaks="peaks.narrowPeak",
            sites="sites.bed",
            variants="variants.vcf",
            motifs="motifs.meme",
        ),
    log:
        f"{LOGS}/simulated/{{dataset}}.log",
    wildcard_constraints:
        dataset=one_of(SIMULATED),
    conda:
        "../envs/seqkern.yaml"
    resources:
        mem_mb=memory(of_files(300, 0, 0)),
        runtime=minutes(of_files(300, 0, 0)),
    params:
        options=lambda wildcards: shlex.join(SIMULATED[wildcards.dataset].words(STUDY.seed)),
        build=BUILD,
    shell:
        "seqkern simulate peaks {params.options} -o $(dirname {output.genome:q}) > {log:q} 2>&1"
