"""Model files of LS-GKM: one that it shipped with its decision values, and files written and read again."""

import gzip
import re
from dataclasses import replace

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import FileError, ModelError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import GappedKmerKernel, RBFKernel, SpectrumKernel, build_kernel
from seqkern.methods.loading import is_lsgkm, load_model
from seqkern.methods.lsgkm import read_lsgkm, write_lsgkm
from seqkern.methods.model import affine_form
from seqkern.methods.training import train_model
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet

STEM = "wgEncodeSydhTfbsGm12878Nfe2hStdAlnRep0"
FILE = """svm_type c_svc
kernel_type gkm_esttrunc
L 6
k 4
d 2
norc 0
nr_class 2
total_sv 3
rho -0.25
label 1 -1
nr_sv 2 1
SV
0.5 ACGTTGCAGGA
1 TTGACCAGATT
-1.5 GGGATTACAGA
"""
KERNELS = {
    "gkm_cnt": {},
    "gkm_estfull": {"estimator": "full"},
    "gkm_esttrunc": {"estimator": "truncated", "d": 3, "reverse_complement": True},
    "wgkm": {"estimator": "truncated", "center_weighted": True, "d": 2},
}
NEW = ["ACGTTGCAGGATTGACC", "TTTTTTTTTTT", "GGATTACAGATTACA"]


def random_set(n=24, seed=0):
    rng = np.random.default_rng(seed)
    strings = []
    for i in range(n):
        letters = rng.choice(list("ACGT"), rng.integers(20, 41))
        if i % 2:
            letters[5:13] = list("TGACTCAG")
        strings.append("".join(letters))
    return SequenceSet.from_strings(strings, "dna")


def trained(kernel, solver="csvc:C=2", X=None, **options):
    X = random_set() if X is None else X
    y = np.arange(len(X)) % 2
    return train_model(X, Labels(X.ids, y, "binary", ("no", "yes")), kernel, solver, **options)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a model file with changes, and returns its path."""

    def write(*changes, text=FILE):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "model.txt"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("part", ["", "neg."])
def test_the_shipped_model_gives_the_shipped_decisions(shared_data, tmp_path, part):
    folder = shared_data / "lsgkm_nfe2"
    fasta = folder / f"{STEM}.{part}test.fa"
    out = tmp_path / "out.tsv"
    assert main(["predict", str(folder / f"{STEM}.model.txt"), str(fasta), "-o", str(out)]) == 0
    rows = [line.split("\t") for line in out.read_text().splitlines()[1:]]
    expected = [line.split("\t") for line in (folder / f"{STEM}.{part}test.pred.txt").read_text().splitlines()]
    assert [row[0] for row in rows] == [row[0] for row in expected]
    np.testing.assert_allclose(
        [float(row[1]) for row in rows], [float(row[1]) for row in expected], rtol=0, atol=1e-4
    )  # fmt: skip
    assert {row[2] for row in rows} <= {"1", "-1"}


def test_the_shipped_model_is_taken_apart(shared_data):
    folder = shared_data / "lsgkm_nfe2"
    model = load_model(folder / f"{STEM}.model.txt")
    X = read_fasta(folder / f"{STEM}.test.fa").take(slice(0, 5))
    form = affine_form(model.kernel, model.support, model.solver, model.transforms)
    shares = np.split(form.attributions(X), np.cumsum(X.lengths)[:-1])
    np.testing.assert_allclose(
        [part.sum() + form.constant for part in shares], model.decision(X), rtol=1e-9, atol=1e-9
    )  # fmt: skip


def test_contributions_are_those_of_gkmexplain(shared_data):
    """Of the first letters of the first test sequence, as the program of Shrikumar and others prints them."""
    folder = shared_data / "lsgkm_nfe2"
    model = load_model(folder / f"{STEM}.model.txt")
    X = read_fasta(folder / f"{STEM}.test.fa").take(slice(0, 1))
    form = affine_form(model.kernel, model.support, model.solver, model.transforms)
    expected = [0.000274647, 0.00162525, 0.00224492, 0.0017675, 0.0025192, 0.00377332, 0.00522202, 0.0062914]
    np.testing.assert_allclose(form.attributions(X)[: len(expected)], expected, rtol=3e-6)


def test_a_model_of_unknown_training_is_explained(write, tmp_path):
    fasta = tmp_path / "new.fa"
    fasta.write_text("".join(f">new{i}\n{string}\n" for i, string in enumerate(NEW)))
    assert main(["explain", str(write()), str(fasta), "-o", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert re.search(r"<dt>trained on</dt>\s*<dd>unknown</dd>", page)


def test_decisions_are_the_sum_that_the_file_tells(write):
    model = load_model(write())
    assert model.kernel.spec() == GappedKmerKernel(
        6, 4, d=2, estimator="truncated", reverse_complement=True, alphabet="dna"
    ).spec()  # fmt: skip
    support = SequenceSet.from_strings(["ACGTTGCAGGA", "TTGACCAGATT", "GGGATTACAGA"], "dna")
    X = SequenceSet.from_strings(NEW, "dna")
    expected = model.kernel(X, support) @ [0.5, 1, -1.5] + 0.25
    np.testing.assert_allclose(model.decision(X), expected, rtol=1e-12)
    assert model.classes == ("-1", "1")
    np.testing.assert_array_equal(model.predict(X), np.where(expected > 0, "1", "-1"))


def test_the_first_label_is_above_zero(write):
    model = load_model(write(("label 1 -1", "label -1 1")))
    assert model.classes == ("1", "-1")
    np.testing.assert_array_equal(model.decision(NEW), load_model(write()).decision(NEW))


def test_models_of_gkmtrain_svr_predict_numbers(write, tmp_path):
    changes = ("c_svc", "epsilon_svr"), ("label 1 -1\n", ""), ("nr_sv 2 1\n", "")
    model, expected = load_model(write(*changes)), load_model(write()).decision(NEW)
    np.testing.assert_array_equal(model.predict(SequenceSet.from_strings(NEW, "dna")), expected)
    model.save(tmp_path / "m.seqkern")
    np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(NEW), expected)


def test_one_strand_and_files_from_before_there_was_a_choice(write):
    assert not load_model(write(("norc 0", "norc 1"))).kernel.reverse_complement
    assert load_model(write(("norc 0\n", ""))).kernel.reverse_complement


def test_letters_that_stand_for_several_are_read_as_lsgkm_does(write):
    model = load_model(write(("ACGTTGCAGGA", "NcgttgcrggW")))
    assert model.support.string(0) == "ACGTTGCAGGA"


def test_radial_and_centred(write):
    model = load_model(write(("gkm_esttrunc", "wgkmrbf"), ("norc 0", "norc 0\ngamma 3\nM 50\nH 50")))
    plain = load_model(write(("gkm_esttrunc", "wgkm"), ("norc 0", "norc 0\nM 50\nH 50")))
    assert plain.kernel.center_weighted
    X = SequenceSet.from_strings(NEW, "dna")
    np.testing.assert_allclose(model.kernel(X), np.exp(3 * (plain.kernel(X) - 1)), rtol=1e-12)


def test_compressed(write, tmp_path):
    path = tmp_path / "model.txt.gz"
    path.write_bytes(gzip.compress(FILE.encode()))
    np.testing.assert_array_equal(load_model(path).decision(NEW), load_model(write()).decision(NEW))


@pytest.mark.parametrize("radial", [False, True])
@pytest.mark.parametrize("kind", KERNELS)
def test_written_and_read_again(kind, radial, tmp_path):
    kernel = GappedKmerKernel(8, 5, **KERNELS[kind])
    if radial:
        kernel = RBFKernel(gamma=0.7, base=kernel)
    if radial and kernel.base.estimator != "truncated":
        with pytest.raises(ModelError, match="only with estimator=truncated"):
            write_lsgkm(trained(kernel), tmp_path / "m.txt")
        return
    model = trained(kernel)
    write_lsgkm(model, tmp_path / "m.txt")
    again = load_model(tmp_path / "m.txt")
    name = {"gkm_esttrunc": "gkmrbf", "wgkm": "wgkmrbf"}[kind] if radial else kind
    text = (tmp_path / "m.txt").read_text()
    assert f"kernel_type {name}\n" in text
    X = random_set(seed=1)
    np.testing.assert_allclose(again.decision(X), model.decision(X), rtol=1e-12, atol=1e-12)
    assert again.kernel.get_params()["n_threads"] is None
    write_lsgkm(again, tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_text() == text
    coefficients = [float(line.split()[0]) for line in text.split("SV\n")[1].splitlines()]
    positive = sum(value > 0 for value in coefficients)
    assert f"nr_sv {positive} {len(coefficients) - positive}\n" in text
    assert all(value > 0 for value in coefficients[:positive])


def test_written_compressed(tmp_path):
    model = trained(GappedKmerKernel(8, 5))
    write_lsgkm(model, tmp_path / "m.txt")
    write_lsgkm(model, tmp_path / "m.txt.gz")
    assert gzip.decompress((tmp_path / "m.txt.gz").read_bytes()) == (tmp_path / "m.txt").read_bytes()


def test_a_read_model_can_be_saved_as_seqkerns_own(write, tmp_path):
    model = load_model(write())
    model.save(tmp_path / "m.seqkern")
    assert not is_lsgkm(tmp_path / "m.seqkern")
    np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(NEW), model.decision(NEW))


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        (SpectrumKernel(3), "do not support kernel 'spectrum'"),
        (build_kernel("rbf:base=(spectrum:k=3)"), "do not support kernel 'rbf'"),
        (RBFKernel(), "do not support kernel 'rbf'"),
        (GappedKmerKernel(13, 6), "l=13"),
        (GappedKmerKernel(12, 6, estimator="full"), "d=12"),
        (GappedKmerKernel(6, 4, normalize=False), "only with estimator=truncated, normalised"),
        (GappedKmerKernel(6, 4, center_weighted=True), "only with estimator=truncated"),
        (GappedKmerKernel(6, 4, d=1, estimator="truncated", clip=True), "does not support clip"),
        (RBFKernel(gamma="scale", base=GappedKmerKernel(6, 4, estimator="truncated")), "numeric gamma"),
    ],
)
def test_what_lsgkm_has_not_is_not_written(kernel, problem, write, tmp_path):
    model = replace(load_model(write()), kernel=kernel)
    with pytest.raises(ModelError, match=re.escape(problem)):
        write_lsgkm(model, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_other_solvers_transforms_and_sequences_are_not_written(tmp_path):
    kernel, path = GappedKmerKernel(6, 4), tmp_path / "out.txt"
    with pytest.raises(ModelError, match="psvc"):
        write_lsgkm(trained(kernel, "psvc:epsilon=0.1"), path)
    with pytest.raises(ModelError, match="transforms"):
        write_lsgkm(trained(kernel, transforms=[build_transform("centre")]), path)
    strings = [string.replace("TGACTC", "TGA*TC") for string in random_set().strings()]
    masked = SequenceSet.from_strings(strings, "dna", unknown="mask_all")
    with pytest.raises(ModelError, match="LS-GKM supports only ACGT"):
        write_lsgkm(trained(kernel, X=masked), path)
    long = SequenceSet.from_strings([string * 100 for string in random_set().strings()], "dna")
    with pytest.raises(ModelError, match="2047"):
        write_lsgkm(trained(kernel, X=long), path)
    protein = SequenceSet.from_strings(random_set().strings(), "protein")
    with pytest.raises(ModelError, match="two classes of DNA"):
        write_lsgkm(trained(kernel, X=protein), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c_svc", "epsilon_svr"),
        ("gkm_esttrunc", "linear"),
        ("gkm_esttrunc", "gkmrbf"),
        ("gkm_esttrunc", "wgkm"),
        ("kernel_type gkm_esttrunc\n", ""),
        ("L 6", "L 60000000000"),
        ("L 6", "L 6.5"),
        ("L 6", "L 6\nL 7"),
        ("k 4", "k 7"),
        ("d 2", "d -1"),
        ("norc 0", "norc 2"),
        ("nr_class 2", "nr_class 3"),
        ("total_sv 3", "total_sv 4"),
        ("nr_sv 2 1", "nr_sv 2 2"),
        ("nr_sv 2 1", "nr_sv 4 -1"),
        ("nr_sv 2 1", "nr_sv 3"),
        ("rho -0.25", "rho nan"),
        ("rho -0.25", "rho"),
        ("rho -0.25", "rho 1 2"),
        ("label 1 -1", "label 1 1"),
        ("label 1 -1", "label one two"),
        ("SV\n", ""),
        ("d 2", "d 2\nsecret 5"),
        ("0.5 ACGTTGCAGGA", "inf ACGTTGCAGGA"),
        ("0.5 ACGTTGCAGGA", "0,5 ACGTTGCAGGA"),
        ("0.5 ACGTTGCAGGA", "0.5"),
        ("0.5 ACGTTGCAGGA", "0.5 ACGTTGC AGGA"),
        ("0.5 ACGTTGCAGGA", "0.5 ACGTTGCEGGA"),
        ("0.5 ACGTTGCAGGA", "0.5 ACGTTGC\u00e9GGA"),
        ("0.5 ACGTTGCAGGA", "0.5 ACGTT"),
        ("0.5 ACGTTGCAGGA\n", ""),
        ("total_sv 3", "total_sv 0"),
    ],
)
def test_a_damaged_file_is_one_line(old, new, write, tmp_path, capsys):
    path = write((old, new))
    new = tmp_path / "new.fa"
    new.write_text(">a\nACGTTGCAGGATTGACC\n")
    assert main(["predict", str(path), str(new)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(path) in captured.err
    assert "LS-GKM" in captured.err


@pytest.mark.parametrize(
    "content", [b"", b"svm_type", b"svm_type c_svc\n", gzip.compress(FILE.encode(), mtime=0)[:-20], b"hi\n"]
)
def test_a_truncated_file_is_one_line(content, tmp_path):
    path = tmp_path / "model.txt"
    path.write_bytes(content)
    with pytest.raises((ModelError, FileError)) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def test_no_file():
    assert not is_lsgkm("no such file")
    with pytest.raises(FileError):
        read_lsgkm("no such file")


class TestCommandLine:
    ARGS = ("--kernel", "gapped_kmer:l=8,k=5,estimator=truncated,d=3,reverse_complement=true", "--solver", "csvc:C=1")

    @pytest.fixture
    def files(self, tmp_path):
        strings = random_set(40).strings()
        paths = []
        for name, part in (("pos", strings[1::2]), ("neg", strings[0::2])):
            paths.append(tmp_path / f"{name}.fa")
            paths[-1].write_text("".join(f">{name}{i}\n{string}\n" for i, string in enumerate(part)))
        return [str(path) for path in paths]

    def test_train_writes_what_predict_applies(self, files, tmp_path, capsys):
        outputs = []
        for form in ("lsgkm", "seqkern"):
            path = str(tmp_path / form)
            assert main(["train", *files, *self.ARGS, "--format", form, "-o", path]) == 0
            capsys.readouterr()
            assert main(["predict", path, files[0]]) == 0
            rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
            outputs.append([float(row[1]) for row in rows])
        np.testing.assert_allclose(*outputs, rtol=1e-9, atol=1e-12)
        assert (tmp_path / "lsgkm").read_text().startswith("svm_type c_svc\n")

    @pytest.mark.parametrize(
        "args",
        [
            ("--kernel", "spectrum:k=3", "--solver", "csvc:C=1"),
            ("--kernel", "gapped_kmer:l=14,k=5", "--solver", "csvc:C=1"),
            ("--kernel", "gapped_kmer:l=6,k=4", "--solver", "psvc:epsilon=0.1"),
            ("--kernel", "gapped_kmer:l=6,k=4", "--solver", "csvc:C=1", "--transform", "centre"),
            ("--kernel", "gapped_kmer:l=6,k=4", "--solver", "csvc:C=1", "--alphabet", "protein"),
        ],
    )
    def test_refused_before_any_work(self, args, files, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr("seqkern.methods.training.train_model", None)
        path = tmp_path / "out"
        assert main(["train", *files, *args, "--format", "lsgkm", "-o", str(path)]) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "LS-GKM" in err
        assert not path.exists()
