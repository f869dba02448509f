"""strkernels, run in an environment of its own: reads strings, n, decay; prints CPU seconds and the first row."""

import json
import sys
import time

from strkernels import SubsequenceStringKernel

strings, n, decay = (json.loads(line) for line in sys.stdin)
kernel = SubsequenceStringKernel(maxlen=n, ssk_lambda=decay)
kernel(strings[:2], strings[:2])
start = time.process_time()
K = kernel(strings, strings)
seconds = time.process_time() - start
print()
print(json.dumps({"seconds": seconds, "row": K[0].tolist()}))
