"""Automatic choice of a kernel: traits of sequences, the portfolio, and the reasons given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seqkern.core.errors import ParameterError, SeqkernError
from seqkern.core.threads import given_threads
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import build_kernel, gives, has_operator, kernel_text
from seqkern.sequences.sequence_set import SequenceSet, sequence_views, vector_views
from seqkern.solvers.costs import BOUNDS, EVIDENCE, WITHOUT_FOLDS

# The traits of sequences that matter for the choice of kernels.

NUCLEOTIDES = ("dna", "rna")
PEPTIDE = 50
"""Median length in residues below which proteins are compared as peptides: they are too short for alignments."""
ANNOTATION = "annotation"
"""The track of letters, one for each residue, that the annotated gappy pair kernel reads."""


@dataclass(frozen=True)
class Traits:
    """The traits of a set of sequences; lengths are in residues, and `sequences` holds the traits of each role.

    >>> traits = Traits("dna", n=40, shortest=60, median=60, longest=60, total=2400)
    >>> traits.equal, traits.kind, traits.describe()
    (True, 'windows', '40 DNA sequences of 60 bases')
    """

    alphabet: str  # Name of the alphabet
    n: int  # Number of sequences
    shortest: int  # Lengths
    median: int  # Lengths
    longest: int  # Lengths
    total: int  # Residues in all
    annotated: bool = False  # Whether each residue carries a letter of the track ``annotation``
    views: tuple[str, ...] = ()  # Names of the views that are vectors, such as embeddings
    scores: tuple[str, ...] = ()  # Those of one number, such as the score of a language model
    # The name and the traits of each sequence of a sample, if it has several; else empty
    sequences: "tuple[tuple[str, Traits], ...]" = ()

    @property
    def equal(self) -> bool:
        """Whether all sequences have one length, so that they can be compared position by position."""
        return self.shortest == self.longest

    @property
    def kind(self) -> str:
        """The part of the portfolio that applies.

        One of ``several``, ``windows``, ``regions``, ``peptides``, ``proteins`` and ``other``.
        """
        if len(self.sequences) > 1:
            return "several"
        if self.alphabet in NUCLEOTIDES:
            return "windows" if self.equal else "regions"
        if self.alphabet == "protein":
            return "peptides" if self.median < PEPTIDE else "proteins"
        return "other"

    def describe(self) -> str:
        """Return the traits in words."""
        if self.kind == "several":
            each = ", ".join(f"{name} ({own.span()})" for name, own in self.sequences)
            return f"{self.n:,} samples of {len(self.sequences)} sequences: {each}"
        what = {"dna": "DNA sequences", "rna": "RNA sequences", "protein": "proteins"}.get(self.alphabet, "sequences")
        if self.kind == "peptides":
            what = "peptides"
        median = "" if self.equal else f", median {self.median}"
        return f"{self.n:,} {what} of {self.span()}{median}"

    def span(self) -> str:
        """Return the lengths in words."""
        unit = "bases" if self.alphabet in NUCLEOTIDES else "residues"
        return f"{self.longest} {unit}" if self.equal else f"{self.shortest} to {self.longest} {unit}"


def traits_of(X: SequenceSet) -> "Traits":
    """Return the traits of a non-empty set of sequences.

    >>> from seqkern import SequenceSet
    >>> traits_of(SequenceSet.from_strings(["MKVLAAGIV", "MKV"], "protein")).describe()
    '2 peptides of 3 to 9 residues, median 6'
    """
    track = X.tracks.get(ANNOTATION)
    return Traits(
        X.alphabet.name,
        len(X),
        int(X.lengths.min()),
        int(np.median(X.lengths)),
        int(X.lengths.max()),
        int(X.lengths.sum()),
        track is not None and track.ndim == 1,
        tuple(vector_views(X)),
        tuple(name for name, view in vector_views(X).items() if view.width == 1),
        tuple((name, traits_of(X.view(name))) for name in sequence_views(X)),
    )


# The portfolio's policies for sequences that a kernel could not compare.

LENIENT = {"short": "zero", "zero_diagonal": "zero"}
"""Policies that compare a sequence without a k-mer as zero, where it would otherwise be an error."""
MASKED = {"zero_diagonal": "zero"}
"""Policy that compares a sequence of only masked residues as zero, where it would otherwise be an error."""


# The messages of ``--kernel auto`` about its choice.

SHOWN = 6
"""Number of kernels of the last comparison that are listed."""

REASONS = {
    "windows": "All have one length, so kernels that compare position by position were tried besides those that count "
    "k-mers anywhere.",
    "regions": "They differ in length, so only kernels that count k-mers anywhere were tried{strands}.",
    "peptides": "They are short, so kernels of composition, short k-mers, pairs of residues, subsequences and "
    "alignments were tried, and one of similar residues at similar positions.",
    "proteins": "They are whole proteins, so kernels of k-mers with mismatches and gaps, of both ends and, where a "
    "Gram matrix is computed, of local alignments were tried.",
    "aligned": "They are variants of one length, with a number each, so kernels that compare position by position were "
    "tried.",
    "several": "Kernels that suit each of the sequences were tried on all of them, joined by the mean, the product or "
    "a radial kernel, and some on the sequences joined to one.",
    "other": "Their letters are neither nucleotides nor amino acids, so kernels that need no substitution matrix were "
    "tried.",
}
STRANDS = ", on both strands"
VIEWS = " Their views were tried alone and together with k-mers."
COMBINED = "mean of"
"""Beginning of the name of a combination."""


def default_metric(solver: str) -> str:
    """Return the metric that chooses a kernel for a solver.

    >>> default_metric("csvc"), default_metric("gp_regression:noise=1")
    ('auto', 'evidence')
    """
    return EVIDENCE if solver.partition(":")[0] == "gp_regression" else "auto"


def metric_text(metric: str) -> tuple[str, int]:
    """Return the name of a metric for sentences, and its sign: −1 for errors, whose negative is maximised.

    >>> metric_text("auc"), metric_text("rmse")
    (('AUC', 1), ('RMSE', -1))
    """
    names = {"auc": "AUC", "macro_auc": "macro AUC", "rmse": "RMSE", "r2": "R²", "mcc": "MCC", "roc50": "ROC50"}
    names[EVIDENCE] = "log marginal likelihood of a sample"
    return names.get(metric, metric.replace("_", " ")), -1 if metric in ("rmse", *BOUNDS) else 1


def tried(rungs: Sequence[Mapping[str, Any]], metric: str) -> list[str]:
    """Return the kernels that were compared, best first, one line each.

    >>> tried([{"n": 90, "scores": {"spectrum:k=3": 0.8, "mismatch:k=5,m=1": 0.9}}], "auc")
    ['2 kernels on 90 samples; mean AUC of the inner folds', '0.9000 mismatch:k=5,m=1', '0.8000 spectrum:k=3']
    """
    counts = [(len(rung["scores"]), rung["n"]) for rung in rungs]
    sizes = ", then ".join(f"{kernels} kernel{'s'[: kernels != 1]} on {n:,} samples" for kernels, n in counts)
    name, sign = metric_text(metric)
    last = rungs[-1]["scores"]
    best = sorted(last, key=lambda name: -last[name])
    more = [f"and {len(best) - SHOWN} more"] if len(best) > SHOWN else []
    return [
        f"{sizes}; {name}" if metric in WITHOUT_FOLDS else f"{sizes}; mean {name} of the inner folds",
        *(f"{sign * last[kernel]:.4f} {kernel}" for kernel in best[:SHOWN]),
        *more,
    ]


def why(traits: "Traits", rungs: Sequence[Mapping[str, Any]], kernel: str, metric: str, error: float) -> str:
    """Return a paragraph with the reason why a kernel was chosen.

    >>> traits = Traits("dna", n=90, shortest=60, median=70, longest=90, total=6300)
    >>> import textwrap
    >>> print(textwrap.fill(why(traits, [{"n": 90, "scores": {"a": 0.8, "b": 0.9}}], "b", "auc", 0.02), 112))
    90 DNA sequences of 60 to 90 bases, median 70. They differ in length, so only kernels that count k-mers anywhere
    were tried, on both strands. b had the best mean AUC, 0.900; a followed with 0.800.
    """
    scores = rungs[-1]["scores"]
    others = sorted((name for name in scores if name != kernel), key=lambda name: -scores[name])
    aligned = metric == EVIDENCE and traits.equal and traits.kind == "proteins"
    reason = REASONS["aligned" if aligned else traits.kind].format(strands=STRANDS if traits.alphabet == "dna" else "")
    reason += VIEWS if traits.views else ""
    name, sign = metric_text(metric)
    name = name if metric in WITHOUT_FOLDS else f"mean {name}"
    text = f"{traits.describe()}. {reason}"
    if others and round(scores[others[0]], 12) > round(scores[kernel], 12):
        return (
            f"{text} {others[0]} had the best {name}, {sign * scores[others[0]]:.3f}; {kernel} is hardly worse "
            f"({sign * scores[kernel]:.3f}), and is simpler."
        )
    text = f"{text} {kernel} had the best {name}, {sign * scores[kernel]:.3f}"
    if not others:
        return f"{text}."
    second = others[0]
    within = scores[kernel] - scores[second] <= error
    tie = ": within one standard error, so another split might choose it" if within else ""
    return f"{text}; {second} followed with {sign * scores[second]:.3f}{tie}."


# The portfolio for samples with several sequences: kernels that suit each sequence, joined.
#
# Each *role* (composition, pairs of residues, alignment, …) has a kernel for each kind of sequence, and the kernels of
# one role on all sequences are joined by their mean, as in kernels of pairs. The product calls two samples similar only
# if all their sequences are; it is tried where there are two.

ALIGNED = {"kernel": "local_alignment", "normalize": True, **MASKED}
ROLES = ("composition", "pairs", "mismatches", "aligned")


def _several(traits: "Traits") -> "Iterator[Member]":
    """Yield the kernels for samples with several sequences, simple ones first.

    >>> loop = Traits("protein", n=90, shortest=9, median=12, longest=15, total=1080)
    >>> pair = Traits("protein", n=90, shortest=20, median=25, longest=31, total=2250,
    ...               sequences=(("alpha", loop), ("beta", loop)))
    >>> [member.spec["kernel"] for member in _several(pair)][:2]
    ['each_view', 'each_view']
    """
    found = [member for role in ROLES for member in _joined_role(traits, role)]
    yield from found
    for role in ("composition", "aligned") if len(traits.sequences) == 2 else ():
        yield from _joined_role(traits, role, "product")
    parts = [member.spec for member in found if "repair" not in member.spec]
    if len(parts) > 1:
        combined = {"kernel": "combination", "parts": parts, "weights": "uniform"}
        yield Member.of(combined, f"{COMBINED} all kernels of k-mers")
    yield from _radial(traits)
    k = [3, 4, 5] if traits.alphabet in NUCLEOTIDES else [1, 2]
    yield Member.of({"kernel": "spectrum", "k": k, **LENIENT})
    yield Member.of({"kernel": "gappy_pair", "k": 1, "m": 8, **LENIENT})


def _radial(traits: "Traits") -> "Iterator[Member]":
    """Yield a radial kernel over local alignments and generic strings of all sequences, if these are short proteins.

    A sequence weighs as the square of its median length does: as the pairs of residues that are compared.
    """
    if any(own.kind != "peptides" for _, own in traits.sequences):
        return
    squares = [max(1, own.median) ** 2 for _, own in traits.sequences]
    similar = {"kernel": "generic_string", "length": 4, "sigma_p": 1, "sigma_c": 0.7, **MASKED}
    parts = [{**one, "view": name} for one in ({**ALIGNED, "beta": 0.5}, similar) for name, _ in traits.sequences]
    base = {"kernel": "sum", "parts": parts, "weights": [round(one / sum(squares), 4) for one in squares] * 2}
    yield Member.of(
        {"kernel": "rbf", "gamma": 2.5, "base": base, "repair": "clip"},
        "rbf over the sequences, by alignments and similar k-mers",
    )


def _joined_role(traits: "Traits", role: str, rule: str = "mean") -> "Iterator[Member]":
    """Yield the joined kernels of a role on all sequences, unless a sequence has no kernel for the role."""
    specs = {name: _roles(own).get(role) for name, own in traits.sequences}
    if any(spec is None for spec in specs.values()):
        return
    known = {name: spec for name, spec in specs.items() if spec is not None}
    repair = {"repair": "clip"} if any(spec["kernel"] == "local_alignment" for spec in known.values()) else {}
    first = next(iter(known.values()))
    if all(spec == first for spec in known.values()):
        yield Member.of({"kernel": "each_view", "base": first, **({} if rule == "mean" else {"rule": rule}), **repair})
        return
    parts = [{**spec, "view": name} for name, spec in known.items()]
    joined: dict[str, Any] = {"kernel": "product" if rule == "product" else "sum", "parts": parts}
    if rule == "mean":
        joined["weights"] = [1.0 / len(parts)] * len(parts)
    yield Member.of({**joined, **repair}, f"{rule} over the sequences, by {role}")


def _roles(traits: "Traits") -> dict[str, dict[str, Any]]:
    """Return the kernel of each role for one of the sequences."""
    if traits.alphabet in NUCLEOTIDES:
        return {
            "composition": {"kernel": "spectrum", "k": [1, 2, 3, 4], **LENIENT},
            "pairs": {"kernel": "gappy_pair", "k": 3, "m": 4, **LENIENT},
            "mismatches": {"kernel": "mismatch", "k": 6, "m": 1, **LENIENT},
        }
    if traits.alphabet != "protein":
        return {
            "composition": {"kernel": "spectrum", "k": [1, 2], **LENIENT},
            "pairs": {"kernel": "gappy_pair", "k": 1, "m": 5, **LENIENT},
        }
    short = traits.kind == "peptides"
    return {
        "composition": {"kernel": "spectrum", "k": [1, 2, 3] if short else [1, 2], **LENIENT},
        "pairs": {"kernel": "gappy_pair", "k": 1, "m": 3 if short else 8, **LENIENT},
        "mismatches": {"kernel": "mismatch", "k": 3 if short else 5, "m": 1, **LENIENT},
        "aligned": {**ALIGNED, "beta": 0.5},
    }


# The portfolio of ``--kernel auto``: the kernels worth trying for each kind of sequence.
#
# The lists are not the result of a search: they hold the kernels that the literature uses for each kind, with the
# parameters that their authors recommend, and are the same for every data set of a kind.

GAPPED = {"kernel": "gapped_kmer", "d": 3, "estimator": "truncated"}
HEPTADS = (3, 5, 8, 11)


@dataclass(frozen=True)
class Member:
    """A kernel of the portfolio; its `spec` has ``repair`` where the kernel matrix may be indefinite.

    >>> Member.of({"kernel": "spectrum", "k": 3, "short": "zero"})
    Member(name='spectrum:k=3', spec={'kernel': 'spectrum', 'k': 3, 'short': 'zero'})
    """

    name: str  # Its name in tables: the kernel in text form, without the policies of `LENIENT`
    spec: Mapping[str, Any]  # In the form of a configuration

    @classmethod
    def of(cls, spec: Mapping[str, Any], name: str = "") -> "Member":
        """Return the portfolio member for a kernel spec."""
        return cls(name or kernel_text(build_kernel(_shown(spec))), spec)

    @cached_property
    def kernel(self) -> Kernel:
        """The unfitted kernel."""
        return build_kernel({key: value for key, value in self.spec.items() if key != "repair"})

    @property
    def implicit(self) -> bool:
        """Whether solvers without a Gram matrix get feature vectors that are never stored."""
        return "repair" not in self.spec and gives(self.kernel, "implicit")

    @property
    def operator(self) -> bool:
        """Whether solvers without a Gram matrix get products; means of kernels do not, since they gain nothing."""
        return "repair" not in self.spec and not self.kernel.traits.data_dependent and has_operator(self.kernel)


def _shown(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec without repair and policies, also in nested kernels."""
    inner = {key: _shown(value) if isinstance(value, Mapping) else value for key, value in spec.items()}
    return {key: value for key, value in inner.items() if key not in ("repair", *LENIENT)}


def portfolio(traits: "Traits", real: bool = False) -> "list[Member]":
    """Return the kernels to try, at least two, without duplicates, simple ones first; `real`: the labels are numbers.

    >>> windows = Traits("dna", n=100, shortest=60, median=60, longest=60, total=6000)
    >>> [member.name.partition(":")[0] for member in portfolio(windows)][:3]
    ['weighted_degree', 'weighted_degree', 'shifted_weighted_degree']
    """
    of = {"windows": _windows, "regions": _regions, "peptides": _peptides, "proteins": _proteins, "several": _several}
    found: dict[str, Member] = {}
    aligned = _aligned(traits) if real and traits.kind in ("peptides", "proteins") and traits.equal else ()
    others = () if aligned and traits.kind == "proteins" else of.get(traits.kind, _other)(traits)
    for member in (*aligned, *others, *_views(traits)):
        one = member if isinstance(member, Member) else Member.of(member)
        found.setdefault(one.name, one)
    return list(found.values())


def _windows(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for DNA or RNA of one length: compared position by position, or as regions."""
    half = traits.longest // 2
    yield {"kernel": "weighted_degree", "degree": 5, **MASKED}
    yield {"kernel": "weighted_degree", "degree": 20, **MASKED}
    yield {"kernel": "shifted_weighted_degree", "degree": 5, "shift": 3, **MASKED}
    yield {"kernel": "shifted_weighted_degree", "degree": 20, "shift": 10, **MASKED}
    yield {"kernel": "oligo", "k": 3, "sigma": 2.0, **LENIENT}
    yield {"kernel": "oligo", "k": 2, "sigma": 1.0, **LENIENT}
    yield {"kernel": "locality_improved", "l": 3, "d1": 3, **MASKED}
    yield {"kernel": "salzberg", **MASKED}
    if half >= 5:
        sides = [[0, half], [half, traits.longest]]
        parts = [{"kernel": "spectrum", "k": [1, 2, 3, 4, 5], "part": side, **LENIENT} for side in sides]
        yield Member.of({"kernel": "sum", "parts": parts}, "spectrum:k=1+2+3+4+5 of the left and of the right half")
    yield from _regions(traits)
    yield _combined(
        {"kernel": "weighted_degree", "degree": 10, **MASKED},
        {"kernel": "shifted_weighted_degree", "degree": 20, "shift": 10, **MASKED},
        {"kernel": "oligo", "k": 3, "sigma": 2.0, **LENIENT},
        {"kernel": "gapped_kmer", "l": 6, "k": 4, **LENIENT},
        {**GAPPED, "l": 10, "k": 6, **LENIENT},
    )


def _regions(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for DNA regions, such as peaks: the site may lie anywhere, in DNA on either strand."""
    common = {"reverse_complement": traits.alphabet == "dna", **LENIENT}
    for k in (4, 6):
        yield {"kernel": "spectrum", "k": k, **common}
    yield {"kernel": "mismatch", "k": 6, "m": 1, **common}
    yield {"kernel": "mismatch", "k": 8, "m": 1, **common}
    yield {"kernel": "gapped_kmer", "l": 8, "k": 5, **common}
    yield {**GAPPED, "l": 10, "k": 6, **common}
    if traits.equal and traits.alphabet == "dna":  # what is at one place, as a promoter, has a strand
        yield {**GAPPED, "l": 10, "k": 6, **LENIENT}
    yield {**GAPPED, "l": 11, "k": 7, **common}
    yield {**GAPPED, "l": 11, "k": 7, "center_weighted": True, **common}
    yield _combined(
        {"kernel": "mismatch", "k": 8, "m": 1, **common},
        {"kernel": "gapped_kmer", "l": 8, "k": 5, **common},
        {**GAPPED, "l": 10, "k": 6, **common},
        {**GAPPED, "l": 11, "k": 7, **common},
    )


def _peptides(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for short proteins: composition, pairs of residues, and short k-mers with mismatches or gaps."""
    yield {"kernel": "spectrum", "k": 1, **LENIENT}
    yield {"kernel": "spectrum", "k": [1, 2, 3], **LENIENT}
    yield {"kernel": "mismatch", "k": 3, "m": 1, **LENIENT}
    yield {"kernel": "mismatch", "k": 4, "m": 1, **LENIENT}
    yield {"kernel": "gapped_kmer", "l": 4, "k": 2, **LENIENT}
    yield {"kernel": "gapped_kmer", "l": 5, "k": 3, **LENIENT}
    for k, m in ((1, 3), (1, 8), (2, 4)):
        yield {"kernel": "gappy_pair", "k": k, "m": m, **LENIENT}
    yield {"kernel": "string", "n": 2, "decay": 0.5, **LENIENT}
    yield {"kernel": "string", "n": 3, "decay": 0.5, "matching": "BLOSUM62", **LENIENT}
    yield {"kernel": "generic_string", **MASKED}
    for beta in (0.1, 0.5):
        yield {**ALIGNED, "beta": beta, "repair": "clip"}
    if traits.equal:
        yield {"kernel": "window", "encoding": "BLOSUM62", "gamma": 0.1}
    yield from _annotated(traits)
    counts: list[dict[str, Any]] = [
        {"kernel": "spectrum", "k": [1, 2, 3], **LENIENT},
        {"kernel": "gapped_kmer", "l": 5, "k": 3, **LENIENT},
        {"kernel": "gappy_pair", "k": 1, "m": 8, **LENIENT},
    ]
    yield _combined(*counts, {**ALIGNED, "beta": 0.1}, {**ALIGNED, "beta": 0.5}, repair="clip")
    yield _combined(*({"kernel": "rbf", "base": one} for one in counts), {**ALIGNED, "beta": 0.5}, repair="clip")


ONE_HOT = tuple({"kernel": "window", "encoding": "one_hot", "vector_kernel": one} for one in ("linear", "tanimoto"))
"""Kernels of the residue at each position: of ridge regression, and of shares of equal residues."""


def _aligned(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for measured variants of one protein, compared position by position, also with their vectors."""
    yield from ONE_HOT
    yield {"kernel": "generic_string", **MASKED}
    yield {"kernel": "likelihood", "base": {"kernel": "lock"}}
    for name in traits.scores:
        linear = {"kernel": "linear", "view": name}
        score = {"kernel": "transformed", "base": linear, "transforms": [{"feature_transform": "pca", "whiten": True}]}
        base = {"kernel": "sum", "parts": [{"kernel": "lock"}, score]}
        yield Member.of({"kernel": "likelihood", "base": base}, f"likelihood of the sum of lock and linear:view={name}")
    for name in sorted(set(traits.views) - set(traits.scores), key=traits.views.index):
        vectors = {"kernel": "rbf", "view": name}
        yield {"kernel": "likelihood", "base": vectors}
        for joined in ("sum", "product"):
            base = {"kernel": joined, "parts": [{"kernel": "lock"}, vectors]}
            yield Member.of(
                {"kernel": "likelihood", "base": base}, f"likelihood of the {joined} of lock and rbf:view={name}"
            )


def _proteins(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for whole proteins: k-mers with mismatches or gaps, alignments, and both ends for targeting
    signals.
    """
    yield {"kernel": "spectrum", "k": [1, 2], **LENIENT}
    yield {"kernel": "spectrum", "k": 3, **LENIENT}
    yield {"kernel": "mismatch", "k": 3, "m": 1, **LENIENT}
    yield {"kernel": "mismatch", "k": 5, "m": 1, **LENIENT}
    yield {"kernel": "gapped_kmer", "l": 5, "k": 3, **LENIENT}
    yield {"kernel": "gapped_kmer", "l": 8, "k": 4, **LENIENT}
    yield {"kernel": "gappy_pair", "k": 1, "m": 8, **LENIENT}
    yield from _annotated(traits)
    whole: dict[str, Any] = {"kernel": "spectrum", "k": [1, 2], **LENIENT}
    parts = [whole, {**whole, "part": [0, 50]}, {**whole, "part": [-50, None]}]
    yield Member.of({"kernel": "sum", "parts": parts}, "spectrum:k=1+2 of the whole and of both ends of 50 residues")
    yield {"kernel": "local_alignment", "repair": "empirical_map"}
    counts: list[dict[str, Any]] = [
        {"kernel": "spectrum", "k": [1, 2], **LENIENT},
        {"kernel": "gapped_kmer", "l": 5, "k": 3, **LENIENT},
        {"kernel": "gappy_pair", "k": 1, "m": 8, **LENIENT},
    ]
    yield _combined(*counts)
    yield _combined(*counts, {**ALIGNED, "beta": 0.5}, repair="clip")


def _other(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels for sequences over a custom alphabet."""
    for k in (1, 2, 3):
        yield {"kernel": "spectrum", "k": k, **LENIENT}
    yield {"kernel": "mismatch", "k": 4, "m": 1, **LENIENT}
    yield {"kernel": "gappy_pair", "k": 1, "m": 5, **LENIENT}
    yield {"kernel": "string", "n": 3, "decay": 0.5, **LENIENT}
    if traits.equal:
        yield {"kernel": "weighted_degree", "degree": 5, **MASKED}


def _annotated(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels on pairs of residues with their annotation letters, such as the positions in a heptad."""
    for m in HEPTADS if traits.annotated else ():
        yield {"kernel": "gappy_pair", "k": 1, "m": m, "annotation": ANNOTATION, **LENIENT}


def _views(traits: "Traits") -> "Iterator[Mapping[str, Any] | Member]":
    """Yield kernels on views of the sequences, such as embeddings, alone and together with k-mers."""
    k = 5 if traits.alphabet in NUCLEOTIDES else 2
    for name in traits.views:
        yield {"kernel": "linear", "view": name, "normalize": True, **MASKED}
        yield {"kernel": "rbf", "view": name}
        yield _combined({"kernel": "rbf", "view": name}, {"kernel": "spectrum", "k": k, **LENIENT})


def _combined(*parts: Mapping[str, Any], **repair: str) -> "Member":
    """Return the mean of some kernels, each scaled to unit variance on the training set."""
    names = [Member.of(part).name for part in parts]
    spec = {"kernel": "combination", "parts": list(parts), "weights": "uniform", **repair}
    return Member.of(spec, f"{COMBINED} {' + '.join(names)}")


# The members of the portfolio that suit the data, and the solver to train them with.

LARGEST_GRAM = 12_000
"""Number of sequences above which training uses no Gram matrix: it would take more than a gigabyte for each kernel."""
LARGEST_PLAN = 4 << 30
"""Bytes for the preparation of one kernel by one thread; fixed, so that every machine has the same portfolio."""
SOLVERS = {"binary": "csvc", "multiclass": "csvc", "real": "svr"}
"""The default solver with a Gram matrix, for each kind of labels."""
PROCESS = "gp_regression:noise=prior,most_samples=1000"
"""The default solver for numbers: its predictions have intervals, and its evidence chooses a kernel."""
LARGEST_PROCESS = 6000
"""Number of samples above which Gaussian processes take too long."""
LARGE_SOLVER = "linear_svc"


def default_solver(kind: str, n: int, gives_implicit: bool = True) -> str:
    """Return the solver to train with by default; its default grid is searched.

    >>> default_solver("binary", 500), default_solver("binary", 50_000), default_solver("real", 500)
    ('csvc', 'linear_svc', 'gp_regression:noise=prior,most_samples=1000')
    """
    if kind not in SOLVERS:
        raise ParameterError(
            "a kernel and a solver cannot be chosen without labels",
            remedy="give labels, or --kernel and --solver (such as one_class_svm)",
        )
    if kind == "real" and n <= LARGEST_PROCESS:
        return PROCESS
    return LARGE_SOLVER if n > LARGEST_GRAM and kind != "real" and gives_implicit else SOLVERS[kind]


def members_for(
    X: SequenceSet, implicit: bool = False, real: bool = False, accepts_operator: bool = False
) -> "list[Member]":
    """Return the members of the portfolio that suit some sequences, at least one; their labels are not used.

    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> [member.name for member in members_for(X)][:2]
    ['spectrum:k=4,reverse_complement=true', 'spectrum:k=6,reverse_complement=true']
    """
    found = [member for member in portfolio(traits_of(X), real) if _suits(member, X, implicit, real, accepts_operator)]
    if not found:
        raise ParameterError(
            "no kernel of the portfolio suits these sequences", remedy="give one with --kernel, such as spectrum:k=3"
        )
    return found


def _suits(member: "Member", X: SequenceSet, implicit: bool, real: bool, accepts_operator: bool) -> bool:
    """Return whether a kernel accepts these sequences and stays within `LARGEST_PLAN`."""
    kernel = member.kernel
    able = not implicit or member.implicit or (accepts_operator and member.operator)
    if not able or (real and kernel.traits.needs_classes):
        return False
    try:
        kernel.coerce(X)
        with given_threads(1):
            plan = kernel.plan(X)
    except SeqkernError:
        return False
    return plan.bytes <= LARGEST_PLAN


# The kernel parameters that ``--search`` tries if they are not given.

Points = list[dict[str, Any]]


def _each(name: str, *values: Any) -> "Points":
    """Return one point for each value of a parameter."""
    return [{name: value} for value in values]


def _pairs(first: str, second: str, *values: tuple[Any, Any]) -> "Points":
    """Return one point for each pair of values of two parameters."""
    return [{first: one, second: two} for one, two in values]


# kernel: (points for nucleotides, points for proteins and other letters)
GRIDS: "dict[str, tuple[Points, Points]]" = {
    "spectrum": (_each("k", 3, 4, 5, 6, 8), _each("k", 1, 2, 3, 4)),
    "mismatch": (_pairs("k", "m", (6, 1), (8, 1), (10, 2)), _pairs("k", "m", (3, 1), (4, 1), (5, 1))),
    "gapped_kmer": (_pairs("l", "k", (8, 5), (10, 6), (11, 7)), _pairs("l", "k", (4, 2), (5, 3), (6, 4), (8, 4))),
    "gappy_pair": (_pairs("k", "m", (2, 4), (3, 4), (3, 8)), _pairs("k", "m", (1, 3), (1, 8), (2, 4))),
    "wildcard": (_pairs("k", "m", (5, 1), (6, 1), (8, 2)), _pairs("k", "m", (3, 1), (4, 1), (5, 2))),
    "substitution": (_each("k", 4, 5), _each("k", 3, 4)),
    "string": (_each("n", 3, 4, 5), _each("n", 2, 3, 4)),
    "weighted_degree": (_each("degree", 3, 5, 10, 20), _each("degree", 1, 2, 3, 5)),
    "shifted_weighted_degree": (
        _pairs("degree", "shift", (5, 1), (5, 3), (10, 5), (20, 10)),
        _pairs("degree", "shift", (2, 1), (3, 3), (5, 5)),
    ),
    "oligo": (
        _pairs("k", "sigma", (2, 1.0), (3, 1.0), (3, 2.0), (4, 4.0)),
        _pairs("k", "sigma", (1, 1.0), (1, 3.0), (2, 2.0)),
    ),
    "locality_improved": (_pairs("l", "d1", (2, 2), (3, 3), (4, 4)), _pairs("l", "d1", (2, 2), (3, 3), (4, 4))),
}


def kernel_grid(spec: Mapping[str, Any], traits: "Traits") -> list[dict[str, Any]]:
    """Return the specs to try for a kernel: given parameters are kept, omitted ones take values for the alphabet.

    >>> proteins = Traits("protein", n=40, shortest=60, median=90, longest=300, total=4000)
    >>> [spec["k"] for spec in kernel_grid({"kernel": "mismatch", "m": 1}, proteins)]
    [3, 4, 5]
    >>> kernel_grid({"kernel": "spectrum", "k": 6}, proteins)
    [{'kernel': 'spectrum', 'k': 6}]
    """
    points = GRIDS.get(str(spec.get("kernel")), ([], []))[0 if traits.alphabet in NUCLEOTIDES else 1]
    fitting = [point for point in points if all(spec.get(key, value) == value for key, value in point.items())]
    open_points = [{key: value for key, value in point.items() if key not in spec} for point in fitting]
    return [{**spec, **point} for point in open_points] or [dict(spec)]
