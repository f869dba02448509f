"""Kernel values by row numbers from functions, and the inner loop on them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqkern.evaluation import halving, held_out, selection
from seqkern.evaluation.selection import Search
from seqkern.methods.sources import Block
from seqkern.sequences.labels import Labels
from seqkern.solvers.solver_specs import Free


@dataclass(frozen=True, eq=False)
class Given:
    """A training set whose kernel values are those of functions ``pair(train, test, y_train)``, by kernel name."""

    labels: Labels
    pairs: Any
    residues: Any = None

    def at(self, kernel, rows, like):
        return Block(*self.pairs[kernel](like, rows, self.labels.targets()[like]))

    def take(self, rows):
        def within(pair):
            return lambda train, test, y: pair(rows[train], rows[test], y)

        return Given(self.labels.take(rows), {name: within(pair) for name, pair in self.pairs.items()})

    def with_groups(self, groups):
        return replace(self, labels=replace(self.labels, groups=groups))


def paired(pairs, candidates):
    """Return candidates with the name of each kernel, if they are specs alone."""
    if all(isinstance(candidate, dict) for candidate in candidates):
        return [(kernel, spec) for kernel in pairs for spec in candidates]
    return candidates


def search(limits=(), **options):
    """Return the settings of a search without class weights."""
    return Search(free=Free(tuple(limits)), **{"seed": 0} | options)


def select(pairs, labels, candidates, make_solver, **options):
    return selection.select(Given(labels, pairs), paired(pairs, candidates), make_solver, search(**options))


def halve(pairs, labels, candidates, make_solver, stages, combinations=(), folds=None, **options):
    data, plan = Given(labels, pairs), halving.Schedule(stages, {name: halving.Work(1.0, 1.0) for name in pairs})
    how = {"combinations": combinations, "folds": folds}
    return halving.halve(data, candidates, make_solver, plan, search(**options), **how)


def held_out_decisions(pair, labels, solver, chains=None, **options):
    return held_out.held_out_decisions(Given(labels, {"k": pair}, chains), "k", solver, **options)


def inputs(source, train, test, y=None):
    """Return the solver's input of a source for a training and a test set."""
    block = source.at(np.asarray(test), like=np.asarray(train), y=y)
    return block.train, block.test
