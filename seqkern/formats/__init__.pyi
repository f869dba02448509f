from .residues import STATES as STATES
from .residues import WINDOW as WINDOW
from .residues import Residues as Residues
from .residues import check_window as check_window
from .residues import residue_samples as residue_samples
from .residues import residue_windows as residue_windows
