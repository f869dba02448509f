"""``--part`` and ``--gather``: joined parts are what one run writes, byte for byte."""

import gzip
import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from small_genome import write_genome
from test_cli_variants import HEADER

from seqkern.cli.main import main
from seqkern.formats.bgzip import BgzipWriter
from seqkern.kernels import build_kernel
from seqkern.methods import scan
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.windows import Window

pysam = pytest.importorskip("pysam")

PARTS = (2, 7)


def bgzip(path, text):
    with path.open("wb") as file:
        writer = BgzipWriter(file)
        writer.write(text)
        writer.finish()


def trained(rng, kernel, length, name, **more):
    strings = ["".join(row) for row in rng.choice(list("ACGT"), size=(40, length))]
    X = as_sequences([string[:4] + "AG" + string[6:] for string in strings], "dna")
    labels = make_labels(X.ids, ["yes", "no"] * 20, positive="yes")
    train_model(X, labels, build_kernel(kernel), "csvc:C=1", **more).save(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A genome, its regions, variants at its ends and of all kinds, sequences, and three models."""
    folder = write_genome(tmp_path_factory.mktemp("parts"))
    rng = np.random.default_rng(3)
    text = (folder / "g.fa").read_text()
    chromosomes = {part.split()[0]: "".join(part.split("\n")[1:]).upper() for part in text.split(">")[1:]}
    bases = text.split("\n", 1)[1].replace("\n", "")[400:2000]
    lines = "".join(bases[i : i + 61] + "\n" for i in range(0, len(bases), 61))
    (folder / "few.fa").write_text(f">s1\nAG\n>chrX y\n{lines}>n\n{'N' * 50}\n>last\n{'AGCT' * 40}\n")
    rows = []
    for name, bases in list(chromosomes.items())[:3]:
        for position in sorted({1, 2, len(bases) - 1, len(bases), *rng.integers(1, len(bases) - 9, 90).tolist()}):
            ref = bases[position - 1 : position - 1 + int(rng.choice([1, 1, 1, 4]))]
            other = [base for base in "ACGT" if base != ref[0]]
            alt = [other[0], ",".join(other), ref[0] + "TT", "<DEL>", "*"][
                int(rng.choice(5, p=[0.6, 0.2, 0.1, 0.05, 0.05]))
            ]
            rows.append(f"{name}\t{position}\t.\t{ref}\t{alt}\t50\tPASS\tAF=0.1\n")
    rows.append("chrU\t7\t.\tA\tC\t.\t.\t.\n")
    vcf = HEADER + "".join(rows)
    (folder / "v.vcf").write_text(vcf)
    bgzip(folder / "v.vcf.gz", vcf)
    (folder / "plain.vcf.gz").write_bytes(gzip.compress(vcf.encode()))
    records = [
        f">q{i} a\n{''.join(rng.choice(list('ACGTacgt'), rng.integers(8, 90)))}{'N' * (i % 5 == 3)}\n"
        for i in range(60)
    ]
    fasta = "".join(records)
    (folder / "q.fa").write_text(fasta)
    (folder / "q.fa.gz").write_bytes(gzip.compress(fasta.encode()))
    bgzip(folder / "q.fa.bgz", fasta)
    (folder / "one.fa").write_text(records[0])
    trained(rng, "spectrum:k=3", 30, folder / "spectrum", calibration="platt")
    trained(rng, "gapped_kmer:l=5,k=3,reverse_complement=true", 30, folder / "gapped")
    trained(rng, "weighted_degree:degree=3", 13, folder / "sites", notes={"window": Window(4, 8, "AG").record()})
    trained(rng, "spectrum:k=2", 13, folder / "slow", notes={"window": Window(4, 8, "AG").record()})
    return folder


def runs(capsys, *words):
    """Run the verb; return what it printed on standard error."""
    assert main(list(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().err


def check(capsys, tmp_path, name, *words, files=None, parts=PARTS):
    """Assert that the parts of an output are joined to what one run writes."""
    whole = tmp_path / "whole"
    runs(capsys, *words, "-o", str(whole / name))
    names = files or [name]
    for of in parts:
        out = tmp_path / f"in{of}" / name
        for number in range(of, 0, -1):
            runs(capsys, *words, "-o", str(out), "--part", f"{number}/{of}")
            assert not out.exists()
        runs(capsys, *words, "-o", str(out), "--gather")
        for one in names:
            assert (out.parent / one).read_bytes() == (whole / one).read_bytes(), (one, of)
        assert sorted(path.name for path in out.parent.iterdir()) == sorted(path.name for path in whole.iterdir())
    return (whole / names[0]).read_bytes()


@pytest.mark.parametrize(
    ("fasta", "options"),
    [
        ("q.fa", []),
        ("q.fa", ["--ids", "number", "--unknown", "skip"]),
        ("q.fa.gz", ["--ids", "number"]),
        ("q.fa.bgz", ["--ids", "number"]),
        ("one.fa", []),
    ],
)
def test_fasta(folder, capsys, tmp_path, fasta, options):
    words = ["predict", str(folder / "spectrum"), str(folder / fasta), *options]
    text = check(capsys, tmp_path, "q.tsv", *words, parts=(1, 2, 7) if fasta == "q.fa" else PARTS)
    assert text.startswith(b"id\tdecision\tprobability\tpredicted\n")
    if fasta != "one.fa":
        assert len(text.splitlines()) > 20


def test_compressed_predictions(folder, capsys, tmp_path):
    data = check(capsys, tmp_path, "q.tsv.gz", "predict", str(folder / "spectrum"), str(folder / "q.fa"))
    check(capsys, tmp_path / "plain", "q.tsv", "predict", str(folder / "spectrum"), str(folder / "q.fa"), parts=())
    assert gzip.decompress(data) == (tmp_path / "plain" / "whole" / "q.tsv").read_bytes()


def test_regions(folder, capsys, tmp_path):
    words = ["--genome", str(folder / "g.fa"), "--width", "150"]
    text = check(capsys, tmp_path, "p.tsv", "predict", str(folder / "gapped"), str(folder / "peaks.narrowPeak"), *words)
    assert len(text.splitlines()) > 50
    (tmp_path / "two.bed").write_text("chr1\t100\t160\nchr1\t100\t160\n")
    check(capsys, tmp_path / "two", "p.tsv", "predict", str(folder / "gapped"), str(tmp_path / "two.bed"), *words[:2])


@pytest.mark.parametrize("model", ["sites", "slow"])
@pytest.mark.parametrize("options", [[], ["--masked", "score", "--lower", "skip", "--ids", "number", "--strand", "-"]])
def test_scan(folder, capsys, tmp_path, model, options):
    words = ["predict", str(folder / model), str(folder / "few.fa"), "--scan", "AG", *options]
    parts = (1, 7, 100) if (model == "slow") == bool(options) else (2,)
    assert len(check(capsys, tmp_path, "s.tsv", *words, parts=parts).splitlines()) > 40
    check(capsys, tmp_path / "bed", "s.bed.gz", *words, parts=(7,))


@pytest.mark.parametrize(("ending", "form"), [("bedgraph", "bedgraph"), ("bw", "bigwig")])
def test_scan_to_tracks(folder, capsys, tmp_path, ending, form):
    if form == "bigwig":
        pytest.importorskip("pyBigWig")
    words = ["predict", str(folder / "sites"), str(folder / "g.fa"), "--scan", "AG"]
    files = [f"s.{strand}.{ending}" for strand in ("plus", "minus")]
    check(capsys, tmp_path, f"s.{ending}", *words, files=files)
    one = tmp_path / "one"
    check(capsys, one, f"s.{ending}", *words, "--strand", "+", "--threshold", "0.5")


def test_candidates_of_a_part_do_not_depend_on_how_much_is_read(folder):
    from seqkern.core.parts import Part
    from seqkern.formats.reference import Genome
    from seqkern.methods.loading import load_model
    from seqkern.methods.scan import Scanner

    scanner = Scanner(load_model(folder / "sites"), "AG")
    whole = list(scanner.scan(folder / "few.fa"))
    counts = scanner.counts.copy()
    with Genome(folder / "few.fa") as genome:
        for block in (1, 13, 200):
            blocks = scan.scan_part([scanner], genome, Part(1, 1), block=block)
            found = [candidates for one in blocks for _, candidates in one]
            assert scanner.counts == counts
            for what in ("positions", "reverse", "decisions"):
                joined = [np.concatenate([getattr(one, what) for one in some]) for some in (found, whole)]
                assert np.array_equal(*joined)


@pytest.mark.parametrize(
    ("vcf", "ending"), [("v.vcf", "tsv"), ("v.vcf.gz", "vcf.gz"), ("plain.vcf.gz", "tsv"), ("v.vcf", "vcf")]
)
def test_variants(folder, capsys, tmp_path, vcf, ending):
    words = ["variants", str(folder / "gapped"), str(folder / vcf), "--genome", str(folder / "g.fa")]
    files = [f"o.{ending}"] + [f"o.{ending}.tbi"] * (ending == "vcf.gz")
    check(capsys, tmp_path, f"o.{ending}", *words, files=files, parts=(1, 2, 7))


def test_variants_say_what_one_run_says(folder, capsys, tmp_path):
    words = ["variants", str(folder / "sites"), str(folder / "v.vcf"), "--genome", str(folder / "g.fa"), "-o"]
    whole = runs(capsys, *words, str(tmp_path / "whole.tsv"))
    for number in (1, 2, 3):
        runs(capsys, *words, str(tmp_path / "o.tsv"), "--part", f"{number}/3")
    assert runs(capsys, *words, str(tmp_path / "o.tsv"), "--gather") == whole
    assert (tmp_path / "o.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()


def test_fields_of_an_earlier_run_are_replaced_in_every_part(folder, capsys, tmp_path):
    words = ["variants", str(folder / "gapped"), str(folder / "v.vcf"), "--genome", str(folder / "g.fa")]
    runs(capsys, *words, "-o", str(tmp_path / "v.vcf"))
    words[2] = str(tmp_path / "v.vcf")
    check(capsys, tmp_path, "o.vcf", *words)


def test_another_assembly_is_refused_by_a_part_and_slips_by_those_who_join(folder, capsys, tmp_path):
    (tmp_path / "g.fa").write_text((folder / "g.fa").read_text().replace("A", "1").replace("C", "A").replace("1", "C"))
    words = ["variants", str(folder / "gapped"), str(folder / "v.vcf"), "--genome", str(tmp_path / "g.fa")]
    assert main([*words, "-o", str(tmp_path / "o.tsv"), "--part", "2/3"]) == 1
    assert "REF differs" in capsys.readouterr().err
    lines = (folder / "v.vcf").read_text().splitlines(keepends=True)
    for row in (-8, -9, -10, -11):
        cells = lines[row].split("\t")
        cells[3] = {"A": "C", "C": "G", "G": "T", "T": "A", "N": "A"}[cells[3][0]]
        cells[4] = "ACGT".replace(cells[3], "")[0]
        lines[row] = "\t".join(cells)
    (tmp_path / "v.vcf").write_text("".join(lines))
    words[2:5] = [str(tmp_path / "v.vcf"), "--genome", str(folder / "g.fa")]
    for number in (1, 2):
        runs(capsys, *words, "-o", str(tmp_path / "o.tsv"), "--part", f"{number}/2")
    assert main([*words, "-o", str(tmp_path / "o.tsv"), "--gather"]) == 1
    assert "REF differs" in capsys.readouterr().err
    assert not (tmp_path / "o.tsv").exists()


def test_residues(capsys, tmp_path):
    assert main(["simulate", "secondary_structure", "--n-chains", "12", "-o", str(tmp_path / "c")]) == 0
    fasta, states = str(tmp_path / "c.fasta"), str(tmp_path / "c.states")
    words = ["train", fasta, "--states", states, "--window", "7", "--kernel", "window", "--solver", "csvc", "-o"]
    if main([*words, str(tmp_path / "m")]):
        pytest.fail(capsys.readouterr().err)
    text = check(capsys, tmp_path / "out", "r.tsv", "predict", str(tmp_path / "m"), fasta, parts=(2, 7))
    assert text.startswith(b"id\tposition\t")


# ---- what is refused -------------------------------------------------------------------------------------------------


def refused(capsys, *words):
    assert main(list(words)) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    return err


def test_parts_of_another_model_input_or_option_are_refused(folder, capsys, tmp_path):
    out = str(tmp_path / "o.tsv")
    (tmp_path / "q.fa").write_text((folder / "q.fa").read_text())
    fasta = str(tmp_path / "q.fa")
    words = ["predict", str(folder / "spectrum"), fasta, "-o", out]
    assert "no part has been made; make the parts with --part I/N first" in refused(capsys, *words, "--gather")
    runs(capsys, *words, "--part", "1/3")
    assert "part 2/3 is missing, and 1 more; make it with --part 2/3" in refused(capsys, *words, "--gather")
    for number in (2, 3):
        runs(capsys, *words, "--part", f"{number}/3")
    assert "part 1/3 was made with other model;" in refused(
        capsys, "predict", str(folder / "gapped"), *words[2:], "--gather"
    )
    assert "part 1/3 was made with other options;" in refused(capsys, *words, "--ids", "number", "--gather")
    part = tmp_path / "o.tsv.parts" / "2-of-3" / "part.json"
    note = json.loads(part.read_text())
    note["identity"]["build"] = "of yesterday"
    part.write_text(json.dumps(note))
    assert "part 2/3 was made with other build; make it with --part 2/3" in refused(capsys, *words, "--gather")
    assert not (tmp_path / "o.tsv").exists()
    runs(capsys, *words, "--part", "2/3")
    assert "part 2/3 has been made before" in runs(capsys, *words, "--part", "2/3")
    runs(capsys, *words, "--gather")
    runs(capsys, *words, "--part", "1/1")
    (tmp_path / "q.fa").write_text((folder / "q.fa").read_text() + ">new\nACGTACGT\n")
    assert "part 1/1 was made with other input;" in refused(capsys, *words, "--gather")


def test_parts_of_several_divisions_do_not_mix(folder, capsys, tmp_path):
    words = ["predict", str(folder / "spectrum"), str(folder / "q.fa"), "-o"]
    runs(capsys, *words, str(tmp_path / "whole.tsv"))
    out = str(tmp_path / "o.tsv")
    for part in ("1/3", "2/3", "1/2", "2/2"):
        runs(capsys, *words, out, "--part", part)
    runs(capsys, *words, out, "--gather")
    assert (tmp_path / "o.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert not (tmp_path / "o.tsv.parts").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["predict", "spectrum", "q.fa", "--part", "1/2"], "--part needs an output file; add -o FILE"),
        (
            ["predict", "spectrum", "-", "--part", "1/2", "-o", "o.tsv"],
            "--part cannot divide standard input; give a file",
        ),
        (["predict", "spectrum", "q.fa", "--part", "1/2", "--gather", "-o", "o.tsv"], "exclude each other"),
        (["predict", "spectrum", "r.fq", "--part", "1/2", "-o", "o.tsv"], "--part divides FASTA, but r.fq is FASTQ"),
        (["predict", "sites", "q.fa.gz", "--scan", "AG", "--part", "1/2", "-o", "o.tsv"], "run gunzip"),
        (["predict", "sites", "q.fa", "--sites", "t.tsv", "--part", "1/2", "-o", "o.tsv"], "--part does not divide"),
        (["variants", "gapped", "v.vcf", "--genome", "g.fa", "--null", "9", "--part", "1/2", "-o", "o.tsv"], "--null"),
        (
            ["variants", "gapped", "--sequences", "q.fa", "--part", "1/2", "-o", "o.tsv"],
            "--part does not work with --sequences",
        ),
    ],
)
def test_what_is_not_divided(folder, capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    (folder / "r.fq").write_text("@r1\nACGTACGT\n+\nIIIIIIII\n")
    (folder / "t.tsv").write_text("record\tposition\tstrand\nq0\t6\t+\n")
    assert message in refused(capsys, *words)
    assert not list(folder.glob("o.*"))


def test_a_part_that_was_killed_is_made_again(folder, capsys, tmp_path):
    words = ["predict", str(folder / "slow"), str(folder / "g.fa"), "--scan", "AG"]
    runs(capsys, *words, "-o", str(tmp_path / "whole.tsv"))
    out = ["-o", str(tmp_path / "o.tsv")]
    line = [sys.executable, "-m", "seqkern.cli.main", *words, *out, "--part", "2/2"]
    job = subprocess.Popen(line, stderr=subprocess.PIPE)
    part = tmp_path / "o.tsv.parts" / "2-of-2"
    while job.poll() is None and not part.exists():
        time.sleep(0.005)
    job.send_signal(signal.SIGKILL)
    job.communicate()
    assert not (part / "part.json").exists()
    runs(capsys, *words, *out, "--part", "1/2")
    assert "part 2/2 is missing" in refused(capsys, *words, *out, "--gather")
    runs(capsys, *words, *out, "--part", "2/2")
    runs(capsys, *words, *out, "--gather")
    assert (tmp_path / "o.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()


def test_an_index_of_an_earlier_file_is_refused(folder, capsys, tmp_path):
    (tmp_path / "g.fa").write_text(">a\nACAGTACAGT\nACGT\n")
    words = ["predict", str(folder / "sites"), str(tmp_path / "g.fa"), "--scan", "AG", "-o", str(tmp_path / "o.tsv")]
    runs(capsys, *words, "--part", "1/2")
    for more in (">b\nACGTAC\n", "ACGT\n"):
        (tmp_path / "g.fa").write_text(">a\nACAGTACAGT\nACGT\n" + more)
        assert "g.fa.fai: does not belong to the genome; delete it" in refused(capsys, *words, "--part", "1/2")
    (tmp_path / "g.fa").write_text(">a\nACAGTACAGT\nACGT\n\n")
    runs(capsys, *words, "--part", "1/2")


@pytest.mark.parametrize("verb", ["predict", "variants"])
def test_a_run_that_was_stopped_while_it_removed_the_parts_goes_on(folder, capsys, tmp_path, monkeypatch, verb):
    words = ["predict", str(folder / "spectrum"), str(folder / "q.fa"), "-o", str(tmp_path / "o.tsv")]
    if verb == "variants":
        words = ["variants", str(folder / "gapped"), str(folder / "v.vcf"), "--genome", str(folder / "g.fa"), "-o"]
        words.append(str(tmp_path / "o.vcf.gz"))
    for number in (1, 2, 3):
        runs(capsys, *words, "--part", f"{number}/3")
    removed = []

    def stopped(path, *, remove=shutil.rmtree, **more):
        if "-of-" not in str(path):
            return remove(path, **more)
        if removed:
            raise KeyboardInterrupt
        removed.append(path)
        return remove(path, **more)

    with monkeypatch.context() as context:
        context.setattr(shutil, "rmtree", stopped)
        assert main([*words, "--gather"]) == 130
    capsys.readouterr()
    assert len(list(tmp_path.glob("*.parts/*-of-3"))) == 2
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert len(made) == 1 + (verb == "variants")
    assert runs(capsys, *words, "--gather").endswith("the parts have been joined before\n")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == made
    assert "no part of it is left, so it may be joined already; keep it" in refused(capsys, *words, "--gather")


def test_an_output_that_was_changed_is_not_taken_for_the_joined_parts(folder, capsys, tmp_path, monkeypatch):
    words = ["predict", str(folder / "spectrum"), str(folder / "q.fa"), "-o", str(tmp_path / "o.tsv")]
    runs(capsys, *words, "--part", "1/1")
    with monkeypatch.context() as context:
        context.setattr(shutil, "rmtree", lambda path, **more: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main([*words, "--gather"]) == 130
    capsys.readouterr()
    made = (tmp_path / "o.tsv").read_bytes()
    (tmp_path / "o.tsv").write_text("mine")
    runs(capsys, *words, "--gather")
    assert (tmp_path / "o.tsv").read_bytes() == made
    assert [path.name for path in tmp_path.iterdir()] == ["o.tsv"]


@pytest.mark.parametrize("by_chromosome", [True, False])
def test_an_index_that_cannot_be_written_is_told_from_an_unsorted_file(folder, capsys, tmp_path, by_chromosome):
    lines = (folder / "v.vcf").read_text().splitlines(keepends=True)
    rows = sorted(line for line in lines if not line.startswith("#"))
    rows = rows[:2] if by_chromosome else [rows[0], rows[-1], rows[0]]
    (tmp_path / "v.vcf").write_text("".join([line for line in lines if line.startswith("#")] + rows))
    out = tmp_path / "o.vcf.gz"
    words = ["variants", str(folder / "gapped"), str(tmp_path / "v.vcf"), "--genome", str(folder / "g.fa"), "-o"]
    (tmp_path / "o.vcf.gz.tbi").write_text("of an earlier file")

    def fails(*_, **__):
        raise OSError("building of index failed")

    with pytest.MonkeyPatch.context() as context:
        if by_chromosome:
            context.setattr(pysam, "tabix_index", fails)
        assert main([*words, str(out)]) == int(by_chromosome)
    said = capsys.readouterr().err
    assert ("o.vcf.gz.tbi: cannot be written; check the free space" in said) == by_chromosome
    assert ("not sorted by chromosome, so there is no index" in said) != by_chromosome
    assert not (tmp_path / "o.vcf.gz.tbi").exists()


def test_an_index_gets_its_name_when_it_is_complete(folder, capsys, tmp_path, monkeypatch):
    output, places = tmp_path / "o.vcf.gz", []

    def recorded(*args, real=pysam.tabix_index, **options):
        real(*args, **options)
        places.extend(path.name for path in tmp_path.iterdir())

    monkeypatch.setattr(pysam, "tabix_index", recorded)
    words = ["variants", folder / "gapped", folder / "v.vcf", "--genome", folder / "g.fa", "-o", output]
    runs(capsys, *map(str, words))
    assert "o.vcf.gz" in places
    assert "o.vcf.gz.tbi" not in places
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.vcf.gz", "o.vcf.gz.tbi"]
