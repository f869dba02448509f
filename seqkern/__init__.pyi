from .fasta import read_fasta as read_fasta
from .sequences import SequenceSet as SequenceSet

__version__: str
