# Which jobs a Gram matrix or the evaluation of a method is divided into, and who waits for them (gram.smk, shares.smk).


def tiles_first(wildcards):
    """Wait for the jobs that compute the tiles of a matrix, if it has to be made and is divided."""
    if STUDY.tiles > 1 and not is_current(rules.gram.output.cost, **wildcards):
        checkpoints.plan.get(dataset=wildcards.dataset)  # runs again after any change that matters
        checkpoints.tiles.get(**wildcards)
    return []


def undone_methods(stage, dataset, kernel):
    """Return the names of the solvers whose folds jobs may share: without results of this build."""
    made_by = rules.inner if stage == "inner" else rules.evaluate
    return [
        solver
        for one, other, solver in METHODS
        if (one, other) == (dataset, kernel)
        and bool(inner_loops(dataset, kernel, solver)) == (stage == "inner")  # evaluating a pooled choice is short
        and not is_current(made_by.output.cost, dataset=dataset, kernel=kernel, solver=solver)
    ]


def share_flags(stage, dataset, kernel):
    """Return the flags of the jobs that share the folds of a kernel; none if they are not divided."""
    costs = DatasetPlan.load(checkpoints.plan.get(dataset=dataset).output[0]).methods.get(kernel, {})
    methods = [costs[name] for name in undone_methods(stage, dataset, kernel) if name in costs]
    shares = count_shares(methods, STUDY.share_seconds, inner=stage == "inner")
    folder = f"{RESULTS}/{stage}/{dataset}/{kernel}"
    return [f"{folder}/share-{one}-of-{shares}.done" for one in range(1, shares + 1) if shares > 1]


def shares_first(stage):
    """Return the input function that waits for the jobs that share a method, if it has to be made and is divided."""

    def wait(wildcards):
        names = stage, wildcards.dataset, wildcards.kernel
        if wildcards.solver in undone_methods(*names) and share_flags(*names):
            checkpoints.shares.get(stage=stage, **wildcards)
        return []

    return wait


def names_of_share(wildcards):
    """Return what is divided: the stage, the data set and the kernel."""
    return wildcards.stage, wildcards.dataset, wildcards.kernel


def shared_settings(wildcards):
    """Return what a share depends on besides its input, for each of its solvers."""
    return [
        settings(wildcards.stage)({**wildcards, "solver": name}) for name in undone_methods(*names_of_share(wildcards))
    ]


def shared_grams(wildcards):
    """Return the Gram matrices for the solvers of a share that take one."""
    methods = [method for method in METHODS if method[:2] == (wildcards.dataset, wildcards.kernel)]
    return list(dict.fromkeys(path for method in methods for path in stored_grams(*method)))


def of_share(wildcards, input):
    """Return seconds and bytes of a share."""
    plan = plan_of(wildcards.dataset)
    methods = plan and plan.methods.get(wildcards.kernel)
    if not methods:
        return GUESS
    folds = sum(sum(one.inner if wildcards.stage == "inner" else one.folds) for one in methods.values())
    once = sum(one.once for one in methods.values())
    return folds / int(wildcards.shares) + once, max(one.bytes for one in methods.values())
