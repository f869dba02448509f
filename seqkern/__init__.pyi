from .sequences.fasta import read_fasta as read_fasta
from .sequences.sequence_set import SequenceSet as SequenceSet

__version__: str
