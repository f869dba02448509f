"""Folders that several processes use."""

import errno
import fcntl
import os
import shutil
import threading
import time

import pytest

from seqkern.core.archive import atomic_write
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import FileError
from seqkern.core.exclusive_files import LOCK, FolderLock, exclusive_folder


def test_a_folder_in_use_is_not_alone(tmp_path):
    one, other = FolderLock(tmp_path / "new" / "tiles"), FolderLock(tmp_path / "new" / "tiles")
    one.acquire(shared=True)
    assert not other.try_exclusive()
    other.acquire(shared=True)
    assert one.is_exclusive() is False
    one.share()
    other.release()
    assert one.is_exclusive() is True
    assert not other.try_exclusive()
    one.release()
    assert not list(tmp_path.iterdir())


def test_a_folder_with_content_stays_without_its_lock(tmp_path):
    lock = FolderLock(tmp_path / "tiles").acquire()
    (tmp_path / "tiles" / "rows.npy").write_text("")
    lock.release()
    assert [path.name for path in (tmp_path / "tiles").iterdir()] == ["rows.npy"]
    lock.acquire()
    lock.remove()
    assert [path.name for path in (tmp_path / "tiles").iterdir()] == [LOCK]
    lock.release()
    assert not (tmp_path / "tiles").exists()


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(tmp_path):
    first = FolderLock(tmp_path).acquire(shared=True)
    (tmp_path / LOCK).unlink()
    second = FolderLock(tmp_path).acquire()
    second.release()
    first.share()
    assert not FolderLock(tmp_path).try_exclusive()
    first.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(tmp_path, monkeypatch, code):
    def fail(*_):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", fail)
    lock = FolderLock(tmp_path / "tiles").acquire(shared=True)
    assert lock.is_exclusive() is None
    assert not FolderLock(tmp_path / "tiles").try_exclusive()
    lock.release()
    assert not list(tmp_path.iterdir())


def test_files_written_alone_are_those_of_one_writer(tmp_path):
    seen = []

    def write(name):
        with exclusive_folder(tmp_path / "tables"):
            for file in ("a.tsv", "b.tsv"):
                seen.append(name)
                (tmp_path / "tables" / file).write_text(name)
                time.sleep(0.002)

    threads = [threading.Thread(target=write, args=(str(i),)) for i in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert seen[::2] == seen[1::2]
    assert [(tmp_path / "tables" / file).read_text() for file in ("a.tsv", "b.tsv")] == [seen[-1]] * 2
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == ["a.tsv", "b.tsv"]


def test_a_folder_that_cannot_be_made_is_left_to_the_writer(tmp_path):
    (tmp_path / "file").write_text("")
    with exclusive_folder(tmp_path / "file" / "tables"):
        pass


def test_a_checkpoint_that_another_process_clears_takes_the_next_value(tmp_path, monkeypatch):
    done, replace = Checkpoint(tmp_path / ".finished", "x"), os.replace
    cleared = []

    def clear_first(*paths):
        if not cleared:
            cleared.append(1)
            done.clear()
        replace(*paths)

    monkeypatch.setattr(os, "replace", clear_first)
    done.put("fold1", 0.5)
    assert cleared == [1]
    assert done.get("fold1") == 0.5


def test_a_folder_that_vanishes_is_not_a_full_disk(tmp_path):
    def write():
        with atomic_write(tmp_path / "out" / "table.tsv", "w") as file:
            file.write("x")
            shutil.rmtree(tmp_path / "out")

    with pytest.raises(FileError, match="another process removed its folder, or what was written of it; repeat"):
        write()


def test_who_waits_for_another_process_says_so(tmp_path, capsys):
    other = FolderLock(tmp_path).acquire()
    threading.Timer(0.2, other.release).start()
    with exclusive_folder(tmp_path):
        pass
    assert capsys.readouterr().err == f"seqkern: waiting for another process that writes into {tmp_path}\n"
    with exclusive_folder(tmp_path):
        pass
    assert capsys.readouterr().err == ""


def test_a_folder_that_was_there_stays(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new" / "inner"
    old.mkdir()
    for folder in (old, new):
        with exclusive_folder(folder):
            pass
    assert list(tmp_path.iterdir()) == [old]


def test_what_was_interrupted_while_it_closed_the_lock_is_not_closed_again(tmp_path, monkeypatch):
    lock = FolderLock(tmp_path / "tiles").acquire()

    def interrupted(handle, close=os.close):
        close(handle)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock.release()
    monkeypatch.undo()
    lock.release()  # as whoever holds it does at the end
