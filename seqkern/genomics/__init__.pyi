from .motifs import FoundMotif as FoundMotif
from .motifs import find_motifs as find_motifs
