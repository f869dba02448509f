"""``seqkern predict``: apply a model to FASTA of any length in bounded memory, record by record or site by site."""

import contextlib
import sys

from seqkern.cli.common import (
    add_policies,
    add_threads,
    add_tracks,
    naming_file,
    policies_of,
    read_tracks,
    tell_counts,
    unrecognised,
)
from seqkern.cli.given_sites import add_given_sites, site_windows
from seqkern.cli.predict_residues import DRAWN, add_states, check_no_states, run_residues, split_tracks
from seqkern.cli.profiles import profiles_of
from seqkern.cli.scan import add_scan, check_no_scan, run_scan
from seqkern.core.errors import FileError, ParameterError, SequenceError

EXAMPLE = "seqkern predict model.seqkern donors.fasta > predictions.tsv"


def add_arguments(parser):
    """Add the verb's arguments."""
    parser.add_argument("model", help="file that seqkern train wrote, or LS-GKM")
    parser.add_argument(
        "fasta",
        help="new sequences, plain or compressed, - is standard input; or, for a model of one, a table of features",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="a file instead of standard output")
    add_threads(parser)
    add_tracks(parser, drawn=DRAWN)
    add_given_sites(parser)
    add_scan(parser)
    add_states(parser)
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args):
    """Run the verb."""
    import numpy as np

    from seqkern.core.archive import atomic_write
    from seqkern.core.errors import ModelError
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import format_cell
    from seqkern.models.residue_model import ResidueModel
    from seqkern.models.scan_files import decision_columns

    split_tracks(args)
    if args.scan is None:
        check_no_scan(args)
    model = load_given(args)
    if isinstance(model, ResidueModel):
        run_residues(args, model)
        return
    check_no_states(args)
    if model.alphabet is None and (args.scan is not None or args.sites is not None or args.fasta == "-"):
        raise ModelError("was trained on a table of features", file=args.model, remedy="give a table in a file")
    if args.scan is not None:
        run_scan(args, model)
        return
    name, counts, done = source_name(args.fasta), {}, 0
    several = model.kind == "multiclass" or model.projects
    columns = decision_columns(model) + ["predicted"] * (not model.projects)
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(atomic_write(args.output, "w")) if args.output else standard_output()
        show = stack.enter_context(progress_counter("predict", " records"))
        stack.enter_context(naming_file(name))
        for number, X in enumerate(read_chunks(model, args)):
            decisions = model.decision(X, n_threads=args.threads)
            rows = decisions.tolist() if several else [[value] for value in decisions.tolist()]
            if model.calibration is not None:
                rows = np.column_stack([decisions, model.calibration.probabilities(decisions)]).tolist()
            if number == 0:  # a mistake in the first record leaves standard output empty
                out.write("\t".join(map(format_cell, ["id", *columns])) + "\n")
            predicted = [] if model.projects else [model.classify(decisions).tolist()]
            for name_of, values, *last in zip(X.ids, rows, *predicted, strict=True):
                out.write("\t".join(map(format_cell, [name_of, *values, *last])) + "\n")
            for what, count in X.counts.items():
                counts[what] = counts.get(what, 0) + count
            done += len(X)
            if show is not None:
                show(done)
        out.flush()
    tell_counts(counts, name)
    for text in unrecognised(model):
        print(f"seqkern: warning: {args.model}: {text}", file=sys.stderr)


def load_given(args):
    """Return the model that is given; where the model and the sequences are exchanged, say so."""
    import zipfile

    from seqkern.core.errors import ModelError
    from seqkern.models.lsgkm import is_lsgkm
    from seqkern.models.model import load_model

    try:
        return load_model(args.model)
    except ModelError as error:
        if args.fasta != "-" and not zipfile.is_zipfile(args.model):
            with contextlib.suppress(OSError, FileError):
                if zipfile.is_zipfile(args.fasta) or is_lsgkm(args.fasta):
                    error.problem = "is no model"
                    error.remedy = f"the model comes first, before the new sequences: {args.fasta} {args.model}"
        raise


def standard_output():
    """Return standard output, or raise FileError where there is none."""
    if sys.stdout is None:
        raise FileError("standard output is closed", remedy="name a file: -o")
    return sys.stdout


def read_chunks(model, args, together=False):
    """Yield the sequences in sets of bounded size, read under the model's policies, with their tracks.

    With ``--sites`` the windows around these, in one set; so are, with the track of their states, those of a file of
    letters and states `together`.
    """
    from seqkern.core.errors import LetterError
    from seqkern.sequences.fasta import iter_fasta

    if model.alphabet is None:
        from seqkern.cli.feature_tables import read_table

        yield read_table(args.fasta, model.support.columns)
        return
    with_tracks = read_tracks(args, model.kernel, model.record.get("profiles"))
    given = policies_of(args)
    policies = {key: given[key] or model.policies[key] for key in given if given[key] or key in model.policies}
    if policies.get("ids") == "suffix":  # repeats would have to be remembered
        policies["ids"] = "header"
    if args.sites is not None:
        if profiles_of(args):
            raise ParameterError("profiles are of whole sequences", remedy="leave out --sites")
        yield site_windows(model, args, policies)
        return
    try:
        if together:
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


def _check_windows(model, X):
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
