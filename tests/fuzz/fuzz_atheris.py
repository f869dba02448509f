"""The engine of atheris: libFuzzer, guided by the coverage of seqkern's Python code; half of the changes are ours."""

import random
import tempfile
import time
from pathlib import Path


def fuzz(given: dict) -> None:
    """Fuzz one reader; does not return.

    Parameters
    ----------
    given : dict
        As for `fuzz_worker`.
    """
    import atheris

    with atheris.instrument_imports(include=["seqkern"]):
        from fuzz_worker import Worker

        worker = Worker(given)
    from fuzz_mutator import LARGEST, mutate

    worker.warm_up()
    end, index = time.monotonic() + given["seconds"], given["start"]

    def one(data: bytes) -> None:
        nonlocal index
        worker.one(data, index)
        index += 1

    def changed(data: bytes, largest: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return mutate(
                [data, *worker.seeds] if worker.reader.form == "plain" else worker.seeds,
                rng,
                worker.reader.form,
                largest,
            )
        return atheris.Mutate(data, largest)

    corpus = Path(given["folder"]) / "corpus"
    if not corpus.exists():
        corpus.mkdir()
        for number, seed in enumerate(worker.seeds):
            (corpus / f"seed{number}").write_bytes(seed)
    options = {
        "max_total_time": max(1, int(end - time.monotonic())),
        "runs": min(max(1, given["inputs"] - given["start"]), (1 << 31) - 1),
        "seed": given["seed"] + 1 + given["start"],
        "max_len": LARGEST,
        "rss_limit_mb": 0,
        "timeout": 0,
        "handle_alrm": 0,  # the harness uses the alarm
        "verbosity": 0,
        "artifact_prefix": tempfile.gettempdir() + "/",
    }
    atheris.Setup(
        ["fuzz", *(f"-{key}={value}" for key, value in options.items()), str(corpus)], one, custom_mutator=changed
    )
    with worker.harness.watch():
        atheris.Fuzz()
