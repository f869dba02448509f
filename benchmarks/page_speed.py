"""Size and speed of models as pages: 10,000 sequences scored in Chromium by `engine.js`, beside `predict`.

python benchmarks/page_speed.py
"""

import shutil
import time

import numpy as np
from playwright.sync_api import sync_playwright

from seqkern.kernels import build_kernel
from seqkern.methods.page_export import export_model
from seqkern.methods.training import train_model
from seqkern.report.model_page import render_model_page
from seqkern.report.page_frame import ASSETS
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

MODELS = [
    ("spectrum:k=6", "dna", 300),
    ("spectrum:k=3", "protein", 300),
    ("mismatch:k=6,m=1", "dna", 300),
    ("mismatch:k=3,m=1", "protein", 300),
    ("gapped_kmer:l=6,k=4,reverse_complement=true", "dna", 300),
    ("gapped_kmer:l=10,k=6,reverse_complement=true", "dna", 300),
    ("gapped_kmer:l=11,k=7,reverse_complement=true", "dna", 300),
    ("gapped_kmer:l=4,k=2", "protein", 300),
    ("spectrum:k=1+2+3+mismatch:k=4,m=1", "dna", 300),
    ("weighted_degree:degree=6", "dna", 60),
    ("weighted_degree:degree=20", "dna", 300),
    ("shifted_weighted_degree:degree=20,shift=10", "dna", 60),
]
RUN = """([engine, model, text]) => new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob([engine], {type: "text/javascript"})));
    const decisions = [], times = [performance.now()];
    worker.onerror = event => reject(new Error(event.message));
    worker.onmessage = ({data}) => {
        if (data.type === "ready") { times.push(performance.now()); worker.postMessage({type: "score", job: 1, text}); }
        if (data.type === "rows") decisions.push(...data.decisions);
        if (data.type === "done") { times.push(performance.now()); resolve({decisions, times}); }
    };
    worker.postMessage({type: "load", model});
})"""


def main() -> None:
    """Print a row for each model."""
    rng, engine = np.random.default_rng(1), (ASSETS / "engine.js").read_text(encoding="utf-8")
    print("kernel\tresidues\tpage, MB\tload, ms\t10,000 sequences, ms\tpredict, ms\tlargest difference")
    with sync_playwright() as running:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        page = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        for kernel, alphabet, length in MODELS:
            letters = list("ACGT" if alphabet == "dna" else "ACDEFGHIKLMNPQRSTVWY")
            texts = ["".join(rng.choice(letters, length)) for _ in range(10_400)]
            X, new = as_sequences(texts[:400], alphabet), as_sequences(texts[400:], alphabet)
            labels = make_labels(X.ids, ["a", "b"] * 200, positive="b")
            model = train_model(X, labels, build_kernel(kernel), "csvc:C=1")
            export = export_model(model, allow_sequences=True) | {"name": "model", "digest": ""}
            size = len(render_model_page(model, export, "model", "seqkern page model.seqkern")) / 1e6
            fasta = "".join(f">{i}\n{text}\n" for i, text in enumerate(texts[400:]))
            found = page.evaluate(RUN, [engine, export, fasta])
            start = time.perf_counter()
            expected = model.decision(new)
            taken = 1000 * (time.perf_counter() - start)
            load, scoring = np.diff(found["times"])
            error = np.abs(np.array(found["decisions"]) - expected).max()
            print(f"{kernel}\t{length}\t{size:.2f}\t{load:.0f}\t{scoring:.0f}\t{taken:.0f}\t{error:.0e}", flush=True)


if __name__ == "__main__":
    main()
