"""The LOCK kernel against its naive twin, its derivatives and priors, and what `likelihood` learns with it."""

import gzip

import naive_lock
import numpy as np
import pytest
from naive import encode, random_strings

from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.kernels import LikelihoodKernel, LOCKKernel, build_kernel, kernel_from_state
from seqkern.kernels.positional import lock
from seqkern.kernels.positional.lock import normalised_matrix
from seqkern.kernels.vectors.marginal_likelihood import Labels, LikelihoodSearch
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.sequence_set import as_sequences
from seqkern.solvers import GPR

AMINO_ACIDS = PROTEIN.letters
LENGTH = 7
NAMES = {
    **{"g": "distance_decay", "h": "local_decay", "h_additive": "additive_decay", "h_contact": "contact_decay"},
    **{"s": "local_scale", "s_additive": "additive_scale", "s_contact": "contact_scale"},
}
VALUES = {"g": 0.7, "h": 0.4, "h_additive": 1.9, "h_contact": 2.3, "s": 0.6, "s_additive": 1.3, "s_contact": 0.8}
PAIRS = [(0, 5), (1, 2), (1, 6), (3, 4)]
EQUAL = [name for name in NAMES.values() if not name.startswith("contact")]
WEIGHTS = [0.5, 2.0, 0.0, 1.0, 1.5, 0.1, 1.0]


def variants(n, length=LENGTH, share=0.4, seed=1, letters=AMINO_ACIDS):
    """Return variants of one protein, as codes of letters."""
    rng = np.random.default_rng(seed)
    codes = np.tile(rng.integers(len(letters), size=length), (n, 1))
    hit = rng.random((n, length)) < share
    codes[hit] = rng.integers(len(letters), size=hit.sum())
    return codes


def as_strings(codes):
    return ["".join(AMINO_ACIDS[code] for code in row) for row in codes]


def landscape(n, length, seed=1, noise=0.1):
    """Return sequences, and a saturating function of a third of their positions with noise."""
    codes = variants(n, length, seed=seed)
    rng = np.random.default_rng(seed + 1000)
    effects = rng.standard_normal((length, 20)) * (np.arange(length) % 3 == 0)[:, None]
    total = effects[np.arange(length), codes].sum(axis=1)
    return as_sequences(as_strings(codes), "protein"), np.tanh(total) + noise * rng.standard_normal(n)


@pytest.mark.parametrize(("letters", "matrix"), [("ACGT", None), (AMINO_ACIDS, "BLOSUM50"), (AMINO_ACIDS, "BLOSUM62")])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_equals_the_naive_twin(letters, matrix, weights, monkeypatch):
    monkeypatch.setattr(lock, "CHUNK_ROWS", 5)
    strings = random_strings(12, LENGTH, LENGTH + 1, letters, masked=0.1, seed=3)
    given = None if matrix == "BLOSUM50" else matrix  # the default for proteins
    kernel = LOCKKernel(
        matrix=given, position_weights=weights, **{NAMES[name]: value for name, value in VALUES.items()}
    )
    B = naive_lock.distances(letters, matrix)
    alphabet = "dna" if letters == "ACGT" else "protein"
    X, Y = encode(strings, alphabet), encode(strings[:4], alphabet)
    wanted = naive_lock.lock(strings, strings[:4], B, weights or [1.0] * LENGTH, **VALUES)
    np.testing.assert_allclose(kernel(X, Y), wanted, rtol=1e-12)
    np.testing.assert_array_equal(kernel(X, Y), kernel(Y, X).T)
    at = kernel.gradient.suited(X).gradient(X)
    np.testing.assert_allclose(at.matrix[:, :4], wanted, rtol=1e-12)


def listed(folder, pairs=PAIRS, header="first\tsecond\n"):
    """Return a table of pairs of positions, which counts from 1."""
    file = folder / "contacts.tsv"
    file.write_text(header + "".join(f"{j + 1}\t{i + 1}\n" for i, j in pairs), encoding="utf-8")
    return file


@pytest.mark.parametrize(("alphabet", "matrix"), [("dna", None), ("protein", "BLOSUM62")])
@pytest.mark.parametrize("neighbours", [0, 2, 100])
def test_pairs_equal_the_naive_twin(alphabet, matrix, neighbours, tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "CHUNK_ROWS", 5)
    letters = "ACGT" if alphabet == "dna" else AMINO_ACIDS
    strings = random_strings(12, LENGTH, LENGTH + 1, letters, masked=0.1, seed=3)
    X, Y = encode(strings, alphabet), encode(strings[:4], alphabet)
    values = {NAMES[name]: value for name, value in VALUES.items()}
    kernel = LOCKKernel(matrix=matrix, contacts=str(listed(tmp_path)), neighbours=neighbours, **values).fit(X)
    near = [(i, j) for j in range(LENGTH) for i in range(j) if j - i <= neighbours]
    B = naive_lock.distances(letters, matrix)
    wanted = naive_lock.lock(strings, strings[:4], B, [1.0] * LENGTH, sorted({*PAIRS, *near}), **VALUES)
    np.testing.assert_allclose(kernel(X, Y), wanted, rtol=1e-11)
    np.testing.assert_array_equal(kernel(X, Y), kernel(Y, X).T)
    np.testing.assert_array_equal(kernel(X).diagonal(), kernel.diagonal(X))
    np.testing.assert_allclose(kernel.gradient.suited(X).gradient(X).matrix[:, :4], wanted, rtol=1e-11)
    assert np.linalg.eigvalsh(kernel(X))[0] > -1e-9


def chain(atoms, sequence, letter="A", skipped=()):
    """Return the lines of a chain in a PDB file: Cα atoms, and Cβ atoms 1 Å above them."""
    names = dict(zip("ACDEFGHIKLMNPQRSTVWY", THREE.split(), strict=True))
    lines = []
    for i, (residue, (x, y, z)) in enumerate(zip(sequence, atoms, strict=True), start=1):
        for atom, up in (("CA", 0.0), ("CB", 1.0)):
            if i - 1 not in skipped and (atom == "CA" or residue != "G"):
                lines.append(
                    f"ATOM  {len(lines) + 1:5d}  {atom:3s} {names[residue]} {letter}{i + 200:4d}    "
                    f"{x:8.3f}{y:8.3f}{z + up:8.3f}  1.00 20.00           C"
                )
    return lines


THREE = "ALA CYS ASP GLU PHE GLY HIS ILE LYS LEU MET ASN PRO GLN ARG SER THR VAL TRP TYR"


def structure(folder, sequence):
    """Return a PDB file of a chain of other residues and one of a sequence without its third residue, and contacts."""
    rng = np.random.default_rng(3)
    atoms = rng.uniform(0, 15, (len(sequence), 3)).round(3)
    file = folder / "parent.pdb.gz"
    lines = [*chain(atoms, "W" * len(sequence)), "TER", *chain(atoms, sequence, "B", skipped={2}), "TER", "END"]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    seen = [[x, y, z + (sequence[i] != "G")] for i, (x, y, z) in enumerate(atoms)]
    return file, [pair for pair in naive_lock.contacts(seen, 8.0) if 2 not in pair]


def test_contacts_of_a_structure_and_in_a_model_without_its_file(tmp_path):
    sequence = "MKTGYIAKQRQISG"
    file, wanted = structure(tmp_path, sequence)
    strings = [sequence[:i] + "A" + sequence[i + 1 :] for i in range(len(sequence))]
    X = as_sequences(strings, "protein")
    kernel = LOCKKernel(contacts=str(file)).fit(X)
    assert kernel.contacts_.tolist() == sorted(map(list, wanted))
    y = np.random.default_rng(1).standard_normal(len(X))
    learned = LikelihoodKernel(LOCKKernel(contacts=str(file)), starts=1).fit(X, y)
    K = learned(X)
    file.unlink()
    np.testing.assert_array_equal(kernel_from_state(*learned.state())(X), K)


def test_contacts_in_mmcif(tmp_path):
    from Bio.PDB import MMCIFIO, PDBParser

    sequence = "MKTGYIAKQRQISG"
    file, wanted = structure(tmp_path, sequence)
    with gzip.open(file, "rt") as text:
        made = PDBParser(QUIET=True).get_structure("x", text)
    writer = MMCIFIO()
    writer.set_structure(made)
    writer.save(str(tmp_path / "parent.cif"))
    kernel = LOCKKernel(contacts=str(tmp_path / "parent.cif")).fit(as_sequences([sequence], "protein"))
    assert kernel.contacts_.tolist() == sorted(map(list, wanted))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i\tj\n1\t2\n3\t8\n", "record 'row 3': '8' is not a position from 1 to 7; give two different positions"),
        ("1\t2\n3\tx\n", "record 'row 2': 'x' is not a position from 1 to 7; give two"),
        ("0\t2\n", "record 'row 1': '0' is not a position from 1 to 7; give two"),
        ("1\t2\n5\t5\n", "record 'row 2': is not a pair of two positions; give two"),
        ("1\n2\n", "record 'row 1': is not a pair of two positions; give two"),
        ("i\tj\n", "has no pair of positions in contact; give some, or remove contacts"),
    ],
)
def test_bad_tables_of_contacts(text, message, tmp_path):
    file = tmp_path / "contacts.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message) as raised:
        LOCKKernel(contacts=str(file)).fit(as_sequences(["MKVLAAG"], "protein"))
    assert str(raised.value).startswith(str(file))


def test_bad_structures(tmp_path):
    file, _ = structure(tmp_path, "MKTGYIAKQRQISG")
    X = as_sequences(["MPTNVCCDEFHHSG"], "protein")
    with pytest.raises(FileError, match="no chain is like the sequences of 14 residues; the most similar one, B, has"):
        LOCKKernel(contacts=str(file)).fit(X)
    (tmp_path / "x.cif").write_text("data_x\n_a.b 1\n", encoding="utf-8")
    with pytest.raises(FileError, match="is not a structure that Biopython reads; download it again"):
        LOCKKernel(contacts=str(tmp_path / "x.cif")).fit(X)
    (tmp_path / "x.pdb").write_text(chain(np.zeros((1, 3)), "G")[0].replace("GLY", "HOH"), encoding="utf-8")
    with pytest.raises(FileError, match="no chain is like the sequences of 14 residues; give the structure of this"):
        LOCKKernel(contacts=str(tmp_path / "x.pdb")).fit(X)
    with pytest.raises(FileError, match=r"there is no file 'absent\.pdb'; check the path"):
        LOCKKernel(contacts="absent.pdb").fit(X)
    kernel = LOCKKernel(contacts=str(listed(tmp_path))).fit(as_sequences(["MKVLAAG"], "protein"))
    with pytest.raises(SequenceError, match="has 14 residues, the contacts are for 7; align all"):
        kernel(X)


def test_planted_contacts_are_worth_their_evidence(tmp_path):
    rng = np.random.default_rng(1)
    length, n = 12, 300
    parent = rng.integers(20, size=length)
    alternatives = (parent[:, None] + rng.permuted(np.tile(np.arange(1, 20), (length, 1)), axis=1)[:, :3]) % 20
    mutated = rng.random((n, length)) < 0.25
    codes = np.where(mutated, alternatives[np.arange(length), rng.integers(3, size=(n, length))], parent)
    pairs = [(0, 7), (1, 10), (2, 5), (3, 11), (4, 9), (6, 8)]
    y = rng.standard_normal((length, 20))[np.arange(length), codes].sum(axis=1)
    for i, j in pairs:
        y += 3 * rng.standard_normal((20, 20))[codes[:, i], codes[:, j]] * mutated[:, i] * mutated[:, j]
    X, train, test = as_sequences(as_strings(codes), "protein"), np.arange(150), np.arange(150, n)
    found = {}
    for name, given in {"without": None, "contacts": pairs, "wrong": [(i, (j + 1) % length) for i, j in pairs]}.items():
        own = LOCKKernel(contacts=None if given is None else str(listed(tmp_path, given)))
        kernel = LikelihoodKernel(own, starts=1).fit(X.take(train), y[train])
        predicted = GPR().fit(kernel(X.take(train)), y[train]).predict(kernel(X.take(test), X.take(train)))
        found[name] = kernel.report_["log_likelihood"], np.corrcoef(predicted, y[test])[0, 1]
    assert found["contacts"][0] > max(found["without"][0], found["wrong"][0]) + 10
    assert found["contacts"][1] > max(found["without"][1], found["wrong"][1]) + 0.05


def test_the_matrix_is_normalised():
    B = normalised_matrix(PROTEIN, "BLOSUM50")
    assert np.median(B[:-1, :-1]) == -0.25
    assert not B.diagonal().any()
    np.testing.assert_allclose(normalised_matrix(DNA, None), -0.25 * (1 - np.eye(5)))


@pytest.mark.parametrize("base", ["lock", "lock:neighbours=2", "0.7*lock+0.2*spectrum:k=1,normalize=false", "product"])
def test_all_derivatives_at_once(base):
    X = as_sequences(as_strings(variants(15)), "protein")
    kernel = build_kernel("lock*rbf:base=(spectrum:k=1)" if base == "product" else base)
    gradient = kernel.gradient.suited(X).gradient(X)
    values = np.exp(0.3 * np.random.default_rng(5).standard_normal(len(gradient.names)))
    gradient = gradient.at(dict(zip(gradient.names, values.tolist(), strict=True)))
    S = np.random.default_rng(6).standard_normal((15, 15))
    S += S.T
    found = gradient.contracted(S, gradient.names)
    assert sum("position_weights__" in name for name in gradient.names) == LENGTH
    assert {name for name in gradient.names if "lock" not in base or "weights" in name} <= set(found)
    for name, value in found.items():
        assert value == pytest.approx(np.vdot(S, gradient.derivative(name)), rel=1e-9, abs=1e-10), name


@pytest.mark.parametrize("classes", [False, True])
def test_derivatives_of_the_likelihood_and_the_priors(classes):
    X, y = landscape(30, LENGTH)
    gradient = LOCKKernel(neighbours=2).gradient.suited(X).gradient(X)
    search = LikelihoodSearch(gradient, Labels(np.where(y > 0, "a", "b") if classes else y), gradient.names)
    names = [*gradient.names, *([] if classes else ["noise"])]
    x = np.exp(0.4 * np.random.default_rng(2).standard_normal(len(names)))
    value, slopes = search.value(x, names, {})
    for i, name in enumerate(names):
        step = np.zeros(len(x))
        step[i] = 1e-4 * x[i]
        wanted = (search.value(x + step, names, {})[0] - search.value(x - step, names, {})[0]) / (2 * step[i])
        assert slopes[i] == pytest.approx(wanted, rel=1e-4, abs=1e-5), name
    decays, (s, s_additive, s_contact), weights = np.split(x[: len(gradient.names)], [4, 7])
    prior = -sum(np.log(decays) ** 2) / 2 + np.log(s * s_additive * s_contact) - 2 * (s + s_additive + s_contact)
    prior -= sum(np.log(weights) ** 2) / (2 * 0.5**2)
    prior += 0 if classes else np.log(x[-1] / np.var(y)) - 2 * x[-1] / np.var(y)
    likelihood = search._likelihood(dict(zip(names, x.tolist(), strict=True)))[1].value
    assert value == pytest.approx(likelihood + prior, rel=1e-12)


def test_a_kernel_without_priors_has_the_likelihood_alone():
    assert build_kernel("rbf:gamma=1").gradient.log_priors() == {}
    assert build_kernel("rbf:gamma=1").gradient.refining() == {}


def test_position_weights_are_learned_where_the_evidence_is_for_them():
    X, y = landscape(150, 12)
    kernel = LikelihoodKernel(LOCKKernel()).fit(X, y)
    weights = np.array([kernel.values_[f"position_weights__{place}"] for place in range(12)])
    matters = np.arange(12) % 3 == 0
    assert weights[matters].min() > weights[~matters].max()
    equal = LikelihoodKernel(LOCKKernel(), parameters=EQUAL).fit(X, y)
    assert kernel.report_["log_likelihood"] > equal.report_["log_likelihood"] + 5
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))


@pytest.mark.parametrize("length", [11, 60])
def test_noise_gives_equal_weights_at_24_samples(length):
    for seed in range(6):
        X = as_sequences(as_strings(variants(24, length, seed=seed)), "protein")
        y = np.random.default_rng(seed + 50).standard_normal(24)
        kernel = LikelihoodKernel(LOCKKernel()).fit(X, y)
        assert {kernel.values_[f"position_weights__{place}"] for place in range(length)} == {1.0}
        equal = LikelihoodKernel(LOCKKernel(), parameters=EQUAL).fit(X, y)
        np.testing.assert_array_equal(kernel(X), equal(X))


def test_a_constant_position_keeps_its_weight():
    X, y = landscape(150, 12)
    strings = [f"{string[:5]}W{string[5:]}" for string in X.strings()]
    values = LikelihoodKernel(LOCKKernel()).fit(as_sequences(strings, "protein"), y).values_
    assert values["position_weights__5"] == 1.0
    assert values["position_weights__4"] != 1.0


@pytest.mark.parametrize(
    "base", ["lock+oligo:k=1,sigma=1", "rbf:base=lock", "0.5*lock+0.5*(spectrum:k=1*lock:matrix=BLOSUM62)"]
)
def test_as_a_part(base):
    X, y = landscape(60, LENGTH)
    kernel = LikelihoodKernel(build_kernel(base), starts=1).fit(X, y)
    assert kernel.report_["log_likelihood"] > kernel.report_["at_start"]
    np.testing.assert_array_equal(kernel_from_state(*kernel.state())(X), kernel(X))
    gradient = kernel.bases[0].gradient
    assert sum("position_weights__" in name for name in gradient.tunable()) == LENGTH * base.count("lock")
    assert gradient.has_scale() == ("rbf" not in base)


def test_parameters_of_0_stay():
    X, y = landscape(60, LENGTH)
    kernel = LikelihoodKernel(LOCKKernel(local_scale=0.0, position_weights=[1.0] * 6 + [0.0]), starts=1).fit(X, y)
    assert not {"local_scale", "position_weights__6"} & set(kernel.values_)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))
    assert again.bases[0].position_weights[6] == 0


def test_what_cannot_be():
    X = as_sequences(["MKV", "MRV"], "protein")
    with pytest.raises(ParameterError, match="with matrix PAM250 the kernel is not positive semi-definite; choose a B"):
        LOCKKernel(matrix="PAM250")(X)
    with pytest.raises(SequenceError, match="has 3 residues, there are position weights for 2; align all"):
        LOCKKernel(position_weights=[1.0, 2.0])(X)
    with pytest.raises(SequenceError, match="has 4 residues, others have 3; align all"):
        LOCKKernel()(as_sequences(["MKVV"], "protein"), X)
    with pytest.raises(ParameterError, match="local_decays"):
        LikelihoodKernel(LOCKKernel(), parameters=["local_decays"]).fit(X, [0.0, 1.0])
