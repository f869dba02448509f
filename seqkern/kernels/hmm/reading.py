"""Profile HMMs from HMMER3 files."""

from seqkern.core.errors import FileError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_text
from seqkern.core.types import PathLike
from seqkern.kernels.hmm.building import background, from_hmmer
from seqkern.kernels.hmm.profile_hmm import ProfileHMM
from seqkern.profiles.hmmer_files import parse_hmms
from seqkern.sequences.alphabets import ALPHABETS, Alphabet


def read_profiles(path: PathLike) -> tuple[list[ProfileHMM], Alphabet]:
    """Return the models of a HMMER3 file.

    Parameters
    ----------
    path : path-like
        Of a text, compressed (gzip, bzip2, xz) or not; or ``public:NAME``, for a file of the project's registry.

    Returns
    -------
    models : list of ProfileHMM
        In the order of the file. Their background is that of HMMER.
    alphabet : Alphabet

    Raises
    ------
    FileError
        If the file cannot be obtained or read, has no model, or models of several alphabets.
    ParameterError
        If the public file does not exist.
    """
    with open_text(local_path(path)) as (text, name):
        found = parse_hmms(text.read(), name)
    letters = found[0].alphabet.type
    name_here = {"amino": "protein", "DNA": "dna", "RNA": "rna"}.get(letters)
    if name_here is None:
        raise FileError(f"has models of {letters}", file=name, remedy="give models of dna, rna or protein")
    alphabet = ALPHABETS[name_here]
    frequencies = background(alphabet)
    return [from_hmmer(model, frequencies) for model in found], alphabet
