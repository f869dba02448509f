"""Samples with several sequences, joined: the same as the sequences kept apart, whatever is done to the set."""

import numpy as np
import pytest

from seqkern import SequenceSet
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.evaluation.leakage import find_links
from seqkern.gram.tiles import record_digests
from seqkern.sequences import find_similar
from seqkern.sequences.alphabets import DNA, PROTEIN, recoding, union_alphabet
from seqkern.sequences.joining import compared, join_views, similar_by, stretches
from seqkern.sequences.sequence_set import sequence_views, vector_views
from seqkern.sequences.views import Segments

HEAVY, LIGHT = ["QVQL", "", "EVQ", "WWW"], ["DIQ", "SYVL", "", "DI"]


def pair(**kwargs):
    """Return samples with two sequences, some of them empty."""
    return join_views({"heavy": HEAVY, "light": LIGHT}, "protein", **kwargs)


def apart(X):
    """Return the sequences of each view."""
    return {name: X.view(name).strings() for name in sequence_views(X)}


def test_a_record_is_its_sequences_with_a_mask_between():
    X = pair(ids=["a", "b", "c", "d"])
    assert X.strings() == [f"{heavy}*{light}" for heavy, light in zip(HEAVY, LIGHT, strict=True)]
    assert apart(X) == {"heavy": HEAVY, "light": LIGHT}
    assert X.view("heavy").ids == ["a", "b", "c", "d"]
    assert X.view("heavy").codes is X.codes or np.shares_memory(X.view("heavy").codes, X.codes)
    assert [one.name for one in stretches(X, 1)] == ["light"]


@pytest.mark.parametrize(
    ("change", "heavy", "light"),
    [
        (lambda X: X.take([3, 0]), ["WWW", "QVQL"], ["DI", "DIQ"]),
        (lambda X: X[1:], HEAVY[1:], LIGHT[1:]),
        (lambda X: X.replace(ids=list("wxyz")), HEAVY, LIGHT),
        (lambda X: X.take([3, 0, 3]).compact(), ["WWW", "QVQL", "WWW"], ["DI", "DIQ", "DI"]),
        (lambda X: X.take([3, 0, 3]).packed(), ["WWW", "QVQL", "WWW"], ["DI", "DIQ", "DI"]),
        (lambda X: X.part(1, -1), ["VQL", "", "VQ", "WW"], ["DI", "SYV", "", "D"]),
        (lambda X: X.part(5, None), ["", "", "", ""], ["DIQ", "", "", "I"]),
        (lambda X: X.windows([0, 0, 3], [3, 5, 3], 1, 1), ["QL", "", "W"], ["", "DI", "D"]),
        (lambda X: SequenceSet.from_state(*X.state()), HEAVY, LIGHT),
        (lambda X: SequenceSet.from_state(*X.take([0, 3, 0]).part(2, None).state()), ["QL", "W", "QL"], ["DIQ", "DI"]),
    ],
)
def test_whatever_is_done_to_a_set_its_views_follow(change, heavy, light):
    X = change(pair())
    light = light + light[:1] if len(light) < len(heavy) else light
    assert apart(X) == {"heavy": heavy, "light": light}


def test_reverse_complements_are_those_of_each_sequence():
    X = join_views({"left": ["ACC", "G", ""], "right": ["TT", "", "GA"]}, "dna")
    turned = X.reverse_complement()
    for name in ("left", "right"):
        assert turned.view(name).strings() == X.view(name).reverse_complement().strings()


def test_a_view_may_have_an_alphabet_of_its_own():
    X = join_views({"factor": ["MKV", "GG"], "site": SequenceSet.from_strings(["ACGT", "NA"], "dna")})
    assert (X.alphabet, X.view("site").alphabet, X.view("factor").alphabet) == (PROTEIN, DNA, PROTEIN)
    assert X.strings() == ["MKV*ACGT", "GG**A"]
    assert X.take([1]).view("site").strings() == ["*A"]
    assert SequenceSet.from_state(*X.state()).view("site").strings() == ["ACGT", "*A"]
    assert union_alphabet([DNA, PROTEIN]) == PROTEIN
    codes = np.arange(DNA.size)
    np.testing.assert_array_equal(recoding(PROTEIN, DNA)[recoding(DNA, PROTEIN)[codes]], codes)


def test_tracks_and_vectors_go_with_a_view():
    X = pair().replace(tracks={"where": np.arange(len(pair().codes), dtype=np.uint8)})
    X = X.replace(views={**X.views, "esm": [[0.5], [1], [2], [3]]})
    light = X.take([3]).view("light")
    assert light.tracks["where"][light.positions()].tolist() == np.arange(len(X.codes))[-2:].tolist()
    assert light.views["esm"].rows().tolist() == [[3.0]]
    assert list(vector_views(X)) == ["esm"]


def test_digests_depend_on_views_and_are_as_before_without():
    X, plain = pair(), SequenceSet.from_strings(["MKV", "GKVL"], "protein", ids=["a", "b"])
    assert plain.digest() == "e3171a7f120ed4ce9a03266e3d36fbce"
    assert plain.replace(views={"esm": [[0.5, 1], [2, 0]]}).digest() == "589f679aa3fceef7184bdf5290937679"
    bounds = X.views["heavy"].bounds
    shorter = Segments(bounds - [0, 1] * (bounds[:, 1:] > 0), PROTEIN)
    others = [X.replace(views={}), X.replace(views={**X.views, "heavy": shorter})]
    assert len({one.digest() for one in (X, *others)}) == 3
    assert len({record_digests(one) for one in (X, *others)}) == 3
    assert X.take([2, 1]).digest() == X.take([2, 1]).compact().digest()


def test_similar_samples_may_be_found_by_some_of_their_sequences():
    chain, other = "CASSRGQDPEYFWWHKLM", "MKVLAAGIVGLPNVGKST"
    X = join_views({"a": [chain, chain, other, ""], "b": [other, "ACDEF", "GHIKL", chain]}, "protein")
    assert compared(X) is X
    by_a, by_b = similar_by(X, ["a"]), similar_by(X, ["b"])
    assert compared(by_a).strings() == [chain, chain, other, f"*{chain}"]
    assert compared(similar_by(X, ["a", "b"])).strings() == X.strings()
    assert find_similar(by_a).identical.tolist() == [0, 0, 1, 2]
    assert len(set(find_similar(by_b).identical.tolist())) == 4
    again = SequenceSet.from_state(*by_b.take([2, 0]).compact().state())
    assert compared(again).strings() == ["GHIKL", other]
    assert find_links(again).identical.tolist() == [0, 1]
    with pytest.raises(ParameterError, match="unknown sequence view 'c'"):
        similar_by(X, ["c"])


@pytest.mark.parametrize(
    "bounds",
    [
        np.array([[0, 4], [0, 0], [0, 3], [0, 9]]),
        np.array([[-1, 4], [0, 0], [0, 3], [0, 3]]),
        np.array([[3, 2], [0, 0], [0, 3], [0, 3]]),
        np.array([[0, 4], [0, 0], [0, 3]]),
        np.array([[0, 4], [0, 0], [0, 3], [0, 3]], dtype=np.int32),
        np.zeros((4, 3), dtype=np.int64),
    ],
)
def test_places_outside_the_records_are_refused(bounds):
    header, arrays = pair().state()
    with pytest.raises(SequenceError, match=r"leaves its record|vectors, but there are"):
        SequenceSet.from_state(header, {**arrays, "view/heavy": bounds})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "no sequences to join"),
        ({"a": ["ACD"], "b": ["ACD", "EF"]}, "'b' has 2 sequences, 'a' has 1"),
        ({"a": ["ACD", ""], "b": ["ACD", ""]}, "no sequence in any view"),
        (
            {
                "a": SequenceSet.from_strings(["ACD"], "protein", ids=["x"]),
                "b": SequenceSet.from_strings(["ACD"], "protein", ids=["y"]),
            },
            "is 'y' in the view 'b', 'x' in 'a'",
        ),
    ],
)
def test_sets_that_do_not_match_are_refused(given, problem):
    with pytest.raises(SequenceError, match=problem):
        join_views(given)


def test_names_are_checked_and_the_nearest_is_suggested():
    with pytest.raises(ParameterError, match="view"):
        join_views({"a/b": ["ACD"]})
    with pytest.raises(SequenceError, match="did you mean 'heavy'"):
        pair().view("heavyy")
    with pytest.raises(SequenceError, match="single sequences"):
        SequenceSet.from_strings(["ACD"], "protein").view("heavy")
    vectors = pair().replace(views={"esm": [[0.0]] * 4})
    with pytest.raises(SequenceError, match="holds vectors"):
        vectors.view("esm")
