"""parasail or pyopal, run in an environment of its own: Smith-Waterman scores of all pairs, BLOSUM62, gaps 11 and 1.

Reads the program's name and strings; prints CPU seconds and the sum of the scores.
"""

import json
import sys
import time

import numpy as np

program, strings = (json.loads(line) for line in sys.stdin)
n = len(strings)
scores = np.zeros((n, n))


def by_parasail():
    """Fill the scores by parasail, a profile for each row."""
    import parasail

    for i, string in enumerate(strings):
        profile = parasail.profile_create_sat(string, parasail.blosum62)
        for j in range(i + 1):
            scores[i, j] = scores[j, i] = parasail.sw_striped_profile_sat(profile, strings[j], 11, 1).score


def by_pyopal():
    """Fill the scores by pyopal, each row a search in a database of the sequences up to it."""
    import pyopal
    from scoring_matrices import ScoringMatrix

    aligner = pyopal.Aligner(ScoringMatrix.from_name("BLOSUM62"), gap_open=11, gap_extend=1)
    database = pyopal.Database(strings)
    for i, string in enumerate(strings):
        for hit in aligner.align(string, database, end=i + 1):
            scores[i, hit.target_index] = scores[hit.target_index, i] = hit.score


run = {"parasail": by_parasail, "pyopal": by_pyopal}[program]
start = time.process_time()
run()
print(json.dumps({"seconds": time.process_time() - start, "total": scores.sum()}))
