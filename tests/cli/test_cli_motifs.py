"""``seqkern motifs``: from a model file to MEME, a table and logos."""

import csv

import numpy as np
import pytest
from test_cli_predict import fails

from seqkern.cli.main import main
from seqkern.genomics.motif_tables import Match, resembling
from seqkern.genomics.motifs import FoundMotif
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.report.learned_pages import motifs_page
from seqkern.sequences.alphabets import DNA

MOTIF = "TGACTCAGC"
KNOWN = (
    ">MA1 AP-1\nA [0 0 9 0 0 0 9]\nC [0 0 0 5 0 9 0]\nG [0 9 0 4 0 0 0]\nT [9 0 0 0 9 0 0]\n"
    ">MA2 E-box\nA [0 9 0 0 0 0]\nC [9 0 9 0 0 0]\nG [0 0 0 9 0 9]\nT [0 0 0 0 9 0]\n"
)
KERNEL = ["--kernel", "gapped_kmer:l=8,k=5,reverse_complement=true", "--solver", "csvc:C=1"]


def sequences(path, seed, planted):
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for i in range(60):
            text = "".join(rng.choice(list("ACGT"), 50))
            place = int(rng.integers(40))
            text = text[:place] + MOTIF + text[place + 9 :] if planted else text
            print(f">{path.stem}{i}\n{text}", file=file)
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motifs")
    files = [sequences(folder / f"{name}.fa", i, i == 0) for i, name in enumerate(("pos", "neg"))]
    assert main(["train", *files, *KERNEL, "-o", str(folder / "m.seqkern")]) == 0
    sequences(folder / "new.fa", 2, True)
    (folder / "known.jaspar").write_text(KNOWN)
    return folder


def test_meme_table_and_logos_are_written(folder, tmp_path, capsys):
    out, table = tmp_path / "motifs.meme", tmp_path / "motifs.tsv"
    argv = ["motifs", str(folder / "m.seqkern"), str(folder / "new.fa"), "-o", str(out), "--table", str(table)]
    argv += ["--known", str(folder / "known.jaspar")]
    for form, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert main([*argv, "--plot", str(tmp_path / f"logos.{form}")]) == 0
        assert (tmp_path / f"logos.{form}").read_bytes().startswith(start)
    assert main([*argv, "--plot", str(tmp_path / "logos.svg")]) == 0
    printed = capsys.readouterr().out
    assert "seqlets in 60 sequences of new.fa" in printed
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert rows[0]["known"] == "MA1 AP-1"
    assert float(rows[0]["p"]) < 0.05
    assert rows[0]["class"] == "pos"
    assert int(rows[0]["sites"]) >= 50
    matrices = MotifSet.from_file(str(out)).matrices
    assert [matrix.name.split()[0] for matrix in matrices] == [row["motif"] for row in rows]
    np.testing.assert_allclose(matrices[0].counts.sum(axis=1), int(rows[0]["sites"]), rtol=1e-3)
    assert (tmp_path / "logos.svg").read_text().count("<svg") == 1 + len(rows)
    first = out.read_bytes()
    assert main([*argv, "--plot", str(tmp_path / "logos.html")]) == 0
    assert out.read_bytes() == first
    assert "MA1 AP-1" in (tmp_path / "logos.html").read_text()


def test_the_ending_of_the_output_says_what_it_is(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    argv = ["motifs", str(folder / "m.seqkern"), str(folder / "new.fa")]
    (tmp_path / "one.jaspar").write_text(KNOWN[KNOWN.index(">MA2") :])
    assert main([*argv, "--known", str(folder / "known.jaspar")]) == 0
    assert capsys.readouterr().out.startswith("motifs.html\n")
    page = (tmp_path / "motifs.html").read_text()
    assert "<dt>q</dt><dd>false discovery rate" in page
    assert main([*argv, "-o", "all", "--known", "one.jaspar"]) == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["motifs.html", "motifs.meme", "motifs.tsv"]
    for name in ("motifs.meme", "motifs.tsv"):
        assert main([*argv, "-o", name, "--known", "one.jaspar"]) == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / "all" / name).read_bytes()
    assert "end it in .html, .meme, .tsv" in fails(capsys, *argv, "-o", "m.gif")
    (tmp_path / "there").write_text("MEME")
    assert "is a file, but several files are written" in fails(capsys, *argv, "-o", "there")


def test_motifs_like_no_known_one_are_folded():
    motifs = [
        FoundMotif(f"positive_{i}", 1, np.eye(4, dtype=int) * 9, 9, 0.1, DNA, np.full(4, 0.25)) for i in (1, 2, 3)
    ]
    matches = [Match(f"known {i}", q, q, 0.9, 4, 0, "+") for i, q in enumerate((0.2, 0.1, 0.5))]
    assert resembling(matches, 3) == [1]
    assert resembling(matches[:1], 1) == [0]
    assert resembling(None, 2) == [0, 1]
    _, shown, folded = motifs_page("m", motifs, ("a", "b"), matches, "seqlets").split("<summary>")
    assert tuple(f"logo of positive_{i}," in shown for i in (2, 1, 3)) == (True, False, False)
    assert folded.startswith("2 further motifs that resemble no known one (q &gt; 0.1)</summary>")
    assert tuple(f"logo of positive_{i}," in folded for i in (1, 2, 3)) == (True, False, True)


def test_without_sequences_support_sequences_or_kmers_are_used(folder, tmp_path, capsys):
    argv = ["motifs", str(folder / "m.seqkern"), "-o", str(tmp_path / "m.meme")]
    assert main(argv) == 0
    assert "support sequences of the model" in capsys.readouterr().out
    assert main([*argv, "--kmers"]) == 0
    assert "k-mers of greatest weight" in capsys.readouterr().out


def test_bad_input_takes_one_line_and_writes_nothing(folder, tmp_path, capsys):
    model, new, out = str(folder / "m.seqkern"), str(folder / "new.fa"), tmp_path / "m.meme"
    argv = ["motifs", model, new, "-o", str(out)]
    assert "remove" in fails(capsys, *argv, "--kmers")
    assert "end it in .html, .svg, .png or .pdf" in fails(capsys, *argv, "--plot", str(tmp_path / "a.gif"))
    assert "no motif was found" in fails(capsys, *argv, "--minimum", "10000")
    protein = tmp_path / "p.meme"
    protein.write_text(
        "MEME version 5\nALPHABET= ACDEFGHIKLMNPQRSTVWY\nMOTIF P\nletter-probability matrix:\n" + "0 " * 19 + "1\n"
    )
    assert "'P' has the letters" in fails(capsys, *argv, "--known", str(protein))
    pattern = tmp_path / "patterns.txt"
    pattern.write_text("AC[GT]\n")
    assert "contains no weight matrix" in fails(capsys, *argv, "--known", str(pattern))
    assert "--minimum" in fails_usage(capsys, *argv, "--minimum", "0")
    assert not out.exists()


def fails_usage(capsys, *argv):
    assert main(list(argv)) == 2
    return capsys.readouterr().err
