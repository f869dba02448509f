"""Files are written whole or not at all, and devices are written to."""

import os
import subprocess
import sys
import threading

import pytest

from seqkern.core import archive
from seqkern.core.archive import atomic_write, check_writable, load_archive, save_archive
from seqkern.core.errors import FileError


def break_off(path, deed=lambda: None):
    """Begin to write a file, do something, and raise KeyError."""
    with atomic_write(path, "w") as file:
        file.write("half")
        deed()
        raise KeyError


def test_a_failure_leaves_neither_file_nor_folder(tmp_path):
    with pytest.raises(KeyError):
        break_off(tmp_path / "a" / "b" / "c.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_what_was_there(tmp_path):
    (tmp_path / "c.txt").write_text("old")
    with pytest.raises(KeyError):
        break_off(tmp_path / "c.txt")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("c.txt", "old")]


def test_a_new_folder_that_another_uses_stays(tmp_path):
    with pytest.raises(KeyError):
        break_off(tmp_path / "a" / "b" / "c.txt", (tmp_path / "a" / "other").touch)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["other"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with atomic_write(pipe, "w") as file:
        file.write("text")
    reader.join()
    assert read == ["text"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_and_its_file_is_written(tmp_path):
    for name, before in (("there", "old"), ("new", None)):
        file, link = tmp_path / "scratch" / name, tmp_path / f"link_to_{name}"
        link.symlink_to(file)
        if before is not None:
            file.parent.mkdir()
            file.write_text(before)
        check_writable(link)
        with atomic_write(link, "w") as out:
            out.write("text")
        assert link.is_symlink()
        assert file.read_text() == "text"
    assert sorted(one.name for one in (tmp_path / "scratch").iterdir()) == ["new", "there"]


def test_standard_output_by_its_name(tmp_path):
    code = "from seqkern.core.archive import atomic_write\nwith atomic_write('/dev/stdout', 'w') as f: f.write('x')"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "x"
    with (tmp_path / "out").open("w") as file:
        subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "out").read_text() == "x"
    assert os.path.islink("/dev/stdout")


def test_places_that_cannot_be_written_are_known_before(tmp_path):
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "new" / "folder" / "x")
    check_writable(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    below = "cannot be written: Not a directory; check the path"
    for path, problem in ((tmp_path, "is a directory; give a file name"), (tmp_path / "file" / "x" / "y", below)):
        with pytest.raises(FileError, match=problem):
            check_writable(path)
        with pytest.raises(FileError, match=problem), atomic_write(path):
            pytest.fail("nothing may be begun")


def test_bytes_of_a_name_that_are_no_text_come_back(tmp_path):
    name = os.fsdecode(b"caf\xe9.fa")
    save_archive(tmp_path / "x.npz", {"file": name}, {})
    assert load_archive(tmp_path / "x.npz")[0] == {"file": name}


def test_an_archive_of_too_many_arrays_is_refused_before_any_is_read(tmp_path, monkeypatch):
    path = tmp_path / "many.npz"
    save_archive(path, {}, {f"a{i}": [i] for i in range(10_001)})
    with monkeypatch.context() as patch:
        patch.setattr(archive, "_read_array", lambda *_: pytest.fail("an array was read"))
        with pytest.raises(FileError, match=r"many\.npz: .*10,002 arrays, more than 10,000") as caught:
            load_archive(path)
    assert "\n" not in str(caught.value)
    assert load_archive(path, wanted=lambda name: name == "a7")[1]["a7"].tolist() == [7]
