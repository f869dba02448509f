"""Weight matrices as motifs: formats, scores window by window, exact thresholds."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings
from naive_motifs import least_score, matches, scores
from test_motif import RESIDUES, at_every_level, found

from seqkern.core.errors import ParameterError
from seqkern.kernels import MotifKernel
from seqkern.kernels.models import patterns

COUNTS = [[10, 0, 0, 0], [0, 8, 1, 1], [3, 3, 3, 1], [0, 0, 0, 7], [5, 0, 5, 0]]
JASPAR = """>MA1.1 one
A  [ 10 0 3 0 5 ]
C  [ 0 8 3 0 0 ]
G  [ 0 1 3 0 5 ]
T  [ 0 1 1 7 0 ]
>MA2.1 two
A [3 1]
C [0 1]
G [0 1]
T [1 1]
"""
PLAIN_ROWS = "\n".join(re.sub(r"[ACGT]\s*\[(.*)\]", r"\1", line) for line in JASPAR.splitlines())
TRANSFAC = """AC  MA1.1
XX
ID  one
XX
P0      A      C      G      T
01     10      0      0      0      A
02      0      8      1      1      C
03      3      3      3      1      N
04      0      0      0      7      T
05      5      0      5      0      R
XX
//
AC  MA2.1
XX
ID  two
PO A C G T
01 3 0 0 1
02 1 1 1 1
//
"""
MEME = """MEME version 4

ALPHABET= ACGT

strands: + -

Background letter frequencies
A 0.25 C 0.25 G 0.25 T 0.25

MOTIF MA1.1 one
letter-probability matrix: alength= 4 w= 5 nsites= 10 E= 0
 1.0 0.0 0.0 0.0
 0.0 0.8 0.1 0.1
 0.3 0.3 0.3 0.1
 0.0 0.0 0.0 0.7
 0.5 0.0 0.5 0.0

URL http://motif
MOTIF MA2.1 two
letter-probability matrix: alength= 4 w= 2 nsites= 4 E= 0
 0.75 0 0 0.25
 0.25 0.25 0.25 0.25
"""


@pytest.mark.parametrize("text", [JASPAR, PLAIN_ROWS, TRANSFAC, MEME], ids=["JASPAR", "rows", "TRANSFAC", "MEME"])
def test_files_of_matrices(tmp_path, text):
    file = tmp_path / "motifs"
    file.write_text(text)
    kernel = MotifKernel(str(file), p_value=0.02)
    assert kernel.features.names() == ["MA1.1 one", "MA2.1 two"]
    read = kernel._set().motifs
    np.testing.assert_allclose(read[0].counts, COUNTS)
    np.testing.assert_allclose(read[1].counts, [[3, 0, 0, 1], [1, 1, 1, 1]])
    assert kernel._min_length() == 2


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(
    "options", [{"p_value": 0.05}, {"p_value": 0.3, "pseudocount": 0.1}, {"score_share": 0.7}], ids=str
)
def test_matrices_against_naive_scores(tmp_path, options, rc):
    rng = np.random.default_rng(1)
    background = [0.3, 0.2, 0.125, 0.375]
    tables = [rng.dirichlet(np.full(4, 0.4), size=width) for width in [1, 2, 3, 4, 5] * 4]
    text = "MEME version 4\nALPHABET= ACGT\nBackground letter frequencies\n"
    text += " ".join(f"{a} {share}" for a, share in zip("ACGT", background, strict=True)) + "\n"
    for number, table in enumerate(tables):
        rows = "\n".join(" ".join(map(repr, map(float, row))) for row in table)
        text += f"MOTIF m{number}\nletter-probability matrix: nsites= 30\n{rows}\n\n"
    (tmp_path / "m.meme").write_text(text)
    strings = [*random_strings(8, 0, 40, masked=0.05), "", "A", "*****"]
    expected = []
    for table in tables:
        own = scores((30 * table).tolist(), background, options.get("pseudocount", 1.0))
        if "p_value" in options:
            least = least_score(own, background, options["p_value"])
        else:
            low, high = (sum(map(end, own)) for end in (min, max))
            least = low + options["score_share"] * (high - low)
        both = [own] + [[row[::-1] for row in own[::-1]]] * (rc and own != [row[::-1] for row in own[::-1]])
        expected.append([sum(len(matches(one, least, "ACGT", string)) for one in both) for string in strings])
    for counts in at_every_level(lambda: found(str(tmp_path / "m.meme"), strings, reverse_complement=rc, **options)):
        np.testing.assert_array_equal(counts, np.transpose(expected))
        assert counts.sum() > 100


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.5, 1 / 256, 0.01, 1e-9]))
def test_thresholds_are_exact(width, seed, p_value):
    rng = np.random.default_rng(seed)
    background = rng.multinomial(16, [0.25] * 4) + 1
    background = background / background.sum()
    table = rng.integers(-50, 50, size=(width, 4))
    least = least_score(table.tolist(), background.tolist(), p_value)
    chances, lowest = patterns.distribution(table, background)
    assert chances.sum() == pytest.approx(1)
    reachable = np.flatnonzero(chances) + lowest
    threshold = patterns.p_value_threshold(table, background, p_value)
    assert min(reachable[reachable >= threshold], default=reachable[-1] + 1) == least
    assert patterns.tail(table, background, threshold) <= p_value * (1 + 1e-9)


def test_a_matrix_too_short_for_the_p_value_matches_nothing(tmp_path):
    (tmp_path / "m").write_text(JASPAR)
    kernel = MotifKernel(str(tmp_path / "m"), normalize=False)
    prepared = kernel.prepare(encode(["ACGTACATAACATA"]))
    assert prepared.counts == {"motifs that match nothing (MA1.1 one, MA2.1 two)": 2}
    kernel.set_params(p_value=0.01)
    assert kernel.prepare(encode(["ACGTACATAACATA"])).counts == {"motifs that match nothing (MA2.1 two)": 1}


def columns_of_a(columns):
    """Return a file with a motif that has counted nothing but A."""
    counts = {letter: " ".join(["1" if letter == "A" else "0"] * columns) for letter in "ACGT"}
    return ">m\n" + "".join(f"{letter} [{own}]\n" for letter, own in counts.items())


@pytest.mark.parametrize("columns", [1, 2, 20, 40])
@pytest.mark.parametrize("pseudocount", [1e-300, 1e-100, 1e-6])
def test_no_window_goes_beyond_the_end_however_low_the_scores(tmp_path, columns, pseudocount):
    (tmp_path / "m").write_text(columns_of_a(columns))
    kernel = MotifKernel(str(tmp_path / "m"), score_share=0, pseudocount=pseudocount)
    X = encode(["C" * (columns + 3), "A" * (columns - 1), "*" + "A" * columns, "A" * (columns - 1) + "*"])
    np.testing.assert_array_equal(kernel.features(X).toarray().ravel(), [4, 0, 1, 0])


def test_scores_too_far_apart_for_the_lanes_are_refused(tmp_path):
    (tmp_path / "m").write_text(columns_of_a(200))
    kernel = MotifKernel(str(tmp_path / "m"), score_share=0, pseudocount=1e-100)
    X = encode(["A" * 199, "C" * 200])
    with pytest.raises(ParameterError, match=r"'m': with pseudocount=1e-100 the .* 200 columns .*larger pseudocount"):
        kernel.features(X)
    kernel.set_params(pseudocount=1e-6)
    np.testing.assert_array_equal(kernel.features(X).toarray().ravel(), [0, 1])


def test_matrices_of_rna_and_proteins(tmp_path):
    file = tmp_path / "m"
    file.write_text(JASPAR)
    strings = random_strings(5, 10, 60)
    rna = [string.replace("T", "U") for string in strings]
    np.testing.assert_array_equal(
        found(str(file), rna, "rna", p_value=0.1), found(str(file), strings, "dna", p_value=0.1)
    )
    with pytest.raises(ParameterError, match=r"motif 'MA1.1 one' has the letters ACGT, .* alphabet protein"):
        found(str(file), ["ACDE"], "protein")
    row = " ".join(["0.9"] + ["0.0052631"] * 19)
    file.write_text(f"MEME version 5\nALPHABET= {RESIDUES}\nMOTIF p\nletter-probability matrix: w= 2\n{row}\n{row}\n")
    np.testing.assert_array_equal(found(str(file), ["AAAC", "CXAA"], "protein", p_value=0.01), [[2], [1]])
