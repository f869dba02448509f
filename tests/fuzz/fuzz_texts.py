"""Readers of configurations, and of options that are texts of a form of their own."""

import argparse
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import yaml
from fuzz_reader import Reader

from seqkern.cli.common import parse_study
from seqkern.cli.dataset_jobs import parse_checked as check_methods
from seqkern.cli.datasets import _chosen
from seqkern.cli.evaluate import parse_methods
from seqkern.cli.folds import _parsed as parsed_options
from seqkern.cli.main import VERBS, build_parser
from seqkern.core.errors import ParameterError
from seqkern.core.memory import parse_bytes
from seqkern.core.parts import Part
from seqkern.core.progress import parse_duration
from seqkern.gram.transforms import build_transform
from seqkern.gram.transforms.gram_transform import repair_transforms
from seqkern.sequences.windows import as_window
from seqkern.solvers.layers import build_layers
from seqkern.solvers.thresholds import parse_rule
from seqkern.study.apply_entries import Applications
from seqkern.study.kernel_entries import read_kernel
from seqkern.study.schema import read_config
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.study import Study
from seqkern.study.workflow import read_failures

KERNELS = (
    b"spectrum:k=3",
    b"mismatch:k=4|5,m=1",
    b"rbf:base=(spectrum:k=1+2,weights=[1,0.5]),gamma=0.1|1",
    b"0.5*spectrum:k=2+smith_waterman:matrix=BLOSUM62,gap_open=11*oligo:k=2,sigma=1.5",
    b'{"kernel": "weighted_degree", "degree": 3, "part": [0, 40]}',
    b'{"choose": [{"name": "a", "kernel": "spectrum", "k": 1}, {"name": "b", "kernel": "motif", "motifs": ["A-x-C"]}]}',
    b"generic_string:sigma_p=2,sigma_c=0.5,length=3",
)
SOLVERS = (
    b"csvc:C=[0.1,1,10]",
    b"nusvc:nu=0.1|0.5",
    b'{"solver": "psvc", "C": 1, "epsilon": 0.1}',
    b"pairwise_voting:binary=(csvc:C=1)",
)


def _configurations() -> list[bytes]:
    """Return the study's configurations that belong to seqkern."""
    found = [path.read_bytes() for path in sorted(ROOT.glob("config/*.yaml")) if path.stem != "apply"]
    small = {
        "study": "small",
        "datasets": {
            "d": {
                "simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 9},
                "folds": {"method": "stratified", "k": 3},
            }
        },
        "kernels": {"s": {"kernel": "spectrum", "k": 3}},
        "solvers": {"svm": {"solver": "csvc", "C": [0.1, 1]}},
        "memory_limit": "1GB",
    }
    own = [yaml.safe_dump(small, sort_keys=False).encode(), json.dumps(small).encode()]
    return [*own * 10, *found]  # the others are long, and YAML is slow


ROOT = Path(__file__).parents[2]
APPLY = (
    b"study: scores\nmodels: {ctcf: ctcf.seqkern}\napply:\n"
    b"  new: {fasta: data/a.fa.gz, options: --ids number}\ndivide: {bases: 10MB}\n"
)
LOG = (
    b"Error in rule gram:\n    jobid: 3\n    input: a.npz\n    log: logs/gram.log (check log files for details)\n"
    b"    shell:\n        seqkern gram\n"
)


def _apply(path: Path) -> None:
    config = read_config(path)
    if not isinstance(config, dict):
        raise ParameterError("is not a mapping", file=path)
    Applications.parse(config, file=path)


@cache
def _types() -> tuple[Callable[[str], object], ...]:
    """Return the functions that convert the values of options."""
    found = {}
    for verb in VERBS:
        actions = build_parser(verb)._actions
        found |= {(verb, one.dest): one.type for one in actions if one.type is not None}
    return tuple(found[name] for name in sorted(found))


def _values(text: str) -> None:
    """Convert a text by each of them; argparse makes one line of these exceptions."""
    for convert in _types():
        try:
            convert(text)
        except (argparse.ArgumentTypeError, ValueError, TypeError):
            continue


def _entry(text: str) -> None:
    _chosen(SimpleNamespace(name="d", output="o", config=None, entry=text, data_dir=None, seed=None))


def _options() -> list[bytes]:
    return [b'{"method": "locus", "gap": 400}', b'{"identity": 0.9}']


READERS = (
    Reader("kernel", read_kernel, lambda: KERNELS, ("--kernel",), of_text=True),
    Reader(
        "solver",
        lambda text: SolverEntry.parse(text, ranges=True),
        lambda: SOLVERS,
        ("--solver", "--method"),
        of_text=True,
    ),
    Reader(
        "layers", build_layers, lambda: [b"structure:window=7", b'[{"layer": "segments"}]'], ("--layers",), of_text=True
    ),
    Reader(
        "transform", build_transform, lambda: [b"centre", b'{"transform": "normalise"}'], ("--transform",), of_text=True
    ),
    Reader("repair", repair_transforms, lambda: [b"clip", b"empirical_map", b"none"], ("--repair",), of_text=True),
    Reader("window", as_window, lambda: [b"-60:+80"], ("--window",), of_text=True),
    Reader("threshold", parse_rule, lambda: [b"specificity=0.99", b"cost=1:5", b"mcc"], ("--threshold",), of_text=True),
    Reader("memory", parse_bytes, lambda: [b"2GB", b"1.5 GiB"], ("--memory",), of_text=True),
    Reader("duration", parse_duration, lambda: [b"10m", b"1.5h"], ("--time",), of_text=True),
    Reader("part", Part.parse, lambda: [b"3/7"], ("--part",), of_text=True),
    Reader(
        "values of other options",
        _values,
        lambda: [b"3", b"0.05", b"3/7", b"-5:10", b"esm=a.h5,ids=b", b"csvc"],
        ("--share", "--tile"),
        of_text=True,
    ),
    Reader(
        "study",
        Study.load,
        _configurations,
        ("datasets config", "--config", "--study", "--kernel-config"),
        ".yaml",
        slow=True,
    ),
    Reader("study, json", parse_study, lambda: _configurations()[1:2], of_text=True),
    Reader("configuration of applications", _apply, lambda: [APPLY], suffix=".yaml", slow=True),
    Reader(
        "entry of a data set",
        _entry,
        lambda: [b'{"public": "globins"}', b'{"fasta": "a.fa", "labels": {"from": "header"}}'],
        ("--entry",),
        of_text=True,
    ),
    Reader(
        "folds, options",
        lambda text: parsed_options("--options", text),
        _options,
        ("--options", "--leakage"),
        of_text=True,
    ),
    Reader(
        "methods",
        lambda text: (parse_methods(text), check_methods(text)),
        lambda: [b'{"svm": {"solver": "csvc:C=1"}}'],
        ("--methods",),
        of_text=True,
    ),
    Reader("log of a workflow", lambda text: list(read_failures(text)), lambda: [LOG], of_text=True),
)
