"""Residues as units: where they stand, their windows, states as text, reductions."""

import io

import numpy as np
import pytest

from seqkern.core.errors import ConfigError, ParameterError, SequenceError
from seqkern.formats import STATES, Residues, residue_samples
from seqkern.formats.profiles import _in_columns, _in_fields
from seqkern.formats.states import (
    LEFT_OUT,
    REDUCTIONS,
    add_states,
    read_letters_and_states,
    reduce_states,
    state_classes,
    with_states,
)
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

CHAINS = ["MKVLAWGG", "A", "ACD", "WYWYWYWYWYWY"]
TEXTS = ["CHHHHECC", "C", "EEC", "CCCHHHHHH?EE"]


def chains(strings=CHAINS, texts=TEXTS, **tracks):
    X = SequenceSet.from_strings(strings, "protein", [f"c{i}" for i in range(len(strings))], unknown="mask_all")
    return with_states(X.replace(tracks=tracks), texts)


def test_windows_reach_beyond_both_ends_of_chains_shorter_than_they_are():
    X, residues = residue_samples(chains(), 7)
    assert len(X) == len(residues) == sum(map(len, CHAINS))
    expected = [("***" + chain + "***")[i : i + 7] for chain in CHAINS for i in range(len(chain))]
    assert X.strings() == expected
    assert X.strings()[8] == "***A***"
    assert X.ids[8:10] == ["c1:1", "c2:1"]
    assert STATES not in X.tracks
    assert residues.chains.strings() == CHAINS
    assert bytes(residues.states()).replace(b"\0", b"?").decode() == "".join(TEXTS)


def test_profiles_of_windows_are_zero_beyond_the_ends():
    track = np.random.default_rng(1).random((sum(map(len, CHAINS)), 20)).astype(np.float32)
    X, residues = residue_samples(chains(pssm=track), 5)
    assert set(residues.chains.tracks) == {STATES}
    for i in range(len(X)):
        codes, rows = X.codes[X.starts[i] : X.stops[i]], X.tracks["pssm"][X.starts[i] : X.stops[i]]
        assert np.all(rows[codes == MASK] == 0)
        assert np.array_equal(rows[2], track[i])


@pytest.mark.parametrize("window", [0, 2, 14, 7.0])
def test_a_window_that_has_no_middle_is_refused(window):
    with pytest.raises(ParameterError, match="window="):
        residue_samples(chains(), window)


def test_an_even_window_is_told_the_next_odd_ones():
    with pytest.raises(ParameterError, match="window=14 is even, so it has no middle residue; use 13 or 15"):
        residue_samples(chains(), 14)


@pytest.mark.parametrize("rows", [slice(None), [0, 7, 8, 23, 22, 3], slice(4, 20, 3), []])
def test_neighbours_and_termini_equal_their_definitions(rows):
    residues = Residues.of_chains(chains(), 3).take(rows)
    places = list(zip(residues.record.tolist(), residues.place.tolist(), strict=True))
    lengths = [len(chain) for chain in CHAINS]
    assert residues.to_terminus().tolist() == [min(p, lengths[r] - 1 - p) for r, p in places]
    for half in (0, 1, 4):
        expected = [
            [places.index((r, p + d)) if (r, p + d) in places else -1 for d in range(-half, half + 1)]
            for r, p in places
        ]
        assert residues.neighbours(half).tolist() == expected
    found = {chain: [places[row] for row in own] for chain, own in residues.chain_rows()}
    assert found == {r: sorted(place for place in places if place[0] == r) for r in sorted({r for r, _ in places})}


def test_residues_come_back_from_their_state_and_damage_is_found():
    residues = Residues.of_chains(chains(), 3).take([5, 1, 20])
    header, arrays = residues.state()
    again = Residues.from_state(header, arrays)
    assert np.array_equal(again.states(), residues.states())
    assert np.array_equal(again.place, residues.place)
    assert again.chains.digest() == residues.chains.digest()
    for place in ([5, 1, 12], [5, -1, 2], [5, 1]):
        with pytest.raises(SequenceError):
            Residues.from_state(header, arrays | {"place": np.array(place)})


def test_windows_that_overlap_are_kept_once_and_come_back():
    track = np.random.default_rng(2).random((sum(map(len, CHAINS)), 20)).astype(np.float32)
    X, _ = residue_samples(chains(pssm=track), 7)
    for rows in (slice(None), slice(3, 20, 4), [5, 5, 2], []):
        part = X.take(rows)
        header, arrays = part.state()
        assert len(arrays["codes"]) <= len(X.codes)
        again = SequenceSet.from_state(header, arrays)
        assert again.strings() == part.strings()
        assert again.digest() == part.digest() == part.compact().digest()
    header, arrays = X.state()
    for damage in (
        {"stops": arrays["stops"] + 1000},
        {"starts": arrays["starts"] - 1},
        {"starts": arrays["starts"][1:]},
    ):
        with pytest.raises(SequenceError, match="corrupted"):
            SequenceSet.from_state(header, arrays | damage)


def naive_reduction(text, name):
    """Return a text of states reduced letter by letter, then run by run."""
    item = REDUCTIONS[name]
    letters = ["H" if s in item.helix else "E" if s in item.strand else "?" if s == "?" else "C" for s in text]
    i = 0
    while i < len(letters):
        j = i
        while j < len(letters) and letters[j] == letters[i]:
            j += 1
        if letters[i] in "HE" and j - i < item.shortest["HE".index(letters[i])]:
            letters[i:j] = "C" * (j - i)
        i = j
    return "".join(letters)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_equal_their_definitions(name):
    rng = np.random.default_rng(3)
    texts = ["".join(np.repeat(rng.choice(list("HBEGITSPC?"), 12), rng.integers(1, 7, 12))) for _ in range(6)]
    texts += ["HHHH", "HHHHH", "EE", "EEE", "B", "G"]
    X = with_states(SequenceSet.from_strings(["A" * len(text) for text in texts], "protein"), texts)
    reduced = reduce_states(X.tracks[STATES], X.stops, name)
    found = bytes(reduced).replace(b"\0", b"?").decode()
    assert found == "".join(naive_reduction(text, name) for text in texts)
    assert REDUCTIONS[name].source


def test_a_reduction_of_three_states_is_refused():
    X = chains()
    with pytest.raises(ConfigError, match="nothing to reduce: the states are H, E and C already; remove reduction"):
        reduce_states(X.tracks[STATES], X.stops, "HGI_EB")
    with pytest.raises(ParameterError, match="unknown reduction of states 'HGI_BE'; did you mean 'HGI_E'"):
        reduce_states(X.tracks[STATES], X.stops, "HGI_BE")
    same = reduce_states(X.tracks[STATES], X.stops, "HGI_EB", needed=False)
    np.testing.assert_array_equal(same, X.tracks[STATES])


def test_classes_are_helix_strand_coil_then_the_others():
    X = with_states(SequenceSet.from_strings(["AAAAAAAAAA"], "protein"), ["-STHGEBI?L"])
    assert state_classes(X.tracks[STATES]) == list("HECGIBTS")


FORMS = {
    "closed by stars": ">c0\nMKVL\nAWGG*\nCHHH\nHECC*\n>c1\nA*\nC*\n>c2\nACD*\nEEC*\n"
    ">c3\nWYWYWYWYWYWY*\nCCCHHHHHH?EE*\n",
    "states": ">c0 x\nCHHH\nHECC\n>c1\n-\n>c3\ncccHHHHHH?EE\n>c2\nEE_\n",
    "two lines": ">c0\nMKVLAWGG\nCHHHHECC\n>c1\nA\nL\n>c2 fold=1\nACD\nEE.\n>c3\nWYWYWYWYWYWY\nCCCHHHHHH?EE\n",
    "broken lines": ">c0\nMKVL\nAWGG\nCHHH\nHECC\n>c1\nA\nC\n>c2\nacd\nEEC\n>c3\nWYWYWYWY\nWYWY\nCCCHHHHH\nH?EE\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_states_are_read_in_every_form(form):
    X = add_states(chains().replace(tracks={}), io.StringIO(FORMS[form]))
    assert np.array_equal(X.tracks[STATES], chains().tracks[STATES])
    if form != "states":
        reading = read_letters_and_states(io.StringIO(FORMS[form]), alphabet="protein")
        assert reading.sequences.strings() == CHAINS
        assert np.array_equal(reading.sequences.tracks[STATES], chains().tracks[STATES])
        assert len(reading.headers) == 4


WRONG = [
    (
        "c2\nEEC\n",
        "c2\nEECC\n",
        "record 'c2': has 4 states, but its sequence has length 3; give one state for each residue",
    ),
    ("c2\nEEC\n", "c2\nEE\n", "record 'c2': has 2 states, but its sequence has length 3"),
    ("c2\nEEC\n", "c2\nACD\nEE\n", "record 'c2': has 3 residues and 2 states"),
    ("c2\nEEC\n", "c2\nACE\nEEC\n", "record 'c2': residue 'E' at position 3 is 'D' in the sequence"),
    ("c2\nEEC\n", "c2\nEXC\n", "record 'c2': unknown state 'X' at position 2; use H, E and C, or DSSP's"),
    (">c2\nEEC\n", "", "record 'c2': has no states; add its states"),
    ("c2\n", "d2\n", "record 'd2': has states but no sequence .3 of the 4 ids in this file are among the 4 sequences."),
    (">c2\nEEC\n", ">c2\nEEC\n>c2\nEEC\n", "record 'c2': has states twice; remove one"),
]


@pytest.mark.parametrize(("good", "bad", "message"), WRONG)
def test_states_that_do_not_fit_name_file_record_and_remedy(tmp_path, good, bad, message):
    file = tmp_path / "chains.ss"
    text = "".join(f">c{i}\n{states}\n" for i, states in enumerate(TEXTS))
    assert good in text
    file.write_text(text.replace(good, bad))
    with pytest.raises(SequenceError, match=message) as caught:
        add_states(chains().replace(tracks={}), file)
    assert str(caught.value).startswith(str(file))
    assert caught.value.remedy


def test_states_of_other_chains_are_left_out_and_counted():
    X = chains().replace(tracks={})
    text = "".join(f">c{i}\n{states}\n" for i, states in enumerate(TEXTS)) + ">c8\nHH\n>c9\nEE\n"
    with_others = add_states(X, io.StringIO(text), left_out=["c9"])
    assert np.array_equal(with_others.tracks[STATES], chains().tracks[STATES])
    assert with_others.counts == {LEFT_OUT: 1}


def test_sequences_in_place_of_states_are_noticed():
    with pytest.raises(SequenceError, match=r"unknown state 'K' at position 2; .*this looks like a file of sequences"):
        with_states(SequenceSet.from_strings(["AAAAAA"], "protein"), ["EKVLAW"])


def test_letters_and_states_of_different_length_are_refused():
    for text, message in (
        (">a\nMKV\nHH\n", "has 3 residues and 2 states"),
        (">a\nMKV\nHH\nH\nC\n", "its 7 characters"),
    ):
        with pytest.raises(SequenceError, match=message):
            read_letters_and_states(io.StringIO(text), alphabet="protein")


def test_other_states_are_named_as_classes():
    X = SequenceSet.from_strings(["MKV"], "protein")
    assert bytes(with_states(X, ["XbL"], classes=["X", "b", "L"]).tracks[STATES]) == b"XbL"


def test_policies_leave_out_states_with_their_sequences():
    text = ">a fold=1\nMKV\nHHH\n>b fold=2\nMXV\nEEE\n>c fold=3\nAAA\nCCC\n"
    reading = read_letters_and_states(io.StringIO(text), alphabet="protein", unknown="skip")
    assert reading.headers == ["a fold=1", "c fold=3"]
    assert bytes(reading.sequences.tracks[STATES]) == b"HHHCCC"


@pytest.mark.parametrize("low", [-9, -99, -120])
def test_scores_by_columns_equal_those_by_fields(low):
    rng = np.random.default_rng(4)
    scores = rng.integers(low, 13, size=(123, 20))
    letters = rng.choice(list("ACDEFGHIKLMNPQRSTVWYX"), 123)
    lines = [
        f"{i:5d} {letter}  " + "".join(f"{score:3d}" for score in row) + ("  1" * 3 if i % 2 else "")
        for i, (letter, row) in enumerate(zip(letters, scores, strict=True), start=1)
    ]
    found = _in_columns([*lines, "", "end"], 0)
    if low == -120:
        assert found is None  # three digits may be two numbers
        return
    assert found[0] == "".join(letters)
    assert np.array_equal(found[1], scores)
    if low == -9:
        by_field = _in_fields([*lines, "", "end"], 0)
        assert by_field[0] == found[0]
        assert np.array_equal(by_field[1], scores)
    for damage in (("    7", "    8"), ("  -", " - "), (lines[9], lines[9][:60]), (lines[9], "x" + lines[9][1:])):
        assert _in_columns("\n".join(lines).replace(*damage, 1).split("\n"), 0) is None
