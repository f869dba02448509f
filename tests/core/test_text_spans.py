"""Parts of text files: joined they are the file, and none begins within a record."""

import bz2
import gzip
import io

import numpy as np
import pytest

from seqkern.core import parts as text_spans
from seqkern.core.errors import FileError, ParameterError
from seqkern.core.parts import Part, count_before, open_span
from seqkern.formats import bgzip


def packed(text):
    file = io.BytesIO()
    writer = bgzip.BgzipWriter(file)
    writer.write(text)
    writer.finish()
    return file.getvalue()


def some_fasta(rng):
    """FASTA with short and long lines, headers with > in them, and perhaps no line break at the end."""
    records = []
    for number in range(rng.integers(0, 9)):
        lines = ["A" * int(rng.integers(0, 25)) + "\n" for _ in range(rng.integers(0, 5))]
        records.append(f">{'>' * int(rng.integers(2))}r{number}\n" + "".join(lines))
    text = "".join(records)
    return text.rstrip("\n") if rng.random() < 0.3 else text


@pytest.mark.parametrize("seed", range(3))
def test_parts_are_the_file(tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(text_spans, "CHUNK", int(rng.choice([3, 7, 1 << 20])))
    monkeypatch.setattr(bgzip, "BLOCK", int(rng.choice([1, 5, 50])))
    text = some_fasta(rng)
    data = text.encode()
    files = {"a.fa": data, "a.bgz": packed(text), "a.gz": gzip.compress(data), "a.bz2": bz2.compress(data)}
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        for mark in (b"", b">"):
            for of in (1, 2, 7, 30):
                parts = [open_span(path, Part(i, of), mark).read() for i in range(1, of + 1)]
                assert b"".join(parts) == data, (name, mark, of)
                if mark:
                    assert all(part.startswith(mark) for part in parts if part)
                    counts = [sum(part.startswith(b">") + part.count(b"\n>") for part in parts[:i]) for i in range(of)]
                    assert [count_before(path, Part(i, of), mark) for i in range(1, of + 1)] == counts


def test_bytes_that_look_like_a_block_of_bgzip_are_not_one(tmp_path, monkeypatch):
    monkeypatch.setattr(bgzip, "BLOCK", 40)
    rng = np.random.default_rng(1)
    decoy = (text_spans.MEMBER + b"\0" * 6 + b"\x06\0BC\x02\0\x30\0").decode("latin-1")
    lines = [f"{decoy}{''.join(map(chr, rng.integers(128, 255, 30).tolist()))}\n" for _ in range(50)]
    data = packed("".join(lines))
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    for of in (2, 31, len(data) // 3):
        parts = [open_span(path, Part(i, of)).read() for i in range(1, of + 1)]
        assert b"".join(parts) == "".join(lines).encode()


def test_a_damaged_file_is_refused(tmp_path):
    data = bytearray(packed("".join(f"line {i}\n" for i in range(50_000))))
    path = tmp_path / "a.gz"
    path.write_bytes(data[:-100])
    with pytest.raises(FileError, match="truncated or corrupted"):
        open_span(path, Part(2, 2)).read()
    data[len(data) // 4] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match="truncated or corrupted"):
        open_span(path, Part(1, 2)).read()


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "²/3"])
def test_what_is_not_a_part(text):
    with pytest.raises(ParameterError, match="is not a part; write I/N"):
        Part.parse(text)


def test_spans_cover_everything_and_the_first_is_never_empty():
    for n in range(20):
        for of in range(1, 9):
            spans = [Part(i, of).span(n) for i in range(1, of + 1)]
            assert [row for start, stop in spans for row in range(start, stop)] == list(range(n))
            assert n == 0 or spans[0][1] > 0
