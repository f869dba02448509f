"""``seqkern test``: the scores of a model on new sequences whose classes or numbers are known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqkern.cli.common import column_views
from seqkern.cli.cv import write_page
from seqkern.cli.new_sequences import policies_for
from seqkern.cli.output import check_result_folder, log, log_formulas, metric_name, naming_file, result_folder
from seqkern.cli.requests_models import TestRequest
from seqkern.cli.requests_training import CvRequest
from seqkern.cli.training_input import Input, read_input, read_training, with_columns
from seqkern.cli.wrong_files import holds_table
from seqkern.core.errors import LabelError, ModelError
from seqkern.core.tsv import aligned, write_tsv
from seqkern.core.types import Ints
from seqkern.evaluation.bootstrap import ScoreInterval, bootstrap_interval
from seqkern.evaluation.fold_tables import FoldResult, decision_rows
from seqkern.evaluation.intervals import auc_ends, auc_variance, error_ends, mcc_interval, share_ends, wilson
from seqkern.evaluation.metrics import predictive_scores, scores
from seqkern.evaluation.relations import make_parts
from seqkern.methods.loading import load_model
from seqkern.methods.model import Decisions, Model
from seqkern.methods.novelty import known_samples
from seqkern.methods.residue_model import ResidueModel
from seqkern.report.sentences import how_good
from seqkern.sequences.labels import UNLABELLED, Labels, what_it_learns
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import nearest_across
from seqkern.solvers.solver_specs import spec_text


class Score(NamedTuple):
    """A score of a model on new samples, with its 95% interval, NaN without one, and the counts behind it."""

    score: str
    value: float
    low: float = math.nan
    high: float = math.nan
    counts: str = ""

    @property
    def cells(self) -> list[str]:
        """The score as a row of a table."""
        interval = "-" if math.isnan(self.low) else f"{self.low:.3f} to {self.high:.3f}"
        return [self.score, f"{self.value:.3f}", interval, self.counts]


def run(request: TestRequest) -> None:
    """Run the verb."""
    check_result_folder(request)
    model = load_model(request.model)
    if isinstance(model, ResidueModel) or model.projects:
        remedy = "score states with seqkern predict --states FILE" if isinstance(model, ResidueModel) else ""
        raise ModelError("does not predict classes or numbers of whole samples", file=request.model, remedy=remedy)
    given = _read(request, model)
    if request.output is not None:
        log_formulas(given.X.ids, request)
    rows = np.flatnonzero(given.dataset.task().labels.used())
    labels = _as_in_training(model, given.dataset.task().labels.take(rows), given.source)
    X = given.X.take(rows)
    with naming_file(given.source):
        decided = model.decide(X, n_threads=request.threads)
    found = list(_scores(labels, decided))
    table = [["score", "value", "95% interval", "samples"], *(one.cells for one in found)]
    unit = "sequences" if isinstance(X, SequenceSet) else "samples"
    lines = [
        f"{request.model} on {what_it_learns(labels.kind, labels.class_counts(), len(labels), unit)}",
        *aligned(table),
        *([f"predicted {labels.classes[1]}: {model.cut.words}"] if labels.kind == "binary" else []),
        *([f"in training: {how_good(model.record['estimate'], model.kind)}"] if "estimate" in model.record else []),
        *_nearness(model, X, labels, decided),
    ]
    if request.output is not None:  # before standard output, which may be a pipe that closes
        with result_folder(request):
            folder = Path(request.output)
            decisions = list(decision_rows(labels, *decided[:3], decided.deviations, decided.tail))
            write_tsv(folder / "decisions.tsv", list(decisions[0]), decisions)
            write_tsv(folder / "scores.tsv", Score._fields, found)
            head, files = ("seqkern test", "Scores on new samples", lines[0]), "scores.tsv, decisions.tsv"
            write_page(folder, head, table, [FoldResult(decisions, {}, [], {})], labels, lines[1 + len(table) :], files)
    print("\n".join(lines))
    if request.output is not None:
        print(request.output)


def _read(request: TestRequest, model: Model) -> Input:
    """Return the samples with their labels, read as in a training of this model."""
    alone = len(request.fasta) == 1 and model.alphabet is not None and not holds_table(request.fasta[0])
    if alone and not any(map(request.has, ("labels", "sites", "sequences"))):
        remedy = "give the negatives as a second file, or --labels"
        raise LabelError("no labels to test with", file=request.fasta[0], remedy=remedy)
    columns = column_views(request, model) if holds_table(request.fasta[0]) else []
    policies = {"unknown": "mask", "ids": "header", "empty": "error"} | policies_for(model, request)
    own: dict[str, Any] = {name: policies[name] for name in ("unknown", "ids", "empty")}
    own |= {"strip_gaps": request.strip_gaps or "gaps" in model.policies, "output": None}
    own["view"] = [*(view for view in request.view if view[0] not in columns), *((name, "") for name in columns)]
    own["kernel"] = json.dumps(model.kernel.state()[0]["spec"])
    own["solver"] = spec_text(model.record.get("solver", {"solver": "csvc"}))  # LS-GKM's has none
    if model.alphabet is not None:
        known = model.alphabet.name in ("dna", "rna", "protein")
        own["alphabet"] = model.alphabet.name if known else model.alphabet.letters
    if request.genome is not None and request.width is None:
        own["width"] = model.record.get("genome", {}).get("width")
    if request.sites is not None and model.window is not None:
        own |= {"window": str(model.window), "site": model.window.site}
    if request.labels is not None and model.kind == "binary":
        own["positive"] = model.classes[1]
    return read_input(read_training(with_columns(request.converted(CvRequest, **own))))


def _as_in_training(model: Model, labels: Labels, source: str) -> Labels:
    """Return the labels with the classes of the model: by name, else those of two files by their order."""
    if labels.kind == "none":
        raise LabelError("no labels to test with", file=source, remedy="give one file per class, or --labels")
    if labels.kind == "real":
        return labels
    names = {name: name for name in labels.classes}
    if not set(names) <= set(model.classes):
        if labels.kind != "binary" or len(model.classes) != 2:
            strange = next(name for name in names if name not in model.classes)
            remedy = f"the classes are: {', '.join(model.classes)}"
            raise LabelError(f"class {strange!r} is not one of the model's", file=source, remedy=remedy)
        names = dict(zip(labels.classes, model.classes, strict=True))
        negative, positive = names.items()
        log("{}: {} is taken for {}, {} for {}".format(source, *positive, *negative))
    codes = np.array([*(model.classes.index(names[name]) for name in labels.classes), UNLABELLED])
    kind = "binary" if len(model.classes) == 2 else "multiclass"
    return Labels(labels.ids, codes[labels.y.astype(np.int64)], kind, model.classes)


def _scores(labels: Labels, decided: Decisions) -> Iterator[Score]:
    """Yield the scores, with 95% intervals where there are any."""
    every = scores(labels.kind, labels.y, decided.decisions, decided.predicted)
    if labels.kind == "real":
        errors = np.asarray(labels.y - decided.predicted, dtype=np.float64)
        yield from (Score(metric_name(name), every[name]) for name in ("r2", "spearman", "pearson"))
        yield _score("RMSE", error_ends(every["rmse"], [errors], 1))
        if decided.deviations is not None:
            predictive = predictive_scores(labels.y, decided.decisions, decided.deviations, decided.tail)
            yield from (Score(metric_name(name), value) for name, value in predictive.items())
        return
    y, predicted = labels.y.astype(np.int64), decided.predicted.astype(np.int64)
    right = int((y == predicted).sum())
    accuracy = _score("accuracy", wilson(right, len(y)), f"{right} of {len(y)}")
    if labels.kind == "multiclass":
        yield from (_score("macro AUC", _auc(y, decided.decisions)), accuracy)
        yield from (Score(metric_name(name), every[name]) for name in ("balanced_accuracy", "mcc"))
        return
    (tn, fp), (fn, tp) = (np.bincount(predicted[y == code], minlength=2).tolist() for code in (0, 1))
    negative, positive = labels.classes
    yield _score("AUC", _auc(y, decided.decisions))
    yield _score("average precision", bootstrap_interval(y, decided.decisions, "average_precision"))
    yield _score("sensitivity", wilson(tp, tp + fn), f"{tp} of {tp + fn} {positive}")
    yield _score("specificity", wilson(tn, tn + fp), f"{tn} of {tn + fp} {negative}")
    yield _score("precision", wilson(tp, tp + fp), f"{tp} of {tp + fp} predicted {positive}")
    yield from (accuracy, _score("MCC", mcc_interval(y, predicted)))


def _score(name: str, found: ScoreInterval, counts: str = "") -> Score:
    """Return a score with its interval."""
    return Score(name, found.score, found.low, found.high, counts)


def _auc(y: Ints, decisions: Any) -> ScoreInterval:
    """Return the AUC, for several classes its mean, with DeLong's interval; Hanley and McNeil's for an AUC of 1."""
    found = share_ends(*auc_variance(y, decisions), 1)
    if math.isnan(found.low) and np.ndim(decisions) == 1 and not math.isnan(found.score):
        low, high = auc_ends(found.score, int((y == 1).sum()), int((y == 0).sum()))
        return found._replace(low=low, high=high)
    return found


def _nearness(model: Model, X: Any, labels: Labels, decided: Decisions) -> Iterator[str]:
    """Yield lines on test samples that are training samples, or similar to those that the model stores."""
    known = known_samples(model.record, X)
    if known is None:
        yield "the model does not say which samples it was trained on"
        known = np.zeros(len(X), dtype=bool)
    elif known.any():
        yield f"{int(known.sum())} of {len(X)} are training samples: the scores are too good"
    else:
        yield f"none of the {len(X)} is a training sample"
    near = known
    support = model.support
    sequences = isinstance(X, SequenceSet) and not model.sequence_views
    if sequences and isinstance(support, SequenceSet) and not known.all():
        if not len(support):
            yield "the model stores no training sequences to compare with: similar ones are not found"
        else:
            parts = make_parts(support, X)
            found = nearest_across(parts.X, parts.n_test, both_strands=X.alphabet.name == "dna")
            near = known | (found.row >= 0)
            count = int((near & ~known).sum())
            others = f"{count or 'no'} others are" if known.any() else f"{count} are" if count else "none is"
            worry = ": their scores may be too good" if count else ""
            yield f"{others} similar to one of its {len(support)} support sequences{worry}"
    rest = np.flatnonzero(~near)
    if near.any() and labels.kind == "binary" and 0 < int(labels.y[rest].sum()) < len(rest):
        auc = _auc(labels.y[rest].astype(np.int64), decided.decisions[rest])
        interval = f"95% interval {auc.low:.3f} to {auc.high:.3f}"
        yield f"without these: AUC {auc.score:.3f} ({interval}, {len(rest)} sequences)"
