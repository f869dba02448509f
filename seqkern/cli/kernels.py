"""``seqkern kernels``: list the kernels and Gram transforms with their parameters, or show one in full."""

from __future__ import annotations

import argparse
import inspect
from typing import TYPE_CHECKING, Any

from seqkern.cli.listing import entry, in_full

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

EXAMPLE = "seqkern kernels spectrum"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("name", nargs="?", help="show this kernel or transform in full (default: list all)")


def run(args: argparse.Namespace) -> None:
    """Print the list, or one kernel in full."""
    # imported here to keep --help fast
    from seqkern.gram.transforms.gram_transform import TRANSFORMS
    from seqkern.kernels.feature_transforms.transforms import FEATURE_TRANSFORMS
    from seqkern.kernels.kernel_table import KERNELS

    if args.name in TRANSFORMS.names or args.name in FEATURE_TRANSFORMS.names:
        table = TRANSFORMS if args.name in TRANSFORMS.names else FEATURE_TRANSFORMS
        print(in_full(table.get(args.name)))
    elif args.name:
        cls = KERNELS.get(args.name)
        print(f"{in_full(cls)}\n\n{traits(cls)}")
    else:
        print("Kernels. In a configuration: {kernel: spectrum, k: 3}. On the command line: spectrum:k=3, + for a sum.")
        print("seqkern kernels NAME shows one in full.\n")
        for cls in KERNELS.classes.values():
            print(entry(cls, traits(cls)))
        print("Transforms of features, fitted on the training set, ahead of those of the Gram matrix. In a kernel's")
        print("configuration: transforms: [impute, pca:n_components=5].\n")
        for cls in FEATURE_TRANSFORMS.classes.values():
            print(entry(cls))
        print("Gram transforms, fitted on the training set. In a kernel's configuration: transforms: [centre].")
        print("Negative eigenvalues have their own key, repair: clip, flip, shift or empirical_map.\n")
        for cls in TRANSFORMS.classes.values():
            print(entry(cls))


def traits(cls: type[Kernel]) -> str:
    """Return one line on a kernel: its input, whether it is positive semi-definite, whether it is fitted.

    >>> from seqkern.kernels import SpectrumKernel
    >>> traits(SpectrumKernel)
    'input: sequences; positive semi-definite'
    """
    takes = _of_class(cls, "accepts") or cls.accepts_words
    definite = {
        True: "positive semi-definite",
        False: "not positive semi-definite",
        None: "positive semi-definite for some parameters only",
    }
    learns = {
        True: ["fitted on the training set"],
        False: [],
        None: ["fitted on the training set for some parameters only"],
    }
    words = [definite[_of_class(cls, "positive_semidefinite")], *learns[_of_class(cls, "data_dependent")]]
    return "; ".join([f"input: {takes}", *words])


def _of_class(cls: type, name: str) -> Any:
    """Return a class attribute, or None for a property, whose value depends on the instance."""
    value = inspect.getattr_static(cls, name)
    return None if isinstance(value, property) else value
