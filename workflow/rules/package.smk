# Where the workflow finds the package, and what it uses of it with every configuration.
import sys
from pathlib import Path

ROOT = Path(str(workflow.current_basedir)).resolve().parent.parent
# Snakemake searches modules beside the Snakefile first: the source folder must not hide an installed seqkern.
if not any((ROOT / "seqkern" / "kernels").glob("_blocks.*.*")):
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]

from seqkern.study.workflow import explain_failures
from seqkern.study.workflow import free_study, record_locks, show_progress

RUNS = ".snakemake/seqkern"  # which locks of Snakemake belong to which run, and the studies that jobs read
