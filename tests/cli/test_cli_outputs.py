"""Where results go: standard output, folders that hold something, names that a spreadsheet would run, repeated ids."""

import json
import os
import subprocess
import sys
import unicodedata

import pandas as pd
import pytest
from test_cli_predict import fails, records, write

from seqkern.cli import explain
from seqkern.cli.main import main
from seqkern.core.tsv import CONTROLS, FORMULA, read_tsv, spreadsheet_safe, table_text, write_tsv
from seqkern.evaluation import read_folds
from seqkern.study import load_dataset

METHOD = ["--kernel", "spectrum:k=2", "--solver", "csvc:C=1"]


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / f"{name}.fa", *records(name, 8)) for name in ("pos", "neg")]


@pytest.fixture
def model(tmp_path, files, capsys):
    path = str(tmp_path / "m")
    assert main(["train", *files, *METHOD, "-o", path]) == 0
    capsys.readouterr()
    return path


def test_a_dash_is_standard_output(tmp_path, monkeypatch, model, files, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["predict", model, files[0], "-o", "p.tsv"]) == 0
    assert main(["predict", model, files[0], "-o", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "p.tsv").read_text()
    assert main(["variants", model, "--ref", files[0], "--alt", files[0], "-o", "v.tsv"]) == 0
    capsys.readouterr()
    assert main(["variants", model, "--ref", files[0], "--alt", files[0], "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert out == (tmp_path / "v.tsv").read_text()
    assert "8 pairs scored" in err
    assert not (tmp_path / "-").exists()


def test_what_is_printed_about_a_table_goes_to_standard_error(tmp_path, monkeypatch, files, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["background", files[0], "--shuffle", "2", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.count(">") == 8
    assert out.startswith(">")
    assert err == f"  8 sequences with the 2-mer counts of those of {files[0]}\n"


@pytest.mark.parametrize(
    ("verb", "what"),
    [("train", "a file that is not text"), ("explain", "several files"), ("simulate", "several files")],
)
def test_other_files_do_not_go_to_standard_output(model, files, capsys, verb, what):
    given = {"train": [*files, *METHOD], "explain": [model, files[0]], "simulate": ["donor"]}[verb]
    assert f"{verb} writes {what}, not to standard output" in fails(capsys, verb, *given, "-o", "-")


def test_parts_need_a_file(model, files, capsys):
    assert "--part needs an output file" in fails(capsys, "predict", model, files[0], "-o", "-", "--part", "1/2")


@pytest.mark.parametrize("verb", ["explain", "cv"])
def test_a_folder_keeps_the_result_of_another_command(tmp_path, model, files, capsys, verb):
    home = tmp_path / "out"
    commands = {
        "explain": (["explain", model, files[0]], ["explain", model, files[1]]),
        "cv": (["cv", *files, *METHOD, "--folds", "2"], ["cv", *files, *METHOD, "--folds", "3"]),
    }
    first, second = ([*command, "-o", str(home)] for command in commands[verb])
    assert main(first) == 0
    content = {path.name: path.read_bytes() for path in home.iterdir()}
    assert main(first) == 0  # again: the same files
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.name != "cost.json"} == {
        name: text for name, text in content.items() if name != "cost.json"
    }
    capsys.readouterr()
    assert "out: holds the result of another command; name a new folder, or add --overwrite" in fails(capsys, *second)
    assert (home / "decisions.tsv").read_bytes() == content["decisions.tsv"]
    assert main([*second, "--overwrite"]) == 0
    assert (home / "decisions.tsv").read_bytes() != content["decisions.tsv"]


def test_a_folder_with_other_files_is_refused(tmp_path, monkeypatch, model, files, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "index.html").write_text("mine")
    thesis = str(tmp_path / "thesis")
    assert "thesis: holds other files; name a new folder" in fails(capsys, "explain", model, files[0], "-o", thesis)
    assert (tmp_path / "thesis" / "index.html").read_text() == "mine"
    assert "is a file, but several files are written" in fails(capsys, "explain", model, files[0], "-o", files[0])
    monkeypatch.chdir(tmp_path / "thesis")
    for place in (".", ".."):
        for argv in (["explain", model, files[0]], ["cv", *files, *METHOD], ["evaluate", "d", *METHOD, "--folds", "f"]):
            assert f"{place}: is the current folder or one around it" in fails(capsys, *argv, "-o", place)
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["index.html"]


def test_a_replaced_result_leaves_no_files_and_those_of_the_user_stay(tmp_path, model, files):
    home, alone = tmp_path / "out", tmp_path / "alone"
    home.mkdir()
    (home / "notes.txt").write_text("mine")
    cv, explained = ["cv", *files, *METHOD, "--folds", "2"], ["explain", model, files[0], "--plots", "1"]
    assert main([*cv, "-o", str(home), "--overwrite"]) == 0
    (home / "later.txt").write_text("mine")
    assert main([*explained, "-o", str(home), "--overwrite"]) == 0
    assert main([*explained, "-o", str(alone)]) == 0
    names = {path.name for path in alone.iterdir()}
    assert {path.name for path in home.iterdir()} == names | {"notes.txt", "later.txt"}
    assert main([*explained, "-o", str(home)]) == 0  # the same command
    assert {path.name for path in home.iterdir()} == names | {"notes.txt", "later.txt"}


KILLED = """
import os, sys
from pathlib import Path
from seqkern.cli.main import main

replace, last, word = os.replace, int(sys.argv[1]), sys.argv[2]
left = [last]

def killed_after(source, target):
    replace(source, target)
    if Path(target).parent.name == word and not Path(target).name.startswith("."):
        left[0] -= 1
        if not left[0]:
            os._exit(9)

os.replace = killed_after
main(sys.argv[3:])
"""


@pytest.mark.parametrize(
    ("first", "place", "number", "then"),
    [
        ("explain", "out", 3, "cv"),
        pytest.param("cv", "out", 4, "explain", marks=pytest.mark.nightly),
        ("cv", ".finished", 1, "explain"),  # while it computes
        pytest.param("explain", "out", 5, "fewer", marks=pytest.mark.nightly),
    ],
)
def test_what_a_killed_command_has_written_goes_with_overwrite(tmp_path, model, files, first, place, number, then):
    home, alone = tmp_path / "out", tmp_path / "alone"
    commands = {
        "explain": ["explain", model, files[0]],
        "cv": ["cv", *files, *METHOD[:2], "--solver", "csvc:C=1|2", "--search", "--folds", "2"],
        "fewer": ["explain", model, files[0], "--plots", "1"],
    }
    home.mkdir()
    (home / "notes.txt").write_text("mine")
    words = [sys.executable, "-c", KILLED, str(number), place, *commands[first], "-o", str(home), "--overwrite"]
    assert subprocess.run(words, capture_output=True).returncode == 9
    (home / "later.txt").write_text("mine")
    assert main([*commands[then], "-o", str(home), "--overwrite"]) == 0
    assert main([*commands[then], "-o", str(alone)]) == 0
    (alone / "notes.txt").write_text("mine")
    (alone / "later.txt").write_text("mine")
    content = [
        {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "cost.json"}
        for folder in (home, alone)
    ]
    assert content[0] == content[1]


def test_what_a_command_does_not_write_again_goes(tmp_path):
    home, labels, fasta = tmp_path / "out", tmp_path / "labels.tsv", write(tmp_path / "p.fa", *records("pos", 40))
    command = ["cv", fasta, "--labels", str(labels), "--kernel", "spectrum:k=2", "--folds", "2", "-o", str(home)]
    for values in ("01" * 20, range(40)):  # numbers have no ROC curve
        labels.write_text("id\tlabel\n" + "".join(f"pos{i}\t{value}\n" for i, value in enumerate(values)))
        assert main(command) == 0
        left = {path.name for path in home.iterdir() if not path.name.startswith(".")}
        assert ("roc.svg" in left) == (values[0] == "0")
    assert set(json.loads((home / ".seqkern.json").read_text())["files"]) == left


def test_names_in_the_note_of_a_folder_are_no_paths(tmp_path, model, files):
    home, mine = tmp_path / "out", tmp_path / "mine.txt"
    for file in (home / "deep" / "a.txt", mine):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    (home / "link").symlink_to(home / "deep")
    names = ["../mine.txt", str(mine), "deep/a.txt", "deep", "link/a.txt", ".", "", 3, None, "a\0b"]
    for mark in ({"command": {}, "files": names}, {"command": 1}, [], {"files": "x"}, "damaged"):
        (home / ".seqkern.json").write_text(json.dumps(mark))
        assert main(["explain", model, files[0], "-o", str(home), "--plots", "0", "--overwrite"]) == 0
        assert mine.read_text() == (home / "deep" / "a.txt").read_text() == "mine"


def test_a_folder_that_another_command_has_filled_meanwhile_is_refused(tmp_path, monkeypatch, model, files, capsys):
    home = str(tmp_path / "out")
    first, second = (["explain", model, file, "-o", home, "--plots", "0"] for file in files)
    check = explain.check_result_folder

    def then_the_other(args):
        check(args)
        monkeypatch.setattr(explain, "check_result_folder", check)
        assert main(first) == 0

    monkeypatch.setattr(explain, "check_result_folder", then_the_other)
    assert "out: holds the result of another command" in fails(capsys, *second)
    content = (tmp_path / "out" / "decisions.tsv").read_bytes()
    assert main(first) == 0
    assert (tmp_path / "out" / "decisions.tsv").read_bytes() == content


def test_hidden_files_are_no_result(tmp_path, model, files):
    (tmp_path / "out").mkdir()
    for name in (".DS_Store", ".lock", ".letters.tsv.k2_x9a1b.tmp"):  # the last is of a run that was killed
        (tmp_path / "out" / name).write_text("")
    assert main(["explain", model, files[0], "-o", str(tmp_path / "out"), "--plots", "0"]) == 0
    assert (tmp_path / "out" / "index.html").exists()
    assert not list((tmp_path / "out").glob(".*.tmp"))


def test_a_command_that_fails_leaves_no_folder(tmp_path, model, capsys):
    bad = write(tmp_path / "bad.fa", ">a\nAC!T\n")
    assert "'!'" in fails(capsys, "explain", model, bad, "-o", str(tmp_path / "new" / "out"))
    assert not (tmp_path / "new").exists()


HOSTILE = ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "＝1+1"]
VEILED = [
    '"=1+1"',
    '""=1',
    "\ufeff=1+1",
    "\u200b=1",
    "\u2060\xad+cmd",
    "\xa0@x",
    " =1",
    "\u3164=1",
    '\ufeff"-cmd"',
    "\ufe66x",
]


def test_cells_that_a_spreadsheet_would_run(tmp_path):
    numbers = [-0.5, "-1", "+2", "-1e-05", "-inf", ".5", "-", "+", "a=b", None]
    for on in (False, True):
        with spreadsheet_safe(on):
            write_tsv(tmp_path / "t.tsv", ["name"], [[cell] for cell in [*HOSTILE, *numbers]])
            assert table_text("\t=1\n+x\t-1\n") == ("\t'=1\n'+x\t-1\n" if on else "\t=1\n+x\t-1\n")
            for cell in VEILED:
                assert table_text(f"a\t{cell}\n") == (f"a\t'{cell}\n" if on else f"a\t{cell}\n")
            for cell in ('"a"', "\u200b1", "\ufeff-1", '"', "", "\xa0", "x\u200b=1", '"-0.5'):
                assert table_text(f"{cell}\tb\n") == f"{cell}\tb\n"
        text = (tmp_path / "t.tsv").read_text(encoding="utf-8").split("\n")[1:]
        assert text[:5] == [("'" if on else "") + name for name in HOSTILE]
        assert text[5:] == ["-0.5", "-1", "+2", "-1e-05", "-inf", ".5", "-", "+", "a=b", "", ""]


def test_tables_for_spreadsheets(tmp_path, model, capsys):
    new = write(tmp_path / "new.fa", *(f">{name}\nACGTACGTAC\n" for name in HOSTILE[:4]))
    assert main(["predict", model, new, "-o", str(tmp_path / "p.tsv"), "--spreadsheet-safe"]) == 0
    assert main(["predict", model, new, "-o", str(tmp_path / "q.tsv")]) == 0
    safe, plain = read_tsv(tmp_path / "p.tsv"), read_tsv(tmp_path / "q.tsv")
    assert [row["id"] for row in plain] == HOSTILE[:4]
    assert safe == [row | {"id": f"'{row['id']}"} for row in plain]
    assert main(["explain", model, new, "-o", str(tmp_path / "e"), "--spreadsheet-safe", "--plots", "0"]) == 0
    for name in ("letters", "decisions"):
        assert {row["id"] for row in read_tsv(tmp_path / "e" / f"{name}.tsv")} == {f"'{name}" for name in HOSTILE[:4]}


def test_every_character_that_is_not_seen_is_seen_through():
    for category in ("Cf", "Zs", "Zl", "Zp"):
        found = (c for c in map(chr, range(0x110000)) if unicodedata.category(c) == category)
        assert [hex(ord(c)) for c in found if not FORMULA.match(f"{c}=1")] == []


def test_control_characters_of_ids_are_escapes(tmp_path, model, capsys):
    ids = ["a\x1b[31m", "b\x07", "c\x9b2J", "\x7f=1"]
    shown = [r"a\x1b[31m", r"b\x07", r"c\x9b2J", r"\x7f=1"]
    new = write(tmp_path / "new.fa", *(f">{name}\nACGTACGTAC\n" for name in ids))

    def ids_of(*argv):
        capsys.readouterr()
        assert main(["predict", model, new, *argv]) == 0
        out, err = capsys.readouterr()
        assert not CONTROLS.search(out + err)
        return [line.split("\t")[0] for line in out.splitlines()[1:]]

    assert ids_of() == ids_of("--spreadsheet-safe") == shown
    assert main(["explain", model, new, "-o", str(tmp_path / "e"), "--plots", "0"]) == 0
    for name in ("letters", "decisions"):
        assert {row["id"] for row in read_tsv(tmp_path / "e" / f"{name}.tsv")} == set(shown)
    write_tsv(tmp_path / "t.tsv", ["a\x1b"], [["b\x07"], {"a\x1b": "\x00\r"}])
    assert (tmp_path / "t.tsv").read_text() == "a\\x1b\nb\\x07\n\\x00 \n"


def test_folds_of_ids_with_control_characters(tmp_path):
    files = {
        label: write(tmp_path / f"{label}.fa", *(f">{label}{i}\x1b[1m\nACGT\n" for i in range(6)))
        for label in ("positive", "negative")
    }
    data, folds = str(tmp_path / "d"), str(tmp_path / "folds")
    assert main(["datasets", "--name", "d", "--entry", json.dumps({"fasta": files}), "-o", data]) == 0
    assert main(["folds", data, "--k", "3", "--allow-similar", "-o", folds]) == 0
    dataset = load_dataset(data)
    foldset = read_folds(tmp_path / "folds" / "all.tsv", dataset.X.ids, dataset.task().labels)
    assert [len(split.test) for split in foldset] == [4, 4, 4]


def test_repeated_ids_are_named_once(tmp_path, model, capsys):
    new = write(tmp_path / "genes.fa", *(f">my gene {i}\nACGTACGTAC\n" for i in range(5)))
    assert main(["predict", model, new]) == 0
    out, err = capsys.readouterr()
    assert out.count("\nmy\t") == 5
    assert err.count("\n") == 1
    assert "genes.fa: record 'my': the id occurs more than once (ids are the first word of the header)" in err
    assert err.endswith("add --ids number\n")
    assert main(["predict", model, new, "--ids", "number"]) == 0
    out, err = capsys.readouterr()
    assert [line.split("\t")[0] for line in out.splitlines()] == ["id", "1", "2", "3", "4", "5"]
    assert err == ""


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("train pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 -o pos.fa", "pos.fa"),
        ("train all.fa --labels labels.tsv --kernel spectrum:k=2 --solver csvc:C=1 -o ./labels.tsv", "./labels.tsv"),
        ("train pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 -o m2.seqkern --features pos.fa", "pos.fa"),
        ("predict m.seqkern pos.fa -o link.fa", "link.fa"),
        ("predict m.seqkern pos.fa -o m.seqkern", "m.seqkern"),
        ("variants m.seqkern v.vcf --genome all.fa -o v.vcf", "v.vcf"),
    ],
)
def test_an_input_is_never_overwritten(tmp_path, monkeypatch, capsys, command, lost):
    monkeypatch.chdir(tmp_path)
    for name in ("pos.fa", "neg.fa", "all.fa", "labels.tsv", "m.seqkern", "v.vcf"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link.fa").symlink_to("pos.fa")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert main(command.split()) == 1
    told = capsys.readouterr().err
    assert told == f"seqkern: {lost}: would be overwritten, but is an input; name another output\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_file_name_with_a_leading_dash(tmp_path, monkeypatch, model, files, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-new.fa").write_text((tmp_path / "pos.fa").read_text())
    monkeypatch.setattr("sys.argv", ["seqkern", "predict", model, "-new.fa"])
    assert main() == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.endswith("; write ./-new.fa for the file -new.fa\n")
    assert main(["predict", model, "./-new.fa"]) == 0


def test_a_model_from_a_pipe_is_refused_at_once(tmp_path, files, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: is a pipe, but a model is read in parts; write it" in fails(
        capsys, "predict", str(tmp_path / "pipe"), files[0]
    )


@pytest.mark.parametrize("ending", ["csv", "json", "xlsx", "parquet", "csv.gz"])
def test_predictions_are_written_as_the_ending_says(tmp_path, model, files, ending):
    out = tmp_path / f"p.{ending}"
    argv = ["predict", model, files[0], "-o"]
    assert main([*argv, str(out)]) == main([*argv, str(tmp_path / "p.tsv")]) == 0
    frame = {"csv": pd.read_csv, "gz": pd.read_csv, "json": pd.read_json, "xlsx": pd.read_excel}
    found = frame.get(ending.rpartition(".")[2], pd.read_parquet)(out)
    pd.testing.assert_frame_equal(found, pd.read_table(tmp_path / "p.tsv"), check_dtype=False)


def test_an_output_of_no_known_format_is_refused_before_any_work(tmp_path, model, files, capsys):
    for argv in (["predict", model, files[0]], ["suggest", model, files[0]]):
        assert ".doc is not an ending of this output" in fails(capsys, *argv, "-o", str(tmp_path / "p.doc"))
    assert "in parts" in fails(capsys, "predict", model, files[0], "--part", "1/2", "-o", str(tmp_path / "p.json"))
    assert "several files are" in fails(capsys, "explain", model, files[0], "-o", str(tmp_path / "e.pdf"))
    assert {path.name for path in tmp_path.iterdir()} <= {"m", *(os.path.basename(file) for file in files)}


def test_explain_writes_its_page_alone(tmp_path, model, files, capsys):
    page = tmp_path / "pages" / "e.html"
    page.parent.mkdir()
    assert main(["explain", model, files[0], "--plots", "1", "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}\n")
    assert list(page.parent.iterdir()) == [page]
    assert "words.tsv" not in page.read_text()
