"""Transforms of a Gram matrix: centring, normalising, repairing its spectrum, the empirical kernel map.

A transform is fitted on the training part's square and then applied to it and to the rows of new units (their
kernel values against the training units), so that no new unit has a part in what is learned. A chain is
applied in order; each hands on the matrix and the diagonal, K(x, x) of the rows::

    fit(K_train, diagonal) ─▶ transform_train() ─▶ (K_train', diagonal')
                              transform(K_new, diagonal) ─▶ (K_new', diagonal')

Everything is summed in one order, row by row: a row has the same bits in every batch.

`base` is the contract; `scaling`, `repair` and `empirical` are the transforms; `specs` turns a config or a line of text
into one. A class is found by its name, ``from seqkern.gram.transforms import CentreGram``.
"""

from seqkern.core.registry import Registry

TRANSFORMS = Registry("transform", __name__, f"{__name__}.base:GramTransform")

from seqkern.gram.transforms.base import fit_chain, naming_rows  # noqa: E402
from seqkern.gram.transforms.specs import build_transform, repair_transforms, transform_from_state  # noqa: E402

__all__ = ["TRANSFORMS", "build_transform", "fit_chain", "naming_rows", "repair_transforms", "transform_from_state"]


def __getattr__(name):
    """Import the classes on first use."""
    if name.endswith("Gram"):
        return TRANSFORMS.by_class_name(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """List the public names, the classes among them."""
    return sorted({*globals(), *TRANSFORMS.class_names()})
