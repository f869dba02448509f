"""strkernels, run in an environment of its own: reads strings, a kernel's class and its parameters.

Prints CPU seconds, the first row, and K21 normalised.
"""

import json
import sys
import time

import strkernels

strings, name, parameters = (json.loads(line) for line in sys.stdin)
kernel = getattr(strkernels, name)(**parameters)
kernel(strings[:2], strings[:2])
start = time.process_time()
K = kernel(strings, strings)
seconds = time.process_time() - start
print()
print(json.dumps({"seconds": seconds, "row": K[0].tolist(), "K21": K[0, 1] / (K[0, 0] * K[1, 1]) ** 0.5}))
