"""A model and the new sequences that it is applied to, as the verbs `predict` and `explain` take them."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import policies_of, read_tracks
from seqkern.cli.given_sites import site_windows
from seqkern.cli.profiles import profiles_of
from seqkern.core.errors import FileError, ParameterError, SequenceError

if TYPE_CHECKING:
    from seqkern.models.model import Model
    from seqkern.models.residue_model import ResidueModel
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import FeatureTable


def load_given(args: argparse.Namespace) -> Model | ResidueModel:
    """Return the model that is given; where the model and the sequences are exchanged, say so.

    Parameters
    ----------
    args : Namespace
        With ``model`` and ``fasta``.

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ModelError, FileError
        If the file is not a model.
    """
    # loaded when a verb runs: its help needs none of it
    import zipfile

    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import ModelError
    from seqkern.models.loading import load_model
    from seqkern.models.lsgkm_file import is_lsgkm

    try:
        return load_model(args.model)
    except ModelError as error:
        if args.fasta != "-" and not zipfile.is_zipfile(args.model):
            with contextlib.suppress(OSError, FileError):
                if zipfile.is_zipfile(args.fasta) or is_lsgkm(args.fasta):
                    error.problem = "is no model"
                    error.remedy = f"the model comes first, before the new sequences: {args.fasta} {args.model}"
        raise


def read_chunks(model: Model, args: argparse.Namespace, together: bool = False) -> Iterator[SequenceSet | FeatureTable]:
    """Read the sequences under the model's policies, with their tracks.

    With ``--sites`` the windows around these, in one set; so are, with the track of their states, those of a file of
    letters and states `together`.

    Parameters
    ----------
    model : Model
        The one that is applied; of residues that of their windows.
    args : Namespace
        With ``fasta`` and ``sites``, the policies, tracks and profiles.
    together : bool
        Whether the file holds letters and states: they are read at once, with the track of the states.

    Yields
    ------
    SequenceSet or FeatureTable
        A set of bounded size; of ``--sites`` one set of the windows around these; of features one table.

    Raises
    ------
    SequenceError, FileError, ParameterError
        If what is given cannot be read, or does not go with the model.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.core.errors import LetterError
    from seqkern.sequences.fasta import iter_fasta

    if model.alphabet is None:
        # loaded when a verb runs: its help needs none of it
        from seqkern.cli.feature_tables import read_table

        yield read_table(args.fasta, cast("FeatureTable", model.support).columns)
        return
    with_tracks = read_tracks(args, model.kernel, model.record.get("profiles"))
    given = policies_of(args)
    policies: dict[str, Any] = {
        key: given[key] or model.policies[key] for key in given if given[key] or key in model.policies
    }
    if policies.get("ids") == "suffix":  # repeats would have to be remembered
        policies["ids"] = "header"
    if args.sites is not None:
        if profiles_of(args):
            raise ParameterError("profiles are of whole sequences", remedy="leave out --sites")
        yield site_windows(model, args, policies)
        return
    try:
        if together:
            # loaded when a verb runs: its help needs none of it
            from seqkern.residues.states import read_letters_and_states

            reading = read_letters_and_states(args.fasta, classes=model.classes, alphabet=model.alphabet, **policies)
            yield with_tracks(reading.sequences)
            return
        for X in iter_fasta(args.fasta, model.alphabet, **policies):
            _check_windows(model, X)
            yield with_tracks(X)
    except LetterError as error:
        error.problem += ", in which the model was trained"
        error.remedy = "give sequences like those of the training, or --unknown mask or skip"
        raise


def _check_windows(model: Model, X: SequenceSet) -> None:
    """Raise SequenceError for a record of another length than the windows that the model was trained on."""
    window = model.window
    if window is None or not model.kernel.equal_lengths:
        return
    other = X.lengths != window.length
    if other.any():
        i = int(other.argmax())
        raise SequenceError(
            f"has {X.lengths[i]} letters, the model decides about windows {window} of {window.length}",
            record=X.ids[i],
            remedy="give --sites TABLE for windows around sites, or predict with --scan LETTERS for all candidates",
        )
