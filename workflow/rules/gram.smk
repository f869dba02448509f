# One Gram matrix serves all folds of a kernel without fitting, and all kernels derived from it by transforms or weights
# that are fitted on each training set. Jobs compute its tiles. Other solvers or folds do not cause it to be recomputed.
#
# The division is no input of the matrix: a changed number of tiles reruns nothing. So the job that makes the matrix
# waits for those of its tiles through a checkpoint, and only as long as there is no matrix of this build.


rule gram_tile:
    input:
        data=rules.datasets.output.data,
        files=lambda wildcards: STUDY.homes[wildcards.kernel].files(),
        plan=after_plan(f"{RESULTS}/gram/{{dataset}}/{{kernel}}/tile-{{tile}}-of-{{tiles}}.done"),
    output:
        temp(touch(f"{RESULTS}/gram/{{dataset}}/{{kernel}}/tile-{{tile}}-of-{{tiles}}.done")),
    log:
        f"{LOGS}/gram/{{dataset}}/{{kernel}}-{{tile}}-of-{{tiles}}.log",
    conda:
        "../envs/seqkern.yaml"
    threads: 2
    resources:
        mem_mb=memory(of_gram),
        runtime=minutes(of_gram),
        study=STUDY_FILE,
    params:
        settings=settings("gram"),
    shell:
        "seqkern gram --dataset $(dirname {input.data:q}) --study {resources.study:q} --kernel {wildcards.kernel}"
        " --tile {wildcards.tile}/{wildcards.tiles} --threads {threads} -o $(dirname {output:q})/gram.npy > {log:q} 2>&1"


checkpoint tiles:
    input:
        lambda wildcards: [
            f"{RESULTS}/gram/{wildcards.dataset}/{wildcards.kernel}/tile-{tile}-of-{STUDY.tiles}.done"
            for tile in range(1, STUDY.tiles + 1)
        ],
    output:
        touch(f"{RESULTS}/gram/{{dataset}}/{{kernel}}/gram.npy.tiles/complete"),
    localrule: True


rule gram:
    input:
        data=rules.datasets.output.data,
        files=lambda wildcards: STUDY.homes[wildcards.kernel].files(),
        plan=after_plan(f"{RESULTS}/gram/{{dataset}}/{{kernel}}/gram.npy"),
        tiles=tiles_first,
    output:
        gram=f"{RESULTS}/gram/{{dataset}}/{{kernel}}/gram.npy",
        side=f"{RESULTS}/gram/{{dataset}}/{{kernel}}/gram.json",
        spectrum=f"{RESULTS}/gram/{{dataset}}/{{kernel}}/gram.spectrum.tsv",
        cost=f"{RESULTS}/gram/{{dataset}}/{{kernel}}/cost.json",
    log:
        f"{LOGS}/gram/{{dataset}}/{{kernel}}.log",
    benchmark:
        f"{BENCHMARKS}/gram/{{dataset}}/{{kernel}}.jsonl"
    conda:
        "../envs/seqkern.yaml"
    threads: 2
    resources:
        mem_mb=memory(of_gram),
        runtime=minutes(of_gram),
        study=STUDY_FILE,
    params:
        settings=settings("gram"),
    shell:
        "seqkern gram --dataset $(dirname {input.data:q}) --study {resources.study:q} --kernel {wildcards.kernel}"
        " --threads {threads} --spectrum --cost {output.cost:q} -o {output.gram:q} > {log:q} 2>&1"
