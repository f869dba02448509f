"""Draw the weights of the residues in a window: linear SVM of the study of secondary structure, RS126.

Run it after the study: ``python docs/state_letters.py``; it writes ``docs/state_letters.svg``.
"""

from pathlib import Path

import pandas as pd

from seqkern.report.plots import letters_figure
from seqkern.report.residue_data import weights_by_position

FOLDER = Path("results/secondary_structure/evaluate/rs126/letters13/csvm")

features = pd.read_csv(FOLDER / "features.tsv", sep="\t", dtype={"split": str})
weights = weights_by_position(features, ["H", "E", "C"])
figure = letters_figure(weights, "Weights of the letters around a residue for helix, strand and coil")
# on a page it needs no namespace, in a file of its own it does
alone = str(figure).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
Path(__file__).with_name("state_letters.svg").write_text(alone + "\n", encoding="utf-8")
