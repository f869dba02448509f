"""No package that an installation needs forces the GPL on it."""

import licences
import pytest


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("MIT", False),
        ("MIT AND BSD-3-Clause", False),
        ("LGPL-3.0-or-later", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("Public Domain or BSD or GNU General Public License (GPL)", False),
        ("GPL-2.0-only OR MIT", False),
        ("MPL-2.0 AND MIT", False),
        ("GPL-3.0-or-later", True),
        ("AGPL-3.0-only AND MIT", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("GPL-2.0-only OR AGPL-3.0-only", True),
    ],
)
def test_which_licences_leave_no_choice_but_the_gpl(text, strict):
    assert licences.is_strict(text) is strict


def test_no_dependency_is_under_the_gpl_only():
    packages = licences.needed()
    assert {"numpy", "snakemake", "jinja2"} <= set(packages)
    assert {name for name in packages if licences.is_strict(licences.licence(name))} == set()
    assert [name for name in packages if licences.licence(name) == "not said"] == []
