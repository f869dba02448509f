"""``seqkern datasets``: read, check and encode one data set of a study; or list the public data sets."""

from __future__ import annotations

import json
import re

from seqkern.cli.output import log_unlabelled
from seqkern.cli.requests_studies import DatasetsRequest
from seqkern.core.errors import ConfigError, SeqkernError
from seqkern.core.public_files import public_sets
from seqkern.sequences.alphabets import count_texts
from seqkern.study.data_entry import DataEntry
from seqkern.study.dataset import Dataset, make_dataset, save_dataset
from seqkern.study.study import Study, check_dataset_entry


def run(request: DatasetsRequest) -> int:
    """Write one data set, or print the list."""
    if request.list:
        return _list()

    name, entry, data_dir, seed = _chosen(request)
    try:
        dataset = make_dataset(name, entry, data_dir=data_dir, seed=seed, n_threads=request.threads)
    except SeqkernError as error:
        # Each log line has to name its data set.
        if error.file is None:
            error.file = f"data set {name}"
        error.remedy = _as_keys(error.remedy)
        raise
    save_dataset(dataset, request.output)
    log_unlabelled(dataset, f"data set {name}", learned=None)
    counts = "".join(f"; {text}" for text in count_texts(dataset.X.counts))
    print(f"{request.output}: {len(dataset.X)} {_noun(dataset)}, tasks: {len(dataset.tasks)}{counts}")
    return 0


def _as_keys(remedy: str | None) -> str | None:
    """Return a remedy with configuration keys in place of options, since a study has no options."""
    if remedy is None:
        return None
    keys = re.sub(
        r"--(unknown|ids|empty|missing|other-sites|past-end|alphabet) ",
        lambda found: found[1].replace("-", "_") + ": ",
        remedy.replace("--strip-gaps does", "gaps: strip does").replace("(--alphabet)", "(alphabet: …)"),
    )
    return remedy if keys == remedy else f"{keys} to the data set's entry"


def _noun(dataset: Dataset) -> str:
    """Return the noun for the samples of a data set."""
    if dataset.residues is not None:
        return f"residues of {len(dataset.residues.chains)} chains"
    return "sequences" if dataset.kind == "sequences" else "samples"


def _chosen(request: DatasetsRequest) -> tuple[str, DataEntry, str | None, int]:
    """Return the name, entry, folder of local copies, and seed from the arguments and the study."""
    if request.name is None or not request.output or (request.config is None) == (request.entry is None):
        raise ConfigError(
            "arguments are missing: --name, -o, and a study or --entry", remedy=f"example: {DatasetsRequest.EXAMPLE}"
        )
    if request.entry is not None:
        try:
            entry = json.loads(request.entry)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"--entry is not JSON: {error}", remedy="correct the JSON") from error
        if not isinstance(entry, dict):
            raise ConfigError("--entry is not a JSON object", remedy='write {"public": "globins"}')
        data = check_dataset_entry(request.name, entry, file="--entry").data
        return request.name, data, request.data_dir, 1 if request.seed is None else request.seed
    study = Study.load(request.config)
    settings = study.settings_of("datasets", request.name)
    study.check_files(request.name, file=request.config)
    seed = settings["seed"] if request.seed is None else request.seed
    return request.name, DataEntry.parse(settings["entry"]), request.data_dir or settings["data_dir"], seed


def _list() -> int:
    """Print the registry of public data sets as a table."""
    print("name", "kind", "files", "description", "reference", sep="\t")
    for item in public_sets().values():
        files = ",".join(file.file for file in item.files.values())
        print(item.name, item.kind, files, item.description, item.reference, sep="\t")
    return 0
