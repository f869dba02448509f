"""``seqkern datasets``: read, check and encode one data set of a study; or list the public data sets."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING

from seqkern.cli.common import add_threads

if TYPE_CHECKING:
    from seqkern.study.data_entry import DataEntry
    from seqkern.study.dataset import Dataset

EXAMPLE = "seqkern datasets config/config.yaml --name donors -o results/demo/datasets/donors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("config", nargs="?", help="YAML file of the study")
    parser.add_argument("--name", help="name of the data set in the study")
    parser.add_argument("--entry", help="data-set entry as JSON, instead of a study")
    parser.add_argument("-o", "--output", help="output folder for data.npz, units.tsv and summary.json")
    parser.add_argument("--data-dir", help="folder with local copies of public data sets")
    parser.add_argument("--seed", type=int, help="random seed (default: the study's, or 1)")
    add_threads(parser)
    parser.add_argument("--list", action="store_true", help="list the public data sets and exit")


def run(args: argparse.Namespace) -> int:
    """Write one data set, or print the list."""
    if args.list:
        return _list()
    # imported here to keep --help fast
    from seqkern.cli.training_input import log_unlabelled
    from seqkern.core.errors import SeqkernError
    from seqkern.sequences.alphabets import count_texts
    from seqkern.study.dataset import make_dataset, save_dataset

    name, entry, data_dir, seed = _chosen(args)
    try:
        dataset = make_dataset(name, entry, data_dir=data_dir, seed=seed, n_threads=args.threads)
    except SeqkernError as error:
        # Each log line has to name its data set.
        if error.file is None:
            error.file = f"data set {name}"
        error.remedy = _as_keys(error.remedy)
        raise
    save_dataset(dataset, args.output)
    log_unlabelled(dataset, f"data set {name}", learned=None)
    counts = "".join(f"; {text}" for text in count_texts(dataset.X.counts))
    print(f"{args.output}: {len(dataset.X)} {_noun(dataset)}, tasks: {len(dataset.tasks)}{counts}")
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


def _chosen(args: argparse.Namespace) -> tuple[str, DataEntry, str | None, int]:
    """Return the name, entry, folder of local copies, and seed from the arguments and the study."""
    # imported here to keep --help fast
    from seqkern.core.errors import ConfigError
    from seqkern.study.data_entry import DataEntry
    from seqkern.study.study import Study, check_dataset_entry

    if args.name is None or not args.output or (args.config is None) == (args.entry is None):
        raise ConfigError("arguments are missing: --name, -o, and a study or --entry", remedy=f"example: {EXAMPLE}")
    if args.entry is not None:
        try:
            entry = json.loads(args.entry)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"--entry is not JSON: {error}", remedy="correct the JSON") from error
        if not isinstance(entry, dict):
            raise ConfigError("--entry is not a JSON object", remedy='write {"public": "globins"}')
        data = check_dataset_entry(args.name, entry, file="--entry").data
        return args.name, data, args.data_dir, 1 if args.seed is None else args.seed
    study = Study.load(args.config)
    settings = study.settings_of("datasets", args.name)
    study.check_files(args.name, file=args.config)
    seed = settings["seed"] if args.seed is None else args.seed
    return args.name, DataEntry.parse(settings["entry"]), args.data_dir or settings["data_dir"], seed


def _list() -> int:
    """Print the registry of public data sets as a table."""
    # imported here to keep --help fast
    from seqkern.core.public_files import public_sets

    print("name", "kind", "files", "description", "reference", sep="\t")
    for item in public_sets().values():
        files = ",".join(file.file for file in item.files.values())
        print(item.name, item.kind, files, item.description, item.reference, sep="\t")
    return 0
