"""Profile HMMs from HMMER3 files."""

from ...alphabets import ALPHABETS
from ...errors import FileError
from .building import background, from_hmmer


def read_profiles(path):
    """Return the models of a HMMER3 file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    models : list of ProfileHMM
        In the order of the file. Their background is HMMER's own.
    alphabet : Alphabet

    Raises
    ------
    FileError
        If the file cannot be read, has no model, or models of several alphabets.
    """
    from pyhmmer.errors import AlphabetMismatch
    from pyhmmer.plan7 import HMMFile

    found = []
    try:
        with HMMFile(path) as file:
            found.extend(file)
    except AlphabetMismatch:
        raise FileError(
            "its models have different alphabets", file=path, record=_next(found), remedy="make one file for each"
        ) from None
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror or error}", file=path, remedy="give the path of a HMMER3 file"
        ) from None
    except (ValueError, EOFError) as error:
        raise FileError(
            f"is not a HMMER3 file: {error}", file=path, record=_next(found), remedy="make it with hmmbuild"
        ) from None
    # The reader takes a model that is cut off for the end of the file.
    if _count_begun(path) > len(found):
        raise FileError("ends in the middle", file=path, record=_next(found), remedy="copy it again")
    if not found:
        raise FileError("has no model", file=path, remedy="make it with hmmbuild")
    name = {"amino": "protein", "DNA": "dna", "RNA": "rna"}.get(found[0].alphabet.type)
    if name is None:
        raise FileError(
            f"has models of {found[0].alphabet.type}", file=path, remedy="give models of dna, rna or protein"
        )
    alphabet = ALPHABETS[name]
    frequencies = background(alphabet)
    return [from_hmmer(model, frequencies) for model in found], alphabet


def _count_begun(path):
    """Return how many models begin in a file of text."""
    with open(path, "rb") as file:
        return sum(line.startswith(b"HMMER3/") for line in file)


def _next(found):
    """Return which model is the next after those that were read."""
    return f"model {len(found) + 1}"
