"""A small picture of each kernel: its Gram matrix on simulated sequences of two classes or three families."""

import functools
import json
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from seqkern.core.errors import SeqkernError
from seqkern.core.package_files import build_digest
from seqkern.kernels import build_kernel
from seqkern.simulate import simulate

CAPTIONS = {
    "donors": "16 simulated decoys, then 16 donor splice sites",
    "proteins": "simulated proteins of three superfamilies with two families each, one after the other",
    "features": "base composition of 16 simulated decoys, then 16 donor splice sites",
}


@functools.cache
def sample(data: str) -> tuple[Any, Any]:
    """Return sequences, ordered by class, and their labels."""
    if data == "proteins":
        drawn = simulate("superfamilies", seed=2, n_superfamilies=3, n_families=2, n_members=5, length=80)
        return drawn.sequences, np.array([name == "s1" for name in drawn.table["superfamily"]])
    drawn = simulate("donor", seed=3, n_positive=16, n_decoy=16)
    labels = np.array([label == "donor" for label in drawn.table["label"]])
    order = np.argsort(labels, kind="stable")
    X = drawn.sequences.take(order)
    if data == "features":
        X = np.array([[string.count(base) / len(string) for base in "ACGT"] for string in X.strings()])
    return X, labels[order]


def draw(name: str, note: dict[str, Any], folder: Path) -> tuple[str, str] | None:
    """Draw the matrix of a kernel; return the file's name and its caption, or None where none can be drawn."""
    data = note.get("data", "donors")
    if data == "none":
        return None
    spec = note.get("picture", {"kernel": name})
    file, key = folder / f"kernel-{name}.svg", folder / f"kernel-{name}.key"
    made_of = json.dumps([spec, data, build_digest()])
    if not (file.exists() and key.exists() and key.read_text() == made_of):
        X, labels = sample(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kernel = build_kernel(spec)
                kernel.fit(X, labels)
                K = kernel(X)
        except SeqkernError:
            return None  # needs what these sequences do not have, such as profiles
        folder.mkdir(parents=True, exist_ok=True)
        write(K, file)
        key.write_text(made_of)
    options = json.dumps({key: value for key, value in spec.items()}).replace('"', "")
    return file.name, f"Gram matrix: {CAPTIONS[data]}. ``{options}``"


def write(K: np.ndarray, file: Path) -> None:
    """Write the picture; dark is large."""
    with matplotlib.rc_context({"svg.hashsalt": "seqkern", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(2.6, 2.2), layout="constrained")
        # the diagonal of kernels that are not normalised would hide the rest
        off = K[~np.eye(len(K), dtype=bool)]
        picture = axes.imshow(K, cmap="Blues", vmin=off.min(), vmax=max(off.max(), off.min() + 1e-12))
        axes.set(xticks=[], yticks=[])
        figure.colorbar(picture, shrink=0.85)
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)
