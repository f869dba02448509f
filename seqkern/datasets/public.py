"""Public data sets: which there are, and how they are read.

The table ``public.tsv`` names the sets, their files are those of `seqkern.core.public_files`; the formats are read by
`adapters`.
"""

from dataclasses import dataclass

from seqkern.core.errors import unknown_name
from seqkern.core.public_files import PublicFile, public_table


@dataclass(frozen=True)
class PublicSet:
    """One public data set.

    Attributes
    ----------
    name, adapter, kind : str
    alphabet, unknown, ids : str
        Policies by default; empty where there are none.
    positive : str
        The positive class; empty where there is none.
    description, reference : str
    """

    name: str
    adapter: str
    kind: str
    alphabet: str
    unknown: str
    ids: str
    positive: str
    description: str
    reference: str

    @property
    def files(self):
        """Dict of role to PublicFile."""
        return {file.role: file for file in public_table("public_files.tsv", PublicFile) if file.dataset == self.name}


def public_sets():
    """Return a dict of name to PublicSet."""
    return {item.name: item for item in public_table("public.tsv", PublicSet)}


def public_set(name):
    """Return the PublicSet called `name`.

    Raises
    ------
    ParameterError
        If there is none, with the nearest name.
    """
    sets = public_sets()
    if name not in sets:
        raise unknown_name("public data set", name, sets)
    return sets[name]
