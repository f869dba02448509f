"""The control groups of this process: what containers, batch systems and systemd limit it by.

Versions 1 and 2, and hybrids of both. Linux lists the groups in ``/proc/self/cgroup``, and where their files are in
``/proc/self/mountinfo``: a container mounts only its own part of the tree. What is not there, or not readable, limits
nothing here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROCESS = Path("/proc/self")


class ControlGroup(NamedTuple):
    """A control group that this process belongs to, directly or by a group inside it.

    Attributes
    ----------
    version : int
        1 or 2.
    name : str
        Its path in the hierarchy, as the system shows it to this process.
    folder : Path
        Where its files are.

    Examples
    --------
    >>> ControlGroup(2, "/system.slice", Path("/sys/fs/cgroup/system.slice")).number("no.such.file") is None
    True
    """

    version: int
    name: str
    folder: Path

    def text(self, file: str) -> str:
        """Return the content of one of its files; empty if it cannot be read.

        Parameters
        ----------
        file : str
            Such as ``memory.max``.

        Returns
        -------
        str
        """
        try:
            return (self.folder / file).read_text(errors="replace")
        except OSError:
            return ""

    def number(self, file: str) -> int | None:
        """Return the number in one of its files.

        Parameters
        ----------
        file : str
            Such as ``memory.max``.

        Returns
        -------
        int or None
            None if there is none: the file is missing, or says ``max``.
        """
        return _integer(self.text(file))

    def table(self, file: str) -> dict[str, int]:
        """Return the numbers of a file with lines ``key number``.

        Parameters
        ----------
        file : str
            Such as ``memory.stat``.

        Returns
        -------
        dict of str to int
        """
        pairs = (line.split() for line in self.text(file).splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and _integer(pair[1]) is not None}


@functools.cache
def control_groups(controller: str) -> tuple[ControlGroup, ...]:
    """Return the control groups that may limit this process, the innermost first.

    Parameters
    ----------
    controller : str
        ``"memory"`` or ``"cpu"``.

    Returns
    -------
    tuple of ControlGroup
        Its own group and all around it, as far as this process sees them; empty where the system has none. Cached:
        processes hardly ever change their group.

    Examples
    --------
    >>> all(group.version in (1, 2) for group in control_groups("memory"))
    True
    """
    own = dict(_own_groups(controller))
    groups: list[ControlGroup] = []
    for version, root, mounted in _mounts(controller):
        if version in own:
            groups += _upwards(version, own[version], root, mounted)
    return tuple(groups)


def _own_groups(controller: str) -> Iterator[tuple[int, str]]:
    """Yield version and path of this process's own groups."""
    for line in _lines(PROCESS / "cgroup"):
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and controllers == "":
            yield 2, path
        elif controller in controllers.split(","):
            yield 1, path


def _mounts(controller: str) -> Iterator[tuple[int, str, Path]]:
    """Yield version, mounted group and folder of each place where groups of a controller are mounted."""
    for line in _lines(PROCESS / "mountinfo"):
        before, _, after = line.partition(" - ")
        places, kind = before.split(), after.split()
        if len(places) < 5 or len(kind) < 3:
            continue
        root, mounted = _unescaped(places[3]), Path(_unescaped(places[4]))
        if kind[0] == "cgroup2":
            yield 2, root, mounted
        elif kind[0] == "cgroup" and controller in kind[2].split(","):
            yield 1, root, mounted


def _upwards(version: int, own: str, root: str, mounted: Path) -> Iterator[ControlGroup]:
    """Yield a group and those around it, up to the group that is mounted."""
    path = PurePosixPath(own)
    # Outside of its namespace a process sees paths with "..": then only the mounted group is known to be around it.
    inside = path.is_relative_to(root) and ".." not in path.parts
    steps = path.relative_to(root).parts if inside else ()
    for depth in range(len(steps), -1, -1):
        yield ControlGroup(version, str(PurePosixPath(root, *steps[:depth])), mounted.joinpath(*steps[:depth]))


def _lines(path: Path) -> list[str]:
    """Return the lines of a file of the system; none if it cannot be read."""
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _unescaped(text: str) -> str:
    r"""Return a path of ``mountinfo``, where blanks are written as ``\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _integer(text: str) -> int | None:
    """Return a number of the system's files; None if the text is another."""
    text = text.strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,20}", text) else None
