"""Kernels: one public module for each family, its compiled twin ``_name.pyx`` beside it.

Who calls whom: `base` is the contract and `blocks` fills matrices; `spectrum`, `mismatch`, … are families;
`composite` is what kernels made of kernels share, `algebra` adds and multiplies them, `vector` has kernels of
numbers and of other kernels' distances; `specs` turns a config or a line of text into a kernel; `operators` are
Python's, and `transformer` and `feature_map` make kernels steps of scikit-learn's pipelines. Importing this package
imports none of them: a class is found by its name, ``from seqkern.kernels import SumKernel``.
"""

import importlib

from seqkern.core.registry import Registry

KERNELS = Registry("kernel", __name__, f"{__name__}.base:Kernel")

_HOMES = {"FeatureMap": "feature_map", "Kernel": "base"}
_HOMES |= dict.fromkeys(("build_kernel", "check_kind", "kernel_from_state", "parse_spec"), "specs")


def __getattr__(name):
    """Import the public names on first use."""
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    if name.endswith("Kernel"):
        return KERNELS.by_class_name(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """List the public names, the classes among them."""
    return sorted({*globals(), *_HOMES, *KERNELS.class_names()})
