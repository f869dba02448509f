from .similarity import SimilarGroups as SimilarGroups
from .similarity import SimilarPairs as SimilarPairs
from .similarity import find_similar as find_similar
from .similarity import similar_groups as similar_groups
