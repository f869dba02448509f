"""``seqkern init`` and ``seqkern demo``: the folder of a new study, and a demo in one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from seqkern.cli.requests_studies import DemoRequest, InitRequest
from seqkern.core.checkpoint import note_kept
from seqkern.study.workflow import STARTER, is_demo, write_workflow


def run_init(request: InitRequest) -> None:
    """Run ``seqkern init``."""
    name = re.sub(r"[^\w.-]+", "_", Path(request.folder).resolve().name) or "study"
    path = write_workflow(
        request.folder, config=None if request.demo else STARTER.format(name=name), profile=request.profile
    )
    if not request.demo:
        print(f"edit {path}: enter your FASTA files")
    options = "--cores all"
    if request.profile:
        print(f"edit {Path(request.folder, 'profiles', request.profile, 'config.yaml')}: enter partition and account")
        options = f"--workflow-profile profiles/{request.profile}"
    print(f"then run: cd {shlex.quote(request.folder)} && snakemake {options}")


def run_demo(request: DemoRequest) -> int:
    """Run ``seqkern demo``."""
    if not is_demo(request.folder):  # else one that was stopped goes on
        write_workflow(request.folder)
    command = [sys.executable, "-m", "snakemake", "--cores", request.cores, "--quiet", "rules"]
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
