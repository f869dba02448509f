"""Messages are one line that a terminal can show, whatever a file holds."""

import pytest

from seqkern.cli.main import main
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.declarations import parse_value
from seqkern.core.errors import LONGEST, FileError, SequenceError
from seqkern.sequences.labels import by_value, natural_key


def test_control_characters_are_escaped():
    error = SequenceError("has the column 'a\x1b[31m\x07'", file="a\udcff.tsv", record="b\x00", remedy="remove \x9b")
    assert str(error) == "a\\udcff.tsv: record 'b\\x00': has the column 'a\\x1b[31m\\x07'; remove \\x9b"


def test_other_letters_stay():
    assert str(SequenceError("Ångström “β” – 中", file="é.fa")) == "é.fa: Ångström “β” – 中"


@pytest.mark.parametrize("parts", [("problem",), ("record",), ("remedy",), ("file",), tuple(LONGEST)])
def test_long_parts_lose_their_middle(parts):
    text = "a" + "b\x1b" * 500_000 + "c"
    message = str(FileError(**{"problem": "is bad", "file": "x.fa", "remedy": "mend it"} | dict.fromkeys(parts, text)))
    assert len(message) <= 2000
    assert message.count("ab\\x1bb") == message.count("b\\x1bc") == len(parts)
    assert ("x.fa" in message, "is bad" in message, message.endswith("mend it")) == tuple(
        part not in parts for part in ("file", "problem", "remedy")
    )


def test_lines_of_the_command_line_lose_their_middle(capsys, tmp_path):
    long = "x" * 1_000_000
    path = str(tmp_path / "a.fa")
    for argv, start, end in (
        (["predict", long, path], "seqkern: xxx", "the path and the disk"),
        (["train", path, "--threads", long], "seqkern: argument --threads", "; see seqkern train --help"),
        ([long], "seqkern: unknown verb 'xxx", "; see seqkern --help"),
        (
            ["train", path, "-o", "m", "--nothing", long],
            "seqkern: unknown option --nothing",
            "see seqkern train --help",
        ),
        (["train", path, "-o", "m", f"--{long}"], "seqkern: unknown option --xxx", "see seqkern train --help"),
    ):
        assert main(argv) in (1, 2)
        err = capsys.readouterr().err
        assert err.startswith(start)
        assert end in err
        assert (err.count("\n"), len(err) <= 2000) == (1, True)


def test_natural_order_of_strange_names():
    names = ["a" + "1" * 5000, "a²", "a10", "a9", "a٣"]
    assert sorted(names, key=natural_key) == ["a٣", "a9", "a10", names[0], "a²"]


@pytest.mark.parametrize("values", [["2", "nan", "10", "1"], ["nan", "1", "2", "10"]])
def test_classes_named_nan_have_one_order(values):
    assert sorted(values, key=by_value) == ["1", "2", "10", "nan"]


@pytest.mark.parametrize("text", ["7" * 5000, "1-" + "7" * 5000])
def test_numbers_of_too_many_digits(text):
    assert parse_value(text) in (float("inf"), text)


def test_damaged_checkpoint_is_as_good_as_none(tmp_path):
    kept = Checkpoint(tmp_path, "a")
    for damage in (b"\xff", b"[" * 100_000, b"7" * 5000):
        kept.put("key", 1)
        next(tmp_path.glob("*.json")).write_bytes(damage)
        assert kept.get("key") is None
