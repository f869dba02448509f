"""Decisions of a model that was just loaded: damage shows before a user's samples are read.

Arrays that do not fit each other may pass every check of a single part. A decision about one of the model's own samples
uses them all. Its kernel is computed with a single support sample, so that its cost does not depend on their number.
"""

from __future__ import annotations

import contextlib

import numpy as np

from seqkern.core.errors import GramError, ModelError, SequenceError
from seqkern.core.threads import given_threads
from seqkern.models.model import Model
from seqkern.models.residue_model import ResidueModel
from seqkern.residues import Residues
from seqkern.sequences.sequence_set import SequenceSet

LETTERS = 60
"""Residues of the sample for a model that keeps none."""


def try_model(model: Model) -> None:
    """Make a decision about one sample: of the model's own, or a made one if it keeps none.

    Parameters
    ----------
    model : Model
        As loaded.

    Raises
    ------
    Exception
        Of any kind, if the parts of the model do not fit each other.
    """
    X = model.support.take(slice(0, 1))
    with given_threads(1), contextlib.suppress(SequenceError, GramError):  # a rejected sample says nothing of the model
        if len(X):
            # not `decision`, which may first fold all weights into a table
            columns = model.columns
            sample = model.kernel.prepare(X, like=columns)
            K = np.zeros((1, len(columns)))
            model.kernel.block(sample, columns.rows(0, 1), K[:, :1])
            values = model.by_values(K, sample.diagonal)
        elif isinstance(X, SequenceSet):
            letters = (X.alphabet.letters * LETTERS)[: LETTERS if model.window is None else model.window.length]
            values = model.decision(SequenceSet.from_strings([letters], X.alphabet), n_threads=1)
        else:
            return
        if not model.projects:
            model.classify(values)


def try_chain(model: ResidueModel) -> None:
    """Make decisions about the residues of a short chain, and with its layers about scores of 0.

    Parameters
    ----------
    model : ResidueModel
        As loaded.

    Raises
    ------
    Exception
        Of any kind, if the parts of the model do not fit each other.
    """
    if model.alphabet is None:
        raise ModelError("a model of residues without an alphabet")
    chain = SequenceSet.from_strings([model.alphabet.letters[:3]], model.alphabet)
    with contextlib.suppress(SequenceError, GramError):  # as above, such as for a chain without a profile
        model.decide(chain, n_threads=1)
    if model.layers is not None:
        residues = Residues.of_chains(chain, model.window)
        model.layers.decide(np.zeros((len(residues), len(model.classes))), residues)
