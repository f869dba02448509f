"""The selectors by their names, and the modules of their classes: a new selector takes one line here."""

from ...registry import Registry

SELECTORS = Registry(
    "selector",
    "seqkern.solvers.selectors.base:Selector",
    {
        "backward": "seqkern.solvers.selectors.wrappers:BackwardSelector",
        "fisher": "seqkern.solvers.selectors.filters:FisherSelector",
        "forward": "seqkern.solvers.selectors.wrappers:ForwardSelector",
        "golub": "seqkern.solvers.selectors.filters:GolubSelector",
        "mutual_information": "seqkern.solvers.selectors.filters:MutualInformationSelector",
        "one_norm": "seqkern.solvers.selectors.norms:OneNormSelector",
        "pearson": "seqkern.solvers.selectors.filters:PearsonSelector",
        "psvm": "seqkern.solvers.selectors.psvm:PSVMFeatureSelector",
        "r2w2": "seqkern.solvers.selectors.r2w2:R2W2Selector",
        "recursive_elimination": "seqkern.solvers.selectors.elimination:RecursiveEliminationSelector",
        "relief": "seqkern.solvers.selectors.relief:ReliefSelector",
        "t": "seqkern.solvers.selectors.filters:TSelector",
        "wilcoxon": "seqkern.solvers.selectors.filters:WilcoxonSelector",
        "zero_norm": "seqkern.solvers.selectors.norms:ZeroNormSelector",
    },
)
