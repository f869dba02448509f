"""What a beginner mixes up: files of another kind, labels of another data set, the order of arguments."""

import gzip
import json
import os
import random
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_cli_predict import fails, records, write

from seqkern.cli.main import build_parser, main
from seqkern.core import file_kinds
from seqkern.core.archive import save_archive

GENES = ["--kernel", "linear", "--solver", "csvc"]
WORDS = ["--kernel", "spectrum:k=2", "--solver", "csvc:C=1"]


@pytest.fixture
def genes(tmp_path):
    head = "id\t" + "\t".join(f"gene{j}" for j in range(12)) + "\n"
    rows = ("\t".join([f"p{i}", *(str(i % (j + 2)) for j in range(12))]) + "\n" for i in range(8))
    return write(tmp_path / "genes.tsv", head, *rows)


@pytest.fixture
def labels(tmp_path):
    return write(tmp_path / "labels.tsv", "id\tlabel\n", *(f"p{i}\t{'01'[i % 2]}\n" for i in range(8)))


@pytest.fixture
def fasta(tmp_path):
    return write(tmp_path / "pos.fa", *records("pos", 8))


@pytest.fixture
def train(tmp_path, capsys):
    return lambda *argv: fails(capsys, "train", *argv, "-o", str(tmp_path / "m"))


def test_a_table_without_labels_names_the_options(genes, train):
    err = train(genes, *GENES)
    assert "has no column 'label'; name it with --label-field" in err
    assert "in labels); columns: id, gene0, gene1, gene2, gene3, gene4, gene5, gene6, …" in err


def test_a_table_of_labels_without_their_column(genes, labels, fasta, train):
    for first, kernel in ((genes, "linear"), (fasta, "spectrum:k=2")):
        argv = [first, "--labels", labels, "--label-field", "kind", "--kernel", kernel, "--solver", "csvc"]
        assert "has no column 'kind'; name it with --label-field" in train(*argv)


@pytest.mark.parametrize(
    ("ids", "told", "remedy"),
    [
        (
            ["donor1", "donor2"],
            "has a label but no sample (none of the 2 ids in the table are among the 8 samples)",
            "these samples",
        ),
        (
            [f"p{i}" for i in range(9)],
            "has a label but no sample (8 of the 9 ids in the table are among the 8 samples)",
            "remove it",
        ),
    ],
)
def test_labels_of_another_data_set(tmp_path, genes, train, ids, told, remedy):
    other = write(tmp_path / "other.tsv", "id\tlabel\n", *(f"{name}\t{'ab'[i % 2]}\n" for i, name in enumerate(ids)))
    err = train(genes, "--labels", other, *GENES)
    assert told in err
    assert remedy in err


def test_fasta_in_place_of_a_table(tmp_path, genes, labels, fasta, train, capsys):
    assert "pos.fa: is FASTA, not a table" in train(genes, "--labels", fasta, *GENES)
    assert "pos.fa: is FASTA, not a table" in train(fasta, *GENES)
    model = str(tmp_path / "g")
    assert main(["train", genes, "--labels", labels, *GENES, "-o", model]) == 0
    err = fails(capsys, "predict", model, fasta)
    assert "pos.fa: is FASTA, but the model was trained on a feature table" in err


@pytest.mark.parametrize("verb", [["predict"], ["explain", "-o", "out"]])
def test_the_model_comes_first(tmp_path, fasta, capsys, verb):
    model = str(tmp_path / "m")
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    assert main(["train", fasta, other, "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", model]) == 0
    err = fails(capsys, *verb, fasta, model)
    assert f"{fasta}: is not a model; give a model first: seqkern {verb[0]} {model} {fasta}" in err
    told = "pos.fa: is FASTA, not a model; the model comes first, then the sequences"
    assert told in fails(capsys, *verb, fasta, other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "variants v.vcf m --genome g.fa -o out.tsv",
            "v.vcf: is not a model; give a model first: seqkern variants m v.vcf",
        ),
        (
            "variants m g.fa --genome v.vcf -o out.tsv",
            "v.vcf: is VCF, not FASTA; swap the files: seqkern variants m v.vcf ",
        ),
        ("motifs g.fa m -o out.meme", "g.fa: is not a model; give a model first: seqkern motifs m g.fa"),
        ("genes g.fa m", "g.fa: is not a model; give a model first: seqkern genes m g.fa"),
        (
            "predict m g.fa --genome p.bed",
            "p.bed: is BED, not FASTA; swap the files: seqkern predict m p.bed --genome g.fa",
        ),
        ("background g.fa --genome p.bed -o out.bed", "swap the files: seqkern background p.bed --genome g.fa"),
        (
            "train t.tsv --labels g.fa -o out",
            "g.fa: is FASTA, not a table; swap the files: seqkern train g.fa --labels t.tsv",
        ),
        ("audit t.tsv g.fa g2.fa -o out", "t.tsv: is not FASTA; give FASTA first: seqkern audit g.fa g2.fa t.tsv"),
        ("train p.bed --genome g.fa -o out", "p.bed: no labels given; add --background to draw negatives that match"),
        ("predict m x.fa", "x.fa: no such file"),
    ],
)
def test_files_in_each_others_place_are_named_with_their_order(tmp_path, monkeypatch, fasta, capsys, given, message):
    monkeypatch.chdir(tmp_path)
    other = write(tmp_path / "g.fa", *records("neg", 8))
    write(tmp_path / "g2.fa", *records("neg", 8, seed=1))
    write(tmp_path / "v.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\nneg0\t5\t.\tA\tC\n")
    write(tmp_path / "p.bed", "neg0\t5\t20\n")
    write(tmp_path / "t.tsv", "id\tlabel\nneg0\t1\n")
    assert main(["train", fasta, other, "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", "m"]) == 0
    assert message in fails(capsys, *given.split())
    assert not [*tmp_path.glob("out*")]


# ---- files of another kind ---------------------------------------------------------------------------------


def of_zip(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return str(path)


def ods(path):
    return of_zip(path, ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", "<x/>"))


OTHER_FILES = {
    "lab.xlsx": (lambda path: of_zip(path, ("[Content_Types].xml", ""), ("xl/workbook.xml", "")), "an Excel file"),
    "lab.ods": (ods, "a LibreOffice spreadsheet"),
    "text.docx": (lambda path: of_zip(path, ("word/document.xml", "")), "a Word file"),
    "pos.zip": (lambda path: of_zip(path, ("pos.fa", ">a\nACGT\n")), "a zip archive, not text; unpack it"),
    "paper.pdf": (lambda path: path.write_bytes(b"%PDF-1.4\n%\xe2\xe3\n"), "is PDF"),
    "wide.fa": (lambda path: path.write_text(">a\nACGT\n", encoding="utf-16"), "UTF-16"),
    "bare.fa": (lambda path: path.write_text(">a\nACGT\n", encoding="utf-16-le"), "UTF-16"),
    "page.fa": (lambda path: path.write_text("<!DOCTYPE html>\n<p>404"), "a web page"),
    "xml.fa": (lambda path: path.write_text("\n\n  <?xml version='1.0'?>\n<a/>"), "a web page or XML"),
    "letter.fa": (lambda path: path.write_text("{\\rtf1 >a ACGT}"), "a formatted document"),
    "table.fa": (lambda path: path.write_text("id\tlabel\na\t1\n"), "it looks like a table"),
    "bare_letters.fa": (lambda path: path.write_text("ACGT\nACGT\n"), "start each record with a line '>id'"),
    "empty.fa": (lambda path: path.write_text(""), "is empty"),
    "blank.fa": (lambda path: path.write_text("\n \n"), "is empty"),
    "heads.fa": (lambda path: path.write_text(">a\n>b\n"), "record 'a': has no sequence"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_files_that_are_not_fasta(tmp_path, fasta, train, name):
    make, told = OTHER_FILES[name]
    make(tmp_path / name)
    err = train(fasta, str(tmp_path / name), *WORDS)
    assert f"{name}: " in err
    assert told in err


@pytest.mark.parametrize("name", ["text.docx", "lab.ods", "wide.fa", "paper.pdf"])
def test_labels_that_are_not_tables(tmp_path, fasta, train, name):
    make, told = OTHER_FILES[name]
    make(tmp_path / name)
    assert told in train(fasta, "--labels", str(tmp_path / name), *WORDS)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig"])
def test_line_ends_and_marks_of_other_systems(tmp_path, fasta, capsys, ending, coding):
    model, text = str(tmp_path / "m"), "".join(records("neg", 8)).replace("\n", ending)
    (tmp_path / "neg.fa").write_bytes(text.encode(coding))
    table = "".join(f"pos{i}\t{'01'[i % 2]}{ending}" for i in range(8))
    (tmp_path / "labels.tsv").write_bytes(f"id\tlabel{ending}{table}".encode(coding))
    assert main(["train", "--verbose", fasta, str(tmp_path / "neg.fa"), *WORDS, "-o", model]) == 0
    assert main(["train", "--verbose", fasta, "--labels", str(tmp_path / "labels.tsv"), *WORDS, "-o", model]) == 0
    assert "0: 4, 1: 4" in capsys.readouterr().out


def test_packed_under_a_plain_name_and_fastq_are_read(tmp_path, fasta, capsys):
    text = "".join(records("neg", 8))
    (tmp_path / "neg.fa").write_bytes(gzip.compress(text.encode()))
    reads = (f"@{one.split()[0]}\n{one.split()[1]}\n+\n{'I' * 40}\n" for one in text.split(">")[1:])
    fastq = write(tmp_path / "reads.fq", *reads)
    for other in (str(tmp_path / "neg.fa"), fastq):
        assert main(["train", "--verbose", fasta, other, *WORDS, "-o", str(tmp_path / "m")]) == 0
    assert capsys.readouterr().out.count("8, pos: 8") == 2


# ---- sequences of another kind -----------------------------------------------------------------------------


def test_rna_mixed_with_dna(tmp_path, fasta, capsys):
    rna = write(tmp_path / "rna.fa", *(text.replace("T", "U") for text in records("neg", 8)))
    dna, model = write(tmp_path / "dna.fa", *records("neg", 8)), str(tmp_path / "m")
    count = "".join(records("neg", 8)).count("T")
    predicted = []
    for negative in (rna, dna):
        assert main(["train", fasta, negative, *WORDS, "-o", model]) == 0
        assert (f"{count} letters U read as T" in capsys.readouterr().err) == (negative == rna)
        for new in (rna, dna):
            assert main(["predict", model, new]) == 0
            out, err = capsys.readouterr()
            predicted.append(out.replace("\trna\n", "\tdna\n"))
            assert (f"{count} letters U read as T" in err) == (new == rna)
    assert len(set(predicted)) == 1


def protein(name, n):
    rng = random.Random(name)
    return [f">{name}{i}\n{''.join(rng.choices('ACDEFGHIKLMNPQRSTVWY', k=40))}\n" for i in range(n)]


def test_protein_with_dna(tmp_path, fasta, capsys):
    proteins, model = write(tmp_path / "p.fa", *protein("p", 8)), str(tmp_path / "m")
    assert main(["train", proteins, fasta, *WORDS, "-o", model]) == 0
    err = capsys.readouterr().err
    assert "the sequences of class pos look like DNA, but the alphabet is protein: give both classes as" in err
    mixed = write(tmp_path / "mixed.fa", *protein("q", 8), *records("neg", 3))
    assert main(["train", proteins, mixed, *WORDS, "-o", model]) == 0
    assert "record 'neg0' and 2 more of 19 look like DNA, but the alphabet is protein" in capsys.readouterr().err
    rna = write(tmp_path / "rna.fa", *(text.upper().replace("T", "U") for text in records("neg", 8)))
    for file in (fasta, rna):
        assert main(["predict", model, file]) == 0
        assert "is a model of proteins; translate DNA first" in capsys.readouterr().err
    assert main(["train", proteins, write(tmp_path / "r.fa", *protein("r", 8)), *WORDS, "-o", model]) == 0
    assert "DNA" not in capsys.readouterr().err


def test_a_class_of_dna_and_one_of_proteins(tmp_path, capsys, train):
    proteins, model = write(tmp_path / "p.fa", *protein("p", 20)), str(tmp_path / "m")
    dna = [text.upper() for text in records("neg", 20)]
    for name, texts in (("dna.fa", dna), ("rna.fa", [text.replace("T", "U") for text in dna])):
        other = write(tmp_path / name, *texts)
        err = train(proteins, other, *WORDS)
        assert f"{name}: the 20 sequences of class {name[:3]} are DNA or RNA, those of another class protein" in err
        assert "if they are proteins, add --alphabet protein" in err
    assert main(["train", proteins, str(tmp_path / "dna.fa"), *WORDS, "--alphabet", "protein", "-o", model]) == 0
    assert "look like DNA" in capsys.readouterr().err
    few = write(tmp_path / "few.fa", *dna[:19])
    assert main(["train", proteins, few, *WORDS, "-o", model]) == 0


def test_stars_gaps_and_selenocysteine(tmp_path, capsys, train):
    plain = write(tmp_path / "p.fa", *protein("p", 8))
    stars = write(tmp_path / "s.fa", *(f"{text.rstrip()}*\n" for text in protein("s", 8)))
    gaps = write(tmp_path / "g.fa", *(text.replace("\n", "\n--", 1) for text in protein("g", 8)))
    sec = write(tmp_path / "u.fa", *(f"{text.rstrip()}U\n" for text in protein("u", 8)))
    assert "or add --unknown mask_all, which keeps the columns of an alignment" in train(plain, gaps, *WORDS)
    model = str(tmp_path / "m")
    assert main(["train", plain, stars, *WORDS, "-o", model]) == 0
    assert "8 terminal stops (*) removed" in capsys.readouterr().err
    assert main(["train", plain, sec, *WORDS, "-o", model]) == 0
    assert "(U: 8) are masked" in capsys.readouterr().err
    assert main(["train", plain, gaps, *WORDS, "--strip-gaps", "-o", model]) == 0
    assert "16 gaps removed" in capsys.readouterr().err
    assert main(["predict", model, gaps]) == 0  # the model strips them too
    assert "16 gaps removed" in capsys.readouterr().err


def test_soft_masked_sequences_are_said(tmp_path, fasta, capsys):
    soft = write(tmp_path / "soft.fa", *(text.lower() for text in records("neg", 8)))
    assert main(["train", fasta, soft, *WORDS, "-o", str(tmp_path / "m")]) == 0
    assert "320 lower-case letters" in capsys.readouterr().err


def test_a_genome_in_place_of_sequences(tmp_path, fasta, train, capsys):
    genome = write(tmp_path / "genome.fa", ">chr1\n", "GATTACA" * 20_000, "\n")
    told = "chr1': is the only sequence of class {} and has 140,000 letters, as a genome would; give the sequences"
    for files in ((fasta, genome), (genome, write(tmp_path / "other.fa", *records("neg", 8)))):
        assert f"genome.fa: record '{told.format('genome')}" in train(*files, *WORDS)
    model, other = str(tmp_path / "m"), write(tmp_path / "neg.fa", *records("neg", 8))
    assert main(["train", fasta, other, *WORDS, "-o", model]) == 0
    assert main(["predict", model, genome]) == 0
    assert "record 'chr1': has 140,000 letters, the model's sequences at most 40" in capsys.readouterr().err


def test_the_same_sequences_in_both_classes(tmp_path, fasta, train, capsys):
    assert "pos.fa: is given twice" in train(fasta, fasta, *WORDS)
    (tmp_path / "link.fa").symlink_to(fasta)
    assert "link.fa: is given twice" in train(fasta, str(tmp_path / "link.fa"), *WORDS)
    copies = [text.replace(">", ">copy_") for text in records("pos", 8)]
    copy = write(tmp_path / "copy.fa", *copies)
    assert f"pos.fa: all its sequences are also in {copy}, so nothing" in train(fasta, copy, *WORDS)
    some = write(tmp_path / "some.fa", *copies[:5])
    assert f"some.fa: all its sequences are also in {fasta}, so nothing" in train(fasta, some, *WORDS)
    more = write(tmp_path / "more.fa", *copies, *records("neg", 1))
    assert f"pos.fa: all its sequences are also in {more}, so nothing" in train(fasta, more, *WORDS)
    part = write(tmp_path / "part.fa", *copies[:7], *records("neg", 1))
    assert main(["train", fasta, part, *WORDS, "-o", str(tmp_path / "m")]) == 0
    told = "records 'pos0' (class pos) and 'copy_pos0' (class part) are the same sequence; 7 sequences occur"
    assert told in capsys.readouterr().err


# ---- tables of labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mark", "read"), [(",", True), (";", True), ("\t", True), (" ", False), ("|", False)])
def test_separators_of_labels(tmp_path, fasta, train, mark, read):
    rows = (f"pos{i}{mark}{'01'[i % 2]}\n" for i in range(8))
    table = write(tmp_path / "labels.txt", f"id{mark}label\n", *rows)
    if read:
        assert main(["train", fasta, "--labels", table, *WORDS, "-o", str(tmp_path / "m")]) == 0
    else:
        err = train(fasta, "--labels", table, *WORDS)
        assert f"labels.txt: has one column, 'id{mark}label'; separate the cells by tabs, commas or semicolons" in err


def test_ids_with_spaces(tmp_path, train):
    spaced = write(tmp_path / "s.fa", *records("neg", 8, header="{name}{i} gene {i}"))
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"neg{i} gene {i}\t{'ab'[i % 2]}\n" for i in range(8)))
    err = train(spaced, "--labels", table, *WORDS)
    assert "l.tsv: record 'neg0 gene 0': has a label but no sequence; there is 'neg0', since an id is the first" in err
    same = write(tmp_path / "my.fa", *records("neg", 8, header="my gene {i}"))
    assert "record 'my': duplicate id (the first word of the header)" in train(same, spaced, *WORDS)


def test_a_table_without_a_header_line(tmp_path, fasta, train):
    table = write(tmp_path / "l.tsv", *(f"pos{i}\t{'ab'[i % 2]}\n" for i in range(8)))
    assert "columns: pos0, a (from the first line, which must name the columns)" in train(
        fasta, "--labels", table, *WORDS
    )


@pytest.mark.parametrize(("form", "plain"), [("{},5", "0.5"), ("{}.5%", "0.5"), ("{} nM", "0"), ("{}.5 mg/l", "0.5")])
@pytest.mark.parametrize("solver", ["csvc:C=1", "svr"])
def test_numbers_that_are_not_written_as_numbers(tmp_path, train, form, plain, solver):
    fasta = write(tmp_path / "pos.fa", *records("pos", 14))
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"pos{i}\t{form.format(i)}\n" for i in range(14)))
    err = train(fasta, "--labels", table, "--kernel", "spectrum:k=2", "--solver", solver)
    assert f"l.tsv: record 'pos0': label '{form.format(0)}'" in err
    assert f"write {plain} in place of '{form.format(0)}'" in err


@pytest.mark.parametrize("verb", ["train", "cv"])
@pytest.mark.parametrize("kernel", ["linear", "spectrum:k=2"])
def test_measurements_for_a_solver_of_classes(tmp_path, capsys, verb, kernel):
    fasta = write(tmp_path / "pos.fa", *records("pos", 60))
    features = write(tmp_path / "x.tsv", "id\tlabel\tGC\n", *(f"pos{i}\t{i}.5\t{i % 7}\n" for i in range(60)))
    given = [features] if kernel == "linear" else [fasta, "--labels", features]
    output = ["-o", str(tmp_path / "m")] if verb == "train" else []
    err = fails(capsys, verb, *given, "--kernel", kernel, "--solver", "csvc:C=1", *output)
    assert "the labels are 60 different numbers such as 0.5, each a class for this solver" in err
    assert "choose solver svr" in err
    assert main([verb, *given, "--kernel", kernel, "--solver", "svr:C=1,epsilon=0.1", *output]) == 0
    capsys.readouterr()
    assert main(["cv", *given, "--kernel", kernel]) == 0
    assert "the labels are numbers: regression" in capsys.readouterr().err


def test_names_that_begin_with_digits_stay_classes(tmp_path, capsys):
    fasta = write(tmp_path / "pos.fa", *records("pos", 24))
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"pos{i}\t{i // 2}a\n" for i in range(24)))
    assert main(["train", "--verbose", fasta, "--labels", table, *WORDS, "-o", str(tmp_path / "m")]) == 0
    assert "11a: 2" in capsys.readouterr().out


def test_numbers_for_a_solver_of_classes(tmp_path, capsys):
    fasta = write(tmp_path / "pos.fa", *records("pos", 14))
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"pos{i}\t{i}\n" for i in range(14)))
    assert main(["train", fasta, "--labels", table, *WORDS, "-o", str(tmp_path / "m")]) == 0
    assert "the labels are 14 different numbers, each a class for this solver" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["train", "cv"])
def test_records_without_a_label_are_counted(tmp_path, capsys, verb):
    fasta = write(tmp_path / "pos.fa", *records("pos", 40))

    def said(*empty):
        rows = (f"pos{i}\t{'' if i in empty else '01'[i % 2]}\n" for i in range(40))
        table = write(tmp_path / "l.tsv", "id\tlabel\n", *rows)
        output = ["-o", str(tmp_path / "m")] if verb == "train" else ["--folds", "2"]
        assert main([verb, fasta, "--labels", table, *WORDS, *output]) == 0
        return capsys.readouterr().err

    assert "without a label" not in said()
    assert (
        said(3).count(
            "l.tsv: 1 record without a label left out, since solver 'csvc' does not learn from them: 'pos3'\n"
        )
        == 1
    )
    assert (
        "l.tsv: 2 records without a label left out, since solver 'csvc' does not learn from them: 'pos1', …\n"
        in said(6, 1)
    )


def test_a_data_set_counts_records_without_a_label(tmp_path, fasta, capsys):
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"pos{i}\t{'01 '[i % 3]}\n" for i in range(8)))
    entry = json.dumps({"fasta": [fasta], "labels": {"from": "tsv", "file": table}})
    assert main(["datasets", "--name", "pairs", "--entry", entry, "-o", str(tmp_path / "d")]) == 0
    assert (
        "data set pairs: 2 records without a label left out, but for solvers that learn from them: 'pos2', …\n"
        in capsys.readouterr().err
    )


def test_classes_that_differ_only_in_case(tmp_path, fasta, train, capsys):
    names = ["Pos", "pos ", " neg"]
    table = write(tmp_path / "l.tsv", "id\tlabel\n", *(f"pos{i}\t{names[i % 3]}\n" for i in range(8)))
    assert main(["train", fasta, "--labels", table, *WORDS, "-o", str(tmp_path / "m")]) == 0
    err = capsys.readouterr().err
    assert "l.tsv: the classes 'Pos' and 'pos' differ only in case; if they are one class, write them alike" in err
    err = train(fasta, "--labels", table, *WORDS, "--positive", "pos")
    assert "l.tsv: the classes 'Pos' and 'pos' differ only in case, and 'pos' is the positive class" in err


# ---- models, data sets and matrices ------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path, fasta):
    path, other = str(tmp_path / "m.seqkern"), write(tmp_path / "neg.fa", *records("neg", 8))
    assert main(["train", fasta, other, *WORDS, "-o", path]) == 0
    return path


def test_a_model_or_a_matrix_in_place_of_sequences(tmp_path, fasta, model, train):
    err = train(model, fasta, *WORDS)
    assert "m.seqkern: is a model or data set of seqkern, not text; give sequences (FASTA) or a table here" in err
    matrix = str(tmp_path / "k.npy")
    assert main(["gram", fasta, "--kernel", "spectrum:k=2", "-o", matrix]) == 0
    assert "k.npy: is a NumPy array, such as a Gram matrix, not text; give sequences" in train(matrix, fasta, *WORDS)


@pytest.mark.parametrize(("length", "told"), [(0, "is empty"), (500, "is cut off or damaged")])
def test_an_incomplete_model(tmp_path, fasta, model, capsys, length, told):
    cut = tmp_path / "cut.seqkern"
    cut.write_bytes(Path(model).read_bytes()[:length])
    assert f"cut.seqkern: {told}; copy the model again, or train it" in fails(capsys, "predict", str(cut), fasta)


def test_a_damaged_matrix_is_deleted_and_computed_again(tmp_path, fasta, train, capsys):
    matrix = tmp_path / "k.npy"
    argv = [fasta, write(tmp_path / "neg.fa", *records("neg", 8)), "--kernel", "spectrum:k=2"]
    assert main(["gram", *argv, "-o", str(matrix)]) == 0
    good = matrix.read_bytes()
    again = "delete it and repeat the command that computed it"
    for bad in (good[:-8], good[:-8] + bytes(8)):
        matrix.write_bytes(bad)
        assert again in train(*argv, "--solver", "csvc", "--gram", str(matrix))
        assert again in fails(capsys, "gram", *argv, "--extend", str(matrix), "-o", str(tmp_path / "l.npy"))
        matrix.unlink()
        assert main(["gram", *argv, "-o", str(matrix)]) == 0
        assert matrix.read_bytes() == good


@pytest.mark.parametrize("verb", ["predict", "cv", "explain"])
def test_ids_that_a_spreadsheet_would_run(tmp_path, model, capsys, verb):
    first = [text.replace(">pos0", ">=cmd()").replace(">pos1", ">-1") for text in records("pos", 20)]
    odd, other = write(tmp_path / "odd.fa", *first), write(tmp_path / "other.fa", *records("neg", 20))
    argv = [verb, odd, other, *WORDS, "--folds", "2"] if verb == "cv" else [verb, model, odd]
    capsys.readouterr()
    told = "seqkern: the id '=cmd()' is a formula to a spreadsheet; add --spreadsheet-safe"
    for option, count in (([], 1), (["--spreadsheet-safe"], 0)):
        assert main([*argv, *option, "-o", str(tmp_path / f"o{count}")]) == 0
        assert capsys.readouterr().err.count(told) == count


# ---- options and the environment ---------------------------------------------------------------------------


def test_more_folds_than_samples(tmp_path, fasta, train, capsys):
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    assert "has 8 samples for 50 folds" in train(fasta, other, *WORDS, "--cv", "50")
    argv = [fasta, other, *WORDS, "--search", "--calibration", "platt"]
    assert main(["train", *argv, "--folds", "50", "-o", str(tmp_path / "m")]) == 0
    assert "--folds 50: at most 8 inner folds, since the smallest class has 8 samples" in capsys.readouterr().err
    assert main(["train", *argv, "--folds", "8", "-o", str(tmp_path / "m")]) == 0
    assert "inner folds, since" not in capsys.readouterr().err


def test_a_home_that_cannot_be_written(tmp_path, fasta):
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    home = str(tmp_path / "pos.fa" / "home")  # inside a file: not even root can make it
    env = {name: value for name, value in os.environ.items() if name not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME")}
    env |= {"HOME": home, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "seqkern.cli.main", "cv", fasta, other, *WORDS, "--folds", "2"]
    found = subprocess.run([*command, "-o", str(tmp_path / "o")], env=env, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / "o" / "roc.svg").exists()


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--kernel", "gapped_kmer:L=8", "--solver", "csvc"], "l"),
        (["--kernel", "Spectrum:k=2", "--solver", "csvc"], "spectrum"),
        (["--kernel", "spectrum:k=2", "--solver", "csvc:c=1"], "C"),
        *(
            (["--kernel", "spectrum:k=2", "--solver", name], "csvc")
            for name in ("svm:C=1", "svc", "SVM", "SVC", "CSVC")
        ),
    ],
)
def test_names_in_other_case_or_of_other_programs(fasta, train, options, meant):
    assert f"; did you mean {meant!r}? choose from: " in train(fasta, *options)


def test_a_misspelt_verb(capsys):
    assert main(["trian", "pos.fa"]) == 2
    assert "seqkern: unknown verb 'trian'; did you mean seqkern train? see seqkern --help" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_a_folder_in_which_no_file_can_be_made(fasta, tmp_path, capsys):
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    err = fails(capsys, "train", fasta, other, *WORDS, "-o", "/proc/x.seqkern")
    assert "/proc/x.seqkern: cannot be written" in err
    assert "another process" not in err


def test_a_solver_on_features_says_who_needs_them(fasta, tmp_path, train):
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    err = train(fasta, other, "--kernel", "weighted_degree", "--solver", "gmlvq")
    assert "solver 'gmlvq' learns from features, but kernel 'weighted_degree' has no explicit features" in err
    assert "nystroem:base=(KERNEL)" in err


def test_a_model_of_genes_and_one_of_sequences_are_told_apart(tmp_path, fasta, capsys):
    of_genes, model = str(tmp_path / "g"), str(tmp_path / "m")
    save_archive(of_genes, file_kinds.GENES.stamp(), {})
    for verb in (["predict"], ["explain", "-o", "out"], ["suggest"]):
        err = fails(capsys, *verb, of_genes, fasta)
        assert f"{of_genes}: is a model of genes, not a model of seqkern train; use seqkern genes {of_genes}" in err
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    assert main(["train", fasta, other, *WORDS, "-o", model]) == 0
    err = fails(capsys, "genes", model, fasta)
    assert f"{model}: is a model of seqkern train, not a model of genes; use seqkern predict, or give a model" in err


TABLE = "id\tf1\tf2\tlabel\n" + "".join(f"r{i}\t{i % 3}\t{i % 4}\t{'01'[i % 2]}\n" for i in range(12))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("unused")
    for name in ("pos", "neg"):
        (home / f"{name}.fa").write_text("".join(records(name, 10)))
    (home / "table.tsv").write_text(TABLE)
    (home / "genome.fa").write_text(f">chr1\n{'ACGTTGCA' * 40}\n")
    data = ["datasets", "--name", "d", "--entry", json.dumps({"fasta": [str(home / "pos.fa"), str(home / "neg.fa")]})]
    assert main([*data, "-o", str(home / "data")]) == 0
    assert main(["folds", str(home / "data"), "--k", "2", "-o", str(home / "folds")]) == 0
    assert main(["train", str(home / "pos.fa"), str(home / "neg.fa"), *WORDS, "-o", str(home / "m")]) == 0
    assert main(["train", str(home / "table.tsv"), *GENES, "-o", str(home / "t")]) == 0
    return home


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("train pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 -o x", "--label-field kind"),
        ("cv pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 --folds 2", "--label-field kind"),
        ("train pos.fa --labels first-word --kernel spectrum:k=2 --solver csvc:C=1 -o x", "--label-field kind"),
        ("train table.tsv --kernel linear --solver csvc -o x", "--ids number"),
        ("train table.tsv --kernel linear --solver csvc -o x", "--strip-gaps"),
        ("train table.tsv --kernel linear --solver csvc -o x", "--alphabet dna"),
        ("predict t table.tsv", "--unknown skip"),
        ("predict m pos.fa", "--id-column id"),
        ("predict m pos.fa", "--missing skip"),
        ("suggest t table.tsv", "--empty skip"),
        ("suggest m neg.fa", "--maximize"),
        ("suggest m neg.fa", "--minimize"),
        ("suggest m neg.fa --strategy random", "--diversity 0.9"),
        ("suggest m neg.fa --acquisition ei", "--strategy random"),
        ("cv pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 --fold-method leave-one-out", "--folds 7"),
        ("cv pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 --fold-method leave-one-out", "--repeats 3"),
        ("gram pos.fa --kernel spectrum:k=2 -o g.npy", "--kernel-name x"),
        ("gram pos.fa --kernel spectrum:k=2 -o g.npy --tile 1/2", "--cost c.json"),
        ("gram --dataset data --kernel spectrum:k=2 -o g.npy", "--unknown skip"),
        ("variants m --region chr1:100-110 --genome genome.fa --window 40 -o x.tsv", "--around 3"),
        ("variants m --region chr1:100-110 --genome genome.fa --window 40 -o x.tsv", "--fdr 0.1"),
        ("variants m --region chr1:100-110 --genome genome.fa --window 40 -o x.tsv", "--seed 3"),
        ("variants m --sequences pos.fa -o x.tsv", "--genome genome.fa"),
        ("audit data --folds folds -o audited", "--ids number"),
        ("audit data --folds folds -o audited", "--label-field kind"),
    ],
)
def test_an_option_without_effect_is_refused(home, monkeypatch, capsys, line, option):
    monkeypatch.chdir(home)
    err = fails(capsys, *line.split(), *option.split())
    name = option.split()[0]
    assert f" {name} " in err
    assert err.endswith(f"remove {name}\n") or err.endswith(f"remove {name}")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["predict", "", "p.fa"], "argument model: is empty"),
        (["predict", "m", ""], "argument fasta: is empty"),
        (["predict", "m", "p.fa", "--genome="], "argument --genome: is empty"),
        (["models", "pack", "", "-o", "m"], "argument FOLDER|FILE: is empty"),
        (["train", "p.fa", "", "-o", "m"], "argument fasta: is empty"),
        (["train", "p.fa", "-o", ""], "argument -o/--output: is empty"),
        (["variants", "m", "--region", "a:1-5", "--region=b:1-5"], "argument --region: is given twice"),
        (["variants", "m", "--region", "a:1-5", "--genome", "g", "--region", "a:1-5"], "--region: is given twice"),
        (["evaluate", "d", "--layers", "crf", "--layers", "segments"], "argument --layers: is given twice"),
        (["train", "p.fa", "-o", "m", "--output", "n"], "argument -o/--output: is given twice"),
        (["train", "p.fa", "-o", "m", "--seed", "1", "--seed", "2"], "argument --seed: is given twice"),
    ],
)
def test_empty_and_repeated_arguments_are_refused(argv, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert f"see seqkern {argv[0]} --help" in line


def test_options_that_may_be_repeated_still_may():
    parser = build_parser("train")
    for _ in range(2):  # parsed anew
        args = parser.parse_args(["a", "-o", "m", "--seed", "2", "--track", "x=a.tsv", "--track", "y=b.tsv"])
        assert (args.track, args.seed) == ([("x", "a.tsv"), ("y", "b.tsv")], 2)


SLIGHTLY_WRONG = [
    ("train positive.fa negative.fa --k 3", "kernel parameters are written --kernel spectrum:k=3"),
    ("train positive.fa negative.fa --kernel gapped_kmer:l=10 --k 6", "--kernel gapped_kmer:l=10,k=6;"),
    ("train positive.fa negative.fa --reverse_complement", "--kernel spectrum:reverse_complement=true;"),
    ("cv positive.fa negative.fa -C 10", "solver parameters are written --solver csvc:C=10"),
    ("cv positive.fa negative.fa --solver psvc --epsilon 0.1", "--solver psvc:epsilon=0.1"),
    ("cv positive.fa negative.fa --gamma=0.5", "--kernel rbf:gamma=0.5"),
    ("train --kernel k=5 positive.fa negative.fa", "cannot read 'k=5'"),
    ("train positive.fa negative.fa --kernel mismatch:k=5 m=1", "m=1; write --kernel mismatch:k=5,m=1"),
    ("train positive.fa negative.fa --kernel 'mismatch:k=5 m=1'", "write mismatch:k=5,m=1"),
    ("train positive.fa negative.fa --kernel 'spectrum(k=3)'", "write spectrum:k=3"),
    (
        "train positive.fa negative.fa --kernel mismatch:k=5,n=1",
        "kernel 'mismatch' has no parameter 'n'; choose from: ",
    ),
    ("train positive.fa negative.fa --kmer 8", "did you mean --kernel spectrum:k=8?"),
    ("train positive.fa negative.fa --rc", "did you mean --kernel spectrum:k=6,reverse_complement=true?"),
    ("train peaks.bed --genome g.fa --ratio 10", "did you mean --background 10?"),
    ("background peaks.bed --genome g.fa --ratio 10", "did you mean --factor 10?"),
    ("train positive.fa negative.fa --pos neg", "did you mean --positive neg?"),
    ("train --pos positive.fa negative.fa", "give files without an option, as in: seqkern train positive.fa"),
    (
        "train positive.fa --neg negative.fa",
        "give files without an option, as in: seqkern train positive.fa negative.fa",
    ),
    ("train positive.fa negative.fa --proba", "did you mean --calibration platt?"),
    ("train positive.fa negative.fa --n-jobs 4", "did you mean --threads 4?"),
    ("train positive.fa negative.fa --out model", "did you mean --output model?"),
    ("train positive.fa negative.fa --k-fold 10", "did you mean --cv 10?"),
    ("cv positive.fa negative.fa --n_splits 10", "did you mean --folds 10?"),
    ("cv positive.fa negative.fa --calib platt", "did you mean --calibration platt?"),
    ("cv positive.fa negative.fa --frobnicate", "unknown option --frobnicate; see seqkern cv --help"),
    ("predict --model model.seqkern positive.fa", "give files without an option, as in: seqkern predict model.seqkern"),
    ("classify model.seqkern positive.fa", "did you mean seqkern predict?"),
    ("crossval positive.fa negative.fa", "did you mean seqkern cv?"),
    ("expl model.seqkern positive.fa", "did you mean seqkern explain?"),
    ("frobnicate", "unknown verb 'frobnicate'; see seqkern --help"),
    ("positive.fa negative.fa", "the verb comes before the files, such as seqkern train positive.fa"),
    ("-o model train positive.fa negative.fa", "-o: begin with seqkern train"),
    ("train my pos.fa negative.fa", "my: no such file; did you mean 'my pos.fa'?"),
    ("train postive.fa negative.fa", "postive.fa: no such file; did you mean positive.fa?"),
    ("train", "are required: files, as in: seqkern train positive.fa negative.fa; see seqkern train --help"),
    ("explain", "are required: model, as in: seqkern explain model.seqkern donors.fasta; see seqkern explain --help"),
]


@pytest.mark.parametrize(("line", "hint"), SLIGHTLY_WRONG)
def test_slightly_wrong_commands_name_the_right_one(line, hint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("positive.fa", "negative.fa", "my pos.fa"):
        write(tmp_path / name, *records("neg" if name == "negative.fa" else "pos", 8))
    assert main(shlex.split(line)) in (1, 2)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert hint in err


def test_a_default_output_replaces_only_what_the_verb_made(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    command = ["train", write(tmp_path / "pos.fa", *records("pos", 8)), other, *WORDS]
    assert main(command) == 0
    assert "will be replaced" not in capsys.readouterr().err
    before = Path("model.seqkern").read_bytes()
    assert main(command) == 0
    assert "model.seqkern exists and will be replaced; -o FILE names another file" in capsys.readouterr().err
    assert Path("model.seqkern").read_bytes() == before
    for fasta, told in ((other, ""), ("pos.fa", "explained: replacing the result of another command")):
        assert main(["explain", "model.seqkern", fasta]) == 0
        assert told in capsys.readouterr().err
    Path("model.seqkern").write_text("notes")
    assert "model.seqkern: exists, and is not a model of seqkern train; name another" in fails(capsys, *command)
    assert Path("model.seqkern").read_text() == "notes"
    Path("audit").mkdir()
    Path("audit/notes").write_text("")
    assert "audit: holds other files; name a new folder" in fails(capsys, "audit", "pos.fa", "neg.fa")
