"""Licences of the packages that an installation needs, directly or not: ``python tests/licences.py`` prints a table."""

import re
import sys
import tomllib
from importlib.metadata import distribution, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

STRICT = re.compile(r"\bA?GPL|GNU (?:Affero )?General Public", re.IGNORECASE)
NAMES = {"Apache Software License": "Apache-2.0", "MIT License": "MIT", "BSD License": "BSD"}


def needed():
    """Return the packages that seqkern needs without any extra, and what needs each of them: {package: package}."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found, waiting = {}, [("seqkern", project["dependencies"])]
    while waiting:
        parent, texts = waiting.pop(0)
        for requirement in map(Requirement, texts):
            child = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if child in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            found[child] = parent
            waiting.append((child, requires(child) or []))
    return found


def licence(name):
    """Return what a package says of its licence: the SPDX expression, or else its classifiers, or the first line."""
    fields = metadata(name)
    if fields.get("License-Expression"):
        return fields["License-Expression"]
    classified = [line.split(" :: ")[-1] for line in fields.get_all("Classifier") or [] if line.startswith("License")]
    said = (fields.get("License") or "").strip().split("\n")[0]
    short = said if 0 < len(said) < 40 else ""
    named = [NAMES.get(one, one) for one in classified if one != "OSI Approved"]
    return " or ".join(named) or short or _title(name)


def _title(name):
    """Return the first line of the licence file, such as "MIT License"."""
    files = [file for file in distribution(name).files or [] if "LICENSE" in file.name.upper()]
    title = next((line.strip() for line in files[0].read_text().splitlines() if line.strip()), "") if files else ""
    return NAMES.get(title, title) or "not said"


def is_strict(text):
    """Return whether a licence leaves no choice but the GPL or the AGPL."""
    return any(all(STRICT.search(part) for part in re.split(r"\bOR\b| or ", one)) for one in re.split(r"\bAND\b", text))


def main():
    """Print the table; the exit status is 1 if a package may be distributed under the GPL only."""
    packages = needed()
    print("| package | version | licence | needed by |\n|---|---|---|---|")
    for name in sorted(packages):
        print(f"| {name} | {metadata(name)['Version']} | {licence(name)} | {packages[name]} |")
    strict = [name for name in packages if is_strict(licence(name))]
    if strict:
        print(f"under the GPL only: {', '.join(strict)}", file=sys.stderr)
    return bool(strict)


if __name__ == "__main__":
    sys.exit(main())
