"""Disturb seqkern's verbs, and see what is left: ``python tests/faults/rounds.py --rounds 100 --verb all``.

Each round runs a command in a fork of this process, which has imported what the command needs. The library of
`shim.c`, compiled here and preloaded, sends a signal or an error at a call that the seed chooses, anywhere between the
first and the last access to the files; every other signal, on average, comes at any time. Then the same command is
repeated without a fault, once for each state of the files that the rounds have left.

| column | counts |
|---|---|
| tried | rounds |
| hit | the fault came before the command had ended |
| lost | an output is damaged under its final name, or the repeated command gives other bytes |
| silent | success was reported without the right bytes, or failure without one line |
| traceback | a traceback was printed |
| litter | temporary files that SIGTERM, SIGINT or an error left; of SIGKILL: that the repeated command left |
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # not there with PYTHONSAFEPATH


def compile_shim(folder: Path) -> Path | None:
    """Return the compiled shim; None without a C compiler."""
    library = folder / "shim.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "shim.c"), "-ldl"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library


def main() -> int:
    """Run the rounds in a process with the shim; return 1 if anything was lost, silent, a traceback or litter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of each command and fault (default: 5)")
    parser.add_argument("--verb", nargs="+", default=["all"], help="names in verbs.py (default: all)")
    parser.add_argument("--fault", nargs="+", default=["all"], help="names in disturbing.py (default: all)")
    parser.add_argument("--seed", type=int, default=None, help="default: the day")
    parser.add_argument("--keep", metavar="DIR", help="keep the folders of rounds that went wrong")
    parser.add_argument("--study", action="store_true", help="instead, kill the demo --rounds times, and continue it")
    args = parser.parse_args()
    seed = int(time.time() // 86400) if args.seed is None else args.seed
    if args.study:
        from killed_study import killed_study

        with tempfile.TemporaryDirectory() as folder:
            return int(killed_study(Path(folder), args.rounds, random.Random(seed)) > 0)
    if "SEQKERN_SHIM" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            library = compile_shim(Path(folder))
            if library is None:
                sys.exit("no C compiler (cc)")
            shim = {"LD_PRELOAD": str(library), "SEQKERN_SHIM": str(library), "OMP_NUM_THREADS": "1"}
            command = [sys.executable, __file__, *sys.argv[1:], "--seed", str(seed)]
            return subprocess.run(command, env={**os.environ, **shim}, check=False).returncode
    from disturbing import FAULTS, Bench  # only here: it loads the shim
    from verbs import COMMANDS

    names = list(COMMANDS) if args.verb == ["all"] else args.verb
    faults = list(FAULTS) if args.fault == ["all"] else args.fault
    columns = ("tried", "hit", "lost", "silent", "traceback", "litter")
    wrong, total = 0, {}
    print(f"seed {seed}\nverb\tfault\t" + "\t".join(columns), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for name in names:
            for fault in faults:
                draw = random.Random(f"{seed} {name} {fault}")
                rounds = [bench.round(name, fault, draw, args.keep) for _ in range(args.rounds)]
                counts = {column: sum(column in one for one in rounds) for column in columns}
                wrong += sum(counts[column] for column in columns[2:])
                sums = total.setdefault(fault, dict.fromkeys(columns, 0))
                for column in columns:
                    sums[column] += counts[column]
                print(name, fault, *counts.values(), sep="\t", flush=True)
    for fault, sums in total.items():
        print("all", fault, *sums.values(), sep="\t")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
