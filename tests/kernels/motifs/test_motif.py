"""The motif kernel against regular expressions and window-by-window scores; notations, files, names, errors."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings, reverse_complement
from naive_motifs import count, gcg_regex, iupac_regex, occurrences, prosite_regex

from seqkern import read_fasta
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import MotifKernel
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.models import motif
from seqkern.kernels.models.patterns import parse_pattern
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import DNA, PROTEIN

RESIDUES = PROTEIN.letters


def found(motifs, strings, alphabet="dna", **options):
    """Return φ of strings as an array, the motifs given as a list or a file."""
    X = strings if hasattr(strings, "codes") else encode(strings, alphabet)
    return MotifKernel(motifs, **options).features(X).toarray().astype(int)


def naive(regexes, strings):
    return np.array([[count(regex, string) for string in strings] for regex in regexes]).reshape(len(regexes), -1).T


def at_every_level(run):
    """Return what `run` returns at each level of vector instructions."""
    highest = _product.level()
    try:
        return [_product.set_level(level) or run() for level in range(highest + 1)]
    finally:
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


@given(st.lists(patterns(), min_size=1, max_size=40), STRINGS)
def test_counts_are_those_of_regular_expressions(drawn, strings):
    for texts, translate in (
        ([prosite for prosite, _ in drawn], prosite_regex),
        ([gcg for _, gcg in drawn if gcg], gcg_regex),
    ):
        if texts:
            regexes = [translate(text, RESIDUES) for text in texts]
            np.testing.assert_array_equal(found(texts, strings, "protein"), naive(regexes, strings))


@given(st.lists(patterns(longest=61), min_size=1, max_size=4), st.lists(st.text("ACDE*", max_size=150), min_size=1))
def test_long_patterns_are_chains_of_words(drawn, strings):
    texts = [prosite for prosite, _ in drawn]
    np.testing.assert_array_equal(
        found(texts, strings, "protein"), naive([prosite_regex(text, RESIDUES) for text in texts], strings)
    )


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
def test_edges(text):
    beside = ["A", "x(0,1)-C", "{A}-x(0,60)-A>"]
    regexes = [prosite_regex(one, RESIDUES) for one in (text, *beside)]
    for counts in at_every_level(lambda: found([text, *beside], EDGES[text], "protein")):
        np.testing.assert_array_equal(counts, naive(regexes, EDGES[text]))


def test_many_patterns_at_every_level_and_in_threads():
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
    wholes = at_every_level(lambda: found(texts, X))
    whole = wholes[-1]
    for other in wholes:
        np.testing.assert_array_equal(other[:5], expected)
        np.testing.assert_array_equal(other, whole)
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
    assert kernel.features.names() == [name.lstrip(";") for name in texts]
    assert len(texts) == 1149
    expected = naive([gcg_regex(text, RESIDUES) for text in texts.values()], X.strings())
    np.testing.assert_array_equal(kernel.features(X).toarray(), expected)
    assert expected.sum() > 200


# ---- mistakes ---------------------------------------------------------------------------------------------

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
        ({"motifs": ["x(0,3)"]}, "also matches the empty sequence"),
        ({"motifs": ["[G>]"]}, "also matches the empty sequence"),
        ({"motifs": ["A-x(0,100000)"]}, "can match more than 10000 residues"),
        ({"motifs": ["A-x(99999999999999999999)"]}, "can match more than 10000 residues"),
        ({"motifs": ["A"], "p_value": 0}, "p_value=0"),
        ({"motifs": ["A"], "score_share": 2}, "score_share=2"),
        ({"motifs": ["A"], "score_share": 0.5, "p_value": 0.5}, "give only one of them"),
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
    with pytest.raises(ParameterError, match=r"\{ACGT\} excludes every letter"):
        found(["{ACGT}"], ["ACGT"])
    with pytest.raises(ParameterError, match="use dna or rna for reverse_complement"):
        found(["A"], ["ACGT"], "protein", reverse_complement=True)


def test_too_many_motifs_for_the_memory(monkeypatch):
    monkeypatch.setattr(motif, "available_memory", lambda: 10)
    with pytest.raises(ParameterError, match=r"2 motifs take about .* of memory; give fewer"):
        found(["A", "C"], ["ACGT"])


def test_motifs_that_match_nothing_are_counted():
    kernel = MotifKernel(["A", "W", "Y-x(0,3)-Y"])
    X = encode(["ACD", "AA"], "protein")
    assert kernel.prepare(X).counts == {"motifs that match nothing (W, Y-x(0,3)-Y)": 2}
    assert kernel.implicit(X).counts == {"motifs that match nothing (W, Y-x(0,3)-Y)": 2}
    many = MotifKernel(["W", "A", "Y", "F", "H"])
    assert many.prepare(X).counts == {"motifs that match nothing (W, Y, F, …)": 4}
    with pytest.raises(SequenceError, match=r"'2'.*cannot be normalised.*zero_diagonal=zero"):
        kernel(encode(["ACD", "DD"], "protein"))
    K = MotifKernel(["W"], zero_diagonal="zero")(X)
    np.testing.assert_array_equal(K, np.zeros((2, 2)))


# ---- names and explanations -------------------------------------------------------------------------------


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
    words, values, patterns = kmer_weights(kernel, X, Z, coefficients)
    assert words == [text for text in texts if text not in ("A-x(70)", "TTTTTTT") or text in _occurring(texts, X, Z)]
    np.testing.assert_allclose(values, [weights[texts.index(word)] for word in words], rtol=1e-12, atol=1e-12)
    counts = dict.fromkeys(texts, 0)
    for text, regex in zip(texts, regexes, strict=True):
        for string in strings:
            counts[text] += len(occurrences(regex, string))
            if rc and text not in ("ACGT", "R-Y"):
                counts[text] += len(occurrences(regex, reverse_complement(string)))
    assert [pattern.count(X)[pattern.name] for pattern in patterns] == [counts[word] for word in words]


def _occurring(texts, X, Z):
    """The motifs that occur in either set."""
    occurs = found(texts, X).any(axis=0) | found(texts, Z).any(axis=0)
    return [text for text, here in zip(texts, occurs, strict=True) if here]
