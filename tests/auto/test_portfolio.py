"""The portfolio of kernel auto: every member runs on its kind of data, and labels play no part."""

import numpy as np
import pytest

from seqkern import SequenceSet
from seqkern.core.errors import ParameterError
from seqkern.evaluation.auto import LARGEST_GRAM, Traits, default_solver, members_for, portfolio, traits_of
from seqkern.sequences.joining import join_views


def sequences(letters, lengths, alphabet, seed=1):
    """Return random sequences of these lengths."""
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(["".join(rng.choice(list(letters), n)) for n in lengths], alphabet)


PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
SETS = {
    "windows": sequences("ACGT", [60] * 12, "dna"),
    "regions": sequences("ACGT", range(30, 60), "dna"),
    "rna": sequences("ACGU", range(30, 60), "rna"),
    "peptides": sequences(PROTEIN, range(3, 40), "protein"),
    "proteins": sequences(PROTEIN, range(60, 200, 7), "protein"),
    "other": sequences("HEC", range(10, 40), "HEC"),
    "loops": join_views(
        {name: sequences(PROTEIN, range(4, 20), "protein", seed).strings() for seed, name in enumerate("ab")}, "protein"
    ),
    "factor and site": join_views(
        {"factor": sequences(PROTEIN, range(60, 124, 4), "protein"), "site": sequences("ACGT", range(9, 25), "dna")}
    ),
}


@pytest.mark.parametrize("kind", SETS)
def test_every_member_gives_a_finite_matrix(kind):
    X = SETS[kind]
    y = np.where(np.arange(len(X)) % 2, 1, -1)
    members = members_for(X)
    assert [member.name for member in members] == [member.name for member in portfolio(traits_of(X))]
    assert len({member.name for member in members}) == len(members) > 3
    for member in members:
        kernel = member.kernel.fit(X, y) if member.kernel.traits.data_dependent else member.kernel
        assert np.isfinite(kernel(X)).all(), member.name


def test_both_strands_of_dna_are_read_and_one_of_rna():
    assert all("reverse_complement=true" in member.name for member in members_for(SETS["regions"]))
    assert not any("reverse_complement=true" in member.name for member in members_for(SETS["rna"]))


def test_windows_are_compared_position_by_position_too():
    names = [member.name.partition(":")[0] for member in members_for(SETS["windows"])]
    assert {"weighted_degree", "shifted_weighted_degree", "oligo", "gapped_kmer"} <= set(names)


def test_annotations_are_used_where_there_are_some():
    X = SETS["peptides"]
    annotated = X.replace(tracks={"annotation": np.zeros(len(X.codes), dtype=np.uint8)})
    found = [member.name for member in members_for(annotated) if "annotation" in member.name]
    assert len(found) == 4
    assert not any("annotation" in member.name for member in members_for(X))


def test_views_are_tried_alone_and_with_k_mers():
    X = SETS["proteins"]
    seen = X.replace(views={"esm": np.random.default_rng(1).normal(size=(len(X), 5))})
    members = [member for member in members_for(seen) if "view=esm" in member.name]
    assert len(members) == 3
    y = np.where(np.arange(len(X)) % 2, 1, -1)
    for member in members:
        kernel = member.kernel.fit(seen, y) if member.kernel.traits.data_dependent else member.kernel
        assert np.isfinite(kernel(seen)).all()


@pytest.mark.parametrize("kind", ["windows", "proteins"])
def test_without_a_gram_matrix_only_kernels_that_need_none(kind):
    members = members_for(SETS[kind], implicit=True)
    assert members
    assert all(member.implicit for member in members)


def test_the_solver_follows_from_labels_and_size():
    assert default_solver("binary", LARGEST_GRAM) == "csvc"
    assert default_solver("binary", LARGEST_GRAM + 1) == "linear_svc"
    assert default_solver("real", LARGEST_GRAM + 1) == "svr"
    with pytest.raises(ParameterError, match="without labels"):
        default_solver("none", 10)


def test_several_sequences_are_compared_one_by_one_and_joined():
    for kind, views in {"loops": ("a", "b"), "factor and site": ("factor", "site")}.items():
        traits, members = traits_of(SETS[kind]), members_for(SETS[kind])
        assert (traits.kind, tuple(name for name, _ in traits.sequences)) == ("several", views)
        assert "2 sequences" in traits.describe()
        joined = [member for member in members if member.kernel.traits.of_several]
        assert len(joined) > len(members) / 2
        rules = {member.spec.get("rule", member.spec["kernel"]) for member in joined}
        assert {"product", "combination"} <= rules
        assert ("rbf" in rules) == (kind == "loops")
    alone = join_views({"a": sequences(PROTEIN, range(4, 20), "protein").strings()}, "protein")
    assert traits_of(alone).kind == "peptides"


def test_longer_sequences_weigh_more_in_the_radial_kernel_also_beside_an_empty_one():
    lengths = {"none": [0] * 6, "short": [3] * 6, "long": [6] * 6}
    views = {name: sequences(PROTEIN, own, "protein").strings() for name, own in lengths.items()}
    (member,) = (one for one in members_for(join_views(views, "protein")) if one.spec["kernel"] == "rbf")
    assert member.spec["base"]["weights"] == [0.0217, 0.1957, 0.7826] * 2  # 1, 9 and 36 of 46
    assert member.spec["repair"] == "clip"


def test_measured_variants_are_compared_by_position_and_by_their_vectors():
    traits = Traits("protein", n=96, shortest=72, median=72, longest=72, total=96 * 72, views=("esm",))
    names = [member.name for member in portfolio(traits, real=True)]
    assert "likelihood:base=(lock)" in names
    assert "likelihood of the sum of lock and rbf:view=esm" in names
    with_score = Traits("protein", n=96, shortest=72, median=72, longest=72, total=9, views=("z",), scores=("z",))
    scored = [member.name for member in portfolio(with_score, real=True)]
    assert "likelihood of the sum of lock and linear:view=z" in scored
    assert "likelihood of the sum of lock and rbf:view=z" not in scored
    assert not any("mismatch" in name for name in names)
    assert not any("lock" in name for name in (member.name for member in portfolio(traits)))
    unequal = Traits("protein", n=96, shortest=70, median=72, longest=72, total=96 * 72)
    assert [one.name for one in portfolio(unequal, real=True)] == [one.name for one in portfolio(unequal)]
