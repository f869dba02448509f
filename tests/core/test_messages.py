"""Messages are one line that a terminal can show, whatever a file holds."""

import pytest

from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import LONGEST_PART, FileError, SequenceError
from seqkern.core.values import parse_value
from seqkern.sequences.labels import natural_key
from seqkern.sequences.written_numbers import by_value


def test_control_characters_are_escaped():
    error = SequenceError("has the column 'a\x1b[31m\x07'", file="a\udcff.tsv", record="b\x00", remedy="remove \x9b")
    assert str(error) == "a\\udcff.tsv: record 'b\\x00': has the column 'a\\x1b[31m\\x07'; remove \\x9b"


def test_other_letters_stay():
    assert str(SequenceError("Ångström “β” – 中", file="é.fa")) == "é.fa: Ångström “β” – 中"


@pytest.mark.parametrize("part", ["problem", "record", "remedy"])
def test_long_parts_lose_their_middle(part):
    text = "a" + "b" * 100_000 + "c"
    message = str(FileError(**{"problem": "is bad", "file": "x.fa", part: text}))
    assert len(message) < LONGEST_PART + 100
    assert "abb" in message
    assert "bbc" in message


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
