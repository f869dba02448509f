"""BLOCKS and PRINTS files, made here."""

import numpy as np
import pytest
from naive import encode

from seqkern.core.errors import SeqkernError
from seqkern.kernels import MotifKernel
from seqkern.kernels.models.motif_files import RESIDUES, matrix_reader, read_matrices

BLOCKS = """ID   GLU_CARBOXYLATION; BLOCK
AC   IPB000294A; distance from previous block=(8,40)
DE   Gamma-carboxyglutamic acid-rich domain
BL   CCY;  width=4; seqs=3; 99.5%=1234; strength=1500
FA10_BOVIN|P00743  (  41) WCHM  50

FA9_HUMAN          (  47) WCHX  50
PROT_X             (  -2) WYHM 100
//
ID   OTHER; BLOCK
AC   IPB000294B; distance from previous block=(0,3)
BL   FWW;  width=2; seqs=1;
FA10_BOVIN         (  60) FW
//
"""
PRINTS = """gc; PLANTGLOBIN
gx; PR00188
gn; COMPOUND(2)
gt; Plant globin signature

fc; PLANTGLOBIN1
fl; 4
ft; Plant globin motif I - 1
fd; WCHM   LGB2_PEA    10   10
fd; WYHM   LGB1_PEA    11   11

fc; PLANTGLOBIN2
fl; 2
ft; Plant globin motif II - 1
fd; FW     LGB2_PEA    40   27

ic; PLANTGLOBIN1
il; 3
id; WCH    LGB2_PEA    10   10

gc; INITIALONLY
ic; INITIAL1
il; 3
id; DEK    A_B         1    1
"""


def counts(text):
    """Return {name: [{residue: count} of each column]}."""
    lines = text.splitlines()
    return {
        name: [{letter: count for letter, count in zip(letters, row, strict=True) if count} for row in rows]
        for _, name, rows, letters, _ in matrix_reader(lines)(lines)
    }


def test_blocks_become_weighted_counts():
    found = counts(BLOCKS)
    assert list(found) == ["IPB000294A GLU_CARBOXYLATION", "IPB000294B OTHER"]
    columns = found["IPB000294A GLU_CARBOXYLATION"]
    # weights 50, 50 and 100 of three segments count ¾, ¾ and 3/2; X does not count
    assert columns == [{"W": 3.0}, {"C": 1.5, "Y": 1.5}, {"H": 3.0}, {"M": 2.25}]
    assert found["IPB000294B OTHER"] == [{"F": 1.0}, {"W": 1.0}]


def test_prints_become_counts_of_the_final_motifs():
    found = counts(PRINTS)
    assert list(found) == ["PLANTGLOBIN1", "PLANTGLOBIN2", "INITIAL1"]
    assert found["PLANTGLOBIN1"] == [{"W": 2.0}, {"C": 1.0, "Y": 1.0}, {"H": 2.0}, {"M": 2.0}]
    assert found["INITIAL1"] == [{"D": 1.0}, {"E": 1.0}, {"K": 1.0}]


@pytest.mark.parametrize("text", [BLOCKS, PRINTS], ids=["BLOCKS", "PRINTS"])
def test_the_kernel_counts_matches_of_blocks(text, tmp_path):
    path = tmp_path / "family.dat"
    path.write_text(text)
    kernel = MotifKernel(str(path), score_share=0.9, normalize=False, alphabet="protein")
    X = encode(["AAWCHMAAWYHMA", "FWKFW", "AAAA"], "protein")
    features = kernel.features(X).toarray()
    np.testing.assert_array_equal(features[:, :2], [[2, 0], [0, 2], [0, 0]])


DAMAGED = {
    "a shorter segment": (BLOCKS.replace("WCHX", "WCH"), r"line 7: the segment 'WCH' has 3 residues, its block 4"),
    "no residue": (BLOCKS.replace("WCHX", "WC1X"), r"line 7: 'FA9_HUMAN .* cannot be read here"),
    "a letter of none": (PRINTS.replace("WYHM", "WYH-"), r"line 10: the segment 'WYH-' contains '-'"),
    "no width": (BLOCKS.replace("width=2", "breadth=2"), r"line 12: .*write the width of the block"),
    "a weight of none": (BLOCKS.replace("WYHM 100", "WYHM nan"), r"line 8: 'nan' cannot be read here"),
    "a weight that is no number": (BLOCKS.replace("WYHM 100", "WYHM x"), r"line 8: 'x' cannot be read here"),
    "no segments": (BLOCKS.replace("FA10_BOVIN         (  60) FW\n", ""), r"line 12: motif .* has no segments"),
    "a length of letters": (PRINTS.replace("fl; 2", "fl; two"), r"line 13: .*write the length of the motif"),
    "no length": (PRINTS.replace("fl; 2\n", ""), r"line 12: motif 'PLANTGLOBIN2' has no length"),
    "no code": (PRINTS.replace("fc; PLANTGLOBIN1\n", ""), r"line 6: .*write the code of the motif before it, fc;"),
    "an empty segment": (PRINTS.replace("fd; FW     LGB2_PEA    40   27", "fd;"), r"line 15: the segment '' has 0"),
}


@pytest.mark.parametrize(("text", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_files_are_refused_in_one_line(text, message, tmp_path):
    path = tmp_path / "family.dat"
    path.write_text(text)
    with pytest.raises(SeqkernError, match=message) as error:
        MotifKernel(str(path), alphabet="protein")(["MKVLAW"])
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_letters_are_those_of_proteins():
    lines = BLOCKS.splitlines()
    assert RESIDUES == "ACDEFGHIKLMNPQRSTVWY"
    assert [len(matrix.counts) for matrix in read_matrices(lines, matrix_reader(lines))] == [4, 2]
