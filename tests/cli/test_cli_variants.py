"""``seqkern variants``: from a VCF file and a genome to a table or an annotated VCF file."""

import csv
import gzip
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.genomics import variant_run as run_module
from seqkern.genomics.variants import single_kmer_weights
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.sequences.joining import join_views
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.study import make_dataset
from seqkern.study.several_sequences import ALLELES

pysam = pytest.importorskip("pysam")

HEADER = (
    '##fileformat=VCFv4.2\n##INFO=<ID=AF,Number=A,Type=Float,Description="Frequency">\n##contig=<ID=chr1>\n'
    "##contig=<ID=chr2>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
)
MOTIF = "TGACTCA"
JASPAR = ">MA0099 AP-1\n" + "".join(
    f"{base} [{' '.join('20' if letter == base else '1' for letter in MOTIF)}]\n" for base in "ACGT"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A genome with motifs, variants in it, and two models."""
    folder = tmp_path_factory.mktemp("variants")
    rng = np.random.default_rng(1)
    genome = {}
    for name in ("chr1", "chr2"):
        letters = rng.choice(list("ACGT"), 30_000)
        for place in range(100, 8000, 400):
            letters[place : place + len(MOTIF)] = list(MOTIF)
        genome[name] = "".join(letters)
    (folder / "g.fa").write_text("".join(f">{name}\n{text}\n" for name, text in genome.items()))
    rows = []
    for name, text in genome.items():
        planted = {103 + 400 * i for i in range(20)}
        for position in sorted(planted | set(rng.integers(20, 29_900, 300).tolist())):
            ref = text[position - 1]
            alts = [base for base in "ACGT" if base != ref]
            rows.append((name, position, ".", ref, ",".join(alts[: 1 + (position % 7 == 0)])))
        rows.append((name, 29_950, "indel", text[29_949:29_952], text[29_949]))
        rows.append((name, 29_960, "sv", text[29_959], "<DEL>"))
    lines = ["\t".join(map(str, row)) + "\t50\tPASS\tAF=0.1\n" for row in rows]
    (folder / "v.vcf").write_text(HEADER + "".join(lines))
    for stem, seed in (("ap1", 1), ("other", 2)):
        windows = rng.choice(list("ACGT"), size=(60, 40))
        for row in windows[::2]:
            row[10 : 10 + len(MOTIF)] = list(MOTIF)
        X = as_sequences(["".join(row) for row in windows], "dna")
        labels = make_labels(X.ids, ["peak", "background"] * 30, positive="peak")
        kernel = build_kernel("gapped_kmer:l=6,k=4,reverse_complement=true")
        train_model(X, labels, kernel, f"csvc:C={seed}").save(folder / f"{stem}.seqkern")
    return folder


def run(folder, *words, output="out.tsv", code=0):
    models = [str(folder / word) if (folder / word).exists() else word for word in words]
    assert main(["variants", *models, "-o", str(folder / output)]) == code
    return folder / output


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_planted_motifs_have_the_largest_changes(folder, capsys):
    (folder / "m.jaspar").write_text(JASPAR)
    (folder / "plain.bed").write_text("chr1\t10000\t29000\nchr2\t10000\t29000\n")
    words = ["ap1.seqkern", "v.vcf", "--genome", "g.fa", "--motifs", "m.jaspar"]
    words += ["--null", "5000", "--null-regions", "plain.bed"]
    rows = table(run(folder, *words))
    assert list(rows[0]) == [
        *("chromosome", "position", "id", "ref", "alt", "reference", "alternative", "delta", "p", "q", "ref_kmer"),
        *("alt_kmer", "motif", "ref_motif", "alt_motif", "note"),
    ]
    planted = {103 + 400 * i for i in range(20)}
    assert np.median([float(row["q"]) for row in rows if int(row["position"]) in planted]) < 0.05
    assert all(float(row["delta"]) < 0 for row in rows if int(row["position"]) in planted)
    assert {row["motif"] for row in rows if int(row["position"]) in planted} == {"MA0099 AP-1"}
    chance = [float(row["p"]) for row in rows if row["p"] and int(row["position"]) not in planted]
    assert 0.4 < np.median(chance) < 0.6
    notes = {row["id"]: (row["delta"] != "", row["p"], row["note"]) for row in rows if row["id"] != "."}
    assert notes["sv"] == (False, "", "not scored")
    assert notes["indel"][0]
    assert 0 < float(notes["indel"][1]) < 1
    said = capsys.readouterr().err
    assert "of 737 single-base variants, 0 of 2 deletions at a false discovery rate of 0.05, by" in said
    assert "not scored: 2 symbolic alleles" in said
    assert not list(folder.glob(".*"))


def test_null_regions(folder, capsys):
    (folder / "r.bed").write_text("chr2\t0\t20000\n")
    words = ["ap1.seqkern", "v.vcf", "--genome", "g.fa", "--null", "500", "--null-regions"]
    first = run(folder, *words, str(folder / "r.bed")).read_bytes()
    assert run(folder, *words, str(folder / "r.bed"), output="again.tsv").read_bytes() == first
    (folder / "r.bed").write_text("chr2\t0\t20000000\n")
    run(folder, *words, str(folder / "r.bed"), code=1)
    assert "line 1: chr2:1-20000000 extends past an end of chr2" in capsys.readouterr().err


def test_annotated_vcf_has_the_numbers_of_the_table(folder):
    words = ["ap1.seqkern", "v.vcf", "--genome", "g.fa"]
    rows = table(run(folder, *words))
    annotated = run(folder, *words, output="out.vcf.gz")
    deltas = []
    with pysam.VariantFile(str(annotated)) as file:
        assert file.header.info["SEQKERN_DELTA"].number == "A"
        assert len(list(file.fetch("chr2"))) == len({row["position"] for row in rows if row["chromosome"] == "chr2"})
    with pysam.VariantFile(str(annotated)) as file:
        for record in file:
            assert record.info["AF"] == pytest.approx((0.1,) * len(record.alts)) or len(record.alts) > 1
            deltas += record.info.get("SEQKERN_DELTA", [np.nan] * len(record.alts))
    expected = [float(row["delta"] or "nan") for row in rows]
    assert deltas == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True)
    twice = run(folder, "ap1.seqkern", "out.vcf.gz", "--genome", "g.fa", output="twice.vcf.gz")
    assert gzip.decompress(twice.read_bytes()) == gzip.decompress(annotated.read_bytes())
    plain = run(folder, *words, output="out.vcf")
    assert plain.read_bytes() == gzip.decompress(annotated.read_bytes())


def test_several_models_have_a_column_each(folder):
    (folder / "more").mkdir(exist_ok=True)
    (folder / "more" / "ap1.seqkern").write_bytes((folder / "other.seqkern").read_bytes())
    rows = table(run(folder, "ap1.seqkern", "other.seqkern", "more/ap1.seqkern", "v.vcf", "--genome", "g.fa"))
    assert list(rows[0])[5:] == ["delta_ap1", "delta_other", "delta_ap1_2", "note"]
    single = table(run(folder, "other.seqkern", "v.vcf", "--genome", "g.fa"))
    for name in ("delta_other", "delta_ap1_2"):
        assert [row[name] for row in rows] == [row["delta"] for row in single]


def test_bytes_are_the_same_with_any_number_of_threads_and_in_any_chunks(folder, monkeypatch):
    words = ["ap1.seqkern", "v.vcf", "--genome", "g.fa", "--null", "3000"]
    first = run(folder, *words, "--threads", "1").read_bytes()
    monkeypatch.setattr(run_module, "CHUNK", 100)
    assert run(folder, *words, "--threads", "3", output="b.tsv").read_bytes() == first


def test_a_killed_run_goes_on_after_its_last_chunk(folder, monkeypatch):
    words = ["ap1.seqkern", "v.vcf", "--genome", "g.fa"]
    expected = run(folder, *words).read_bytes()
    monkeypatch.setattr(run_module, "CHUNK", 100)
    score, scored = run_module.VariantRun._score, []

    def stopped(self, chunk):
        scored.append(chunk.first_line)
        if len(scored) == 4:
            raise KeyboardInterrupt
        return score(self, chunk)

    monkeypatch.setattr(run_module.VariantRun, "_score", stopped)
    run(folder, *words, output="killed.tsv", code=130)
    assert not (folder / "killed.tsv").exists()
    assert run(folder, *words, output="killed.tsv").read_bytes() == expected
    assert len(scored) == len(set(scored)) + 1
    assert not (folder / ".killed.tsv.parts").exists()


def test_other_models_are_compared_in_windows(folder):
    rows = table(run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa", "--window", "40"))
    by_kmers = table(run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa"))
    pairs = [(float(a["delta"]), float(b["delta"])) for a, b in zip(rows, by_kmers, strict=True) if a["delta"]]
    assert np.corrcoef(np.transpose(pairs))[0, 1] > 0.9


def test_pairs_of_sequences(folder, capsys):
    (folder / "ref.fa").write_text(">a\nCCTGACTCACC\n>b\nACGTACGTACG\n")
    (folder / "alt.fa").write_text(">a\nCCTGCCTCACC\n>b\nACGTACGTACG\n")
    rows = table(run(folder, "ap1.seqkern", "--ref", "ref.fa", "--alt", "alt.fa"))
    assert [row["id"] for row in rows] == ["a", "b"]
    assert float(rows[0]["delta"]) < -0.1
    assert float(rows[1]["delta"]) == 0
    (folder / "alt.fa").write_text(">b\nCCTGCCTCACC\n>a\nACGTACGTACG\n")
    run(folder, "ap1.seqkern", "--ref", "ref.fa", "--alt", "alt.fa", code=1)
    assert "record 1 is 'b' in the view 'alt', 'a' in 'ref'" in capsys.readouterr().err


def test_weights_of_kmers_give_the_same_as_their_model(folder):
    from seqkern.methods.loading import load_model

    weights = single_kmer_weights(load_model(folder / "ap1.seqkern")).tables[6]
    kmers = ["".join("ACGT"[code >> 2 * (5 - i) & 3] for i in range(6)) for code in range(4**6)]
    (folder / "w.txt").write_text("".join(f"{k}\t{w!r}\n" for k, w in zip(kmers, weights.tolist(), strict=True)))
    first = run(folder, "w.txt", "v.vcf", "--genome", "g.fa").read_bytes()
    assert run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa", output="b.tsv").read_bytes() == first


def test_all_variants_of_a_region_with_a_picture(folder, capsys):
    words = ["ap1.seqkern", "--genome", "g.fa", "--region", "chr1:96-115"]
    rows = table(run(folder, *words, "--plot", str(folder / "heat.svg")))
    assert len(rows) == 60
    deltas = {(row["position"], row["alt"]): row["delta"] for row in rows}
    (folder / "one.vcf").write_text(
        HEADER + "".join(f"chr1\t{row['position']}\t.\t{row['ref']}\t{row['alt']}\t.\t.\t.\n" for row in rows)
    )
    given = table(run(folder, "ap1.seqkern", "one.vcf", "--genome", "g.fa"))
    assert {(row["position"], row["alt"]): row["delta"] for row in given} == deltas
    heat = ElementTree.parse(folder / "heat.svg")
    assert len(heat.findall(".//{*}circle")) == 20  # the residues as they are
    assert heat.findall(".//{*}image")[0].get("height") == "64"
    strongest = sorted(rows, key=lambda row: float(row["delta"]))[:9]
    assert {int(row["position"]) for row in strongest} <= set(range(101, 108))
    run(folder, "ap1.seqkern", "--genome", "g.fa", "--region", "chr1:1-40000", code=1)
    assert "does not lie in chr1, which has 30000 bases" in capsys.readouterr().err
    (folder / "s.fa").write_text(">s1\nACGTTGACTCAGT\n>s2\nACGNTGACTCAGT\n")
    assert len(table(run(folder, "ap1.seqkern", "--sequences", "s.fa"))) == 3 * (13 + 12)


def test_sites_lost_near_a_variant(folder):
    windows = [f"CAGGTAAG{end}" if i % 2 else f"CTCGTCCT{end}" for i, end in enumerate(["AC", "GT", "TT", "CA"] * 6)]
    X = as_sequences(windows, "dna")
    labels = make_labels(X.ids, ["decoy", "donor"] * 12, positive="donor")
    notes = {"window": {"left": 3, "right": 6, "site": "GT"}}
    train_model(X, labels, build_kernel("weighted_degree:degree=3"), "csvc:C=1", notes=notes).save(folder / "d.seqkern")
    (folder / "d.fa").write_text(f">chr1\n{'A' * 80}CAGGTAAGCC{'A' * 80}\n")
    (folder / "d.vcf").write_text(HEADER + "chr1\t84\t.\tG\tC\t.\t.\t.\nchr1\t100\t.\tA\tG\t.\t.\t.\n")
    rows = table(run(folder, "d.seqkern", "d.vcf", "--genome", "d.fa"))
    assert [(row["ref_site"], row["effect"]) for row in rows] == [("+0:+", "loss"), ("-16:+", "")]
    assert [float(row["delta"]) == 0 for row in rows] == [False, True]


def test_chromosomes_that_the_genome_lacks(folder, capsys, monkeypatch):
    monkeypatch.setattr(run_module, "CHUNK", 100)
    (folder / "last.fa").write_text(">chr2\n" + (folder / "g.fa").read_text().split(">chr2\n")[1])
    rows = table(run(folder, "ap1.seqkern", "v.vcf", "--genome", "last.fa"))
    assert {row["note"] for row in rows if row["chromosome"] == "chr1"} == {
        "chromosome not in the genome",
        "not scored",
    }
    assert "last.fa lacks, such as 'chr1'; it has 'chr2'" in capsys.readouterr().err
    (folder / "third.fa").write_text(">chr3\nACGT\n")
    run(folder, "ap1.seqkern", "v.vcf", "--genome", "third.fa", output="third.tsv", code=1)
    err = capsys.readouterr().err
    assert "v.vcf: no allele can be scored: " in err
    assert "2 symbolic alleles, such as <DEL>; " in err
    assert "third.fa lacks, such as 'chr1', 'chr2'; it has 'chr3'" in err
    assert not list(folder.glob("*third.tsv*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ap1.seqkern", "v.vcf"], "variants need the genome"),
        (["v.vcf", "--genome", "g.fa"], "give a model, and then the variants"),
        (["v.vcf", "ap1.seqkern", "--genome", "g.fa"], "ap1.seqkern"),
        (["ap1.seqkern", "v.vcf", "--genome", "g.fa", "--null-regions", "r.bed"], "needs --null"),
        (["ap1.seqkern", "v.vcf", "--genome", "g.fa", "--motifs", "g.fa"], "g.fa"),
        (["ap1.seqkern", "v.vcf", "--genome", "missing.fa"], "missing.fa"),
        (["ap1.seqkern", "--ref", "g.fa"], "--ref needs --alt"),
        (["ap1.seqkern", "--sequences", "g.fa", "--plot", "x.svg"], "--plot draws one sequence"),
    ],
)
def test_mistakes_are_one_line(folder, capsys, words, said):
    (folder / "out.tsv").unlink(missing_ok=True)
    run(folder, *words, code=1)
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert not (folder / "out.tsv").exists()


@pytest.mark.parametrize(("position", "ref"), [("--5", "A"), ("9" * 20, "A"), ("12", "Ä"), ("x", "A")])
def test_a_damaged_line_is_one_line(folder, capsys, position, ref):
    (folder / "odd.vcf").write_text(HEADER + f"chr1\t{position}\t.\t{ref}\tC\t.\t.\t.\n", encoding="utf-8")
    run(folder, "ap1.seqkern", "odd.vcf", "--genome", "g.fa", output="odd.tsv", code=1)
    said = "no allele can be scored: 1 alleles with letters" if ref == "Ä" else f"POS is '{position}', not a position"
    assert len(capsys.readouterr().err.split(said)[1].splitlines()) == 1


def test_a_slip_in_a_small_file_is_left_out_and_said(folder, capsys):
    base = (folder / "g.fa").read_text().splitlines()[1]
    other = "C" if base[199] != "C" else "A"
    third = next(letter for letter in "GT" if letter != base[199])
    slip = f"chr1\t200\t.\t{other}\t{third}\t.\t.\t.\n"
    (folder / "slip.vcf").write_text(f"{HEADER}{slip}chr1\t200\t.\t{base[199]}\t{third}\t.\t.\t.\n")
    rows = table(run(folder, "ap1.seqkern", "slip.vcf", "--genome", "g.fa", output="slip.tsv"))
    assert [row["note"] for row in rows] == ["REF differs from the genome", ""]
    assert "not scored: 1 whose REF differs from" in capsys.readouterr().err
    (folder / "slip.vcf").write_text(HEADER + slip)
    run(folder, "ap1.seqkern", "slip.vcf", "--genome", "g.fa", output="none.tsv", code=1)
    assert f"(at chr1:200 REF is {other}, the genome has {base[199]}); " in capsys.readouterr().err
    assert not (folder / "none.tsv").exists()


def test_an_indel_without_a_whole_kmer_has_no_score(folder, capsys):
    (folder / "short.fa").write_text(">chr1\nACGTA\n")
    (folder / "short.vcf").write_text(HEADER + "chr1\t3\t.\tGT\tG\t.\t.\t.\nchr1\t3\t.\tG\tGACGT\t.\t.\t.\n")
    run(folder, "ap1.seqkern", "short.vcf", "--genome", "short.fa", output="short.tsv", code=1)
    assert "no allele can be scored: 2 with N or the chromosome's end" in capsys.readouterr().err
    (folder / "long.fa").write_text(">chr1\nACGTA\n>chr2\nACGTACGTACGTACGT\n")
    with (folder / "short.vcf").open("a") as file:
        file.write("chr2\t8\t.\tT\tG\t.\t.\t.\n")
    rows = table(run(folder, "ap1.seqkern", "short.vcf", "--genome", "long.fa", output="short.tsv"))
    assert [(row["delta"] == "", row["note"]) for row in rows] == [
        *[(True, "N or the chromosome's end near it")] * 2,
        (False, ""),
    ]
    (folder / "short.vcf").write_text(HEADER)
    assert not table(run(folder, "ap1.seqkern", "short.vcf", "--genome", "short.fa", output="short.tsv"))


def test_regions_give_tables(folder, capsys):
    run(folder, "ap1.seqkern", "--region", "chr1:100-120", "--genome", "g.fa", output="region.vcf.gz", code=1)
    assert "end it in .tsv" in capsys.readouterr().err


def test_output_formats_are_known_by_their_names(folder, capsys):
    run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa", output="out.bcf", code=1)
    assert "end it in .tsv" in capsys.readouterr().err
    packed = run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa", output="out.tsv.gz")
    assert gzip.decompress(packed.read_bytes()) == run(folder, "ap1.seqkern", "v.vcf", "--genome", "g.fa").read_bytes()
    assert not Path(f"{packed}.tbi").exists()


def test_variants_out_of_order_are_scored_and_not_indexed(folder, capsys):
    lines = (folder / "v.vcf").read_text().splitlines(keepends=True)
    start = len(HEADER.splitlines())
    (folder / "back.vcf").write_text("".join(lines[:start] + lines[start:][::-1]))
    output = run(folder, "ap1.seqkern", "back.vcf", "--genome", "g.fa", output="back.vcf.gz")
    assert "not sorted by position, so there is no index" in capsys.readouterr().err
    assert not Path(f"{output}.tbi").exists()
    assert len(gzip.decompress(output.read_bytes()).splitlines()) > len(lines)


# ---- models of differences ---------------------------------------------------------------------------------

EFFECTS = ("train", "--genome", "g.fa", "--cv", "0", "--kernel")
GAPPED = "gapped_kmer:l=5,k=3,reverse_complement=true,normalize=false"


@pytest.fixture
def effects(folder, monkeypatch):
    """Effects of the single-base variants of the first chromosome: what they change in the number of motifs."""
    monkeypatch.chdir(folder)
    text = (folder / "g.fa").read_text().split("\n")[1]
    rows = [row.split("\t")[:5] for row in (folder / "v.vcf").read_text().splitlines() if row.startswith("chr1")]
    rng, out = np.random.default_rng(1), []
    for name, position, _, ref, alts in rows:
        for alt in alts.split(",") if len(ref) == 1 and "<" not in alts else ():
            place = int(position) - 1
            sides = text[place - 6 : place], text[place + 1 : place + 7]
            change = [MOTIF in sides[0] + base + sides[1] for base in (alt, ref)]
            out.append((name, position, ref, alt, f"{change[0] - change[1] + 0.1 * rng.standard_normal():.3f}"))
    out = out[:160]
    lines = ["\t".join(row) for row in [("chrom", "pos", "ref", "alt", "effect"), *out]]
    (folder / "e.tsv").write_text("\n".join(lines) + "\n")
    records = ["\t".join((*row[:2], ".", *row[2:4], ".", ".", f"AF=1;EFFECT={row[4]}")) for row in out]
    (folder / "e.vcf").write_text(HEADER + "\n".join(records) + "\n")
    return np.array([float(row[-1]) for row in out])


@pytest.mark.parametrize(
    "kernel", [GAPPED, "gapped_kmer:l=5,k=3,reverse_complement=true", "weighted_degree:degree=3", f"{GAPPED}:short"]
)
def test_a_model_of_differences_predicts_effects(folder, effects, kernel, capsys):
    kernel, short = kernel.partition(":short")[::2]
    words = (*EFFECTS, kernel, "--width", "8" if short else "31")
    assert main([*words, "--variants", "e.tsv", "-o", "d.seqkern"]) == 0
    assert main([*words, "--variants", "e.vcf", "-o", "same.seqkern"]) == 0
    one, other = load_model("d.seqkern"), load_model("same.seqkern")
    for column in ("dual_coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(one.solver, column), getattr(other.solver, column))
    assert one.solver.intercept_ == 0
    assert len(one.support) == len(effects)
    delta = np.array([float(row["delta"]) for row in table(run(folder, "d.seqkern", "e.vcf", "--genome", "g.fa"))])
    np.testing.assert_allclose(delta, one.decision(one.support), atol=1e-8)
    assert np.corrcoef(delta, effects)[0, 1] > 0.7
    swapped = join_views({name: one.support.view(view) for name, view in zip(ALLELES, ALLELES[::-1], strict=True)})
    np.testing.assert_allclose(one.decision(swapped), -one.decision(one.support), atol=1e-12)


def test_folds_keep_loci_of_variants(folder, effects, capsys):
    chosen = make_dataset("effects", {"table": {"file": "e.tsv", "genome": "g.fa", "width": 50}})
    groups, places = chosen.task().labels.groups, [int(name.split(":")[1]) for name in chosen.X.ids]
    order = np.argsort(places, kind="stable")
    together = np.diff(np.array(places)[order]) < 50
    np.testing.assert_array_equal(groups[order][1:] == groups[order][:-1], together)
    assert 0 < together.sum() < len(together)
    assert chosen.notes["genome"]["folds"].endswith(f"stay in one fold: {len(places)} in {len(set(groups))} loci")
    assert main([*EFFECTS, GAPPED, "--variants", "e.tsv", "--solver", "svr:C=1", "-o", "d.seqkern"]) == 0
    said = capsys.readouterr()
    assert "next: seqkern variants d.seqkern NEW.vcf" in said.out
    assert "which so does not change its sign with the alleles" in said.err


def test_effects_of_several_alleles_and_measured_twice(folder, effects, capsys):
    name, position, ref, alt, _ = (folder / "e.tsv").read_text().split("\n")[1].split("\t")
    others = [base for base in "ACGT" if base not in (ref, alt)]
    lines = [
        (position, ".", ref, ",".join([alt, *others]), ".", ".", "E=1,2,-4"),
        (position, ".", ref, alt, ".", ".", "E=3"),
    ]
    (folder / "few.vcf").write_text(HEADER + "".join("\t".join((name[3:], *line)) + "\n" for line in lines))
    read = make_dataset(
        "few", {"table": {"file": "few.vcf", "genome": "g.fa"}, "labels": {"label": "E", "kind": "real"}}
    )
    assert read.task().labels.y.tolist() == [1, 2, -4, 3]
    assert read.X.ids[::3] == [f"{name}:{position}:{ref}>{alt}", f"{name}:{position}:{ref}>{alt}.2"]
    assert main([*EFFECTS, GAPPED, "--variants", "few.vcf", "--label-field", "E", "-o", "few.seqkern"]) == 0
    said = capsys.readouterr()
    assert "few.vcf: variants on chromosomes that g.fa names otherwise, such as chr1 for 1\n" in said.err
    assert "replicates: 1 variant has different values in 2 records; their means are used" in said.err
    assert "3 sequences, a number each" in said.out


BAD_EFFECTS = (
    ("chrom\tpos\tref", "bad.tsv: has no column 'alt'; give VCF, or chromosome, position, ref, alt and effect"),
    ("chrom\tpos\tref\talt\teffect", "bad.tsv: has no variants after its header"),
    ("chrom\tpos\tref\talt\teffect\nchr1\t7\tT\tA,C\t1", "bad.tsv: line 2: 2 alleles in ALT have one effect; give a"),
    ("chrom\tpos\tref\talt\teffect\nchr1\t7\tA\ta\t1", "bad.tsv: line 2: REF and ALT are both a; correct or"),
    ("chrom\tpos\tref\talt\teffect\nchr1\t0\tA\tG\t1", "bad.tsv: line 2: the position is 0; positions count from 1"),
    ("chrom\tpos\tref\talt\teffect\nchr1\tx\tA\tG\t1", "bad.tsv: line 2: POS is 'x', not a position"),
    ("chrom\tpos\tref\talt\teffect\nchr9\t7\tA\tG\t1", "bad.tsv: no allele can be scored: 1 on chromosomes"),
    (("--variants", "e.tsv", "e.tsv"), "--variants takes one file, and no sequences"),
    (("--variants", "e.tsv", "--labels", "e.tsv"), "--labels does not work with --variants"),
    (("--variants", "e.vcf", "--label-field", "DP"), "e.vcf: has no column or field of effects 'DP'; name it with "),
    (("--variants", "e.vcf", "--label-field", "DP"), "fields: EFFECT, AF\n"),
    (("--variants", "high.tsv"), "(line 161)': label 'high' is not a finite number"),
)


def test_bad_effects_are_one_line(folder, effects, capsys):
    (folder / "high.tsv").write_text((folder / "e.tsv").read_text().rpartition("\t")[0] + "\thigh\n")
    for change, said in BAD_EFFECTS:
        words = ("--variants", "bad.tsv") if isinstance(change, str) else change
        (folder / "bad.tsv").write_text(f"{change}\n")
        assert main([*EFFECTS, GAPPED, *words, "-o", "bad.seqkern"]) == 1
        assert said in capsys.readouterr().err
    normalised = f"each_view:base=({GAPPED}),rule=difference,normalize=true"
    assert main([*EFFECTS, normalised, "--variants", "e.tsv", "-o", "bad.seqkern"]) == 0
    run(folder, "bad.seqkern", "e.vcf", "--genome", "g.fa", code=1)
    assert "its differences are normalised or transformed" in capsys.readouterr().err
    for words in (("e.vcf", "--genome", "g.fa"), ("e.tsv",), ("g.fa",)):
        assert main(["predict", "bad.seqkern", *words]) == 1
        assert "; seqkern variants bad.seqkern FILE.vcf --genome FASTA scores variants\n" in capsys.readouterr().err
