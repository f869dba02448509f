"""``seqkern motifs``: the motifs learned by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from seqkern.cli.new_sequences import policies_for
from seqkern.cli.output import check_folder, log_counts, print_output
from seqkern.cli.requests import PICTURES, TABLES
from seqkern.cli.requests_models import MOST_SUPPORT, MotifsRequest
from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.errors import ModelError, naming
from seqkern.core.exclusive_files import exclusive_paths
from seqkern.core.text_files import is_standard_output, source_name
from seqkern.core.threads import given_threads
from seqkern.genomics import motif_tables
from seqkern.genomics.motif_tables import KnownMotifs, Match, nearest
from seqkern.genomics.motifs import FoundMotif, find_motifs, require_motifs, support_classes
from seqkern.methods.explanation import Explainer
from seqkern.methods.loading import load_model
from seqkern.methods.model import Model
from seqkern.methods.residue_model import ResidueModel
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.sequence_set import SequenceSet


def run(request: MotifsRequest) -> None:
    """Run the verb."""
    files = [request.output]
    if not Path(request.output).suffix and not is_standard_output(request.output):
        check_folder(Path(request.output))
        files = [f"{request.output}/{name}" for name in ("motifs.html", "motifs.meme", "motifs.tsv")]
    files += [path for path in (request.table, request.plot) if path is not None]
    for path in files:
        check_writable(path)
    model = _load(request)
    with naming(request.model), given_threads(request.threads):
        explainer = Explainer(model, request.pair)
        alphabet = explainer.model.alphabet
        known = None if request.known is None else KnownMotifs.from_file(request.known, cast("Alphabet", alphabet))
        X, source = _sequences(request, explainer.model)
        y = support_classes(explainer.model) if X is explainer.model.support else None
        motifs = find_motifs(explainer, X, y, least=request.minimum)
    require_motifs(motifs, of_kmers=request.kmers)
    matches = None if known is None else nearest([motif.probabilities for motif in motifs], known)
    classes = explainer.model.classes or ("lower", "higher")
    with exclusive_paths(request.output):
        for path in files:
            if Path(path).suffix.lower() in (".html", *PICTURES):
                _draw(Path(path), Path(request.model).name, motifs, classes, matches, source)
            elif Path(path).suffix.lower() in TABLES:
                motif_tables.write_table(path, motifs, classes, matches)
            else:
                motif_tables.write_meme(path, motifs)
            print_output(path)
    print(f"  {source}")
    columns = motif_tables.COLUMNS if matches is None else (*motif_tables.COLUMNS, *list(motif_tables.KNOWN)[:3])
    print("  " + "\t".join(columns))
    shown = motif_tables.resembling(matches, len(motifs))
    for i, row in enumerate(motif_tables.rows(motifs, classes, matches)):
        if i in shown:
            print("  " + "\t".join(_short(value) for value in list(row)[: len(columns)]))
    if len(shown) < len(motifs):
        print(f"  {len(motifs) - len(shown)} more resemble no known motif (q > {motif_tables.LARGEST_Q:g})")


def _short(value: Any) -> str:
    """Return a value as printed."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _load(request: MotifsRequest) -> Model:
    """Return the model; refuse a model of residues."""
    model = load_model(request.model)
    if isinstance(model, ResidueModel):
        raise ModelError(
            "classifies residues by their neighbours, which motifs does not support",
            file=request.model,
            remedy="give a model of whole sequences",
        )
    if model.kernel.traits.of_several:
        raise ModelError(
            f"compares several sequences ({', '.join(model.sequence_views)}), which motifs does not support",
            file=request.model,
            remedy="list their k-mers with seqkern explain",
        )
    return model


def _sequences(request: MotifsRequest, model: Model) -> tuple[SequenceSet | None, str]:
    """Return the sequences in which to find motifs, or None for k-mers, and a description of them."""
    if request.fasta is not None:
        X = read_fasta(request.fasta, model.alphabet, **policies_for(model, request))
        name = source_name(request.fasta)
        log_counts(X.counts, name)
        return X, f"seqlets in {len(X)} sequences of {Path(name).name}"
    support = model.support
    if not request.kmers and isinstance(support, SequenceSet) and len(support) > MOST_SUPPORT:
        return None, f"k-mers of greatest weight; for seqlets give sequences: the model has {len(support)}, too many"
    if not request.kmers and isinstance(support, SequenceSet) and len(support):
        return support, f"seqlets in the {len(support)} support sequences of the model"
    return None, "k-mers of greatest weight"


def _draw(
    path: Path, title: str, motifs: list[FoundMotif], classes: Any, matches: list[Match] | None, source: str
) -> None:
    """Write the logos as a page or a picture."""
    # imported here: Matplotlib is slow to load
    from seqkern.report.figure_files import write_picture
    from seqkern.report.learned_pages import logos_picture, motifs_page

    if path.suffix.lower() != ".html":
        write_picture(path, logos_picture(motifs, classes, matches))
        return
    with atomic_write(path, "w") as file:
        file.write(motifs_page(title, motifs, classes, matches, source))
