from .foldset import FoldSet as FoldSet
from .foldset import composition_rows as composition_rows
from .foldset import make_folds as make_folds
from .foldset import read_folds as read_folds
from .foldset import write_composition as write_composition
from .foldset import write_folds as write_folds
from .methods import METHODS as METHODS
from .split import Split as Split
