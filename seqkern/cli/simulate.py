"""``seqkern simulate``: write simulated sequences as FASTA and TSV."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable
from typing import Any, Self

from seqkern.cli.options import Request, argument, option
from seqkern.core.checks import check_int, check_number
from seqkern.core.parameters import anything, integer, text
from seqkern.simulate import KINDS, find_generator, parameters, simulate, write_simulated

START = "parameter:"
"""Start of the names of the generators' parameters in parsed arguments."""


READERS: dict[type, Callable[[str], Any]] = {float: check_number, int: check_int, str: str}


class _ListKinds(argparse.Action):
    """The action of ``--list``: print the kinds with their parameters, and exit."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        for kind in KINDS:
            print(f"{kind}: {(inspect.getdoc(find_generator(kind)) or kind).splitlines()[0]}")
            meanings = _meanings(kind)
            for name, default in parameters(kind).items():
                print(f"  {f'{name}={default}':<24} {meanings[name]}")
        parser.exit()


def _meanings(kind: str) -> dict[str, str]:
    """Return the meaning of each parameter of a kind, from the docstring of its generator."""
    section = (inspect.getdoc(find_generator(kind)) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    meanings: dict[str, str] = {}
    for names, meaning in re.findall(r"^(\w.*?) : .*\n((?: +.*\n?)+)", section, flags=re.MULTILINE):
        meanings.update(dict.fromkeys(names.split(", "), " ".join(meaning.split())))
    return meanings


class SimulateRequest(Request):
    """Simulated sequences; the parameters of the generators are options as well."""

    kind: str = argument(f"kind of data: {', '.join(KINDS)}")
    output: str = option(
        "output prefix: writes PREFIX.fasta and PREFIX.tsv; for genes PREFIX.gtf instead, for secondary structure also "
        "PREFIX.states; for receptors PREFIX.tsv and a FASTA file of each chain; for peaks, an output folder: "
        "genome.fa, peaks.narrowPeak, sites.bed, variants.vcf, motifs.meme",
        text(),
        short="-o",
        metavar="PREFIX",
    )
    seed: int = option("random seed (default: 1)", integer(default=1))
    parameters: dict[str, Any] = anything(default={})
    EXAMPLE = "seqkern simulate donor --n-positive 200 --n-decoy 400 --seed 1 -o donors"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add the options, with one for each parameter of each kind."""
        super().add_arguments(parser)
        parser.add_argument("--list", action=_ListKinds, nargs=0, help="list the kinds and their parameters")
        known: set[str] = set()
        for kind in KINDS:
            own = parameters(kind)
            shared = ", ".join(f"--{name.replace('_', '-')} (default: {own[name]})" for name in own if name in known)
            group = parser.add_argument_group(f"parameters of {kind}", f"also {shared}" if shared else None)
            meanings = _meanings(kind)
            for name, default in own.items():
                if name in known:
                    continue
                known.add(name)
                text = meanings[name].replace("%", "%%")
                group.add_argument(
                    f"--{name.replace('_', '-')}",
                    dest=f"{START}{name}",
                    type=READERS[type(default)],
                    default=argparse.SUPPRESS,
                    metavar={float: "X", int: "N", str: "NAME"}[type(default)],
                    help=f"{text} Default: {default}.",
                )

    @classmethod
    def of(cls, namespace: argparse.Namespace) -> Self:
        """Return the request, with the parameters that are given."""
        given = vars(namespace).items()
        namespace.parameters = {name.removeprefix(START): value for name, value in given if name.startswith(START)}
        return super().of(namespace)


def run(request: SimulateRequest) -> None:
    """Generate the sequences, write the files and print their paths."""
    for path in write_simulated(simulate(request.kind, request.seed, **request.parameters), request.output):
        print(path)
