"""Readers of profiles, motifs, matrices and scales."""

import io
import tarfile
from functools import cache
from pathlib import Path

from fuzz_reader import Reader

from seqkern.cli.output import naming_file
from seqkern.formats.profile_sources import ProfileFiles
from seqkern.formats.residues import read_contacts
from seqkern.genomics.variant_run import MotifChanges
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.kernels.models.patterns import parse_pattern
from seqkern.kernels.models.profile_hmm import read_profiles
from seqkern.kernels.substitution_scores import read_matrix
from seqkern.kernels.vectors.property import read_scales
from seqkern.sequences.alphabets import DNA, PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

CHAIN = SequenceSet.from_strings(["MKV"], "protein", ids=["1abc"])
TITLE = "Last position-specific scoring matrix computed"
PSSM = "\n".join(
    [
        "",
        TITLE,
        " " * 11 + "  ".join(PROTEIN.letters),
        *(f"{i:5d} {one}  " + "  1 -2" * 10 for i, one in enumerate("MKV", 1)),
        "",
    ]
).encode()
MEME = (
    b"MEME version 4\n\nALPHABET= ACGT\n\nstrands: + -\n\nBackground letter frequencies\nA 0.3 C 0.2 G 0.2 T 0.3\n\n"
    b"MOTIF m1 first\nletter-probability matrix: alength= 4 w= 2 nsites= 20 E= 0\n 0.1 0.2 0.3 0.4\n 1 0 0 0\n"
)
JASPAR = (
    b">MA0001.1 X\nA [ 0 3 79 ]\nC [ 94 75 4 ]\nG [ 1 0 3 ]\nT [ 2 19 11 ]\n>m2\nA [1 2]\nC [3 4]\nG [5 6]\nT [7 8]\n",
    b">MA0001.1\n0 3 79\n94 75 4\n1 0 3\n2 19 11\n",
)
TRANSFAC = b"AC M1\nXX\nID x\nPO A C G T\n01 1 2 2 0 S\n02 2 1 2 0 R\nXX\n//\n"
BLOCKS = (
    b"ID   GLA; BLOCK\nAC   IPB000294A; distance from previous block=(8,40)\nDE   Gla domain\n"
    b"BL   CCY;  width=4; seqs=2; 99.5%=12; strength=15\nFA10_BOVIN|P00743  (  41) ANSF  83\n\n"
    b"FA9_HUMAN ( -7) YNSX 100\n//\n"
)
PRINTS = (
    b"gc; GLOBIN\ngx; PR00188\ngn; COMPOUND(2)\n\nfc; GLOBIN1\nfl; 4\nft; Globin motif I - 1\n"
    b"fd; SFGW LGB2_PEA 10 10\nfd; AFGB LGB1_PEA 10 10\n\nic; GLOBIN1\nil; 2\nid; SF LGB2_PEA 1 1\n"
)
PROSITE = (
    b"ID   ASN_GLYCOSYLATION; PATTERN.\nAC   PS00001;\nDE   N-glycosylation site.\nPA   N-{P}-[ST]-{P}.\n//\n"
    b"ID   X; PATTERN.\nAC   PS00002;\nPA   <M-x(2,4)-[KR](3)-\nPA   C>.\n//\n"
)
PATTERNS = (
    b"n1\tN-{P}-[ST]-{P}\nn2\tC-x(2,4)-C\n",
    b"[AC]-x-V\nTATAWAW\n",
    b"Name Offset Pattern ..\nAha 1 N~PXS ! x\nx 1 (A,C)Dx{2,3}V\n",
)
MATRIX = (b"# x\n   A  C  G T\nA  5 -1 -2 0\nC -1  4  0 0\nG -2  0 1.5 1\nT 0 0 1 9\n",)
CONTACTS = (b"i\tj\n1\t3\n2\t3\n", b"1,2,0.5\n3,1,0.7\n")
ATOMS = [("MET", 1, 0.0), ("LYS", 2, 3.8), ("VAL", 3, 7.6)]
PDB = "".join(
    f"ATOM  {i:5d}  CA  {name} A{i:4d}    {x:8.3f}{x:8.3f}{0.0:8.3f}  1.00 20.00           C\n" for name, i, x in ATOMS
).encode()
COLUMNS = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id label_seq_id Cartn_x Cartn_y "
    "Cartn_z occupancy B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num pdbx_PDB_ins_code"
)
MMCIF = "data_x\nloop_\n" + "".join(f"_atom_site.{name}\n" for name in COLUMNS.split())
MMCIF += "".join(f"ATOM {i} C CA . {name} A {i} {x} {x} 0.0 1.0 20.0 {i} A 1 ?\n" for name, i, x in ATOMS)
SCALES = (b"# x\naa\tcharge\tmass\nD\t-1\t115\nK\t1\t128.5\nA\t0\t71\n",)


def _tar() -> list[bytes]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("1abc.pssm", "../2abc.pssm"):
            info = tarfile.TarInfo(name)
            info.size = len(PSSM)
            archive.addfile(info, io.BytesIO(PSSM))
    return [out.getvalue()]


@cache
def _hmms() -> tuple[bytes, ...]:
    """Return HMMs of a protein and of DNA, as pyhmmer writes them."""
    from pyhmmer.easel import Alphabet, TextSequence
    from pyhmmer.plan7 import Background, Builder

    found = []
    for alphabet, letters in ((Alphabet.amino(), "MKV"), (Alphabet.dna(), "ACGT")):
        query = TextSequence(name="1abc" if letters == "MKV" else "x", sequence=letters).digitize(alphabet)
        hmm, _, _ = Builder(alphabet, seed=1).build(query, Background(alphabet))
        out = io.BytesIO()
        hmm.write(out)
        found.append(out.getvalue())
    return tuple(found)


def _profiles(path: Path) -> None:
    ProfileFiles(path).add_to(CHAIN)


def _motifs(path: Path) -> None:
    found = MotifSet.from_file(str(path))
    header, arrays = found.state()
    MotifSet.from_state(header, arrays)


def _known(path: Path) -> None:
    MotifChanges.from_file(path)


def _matrix(path: Path) -> None:
    with naming_file(path):
        read_matrix(path).table(DNA)


def _scales(path: Path) -> None:
    with naming_file(path):
        read_scales(path).standardised(PROTEIN)


def _contacts(path: Path) -> None:
    read_contacts(path, "MKV")


READERS = (
    Reader("contacts in tables", _contacts, lambda: CONTACTS, suffix=".tsv"),
    Reader("contacts in pdb", _contacts, lambda: [PDB], suffix=".pdb"),
    Reader("contacts in mmcif", _contacts, lambda: [MMCIF.encode()], suffix=".cif"),
    Reader("pssm of psi-blast", _profiles, lambda: [PSSM], ("--profiles",), ".pssm"),
    Reader("profiles in tar", _profiles, _tar, suffix=".tar"),
    Reader("hmmer, profiles", _profiles, _hmms, suffix=".hmm", own_process=True),
    Reader("hmmer, kernels", read_profiles, _hmms, suffix=".hmm", own_process=True),
    Reader(
        "motifs: meme, jaspar, transfac", _known, lambda: [MEME, *JASPAR, TRANSFAC], ("--motifs", "--known"), ".meme"
    ),
    Reader(
        "motifs of kernels",
        _motifs,
        lambda: [MEME, *JASPAR, TRANSFAC, BLOCKS, PRINTS, PROSITE, *PATTERNS],
        suffix=".dat",
    ),
    Reader("pattern", parse_pattern, lambda: [b"N-{P}-[ST]-{P}", b"<C-x(2,4)-C(3)>", b"[AC]-x"], of_text=True),
    Reader("substitution matrix", _matrix, lambda: MATRIX, suffix=".txt"),
    Reader("property scales", _scales, lambda: SCALES, suffix=".tsv"),
)
