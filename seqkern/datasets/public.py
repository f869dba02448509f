"""Public data sets: which there are, and how they are read.

The table ``public.tsv`` names the sets, their files are those of `seqkern.core.public_files`; the formats are read by
`adapters`.
"""

from dataclasses import dataclass

from seqkern.core.errors import unknown_name
from seqkern.core.public_files import PublicFile, find_file, public_table
from seqkern.datasets.entries import POLICIES, Material
from seqkern.datasets.label_sources import check_options


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


def public_material(entry, data_dir=None):
    """Return the Material of an entry ``public: name``; its policies come before those of the registry.

    Parameters
    ----------
    entry : dict
    data_dir : path-like, optional

    Raises
    ------
    ParameterError
        For an unknown name.
    FileError
        If a file is not to be had, or is another.
    """
    from seqkern.datasets.adapters import ADAPTERS
    from seqkern.datasets.residue_adapters import RESIDUE_ADAPTERS

    chosen = public_set(entry["public"])
    paths = {role: find_file(file, data_dir) for role, file in chosen.files.items()}
    policies = {key: getattr(chosen, key) for key in POLICIES if getattr(chosen, key, "")}
    policies |= {key: entry[key] for key in POLICIES if key in entry}
    made = (ADAPTERS | RESIDUE_ADAPTERS)[chosen.adapter](paths, policies)
    options = {"positive": chosen.positive or None} | check_options(entry.get("labels", {}))
    sources = [
        {"file": file.file, "sha256": file.sha256} | ({"url": file.url} if file.url else {"made": file.made})
        for file in chosen.files.values()
    ]
    notes = {"description": chosen.description, "reference": chosen.reference, "sources": sources}
    where = ", ".join(map(str, paths.values()))
    return Material(chosen.kind, made.X, made.columns, options, where, made.roles, notes)
