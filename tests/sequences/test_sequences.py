"""Encoding, views, tracks, digests and state of sequence sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.sequences import sequence_set as sequences
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN, RNA, Alphabet, as_alphabet, guess_alphabet
from seqkern.sequences.fasta import unique_ids
from seqkern.sequences.sequence_set import SequenceSet, as_sequences

dna = st.lists(st.text("ACGTacgt", max_size=12), min_size=1, max_size=8)


def tracked(strings, alphabet="dna"):
    """Return a set with a track of letters (the place in all letters) and one of profiles."""
    X = SequenceSet.from_strings(strings, alphabet)
    n = len(X.codes)
    profile = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    return X.replace(tracks={"letter": np.arange(n, dtype=np.uint8), "profile": profile})


# ---- alphabets -------------------------------------------------------------------------------------------


def test_code_is_place_in_alphabet():
    for alphabet in (DNA, RNA, PROTEIN):
        assert alphabet.encode(alphabet.letters.encode()).tolist() == list(range(alphabet.size))
        assert alphabet.encode(alphabet.letters.lower().encode()).tolist() == list(range(alphabet.size))
        others = bytes(b for b in range(256) if chr(b).upper() not in alphabet.letters)
        assert (alphabet.encode(others) == MASK).all()


def test_complement_is_an_involution():
    for alphabet in (DNA, RNA):
        codes = np.arange(alphabet.size)
        table = alphabet.complement_codes
        assert (table[table[codes]] == codes).all()
        assert table[MASK] == MASK
    with pytest.raises(ParameterError, match="no complement"):
        PROTEIN.complement_codes  # noqa: B018


@pytest.mark.parametrize("letters", ["hec", "AAB", "A", "A B", "ÄB", ""])
def test_bad_alphabets_are_refused(letters):
    with pytest.raises(ParameterError, match="alphabet"):
        as_alphabet(letters)


def test_custom_alphabet():
    assert as_alphabet("HEC") == Alphabet("HEC", "HEC")
    assert SequenceSet.from_strings(["HEEC"], "HEC").codes.tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("strings", "expected"),
    [
        (["ACGT", "gga"], DNA),
        (["ACGU"], RNA),
        (["ACGTN"], DNA),
        (["ACGUNN"], RNA),
        (["ACGT" * 10 + "R-Y"], DNA),
        (["ACGT" * 10 + "E"], DNA),
        (["CCGGA" * 10 + "UX"], RNA),
        (["ACGT" * 10 + "N" * 20 + "RY"], DNA),
        (["MKVLAAGIVG"], PROTEIN),
        (["MKVLAAGIVGLLLLLLLLLLX*"], PROTEIN),
        (["RNDK"], PROTEIN),
        ([], DNA),
    ],
)
def test_guess(strings, expected):
    assert guess_alphabet(strings) == expected


def test_guess_gives_up():
    with pytest.raises(SequenceError, match=r"'BJOUXZ' match none of the alphabets"):
        guess_alphabet(["BJOUXZ", "AC"])


# ---- encoding --------------------------------------------------------------------------------------------


@given(dna)
def test_strings_come_back_folded(strings):
    X = SequenceSet.from_strings(strings, "dna")
    assert X.strings() == [string.upper() for string in strings]
    assert X.lengths.tolist() == [len(string) for string in strings]
    assert X.ids == [str(i + 1) for i in range(len(strings))]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_any_text_is_masked_letter_by_letter(strings):
    X = SequenceSet.from_strings(strings, "dna", unknown="mask_all")
    naive = ["".join(c.upper() if c in "ACGTacgt" else "*" for c in string) for string in strings]
    assert X.strings() == naive


@pytest.mark.parametrize(
    ("letter", "alphabet", "hint"),
    [
        ("*", "protein", "stop codon"),
        ("-", "dna", "gap"),
        ("U", "dna", "the alphabet rna"),
        ("t", "rna", "the alphabet dna"),
        ("N", "dna", "ambiguity code"),
        ("X", "protein", "ambiguity code"),
        ("1", "dna", "correct it"),
    ],
)
def test_letter_outside_is_named(letter, alphabet, hint):
    with pytest.raises(SequenceError) as caught:
        SequenceSet.from_strings(["ACG", "CA" + letter], alphabet, ids=["a", "b"], unknown="error")
    message = str(caught.value)
    assert f"record 'b': letter {letter!r} at position 3" in message
    assert hint in message
    code = hint == "ambiguity code"
    assert f"--unknown {'mask' if code else 'mask_all'}" in message
    assert "skip" in message
    if not code:
        with pytest.raises(SequenceError, match=r"letter .* at position 3"):
            SequenceSet.from_strings(["ACG", "CA" + letter], alphabet)


def test_letter_that_is_not_ascii():
    with pytest.raises(SequenceError, match="letter that is not ASCII at position 2"):
        SequenceSet.from_strings(["Aé"], "dna")


def test_policy_is_checked():
    with pytest.raises(ParameterError, match="unknown='skip'"):
        SequenceSet.from_strings(["A"], "dna", unknown="skip")


def test_as_sequences():
    X = SequenceSet.from_strings(["ACGT"])
    assert as_sequences(X) is X
    assert as_sequences(["ACGT"], "protein").alphabet == PROTEIN
    with pytest.raises(SequenceError, match="alphabet dna, but the kernel has protein"):
        as_sequences(X, "protein")
    for wrong in ("ACGT", [1, 2], [b"ACGT"]):
        with pytest.raises(SequenceError, match="list of str"):
            as_sequences(wrong)


# ---- views -----------------------------------------------------------------------------------------------

bounds = st.one_of(st.none(), st.integers(-15, 15))


@given(dna, st.data())
def test_take_is_indexing(strings, data):
    X = tracked(strings)
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=6))
    taken = X.take(np.array(rows, dtype=np.int64))
    assert taken.strings() == [strings[i].upper() for i in rows]
    assert taken.ids == [X.ids[i] for i in rows]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings))))
    assert X.take(mask).ids == [name for name, keep in zip(X.ids, mask, strict=True) if keep]
    assert X.take(slice(1, None)).strings() == X.strings()[1:]


@given(dna, bounds, bounds)
def test_part_is_slicing(strings, a, b):
    X = tracked(strings)
    part = X.part(a, b)
    assert part.strings() == [string.upper()[a:b] for string in strings]
    expected = np.concatenate([np.arange(X.starts[i], X.stops[i])[a:b] for i in range(len(X))])
    assert part.compact().tracks["letter"].tolist() == expected.tolist()


def test_parts_of_parts():
    X = SequenceSet.from_strings(["ACGTACGT", "AC"])
    assert X.part(2, None).part(None, -1).take([0]).part(1, 3).strings() == ["TA"]


def test_windows_are_slices():
    X = tracked(["ACGTACGT", "GGGTTT"])
    windows = X.windows([0, 1, 0], [2, 3, 6], 2, 1)
    assert windows.strings() == ["ACGT", "GGTT", "ACGT"]
    assert windows.ids == ["1:3", "2:4", "1:7"]
    assert windows.compact().tracks["letter"].tolist() == [0, 1, 2, 3, 9, 10, 11, 12, 4, 5, 6, 7]
    for centre in (1, 7):
        with pytest.raises(SequenceError, match=r"record '1': a window of -2:\+1"):
            X.windows([0], [centre], 2, 1)


def test_views_copy_nothing():
    X = tracked(["ACGTACGT", "GGGTTT"])
    for view in (X.take([1, 0]), X.part(1, -1), X.windows([0], [3], 1, 1), X.replace(ids=["a", "b"])):
        assert np.shares_memory(view.codes, X.codes)
        for name in ("letter", "profile"):
            assert np.shares_memory(view.tracks[name], X.tracks[name])
    compact = X.take([1]).compact()
    assert not np.shares_memory(compact.codes, X.codes)
    assert compact.tracks["profile"].shape == (6, 2)
    assert compact.tracks["profile"].dtype == np.float32


def test_nothing_can_be_written():
    X = tracked(["ACGT"])
    for array in (X.codes, X.starts, X.stops, X.tracks["letter"], X.take([0]).codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_track_of_another_length_is_refused():
    with pytest.raises(SequenceError, match="track 'mask' has 3 positions, but the sequences have 4"):
        SequenceSet.from_strings(["ACGT"]).replace(tracks={"mask": np.zeros(3, np.uint8)})


@given(dna)
def test_reverse_complement(strings):
    naive = [string.upper()[::-1].translate(str.maketrans("ACGT", "TGCA")) for string in strings]
    X = SequenceSet.from_strings(strings, "dna")
    assert X.reverse_complement().strings() == naive
    assert X.take(slice(None, None, -1)).reverse_complement().strings() == naive[::-1]


# ---- digests and state -----------------------------------------------------------------------------------


def test_digest_is_of_content():
    X = tracked(["ACGTACGT", "GGGTTT", "CC"])
    assert X.digest() == tracked(["ACGTACGT", "GGGTTT", "CC"]).digest()
    part = X.take([2, 0]).part(1, -1)
    assert part.digest() == part.compact().digest()
    others = [
        X.take([1, 0, 2]),
        X.take([0, 1]),
        X.replace(ids=["1", "2", "4"]),
        X.replace(tracks={}),
        X.replace(tracks=X.tracks | {"letter": np.zeros(16, np.uint8)}),
        tracked(["ACGTACGA", "GGGTTT", "CC"]),
        tracked(["ACGTACG", "TGGGTTT", "CC"]),
        tracked(["ACGTACGT", "GGGTTT", "CC"], "protein"),
    ]
    digests = {other.digest() for other in others}
    assert len(digests) == len(others)
    assert X.digest() not in digests


@given(dna, st.integers(1, 5))
def test_pieces_do_not_change_digest_or_copy(strings, piece):
    X = tracked(strings).take(slice(None, None, -1)).part(0, 5)
    whole = X.compact()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequences, "PIECE", piece)
        again = X.take(slice(None))
        assert again.digest() == whole.digest()
        assert again.compact().strings() == whole.strings()


def test_state_comes_back(tmp_path):
    X = tracked(["ACGTACGT", "GGGTTT", "CC"]).take([2, 0]).replace(counts={"masked letters": 3})
    path = tmp_path / "set.npz"
    save_archive(path, *X.state())
    back = SequenceSet.from_state(*load_archive(path))
    assert back.digest() == X.digest()
    assert back.counts == X.counts
    assert back.alphabet == X.alphabet
    assert len(back.codes) == 10


# ---- ids -------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["a", "b", "a.2", "a.3", "b.2"]), max_size=12))
def test_suffixes_make_ids_unique_and_keep_the_first(names):
    unique, repeats = unique_ids(names, "suffix")
    assert len(set(unique)) == len(names)
    assert repeats == len(names) - len(set(names))
    for name in set(names):
        assert unique[names.index(name)] == name


def test_repeated_ids():
    assert unique_ids(["a", "b"], "header") == (["a", "b"], 0)
    assert unique_ids(["a", "b", "a"], "number") == (["1", "2", "3"], 1)
    assert unique_ids(["a", "a", "a.2", "a"], "suffix") == (["a", "a.3", "a.2", "a.4"], 2)
    with pytest.raises(SequenceError, match=r"f\.fa: record 'a': duplicate id .*--ids number"):
        unique_ids(["a", "b", "a"], "header", file="f.fa")
    with pytest.raises(ParameterError, match="ids='numbers'"):
        unique_ids(["a"], "numbers")
