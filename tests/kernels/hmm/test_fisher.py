"""The Fisher kernel: which model, which scores, the errors; the recursions are in test_hmm.py."""

import copy
import json
import subprocess
import sys
import warnings

import naive_hmm
import numpy as np
import pytest
from conftest import ROOT
from naive import encode
from test_hmm import naive_of, write_models

from seqkern.core import public_files as public
from seqkern.core.errors import FileError, LabelError, ParameterError, SequenceError
from seqkern.core.text_files import file_sha256
from seqkern.kernels import FisherKernel, build_kernel, kernel_from_state
from seqkern.kernels.kernel import files
from seqkern.kernels.models.profile_hmm import build_profile

POSITIVE = ["ACGTTACG", "ACGTACG", "ACGTTACC", "GGACGTTACG"]
NEGATIVE = ["TTTTTTTT", "GATTACA", "CCCCC", "TGTGTG"]
TRAIN = [*POSITIVE, *NEGATIVE]
Y = np.array([1] * 4 + [-1] * 4)
NEW = ["ACGTTACG", "ACGT", "CCGTTAGGTT", "", "AC**TACG"]


@pytest.fixture(scope="module")
def fitted():
    return FisherKernel(alphabet="dna").fit(encode(TRAIN), Y)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "family.hmm"
    write_models(path, (b"family", ["ACGTTACG", "ACG-TACG", "ACGTTACC"], "dna"))
    return path


def naive_scores(kernel, strings, transitions):
    """U of all models side by side, and the information, as lists."""
    models = kernel._models()[0]
    rows = []
    for text in strings:
        x = [None if letter == "*" else "ACGT".index(letter) for letter in text]
        row = []
        for model in models:
            scores = naive_hmm.fisher_scores(naive_of(model), x)
            row += scores if transitions else scores[: model.emissions.size]
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("transitions", [False, True])
@pytest.mark.parametrize("information", ["diagonal", "identity"])
def test_kernel_is_of_the_scores_and_the_information(transitions, information):
    kernel = FisherKernel(transitions=transitions, information=information, normalize=False)
    kernel.fit(encode(TRAIN), Y)
    U = naive_scores(kernel, NEW, transitions)
    known = kernel.models_[0].information(transitions) if information == "diagonal" else np.ones(U.shape[1])
    inverse = np.divide(1.0, known, out=np.zeros_like(known), where=known > 0)
    K = kernel(encode(NEW))
    expected = (U * inverse) @ U.T
    np.testing.assert_allclose(K, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
    squares = np.sqrt(np.diagonal(expected))
    kernel.set_params(normalize=True, zero_diagonal="zero")
    shares = np.divide(expected, np.outer(squares, squares), out=np.zeros_like(K), where=np.outer(squares, squares) > 0)
    np.testing.assert_allclose(kernel(encode(NEW)), shares, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.1, 2.0])
def test_the_full_information_is_that_of_the_positives(ridge):
    kernel = FisherKernel(transitions=True, information="full", ridge=ridge, normalize=False)
    kernel.fit(encode(TRAIN), Y)
    own, U = (naive_scores(kernel, strings, True) for strings in (POSITIVE, NEW))
    known = own.T @ own / len(own)
    known += ridge * np.diagonal(known).mean() * np.eye(len(known))
    expected = U @ np.linalg.solve(known, U.T)
    np.testing.assert_allclose(kernel(encode(NEW)), expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def test_the_full_information_of_more_positives_than_parameters():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(40)]
    kernel = FisherKernel(model="markov", order=1, information="full", normalize=False, alphabet="dna").fit(strings)
    U = kernel.models_[0].score(encode(strings))[0]
    known = U.T @ U / len(U)
    known += 0.1 * np.diagonal(known).mean() * np.eye(len(known))
    np.testing.assert_allclose(kernel(encode(strings)), U @ np.linalg.solve(known, U.T), rtol=1e-8)


def test_the_full_information_of_a_file_is_learned(file):
    kernel = FisherKernel(hmm=str(file), information="full", normalize=False)
    assert kernel.traits.data_dependent
    kernel.fit(encode(TRAIN), Y)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(encode(NEW)), kernel(encode(NEW)))
    U = naive_scores(kernel, POSITIVE, False)
    known = U.T @ U / len(U)
    known += 0.1 * np.diagonal(known).mean() * np.eye(len(known))
    V = naive_scores(kernel, NEW, False)
    np.testing.assert_allclose(kernel(encode(NEW)), V @ np.linalg.solve(known, V.T), rtol=1e-7, atol=1e-7)


def test_the_model_is_of_the_positives_alone(fitted):
    np.testing.assert_array_equal(fitted.models_[0].emissions, build_profile(encode(POSITIVE)).emissions)
    other = FisherKernel().fit(encode([*POSITIVE, "GGGG", "CATCAT"]), [3, 3, 3, 3, 0, 0])
    np.testing.assert_array_equal(other.models_[0].emissions, fitted.models_[0].emissions)
    assert other.identity() != FisherKernel().fit(encode(TRAIN), -Y).identity()


def test_without_labels_or_of_one_class_all_are_positives(fitted):
    for y in (None, [1] * 4, ["a"] * 4):
        alone = FisherKernel().fit(encode(POSITIVE), y)
        np.testing.assert_array_equal(alone.models_[0].emissions, fitted.models_[0].emissions)


def test_several_classes_have_a_model_each_side_by_side():
    X, y = encode([*TRAIN, "GGGGGG", "GGGAGG"]), np.array([0] * 4 + [1] * 4 + [2] * 2)
    kernel = FisherKernel(normalize=False).fit(X, y)
    parts = [FisherKernel(normalize=False).fit(X.take(np.flatnonzero(y == one))) for one in range(3)]
    np.testing.assert_array_equal(kernel.features(X), np.hstack([part.features(X) for part in parts]))
    np.testing.assert_allclose(kernel(X), sum(part(X) for part in parts), rtol=1e-12, atol=1e-9)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))


def test_numbers_as_labels_and_too_few_labels_are_errors():
    with pytest.raises(LabelError, match="numbers"):
        FisherKernel().fit(encode(POSITIVE), [0.1, 0.2, 0.3, 0.4])
    with pytest.raises(LabelError, match="3 labels for 4"):
        FisherKernel().fit(encode(POSITIVE), [1, 0, 1])


@pytest.mark.parametrize("y", [[-1] * 4, [0] * 4, [-1.0] * 4, [False] * 4])
def test_labels_without_a_positive_are_an_error(y):
    for kernel in (FisherKernel(), FisherKernel(model="markov")):
        with pytest.raises(LabelError, match="learns from positives, and there are none among 4 labels"):
            kernel.fit(encode(NEGATIVE), y)


@pytest.mark.parametrize("model", ["profile", "markov"])
def test_a_model_of_one_positive_or_none_with_letters_is_told_of(model):
    alone = "1 positives, 1 with unmasked residues: the profile HMM mostly reflects its priors"
    none = "{} positives, 0 with unmasked residues: the model is the background alone"
    for strings, y, told in (
        (["ACGT", "TTTT"], [1, -1], [alone] if model == "profile" else []),
        (["", "TTTT"], [1, -1], [none.format(1)]),
        (["***", "", "TTTT"], [1, 1, -1], [none.format(2)]),
        (["ACGT", "ACCT", "TTTT"], [1, 1, -1], []),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kernel = FisherKernel(model=model, zero_diagonal="zero").fit(encode(strings), y)
        assert [str(warning.message) for warning in said] == told
        assert np.isfinite(kernel(encode(NEW))).all()


def test_many_fits_alike_warn_once_by_default():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(5):
            FisherKernel().fit(encode(["ACGT", "TTTT"]), [1, -1])
    assert len(said) == 1


def test_radial_basis_function_has_the_width_of_jaakkola():
    X = encode(TRAIN)
    kernel = build_kernel("rbf:gamma=jaakkola,base=(fisher:normalize=false)").fit(X, Y)
    U = FisherKernel(normalize=False).fit(X, Y).features(X)
    squares = ((U[:, None] - U[None]) ** 2).sum(axis=2)
    width = np.median(np.sqrt(squares[:4, 4:].min(axis=1)))
    np.testing.assert_allclose(kernel(X), np.exp(-squares / (2 * width**2)), rtol=1e-9, atol=1e-12)


def test_letters_share_the_kernel(fitted):
    kernel = copy.copy(fitted).set_params(normalize=False)
    shares = kernel._attribute(encode(["ACGTTACG"]), encode(POSITIVE[:1]), np.ones(1))
    assert shares.sum() == pytest.approx(kernel(encode(["ACGTTACG"]), encode(POSITIVE[:1]))[0, 0])


# ---- a given file --------------------------------------------------------------------------------


def test_a_given_file_needs_no_fit_and_its_content_is_the_identity(file, tmp_path):
    kernel = FisherKernel(hmm=str(file), zero_diagonal="zero")
    assert not kernel.traits.data_dependent
    assert files(kernel) == (str(file),)
    K, identity = kernel(encode(NEW)), kernel.identity()
    np.testing.assert_array_equal(copy.copy(kernel).fit(encode(TRAIN), Y)(encode(NEW)), K)
    header, arrays = json.loads(json.dumps(kernel.state()[0])), kernel.state()[1]
    assert header["spec"]["hmm"] == str(file)
    file.unlink()
    again = kernel_from_state(header, arrays)
    np.testing.assert_array_equal(again(encode(NEW)), K)
    assert again.identity() == identity
    write_models(file, (b"family", ["ACGTTACG", "ACCTTACG"], "dna"))
    assert FisherKernel(hmm=str(file), zero_diagonal="zero").identity() != identity
    other = tmp_path / "other.hmm"
    write_models(other, (b"other", ["TTTT", "TTAT"], "dna"))
    assert not np.array_equal(kernel.set_params(hmm=str(other))(encode(NEW)), K)


def test_models_of_one_file_are_side_by_side(file, tmp_path):
    other, both = tmp_path / "other.hmm", tmp_path / "both.hmm"
    write_models(other, (b"other", ["TTTT", "TTAT"], "dna"))
    both.write_text(file.read_text() + other.read_text())
    parts = [FisherKernel(hmm=str(path)).features(encode(NEW)) for path in (file, other)]
    np.testing.assert_array_equal(FisherKernel(hmm=str(both)).features(encode(NEW)), np.hstack(parts))


def test_a_file_of_another_alphabet_is_an_error_that_names_file_and_alphabets(file):
    with pytest.raises(SequenceError, match="alphabet protein, the model has dna") as error:
        FisherKernel(hmm=str(file))(encode(["MKV"], "protein"))
    assert str(file) in str(error.value)
    with pytest.raises(FileError, match="no such file"):
        FisherKernel(hmm=str(file) + ".gz")(encode(NEW))


def test_the_file_may_be_public(file, monkeypatch):
    given = public.PublicFile("family", public.PARAMETER, file.name, file_sha256(file), "", "by hand")
    monkeypatch.setattr(public, "public_table", lambda *_: (given,))
    monkeypatch.setenv("SEQKERN_DATA", str(file.parent))
    kernel = build_kernel("fisher:hmm=public:family")
    assert files(kernel) == ("public:family",)
    np.testing.assert_array_equal(kernel.features(encode(NEW)), FisherKernel(hmm=str(file)).features(encode(NEW)))
    with pytest.raises(ParameterError, match="unknown public file 'famly'"):
        FisherKernel(hmm="public:famly").features(encode(NEW))


# ---- Markov chains, parameters -------------------------------------------------------------------


def test_scores_of_a_markov_chain_for_any_alphabet():
    train, strings = ["HEHCC", "EEH", "H*CEC"], ["HEC", "CCEEH*H"]
    kernel = FisherKernel(model="markov", order=1, pseudocount=0.5, normalize=False, information="identity")
    kernel.fit(encode([*train, "CCCCC"], "HEC"), [1, 1, 1, 0])
    U = np.array(naive_hmm.markov_scores(strings, train, "HEC", 1, 0.5))
    np.testing.assert_allclose(kernel(encode(strings, "HEC")), U @ U.T, rtol=1e-12)
    kernel.set_params(information="diagonal")
    chances, visits = kernel.models_[0].chances, kernel.models_[0].visits
    known = (visits[:, None] * (1 - chances) / chances).reshape(-1)
    np.testing.assert_allclose(kernel(encode(strings, "HEC")), (U / known) @ U.T, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "hmm"}, "model='hmm'"),
        ({"hmm": 12}, "hmm=12 is not a path"),
        ({"information": "all"}, "information='all'"),
        ({"transitions": "yes"}, "transitions='yes'"),
        ({"order": -1}, "order=-1"),
        ({"pseudocount": 0}, "pseudocount=0"),
        ({"model": "markov", "hmm": "a.hmm"}, "hmm does not apply"),
        ({"model": "markov", "transitions": True}, "transitions does not apply"),
        ({"model": "markov", "order": 8}, "order=8 is too large"),
    ],
)
def test_bad_parameters_are_errors(parameters, message):
    with pytest.raises(ParameterError, match=message):
        FisherKernel(**parameters).fit(encode(TRAIN), Y)


def test_other_alphabets_are_for_markov_chains():
    with pytest.raises(SequenceError, match="choose model=markov"):
        FisherKernel().fit(encode(["HEC", "CCE"], "HEC"), [1, 0])


def test_plan_grows_with_the_model(fitted):
    X = encode(TRAIN)
    plain, more = fitted.plan(X), copy.copy(fitted).set_params(transitions=True).plan(X)
    assert more.seconds > plain.seconds
    assert more.bytes > plain.bytes
    assert FisherKernel().plan(X).seconds > 0
    markov = FisherKernel(model="markov", order=1).fit(X, Y)
    assert markov.plan(X).seconds > 0


def test_hmmer_is_imported_only_to_build_and_read():
    code = "import sys, seqkern.kernels.models.fisher; sys.exit('pyhmmer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
