"""``seqkern init`` and ``seqkern demo``: the folder of a new study, and a demo in one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import yaml

from seqkern.cli.requests import POLICIES
from seqkern.cli.requests_studies import DemoRequest
from seqkern.cli.requests_training import CvRequest, InitRequest
from seqkern.cli.training_input import read_input, read_training, with_columns
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import ParameterError
from seqkern.core.progress import pause
from seqkern.evaluation.auto import LENIENT, default_solver, traits_of
from seqkern.evaluation.fold_methods import options_of
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.workflow import WORKFLOW, is_demo, write_study_folder

STARTER = {
    "fasta": {"positive": "positive.fa", "negative": "negative.fa"},
    "folds": {"method": "stratified", "k": 5},
}
"""The data set of a study without files."""


def run_init(request: InitRequest) -> None:
    """Run ``seqkern init``."""
    home = Path(request.folder)
    config, summary = (None, "") if request.demo else _study(request, home)
    path = write_study_folder(home, config=config, profile=request.profile)
    if summary:
        print(f"{path}: {summary}")
    options = "--cores all"
    if request.profile:
        print(f"edit {home / 'profiles' / request.profile / 'config.yaml'}: enter partition and account")
        options = f"--workflow-profile profiles/{request.profile}"
    print(f"then run: cd {shlex.quote(request.folder)} && snakemake {options}")
    print(f"the report will be {home / 'results' / ('demo' if request.demo else '') / 'report' / 'index.html'}")


def _study(request: InitRequest, home: Path) -> tuple[str, str]:
    """Return the configuration of a study, and a summary of its sequences."""
    entry: Mapping[str, Any] = STARTER
    kernel, solver, summary = {"kernel": "spectrum", "k": 3}, "csvc", "enter your FASTA files"
    if request.fasta:
        entry, kernel, solver, summary = _read(request)
    template = (WORKFLOW / "study" / "config.yaml").read_text(encoding="utf-8")
    name = re.sub(r"[^\w.-]+", "_", home.resolve().name) or "study"
    keys = "\n    ".join(f"{key}: {_yaml(value)}" for key, value in entry.items())
    return template.format(name=name, entry=keys, spec=_yaml(kernel), solver=solver), summary


def _yaml(value: Any) -> str:
    """Return a value in YAML, in one line."""
    text: str = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.strip()[1:-1]


def _read(request: InitRequest) -> tuple[dict[str, Any], dict[str, Any], str, str]:
    """Return the entry of the sequences, a simple kernel and a solver that suit them, and a summary."""
    if "-" in request.fasta:
        raise ParameterError("a study cannot read standard input", remedy="give a file")
    given = read_input(read_training(with_columns(request.converted(CvRequest))))
    X, labels, home = cast(SequenceSet, given.X), given.labels, os.path.realpath(request.folder)
    usual = {name for name in POLICIES if not request.has(name)}
    entry = {key: _moved(value, home) for key, value in given.entry.items() if key not in usual}
    keys = {key: value for key, value in entry.pop("labels").items() if (key, value) != ("label", "label")}
    keys |= {"kind": "real"} if labels.kind == "real" else {}
    entry |= {"labels": keys} if keys else {}
    counts = np.bincount(labels.y).tolist() if labels.kind in ("binary", "multiclass") else []
    if "genome" not in entry:  # else the folds hold out whole chromosomes
        column = "predefined" if labels.folds is not None else "grouped" if labels.groups is not None else "stratified"
        method = "locus" if "sites" in entry else column
        k = max(2, min(5, min(counts, default=len(labels)) // 2))
        entry["folds"] = {"method": method, **({"k": k} if "k" in options_of(method) else {})}
    classes = ", ".join(f"{name}: {count}" for name, count in zip(labels.classes, counts, strict=True)) or "numbers"
    positive = f"; positive class: {labels.classes[-1]}" if labels.kind == "binary" else ""
    both_strands = X.alphabet.name == "dna" and ("genome" in entry or traits_of(X).kind == "regions")
    kernel = {"kernel": "spectrum", **({"k": 4, "reverse_complement": True} if both_strands else {"k": 3})}
    kernel |= LENIENT if X.lengths.min() < 4 else {}
    return entry, kernel, default_solver(labels.kind, len(X)), f"{len(X)} sequences ({classes}{positive})"


def _moved(value: Any, home: str) -> Any:
    """Return a value of an entry, with the relative paths in it as seen from the study's folder."""
    if isinstance(value, dict):
        return {key: _moved(one, home) for key, one in value.items()}
    if isinstance(value, list):
        return [_moved(one, home) for one in value]
    is_path = isinstance(value, str) and not os.path.isabs(value) and os.path.isfile(value)
    return os.path.relpath(os.path.realpath(value), home) if is_path else value


def run_demo(request: DemoRequest) -> int:
    """Run ``seqkern demo``."""
    if not is_demo(request.folder):  # else one that was stopped goes on
        write_study_folder(request.folder)
    pause()  # Snakemake shows the progress
    command = [sys.executable, "-m", "snakemake", "--cores", str(request.cores)]
    # the rules call the seqkern command installed beside this Python
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    with subprocess.Popen(command, cwd=request.folder, env={**os.environ, "PATH": path}) as snakemake:
        try:
            return snakemake.wait()
        except KeyboardInterrupt:
            note_kept()
            snakemake.terminate()  # lets it end the jobs that are running, and remove its locks
            snakemake.wait()
            raise
