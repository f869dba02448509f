"""Folders that several processes use."""

import errno
import fcntl

import pytest

from seqkern.core.locks import LOCK, FolderLock


def test_a_folder_in_use_is_not_alone(tmp_path):
    one, other = FolderLock(tmp_path / "new" / "tiles"), FolderLock(tmp_path / "new" / "tiles")
    one.acquire(shared=True)
    assert not other.try_alone()
    other.acquire(shared=True)
    assert one.is_alone() is False
    one.share()
    other.release()
    assert one.is_alone() is True
    assert not other.try_alone()
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
    assert not FolderLock(tmp_path).try_alone()
    first.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(tmp_path, monkeypatch, code):
    def fail(*_):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", fail)
    lock = FolderLock(tmp_path / "tiles").acquire(shared=True)
    assert lock.is_alone() is None
    assert not FolderLock(tmp_path / "tiles").try_alone()
    lock.release()
    assert not list(tmp_path.iterdir())
