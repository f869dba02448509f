"""Files of former releases give what they gave."""

import json

import pytest
from old_files.make import FILES, HERE

EXPECTED = {folder.parent: json.loads(folder.read_text("utf-8")) for folder in sorted(HERE.glob("*/expected.json"))}
OLD = [pytest.param(folder, name, id=f"{folder.name}-{name}") for folder, names in EXPECTED.items() for name in names]


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
