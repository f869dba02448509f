from .discovery import FoundMotif as FoundMotif
from .discovery import find_motifs as find_motifs
