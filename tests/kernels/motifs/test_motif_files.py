"""Files of motifs, models without them, names, the command line."""

import json

import numpy as np
import pytest
from naive import encode, random_strings
from test_motif import found
from test_motif_matrices import JASPAR

from seqkern.cli.main import main
from seqkern.core.errors import FileError, ParameterError, SeqkernError
from seqkern.kernels import MotifKernel, build_kernel, kernel_from_state
from seqkern.kernels.kernel import files
from seqkern.kernels.models.motif_files import SKIPPED
from seqkern.methods import Explainer
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.report.explanation_page import write_explanation
from seqkern.sequences.labels import make_labels

PROSITE = """CC   Release 2024_01
//
ID   ASN_GLYCOSYLATION; PATTERN.
AC   PS00001;
DT   01-APR-1990 CREATED
PA   N-{P}-[ST]-
PA   {P}.
CC   /SKIP-FLAG=TRUE;
//
ID   A_PROFILE; MATRIX.
AC   PS50000;
MA   /GENERAL_SPEC: ALPHABET='ABCDEFGHIKLMNPQRSTVWYZ'; LENGTH=91;
//
ID   TACHYKININ; PATTERN.
AC   PS00267;
PA   F-[IVFY]-G-[LM]-M-[G>].
//
"""
GCG = """PROSITETOGCG of: somewhere

Name            Offset Pattern                  ..                     PDoc_Name

;Asn_Glycosylation   1 N~(P)(S,T)~(P)                                  0001.pdoc
Tachykinin           1 F(I,V,F,Y)G(L,M)M(G)>                           0240.pdoc
"""
LISTED = """# two motifs
sites of glycosylation   N-{P}-[ST]-{P}   # PS00001

FVGLM
"""


@pytest.mark.parametrize(
    ("text", "names", "counts"),
    [
        (PROSITE, ["PS00001 ASN_GLYCOSYLATION", "PS00267 TACHYKININ"], [[1, 1], [0, 1]]),
        (GCG, ["Asn_Glycosylation", "Tachykinin"], [[1, 0], [0, 1]]),
        (LISTED, ["sites of glycosylation", "FVGLM"], [[1, 1], [0, 1]]),
    ],
    ids=["PROSITE", "GCG", "list"],
)
def test_files_of_patterns(tmp_path, text, names, counts):
    file = tmp_path / "motifs.txt"
    file.write_text(text)
    kernel = MotifKernel(str(file))
    assert kernel.features.names() == names
    np.testing.assert_array_equal(found(str(file), ["NASAFVGLM", "FVGLMG"], "protein"), counts)
    assert files(kernel) == (str(file),)
    touched = kernel.prepare(encode(["NASAFVGLMG"], "protein")).counts
    assert touched == ({SKIPPED: 1} if text == PROSITE else {})


def test_a_model_needs_no_file_and_knows_its_content(tmp_path):
    file = tmp_path / "motifs.txt"
    X = encode(random_strings(20, 20, 40, masked=0))
    for text in ("AC\nname G-x(0,2)-T\nTT\nA\n", JASPAR):
        file.write_text(text)
        kernel = build_kernel({"kernel": "motif", "motifs": str(file), "score_share": 0.6 if text == JASPAR else None})
        K, before = kernel(X), kernel.identity()
        model = train_model(X, make_labels(X.ids, ["a", "b"] * 10), kernel, "csvc:C=1")
        decision = model.decision(X)
        model.save(tmp_path / "m.seqkern")
        state = kernel.state()
        file.unlink()
        again = kernel_from_state(*json.loads(json.dumps(state[:1])), state[1])
        np.testing.assert_array_equal(again(X), K)
        assert again.identity() == before
        np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(X), decision)
        file.write_text(text.replace("A", "C") if text != JASPAR else text.replace("8", "9"))
        assert MotifKernel(str(file), score_share=kernel.score_share).identity() != before


@pytest.mark.parametrize(
    ("line", "name", "pattern"),
    [
        ("[AC] - x - V", "[AC]-x-V", "[AC]-x-V"),
        ("< A-x(2, 4) - [ST] .", "<A-x(2,4)-[ST].", "<A-x(2,4)-[ST]"),
        ("A -C", "A-C", "A-C"),
        ("zinc-finger C-x(2)-C", "zinc-finger", "C-x(2)-C"),
        ("[4Fe-4S] cluster C-x-C", "[4Fe-4S] cluster", "C-x-C"),
        ("motif1 A-C", "motif1", "A-C"),
        ("A C", "A", "C"),
    ],
)
def test_names_and_patterns_with_spaces(tmp_path, line, name, pattern):
    (tmp_path / "m").write_text(line + "\n")
    kernel = MotifKernel(str(tmp_path / "m"))
    assert kernel.features.names() == [name]
    X = encode(["ACSTV", "AEVCCAC", "CAAC", "VAASC"], "protein")
    np.testing.assert_array_equal(kernel.features(X).toarray(), MotifKernel([pattern]).features(X).toarray())


BAD_FILES = {
    "": "is empty",
    "# nothing\n": "contains no motif",
    "A-C\nfirst A-[C\n": "line 2: motif 'first': cannot read 'A-[C' at '[C'",
    "A-C\n[AC] - x V\n": "line 2: '[AC] - x' before 'V' looks like part of the pattern",
    "site - A-C\n": "line 1: 'site -' before 'A-C' looks like part of the pattern",
    "site -A\n": "line 1: 'site' before '-A' looks like part of the pattern",
    "[AC] V\n": "line 1: '[AC]' before 'V' looks like part of the pattern",
    "A-x V\n": "line 1: 'A-x' before 'V' looks like part of the pattern",
    GCG + "lost 1\n": "line 7: 'lost 1' is not a pattern",
    "ID   LOST; PATTERN.\nAC   PS9;\n//\n": "line 1: entry 'PS9 LOST' has no PA line",
    ">m\nA [1 2]\nC [1 2]\nG [1]\nT [1 2]\n": "line 1: motif 'm' needs one row for each letter",
    ">m\nA [1 2]\nACGT\n": "line 3: 'ACGT' cannot be read here",
    ">m\nA [1 -2]\nC [1 2]\nG [1 2]\nT [1 2]\n": "line 1: motif 'm': column 2 contains no counts",
    ">m\nA [1 0]\nC [1 0]\nG [1 0]\nT [1 0]\n": "line 1: motif 'm': column 2 contains no counts",
    ">m\nA [1.2.3 0]\nC [1 0]\nG [1 0]\nT [1 0]\n": "line 2: '1.2.3 0' cannot be read here",
    "MEME version 5\nMOTIF m\nletter-probability matrix: w= 1\n 1 0 0\n": "line 3: motif 'm' has no matrix",
    "MEME version 5\nMOTIF m\n": "contains no motif",
    "MEME version 5\nALPHABET \"DNA\" DNA-LIKE\n": "line 2: 'ALPHABET \"DNA\" DNA-LIKE' cannot be read here",
    "P0 A C G T\n01 1 2 3\n//\n": "line 1: motif 'line 1' has no matrix",
    "P0 A C G T\n01 1 2 3 4\n02 1 2\n//\n": "line 1: motif 'line 1' has rows of different lengths",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD_FILES)
def test_bad_files_are_one_line(tmp_path, text):
    file = tmp_path / "motifs.txt"
    file.write_text(text)
    with pytest.raises(SeqkernError) as error:
        MotifKernel(str(file))(encode(["ACGT"]))
    line = str(error.value)
    assert line.startswith(f"{file}: {BAD_FILES[text]}")
    assert "; " in line
    assert "\n" not in line


def test_a_fasta_file_is_not_called_a_bad_matrix_alone(tmp_path):
    (tmp_path / "m").write_text(">a sequence\nMKVLAA\n")
    with pytest.raises(ParameterError, match=r"read as JASPAR because a line begins with >"):
        MotifKernel(str(tmp_path / "m")).features.names()


def test_a_missing_file_and_a_pattern_that_is_no_list():
    with pytest.raises(FileError, match="there is no file 'TATAWAW'; check the path, or put patterns in brackets"):
        MotifKernel("TATAWAW")(encode(["ACGT"]))
    with pytest.raises(ParameterError, match="did you mean 'prosite1995'"):
        MotifKernel("public:prosite95")(encode(["ACGT"]))


def test_names_are_distinct_and_printable(tmp_path):
    (tmp_path / "m").write_text("a A-C\na A-G\nA\nA\n<b>\t\x7f&x C\n" + "n" * 300 + " G\n")
    names = MotifKernel(str(tmp_path / "m")).features.names()
    assert names == ["a", "a.2", "A", "A.2", "<b>  &x", "n" * 80]
    assert MotifKernel(["A", "A"]).features.names() == ["A", "A.2"]


def test_command_line_and_config(tmp_path, capsys):
    X = random_strings(8, 20, 40, masked=0)
    fasta, listed, out = tmp_path / "x.fa", tmp_path / "motifs.txt", tmp_path / "gram.npy"
    fasta.write_text("".join(f">r{i}\n{string}\n" for i, string in enumerate(X)))
    texts = ["A-[CG]-T", "TATAWAW", "G-x(1,2)-{A}", "W"]
    listed.write_text("\n".join(texts))
    K = MotifKernel(texts)(X)
    config = {"kernel": "motif", "motifs": texts}
    for spec in (f"motif:motifs={listed}", json.dumps(config)):
        assert main(["gram", str(fasta), "--kernel", spec, "-o", str(out)]) == 0
        assert "motifs that match nothing" in capsys.readouterr().err
        np.testing.assert_array_equal(np.load(out), K)
        out.unlink()
    inline = build_kernel("motif:motifs=[TATAWAW,G-x-{A},W]")
    assert inline.motifs == ["TATAWAW", "G-x-{A}", "W"]
    assert files(build_kernel("motif:motifs=public:prosite1995")) == ("public:prosite1995",)
    assert main(["gram", str(fasta), "--kernel", f"motif:motifs={tmp_path / 'lost'}", "-o", str(out)]) == 1
    assert "lost'; check the path, or put patterns in brackets" in capsys.readouterr().err
    assert main(["gram", str(fasta), "--kernel", "motif", "-o", str(out)]) == 1
    assert "needs the parameter 'motifs'" in capsys.readouterr().err


def test_names_are_escaped_where_they_are_shown(tmp_path):
    (tmp_path / "m").write_text("<script>alert(1)</script> A\n../../x C\n<G G\n")
    X = encode(random_strings(20, 20, 40, masked=0))
    model = train_model(X, make_labels(X.ids, ["a", "b"] * 10), MotifKernel(str(tmp_path / "m")), "csvc:C=1")
    write_explanation(Explainer(model), [X.take([0, 1])], tmp_path / "out", model="m", fasta="f")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "out"]
