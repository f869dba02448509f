# Before any kernel is computed: `seqkern check` verifies that every training set suits its solvers, and `seqkern plan`
# predicts what the jobs of a data set cost, which is read where they ask for memory and time, and are divided. It is not
# an input of theirs that makes them run again: results do not depend on it.


checkpoint plan:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
    output:
        f"{RESULTS}/plan/{{dataset}}/plan.json",
    log:
        f"{LOGS}/plan/{{dataset}}.log",
    conda:
        "../envs/seqkern.yaml"
    resources:
        mem_mb=memory(of_files(60, 60, 50)),
        runtime=minutes(of_files(60, 60, 50)),
        study=STUDY_FILE,
    params:
        settings=settings("plan"),
    shell:
        "(seqkern check $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q} &&"
        " seqkern plan $(dirname {input.data:q}) --folds {input.folds:q} --study {resources.study:q} -o {output:q}"
        ") > {log:q} 2>&1"
