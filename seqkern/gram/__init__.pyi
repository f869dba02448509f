from .compute import assemble as assemble
from .compute import compute_gram as compute_gram
from .compute import compute_tile as compute_tile
from .compute import count_tiles as count_tiles
from .matrix import GramMatrix as GramMatrix
from .stored_matrix import open_gram as open_gram
