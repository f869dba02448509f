"""The kinds of files that seqkern writes and reads again, and the stamp that identifies each kind.

A file is an archive (`seqkern.core.archive`) or JSON, and begins with `FileKind.stamp`: its ``format``, the
``version`` of the format, the release that it was ``made_by``, and ``readable_since``, the oldest release that reads
it. A change of a format that older releases cannot read must raise `version` here and set `readable_since` to the
next release; the loader continues to read the former versions.
"""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqkern import __version__
from seqkern.core.errors import REMEDY, FileError, GramError, ModelError, SeqkernError, damaged
from seqkern.core.types import PathLike

RELEASE = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}(\.?[a-z]{1,4}\d{0,6})?")


@dataclass(frozen=True)
class FileKind:
    """A kind of file, with its format, version, and the texts for messages.

    `again` says how to get an intact file, `use` what to do with such a file where another kind is needed. `unstamped`
    holds the values of ``format`` in files from before the stamp, which have no ``version``.
    """

    format: str  # Its name, in the file
    words: str  # Its name, for messages
    again: str  # How to get an intact file
    use: str = ""  # What to do with such a file where another kind is needed; ``{file}`` is replaced by the file
    version: int = 1  # Of the format
    readable_since: str = "0.2.0"  # The oldest release that reads this version
    # What is the ``format`` of files from before the stamp, which have no ``version``
    unstamped: tuple[object, ...] = ()
    # What is raised for a file that is not one of this kind, or cannot be read by this release
    error: type[SeqkernError] = FileError

    @property
    def problem(self) -> str:
        """The message about a file that is not of this kind."""
        return f"is not {self.words}, or is corrupted"

    def stamp(self) -> dict[str, Any]:
        """Return the entries at the beginning of a file's JSON."""
        stamp = {"format": self.format, "version": self.version}
        return stamp | {"made_by": __version__, "readable_since": self.readable_since}

    def damaged(self, path: PathLike, problem: str | None = None) -> AbstractContextManager[None]:
        """Return a context that turns any exception while a file is loaded into one error, as `damaged` does."""
        return damaged(path, problem or self.problem, self.again, self.error)

    def check(self, header: Any, path: PathLike) -> None:
        """Raise `error` unless a file is of this kind and of a version that this release reads."""
        header = header if isinstance(header, dict) else {}
        given, version = header.get("format"), header.get("version")
        if given in self.unstamped or self is ANY:
            return
        known = next((kind for kind in KINDS if kind.format == given), None)
        made_by, since = _release(header.get("made_by")), _release(header.get("readable_since"))
        if known is self:
            if type(version) is int and 1 <= version <= self.version:
                return
            newer = type(version) is int and version > self.version
        else:
            newer = known is None and since is not None and _numbers(since) > _numbers(__version__)
        problem, remedy = self.problem, self.again
        if newer and made_by and since:
            problem = f"was made by seqkern {made_by} and needs seqkern {since} or newer (this is {__version__})"
            remedy = f"upgrade seqkern, or {self.again}"
        elif known is not None and known is not self:
            problem = f"is {known.words}, not {self.words}"
            remedy = ", or ".join([*filter(None, [known.use.format(file=path)]), f"give {self.words}"])
        raise self.error(problem, file=path, remedy=remedy)

    def load_json(self, path: PathLike) -> Any:
        """Return the content of a JSON file, after a check of its kind."""
        with self.damaged(path):
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            self.check(content, path)
            return content


def _release(text: Any) -> str | None:
    """Return a release number read from a file; None for anything else."""
    return text if isinstance(text, str) and RELEASE.fullmatch(text) else None


def _numbers(release: str) -> list[int]:
    """Return the numbers of a release in order, for comparison."""
    return [int(number) for number in re.findall(r"\d+", release)]


ANY = FileKind("", "a seqkern file", REMEDY)
"""Files that only the release of their run reads again: they have no stamp."""
MODEL = FileKind(
    "seqkern model", "a model of seqkern train", "train the model again", "use seqkern predict", error=ModelError
)
GENES = FileKind(
    "seqkern genes",
    "a model of genes",
    "give a model of seqkern grammar, or learn it again",
    "use seqkern genes {file} GENOME",
    error=ModelError,
)
SPLICE = FileKind(
    "seqkern splice",
    "a model of splice sites",
    "train it again: seqkern splice-scores MODEL GENOME --train ANNOTATION",
    "use seqkern splice-scores {file} GENOME",
    error=ModelError,
)
PACK = FileKind(
    "seqkern models",
    "a file of several models",
    "pack the models again",
    "choose one, such as {file}:NAME (seqkern models list {file} lists them)",
    error=ModelError,
)
DATASET = FileKind("seqkern data set", "a data set", "run seqkern datasets again", unstamped=(1,))
GRAM = FileKind(
    "seqkern gram",
    "the side file of a Gram matrix",
    "delete it and its .npy file, and repeat the command that computed them",
    version=2,
    unstamped=("seqkern gram 2",),
    error=GramError,
)
IMPORTANCE = FileKind(
    "seqkern importance", "a file of position importance", REMEDY, unstamped=("seqkern importance 1",)
)
INNER = FileKind(
    "seqkern inner loops", "a file of inner loops", "run seqkern evaluate --inner-only again", unstamped=(1,)
)
PLAN = FileKind("seqkern plan", "a plan", "delete it; seqkern plan makes it again", unstamped=(None,))
RESULT = FileKind("seqkern result", "a result of a study", "make it again", unstamped=(None,))
KINDS = (MODEL, GENES, SPLICE, PACK, DATASET, GRAM, IMPORTANCE, INNER, PLAN, RESULT)
