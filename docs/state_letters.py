"""Draw the weights of the residues in a window: linear SVM of the study of secondary structure, RS126.

Run it after the study: ``python docs/state_letters.py``; it writes ``docs/state_letters.svg``.
"""

from pathlib import Path

import pandas as pd

from seqkern.report.drawing import as_file
from seqkern.report.plots import letters_figure
from seqkern.report.residue_data import weights_by_position

FOLDER = Path("results/secondary_structure/evaluate/rs126/letters13/csvm")

features = pd.read_csv(FOLDER / "features.tsv", sep="\t", dtype={"split": str})
weights = weights_by_position(features, ["H", "E", "C"])
figure = letters_figure(weights, "Weights of the letters around a residue for helix, strand and coil")
Path(__file__).with_name("state_letters.svg").write_text(as_file(figure), encoding="utf-8")
