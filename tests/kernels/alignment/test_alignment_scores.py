"""Scores of alignments: substitution matrices by name, from files or one's own, gap costs, and units."""

import pickle

import numpy as np
import pytest
from naive import encode

from seqkern.core import public_files as public
from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.text_files import file_sha256
from seqkern.kernels import SmithWatermanKernel, build_kernel, kernel_from_state
from seqkern.kernels.alignment.smith_waterman import IntegerScores
from seqkern.kernels.kernel import files
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA, as_alphabet

# ---- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gap_open": 1, "gap_extend": 2}, "gap_extend=2 is more than gap_open=1"),
        ({"gap_open": -1, "gap_extend": -2}, "gap_open=-1"),
        ({"gap_extend": -1}, "gap_extend=-1"),
        ({"gap_open": 1e300}, "scores or gap costs"),
        ({"gap_open": 1 / 3, "gap_extend": 0}, "decimal places; round them"),
        ({"matrix": "BLOSUM63"}, "neither a file nor a matrix of Biopython"),
        ({"matrix": "/somewhere/blosum63"}, r"or choose a matrix, such as BLOSUM\d\d(, BLOSUM\d\d){3}$"),
        ({"matrix": "/nope"}, "or choose a matrix, such as BLOSUM62, NUC.4.4$"),
        ({"matrix": "SCHNEIDER"}, "codons"),
        ({"matrix": "NUC.4.4"}, "no scores for the letter E of the alphabet protein"),
        ({"matrix": [[1, 2], [2, 1]]}, "20 rows of 20 scores"),
        ({"matrix": [1, [2]]}, "20 rows of 20 scores"),
        ({"matrix": (np.eye(20) + np.eye(20, k=1)).tolist()}, "not symmetric"),
        ({"matrix": (np.eye(20) * np.nan).tolist()}, "not finite"),
        ({"matrix": "GONNET1992", "algorithm": "int8"}, "choose algorithm=auto or algorithm=int16"),
        ({"algorithm": "int64"}, "algorithm='int64'"),
    ],
)
def test_parameters_out_of_their_domain(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SmithWatermanKernel(alphabet="protein", **parameters)(["ACD", "WCD"])


@pytest.mark.parametrize("alphabet", ["dna", "rna", "ACGTN"])
def test_a_protein_matrix_for_bases_is_refused(alphabet):
    with pytest.raises(ParameterError, match=r"is a protein matrix, .*choose a matrix for DNA: matrix=NUC\.4\.4"):
        SmithWatermanKernel()(encode(["ACG", "GCA"], alphabet))


@pytest.mark.parametrize(
    "kernel", ["window:encoding=BLOSUM62", "string:n=2,matching=BLOSUM62", "substitution:k=2,matrix=BLOSUM62"]
)
@pytest.mark.parametrize("alphabet", ["dna", "rna"])
def test_other_kernels_refuse_it_too(kernel, alphabet):
    kernel = build_kernel(kernel)
    assert np.isfinite(kernel(encode(["ACG", "GCA"], "protein"))).all()
    with pytest.raises(ParameterError, match=rf"BLOSUM62 is a protein matrix, the alphabet is {alphabet}; choose"):
        kernel(encode(["ACG", "GCA"], alphabet))


def test_scores_that_might_exceed_all_numbers_are_refused():
    kernel = SmithWatermanKernel([[1 << 28, 0], [0, 0.000001]], 1, 1)
    with pytest.raises(ParameterError, match="exceed"):
        kernel(encode(["HE"], "HE"))
    kernel = SmithWatermanKernel([[1 << 28, 0], [0, 1]], 1, 1)
    with pytest.raises(SequenceError, match=r"record '2': has 5 residues.*2\^30 units of 1;"):
        kernel(encode(["HE", "HEHEH"], "HE"))


def test_units():
    scores = IntegerScores.of(np.array([[1.5, -0.5], [-0.5, 2.0]]), 4.5, 1)
    assert scores.table.tolist() == [[3, -1], [-1, 4]]
    assert (scores.gap_open, scores.gap_extend, scores.numerator, scores.denominator) == (9, 2, 1, 2)
    scores = IntegerScores.of(np.array([[20.0, -40.0], [-40.0, 20.0]]), 100, 20)
    assert (scores.table[0, 1], scores.gap_open, scores.numerator, scores.denominator) == (-2, 5, 20, 1)
    assert IntegerScores.of(np.zeros((2, 2)), 0, 0).scaled(np.zeros(1)) == 0
    widths = [IntegerScores.of(np.array([[most, 0.0], [0.0, 1.0]]), 1, 1).width for most in (127, -128, 16383, 16384)]
    assert widths == [8, 16, 16, 32]


def test_tables_of_masked_letters():
    assert score_table("BLOSUM62", PROTEIN)[-1, -1] == -1  # X with X
    assert score_table("BLOSUM62", PROTEIN)[-1, 0] == 0  # X with A
    assert score_table("NUC.4.4", DNA)[-1].tolist() == [-2, -2, -2, -2, -1]
    np.testing.assert_array_equal(score_table("NUC.4.4", RNA), score_table("NUC.4.4", DNA))
    assert score_table("GONNET1992", PROTEIN)[-1].tolist() == [-5.2] * 21
    assert score_table([[1, 2], [2, 3]], as_alphabet("HE"))[-1].tolist() == [0, 0, 0]


# ---- matrices from files -------------------------------------------------------------------------


MATRIX = """# A comment
   h  E   C
h  2 -1  -1.5   # H
E -1  2.25 0.5
C -1.5 0.5 3
"""


def test_a_matrix_from_a_file(tmp_path):
    path = tmp_path / "states.mat"
    path.write_text(MATRIX)
    X = encode(["HEC", "HHC", "CE*"], "HEC")
    kernel = SmithWatermanKernel(str(path), 2, 1)
    same = SmithWatermanKernel([[2, -1, -1.5], [-1, 2.25, 0.5], [-1.5, 0.5, 3]], 2, 1)
    K = kernel(X)
    np.testing.assert_array_equal(K, same(X))
    assert files(kernel) == (str(path),)
    assert files(same) == files(SmithWatermanKernel()) == ()
    identity, state = kernel.identity(), kernel.state()
    path.write_text(MATRIX.replace("2.25", "2.5"))
    assert kernel.identity() == identity
    changed = SmithWatermanKernel(str(path), 2, 1)
    assert changed.identity() != identity
    assert (changed(X) != K).any()
    path.unlink()
    for again in (kernel_from_state(*state), pickle.loads(pickle.dumps(kernel))):
        assert again.identity() == identity
        np.testing.assert_array_equal(again(X), K)
    with pytest.raises(ParameterError, match=r"states\.mat' is neither a file nor"):
        SmithWatermanKernel(str(path), 2, 1)(X)
    kernel.set_params(matrix=same.matrix)
    assert files(kernel) == ()
    np.testing.assert_array_equal(kernel(X), K)


def test_the_matrix_may_be_a_public_file(tmp_path, monkeypatch):
    path = tmp_path / "states.mat"
    path.write_text(MATRIX)
    given = public.PublicFile("states", public.PARAMETER, path.name, file_sha256(path), "", "by hand")
    monkeypatch.setattr(public, "public_table", lambda *_: (given,))
    monkeypatch.setenv("SEQKERN_DATA", str(tmp_path))
    kernel, X = SmithWatermanKernel("public:states", 2, 1), encode(["HEEC", "CCHE"], "HEC")
    assert files(kernel) == ("public:states",)
    np.testing.assert_array_equal(kernel(X), SmithWatermanKernel(str(path), 2, 1)(X))
    with pytest.raises(ParameterError, match="unknown public file 'stats'"):
        SmithWatermanKernel("public:stats", 2, 1)(X)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# nothing\n", "does not begin with a line of letters"),
        ("1.5 2\nH 1\n", "does not begin with a line of letters"),
        ("H E H\nH 1 1 1\n", "two columns for one letter"),
        ("H E\nH 1 2\n", "no row for the letter E"),
        ("H E\nH 1 2\nC 2 1\n", "line 3: the letter C has no column"),
        ("H E\nH 1 2\nH 2 1\n", "line 3: the letter H occurs twice"),
        ("H E\n\nH 1\nE 2 1\n", "line 3 is not a letter and 2 numbers"),
        ("H E\nH 1 x\nE 2 1\n", "line 2 is not a letter and 2 numbers"),
        ("H E\nH 1 inf\nE 2 1\n", "line 2 is not a letter and 2 numbers"),
        ("H E\nH 1 2\nE 3 1\n", "scores HE and EH differently"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "bad.mat"
    path.write_text(text)
    with pytest.raises(FileError, match=rf"bad\.mat: .*{message}"):
        SmithWatermanKernel(str(path))(encode(["HE"], "HE"))


def test_a_file_that_lacks_a_letter(tmp_path):
    path = tmp_path / "few.mat"
    path.write_text("A C\nA 1 0\nC 0 1\n")
    with pytest.raises(ParameterError, match=r"few\.mat: has no scores for the letter D of the alphabet protein"):
        SmithWatermanKernel(str(path))(encode(["AC"], "protein"))
