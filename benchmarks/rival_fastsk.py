"""FastSK (Blakely et al. 2020), run in an environment of its own: reads strings, g, m; prints CPU seconds and K21."""

import json
import sys
import time

import numpy as np
from fastsk import FastSK

strings, g, m = (json.loads(line) for line in sys.stdin)
strings = [string.upper() for string in strings]
letters = {letter: code for code, letter in enumerate(sorted(set("".join(strings))))}
codes = [[letters[letter] for letter in string] for string in strings]
machine = FastSK(g=g, m=m, t=1, approx=False)
start = time.process_time()
machine.compute_train(codes)
seconds = time.process_time() - start
K = np.array(machine.get_train_kernel())
print()
print(json.dumps({"seconds": seconds, "K21": float(K[1, 0])}))
