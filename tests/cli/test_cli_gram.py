"""``seqkern gram``: the matrix that the library gives, whole or in shares; one line for each mistake."""

import gzip
import json
import os

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.gram import compute, open_gram, tiles
from seqkern.kernels import build_kernel
from seqkern.sequences.fasta import read_fasta


def write_fasta(path, n, seed=0, letters="ACGT"):
    rng = np.random.default_rng(seed)
    records = [f">r{seed}_{i} a record\n{''.join(rng.choice(list(letters), 40))}\n" for i in range(n)]
    path.write_text("".join(records))
    return str(path)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_ROWS", 7)


@pytest.fixture
def fasta(tmp_path):
    return write_fasta(tmp_path / "in.fasta", 20)


def fails(capsys, *argv):
    """Run a command that must fail, and return its one line."""
    assert main(["gram", *argv]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("seqkern: ")
    assert err.count("\n") == 1
    return err


def test_matrix_of_a_file(tmp_path, fasta, capsys):
    out = tmp_path / "new" / "gram.npy"
    assert main(["gram", fasta, "--kernel", "spectrum:k=3", "-o", str(out), "--threads", "1"]) == 0
    assert capsys.readouterr() == (f"{out}: 20 × 20 float64\n", "")
    X, kernel = read_fasta(fasta), build_kernel("spectrum:k=3")
    np.testing.assert_array_equal(open_gram(out, X, kernel=kernel).values, kernel(X))
    assert sorted(path.name for path in out.parent.iterdir()) == ["gram.json", "gram.npy"]


def test_new_rows_against_training_columns(tmp_path, fasta):
    new, out = write_fasta(tmp_path / "new.fasta", 9, seed=1), tmp_path / "gram.npy"
    options = ["--kernel", "spectrum:k=2", "--dtype", "float32", "-o", str(out)]
    assert main(["gram", new, "--against", fasta, *options]) == 0
    rows, cols = read_fasta(new), read_fasta(fasta)
    gram = open_gram(out, rows, cols)
    np.testing.assert_array_equal(gram.values, build_kernel("spectrum:k=2")(rows, cols, dtype=np.float32))


def test_sequences_added_to_a_finished_matrix(tmp_path, fasta, capsys):
    added = write_fasta(tmp_path / "added.fasta", 5, seed=1)
    old, new, fresh = (tmp_path / f"{name}.npy" for name in ("old", "new", "fresh"))
    options = ["--kernel", "spectrum:k=2", "--alphabet", "dna", "-o"]
    assert main(["gram", fasta, *options, str(old)]) == 0
    assert main(["gram", added, fasta, *options, str(new), "--extend", str(old)]) == 0
    assert main(["gram", added, fasta, *options, str(fresh)]) == 0
    assert new.read_bytes() == fresh.read_bytes()
    assert new.with_suffix(".json").read_bytes() == fresh.with_suffix(".json").read_bytes()
    capsys.readouterr()
    other = fails(capsys, fasta, "--kernel", "spectrum:k=3", "-o", str(new), "--extend", str(old))
    assert "old.npy: cannot be extended: it is of another kernel; give the kernel of that matrix" in other
    learns = ["--kernel", "pairwise:base=(smith_waterman:matrix=NUC.4.4)", "--extend", str(old), "-o", str(new)]
    assert "pairwise learns from the sequences" in fails(capsys, fasta, *learns)


def test_shares_of_tiles(tmp_path, fasta, capsys):
    whole, shared = tmp_path / "a" / "gram.npy", tmp_path / "b" / "gram.npy"
    base = ["gram", fasta, "--kernel", '{"kernel": "spectrum", "k": 3}']
    assert main([*base, "-o", str(whole)]) == 0
    capsys.readouterr()
    for share, done in (("2/2", 1), ("1/2", 2)):
        assert main([*base, "-o", str(shared), "--tile", share]) == 0
        assert capsys.readouterr().out == f"{shared}: {done} of 3 tiles\n"
        assert not shared.exists()
    assert main([*base, "-o", str(shared), "--tile", "9/10"]) == 0  # more shares than tiles
    assert main([*base, "-o", str(shared)]) == 0
    assert shared.read_bytes() == whole.read_bytes()
    assert shared.with_suffix(".json").read_bytes() == whole.with_suffix(".json").read_bytes()


@pytest.mark.parametrize("share", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_wrong_share_is_wrong_usage(fasta, capsys, share):
    assert main(["gram", fasta, "--kernel", "spectrum:k=3", "-o", "gram.npy", "--tile", share]) == 2
    assert "is not I/N; write for example 3/8" in capsys.readouterr().err


def test_plan_and_cost(tmp_path, fasta, capsys):
    cost = tmp_path / "cost.json"
    argv = [fasta, "--kernel", "spectrum:k=3", "-o", str(tmp_path / "gram.npy")]
    assert main(["gram", *argv, "--explain-plan", "--cost", str(cost)]) == 0
    plan = dict(line.split("\t") for line in capsys.readouterr().out.splitlines()[:-1])
    assert list(plan) == ["algorithm", "predicted CPU seconds", "predicted working memory", "candidates", "matrix"]
    assert plan["matrix"] == "20 × 20 float64, 3.2 kB"
    rows = json.loads(cost.read_text())["laps"]
    assert [row["stage"] for row in rows] == ["read", "kernel"]
    assert all(row["cpu_seconds"] >= 0 and row["peak_mb"] > 10 for row in rows)


def test_a_plan_without_output_is_all(tmp_path, fasta, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["gram", fasta, "--kernel", "spectrum:k=3", "--explain-plan"]) == 0
    assert capsys.readouterr().out.startswith("algorithm\t")
    assert [path.name for path in tmp_path.iterdir()] == [os.path.basename(fasta)]


@pytest.mark.parametrize("repair", ['"clip"', '{"method": "clip"}'])
def test_transforms_and_repair_are_left_out_and_told(tmp_path, fasta, capsys, repair):
    out, config = tmp_path / "gram.npy", tmp_path / "study.yaml"
    text = f'{{"kernel": "spectrum", "k": 2, "transforms": ["centre"], "repair": {repair}}}'
    data = "datasets: {some: {simulate: {kind: donor}}}\nsolvers: {svm: {solver: csvc}}\n"
    config.write_text(f"study: one\n{data}kernels: {{two: {text}}}\n")
    for kernel in (["--kernel", text], ["--kernel-config", str(config), "--kernel-name", "two"]):
        assert main(["gram", fasta, *kernel, "-o", str(out)]) == 0
        said = capsys.readouterr().err
        assert said == (
            "seqkern: this matrix is without the kernel's transforms and repair, which seqkern train and "
            "seqkern evaluate fit on each training set\n"
        )
        X = read_fasta(fasta)
        np.testing.assert_array_equal(np.load(out), build_kernel("spectrum:k=2")(X))
    assert "repair='clp' is not possible" in fails(capsys, fasta, "--kernel", "spectrum:k=2,repair=clp", "-o", str(out))


def test_eigenvalues_alone_need_no_output(tmp_path, fasta, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["gram", fasta, "--kernel", "spectrum:k=3", "--spectrum"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{fasta}: 20 × 20 float64"
    assert "smallest eigenvalue" in second
    assert [path.name for path in tmp_path.iterdir()] == [os.path.basename(fasta)]


def test_a_kernel_that_learns_says_from_what(tmp_path, fasta, capsys):
    base = ["--kernel", "pairwise:base=(spectrum:k=2)", "-o", str(tmp_path / "gram.npy")]
    assert main(["gram", fasta, *base]) == 0
    assert capsys.readouterr().err == "seqkern: kernel pairwise fitted to all 20 sequences\n"
    new = write_fasta(tmp_path / "new.fasta", 5, seed=1)
    assert main(["gram", new, "--against", fasta, *base]) == 0
    assert capsys.readouterr().err == f"seqkern: kernel pairwise fitted to the 20 sequences of {fasta}\n"


def test_kernel_that_learns_is_fitted_on_the_columns(tmp_path, fasta):
    new, out = write_fasta(tmp_path / "new.fasta", 5, seed=1), tmp_path / "gram.npy"
    text = "pairwise:base=(spectrum:k=2)"
    assert main(["gram", new, "--against", fasta, "--kernel", text, "-o", str(out)]) == 0
    rows, cols = read_fasta(new), read_fasta(fasta)
    kernel = build_kernel(text).fit(cols)
    np.testing.assert_array_equal(open_gram(out, rows, cols, kernel).values, kernel(rows, cols))


def test_policies_are_followed_and_counted(tmp_path, capsys):
    path = tmp_path / "odd.fasta.gz"
    path.write_bytes(gzip.compress(b">a\nACGTACGT\n>a\nACNTACGT\n>b\nAACCGGTT\n"))
    base = [str(path), "--kernel", "spectrum:k=2", "-o", str(tmp_path / "gram.npy"), "--alphabet", "dna"]
    assert "record 'a': letter 'N' at position 3" in fails(capsys, *base, "--unknown", "error")
    assert main(["gram", *base, "--unknown", "skip", "--ids", "suffix"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("2 × 2 float64\n")
    assert err == f"seqkern: {path}: 1 records with unknown letters left out\n"


def test_mistakes_are_one_line(tmp_path, fasta, capsys):
    out = ["-o", str(tmp_path / "gram.npy")]
    kernel = ["--kernel", "spectrum:k=3"]
    assert "did you mean 'spectrum'?" in fails(capsys, fasta, "--kernel", "spectrm:k=3", *out)
    assert "is not JSON" in fails(capsys, fasta, "--kernel", '{"kernel": spectrum}', *out)
    assert "give one source of sequences" in fails(capsys, *kernel, *out)
    assert "give one source of sequences" in fails(capsys, fasta, "--dataset", "there", *kernel, *out)
    assert "--against needs FASTA files" in fails(capsys, "--dataset", "d", "--against", fasta, *kernel, *out)
    assert "use a name ending in .npy" in fails(capsys, fasta, *kernel, "-o", "gram.txt")
    line = fails(capsys, fasta, *kernel, *out, "--memory", "1kB")
    assert "one tile of a matrix of 20 × 20 float64 needs" in line
    assert "write it like 500MB or 2GB" in fails(capsys, fasta, *kernel, *out, "--memory", "lots")
    short = tmp_path / "short.fasta"
    short.write_text(">long\nACGTACGT\n>brief\nAC\n")
    assert f"{short}: record 'brief':" in fails(capsys, str(short), *kernel, *out)
    protein = write_fasta(tmp_path / "protein.fasta", 3, letters="ACDEFGHIKLMNPQRSTVWY")
    assert "is not in the alphabet dna" in fails(capsys, protein, "--against", fasta, *kernel, *out)
    (tmp_path / "file").write_text("")
    assert "cannot be written" in fails(capsys, fasta, *kernel, "-o", str(tmp_path / "file" / "gram.npy"))
    assert not (tmp_path / "gram.npy").exists()


def test_what_the_kernel_touches_is_counted(tmp_path, capsys):
    path, out = tmp_path / "some.fa", tmp_path / "gram.npy"
    path.write_text(">a\nACGTACGT\n>b\nNNNN\n>c\nACGG\n>d\nNNNNN\n")
    kernel = "spectrum:k=3,normalize=true,zero_diagonal=zero"
    assert main(["gram", str(path), "--kernel", kernel, "--unknown", "mask", "-o", str(out)]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"seqkern: {path}: 2 zero diagonals"
    assert json.loads(out.with_suffix(".json").read_text())["counts"] == {"zero diagonals": 2}
    kernel = "spectrum:k=3,normalize=false"
    assert main(["gram", str(path), "--kernel", kernel, "--unknown", "mask", "-o", str(out)]) == 0
    assert json.loads(out.with_suffix(".json").read_text())["counts"] == {}


def test_costs_of_tiles_made_elsewhere_are_counted(tmp_path, fasta, monkeypatch, capsys):
    """Of jobs that ended and of one that was killed after its first tile; not of the work that this one does."""
    now = 0.0

    def process_time():
        nonlocal now
        now += 10.0
        return now

    monkeypatch.setattr(compute.time, "process_time", process_time)
    write = compute.TileCosts.write
    gram, cost = tmp_path / "gram.npy", tmp_path / "cost.json"
    command = ["gram", fasta, "--kernel", "spectrum:k=2", "--threads", "1", "-o", str(gram)]
    assert main([*command, "--tile", "1/3"]) == 0

    def killed(self):
        write(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(compute.TileCosts, "write", killed)
    assert main([*command, "--tile", "2/3"]) == 130
    assert capsys.readouterr().err.endswith("repeat the command to resume\n")
    monkeypatch.setattr(compute.TileCosts, "write", write)
    left = [json.loads(path.read_text()) for path in tmp_path.glob("gram.npy.tiles/*/cost-*.json")]
    assert len(left) == 2
    assert main([*command, "--cost", str(cost)]) == 0
    laps = json.loads(cost.read_text())["laps"]
    assert [lap["stage"] for lap in laps] == ["read", "tiles", "kernel"]
    assert laps[1]["cpu_seconds"] == sum(one["cpu_seconds"] for one in left) > 0
    assert laps[1]["peak_mb"] == max(one["peak_mb"] for one in left)
    assert not (tmp_path / "gram.npy.tiles").exists()
    assert main([*command, "--cost", str(cost)]) == 0
    assert [lap["stage"] for lap in json.loads(cost.read_text())["laps"]] == ["read", "kernel"]
