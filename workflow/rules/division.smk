# Which jobs a Gram matrix or the evaluation of a method is divided into, and who waits for them (gram.smk, shares.smk).


def tiles_first(wildcards):
    """Wait for the jobs that compute the tiles of a matrix, if it has to be made and is divided."""
    if STUDY.tiles > 1 and not is_current(rules.gram.output.cost, **wildcards):
        checkpoints.plan.get(dataset=wildcards.dataset)  # runs again after any change that matters
        checkpoints.tiles.get(**wildcards)
    return []


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


def of_shares(inner=False):
    """Return the parameters of a share: the names of its solvers, and what makes it run again."""

    def methods(wildcards):
        return undone_methods(wildcards.dataset, wildcards.kernel, inner)

    def read(wildcards):
        names = {"dataset": wildcards.dataset, "kernel": wildcards.kernel}
        return [settings("inner" if inner else "evaluate")({**names, "solver": name}) for name in methods(wildcards)]

    return {"methods": methods, "settings": read, "inner": "--inner-only" if inner else ""}


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
