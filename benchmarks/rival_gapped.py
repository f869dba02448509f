"""kmer-learn or gkmsvm-lite, run in an environment of its own.

Reads a way, strings and its parameters: ``kmer-learn`` and ``gkmsvm-lite``, the truncated gapped k-mer kernel of both
strands for l, k, d; ``mismatch``, counts by kmer-learn for k, m and a sparse product. Prints CPU seconds and K21,
normalised.
"""

import json
import sys
import time

way, strings, *parameters = (json.loads(line) for line in sys.stdin)
strings = [string.upper() for string in strings]


def kmer_learn(l, k, d):  # noqa: E741
    """Return the matrix by kmer-learn."""
    from kmer.kernels import GKMKernel

    return GKMKernel(L=l, k=k, d=d, kernel_type="truncated", use_rc=True).kernel(X_ref=strings)


def mismatch(k, m):
    """Return the matrix by kmer-learn's counts of k-mers with mismatches."""
    from kmer.encoders import MismatchEncoder
    from sklearn.preprocessing import normalize

    rows = normalize(MismatchEncoder(k=k, m=m).fit_transform(strings).astype("float64"))
    return (rows @ rows.T).toarray()


def gkmsvm_lite(l, k, d):  # noqa: E741
    """Return the matrix by gkmsvm-lite."""
    from gkmsvm.gram import compute_gram
    from gkmsvm.train import _build_kernel, _to_onehot

    kernel = _build_kernel("gkm_esttrunc", l, k, d, 1.0, None, None, True)[0]
    return compute_gram(kernel, _to_onehot(strings))


run = {"kmer-learn": kmer_learn, "gkmsvm-lite": gkmsvm_lite, "mismatch": mismatch}[way]
whole, strings = strings, strings[:4]
run(*parameters)  # compiles, where the program does
strings = whole
start = time.process_time()
K = run(*parameters)
print(json.dumps({"seconds": time.process_time() - start, "K21": float(K[1, 0])}))
