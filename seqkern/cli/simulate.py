"""``seqkern simulate``: write simulated sequences as FASTA and TSV."""

from __future__ import annotations

import argparse
import inspect
import re
from typing import Any

from seqkern.cli.listing import summary
from seqkern.simulate import KINDS, find_generator, parameters, simulate, write_simulated

EXAMPLE = "seqkern simulate donor --n-positive 200 --n-decoy 400 --seed 1 -o donors"


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
            print(f"{kind}: {summary(find_generator(kind))}")
            meanings = _meanings(kind)
            for name, default in parameters(kind).items():
                print(f"  {f'{name}={default}':<24} {meanings[name]}")
        parser.exit()


def _meanings(kind: str) -> dict[str, str]:
    """Return the meaning of each parameter of a kind, from the docstring of its generator."""
    section = (inspect.getdoc(find_generator(kind)) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    meanings: dict[str, str] = {}
    for names, text in re.findall(r"^(\w.*?) : .*\n((?: +.*\n?)+)", section, flags=re.MULTILINE):
        meanings.update(dict.fromkeys(names.split(", "), " ".join(text.split())))
    return meanings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments: one option for each parameter of each kind."""
    parser.add_argument("kind", help=f"kind of data: {', '.join(KINDS)}")
    files = (
        "output prefix: writes PREFIX.fasta and PREFIX.tsv; for genes PREFIX.gtf instead, for secondary structure also "
        "PREFIX.states; for receptors PREFIX.tsv and a FASTA file of each chain; for peaks, an "
        "output folder: genome.fa, peaks.narrowPeak, sites.bed, variants.vcf, motifs.meme"
    )
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX", help=files)
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
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
                dest=f"parameter:{name}",
                type=type(default),
                default=argparse.SUPPRESS,
                metavar={float: "X", int: "N", str: "NAME"}[type(default)],
                help=f"{text} Default: {default}.",
            )


def run(args: argparse.Namespace) -> None:
    """Generate the sequences, write the files and print their paths."""
    start = "parameter:"
    params = {name[len(start) :]: value for name, value in vars(args).items() if name.startswith(start)}
    for path in write_simulated(simulate(args.kind, args.seed, **params), args.output):
        print(path)
