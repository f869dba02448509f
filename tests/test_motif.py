"""The motif kernel against regular expressions and window-by-window scores; notations, files, names, errors."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import encode, random_strings, reverse_complement
from naive_motifs import count, gcg_regex, iupac_regex, least_score, matches, occurrences, prosite_regex, scores

from seqkern import read_fasta
from seqkern.alphabets import DNA, PROTEIN
from seqkern.cli.main import main
from seqkern.errors import FileError, ParameterError, SeqkernError, SequenceError
from seqkern.explain import Explainer
from seqkern.explain.files import write_explanation
from seqkern.kernels import MotifKernel, _product, build_kernel, kernel_from_state
from seqkern.kernels.additive import attributions, word_weights
from seqkern.kernels.motifs import matrices, packing
from seqkern.kernels.motifs.pattern_files import SKIPPED
from seqkern.kernels.motifs.patterns import parse_pattern
from seqkern.labels import make_labels
from seqkern.model import load_model
from seqkern.training import train_model

RESIDUES = PROTEIN.letters


def found(motifs, strings, alphabet="dna", **options):
    """Return φ of strings as an array, the motifs given as a list or a file."""
    X = strings if hasattr(strings, "codes") else encode(strings, alphabet)
    return MotifKernel(motifs, **options).features(X).toarray().astype(int)


def naive(regexes, strings):
    return np.array([[count(regex, string) for string in strings] for regex in regexes]).reshape(len(regexes), -1).T


@pytest.fixture(params=range(_product.level() + 1))
def level(request):
    """Each level of vector instructions."""
    highest = _product.level()
    _product.set_level(request.param)
    yield request.param
    _product.set_level(highest)


# ---- patterns ---------------------------------------------------------------------------------------------


@st.composite
def patterns(draw, letters="ACDE", longest=9):
    """Draw a pattern as PROSITE and GCG write it; the second is None where GCG has no word for it."""
    some = st.lists(st.sampled_from(letters), min_size=1, max_size=3, unique=True).map("".join)
    prosite, gcg, least = [], [], 0
    for _ in range(draw(st.integers(1, 6))):
        kind, chosen = draw(st.sampled_from(["letter", "any", "class", "none"])), draw(some)
        low = draw(st.sampled_from([1, 1, 1, 0, 2, longest]))
        high = max(1, low + draw(st.sampled_from([0, 0, 0, 1, 3])))
        listed = ",".join(chosen)
        one = {"letter": chosen[0], "any": "x", "class": f"[{chosen}]", "none": f"{{{chosen}}}"}[kind]
        other = {"letter": chosen[0], "any": "x", "class": f"({listed})", "none": f"~({listed})"}[kind]
        many = {True: ("", ""), False: (f"({low})", f"{low}")}[low == 1]
        first, second = many if low == high else (f"({low},{high})", f"{{{low},{high}}}")
        prosite.append(one + first)
        gcg.append(other + second)
        least += low
    start, end = draw(st.sampled_from(["", "", "<"])), draw(st.sampled_from(["", "", ">", "or"]))
    prosite, gcg = start + "-".join(prosite), start + "".join(gcg)
    if end == "or":
        prosite, gcg = f"{prosite}-[{draw(some)}>]", None
    else:
        prosite, gcg = prosite + end, gcg + end
    return (prosite + draw(st.sampled_from(["", "."])), gcg) if least else draw(st.just(("A", "A")))


STRINGS = st.lists(st.text("ACDE*", max_size=30), min_size=1, max_size=4)


@settings(max_examples=100)
@given(st.lists(patterns(), min_size=1, max_size=40), STRINGS)
def test_counts_are_those_of_regular_expressions(drawn, strings):
    for texts, translate in (
        ([prosite for prosite, _ in drawn], prosite_regex),
        ([gcg for _, gcg in drawn if gcg], gcg_regex),
    ):
        if texts:
            regexes = [translate(text, RESIDUES) for text in texts]
            np.testing.assert_array_equal(found(texts, strings, "protein"), naive(regexes, strings))


@settings(max_examples=40)
@given(st.lists(patterns(longest=61), min_size=1, max_size=4), st.lists(st.text("ACDE*", max_size=150), min_size=1))
def test_long_patterns_are_chains_of_words(drawn, strings):
    texts = [prosite for prosite, _ in drawn]
    np.testing.assert_array_equal(
        found(texts, strings, "protein"), naive([prosite_regex(text, RESIDUES) for text in texts], strings)
    )


@settings(max_examples=60)
@given(st.lists(st.text("ACGTURYSWKMBDHVN", min_size=1, max_size=5), min_size=1, max_size=30), st.data())
def test_iupac_codes(texts, data):
    strings = data.draw(st.lists(st.text("ACGT*", max_size=40), min_size=1, max_size=4))
    np.testing.assert_array_equal(found(texts, strings), naive([iupac_regex(text) for text in texts], strings))
    rna = [string.replace("T", "U") for string in strings]
    np.testing.assert_array_equal(found(texts, rna, "rna"), found(texts, strings))


EDGES = {
    "x": ["", "*", "A", "***"],
    "<A": ["", "A", "AA", "*A"],
    "A>": ["", "A", "AA", "A*"],
    "<A>": ["A", "AA"],
    "<x(3)>": ["CCC", "CCCC", "CC"],
    "C-x(0,3)>": ["C", "CAAA", "CAAAA", "CCC"],
    "<x(0,3)-C": ["C", "AAAC", "AAAAC", "CCC"],
    "x(0,3)-C-x(0,2)": ["AAAAAC", "C", "AAA"],
    "C-x(0,2)-[G>]": ["CAG", "C", "CAAAA", "CAAG", "CGGG"],
    "A(65)": ["A" * 64, "A" * 65, "A" * 200],
    "A-x(0,200)-C": ["A" * 50 + "C", "A" * 210 + "C", "C"],
    "<A-x(100,101)-C-x(0,64)>": ["A" + "D" * 100 + "C" + "E" * n for n in (0, 64, 65)],
    "A-x(62)": ["A" * 63, "A" * 62],
    "A-x(63)-C": ["A" * 64 + "C"],
}


@pytest.mark.parametrize("text", EDGES)
def test_edges(text, level):
    beside = ["A", "x(0,1)-C", "{A}-x(0,60)-A>"]
    regexes = [prosite_regex(one, RESIDUES) for one in (text, *beside)]
    np.testing.assert_array_equal(found([text, *beside], EDGES[text], "protein"), naive(regexes, EDGES[text]))


def test_many_patterns_at_every_level_and_in_threads(level):
    rng = np.random.default_rng(0)
    letters = np.array(list(RESIDUES[:6]))
    texts = [
        "-".join(
            f"[{''.join(rng.choice(letters, 2, replace=False))}]" if rng.random() < 0.8 else f"x({low},{low + 2})"
            for low in rng.integers(0, 3, size=rng.integers(2, 9))
        )
        for _ in range(700)
    ]
    texts = [text for text in texts if "[" in text]
    strings = random_strings(20, 0, 60, RESIDUES[:6])
    X = encode(strings, "protein")
    expected = naive([prosite_regex(text, RESIDUES) for text in texts], strings[:5])
    whole = found(texts, X)
    np.testing.assert_array_equal(whole[:5], expected)
    many = X.take(np.arange(2000) % 20)
    for n_threads in (1, 3):
        features = MotifKernel(texts, n_threads=n_threads).features(many)
        np.testing.assert_array_equal(features.toarray()[:40], np.tile(whole, (2, 1)))
        np.testing.assert_array_equal(features.toarray()[-20:], whole)


def test_an_x_matches_a_masked_letter_a_class_does_not():
    texts = ["C-x-C", "C-[ACDEFGHIKLMNPQRSTVWY]-C", "C-{A}-C"]
    np.testing.assert_array_equal(found(texts, ["CXC", "CWC"], "protein"), [[1, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(found(["ANC", "AVC"], ["ANC", "AGC"]), [[1, 0], [1, 1]])


def test_letters_of_other_alphabets():
    np.testing.assert_array_equal(found(["H-x-E", "{H}"], ["HEEC"], "HEC"), [[1, 3]])
    np.testing.assert_array_equal(found(["X", "x", "[XA]"], ["AXBC"], "ABCX"), [[1, 4, 2]])
    np.testing.assert_array_equal(found(["B", "Z", "J"], ["DNEQIL"], "protein"), [[2, 2, 2]])
    np.testing.assert_array_equal(found(["a-c", "X"], ["ACGT"]), [[1, 4]])


@settings(max_examples=60)
@given(st.lists(patterns("ACGT"), min_size=1, max_size=10), st.lists(st.text("ACGT*", max_size=30), min_size=1))
def test_both_strands(drawn, strings):
    texts = [prosite for prosite, _ in drawn]
    regexes = [prosite_regex(text, "ACGT") for text in texts]
    forward = naive(regexes, strings)
    backward = naive(regexes, [reverse_complement(string) for string in strings])
    own = np.array([_own_complement(parse_pattern(text)) for text in texts])
    both = found(texts, strings, reverse_complement=True)
    np.testing.assert_array_equal(both, forward + np.where(own, 0, backward))
    other = found(texts, [reverse_complement(string) for string in strings], reverse_complement=True)
    np.testing.assert_array_equal(other, both)


def _own_complement(pattern):
    """Whether a pattern of one length is its own reverse complement, told by all windows of its letters."""
    if not pattern.one_length or pattern.at_start != pattern.at_end:
        return False
    accepts, _ = pattern.classes(DNA)
    return all((accepts[i, a], accepts[i, 4]) == (accepts[-1 - i, 3 - a], accepts[-1 - i, 4])
               for i in range(len(accepts)) for a in range(4))  # fmt: skip


def test_a_palindrome_counts_once_for_each_place():
    motifs = ["GAATTC", "GAAW", "ACR", "AC-x(0,1)-GT"]
    counts = found(motifs, ["GAATTCAA", "ACGT"], reverse_complement=True)
    np.testing.assert_array_equal(counts, [[1, 1 + 1, 0, 0], [0, 0, 2, 2]])


PROSITE_1995 = "prosite1995/prosite.dat"


def test_prosite_of_1995_on_real_proteins(shared_data, monkeypatch):
    monkeypatch.setenv("SEQKERN_DATA", str(shared_data))
    lines = (shared_data / PROSITE_1995).read_text().splitlines()[6:]
    texts = dict(line.split()[0:3:2] for line in lines if line.strip())
    X = read_fasta(shared_data / "edd_homology" / "EDD.fasta", alphabet="protein", unknown="mask", ids="number")
    X = X.take(slice(None, None, 85))
    kernel = MotifKernel("public:prosite1995")
    assert kernel.feature_names() == [name.lstrip(";") for name in texts]
    assert len(texts) == 1149
    expected = naive([gcg_regex(text, RESIDUES) for text in texts.values()], X.strings())
    np.testing.assert_array_equal(kernel.features(X).toarray(), expected)
    assert expected.sum() > 200


# ---- weight matrices --------------------------------------------------------------------------------------

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
    assert kernel.feature_names() == ["MA1.1 one", "MA2.1 two"]
    read = kernel._set().motifs
    np.testing.assert_allclose(read[0].counts, COUNTS)
    np.testing.assert_allclose(read[1].counts, [[3, 0, 0, 1], [1, 1, 1, 1]])
    assert kernel.min_length() == 2


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(
    "options", [{"p_value": 0.05}, {"p_value": 0.3, "pseudocount": 0.1}, {"score_share": 0.7}], ids=str
)
def test_matrices_against_naive_scores(tmp_path, level, options, rc):
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
    counts = found(str(tmp_path / "m.meme"), strings, reverse_complement=rc, **options)
    np.testing.assert_array_equal(counts, np.transpose(expected))
    assert counts.sum() > 100


@settings(max_examples=50)
@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.5, 1 / 256, 0.01, 1e-9]))
def test_thresholds_are_exact(width, seed, p_value):
    rng = np.random.default_rng(seed)
    background = rng.multinomial(16, [0.25] * 4) + 1
    background = background / background.sum()
    table = rng.integers(-50, 50, size=(width, 4))
    least = least_score(table.tolist(), background.tolist(), p_value)
    chances, lowest = matrices.distribution(table, background)
    assert chances.sum() == pytest.approx(1)
    reachable = np.flatnonzero(chances) + lowest
    threshold = matrices.p_value_threshold(table, background, p_value)
    assert min(reachable[reachable >= threshold], default=reachable[-1] + 1) == least
    assert matrices.tail(table, background, threshold) <= p_value * (1 + 1e-9)


def test_a_matrix_too_short_for_the_p_value_matches_nothing(tmp_path):
    (tmp_path / "m").write_text(JASPAR)
    kernel = MotifKernel(str(tmp_path / "m"), normalize=False)
    prepared = kernel.prepare(encode(["ACGTACATAACATA"]))
    assert prepared.counts == {"motifs that match nothing": 2}
    kernel.set_params(p_value=0.01)
    assert kernel.prepare(encode(["ACGTACATAACATA"])).counts == {"motifs that match nothing": 1}


def test_matrices_of_rna_and_proteins(tmp_path):
    file = tmp_path / "m"
    file.write_text(JASPAR)
    strings = random_strings(5, 10, 60)
    rna = [string.replace("T", "U") for string in strings]
    np.testing.assert_array_equal(
        found(str(file), rna, "rna", p_value=0.1), found(str(file), strings, "dna", p_value=0.1)
    )
    with pytest.raises(ParameterError, match=r"motif 'MA1.1 one' is of the letters ACGT, .* alphabet protein"):
        found(str(file), ["ACDE"], "protein")
    row = " ".join(["0.9"] + ["0.0052631"] * 19)
    file.write_text(f"MEME version 5\nALPHABET= {RESIDUES}\nMOTIF p\nletter-probability matrix: w= 2\n{row}\n{row}\n")
    np.testing.assert_array_equal(found(str(file), ["AAAC", "CXAA"], "protein", p_value=0.01), [[2], [1]])


# ---- files of patterns ------------------------------------------------------------------------------------

PROSITE = """CC   Release 2024_01
//
ID   ASN_GLYCOSYLATION; PATTERN.
AC   PS00001;
DT   01-APR-1990 CREATED
PA   N-{P}-[ST]-
PA   {P}.
CC   /SKIP-FLAG=TRUE;
//
ID   A_PROFILE; MATRIX.
AC   PS50000;
MA   /GENERAL_SPEC: ALPHABET='ABCDEFGHIKLMNPQRSTVWYZ'; LENGTH=91;
//
ID   TACHYKININ; PATTERN.
AC   PS00267;
PA   F-[IVFY]-G-[LM]-M-[G>].
//
"""
GCG = """PROSITETOGCG of: somewhere

Name            Offset Pattern                  ..                     PDoc_Name

;Asn_Glycosylation   1 N~(P)(S,T)~(P)                                  0001.pdoc
Tachykinin           1 F(I,V,F,Y)G(L,M)M(G)>                           0240.pdoc
"""
LISTED = """# two motifs
sites of glycosylation   N-{P}-[ST]-{P}   # PS00001

FVGLM
"""


@pytest.mark.parametrize(
    ("text", "names", "counts"),
    [
        (PROSITE, ["PS00001 ASN_GLYCOSYLATION", "PS00267 TACHYKININ"], [[1, 1], [0, 1]]),
        (GCG, ["Asn_Glycosylation", "Tachykinin"], [[1, 0], [0, 1]]),
        (LISTED, ["sites of glycosylation", "FVGLM"], [[1, 1], [0, 1]]),
    ],
    ids=["PROSITE", "GCG", "list"],
)
def test_files_of_patterns(tmp_path, text, names, counts):
    file = tmp_path / "motifs.txt"
    file.write_text(text)
    kernel = MotifKernel(str(file))
    assert kernel.feature_names() == names
    np.testing.assert_array_equal(found(str(file), ["NASAFVGLM", "FVGLMG"], "protein"), counts)
    assert kernel.files() == (str(file),)
    touched = kernel.prepare(encode(["NASAFVGLMG"], "protein")).counts
    assert touched == ({SKIPPED: 1} if text == PROSITE else {})


def test_a_model_needs_no_file_and_knows_its_content(tmp_path):
    file = tmp_path / "motifs.txt"
    X = encode(random_strings(20, 20, 40, masked=0))
    for text in ("AC\nname G-x(0,2)-T\nTT\nA\n", JASPAR):
        file.write_text(text)
        kernel = build_kernel({"kernel": "motif", "motifs": str(file), "score_share": 0.6 if text == JASPAR else None})
        K, before = kernel.kernel(X), kernel.identity()
        model = train_model(X, make_labels(X.ids, ["a", "b"] * 10), kernel, "csvc:C=1")
        decision = model.decision(X)
        model.save(tmp_path / "m.seqkern")
        state = kernel.state()
        file.unlink()
        again = kernel_from_state(*json.loads(json.dumps(state[:1])), state[1])
        np.testing.assert_array_equal(again.kernel(X), K)
        assert again.identity() == before
        np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(X), decision)
        file.write_text(text.replace("A", "C") if text != JASPAR else text.replace("8", "9"))
        assert MotifKernel(str(file), score_share=kernel.score_share).identity() != before


BAD_FILES = {
    "": "is empty",
    "# nothing\n": "holds no motif",
    "A-C\nfirst A-[C\n": "line 2: motif 'first': cannot read 'A-[C' at '[C'",
    GCG + "lost 1\n": "line 7: 'lost 1' is no pattern",
    "ID   LOST; PATTERN.\nAC   PS9;\n//\n": "line 1: entry 'PS9 LOST' has no PA line",
    ">m\nA [1 2]\nC [1 2]\nG [1]\nT [1 2]\n": "line 1: motif 'm' has no rows of one length",
    ">m\nA [1 2]\nACGT\n": "line 3: 'ACGT' is not possible here",
    ">m\nA [1 -2]\nC [1 2]\nG [1 2]\nT [1 2]\n": "line 1: motif 'm': column 2 holds no counts",
    ">m\nA [1 0]\nC [1 0]\nG [1 0]\nT [1 0]\n": "line 1: motif 'm': column 2 holds no counts",
    ">m\nA [1.2.3 0]\nC [1 0]\nG [1 0]\nT [1 0]\n": "line 2: '1.2.3 0' is not possible here",
    "MEME version 5\nMOTIF m\nletter-probability matrix: w= 1\n 1 0 0\n": "line 3: motif 'm' has no matrix",
    "MEME version 5\nMOTIF m\n": "holds no motif",
    "MEME version 5\nALPHABET \"DNA\" DNA-LIKE\n": "line 2: 'ALPHABET \"DNA\" DNA-LIKE' is not possible here",
    "P0 A C G T\n01 1 2 3\n//\n": "line 1: motif 'line 1' has no matrix",
    "P0 A C G T\n01 1 2 3 4\n02 1 2\n//\n": "line 1: motif 'line 1' has rows of several lengths",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD_FILES)
def test_bad_files_are_one_line(tmp_path, text):
    file = tmp_path / "motifs.txt"
    file.write_text(text)
    with pytest.raises(SeqkernError) as error:
        MotifKernel(str(file)).kernel(encode(["ACGT"]))
    line = str(error.value)
    assert line.startswith(f"{file}: {BAD_FILES[text]}")
    assert "; " in line
    assert "\n" not in line


def test_a_missing_file_and_a_pattern_that_is_no_list():
    with pytest.raises(FileError, match="TATAWAW: no such file"):
        MotifKernel("TATAWAW").kernel(encode(["ACGT"]))
    with pytest.raises(ParameterError, match="did you mean 'prosite1995'"):
        MotifKernel("public:prosite95").kernel(encode(["ACGT"]))


BAD_PATTERNS = {"": "", "A-": "", "A--C": "-C", "A-(3)": "(3)", "[]": "[]", "A(3,2)": "A(3,2)", "A(0)": "A(0)"}
BAD_PATTERNS |= {"A<C": "<C", "A>C": ">C", "[A>]-C": "C", "[A>](2)": "", "[A>]>": ">", "A*": "*", "A-é": "é"}


@pytest.mark.parametrize(("text", "place"), BAD_PATTERNS.items())
def test_bad_patterns_name_the_place(text, place):
    with pytest.raises(ParameterError, match="write it as in PROSITE") as error:
        MotifKernel(["C", text]).check_parameters()
    assert error.value.problem.endswith(f"at {place!r}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"motifs": []}, "give a list of patterns"),
        ({"motifs": [3]}, "give a list of patterns"),
        ({"motifs": None}, "give a list of patterns"),
        ({"motifs": ["x(0,3)"]}, "also matches no letter"),
        ({"motifs": ["[G>]"]}, "also matches no letter"),
        ({"motifs": ["A-x(0,100000)"]}, "can be longer than 10000 letters"),
        ({"motifs": ["A-x(99999999999999999999)"]}, "can be longer than 10000 letters"),
        ({"motifs": ["A"], "p_value": 0}, "p_value=0"),
        ({"motifs": ["A"], "score_share": 2}, "score_share=2"),
        ({"motifs": ["A"], "score_share": 0.5, "p_value": 0.5}, "give one of them"),
        ({"motifs": ["A"], "pseudocount": 0}, "pseudocount=0"),
        ({"motifs": ["A"], "presence": "yes"}, "presence='yes'"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        MotifKernel(**options).check_parameters()


def test_motifs_of_another_alphabet():
    with pytest.raises(ParameterError, match="motif 'AC-L': the letter 'L' is not in the alphabet dna"):
        found(["AC-L"], ["ACGT"])
    with pytest.raises(ParameterError, match=r"no letter is left by \{ACGT\}"):
        found(["{ACGT}"], ["ACGT"])
    with pytest.raises(ParameterError, match="reverse_complement needs dna or rna"):
        found(["A"], ["ACGT"], "protein", reverse_complement=True)


def test_too_many_motifs_for_the_memory(monkeypatch):
    monkeypatch.setattr(packing, "available_memory", lambda: 10)
    with pytest.raises(ParameterError, match=r"2 motifs take about .* of memory; give fewer"):
        found(["A", "C"], ["ACGT"])


def test_motifs_that_match_nothing_are_counted():
    kernel = MotifKernel(["A", "W", "Y-x(0,3)-Y"])
    X = encode(["ACD", "AA"], "protein")
    assert kernel.prepare(X).counts == {"motifs that match nothing": 2}
    assert kernel.implicit(X).counts == {"motifs that match nothing": 2}
    with pytest.raises(SequenceError, match=r"'2'.*cannot be normalised.*zero_diagonal=zero"):
        kernel.kernel(encode(["ACD", "DD"], "protein"))
    K = MotifKernel(["W"], zero_diagonal="zero").kernel(X)
    np.testing.assert_array_equal(K, np.zeros((2, 2)))


# ---- names and explanations -------------------------------------------------------------------------------


def test_names_are_distinct_and_printable(tmp_path):
    (tmp_path / "m").write_text("a A-C\na A-G\nA\nA\n<b>\t\x7f&x C\n" + "n" * 300 + " G\n")
    names = MotifKernel(str(tmp_path / "m")).feature_names()
    assert names == ["a", "a.2", "A", "A.2", "<b>  &x", "n" * 80]
    assert MotifKernel(["A", "A"]).feature_names() == ["A", "A.2"]


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
def test_letters_of_an_occurrence_share_its_weight(presence, rc):
    texts = [
        "A",
        "AC",
        "G-x(0,3)-T",
        "<x(0,2)-C",
        "T-x(0,4)-A-x(0,9)>",
        "C-x(0,1)-[A>]",
        "ACGT",
        "A-x(70)",
        "R-Y",
        "TTTTTTT",
    ]
    regexes = [prosite_regex(text.replace("R-Y", "[AG]-[CT]"), "ACGT") for text in texts]
    strings, support = random_strings(6, 0, 90, seed=1), random_strings(7, 0, 40, seed=2)
    coefficients = np.random.default_rng(0).normal(size=7)
    kernel = MotifKernel(texts, presence=presence, reverse_complement=rc, normalize=False)
    counts = found(texts, support, reverse_complement=rc)
    weights = coefficients @ (np.minimum(counts, 1) if presence else counts)
    shares = []
    for string in strings:
        own = np.zeros(len(string))
        for text, regex, weight in zip(texts, regexes, weights, strict=True):
            spans = occurrences(regex, string)
            if rc and text not in ("ACGT", "R-Y"):
                spans += [(len(string) - stop, len(string) - start) for start, stop in
                          occurrences(regex, reverse_complement(string))]  # fmt: skip
            for start, stop in spans:
                own[start:stop] += weight / (stop - start) / (len(spans) if presence else 1)
        shares.append(own)
    X, Z = encode(strings), encode(support)
    np.testing.assert_allclose(attributions(kernel, X, Z, coefficients), np.concatenate(shares), rtol=1e-12, atol=1e-12)
    words, values, patterns = word_weights(kernel, X, Z, coefficients)
    assert words == [text for text in texts if text not in ("A-x(70)", "TTTTTTT") or text in _occurring(texts, X, Z)]
    np.testing.assert_allclose(values, [weights[texts.index(word)] for word in words], rtol=1e-12, atol=1e-12)
    assert set(patterns) == {None}


def _occurring(texts, X, Z):
    """The motifs that occur in either set."""
    occurs = found(texts, X).any(axis=0) | found(texts, Z).any(axis=0)
    return [text for text, here in zip(texts, occurs, strict=True) if here]


# ---- where kernels are named ------------------------------------------------------------------------------


def test_command_line_and_config(tmp_path, capsys):
    X = random_strings(8, 20, 40, masked=0)
    fasta, listed, out = tmp_path / "x.fa", tmp_path / "motifs.txt", tmp_path / "gram.npy"
    fasta.write_text("".join(f">r{i}\n{string}\n" for i, string in enumerate(X)))
    texts = ["A-[CG]-T", "TATAWAW", "G-x(1,2)-{A}", "W"]
    listed.write_text("\n".join(texts))
    K = MotifKernel(texts).kernel(X)
    config = {"kernel": "motif", "motifs": texts}
    for spec in (f"motif:motifs={listed}", json.dumps(config)):
        assert main(["gram", str(fasta), "--kernel", spec, "-o", str(out)]) == 0
        assert "motifs that match nothing" in capsys.readouterr().err
        np.testing.assert_array_equal(np.load(out), K)
        out.unlink()
    inline = build_kernel("motif:motifs=[TATAWAW,G-x-{A},W]")
    assert inline.motifs == ["TATAWAW", "G-x-{A}", "W"]
    assert build_kernel("motif:motifs=public:prosite1995").files() == ("public:prosite1995",)
    assert main(["gram", str(fasta), "--kernel", f"motif:motifs={tmp_path / 'lost'}", "-o", str(out)]) == 1
    assert "lost: no such file" in capsys.readouterr().err
    assert main(["gram", str(fasta), "--kernel", "motif", "-o", str(out)]) == 1
    assert "needs the parameter 'motifs'" in capsys.readouterr().err


def test_names_are_escaped_where_they_are_shown(tmp_path):
    (tmp_path / "m").write_text("<script>alert(1)</script> A\n../../x C\n<G G\n")
    X = encode(random_strings(20, 20, 40, masked=0))
    model = train_model(X, make_labels(X.ids, ["a", "b"] * 10), MotifKernel(str(tmp_path / "m")), "csvc:C=1")
    write_explanation(Explainer(model), [X.take([0, 1])], tmp_path / "out", model="m", fasta="f")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "out"]
