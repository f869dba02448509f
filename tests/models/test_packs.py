"""Several models in one file: packed, listed, read one by one, and scored together."""

import csv
import shutil

import numpy as np
import pytest
from damage import damage

from seqkern.cli import predict
from seqkern.cli.main import main
from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ModelError, SeqkernError
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model, pack_folder, parse_model_args, read_pack
from seqkern.methods.lsgkm import write_lsgkm
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

GAPPED = "gapped_kmer:l=5,k=3,reverse_complement=true"


def strings(n, length, seed):
    return ["".join(row) for row in np.random.default_rng(seed).choice(list("ACGT"), size=(n, length))]


NEW = strings(6, 30, 9)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder of models and other files, the packed file, a genome and variants."""
    home = tmp_path_factory.mktemp("zoo")
    zoo = home / "factors"
    zoo.mkdir()
    X = as_sequences(strings(20, 30, 1), "dna")
    for seed, stem in enumerate(("CTCF.8mer", "GATA1", "spectrum")):
        y = np.random.default_rng(seed).permutation(["a", "b"] * 10).tolist()
        kernel = build_kernel("spectrum:k=3" if stem == "spectrum" else GAPPED)
        model = train_model(X, make_labels(X.ids, y, positive="b"), kernel, "csvc:C=1")
        if stem == "GATA1":
            write_lsgkm(model, zoo / "GATA1.model.txt.gz")
        else:
            model.save(zoo / f"{stem}.seqkern")
    (zoo / "README.md").write_text("# Factors\n")
    (zoo / ".hidden").write_text("svm_type c_svc\n")
    genome = strings(1, 300, 3)[0]
    (home / "g.fa").write_text(f">chr1\n{genome}\n")
    rows = [("chr1", i + 1, ".", genome[i], "ACGT"["TGCA".index(genome[i])], ".", ".", ".") for i in range(20, 280, 20)]
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    (home / "v.vcf").write_text("\n".join([*lines, *("\t".join(map(str, row)) for row in rows)]) + "\n")
    assert main(["models", "pack", str(zoo), "-o", str(home / "zoo.seqkern")]) == 0
    return home


def test_packed_models_are_those_of_the_folder(home, capsys):
    zoo, names = home / "zoo.seqkern", ["CTCF.8mer", "GATA1", "spectrum"]
    assert main(["models", "list", str(zoo)]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    assert [row["name"] for row in rows] == names
    assert [row["classes"] for row in rows] == ["a, b", "-1, 1", "a, b"]
    for row in rows:
        packed, alone = load_model(f"{zoo}:{row['name']}"), load_model(home / "factors" / row["file"])
        np.testing.assert_array_equal(packed.decision(NEW), alone.decision(NEW))


def test_bytes_depend_on_content_alone(home, tmp_path, capsys):
    for path in sorted((home / "factors").iterdir(), reverse=True):  # in another order, with other times
        (tmp_path / "models").mkdir(exist_ok=True)
        shutil.copyfile(path, tmp_path / "models" / path.name)
    words = ["models", "pack", str(tmp_path / "models"), "-o", str(tmp_path / "models" / "zoo.seqkern")]
    for _ in range(2):  # the second time, the file lies in the folder
        assert main(words) == 0
        said = capsys.readouterr().err
        assert "README.md: not a model, left out" in said
        assert "zoo.seqkern: 3 models" in said
        assert (tmp_path / "models" / "zoo.seqkern").read_bytes() == (home / "zoo.seqkern").read_bytes()


def test_variants_are_scored_by_all_as_by_each(home):
    def scored(*models):
        words = ["variants", *map(str, models), str(home / "v.vcf"), "--genome", str(home / "g.fa")]
        assert main([*words, "-o", str(home / "out.tsv")]) == 0
        with (home / "out.tsv").open(newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    zoo = home / "zoo.seqkern"
    together = scored(zoo)
    assert scored(home / "factors") == together
    for name in ("CTCF.8mer", "GATA1", "spectrum"):
        deltas = [row["delta"] for row in scored(f"{zoo}:{name}")]
        assert deltas == [row[f"delta_{name}"] for row in together]
        assert all(deltas)


def test_names_that_are_one_in_vcf_need_a_table(home, tmp_path, capsys):
    for name in ("Gata-1", "GATA_1"):
        shutil.copyfile(home / "factors" / "CTCF.8mer.seqkern", tmp_path / f"{name}.seqkern")
    words = ["variants", str(tmp_path), str(home / "v.vcf"), "--genome", str(home / "g.fa"), "-o"]
    assert main([*words, str(tmp_path / "out.vcf")]) == 1
    assert "two models have the field SEQKERN_DELTA_GATA_1" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "out.tsv")]) == 0


def test_a_model_of_several_is_named(home, capsys, tmp_path):
    zoo, fasta = home / "zoo.seqkern", tmp_path / "new.fa"
    fasta.write_text("".join(f">n{i}\n{one}\n" for i, one in enumerate(NEW)))
    assert main(["predict", f"{zoo}:GATA1", str(fasta)]) == 0
    assert capsys.readouterr().out.startswith("id\tdecision\tpredicted\n")
    with pytest.raises(ModelError, match=r"has no model 'GATA'; did you mean 'GATA1'\?"):
        load_model(f"{zoo}:GATA")
    with pytest.raises(ModelError, match=r"is a file of several models, .*; choose one, such as .*zoo.seqkern:NAME"):
        load_model(zoo)
    assert [one.name for one in parse_model_args([str(zoo), f"{zoo}:GATA1"])][2:] == ["spectrum", "GATA1_2"]


def test_records_are_decided_by_all_as_by_each(home, tmp_path, capsys):
    zoo, fasta = home / "zoo.seqkern", tmp_path / "new.fa"
    fasta.write_text("".join(f">n{i}\n{one}\n" for i, one in enumerate(NEW)))
    assert main(["predict", str(home / "factors"), str(fasta)]) == 0
    from_folder = capsys.readouterr().out
    assert main(["predict", str(zoo), str(fasta)]) == 0
    assert capsys.readouterr().out == from_folder
    rows = list(csv.DictReader(from_folder.splitlines(), delimiter="\t"))
    assert [row["id"] for row in rows] == [f"n{i}" for i in range(len(NEW))]
    for name in ("CTCF.8mer", "GATA1", "spectrum"):
        expected = load_model(f"{zoo}:{name}").decision(NEW)
        assert [float(row[f"decision_{name}"]) for row in rows] == pytest.approx(expected, rel=1e-9)
    assert main(["predict", str(zoo), str(fasta), "--scan", "GT"]) == 1
    assert "--scan needs one model" in capsys.readouterr().err


def test_several_models_give_all_that_each_gives(home, tmp_path, capsys):
    zoo, fasta, X = tmp_path / "zoo", tmp_path / "new.fa", as_sequences(strings(20, 30, 1), "dna")
    fasta.write_text("".join(f">n{i}\n{one}\n" for i, one in enumerate(NEW)))
    shutil.copytree(home / "factors", zoo)
    kernel = build_kernel("spectrum:k=2")
    labels = {
        "calibrated": (make_labels(X.ids, ["a", "b"] * 10, positive="b"), "csvc:C=1", {"calibration": "platt"}),
        "cut": (make_labels(X.ids, ["a", "b"] * 10, positive="b"), "csvc:C=1", {"threshold": "sensitivity=0.9"}),
        "classes": (make_labels(X.ids, list("abcd") * 5), "one_against_rest:binary=(csvc:C=1)", {}),
        "numbers": (make_labels(X.ids, list(range(20)), kind="real"), "gp_regression", {}),
    }
    for name, (y, solver, how) in labels.items():
        train_model(X, y, kernel, solver, **how).save(zoo / f"{name}.seqkern")
    assert main(["models", "pack", str(zoo), "-o", str(tmp_path / "pack")]) == 0
    options = [str(fasta), "--interval", "0.5"]
    expected = {}
    for one in parse_model_args([str(tmp_path / "pack")]):
        assert main(["predict", one.word, *(options if one.name == "numbers" else options[:1])]) == 0
        (head, *rows) = csv.reader(capsys.readouterr().out.splitlines(), delimiter="\t")
        expected |= {f"{name}_{one.name}": column for name, *column in list(zip(head, *rows, strict=True))[1:]}
    assert {"probability_calibrated", "predicted_cut", "decision:d_classes", "upper_50_numbers"} < expected.keys()
    for models in (tmp_path / "pack", zoo):
        assert main(["predict", str(models), *options]) == 0
        (head, *rows) = csv.reader(capsys.readouterr().out.splitlines(), delimiter="\t")
        assert {name: column for name, *column in list(zip(head, *rows, strict=True))[1:]} == expected
    assert main(["predict", str(home / "factors"), *options]) == 1
    assert "gives no prediction intervals" in capsys.readouterr().err


def test_parts_of_a_model_of_several_are_joined(home, tmp_path, capsys):
    zoo, fasta, out = home / "zoo.seqkern", tmp_path / "new.fa", str(tmp_path / "out.tsv")
    fasta.write_text("".join(f">n{i}\n{one}\n" for i, one in enumerate(NEW)))
    for part in ("1/2", "2/2"):
        assert main(["predict", f"{zoo}:GATA1", str(fasta), "-o", out, "--part", part]) == 0
    assert main(["predict", f"{zoo}:spectrum", str(fasta), "-o", out, "--gather"]) == 1
    assert "was made with other model" in capsys.readouterr().err
    assert main(["predict", f"{zoo}:GATA1", str(fasta), "-o", out, "--gather"]) == 0
    assert main(["predict", f"{zoo}:GATA1", str(fasta)]) == 0
    assert capsys.readouterr().out == (tmp_path / "out.tsv").read_text()


def test_models_that_do_not_fit_each_other_are_not_applied_together(home, tmp_path, capsys):
    shutil.copytree(home / "factors", tmp_path / "zoo")
    X = as_sequences([one.replace("T", "U") for one in strings(20, 30, 1)], "rna")
    labels = make_labels(X.ids, ["a", "b"] * 10, positive="b")
    train_model(X, labels, build_kernel("spectrum:k=2"), "csvc:C=1").save(tmp_path / "zoo" / "rna.seqkern")
    assert main(["predict", str(tmp_path / "zoo"), str(home / "g.fa")]) == 1
    said = capsys.readouterr().err
    assert "rna.seqkern: reads other sequences than" in said
    assert said.count("\n") == 1


def test_models_that_do_not_fit_into_memory_are_refused(home, monkeypatch, capsys):
    monkeypatch.setattr(predict, "LEAST", -(1 << 40))
    monkeypatch.setattr(predict, "SHARE", -1e6)
    assert main(["predict", str(home / "zoo.seqkern"), str(home / "g.fa")]) == 1
    assert "3 models need about" in capsys.readouterr().err


def test_a_file_called_like_a_model_of_several_is_a_file(home, tmp_path):
    shutil.copyfile(home / "zoo.seqkern", tmp_path / "zoo")
    shutil.copyfile(home / "factors" / "spectrum.seqkern", tmp_path / "zoo:GATA1")
    assert load_model(tmp_path / "zoo:GATA1").kernel.name == "spectrum"


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("GATA1.seqkern", None, "GATA1.seqkern: and GATA1.model.txt.gz get one name, GATA1; rename one of them"),
        ("a b.seqkern", None, "a b.seqkern: a name of a model has letters, digits"),
        ("w.txt", "A\t1\nC\t2\n", "w.txt: has weights of k-mers, not a model; move it out of the folder"),
        ("cut.model.txt", "svm_type c_svc\n", "cut.model.txt: is not a usable LS-GKM model"),
    ],
)
def test_folders_that_are_not_packed(home, tmp_path, file, content, said):
    shutil.copytree(home / "factors", tmp_path / "zoo")
    if content is None:
        shutil.copyfile(home / "factors" / "spectrum.seqkern", tmp_path / "zoo" / file)
    else:
        (tmp_path / "zoo" / file).write_text(content)
    with pytest.raises(ModelError) as raised:
        pack_folder(tmp_path / "zoo", tmp_path / "out.seqkern")
    assert said in str(raised.value)
    assert not (tmp_path / "out.seqkern").exists()


def test_mistakes_are_one_line(home, capsys, tmp_path):
    for words, said in [
        (["pack", str(tmp_path), "-o", "x"], "no models in the folder"),
        (["pack", str(home / "v.vcf"), "-o", "x"], "is not a folder"),
        (["pack", str(home / "factors")], "models pack writes a file"),
        (["list", str(home / "v.vcf")], "is not a model"),
    ]:
        assert main(["models", *words]) != 0
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1


def test_damaged_packs_are_refused_with_one_line(home, tmp_path):
    rng, said, path = np.random.default_rng(7), [], tmp_path / "x.seqkern"
    for _ in range(15):
        damage(home / "zoo.seqkern", path, rng)
        try:
            for one in read_pack(path):
                load_model(f"{path}:{one.name}").decision(NEW)
        except SeqkernError as error:
            said.append(str(error))
    assert len(said) > 5
    assert not any("\n" in line for line in said)


@pytest.mark.parametrize("name", ["../GATA1", "", "a:b", "spectrum", 3])
def test_names_that_are_none_are_refused(home, tmp_path, name):
    header, arrays = load_archive(home / "zoo.seqkern")
    header["models"][0]["name"] = name
    save_archive(tmp_path / "x.seqkern", header, arrays)
    with pytest.raises(ModelError, match="is not usable"):
        read_pack(tmp_path / "x.seqkern")


def test_packs_in_the_folder_are_named(home, tmp_path, capsys):
    shutil.copytree(home / "factors", tmp_path / "zoo")
    shutil.copyfile(home / "zoo.seqkern", tmp_path / "zoo" / "older.seqkern")
    words = ["models", "pack", str(tmp_path / "zoo"), "-o", str(tmp_path / "zoo" / "new.seqkern")]
    for _ in range(2):  # the second time, the new file lies there too
        assert main(words) == 0
        said = capsys.readouterr().err
        assert f"{tmp_path}/zoo/older.seqkern: holds several models, left out" in said
        assert "new.seqkern: holds" not in said
        assert "new.seqkern: 3 models" in said
