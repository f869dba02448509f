"""Requests: frozen, checked by their declarations and rules, completed by the shell."""

import shutil
import subprocess

import pytest

from seqkern.cli.main import VERBS, Parser, main, request_class
from seqkern.cli.options import Request, all_of, argument, excludes, only_with, option, study_gives
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, flag, integer, text


class Rounds(Request, group=("rounds", "of a toy")):
    rounds: int | None = option("how many", integer(default=None, low=1), metavar="N")
    quick: bool = option("fewer of them", flag(default=False))
    rules = all_of(only_with("kind=b|word", "rounds"), excludes("rounds", "quick"))


class ToyRequest(Rounds):
    word: str | None = argument("a word", text(default=None))
    kind: str = option("which", choice(default="a", choices=("a", "b")), short="-k")
    study: str | None = option("a file")
    rules = all_of(study_gives("quick"))


def test_a_request_does_not_change():
    request = ToyRequest(word="x")
    with pytest.raises(AttributeError, match="kind"):
        request.kind = "b"
    other = request.but(kind="b")
    assert (request.kind, other.kind, other.word, other.verb()) == ("a", "b", "x", "toy")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rounds": 2}, "--rounds needs --kind b or word; add --kind b or word, or remove --rounds"),
        ({"rounds": 2, "kind": "b", "quick": True}, "--quick does not work with --rounds; remove --quick"),
        ({"quick": True, "study": "s.yaml"}, "--quick is set by --study; remove --quick"),
    ],
)
def test_rules_name_both_options_and_the_remedy(given, said):
    with pytest.raises(ParameterError) as error:
        ToyRequest(**given).check_rules()
    assert str(error.value) == said


def test_own_options_come_first_and_groups_keep_their_titles():
    parser = Parser(prog="seqkern toy")
    ToyRequest.add_arguments(parser)
    text = parser.format_help()
    assert text.index("--kind") < text.index("rounds:") < text.index("of a toy") < text.index("--rounds")


def test_rules_name_options_of_the_verb(monkeypatch):
    for verb in VERBS:
        named = set()
        monkeypatch.setattr(Request, "has", lambda self, name, named=named: named.add(name.partition("=")[0]))
        cls = request_class(verb)
        request = cls(**{name: None for name, item in cls.declarations().items() if item.required})
        for base in cls.__mro__:
            for rule in vars(base).get("rules", ()):
                try:
                    rule(request)
                except ParameterError:
                    continue
        assert named <= set(cls.declarations()), verb


@pytest.mark.skipif(shutil.which("bash") is None, reason="runs the script in bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [("seqkern expl", "explain"), ("seqkern cv a.fa --inner-", "--inner-folds"), ("seqkern init --profile s", "slurm")],
)
def test_bash_completes_verbs_options_and_choices(words, found, capsys):
    assert main(["--completion", "bash"]) == 0
    script = capsys.readouterr().out
    ask = f'COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _seqkern; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [found]


@pytest.mark.skipif(shutil.which("fish") is None, reason="runs the script in fish")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("seqkern expl", "explain\tshow how residues and k-mers contribute to a model's decisions"),
        ("seqkern cv a.fa --inner-", "--inner-folds\tfolds of the inner cross-validation, which chooses"),
        ("seqkern init --profile s", "slurm\talso copy this profile of Snakemake, to edit"),
    ],
)
def test_fish_completes_verbs_options_and_choices_with_their_meaning(line, found, capsys):
    assert main(["--completion", "fish"]) == 0
    script = f"{capsys.readouterr().out}\ncomplete -C'{line}'"
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [found]
