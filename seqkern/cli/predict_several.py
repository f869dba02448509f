"""``seqkern predict`` with all models of a folder, or of one file: the columns of each."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.models.model import Model

FOR_ONE = ("scan", "sites", "states", "track", "view", "profiles", "search_profiles", "part", "gather")
"""Options that need one model."""
SHARE = 0.5
"""Of the memory that is left, for the models."""
LEAST = 1 << 26
"""Bytes that the first models must have taken before those of all are predicted from them."""


def means_several(word: str) -> bool:
    """Return whether a word stands for several models.

    Parameters
    ----------
    word : str
        As given in place of a model.

    Returns
    -------
    bool
        Of a folder, and of a file of ``seqkern models pack``.
    """
    # imported here to keep --help fast
    from seqkern.models.pack_file import is_pack

    return Path(word).is_dir() or is_pack(word)


def load_several(args: argparse.Namespace) -> dict[str, Model]:
    """Return the models, all of the same sort of sequences.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern predict``.

    Returns
    -------
    dict of str to Model
        By name.

    Raises
    ------
    ParameterError
        If an option needs one model, or the models do not fit into memory.
    ModelError
        If a model is not one of whole sequences, or reads them in another way than the first.
    """
    # imported here to keep --help fast
    from seqkern.core.cost import memory_in_use
    from seqkern.core.errors import ModelError, ParameterError
    from seqkern.core.memory import available_memory, format_bytes
    from seqkern.core.progress import progress_bar
    from seqkern.models.given_models import given_models
    from seqkern.models.loading import load_model
    from seqkern.models.model import Model
    from seqkern.sequences.sequence_set import SequenceSet

    given = given_models([args.model])
    option = next((name for name in FOR_ONE if getattr(args, name, None) not in (None, False, [])), None)
    if option is not None:
        raise ParameterError(
            f"--{option.replace('_', '-')} needs one model, and {args.model} means {len(given)}",
            remedy=f"give one, such as {given[0].word}",
        )
    models: dict[str, Model] = {}
    room, before = SHARE * available_memory(), memory_in_use()
    for one in progress_bar(given, "models"):
        model = load_model(one.word)
        first = next(iter(models.values()), model)
        if not isinstance(model, Model) or model.alphabet is None:
            raise ModelError("does not classify whole sequences", file=one.word, remedy="leave it out")
        if model.kernel.tracks or model.kernel.views:
            raise ModelError("needs tracks or views", file=one.word, remedy="apply it alone")
        if any(getattr(model, name) != getattr(first, name) for name in ("alphabet", "policies", "window")):
            raise ModelError(f"reads other sequences than {given[0].word}", file=one.word, remedy="apply it alone")
        model.decision(SequenceSet.from_strings([], model.alphabet))  # makes its tables
        models[one.name] = model
        taken = memory_in_use() - before
        needed = taken / len(models) * len(given)
        if taken > LEAST and needed > room:
            raise ParameterError(
                f"{len(given)} models need about {format_bytes(needed)}, more than half of the memory that was left",
                remedy=f"give one at a time, such as {given[0].word}",
            )
    return models
