"""Scales of the amino acids, and the property kernel against its naive twin."""

import csv

import naive_property
import numpy as np
import pytest
from Bio.Data.IUPACData import protein_weights
from Bio.SeqUtils.ProtParamData import kd
from naive import encode, random_strings

from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.package_files import open_resource
from seqkern.kernels import PropertyKernel, build_kernel, kernel_from_state
from seqkern.kernels.decisions import attributions
from seqkern.kernels.kernel import check_files
from seqkern.kernels.vectors.property import amino_acid_scales, read_scales
from seqkern.sequences.alphabets import DNA, PROTEIN, as_alphabet

LETTERS = PROTEIN.letters
WINDOWS = [*random_strings(8, 7, 8, LETTERS), "ACD*WYW", "*******"]
CHAINS = [*random_strings(8, 2, 40, LETTERS), "AC*DEFGWY*KLM", "A*C", "W", "", "***", "AAAAAA"]
WATER = 18.0153
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def vectors(*names):
    """Return the standardised values of each amino acid on some scales, read from the file without seqkern's reader."""
    with open_resource("property_scales.tsv") as file:
        rows = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
    return naive_property.standardised({row["amino_acid"]: [float(row[name]) for name in names] for row in rows})


def linear(*args, **options):
    return PropertyKernel(*args, vector_kernel="linear", **options)


# ---- scales --------------------------------------------------------------------------------------


def test_scales_of_the_amino_acids():
    scales = amino_acid_scales()
    assert scales.letters == LETTERS
    assert scales.names == ("hydrophobicity", "charge", "mass", "volume", "polarity", "bulkiness")
    values = dict(zip(scales.names, scales.values.T, strict=True))
    assert dict(zip(LETTERS, values["hydrophobicity"], strict=True)) == kd
    assert {a: v for a, v in zip(LETTERS, values["charge"], strict=True) if v} == {"D": -1, "E": -1, "K": 1, "R": 1}
    weights = [protein_weights[a] - WATER for a in LETTERS]
    np.testing.assert_allclose(values["mass"], weights, atol=0.005)
    np.testing.assert_allclose(values["volume"][[LETTERS.index(a) for a in "GAW"]], [36.3, 52.6, 135.4])
    np.testing.assert_allclose(values["polarity"][[LETTERS.index(a) for a in "LDG"]], [4.9, 13.0, 9.0])
    np.testing.assert_allclose(values["bulkiness"][[LETTERS.index(a) for a in "GWV"]], [3.4, 21.67, 21.57])
    # Large residues are heavy, and polar ones are not hydrophobic.
    correlations = np.corrcoef(scales.values.T)
    assert correlations[2, 3] > 0.9
    assert correlations[0, 4] < -0.8


def test_standardised_over_the_letters_that_have_values():
    table = amino_acid_scales().standardised(as_alphabet("XWYA"))
    assert np.isnan(table[[0, 4]]).all()
    full = amino_acid_scales().standardised(PROTEIN)[:-1]
    np.testing.assert_allclose(full.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(full.std(axis=0), 1, rtol=1e-14)
    np.testing.assert_array_equal(table[1], full[LETTERS.index("W")])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("letter\nA\nB\n", "header"),
        ("letter\tsize\tsize\nA\t1\t1\n", "header"),
        ("letter\tsize\nAB\t1\n", "line 2: 'AB'"),
        ("letter\tsize\nA\t1\na\t2\n", "line 3: 'A'"),
        ("# sizes\nletter\tsize\nA\tbig\n", "line 3 is not a letter and 1 numbers"),
        ("letter\tsize\nA\t1\t2\n", "line 2"),
        ("letter\tsize\nA\tnan\n", "line 2"),
        ("letter\tsize\nA\t1\n", "fewer than two"),
    ],
)
def test_files_that_are_no_scales(text, problem, tmp_path):
    file = tmp_path / "scales.tsv"
    file.write_text(text)
    with pytest.raises(FileError, match=problem) as error:
        read_scales(file)
    assert error.value.file == str(file)


def test_scales_of_ones_own(tmp_path):
    file = tmp_path / "bonds.tsv"
    file.write_text("# hydrogen bonds, and purines\nbase\tbonds\tpurine\nA\t2\t1\nC\t3\t0\nG\t3\t1\nT\t2\t0\n")
    X = encode(["ACGT", "AAG*"], DNA)
    kernel = linear(scales=str(file))
    own = {"A": [2, 1], "C": [3, 0], "G": [3, 1], "T": [2, 0]}
    expected = naive_property.window_vectors(["ACGT", "AAG*"], naive_property.standardised(own))
    np.testing.assert_allclose(kernel.features(X), expected, **CLOSE)
    K, state, identity = kernel(X), kernel.state(), kernel.identity()
    file.write_text(file.read_text().replace("A\t2\t1", "A\t2.5\t1"))
    assert linear(scales=str(file)).identity() != identity
    file.unlink()
    np.testing.assert_array_equal(kernel_from_state(*state)(X), K)
    with pytest.raises(FileError, match="scales such as hydrophobicity"):
        check_files(linear(scales=str(file)))


# ---- windows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["all", ["charge", "volume"], "bulkiness"])
def test_windows_equal_their_definition(names):
    chosen = amino_acid_scales().names if names == "all" else names if isinstance(names, list) else [names]
    X = encode(WINDOWS, PROTEIN)
    expected = naive_property.window_vectors(WINDOWS, vectors(*chosen))
    kernel = linear(scales=names)
    np.testing.assert_allclose(kernel.features(X), expected, **CLOSE)
    np.testing.assert_allclose(kernel(X), expected @ expected.T, rtol=1e-12, atol=1e-11)
    squares = ((expected[:, None] - expected) ** 2).sum(axis=2)
    np.testing.assert_allclose(PropertyKernel(scales=names, gamma=0.02)(X), np.exp(-0.02 * squares), rtol=1e-11)
    cube = PropertyKernel(scales=names, vector_kernel="polynomial", gamma=0.1, degree=3)
    np.testing.assert_allclose(cube(X), (0.1 * expected @ expected.T + 1) ** 3, rtol=1e-10, atol=1e-10)
    # In single precision, as approximations of many windows take them.
    single = kernel._vector_form().vectors(X, np.float32).gather()
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, kernel.features(X).astype(np.float32))


def test_names_of_windows():
    X = encode(WINDOWS, PROTEIN)
    kernel = linear(scales=["hydrophobicity", "charge"])
    names = kernel.features.names(X)
    assert len(names) == kernel.features(X).shape[1]
    assert names[:4] == ["-3:hydrophobicity", "-3:charge", "-3:end", "-2:hydrophobicity"]
    assert kernel.features.named(X, [0, 10]) == ["-3:hydrophobicity", "0:charge"]


# ---- covariances ---------------------------------------------------------------------------------


def test_covariances_by_hand(tmp_path):
    # On a scale where A is −1 and B is 1: ABBA has the mean 0, and A·B + B·B + B·A = −1 over three pairs, A·B + B·A =
    # −2 over two, A·A = 1 over one, and nothing at the distance 4. AB* has the mean 0 and one pair.
    file = tmp_path / "scale.tsv"
    file.write_text("letter\tsize\nA\t-5\nB\t7\n")
    X = encode(["ABBA", "AB*"], as_alphabet("AB"))
    features = linear("covariance", scales=str(file), lag=4).features(X)
    np.testing.assert_allclose(features, [[-1 / 3, -1, 1, 0], [-1, 0, 0, 0]], rtol=1e-14)


@pytest.mark.parametrize(("lag", "cross"), [(1, True), (4, True), (12, False)])
def test_covariances_equal_their_definition(lag, cross):
    names = ["hydrophobicity", "charge", "volume"]
    X = encode(CHAINS, PROTEIN)
    expected = naive_property.covariances(CHAINS, vectors(*names), lag, cross)
    kernel = linear("covariance", scales=names, lag=lag, cross=cross)
    np.testing.assert_allclose(kernel.features(X), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel(X), expected @ expected.T, rtol=1e-10, atol=1e-12)
    squares = ((expected[:, None] - expected) ** 2).sum(axis=2)
    radial = PropertyKernel("covariance", scales=names, lag=lag, cross=cross, gamma=0.3)
    np.testing.assert_allclose(radial(X), np.exp(-0.3 * squares), rtol=1e-10)
    np.testing.assert_array_equal(kernel.features(X.take([4, 9])), kernel.features(X)[[4, 9]])


def test_names_of_covariances():
    kernel = linear("covariance", scales=["hydrophobicity", "volume"], lag=2)
    names = kernel.features.names()
    pairs = ["hydrophobicity", "hydrophobicity×volume", "volume×hydrophobicity", "volume"]
    assert names == [f"{pair}:lag{lag}" for lag in (1, 2) for pair in pairs]
    X = encode(CHAINS, PROTEIN)
    assert kernel.features(X).shape == (len(X), len(names))
    assert kernel.features.named(X, [5]) == ["hydrophobicity×volume:lag2"]
    alone = linear("covariance", scales=["hydrophobicity", "volume"], lag=2, cross=False)
    assert alone.features.names() == ["hydrophobicity:lag1", "volume:lag1", "hydrophobicity:lag2", "volume:lag2"]


def test_short_sequences_are_counted():
    X = encode(CHAINS, PROTEIN)
    counts = PropertyKernel("covariance").prepare(X).counts
    assert counts["sequences with fewer than 2 residues"] == 2


# ---- explanations, parameters --------------------------------------------------------------------


@pytest.mark.parametrize("vector_kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("form", ["window", "covariance"])
def test_attributions_sum_to_the_kernel(form, vector_kernel):
    X = encode([text for text in (WINDOWS if form == "window" else CHAINS) if text], PROTEIN)
    coefficients = np.random.default_rng(2).standard_normal(len(X))
    for cross in (True, False):
        kernel = PropertyKernel(form, vector_kernel=vector_kernel, lag=3, cross=cross)
        shares = np.add.reduceat(attributions(kernel, X, X, coefficients), X.starts)
        expected = kernel(X) @ coefficients
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_letter_has_its_own_share():
    X = encode(["AWA", "GWG"], PROTEIN)
    shares = attributions(linear(scales="volume"), X.take([0]), X.take([1]), np.ones(1))
    table = vectors("volume")
    expected = [table["A"][0] * table["G"][0], table["W"][0] ** 2, table["A"][0] * table["G"][0]]
    np.testing.assert_allclose(shares, expected, rtol=1e-13)


def test_bad_parameters():
    X = encode(WINDOWS, PROTEIN)
    bad = [
        ({"form": "circle"}, "form"),
        ({"lag": 0}, "lag"),
        ({"cross": 2}, "cross"),
        ({"scales": ["charge", "colour"]}, "no scale 'colour'; choose all, some of hydrophobicity"),
        ({"scales": []}, "scales"),
        ({"scales": ["mass", "mass"]}, "scales"),
        ({"scales": 3}, "scales"),
        ({"form": "covariance", "position_weights": "triangle"}, "position_weights"),
        ({"vector_kernel": "cosine"}, "vector_kernel"),
    ]
    for parameters, problem in bad:
        with pytest.raises(ParameterError, match=problem):
            PropertyKernel(**parameters)(X)
    with pytest.raises(ParameterError, match="no explicit features"):
        PropertyKernel().features(X)


def test_other_letters_than_those_of_proteins():
    with pytest.raises(ParameterError, match="for amino acids, the alphabet is dna"):
        PropertyKernel()(encode(["ACGT"], DNA))
    with pytest.raises(ParameterError, match="no letter"):
        PropertyKernel()(encode(["01"], as_alphabet("01")))
    # Letters for several amino acids, and none, count as masked ones.
    features = linear().features(encode(["AXB*"], as_alphabet(LETTERS + "XB"))).reshape(4, 7)
    assert features[:, -1].tolist() == [0, 1, 1, 1]
    assert not features[1:, :-1].any()
    with pytest.raises(SequenceError, match="one length"):
        PropertyKernel()(encode(["ACD", "AC"], PROTEIN))


def test_specs():
    kernel = build_kernel("property:form=covariance,lag=2,scales=[charge,volume],vector_kernel=linear")
    assert kernel.scales == ["charge", "volume"]
    assert kernel.features(encode(CHAINS, PROTEIN)).shape == (len(CHAINS), 2 * 4)
