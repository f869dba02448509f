# Long evaluations of a kernel, or inner loops for a pooled choice, are divided: jobs compute shares of the folds of all
# solvers, and those of `evaluate` and `inner` gather them.
#
# The division is no input of the gathering jobs: another number of shares reruns nothing. They wait for the shares
# through a checkpoint, and only as long as there are no results of this build.


rule share:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        files=lambda wildcards: STUDY.kernels[wildcards.kernel].files(),
        gram=shared_grams,
        plan=ancient(rules.plan.output),
    output:
        temp(touch(f"{RESULTS}/{{stage}}/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.done")),
    log:
        f"{LOGS}/{{stage}}/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.log",
    wildcard_constraints:
        share=r"\d+",
        shares=r"\d+",
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.kernels[wildcards.kernel].learns else 1
    resources:
        mem_mb=memory(of_share),
        runtime=minutes(of_share),
        study=STUDY_FILE,
    params:
        methods=lambda wildcards: undone_methods(*names_of_share(wildcards)),
        settings=shared_settings,
        inner=lambda wildcards: "--inner-only" if wildcards.stage == "inner" else "",
    shell:
        "seqkern evaluate $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q}"
        " --kernel {wildcards.kernel} --methods {params.methods} --gram {input.gram:q} {params.inner}"
        " --share {wildcards.share}/{wildcards.shares} --plan {input.plan:q}"
        " --threads {threads} -o $(dirname {output:q}) > {log:q} 2>&1"


# in a folder that the gathering job removes
checkpoint shares:
    input:
        lambda wildcards: share_flags(*names_of_share(wildcards)),
    output:
        touch(f"{RESULTS}/{{stage}}/{{dataset}}/{{kernel}}/{{solver}}/.finished/complete"),
    localrule: True
