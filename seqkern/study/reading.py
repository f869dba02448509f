"""A kernel entry as given to a job or on the command line."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seqkern.core.alternatives import spec_alternatives
from seqkern.core.errors import ConfigError
from seqkern.kernels import parse_spec
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.study.auto_kernel import AutoKernel, is_auto
from seqkern.study.kernel_entries import KernelChoice, KernelEntry

AnyKernel = KernelEntry | KernelChoice | AutoKernel


def read_kernel(given: str | Mapping[str, Any]) -> AnyKernel:
    """Return the kernel entry, or choice of several, given to a job or on the command line.

    Parameters
    ----------
    given : str or mapping
        ``{"kernel": "spectrum", "k": 3}`` or ``{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, …]}``, as
        JSON or as text; text with alternatives, ``spectrum:k=3|4``, is a choice; or ``auto``.

    Returns
    -------
    KernelEntry, KernelChoice or AutoKernel

    Raises
    ------
    ConfigError
        If a candidate has no unique name.
    ParameterError
        As for `KernelEntry.parse`.

    Examples
    --------
    >>> read_kernel('{"choose": [{"name": "a", "kernel": "spectrum", "k": 1}]}').candidates[0].name
    'a'
    >>> [entry.name for entry in read_kernel("mismatch:k=4|5,m=1").candidates]
    ['mismatch:k=4,m=1', 'mismatch:k=5,m=1']
    """
    if isinstance(given, str) and given.lstrip().startswith("{"):
        given = parse_spec(given)
    if is_auto(given):
        return AutoKernel.parse(given)
    several = spec_alternatives(given)
    if len(several) > 1:
        entries = [KernelEntry.parse(one) for one in several]
        named = [replace(entry, name=kernel_text(entry.kernel)) for entry in entries]
        return KernelChoice("choose", {"choose": [entry.given for entry in named]}, tuple(named))
    given = parse_spec(given) if isinstance(given, str) else given
    if "choose" not in given:
        return KernelEntry.parse(given)
    found: dict[str, KernelEntry] = {}
    for item in given["choose"] if isinstance(given["choose"], list) and given["choose"] else [None]:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or name in found:
            raise ConfigError(
                f"choose={given['choose']!r} is not a list of named kernels",
                remedy="give a list of kernels, each with a name",
            )
        found[name] = KernelEntry.parse({key: value for key, value in item.items() if key != "name"}, name)
    return KernelChoice("choose", given, tuple(found.values()))
