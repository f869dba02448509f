"""The selectors by name, with the modules of their classes, so that a look-up imports a single module.

A new selector needs one line here, and one in the stub ``__init__.pyi``; the registry tests name missing ones.
"""

from seqkern.core.registry import Registry

SELECTORS = Registry(
    "selector",
    "seqkern.solvers.selection.selectors.selector:Selector",
    {
        "ard": "seqkern.solvers.selection.selectors.ard:ARDSelector",
        "backward": "seqkern.solvers.selection.selectors.wrappers:BackwardSelector",
        "beam": "seqkern.solvers.selection.selectors.subset_search:BeamSelector",
        "fisher": "seqkern.solvers.selection.selectors.filters:FisherSelector",
        "focus": "seqkern.solvers.selection.selectors.focus:FocusSelector",
        "forward": "seqkern.solvers.selection.selectors.wrappers:ForwardSelector",
        "genetic": "seqkern.solvers.selection.selectors.subset_search:GeneticSelector",
        "golub": "seqkern.solvers.selection.selectors.filters:GolubSelector",
        "mutual_information": "seqkern.solvers.selection.selectors.filters:MutualInformationSelector",
        "one_norm": "seqkern.solvers.selection.selectors.norms:OneNormSelector",
        "pearson": "seqkern.solvers.selection.selectors.filters:PearsonSelector",
        "psvm": "seqkern.solvers.selection.selectors.psvm:PSVMFeatureSelector",
        "r2w2": "seqkern.solvers.selection.selectors.r2w2:R2W2Selector",
        "recursive_elimination": "seqkern.solvers.selection.selectors.elimination:RecursiveEliminationSelector",
        "relief": "seqkern.solvers.selection.selectors.relief:ReliefSelector",
        "t": "seqkern.solvers.selection.selectors.filters:TSelector",
        "wilcoxon": "seqkern.solvers.selection.selectors.filters:WilcoxonSelector",
        "zero_norm": "seqkern.solvers.selection.selectors.norms:ZeroNormSelector",
    },
)
