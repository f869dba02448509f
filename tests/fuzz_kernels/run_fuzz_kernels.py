"""Random kernels and solvers on random data: ``run_fuzz_kernels.py --seconds 3600 --seed 7``.

``--case N`` repeats one, in this process.
"""

import argparse
import sys

from fuzz_cases import run_case, run_cases


def main():
    """Print what fails and a table of outcomes; the exit status is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    if options.case is not None:
        kind, outcome, text = run_case(options.seed, options.case)
        print(f"{kind} {outcome}: {text}")
        return outcome == "failed"
    outcomes = run_cases(options.seed, options.seconds)
    print(f"seed {options.seed}: {outcomes.total()} cases in {options.seconds:g} s")
    for name, count in sorted(outcomes.items()):
        print(f"{name:16} {count:8}")
    return not set(outcomes) <= {f"{kind} {end}" for kind in ("kernel", "solver") for end in ("passed", "refused")}


if __name__ == "__main__":
    sys.exit(main())
