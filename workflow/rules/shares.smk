# Long evaluations of a kernel, or inner loops for a pooled choice, are divided: jobs compute shares of the folds of all
# solvers, and those of `evaluate` and `inner` gather them.
#
# The division is no input of the gathering jobs: another number of shares reruns nothing. They wait for the shares
# through a checkpoint, and only as long as there are no results of this build.


def undone_methods(dataset, kernel, inner=False):
    """Return the names of the solvers whose folds jobs may share: without results of this build."""
    made_by = rules.inner if inner else rules.evaluate
    return [
        solver
        for one, other, solver in METHODS
        if (one, other) == (dataset, kernel)
        and bool(inner_loops(dataset, kernel, solver)) == inner  # evaluating a pooled choice is short
        and not is_current(made_by.output.cost, dataset=dataset, kernel=kernel, solver=solver)
    ]


def share_flags(wildcards, inner=False):
    """Return the flags of the jobs that share the folds of a kernel; none if they are not divided."""
    plan = DatasetPlan.load(checkpoints.plan.get(dataset=wildcards.dataset).output[0])
    costs = plan.methods.get(wildcards.kernel, {})
    methods = undone_methods(wildcards.dataset, wildcards.kernel, inner)
    shares = count_shares([costs[name] for name in methods if name in costs], STUDY.share_seconds, inner=inner)
    folder = f"{RESULTS}/{'inner' if inner else 'evaluate'}/{wildcards.dataset}/{wildcards.kernel}"
    return [f"{folder}/share-{one}-of-{shares}.done" for one in range(1, shares + 1) if shares > 1]


def shares_first(wildcards):
    """Wait for the jobs that share the evaluation of a method, if it has to be made and is divided."""
    if wildcards.solver in undone_methods(wildcards.dataset, wildcards.kernel) and share_flags(wildcards):
        checkpoints.shares.get(**wildcards)
    return []


def inner_shares_first(wildcards):
    """Wait for the jobs that share the inner loops of a method, if they have to be made and are divided."""
    undone = undone_methods(wildcards.dataset, wildcards.kernel, inner=True)
    if wildcards.solver in undone and share_flags(wildcards, inner=True):
        checkpoints.inner_shares.get(**wildcards)
    return []


def shared_methods(wildcards, inner=False):
    """Return the solvers of a share as JSON."""
    names = undone_methods(wildcards.dataset, wildcards.kernel, inner)
    entries = {name: STUDY.solvers[name] for name in names}
    return as_json({name: {"solver": one.spec, "layers": list(one.layer_specs)} for name, one in entries.items()})


def shared_grams(wildcards):
    """Return the Gram matrices for the solvers of a share that take one."""
    names = [solver for one, kernel, solver in METHODS if (one, kernel) == (wildcards.dataset, wildcards.kernel)]
    return list(
        dict.fromkeys(path for name in names for path in stored_grams(wildcards.dataset, wildcards.kernel, name))
    )


def of_share(inner=False):
    """Return the function for seconds and bytes of a share."""

    def cost(wildcards, input):
        plan = plan_of(wildcards.dataset)
        methods = (plan and plan.methods.get(wildcards.kernel, {})) or {}
        if not methods:
            return GUESS
        folds = sum(sum(one.inner if inner else one.folds) for one in methods.values())
        return folds / int(wildcards.shares) + sum(one.once for one in methods.values()), max(
            one.bytes for one in methods.values()
        )

    return cost


rule share:
    input:
        data=rules.datasets.output.data,
        folds=rules.folds.output,
        files=lambda wildcards: STUDY.kernels[wildcards.kernel].files(),
        gram=shared_grams,
        plan=ancient(rules.plan.output),
    output:
        temp(touch(f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.done")),
    log:
        f"{LOGS}/evaluate/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.log",
    wildcard_constraints:
        share=r"\d+",
        shares=r"\d+",
    conda:
        "../envs/seqkern.yaml"
    threads: lambda wildcards: 2 if STUDY.kernels[wildcards.kernel].learns else 1
    resources:
        mem_mb=memory(of_share()),
        runtime=minutes(of_share()),
        memory_limit=STUDY.memory_limit,
    params:
        kernel=lambda wildcards: as_json(STUDY.kernels[wildcards.kernel].to_dict()),
        methods=shared_methods,
        gram=lambda wildcards, input: option("--gram", input.gram),
        folds=STUDY.inner.folds,
        metric=STUDY.inner.metric,
        search=search_options(),
        clusters=clusters_option(),
        further=lambda wildcards: " ".join([*map(shlex.quote, after_options()), bias_option(wildcards.dataset)]),
        seed=STUDY.seed,
        build=BUILD,
    shell:
        "seqkern evaluate $(dirname {input.data:q}) --folds {input.folds:q} --kernel {params.kernel:q} {params.gram}"
        " --methods {params.methods:q} --share {wildcards.share}/{wildcards.shares}"
        " --plan {input.plan:q} --kernel-name {wildcards.kernel:q} --inner-folds {params.folds}"
        " --inner-metric {params.metric} {params.search} {params.clusters} {params.further}"
        " --memory {resources.memory_limit:q} --seed {params.seed} --threads {threads} -o $(dirname {output:q}) 2>&1 | tee {log:q}"


use rule share as inner_share with:
    output:
        temp(touch(f"{RESULTS}/inner/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.done")),
    log:
        f"{LOGS}/inner/{{dataset}}/{{kernel}}/share-{{share}}-of-{{shares}}.log",
    resources:
        mem_mb=memory(of_share(inner=True)),
        runtime=minutes(of_share(inner=True)),
        memory_limit=STUDY.memory_limit,
    params:
        kernel=lambda wildcards: as_json(STUDY.kernels[wildcards.kernel].to_dict()),
        methods=lambda wildcards: shared_methods(wildcards, inner=True),
        gram=lambda wildcards, input: option("--gram", input.gram),
        folds=STUDY.inner.folds,
        metric=STUDY.inner.metric,
        search=search_options(),
        clusters=clusters_option(),
        further="--inner-only",
        seed=STUDY.seed,
        build=BUILD,


# in a folder that the gathering job removes
checkpoint shares:
    input:
        share_flags,
    output:
        touch(f"{RESULTS}/evaluate/{{dataset}}/{{kernel}}/{{solver}}/.finished/complete"),
    localrule: True


checkpoint inner_shares:
    input:
        lambda wildcards: share_flags(wildcards, inner=True),
    output:
        touch(f"{RESULTS}/inner/{{dataset}}/{{kernel}}/{{solver}}/.finished/complete"),
    localrule: True
