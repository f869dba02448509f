"""``seqkern discover``: train one method on a data set, and find the motifs that it has learned."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from seqkern.cli.dataset_model import ModelJob, train_on_dataset, training_summary, two_classes
from seqkern.cli.output import naming_file
from seqkern.cli.requests_studies import DiscoverRequest
from seqkern.core.archive import check_writable, save_json
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.file_kinds import RESULT
from seqkern.core.threads import given_threads
from seqkern.genomics import motif_tables
from seqkern.genomics.motif_tables import KnownMotifs, nearest
from seqkern.genomics.motifs import find_motifs
from seqkern.methods.explanation import Explainer
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.dataset import load_dataset
from seqkern.study.dataset_entries import MotifSearch


def run(request: DiscoverRequest) -> None:
    """Run ``seqkern discover``."""
    job = ModelJob.of(request, MotifSearch)
    known_file = job.purpose.known
    dataset, out_dir = load_dataset(request.dataset), Path(request.output)
    check_writable(out_dir / "motifs.json")
    with naming_file(request.dataset):
        task = two_classes(dataset)
        X, labels = cast("SequenceSet", dataset.X).take(task.used()), task.labels.take(task.used())
        model = train_on_dataset(X, labels, dataset.notes, job)
        explainer = Explainer(model)
        known = None if known_file is None else KnownMotifs.from_file(known_file, X.alphabet)
        with given_threads(request.threads):
            motifs = find_motifs(explainer, X, labels.y.astype(np.int64))
    matches = None if known is None else nearest([motif.probabilities for motif in motifs], known)
    count = 0 if known is None else len(known.names)
    sequences = int((labels.y == 1).sum())
    summary = training_summary(model) | {"positive": labels.classes[1], "sequences": sequences, "known": count}
    with exclusive_folder(out_dir):
        model.save(out_dir / "model.seqkern")
        motif_tables.write_meme(out_dir / "motifs.meme", motifs, model.alphabet)
        motif_tables.write_table(out_dir / "motifs.tsv", motifs, labels.classes, matches)
        save_json(out_dir / "motifs.json", RESULT, summary)
    print(out_dir / "motifs.tsv")
