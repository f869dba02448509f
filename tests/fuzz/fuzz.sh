#!/usr/bin/env bash
# Fuzz all readers for some hours on two cores: fuzz.sh HOURS [FOLDER for inputs that fail]. Half of the time belongs to
# atheris, if it is installed. The last lines are a table of what was tried.
set -euo pipefail
cd "$(dirname "$0")/../.."
hours=${1:?usage: fuzz.sh HOURS [FOLDER]}
engine=own engines=1
if python -c 'import atheris' 2> /dev/null; then engine=both engines=2; fi
readers=$(PYTHONPATH="tests/fuzz:${PYTHONPATH:-}" python -c 'import fuzz_readers; print(len(fuzz_readers.READERS))')
seconds=$(python -c "print(max(1, $hours * 3600 * 2 / $readers / $engines))")
exec python tests/fuzz/fuzz_run.py --engine $engine --jobs 2 --seconds "$seconds" --seed "$(date +%Y%m%d)" --findings "${2:-fuzz-findings}"
