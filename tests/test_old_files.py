"""Files of former releases give what they gave; each file says which releases read it, and newer ones are told."""

import json
import shutil

import numpy as np
import pytest
from damage import read_npz, write_npz
from old_files.make import FILES, HERE

from seqkern import __version__
from seqkern.core.errors import SeqkernError
from seqkern.core.file_kinds import KINDS, MODEL
from seqkern.methods.study_results import read_json

EXPECTED = {file.parent: json.loads(file.read_text("utf-8")) for file in sorted(HERE.glob("*/expected.json"))}
OLD = [pytest.param(folder, name, id=f"{folder.name}-{name}") for folder, names in EXPECTED.items() for name in names]
FOR_PEOPLE = ("folds.tsv", "config.yaml")  # tables and configurations, which people write, too
STAMPED = {name: read for name, (_, read) in FILES.items() if name not in FOR_PEOPLE}
STAMPED["dataset_features/summary.json"] = read_json
NEWER = {"made_by": "9.2.1", "readable_since": "9.1"}
UPGRADE = rf"made by seqkern 9\.2\.1 and needs seqkern 9\.1 or newer \(this is {__version__}\); upgrade seqkern, or "


def assert_equal(found, expected):
    """Compare JSON; numbers to 1e-12."""
    assert type(found) is type(expected)
    if isinstance(expected, (list, dict)):
        assert len(found) == len(expected)
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in pairs:
            assert_equal(value, expected[key])
    else:
        assert found == (pytest.approx(expected, rel=1e-12, abs=1e-12) if type(expected) is float else expected)


@pytest.mark.parametrize(("folder", "name"), OLD)
def test_a_file_of_a_former_release_gives_what_it_gave(folder, name):
    assert_equal(FILES[name][1](folder / name), EXPECTED[folder][name])


def test_every_kind_of_file_is_kept():
    assert [name for name in FILES if not any(name in names for names in EXPECTED.values())] == []


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder of the files of this release."""
    folder = tmp_path_factory.mktemp("made")
    for name, (write, _) in FILES.items():
        write(folder / name)
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """Return a copy of them."""
    return shutil.copytree(made, tmp_path / "copy")


def stamped(path):
    """Return the file that says what a file or folder is."""
    return next(file for file in (path, path / "data.npz", path / "gram.json") if file.is_file())


def header_of(file):
    """Return the JSON of a file, and its arrays; None where it is JSON alone."""
    return (json.loads(file.read_text("utf-8")), None) if file.suffix == ".json" else read_npz(file)


def change(file, **changes):
    """Change the JSON of a file."""
    header, arrays = header_of(file)
    if arrays is None:
        file.write_text(json.dumps(header | changes), "utf-8")
    else:
        write_npz(file, header | changes, arrays)


def refused(folder, name):
    """Return the one line with which a file is refused."""
    with pytest.raises(SeqkernError) as caught:
        STAMPED[name](folder / name)
    assert "\n" not in str(caught.value)
    return caught


def test_each_file_names_its_releases(made):
    headers = [header_of(stamped(made / name))[0] for name in STAMPED]
    assert {header["format"] for header in headers} == {kind.format for kind in KINDS}
    for header in headers:
        kind = next(kind for kind in KINDS if kind.format == header["format"])
        assert {key: header[key] for key in kind.stamp()} == kind.stamp()
        assert header["made_by"] == __version__


@pytest.mark.parametrize("name", STAMPED)
def test_a_file_of_a_newer_release_is_told_what_reads_it(copy, name):
    file = stamped(copy / name)
    change(file, version=header_of(file)[0]["version"] + 1, **NEWER)
    refused(copy, name).match(UPGRADE)


@pytest.mark.parametrize("name", [name for name in STAMPED if not name.startswith("gram")])  # see tests/gram
def test_a_newer_release_may_add_entries(copy, made, name):
    change(stamped(copy / name), made_by="9.2.1", added="later")
    found, expected = STAMPED[name](copy / name), STAMPED[name](made / name)
    assert found == (expected if name in FILES else expected | {"made_by": "9.2.1", "added": "later"})


@pytest.mark.parametrize("name", STAMPED)
def test_another_format_is_told_by_its_release(copy, name):
    file = stamped(copy / name)
    change(file, format="seqkern something")
    refused(copy, name).match(r"is not [\w ]+, or is corrupted; ")
    change(file, **NEWER)
    refused(copy, name).match(UPGRADE)


@pytest.mark.parametrize("name", STAMPED)
def test_another_kind_is_told_by_its_name(copy, name):
    file = stamped(copy / name)
    other = next(kind for kind in KINDS if kind.format != header_of(file)[0]["format"])
    change(file, **other.stamp())
    refused(copy, name).match(f"is {other.words}, not [\\w ]+; use .*, or give ")


@pytest.mark.parametrize("name", STAMPED)
@pytest.mark.parametrize("changes", [{"version": 0}, {"version": True}, {"version": 99, "made_by": "\n"}])
def test_a_stamp_that_none_has_written_is_damage(copy, name, changes):
    change(stamped(copy / name), **changes)
    refused(copy, name).match(r"is not [\w ]+, or is corrupted; ")


@pytest.mark.parametrize("name", STAMPED)
def test_a_file_that_is_cut_off_is_refused(copy, name):
    file = stamped(copy / name)
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    refused(copy, name).match(r"is not [\w ]+, or is corrupted|is cut off or damaged|is not JSON")


def test_a_newer_model_inside_another_file_is_told_what_reads_it(copy):
    header, arrays = read_npz(copy / "pack.seqkern")
    inner = json.loads(arrays["0/json"].tobytes()) | {"version": MODEL.version + 1, **NEWER}
    arrays["0/json"] = np.frombuffer(json.dumps(inner).encode(), np.uint8)
    write_npz(copy / "pack.seqkern", header, arrays)
    refused(copy, "pack.seqkern").match(f"pack.seqkern:csvc: was {UPGRADE}train the model again")
    header = read_npz(copy / "genes.model")[0]
    change(copy / "genes.model", donor=header["donor"] | {"version": MODEL.version + 1, **NEWER})
    refused(copy, "genes.model").match(UPGRADE)
