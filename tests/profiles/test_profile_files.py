"""Profiles from files: PSI-BLAST's ASCII PSSMs, HMMER files, folders, archives, and what is wrong with them."""

import gzip
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from seqkern.core.errors import FileError, SequenceError
from seqkern.formats.profile_sources import ProfileFiles
from seqkern.formats.profiles import BACKGROUND, SCALE, Profile, add_profiles, check_tracks, from_scores, to_scores
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

ORDER = "ARNDCQEGHILKMFPSTWYV"
DATA = os.environ.get("SEQKERN_DATA")


def scores_of(letters, seed=0):
    """Return int (length, 20): scores in PSI-BLAST's order of the letters, high for the own letter."""
    rng = np.random.default_rng(seed + len(letters))
    scores = rng.integers(-6, 3, size=(len(letters), 20))
    for row, letter in zip(scores, letters, strict=True):
        if letter in ORDER:
            row[ORDER.index(letter)] = 7
    return scores


def pssm_text(letters, scores=None, percentages=True):
    """Return the text of a PSSM as psiblast writes it."""
    scores = scores_of(letters) if scores is None else scores
    lines = [
        "",
        "Last position-specific scoring matrix computed, weighted observed percentages rounded down, information",
        "           " + "  ".join(ORDER) + ("   " + "   ".join(ORDER) if percentages else ""),
    ]
    for i, (letter, row) in enumerate(zip(letters, scores, strict=True), start=1):
        line = f"{i:5d} {letter}  " + "".join(f"{score:3d}" for score in row)
        lines.append(line + ("".join(f"{0:4d}" for _ in row) + "  0.50 0.30" if percentages else ""))
    return "\n".join([*lines, "", "                      K         Lambda", "PSI Ungapped         0.13     0.3176", ""])


def with_score(text, score):
    """Return the text of a PSSM with another last score at position 5."""
    lines = text.split("\n")
    lines[7] = f"{lines[7][:66]} {score} {lines[7][69:]}"
    return "\n".join(lines)


def sequences(strings=("MKVLAAGW", "ARNDCQEGH"), ids=("one", "two")):
    return SequenceSet.from_strings(list(strings), "protein", list(ids), unknown="mask_all")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "profiles"
    place.mkdir()
    for name, letters in (("one.pssm", "MKVLAAGW"), ("two.x", "ARNDCQEGH")):
        (place / name).write_text(pssm_text(letters))
    return place


def test_columns_are_in_the_order_of_the_alphabet(folder):
    X = ProfileFiles(folder).add_to(sequences())
    expected = scores_of("MKVLAAGW")[:, [ORDER.index(letter) for letter in PROTEIN.letters]]
    np.testing.assert_array_equal(X.tracks["pssm"][:8], expected)
    assert X.tracks["pssm"].dtype == X.tracks["profile"].dtype == np.float32
    np.testing.assert_allclose(X.tracks["profile"].sum(axis=1), 1, rtol=1e-6)
    weights = BACKGROUND * np.exp(SCALE * expected)
    np.testing.assert_allclose(X.tracks["profile"][:8], weights / weights.sum(axis=1, keepdims=True), rtol=1e-5)
    check_tracks(X, ("pssm", "profile"))


def test_scores_and_probabilities_are_each_others_inverse():
    shares = np.random.default_rng(0).dirichlet(np.ones(20), size=50)
    np.testing.assert_allclose(from_scores(to_scores(shares)), shares, rtol=1e-4)
    assert (from_scores(np.full((1, 20), [-1000.0] * 19 + [0.0])) > 0).all()


def test_scores_that_run_together_are_read(tmp_path):
    scores = scores_of("MKV")
    scores[1], scores[2] = -10, -12
    (tmp_path / "x.pssm").write_text(pssm_text("MKV", scores))
    assert "-10-10" in (tmp_path / "x.pssm").read_text()
    found = ProfileFiles(tmp_path).add_to(sequences(["MKV"], ["x"])).tracks["pssm"]
    np.testing.assert_array_equal(found[1:], [[-10] * 20, [-12] * 20])


def test_text_without_percentages_is_read(tmp_path):
    (tmp_path / "one.pssm").write_text(pssm_text("MKVLAAGW", percentages=False))
    X = ProfileFiles(tmp_path / "one.pssm").add_to(sequences(["MKVLAAGW"], ["other"]))
    assert X.tracks["pssm"].shape == (8, 20)


def test_scores_up_to_the_largest_are_read(folder):
    path = folder / "one.pssm"
    path.write_text(with_score(path.read_text(), "-10000"))
    assert ProfileFiles(folder).add_to(sequences()).tracks["pssm"][4, PROTEIN.letters.index("V")] == -10000


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_an_archive_is_read_in_place(folder, tmp_path, mode):
    archive = tmp_path / "profiles.archive"
    with tarfile.open(archive, mode) as tar:
        tar.add(folder, "../../deep")
    before = sorted(tmp_path.rglob("*"))
    X = ProfileFiles(archive).add_to(sequences())
    np.testing.assert_array_equal(X.tracks["pssm"], ProfileFiles(folder).add_to(sequences()).tracks["pssm"])
    assert sorted(tmp_path.rglob("*")) == before
    archive.write_bytes(archive.read_bytes()[:-600] if mode == "w:gz" else archive.read_bytes()[:-60])
    if mode != "w":
        with pytest.raises(FileError, match=r"profiles\.archive"):
            ProfileFiles(archive)


def test_records_are_found_by_id_or_by_letters(folder):
    X = ProfileFiles(folder).add_to(sequences(ids=("../../etc/passwd", "two.x")))
    np.testing.assert_array_equal(X.tracks["pssm"], ProfileFiles(folder).add_to(sequences()).tracks["pssm"])


def test_masked_letters_agree_with_any(tmp_path):
    (tmp_path / "one.pssm").write_text(pssm_text("MKXLBZGW"))
    X = ProfileFiles(tmp_path).add_to(sequences(["MKVLAAGX"], ["one"]))
    assert X.tracks["pssm"].shape == (8, 20)
    # By letters alone they are masked in both.
    again = ProfileFiles(tmp_path).add_to(sequences(["MKBLXXGW"], ["other"]))
    np.testing.assert_array_equal(again.tracks["pssm"], X.tracks["pssm"])


def test_a_folder_is_read_as_far_as_needed(folder):
    (folder / "zzz.txt").write_text("something else")
    ProfileFiles(folder).add_to(sequences())
    with pytest.raises(FileError, match=r"zzz\.txt: is neither an ASCII PSSM from PSI-BLAST nor"):
        ProfileFiles(folder).add_to(sequences(ids=("one", "other")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("Last position", "First position"), "one.pssm: is neither an ASCII PSSM"),
        (lambda text: text.replace("A  R  N", "A  A  N"), "line 3 does not list the 20 amino acids"),
        (lambda text: text.replace("    5 A", "    6 A"), "line 8 is not position 5"),
        (lambda text: text.replace("    5 A", "    5 A x"), "line 8 is not position 5"),
        (lambda text: text.replace("    5 A", "    " + "5" * 5000 + " A"), "line 8 is not position 5"),
        (lambda text: with_score(text, "9" * 5000), "line 8 has a score beyond ±10000; create it with psiblast"),
        (lambda text: with_score(text, "-" + "9" * 400), "line 8 has a score beyond ±10000"),
        (lambda text: with_score(text, "9" * 50), "line 8 has a score beyond ±10000"),
        (lambda text: with_score(text, "-10001"), "line 8 has a score beyond ±10000"),
        (lambda text: with_score(text, "1_0"), "line 8 is not position 5 with a letter and 20 scores"),
        (lambda text: with_score(text, "9" * 5000 + "x"), "line 8 is not position 5 with a letter and 20 scores"),
        (lambda text: "\n".join(text.split("\n")[:3]), "has no positions"),
        (lambda text: "\n".join(text.split("\n")[:9]), "the profile has 6 positions, but the sequence has length 8"),
        (
            lambda text: text.replace("    3 V", "    3 L"),
            "record 'one': at position 3 the profile has L, but the sequ",
        ),
        (lambda text: "", "is empty|is neither"),
        (lambda text: "\0\0\0", "binary"),
    ],
)
def test_what_is_wrong_is_named(folder, change, message):
    path = folder / "one.pssm"
    path.write_text(change(path.read_text()))
    with pytest.raises((FileError, SequenceError), match=message) as error:
        ProfileFiles(folder).add_to(sequences())
    assert "one.pssm" in str(error.value)
    assert error.value.remedy


def test_a_record_without_profile_is_named(folder):
    with pytest.raises(SequenceError, match="record 'three': has no profile: none of 2 matches its id"):
        ProfileFiles(folder).add_to(sequences(["MKVLAAGW", "WWWW"], ["one", "three"]))
    with pytest.raises(SequenceError, match="profiles need proteins, but these are dna"):
        ProfileFiles(folder).add_to(SequenceSet.from_strings(["ACGT"], "dna"))
    (folder / "empty").mkdir()
    with pytest.raises(FileError, match="contains no profiles"):
        ProfileFiles(folder / "empty")
    with pytest.raises(FileError, match="no such file"):
        ProfileFiles(folder / "missing")
    with pytest.raises(FileError, match=r"one\.pssm: is not a HMMER file"):
        ProfileFiles(folder, "hmmer").add_to(sequences())


def test_hmmer_files(tmp_path):
    from pyhmmer.easel import Alphabet, TextSequence
    from pyhmmer.plan7 import Background, Builder

    alphabet = Alphabet.amino()
    with (tmp_path / "two.hmm").open("wb") as file:
        for name, letters in (("one", "MKVLAAGW"), ("two", "ARNDCQEGH")):
            query = TextSequence(name=name, sequence=letters).digitize(alphabet)
            hmm, _, _ = Builder(alphabet).build(query, Background(alphabet))
            hmm.write(file)
    X = ProfileFiles(tmp_path / "two.hmm").add_to(sequences())
    np.testing.assert_allclose(X.tracks["profile"].sum(axis=1), 1, rtol=1e-5)
    assert (X.tracks["profile"][np.arange(17), X.codes] > BACKGROUND[X.codes]).all()
    check_tracks(X, ("pssm", "profile"))
    with pytest.raises(SequenceError, match="the profile has 9 positions, but the sequence has length 4"):
        ProfileFiles(tmp_path / "two.hmm").add_to(sequences(["MKVL"], ["two"]))
    text = (tmp_path / "two.hmm").read_text()
    second = text.rindex("HMMER3/")
    for place in (3000, second + 3, second + 20, text.index("\nALPH", second) + 1, len(text) - 3):
        for pack in (bytes, gzip.compress):
            (tmp_path / "two.hmm").write_bytes(pack(text[:place].encode()))
            with pytest.raises(FileError, match=r"two\.hmm: record 'HMM [12]': "):
                ProfileFiles(tmp_path / "two.hmm")
    dna = Alphabet.dna()
    hmm, _, _ = Builder(dna).build(TextSequence(name="d", sequence="ACGTACGT").digitize(dna), Background(dna))
    with (tmp_path / "dna.hmm").open("wb") as file:
        hmm.write(file)
    with pytest.raises(FileError, match=r"dna\.hmm: the HMM 'd' is for DNA, not for proteins"):
        ProfileFiles(tmp_path / "dna.hmm")


def test_profiles_are_checked():
    X = sequences(["MKV"], ["one"])
    rows = np.full((3, 20), 0.05, np.float32)
    assert add_profiles(X, [Profile("MKV", rows, rows)]).tracks["profile"].shape == (3, 20)
    with pytest.raises(SequenceError, match="the pssm has 3 rows, but the sequence has length 2"):
        Profile("MK", rows, rows)
    with pytest.raises(SequenceError, match="the profile has 4 columns, but the alphabet protein has 20 letters"):
        add_profiles(X, [Profile("MKV", rows, rows[:, :4])])
    for value in (0.0, np.nan, 0.5):
        odd = rows.copy()
        odd[1, 3] = value
        with pytest.raises(SequenceError, match="record 'one': row 2 of the track 'profile' is not prob"):
            check_tracks(X.replace(tracks={"profile": odd}), ("profile",))


@pytest.mark.skipif(not DATA, reason="SEQKERN_DATA is not set")
def test_a_real_pssm(tmp_path):
    source = Path(DATA) / "jpred4" / "training_1348_psiblast_profile.tar.xz"
    with tarfile.open(source) as archive:
        member = archive.next()
        text = archive.extractfile(member).read().decode()
    path = tmp_path / member.name
    path.write_text(text)
    letters = "".join(line.split()[1] for line in text.split("\n")[3:] if line[:5].strip().isdecimal())
    X = ProfileFiles(path).add_to(sequences([letters], [member.name.removesuffix(".profile")]))
    sums = (BACKGROUND * np.exp(SCALE * X.tracks["pssm"])).sum(axis=1)
    assert abs(sums.mean() - 1) < 0.02
